"""Taking the lanes of a run back: each is kept first, and one that cannot go back is named."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from standfast.app import faces
from standfast.errors.base import StandfastError
from standfast.journal.author import Author
from standfast.protocols.checkpoints.records import checkpoint_records as recorded
from standfast.runs import phase_records, run_locks
from standfast.runs.lanes import lane_rollback
from standfast.runs.records import lane_records, run_records
from standfast.runs.rules.lane_view import text
from standfast.surfaces.cli import grounds, trust_question
from standfast.surfaces.cli.screen import json_line, speak

if TYPE_CHECKING:
    from collections.abc import Sequence

    from standfast.runs.records.run_records import Run
    from standfast.runs.rules.schedule import Name
    from standfast.surfaces.cli.command_context import Context


_NOT_BEGUN = "not begun: there is nothing to take back"


def roll_back(
    context: Context, run: Run, names: Sequence[Name], to: str | None, given: Sequence[str] = ()
) -> int:
    """Take lanes back, the last of the plan first; a status of 1 where one of them stays."""
    grounds.refuse_elsewhere(context, run.run_id, names)
    context.may_write()
    found = (lane_records.find(context.journal, (run.run_id, *name)) for name in names)
    trust_question.see_to(
        context, [spec for spec in found if spec is not None], given, pushes=False
    )
    stays, back = False, set()  # the phases of which a lane went back
    with run_locks.taken(context.journal, run_locks.RUNS, run.run_id):
        if len(names) == len(run.names):
            _stop(context, run)
        for name in reversed(names):
            said, went = _one(context, (run.run_id, *name), to, given)
            stays = stays or not went
            if went and said != _NOT_BEGUN:
                back.add(name[0])
            told = {"lane": "/".join((run.run_id, *name)), "rolled_back": went, "said": said}
            words = f"{told['lane']}  {said}"
            speak(json_line(told) if context.json else words, sys.stdout)
        with context.journal.writing() as tx:
            if back and run_records.word(context.journal, run.run_id).state == run_records.DONE:
                run_records.tell(tx, run.run_id, run_records.STOPPED, Author(context.who))
            for phase in sorted(back):
                phase_records.take_back(tx, run.run_id, phase, Author(context.who))
    context.heal(checkpoints=True)
    return int(stays)


def _stop(context: Context, run: Run) -> None:
    """Whoever takes all of a run back does not want the next `resume` to do it again unasked."""
    if run_records.word(context.journal, run.run_id).state == run_records.GOING:
        with context.journal.writing() as tx:
            run_records.tell(tx, run.run_id, run_records.STOPPED, Author(context.who))


def _one(
    context: Context, names: tuple[str, str, str], to: str | None, given: Sequence[str]
) -> tuple[str, bool]:
    kept = recorded.current(context.journal, *names)
    if not kept:
        return _NOT_BEGUN, True
    root = faces.checkpoints_root(context.journal, context.place)
    face = os.path.join(root, context.config.checkpoints_file or faces.CHECKPOINTS_FILE)
    log = text(kept[-1].record, "log_path")
    author = context.author
    asked = lane_rollback.Asked(*names, to=to)
    try:
        done = lane_rollback.roll_back(context.journal, root, asked, author,
                                  {face, *([log] if log else [])},
                                  context.config.worktree_roots,
                                  lambda found: trust_question.see_to_records(context, found, given)
                                  )  # fmt: skip
    except StandfastError as refused:
        return f"stays: {refused.problem}", False
    refs = ", ".join(done.told.backups) if done.told else ""
    return f"at {done.aim.stage}{f'; kept: {refs}' if refs else ''}", True
