"""A lane's worktree as its last commit has it, by contents: what else is there is kept first.

Each file takes its place whole and durable, so that a death in the middle tears nothing, and
whoever comes next goes on from there. Ignored files stay, and so does what a setup hid.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from standfast.errors.lanes import LaneBlocked
from standfast.git import snapshot, worktree_contents
from standfast.git.command import names as listed
from standfast.runs.lanes import agent_commits, branch_reset, hidden_changes
from standfast.runs.lanes.lane_context import free_of_locks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from standfast.git.command import Git
    from standfast.runs.lanes.lane_context import Work
    from standfast.runs.rules.lane_steps import Standing


def clean(work: Work, lane: Standing) -> None:
    """Leave nothing but the last commit in the worktree; what else is there goes under a ref."""
    why = agent_commits.amiss(work)
    if why is not None:  # a person's work on another branch, or a merge that is not finished
        raise LaneBlocked(f"{'/'.join(work.spec.names)}: {why}", file=work.spec.worktree)
    tree = work.tree
    free_of_locks(work, tree)
    wanted = snapshot.files_of(tree, "HEAD")
    changed = {*_changed(work, lane, tree, wanted)}
    more = {*_more(work, tree, wanted)}
    if not changed | more:
        return
    words = f"What was in the worktree of {'/'.join(work.spec.names)}, and in no commit of it"
    ref = branch_reset.keep(work, words)
    held = snapshot.files_of(tree, ref)
    branch_reset.put(tree, changed, {name: held[name] for name in more if name in held})
    work.tell(f"kept, and taken out of the worktree: {ref}")


def _changed(work: Work, lane: Standing, tree: Git, wanted: snapshot.Files) -> Iterator[str]:
    """Files of the commit that are others, or gone."""
    found = worktree_contents.differing(tree)
    left_out = worktree_contents.skipped(tree) if "D" in found.values() else set()
    for name, how in found.items():
        if name in work.spare or wanted.get(name, ("", ""))[0] == snapshot.SUBMODULE:
            continue
        is_left_out = how == "D" and name in left_out
        if not is_left_out and not hidden_changes.is_of_setup(work, lane, name):
            yield name


def _more(work: Work, tree: Git, wanted: snapshot.Files) -> Iterator[str]:
    """Files that the commit does not have, and that git does not ignore; staged ones too."""
    for name in listed(tree.read("ls-files", "-z", "--cached", "--others", "--exclude-standard")):
        is_there = os.path.lexists(os.path.join(work.spec.worktree, name))
        if is_there and name not in wanted and name not in work.spare and not name.endswith("/"):
            yield name
