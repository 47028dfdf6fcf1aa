"""Where a merge has the files that it brings to a checkout, and then those that they displaced.

`draft` is written by git and may be half of it. When all of it is durable it is called `new`, with
a list of what it holds; from then on each file in it is one of ours, or one that was displaced.
`gone` has what a merge takes away. All of it is in git's own folder where that is the same
filesystem, else at the top of the checkout.
"""

from __future__ import annotations

import os
import shutil
import stat
from typing import TYPE_CHECKING, NamedTuple

from standfast import disk, filesystems
from standfast.git import file_difference, worktree_contents

if TYPE_CHECKING:
    from collections.abc import Iterator

    from standfast.git.fast_forward import Checkout

_NAME, _KEPT = "standfast-files", "standfast-kept"
_LIST = "list"
_EXECUTABLE = 0o100


class Form(NamedTuple):
    """What a file is: its bytes by their name in git, and whether it is a link or can be run."""

    blob: str
    kind: str


class Room(NamedTuple):
    """The folder of one checkout."""

    path: str

    @property
    def draft(self) -> str:
        """What git is writing."""
        return os.path.join(self.path, "draft")

    @property
    def new(self) -> str:
        """What is brought, each whole; then what it displaced."""
        return os.path.join(self.path, "new")

    @property
    def gone(self) -> str:
        """What was taken away."""
        return os.path.join(self.path, "gone")


def of(place: Checkout) -> Room:
    """The room of a checkout; a rename must reach every file from there."""
    home = str(place.git.git_directory())
    if filesystems.mount_of(home) == filesystems.mount_of(place.top):
        return Room(os.path.join(home, _NAME))
    return Room(os.path.join(place.top, f".{_NAME}"))


def empty(place: Checkout) -> Room:
    """The room with nothing in it: what is there was never put in place."""
    room = of(place)
    drop(room)
    for folder in (room.path, room.draft, room.gone):
        os.mkdir(folder, disk.FOLDER_MODE if folder == room.path else 0o777)
    return room


def settle(room: Room, like: str) -> dict[str, Form]:
    """All of the draft is written: make it durable, list it, and say so by its new name."""
    forms = {name: _form(room.draft, name, like) for name in _below(room.draft)}
    worktree_contents.sync_files(room.draft, forms)
    rows = "".join(f"{each.blob} {each.kind} {name}\0" for name, each in forms.items())
    disk.create(os.path.join(room.path, _LIST), os.fsencode(rows))
    os.rename(room.draft, room.new)
    disk.sync_folder(room.path)
    disk.sync_folder(os.path.dirname(room.path))
    return forms


def listed(room: Room) -> dict[str, Form]:
    """What `new` held before anything was put in place; nothing if it was never whole."""
    try:
        data = disk.read_regular(os.path.join(room.path, _LIST), limit=1 << 30)
    except FileNotFoundError:
        return {}
    if not os.path.isdir(room.new):
        return {}
    rows = (row.split(" ", 2) for row in os.fsdecode(data).split("\0")[:-1])
    return {name: Form(blob, kind) for blob, kind, name in rows}


def form(top: str, name: str, like: str) -> Form | None:
    """What stands at a path; None where it is neither a file nor a link."""
    found = file_difference.look(top, name)
    if found is None:
        return None
    if found.link is not None:
        return Form(found.blob(like), "link")
    try:
        mode = os.lstat(os.path.join(top, name)).st_mode
        return Form(found.blob(like), "program" if mode & _EXECUTABLE else "file")
    except OSError:
        return None


def displaced(room: Room) -> Iterator[tuple[str, str]]:
    """Each file that is in the room, as its tree and its path there."""
    for tree in (room.new, room.gone):
        yield from ((tree, name) for name in _below(tree))


def keep(place: Checkout, tree: str, name: str) -> str:
    """Words that have no place in the checkout any more stay in a file; where."""
    folder = os.path.join(str(place.git.common_directory()), _KEPT)
    disk.make_folder(folder)
    path = os.path.join(folder, f"{os.urandom(4).hex()}-{os.path.basename(name)}")
    try:
        os.rename(os.path.join(tree, name), path)
    except OSError:  # another filesystem
        shutil.move(os.path.join(tree, name), path)
    disk.sync_folder(folder)
    return path


def drop(room: Room) -> None:
    """Nothing in it is needed any more."""
    if os.path.lexists(room.path):
        shutil.rmtree(room.path)
        disk.sync_folder(os.path.dirname(room.path))


def _form(top: str, name: str, like: str) -> Form:
    found = form(top, name, like)
    if found is None:
        raise FileNotFoundError(os.path.join(top, name))
    return found


def _below(top: str) -> Iterator[str]:
    """Files, links and what else is no folder; with links to folders."""
    for at, folders, names in os.walk(top):
        links = [each for each in folders if _is_link(os.path.join(at, each))]
        for name in (*names, *links):
            yield os.path.relpath(os.path.join(at, name), top)


def _is_link(path: str) -> bool:
    return stat.S_ISLNK(os.lstat(path).st_mode)


def exists(place: Checkout) -> bool:
    """Whether a call before this one left something there."""
    return os.path.lexists(of(place).path)
