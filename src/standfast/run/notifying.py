"""A command of the user's own, called once for what they want to know while nobody watches.

It goes through the door like any command: under a key that names what happened, so that a run that
is resumed does not tell it again. One whose end nobody saw is not asked about: it was called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast.effects import door
from standfast.effects.folder import Order
from standfast.effects.settling import answer
from standfast.errors import StandfastError
from standfast.protocol.effects import Verdict

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

    def tell(self, journal: Journal, event: str, where: str, seq: int, words: str) -> None:
        """Call the command for what was recorded as *seq*, if that was not done before."""
        if not self._line:
            return
        run_id, _, lane = where.partition("/")
        said = {
            "STANDFAST_EVENT": event,
            "STANDFAST_RUN_ID": run_id,
            "STANDFAST_LANE": lane,
            "STANDFAST_TEXT": words,
        }
        order = Order(
            key=f"notify/{where}/{event}/{seq}",
            argv=("sh", "-c", self._line),
            cwd="/",
            env={**self._environ, **said},
            timeout_s=_TIME_S,
        )
        try:
            outcome = door.run(journal, order, self._author, kind="notify")
            if outcome.is_in_doubt:
                answer(journal, order.key, Verdict.DONE, self._author, by="policy")
        except StandfastError:
            return  # a notification that cannot be sent stops no run
