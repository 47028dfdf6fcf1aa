"""A lane's worktree speaks for nobody in the files that show the journal: its agents work there.

What they committed or left in them is kept in the journal and named; commits and worktree have what
the base has. This is done before anything is tested, so that what was tested is what lands.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from standfast import scratch_folder
from standfast.errors.lanes import LaneBlocked
from standfast.git import faceless_commits, snapshot, worktree_contents
from standfast.git.command import entries
from standfast.git.faceless_commits import Said
from standfast.journal import overwritten_files
from standfast.runs.lanes import face_files
from standfast.runs.lanes.lane_context import log, recording, step
from standfast.runs.records import lane_records as told
from standfast.runs.rules import lane_steps
from standfast.runs.rules.lane_steps import BEGUN, FACES, OK
from standfast.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from standfast.git.command import Git
    from standfast.git.faceless_commits import Rebuilt
    from standfast.git.snapshot import Files
    from standfast.runs.lanes.lane_context import Work
    from standfast.runs.rules.lane_steps import Standing

WHY = "what a lane wrote into a file that shows the journal"


def leave_out(work: Work, tree: Git, head: str, dirty: list[str], *, known: bool) -> str:
    """Put the lane's branch and worktree where they say nothing in these files; gives its tip."""
    lane = work.standing()
    if known and not dirty and not _is_begun(lane):
        return head
    made = faceless_commits.Rebuilt(head) if known else _rebuilt(work, lane, head)
    if made.tip == head and not dirty and not _is_begun(lane):
        return head
    wanted = faceless_commits.files(tree, made.tip, face_files.paths(work))
    _refuse_folders(work, wanted)
    said = [*made.said, *_uncommitted(tree, dirty, wanted)]
    facts = _begin(work, lane, {"from": head, "to": made.tip}, said)
    _put(work, tree, {*dirty, *_differing(work, tree, head, wanted)}, made.tip, wanted)
    if made.tip != head:
        tree.write("update-ref", f"refs/heads/{work.spec.branch}", made.tip, head)
    tree.make_durable()
    _end(work, facts)
    return made.tip


def _is_begun(lane: Standing) -> bool:
    return FACES in lane.steps and lane.steps[FACES].state == BEGUN


def _rebuilt(work: Work, lane: Standing, head: str) -> Rebuilt:
    base = work.git.resolve(f"refs/heads/{work.spec.base}")
    known = [each for each in (base, face_files.first(lane)) if each]
    return faceless_commits.rebuild(work.git, head, known, sorted(face_files.paths(work)))


def _uncommitted(tree: Git, dirty: list[str], wanted: Files) -> Iterator[Said]:
    """What is staged, and what stands in the worktree."""
    if not dirty:
        return
    rows = entries(tree.read("ls-files", "-z", "--stage", "--", *dirty))
    for facts, name in rows:
        if wanted.get(name) != (facts[0], facts[1]):
            yield Said(name, faceless_commits.blob_in({name: (facts[0], facts[1])}, name))
    with scratch_folder.folder() as folder:
        there = snapshot.hashed(tree, dirty, Path(folder))
    for name in dirty:
        if there.get(name) != wanted.get(name):
            yield Said(name, faceless_commits.blob_in(there, name))


def _differing(work: Work, tree: Git, head: str, wanted: Files) -> set[str]:
    there = faceless_commits.files(tree, head, face_files.paths(work))
    return {name for name in {*there, *wanted} if there.get(name) != wanted.get(name)}


def _refuse_folders(work: Work, wanted: Files) -> None:
    """Whatever is in a folder that stands in the place of such a file would be lost."""
    top = work.spec.worktree
    for name in sorted(wanted):
        path = os.path.join(top, name)
        if os.path.isdir(path) and not os.path.islink(path):
            why = f"a folder stands where {printable(name)} is to be"
            raise LaneBlocked(f"{'/'.join(work.spec.names)}: {why}", file=path)


# What is told first, what is done, and how it ended.


def _begin(
    work: Work, lane: Standing, moves: Mapping[str, str], said: list[Said]
) -> dict[str, str]:
    """Keep what was said, and name it beside what was left out before; told once."""
    known = lane.steps.get(FACES)
    number = told.last_number(work.journal, work.spec, FACES)
    before = dict(known.facts) if known is not None else {}
    data = {each: _bytes(work.git, each) for each in said}
    kept = [[each.path, _digest(found)] for each, found in data.items()]
    earlier = lane_steps.left_out(lane)
    listed = [*earlier, *(each for each in kept if each not in earlier)]
    facts = {**moves, "kept": json.dumps(listed)}
    if known is not None and known.state == BEGUN and before == facts:
        return facts
    with recording(work) as tx:
        for each, found in data.items():
            if found is not None and [each.path, _digest(found)] not in earlier:
                overwritten_files.keep(tx, each.path, found, WHY, work.author)
        step(work, tx, FACES, number + 1, BEGUN, facts)
    return facts


def _bytes(git: Git, said: Said) -> bytes | None:
    return git.read("cat-file", "blob", said.blob) if said.blob else None


def _digest(data: bytes | None) -> str:
    return "" if data is None else hashlib.sha256(data).hexdigest()


def _put(work: Work, tree: Git, names: set[str], tip: str, wanted: Files) -> None:
    """These files and no others, in the worktree and in its index."""
    if not names:
        return
    top = work.spec.worktree
    there = sorted(name for name in names if name in wanted)
    worktree_contents.restore(tree, there, tip)
    gone = sorted(names - {*there})
    with scratch_folder.folder() as folder:
        found = snapshot.hashed(tree, gone, Path(folder))
    snapshot.remove_kept(Path(top), found.items(), tree.object_format())
    worktree_contents.sync_folders(top, sorted(names))
    tree.write(
        "update-index", "-z", "--index-info", stdin=faceless_commits.lines(sorted(names), wanted)
    )


def _end(work: Work, facts: Mapping[str, str]) -> None:
    with recording(work) as tx:
        number = told.last_number(work.journal, work.spec, FACES)
        step(work, tx, FACES, number, OK, facts)
    said = lane_steps.left_out_said(work.standing())
    if said:
        log(work, "faces_left_out", notes=said)
