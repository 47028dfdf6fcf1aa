"""What a lane works with, as the command line gives it: its log, its faces, whom it tells."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from standfast.app import faces
from standfast.effects import orphans
from standfast.git import excludes
from standfast.git.command import Git
from standfast.journal.author import Author
from standfast.runs.lanes.lane_context import Work

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from standfast.journal.store import Journal
    from standfast.journal.transaction import Writing
    from standfast.plans.lane_spec import Spec
    from standfast.surfaces.cli.command_context import Context

_CLAUDE = ".claude/"  # where others keep files that are to be seen


def author(context: Context) -> Author:
    """Who says what is recorded of lanes."""
    return Author("standfast", session=context.config.session, subdir=context.place.subdir)


def left(context: Context) -> list[str]:
    """What lives of commands that were begun, a line for each: it has a name and numbers."""
    found = (each for each in orphans.every(context.journal) if each.pids)
    return [f"  {each.key}: process {' '.join(map(str, each.pids))}" for each in found]


def worker(
    context: Context,
    tell: Callable[[Spec, str], None],
    render: Callable[[], None] = lambda: None,
    push_to: Sequence[str] = (),
    run_id: str = "",
) -> Callable[[Journal, Spec], Work]:
    """For any lane, in whatever thread: it has a journal of its own; *run_id* if it is known."""
    face = faces.checkpoints_face(context.journal, context.place, context.config.checkpoints_file)
    spare = [face.relative, context.config.orchestration_file, context.config.status_file]
    folder = os.path.dirname(faces.CHECKPOINTS_FILE)
    git = Git(directory=Path(context.place.main_root), is_tied=True)
    seen: set[str] = set()
    # Now already: whoever is stopped in the middle of this has not been able to write it.
    logs = [os.path.join(folder, f"{run_id}.jsonl")] if run_id else []
    _hide(git, face.root, (face.relative, *logs), seen)
    who, environ = author(context), dict(context.environ)

    def work(journal: Journal, spec: Spec) -> Work:
        def claim(tx: Writing) -> None:
            faces.claim(tx, journal, face)

        own, log = replace(git, timeout_s=spec.time_s), os.path.join(folder, f"{spec.run_id}.jsonl")
        return Work(
            journal=journal,
            spec=spec,
            git=own,
            log_path=os.path.join(face.root, log),
            author=who,
            environ=environ,
            claim=claim,
            render=render,
            tell=lambda words: tell(spec, words),
            hide=lambda: _hide(own, face.root, (face.relative, log), seen),
            spare=[name for name in spare if name],
            push_to=push_to,
        )

    return work


def _hide(git: Git, root: str, names: Sequence[str], seen: set[str]) -> None:
    """What is not there yet will be ours; what is there is somebody's, or was hidden before."""
    asked = [name for name in names if name.startswith(_CLAUDE) and name not in seen]
    new = [name for name in asked if not os.path.lexists(os.path.join(root, name))]
    if new:
        excludes.exclude_new(git, new)
    seen.update(asked)
