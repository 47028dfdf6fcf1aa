"""Looking at a lane: its worktree, its branches, and who is at work there. Nothing is changed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from standfast.errors.base import BadName, StandfastError
from standfast.git import worktrees
from standfast.git.command import Git
from standfast.processes.programs import working_in
from standfast.protocols.checkpoints.rules.checkpoint import BEFORE
from standfast.runs.rules import rollback
from standfast.runs.rules.lane_view import Lane, Worktree, last_said, text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from standfast.git.worktrees import Listed
    from standfast.protocols.checkpoints.rules.checkpoint import Record


def look(root: str, names: Sequence[str], records: Sequence[Record]) -> Lane:
    """How the lane (run, phase, lane) of these records, oldest write first, stands in *root*."""
    git = Git(directory=Path(root))
    known = worktrees.listed(git)
    path = os.path.realpath(last_said(records, "worktree_path") or root)
    named = last_said(records, "branch")
    tree = _worktree(path, known, named)
    branch = named or tree.branch
    tip = _resolve(git, branch)
    base = last_said(records, "base_branch")
    base_tip = _resolve(git, base)
    others = [each.path for each in known if each.branch == branch and each.path != path]
    commits = frozenset(sha for sha in rollback.shas(records) if git.resolve(sha))
    last = tip or next(filter(commits.__contains__, _heads(records)), None)
    prefix = f"{rollback.REFS}/{'/'.join(names)}/"
    refs = git.read("for-each-ref", "--format=%(refname)", prefix).decode().split()
    return Lane(
        worktree=tree,
        branch=branch,
        is_named=named is not None,
        tip=tip,
        base=base,
        base_tip=base_tip,
        is_merged=bool(last and base_tip and git.is_ancestor(last, base_tip)),
        elsewhere=others[0] if others and branch else None,
        backups=tuple(sorted(refs, key=lambda ref: int(ref.rpartition("/")[2]))),
        has_begun=any(record["stage"] != BEFORE for record in records),
        commits=commits,
    )


def _heads(records: Sequence[Record]) -> list[str]:
    """The lane's commits as its records name them, newest first: a merged branch may be gone."""
    base = next((text(record, "base_sha") for record in records if record["stage"] == BEFORE), None)
    heads = (text(record, "head_sha") for record in reversed(records))
    return [sha for sha in heads if sha and sha != base]


def _resolve(git: Git, branch: str | None) -> str | None:
    """The branch's commit; a name that can be none has none."""
    try:
        return git.resolve(f"refs/heads/{branch}") if branch else None
    except BadName:
        return None


def _worktree(path: str, known: Sequence[Listed], branch: str | None) -> Worktree:
    if not os.path.isdir(path):
        return Worktree(path, is_there=os.path.lexists(path))
    found = next((each for each in known if each.path == path), None)
    if found is None or not os.path.lexists(os.path.join(path, ".git")):
        return Worktree(path, is_there=True)
    git = Git(directory=Path(path))
    try:
        is_ours = os.path.realpath(git.toplevel()) == path
    except StandfastError:
        is_ours = False
    if not is_ours:
        return Worktree(path, is_there=True)
    rows = git.read("status", "--porcelain", "-z", "--no-renames", "--untracked-files=all")
    marks = [row[:2] for row in rows.split(b"\0") if row]
    return Worktree(
        path,
        is_there=True,
        is_ours=True,
        is_main=found.is_main,
        branch=git.branch(),
        head=git.head(),
        changed=sum(mark != b"??" for mark in marks),
        untracked=marks.count(b"??"),
        unfinished=worktrees.unfinished(git),
        locks=tuple(worktrees.locks(git, branch)),
        pids=tuple(working_in(path)),
    )
