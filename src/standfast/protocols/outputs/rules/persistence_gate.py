"""Whether a stage may go on: pure rules over what became of its outputs.

Hard before pending before soft before pass, one line for each stage. An output that an agent is at
work on, or that has a launch left, is not decided yet: it neither fails nor is left out. What a
person has accepted as left out stays left out, after any compaction or restart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from standfast.protocols.outputs.rules.stages import CRITICAL
from standfast.protocols.outputs.rules.whole_output import IN_THE_WAY, LAUNCHES

if TYPE_CHECKING:
    from collections.abc import Sequence

LINE = "PERSISTENCE_GATE="
HARD_FAIL, PENDING, SOFT_CONTINUE = "HARD_FAIL", "PENDING", "SOFT_CONTINUE"
PASS, SKIP_NO_GAP = "PASS", "SKIP_NO_GAP"
CLOSED_STATUS, PENDING_STATUS = 1, 75  # of a command; 75 is what others mean by `try again` too


class Output(NamedTuple):
    """One expected output: what is on disk, and what the journal knows of it."""

    role: str
    name: str
    path: str
    tier: str
    fault: str | None  # None: valid
    digest: str = ""
    size: int = 0
    launches: int = 0
    granted: int = 0
    accepted: str = ""  # by whom, if a person accepted that it is left out
    stale: bool = False  # valid, but its inputs are no longer those it was made from
    at_work: str = ""  # who is at work on it

    @property
    def is_valid(self) -> bool:
        """Whether it can be used as it is."""
        return self.fault is None

    @property
    def left(self) -> int:
        """How many launches it has left."""
        return max(0, LAUNCHES + self.granted - self.launches)

    @property
    def can_be_launched(self) -> bool:
        """Where a link, a folder or a pipe stands, an agent would write who knows where."""
        return bool(self.left) and self.fault not in IN_THE_WAY

    @property
    def is_pending(self) -> bool:
        """Whether it may still become valid without a person."""
        may_be = bool(self.at_work) or self.can_be_launched
        return not self.is_valid and not self.accepted and may_be


class Gate(NamedTuple):
    """What was decided for a stage."""

    verdict: str
    failed: tuple[Output, ...] = ()
    omitted: tuple[Output, ...] = ()
    pending: tuple[Output, ...] = ()

    @property
    def line(self) -> str:
        """The visible line."""
        return LINE + self.verdict

    @property
    def is_open(self) -> bool:
        """Whether the stage goes on."""
        return self.verdict not in {HARD_FAIL, PENDING}

    @property
    def status(self) -> int:
        """How a command that asked for it ends."""
        if self.is_open:
            return 0
        return PENDING_STATUS if self.verdict == PENDING else CLOSED_STATUS


def decide(found: Sequence[Output], *, skips: bool = False, is_final: bool = False) -> Gate:
    """The one verdict for a stage; one that *skips* and launched nothing had no gap to fill.

    It *is_final* where nobody will launch anything any more, whatever is left.
    """
    if skips and not found:
        return Gate(SKIP_NO_GAP)
    pending = tuple(each for each in found if each.is_pending and not is_final)
    invalid = [each for each in found if not each.is_valid and each not in pending]
    failed = tuple(each for each in invalid if each.tier == CRITICAL and not each.accepted)
    omitted = tuple(each for each in invalid if each not in failed)
    if failed:
        return Gate(HARD_FAIL, failed, omitted, pending)
    if pending:
        return Gate(PENDING, (), omitted, pending)
    return Gate(SOFT_CONTINUE if omitted else PASS, omitted=omitted)


def to_launch(found: Sequence[Output], *, stale_too: bool = False) -> list[Output]:
    """Only what is missing or invalid, not accepted, and has a launch left."""
    return [
        output
        for output in found
        if (output.is_valid and output.stale and stale_too)
        or (not output.is_valid and not output.accepted and output.can_be_launched)
    ]
