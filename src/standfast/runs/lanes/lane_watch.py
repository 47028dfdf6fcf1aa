"""Looking at a lane while others work on it: where it is, since when, and its last line."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from standfast.effects import door
from standfast.effects.effect_folder import OUT, STARTED, Folder
from standfast.effects.rules import attempt_of
from standfast.effects.settlement import last_attempt
from standfast.effects.streams import last_words as raw_words
from standfast.errors.base import StandfastError
from standfast.protocols.checkpoints.rules import checkpoint as cp
from standfast.redaction.redactor import redact
from standfast.runs.records import lane_records as told
from standfast.runs.rules.lane_steps import BEGUN, ENDED, FAILED, OK, decide
from standfast.text import one_line

if TYPE_CHECKING:
    from standfast.journal.store import Journal
    from standfast.plans.lane_spec import Spec
    from standfast.runs.rules.lane_steps import Standing

_LINE = 160


class Seen(NamedTuple):
    """How a lane looks at this moment."""

    stage: str  # in the protocol's words
    doing: str
    attempt: int
    attempts: int
    since_us: int  # when it began; 0 where it has not
    last: str = ""


def look(journal: Journal, spec: Spec) -> Seen:
    """How a lane stands, and the last line of the command that runs for it."""
    lane = told.standing(journal, spec)
    newest = max(lane.marks.items(), key=lambda item: item[1].seq, default=(cp.BEFORE, None))
    following = decide(lane)
    task = f" {following.task.name}" if following.task else ""
    began = lane.marks.get(cp.BEFORE)
    return Seen(
        stage=newest[0],
        doing=f"{following.do}{task}",
        attempt=lane.retries + 1,
        attempts=spec.retries + 1,
        since_us=began.at if began else 0,
        last=_last_line(journal, lane),
    )


def _last_line(journal: Journal, lane: Standing) -> str:
    """Of what runs at the moment, if anything does."""
    key = _newest(journal, lane)
    lines = [line for line in _raw(journal, key).splitlines() if line.strip()] if key else []
    return one_line(redact(lines[-1]), _LINE) if lines else ""


def _newest(journal: Journal, lane: Standing, *states: str) -> str:
    """The key of the command that a lane began last: of the attempt that was not cut off."""
    steps = [(step.seq, name, step.number) for name, step in lane.steps.items()
             if step.state in (states or (BEGUN,))]  # fmt: skip
    if not steps:
        return ""
    _, name, number = max(steps)
    first = f"lane/{'/'.join(lane.spec.names)}/{name}/{number}"
    return attempt_of(first, last_attempt(journal, first))


def _raw(journal: Journal, key: str) -> str:
    try:
        return raw_words(Folder(journal.folder, key).at(OUT))
    except (StandfastError, OSError):
        return ""


def begun_before(journal: Journal, spec: Spec) -> str:
    """The key of the command that somebody before us began for a lane, and nobody saw end."""
    key = _newest(journal, told.standing(journal, spec))
    if not key:
        return ""
    is_begun = os.path.lexists(Folder(journal.folder, key).at(STARTED))
    return key if is_begun or door.find(journal, key) is not None else ""


def works_on(journal: Journal, spec: Spec) -> bool:
    """Whether a command of a lane is at work, if nobody takes the lane on any more."""
    key = begun_before(journal, spec)
    return bool(key) and Folder(journal.folder, key).is_alive()


def ended_last(journal: Journal, spec: Spec) -> str:
    """The key of the command of a lane that was last found to be ended from outside."""
    return _newest(journal, told.standing(journal, spec), ENDED)


def last_words(journal: Journal, spec: Spec) -> str:
    """The end of what a lane's last command said, whether it runs or has ended."""
    key = _newest(journal, told.standing(journal, spec), BEGUN, OK, FAILED)
    ended = door.find(journal, key) if key else None
    if ended is None or ended.ended is None:
        return redact(_raw(journal, key)) if key else ""
    return (ended.ended.err or ended.ended.out).rstrip()
