"""What follows from what is seen of an effect: use its record, wait, begin it, or ask. Pure.

An effect is a command that must not happen twice. Its key carries the attempt; under one key it
is begun at most once, whoever asks and whatever dies. What cannot be known is never guessed.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from standfast import ids
from standfast.errors.base import BadName
from standfast.text import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from standfast.formats.document_limits import Value

LONGEST_KEY = 400
_ALLOWED = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/:#@+")


def run_of(name: str) -> str | None:
    """The run that an effect belongs to, as its key says: lane/RUN/PHASE/LANE/STEP/NUMBER."""
    what, _, rest = name.partition("/")
    run, _, step = rest.partition("/")
    try:
        return ids.run_id(run) if what == "lane" and step else None
    except BadName:
        return None


class Seen(NamedTuple):
    """What the journal and the effect's own folder show at one moment."""

    recorded: bool = False  # its end is in the journal
    intended: bool = False  # the journal says that it was about to be begun
    ordered: bool = False  # its order is there, which is written before it is intended
    exit: bool = False  # its supervisor has left an exit record
    supervised: bool = False  # its supervisor lives
    running: bool = False  # something of its tree lives
    started: bool = False  # the right to begin it is used up


class Step(StrEnum):
    """What to do next."""

    USE = "use its record"
    RECORD = "record its end"
    WAIT = "wait for it"
    BEGIN = "begin it"
    SETTLE = "find out what became of it"
    REFUSE = "leave alone what nobody here began"


def decide(seen: Seen) -> Step:
    """In this order: what is known, what lives, what never began; the rest is in doubt.

    A folder can come with a directory, so it counts only where the journal intended the effect.
    And it can be taken away: where there was an intent, no folder does not mean no command.
    """
    if seen.recorded:
        return Step.USE
    if seen.exit:
        return Step.RECORD if seen.intended else Step.REFUSE
    if seen.supervised or seen.running:
        return Step.WAIT
    if seen.started:
        return Step.SETTLE if seen.intended else Step.REFUSE
    return Step.SETTLE if seen.intended and not seen.ordered else Step.BEGIN


class Probe(StrEnum):
    """What a look at the world tells of an effect whose end nobody saw."""

    DONE = "done"
    NOT_DONE = "not done"
    UNKNOWN = "unknown"


class Verdict(StrEnum):
    """What is done about an effect in doubt."""

    DONE = "it took effect"
    AGAIN = "begin it again, as the next attempt"
    ASK = "ask a person"


def settle(probe: Probe, *, repeatable: bool) -> Verdict:
    """By the probe of its kind, else by policy: again where that is declared safe, else ask."""
    if probe is Probe.DONE:
        return Verdict.DONE
    if probe is Probe.NOT_DONE or repeatable:
        return Verdict.AGAIN
    return Verdict.ASK


def key(text: str) -> str:
    """Check a key: what it may be made of is what names of runs, lanes and stages are made of."""
    if not 0 < len(text) <= LONGEST_KEY or not set(text) <= _ALLOWED:
        raise BadName(f"`{one_line(text, 80)}` is no key of an effect")
    return text


def attempt_of(name: str, attempt: int) -> str:
    """The key of one attempt; the first is the bare name."""
    return key(name if attempt == 1 else f"{name}#{attempt}")


_FROM_OUTSIDE = (1, 2, 9, 15)  # HUP, INT, KILL, TERM: others a program brings on itself
_SHELLS = (128 + 9, 128 + 15)  # how a shell tells of a command of its own


class Ended(NamedTuple):
    """How an effect ended."""

    how: str  # exited, signal, timeout, cancelled, not started, not durable
    status: int  # as a shell would say it, negative for a signal
    seconds: float = 0.0
    out: str = ""  # the end of what it said
    err: str = ""
    sizes: Mapping[str, int] = {}
    digests: Mapping[str, str] = {}
    left: int = 0  # processes of it that had to be ended
    report: Mapping[str, Value] = {}  # what a client said of itself (runners.Report)

    @property
    def is_ok(self) -> bool:
        """Whether it said of itself that it did its work."""
        return self.how == "exited" and self.status == 0


def is_killed(ended: Ended) -> bool:
    """Whether somebody's signal ended it, such as one of a system without memory left.

    A fault of the program's own (a segment that is not its, an assertion) is its failure.
    """
    if ended.how == "signal":
        return -ended.status in _FROM_OUTSIDE
    return ended.how == "exited" and ended.status in _SHELLS
