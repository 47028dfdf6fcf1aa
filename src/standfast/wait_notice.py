"""No wait is silent: what is waited for is told after a few seconds, and then seldom.

Whoever waits makes a Wait before the first look, and asks it between two looks whether something
is to be told. Who hears it is said once for the whole process: a command tells its terminal, a
hook nobody. Hooks load this module: what a telling needs is imported when there is one.
"""

from __future__ import annotations

from standfast import clock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

FIRST_S, SELDOM_S = 3.0, 300.0
HELP = "`standfast ps` lists what runs, `standfast reap` ends it"
_WORDS = 60


def _to_nobody(_words: str) -> None:
    """A hook has nobody to tell."""


_teller: Callable[[str], None] = _to_nobody


def told_to(teller: Callable[[str], None] | None) -> Callable[[str], None]:
    """From now on waits of this process are told to *teller*; gives who was told before."""
    global _teller  # whoever waits knows no screen, and there is one screen
    before, _teller = _teller, teller or _to_nobody
    return before


def tell(what: str) -> None:
    """Tell what is waited for."""
    _teller(f"waiting for {what}")


class Wait:
    """One wait, from before its first look."""

    __slots__ = ("_due", "_words")

    def __init__(self, words: Callable[[], str]) -> None:
        self._words = words  # what is waited for, and what helps; asked only when it is told
        self._due = clock.monotonic_ns() + int(FIRST_S * 1e9)

    def left_s(self) -> float:
        """How long until something is to be told."""
        return max(0.0, (self._due - clock.monotonic_ns()) / 1e9)

    def look(self) -> None:
        """Tell what is waited for, if it is time."""
        now = clock.monotonic_ns()
        if now >= self._due:
            self._due = now + int(SELDOM_S * 1e9)
            tell(self._words())


def named(pids: Iterable[int]) -> str:
    """These processes for a person: number, command, since when; `unknown` where there is none."""
    from standfast.processes.occupants import command_of, since_of
    from standfast.redaction.redactor import redact
    from standfast.text import one_line

    told = []
    for pid in pids:
        command, since = one_line(redact(command_of(pid)), _WORDS), since_of(pid)
        about = ", ".join(part for part in (command, since and f"since {since}") if part)
        told.append(f"{pid} ({about})" if about else str(pid))
    return f"process {', '.join(told) or 'unknown'}"
