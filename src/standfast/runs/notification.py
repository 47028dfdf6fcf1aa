"""A command of the user's own, called once for what they want to know while nobody watches.

It goes through the door like any command: under a key that names what happened, so that a run that
is resumed does not tell it again. One whose end nobody saw is not asked about: it was called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast.effects import door
from standfast.effects.effect_folder import Order
from standfast.effects.rules import Verdict
from standfast.effects.settlement import answer
from standfast.errors.base import StandfastError
from standfast.runs.records import lane_records
from standfast.text import printable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from standfast.journal.author import Author
    from standfast.journal.store import Journal

NEEDS, PARKED, FINISHED = "needs-you", "parked", "finished"
_TIME_S = 15.0  # whoever tells waits for it


class Notifier:
    """Whom to tell, and how; nobody where the user's settings name no command."""

    def __init__(self, line: str | None, environ: Mapping[str, str], author: Author) -> None:
        self._line = line
        self._environ = environ
        self._author = author

    def tell(self, journal: Journal, event: str, where: str, words: str) -> None:
        """Call the command for what was recorded last of a run or a lane, if it was not yet."""
        if not self._line:
            return
        try:
            self._tell(journal, self._line, event, where, words)
        except (StandfastError, OSError):
            return  # a notification that cannot be sent stops no run

    def _tell(self, journal: Journal, line: str, event: str, where: str, words: str) -> None:
        run_id, _, lane = where.partition("/")
        said = {
            "STANDFAST_EVENT": event,
            "STANDFAST_RUN_ID": run_id,
            "STANDFAST_LANE": lane,
            "STANDFAST_TEXT": printable(words, keep_newlines=True),
        }
        order = Order(
            key=f"notify/{where}/{event}/{lane_records.last_seq(journal, (where,))}",
            argv=("sh", "-c", line),
            cwd="/",
            env={**self._environ, **said},
            timeout_s=_TIME_S,
        )
        outcome = door.run(journal, order, self._author, kind="notify")
        if outcome.is_in_doubt:
            answer(journal, order.key, Verdict.DONE, self._author, by="policy")
