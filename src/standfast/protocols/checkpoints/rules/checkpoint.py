"""Checkpoints of lanes: what a record says, which statuses a stage has, which may follow which.

A record goes by run, phase, lane and stage; a later one of the same four takes its place. Reading
is lenient (a record needs its key and its status, and may hold anything else), writing is strict.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from standfast import ids
from standfast.errors.base import BadCheckpoint, MoveRefused
from standfast.formats.document_limits import Value
from standfast.text import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

Record = dict[str, Value]

BEFORE, STARTED, TESTED = "before_lane_start", "after_lane_start", "after_lane_tests"
PRE_PR, RETRY = "pre_pr", "retry_attempt"
STAGES = (BEFORE, STARTED, TESTED, PRE_PR, RETRY)

READY, IN_PROGRESS, FAILED, BLOCKED = "ready", "in_progress", "failed", "blocked"
COMPLETE, ROLLED_BACK, RETRYING = "complete", "rolled_back", "retrying"
STATUSES = (READY, IN_PROGRESS, FAILED, BLOCKED, COMPLETE, ROLLED_BACK, RETRYING)

KEY = ("run_id", "phase", "lane", "stage")
ID = "id"  # CP-NNN, one for every write: what an edit was made to
HINTS = ("resume_hint", "rollback_hint")  # made from the key, never taken from a file

_STUCK = (FAILED, BLOCKED)


def _around(done: str) -> dict[str | None, tuple[str, ...]]:
    """A stage that is reached once, and can fail, wait or be taken back from there."""
    every = (done, *_STUCK)
    return {None: every, **dict.fromkeys((*every, ROLLED_BACK), (*every, ROLLED_BACK))}


# For each stage: which statuses may follow which; None is where no record is yet.
MOVES: Mapping[str, Mapping[str | None, tuple[str, ...]]] = {
    BEFORE: _around(READY),
    STARTED: _around(IN_PROGRESS),
    TESTED: _around(COMPLETE),
    PRE_PR: {
        None: (READY, *_STUCK),
        READY: (READY, COMPLETE, *_STUCK, ROLLED_BACK),
        COMPLETE: (COMPLETE, ROLLED_BACK),
        FAILED: (READY, *_STUCK, ROLLED_BACK),
        BLOCKED: (READY, *_STUCK, ROLLED_BACK),
        ROLLED_BACK: (READY, *_STUCK, ROLLED_BACK),
    },
    RETRY: {None: (RETRYING, BLOCKED), **dict.fromkeys(
        (RETRYING, *_STUCK, ROLLED_BACK), (RETRYING, *_STUCK, ROLLED_BACK)
    )},
}  # fmt: skip


class Key(NamedTuple):
    """What a record goes by; each part is a name, so that it can stand in a path or a command."""

    run_id: str
    phase: str
    lane: str
    stage: str

    def __str__(self) -> str:
        return "/".join(self)


def key(record: Mapping[str, object]) -> Key:
    """The checked key of a record."""
    return Key(
        run_id=ids.run_id(record.get("run_id")),
        phase=ids.name(record.get("phase"), what="phase"),
        lane=ids.lane(record.get("lane")),
        stage=known(record.get("stage"), STAGES, "stage"),
    )


def known(said: object, names: tuple[str, ...], what: str) -> str:
    """One of the protocol's own words."""
    if isinstance(said, str) and said in names:
        return said
    shown = one_line(said, 40) if isinstance(said, str) else type(said).__name__
    raise BadCheckpoint(f"there is no {what} `{shown}`: it is one of {', '.join(names)}")


def status(record: Mapping[str, object]) -> str:
    """The checked status of a record."""
    return known(record.get("status"), STATUSES, "status")


def refuse_move(stage: str, before: str | None, after: str) -> None:
    """Refuse a status that does not follow, naming those that do.

    From a status that a stage has not (another tool wrote it) everything follows that may begin,
    and it may be taken back.
    """
    moves = MOVES[stage]
    legal = moves.get(before, (*moves[None], ROLLED_BACK))
    if after not in legal:
        now = f"is `{before}` and may become" if before is not None else "may begin as"
        raise MoveRefused(f"{stage} {now} {', '.join(legal)}, not `{after}`")
