"""`look` finds what a power cut tore in a lane's worktree, and puts it back.

It is named before a person says how a command ended. They may have finished its work by hand, and
what they emptied looks like what was torn. So they are told first, and what they do then stays as
it is: also over a later boot.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from standfast.errors.lanes import PowerFailed
from standfast.runs import run_locks
from standfast.runs.lanes import files_before, torn_restore
from standfast.runs.lanes.lane_start import dead_of, see_to_the_dead, see_to_worktree
from standfast.runs.records import lane_records
from standfast.text import a_few

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from standfast.journal.store import Journal
    from standfast.plans.lane_spec import Spec
    from standfast.runs.lanes.lane_context import Work
    from standfast.runs.lanes.torn_restore import Told

_PARTS = 6  # lane, its three names, the step, the number of its run


class _Run(NamedTuple):
    """A run of a step, by its key."""

    spec: Spec
    step: str
    number: int


def look(
    journal: Journal, key: str, worker: Callable[[Journal, Spec], Work], *, is_done: bool
) -> None:
    """Look at the worktree of the command that is spoken of, if it is one of a lane's.

    PowerFailed where it is to count as done and nobody was shown what a power cut did there.
    """
    run = _run(journal, key)
    if run is None or not os.path.lexists(os.path.join(run.spec.worktree, ".git")):
        return
    with run_locks.taken(journal, run_locks.LANES, *run.spec.names):
        _look(worker(journal, run.spec), run, key, is_done=is_done)


def _look(work: Work, run: _Run, key: str, *, is_done: bool) -> None:
    lane = work.standing()
    dead = dead_of(work, lane, run.step, run.number)
    if dead is None or not see_to_worktree(work, lane):
        return
    see_to_the_dead(work, lane, run.step, run.number)
    files_before.note(work.tree, dead)  # what stands now is nobody's loss, whatever comes later
    told = torn_restore.first_look(dead) if is_done else None
    if told is not None:
        raise PowerFailed(
            f"before `{key}` can count as done: {'; '.join(_said(told))}", file=run.spec.worktree
        )


def _said(told: Told) -> Iterator[str]:
    if told.restored:
        yield (
            f"{a_few(told.restored)} looked torn by a power cut and is as committed again (what was"
            f" there is in {told.ref})"
        )
    if told.blank or told.unsure:
        yield torn_restore.unsure_said(told)


def _run(journal: Journal, key: str) -> _Run | None:
    parts = key.partition("#")[0].split("/")
    if len(parts) != _PARTS or parts[0] != "lane" or not parts[-1].isdigit():
        return None
    spec = lane_records.find(journal, (parts[1], parts[2], parts[3]))
    return None if spec is None else _Run(spec, parts[4].removesuffix("-again"), int(parts[5]))
