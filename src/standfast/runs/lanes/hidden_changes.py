"""Changes that tests would see and a commit would not: git was told to look away from them.

Flags of the index, times that were set back, an index made by hand: what differs is found by its
contents. What a setup hid is the user's wish, and stays hidden as long as it is as the setup left
it. New files are hidden by rules beside the work tree: such rules that changed are told by the
files that they hide.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from standfast.git import changes, file_difference, snapshot, worktree_contents
from standfast.git.command import names
from standfast.runs.lanes import shared_settings
from standfast.runs.lanes.lane_context import log, recording, step
from standfast.runs.records import lane_records as told
from standfast.runs.rules.lane_steps import CONFIG, OK, SETUP
from standfast.text import a_few

if TYPE_CHECKING:
    from collections.abc import Iterator

    from standfast.git.command import Git
    from standfast.runs.lanes.lane_context import Work
    from standfast.runs.rules.lane_steps import Standing

_LEFT_OUT = "S"
_RULES = ("info/exclude", "git/ignore", "core.excludesfile", "the file of core.excludesfile")


def by_setup(work: Work) -> dict[str, str]:
    """What is told of a setup that hid files: each as it is now."""
    tree = work.tree
    found = dict(_flagged(tree)) if work.spec.setup else {}
    return {"hidden": json.dumps(found)} if found else {}


def _flagged(tree: Git) -> Iterator[tuple[str, str]]:
    like = str(tree.head())
    for row in names(tree.read("ls-files", "-v", "-z")):
        tag, name = row[0], row[2:]
        if tag.islower() or tag == _LEFT_OUT:
            yield name, _blob(tree, name, like)


def _blob(tree: Git, name: str, like: str) -> str:
    found = file_difference.look(str(tree.directory), name)
    return "" if found is None else found.blob(like)


def uncover(work: Work, lane: Standing) -> None:
    """Have git see every change of a file that it has, so that all of it is committed."""
    tree = work.tree
    shown = {*changes.paths(tree)}
    differing = [name for name in worktree_contents.differing(tree) if name not in shown]
    if not differing:
        return
    files = snapshot.files_of(tree, "HEAD")
    setup = _of_setup(lane)
    like = str(tree.head())
    hidden = [
        name
        for name in differing
        if setup.get(name) != _blob(tree, name, like) and not _is_checked_out(tree, name, files)
    ]
    filtered = {*changes.filtered(tree, hidden)} if hidden else set()
    lines = [f"{files[name][0]} {files[name][1]}\t{name}\0" for name in hidden
             if name not in filtered and name in files]  # fmt: skip
    if lines:
        tree.write("update-index", "-z", "--index-info", stdin=os.fsencode("".join(lines)))
        log(work, "changes_hidden", notes=f"git was told to look away from {a_few(hidden)}")


def _of_setup(lane: Standing) -> dict[str, str]:
    said = lane.steps[SETUP].facts.get("hidden", "{}") if SETUP in lane.steps else "{}"
    return {str(name): str(blob) for name, blob in json.loads(said).items()}


def is_of_setup(work: Work, lane: Standing, name: str) -> bool:
    """Whether a file is as a setup left and hid it."""
    known = _of_setup(lane)
    return name in known and known[name] == _blob(work.tree, name, str(work.tree.head()))


def _is_checked_out(tree: Git, name: str, files: snapshot.Files) -> bool:
    """Whether it is as a checkout writes it: other ends of lines may be what git calls changed."""
    found = file_difference.look(str(tree.directory), name)
    if found is None or name not in files or not found.is_all(tree, f"HEAD:{name}"):
        return False
    kind = os.lstat(os.path.join(tree.directory, name)).st_mode
    return snapshot.mode_of(kind) == files[name][0]


def tell_ignored(work: Work) -> None:
    """Name the files that are passed over by rules which changed since the run began."""
    if not {*_RULES} & {*shared_settings.changed(work)}:
        return
    found = a_few(_ignored(work.tree))
    facts = told.settings(work.journal, work.spec.run_id).get(work.spec.names, {})
    if found == facts.get("ignored", ""):
        return
    with recording(work) as tx:
        number = told.last_number(work.journal, work.spec, CONFIG)
        step(work, tx, CONFIG, number, OK, {**facts, "ignored": found})
    if found:
        log(work, "changes_hidden", notes=f"rules that changed have git ignore {found}")


def _ignored(tree: Git) -> list[str]:
    """What is ignored by a rule that is in no file of the work tree."""
    asked = ("ls-files", "--others", "-z")
    seen = names(tree.read(*asked, "--exclude-per-directory=.gitignore"))
    passed_over = {*seen} - {*names(tree.read(*asked, "--exclude-standard"))}
    return sorted(passed_over)
