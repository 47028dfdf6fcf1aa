"""Where the journal of a directory lives, found without starting git.

In a repository: `<git common dir>/standfast`, the same for every worktree, never committed,
untouched by `git clean`. Elsewhere: `$XDG_STATE_HOME/standfast/<id of the path>`.
Hook path: nothing heavy is imported.
"""

from __future__ import annotations

import os
import stat

from standfast import disk
from standfast.errors.base import TooLarge, UnsafePath

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = "standfast"
OFF = "off"  # a file of this name beside the journal: hooks leave this repository alone
_POINTER_LIMIT = 4096 + 64  # PATH_MAX and the words around it


class Place:
    """A journal's folder, the directory it speaks of, and where in it the caller stands."""

    __slots__ = ("folder", "in_git", "root", "subdir")

    def __init__(self, *, folder: str, root: str, subdir: str, in_git: bool) -> None:
        self.folder = folder
        self.root = root
        self.subdir = subdir
        self.in_git = in_git

    @property
    def is_off(self) -> bool:
        """Whether a person switched the hooks off here."""
        return os.path.lexists(os.path.join(self.folder, OFF))

    @property
    def main_root(self) -> str:
        """The main checkout's root, also from a linked worktree; elsewhere the caller's."""
        common = os.path.dirname(self.folder)
        if not self.in_git or os.path.basename(common) != ".git":
            return self.root
        return os.path.dirname(common)


def find(start: str, *, state_home: str) -> Place:
    """The place for *start*: the enclosing repository's, else one under *state_home*."""
    here = os.path.realpath(start)
    for directory in _upwards(here):
        common = _common_dir_at(directory)
        if common is not None:
            return _in_repository(common, root=directory, here=here)
    # Only now: a repository that somebody committed into a work tree must not be taken for one.
    for directory in _upwards(here):
        if _is_git_dir(directory):
            return _in_repository(directory, root=directory, here=here)
    return _outside(here, state_home)


def is_checkout(place: Place, root: str) -> bool:
    """Whether a folder that a journal names is of its repository: it may have been delivered."""
    if not os.path.isdir(root):
        return False
    if not place.in_git:
        return os.path.realpath(root) == place.root
    return find(root, state_home=os.sep).folder == place.folder


def git_dir(start: str) -> str | None:
    """The git directory of the checkout that *start* is in: a linked worktree has its own."""
    for directory in _upwards(os.path.realpath(start)):
        dot_git = os.path.join(directory, ".git")
        if os.path.isdir(dot_git):
            return os.path.realpath(dot_git)
        pointed = _pointed_to(dot_git, prefix="gitdir:") if os.path.isfile(dot_git) else None
        if pointed is not None:
            return os.path.realpath(pointed)
    return None


def missing(start: str) -> str | None:
    """Where a `.git` leads to that is not there: a linked worktree's repository was moved."""
    found = git_dir(start)
    return found if found is not None and not os.path.lexists(found) else None


def _upwards(directory: str) -> Iterator[str]:
    while True:
        yield directory
        parent = os.path.dirname(directory)
        if parent == directory:
            return
        directory = parent


def _in_repository(common: str, *, root: str, here: str) -> Place:
    subdir = os.path.relpath(here, root)
    return Place(
        folder=os.path.join(common, FOLDER),
        root=root,
        subdir="" if subdir == "." else subdir,
        in_git=True,
    )


def _outside(here: str, state_home: str) -> Place:
    import hashlib  # only outside git

    digest = hashlib.sha256(os.fsencode(here)).hexdigest()[:16]
    folder = os.path.join(os.path.realpath(state_home), FOLDER, digest)
    return Place(folder=folder, root=here, subdir="", in_git=False)


def _common_dir_at(directory: str) -> str | None:
    """The git common dir of the worktree whose top is *directory*, if it is one's."""
    dot_git = os.path.join(directory, ".git")
    try:
        mode = os.lstat(dot_git).st_mode
    except OSError as error:
        if disk.is_passing(error):  # else its facts would go to the journal of another place
            raise disk.disk_error(error, dot_git) from error
        return None
    if stat.S_ISLNK(mode):
        mode = _stat_mode(dot_git)
    if stat.S_ISDIR(mode):
        return os.path.realpath(dot_git) if _is_git_dir(dot_git) else None
    if stat.S_ISREG(mode):
        git_dir = _pointed_to(dot_git, prefix="gitdir:")
        return None if git_dir is None else _common_of(git_dir)
    return None


def _stat_mode(path: str) -> int:
    try:
        return os.stat(path).st_mode
    except OSError:
        return 0


def _common_of(git_dir: str) -> str | None:
    common = _pointed_to(os.path.join(git_dir, "commondir"), prefix="") or git_dir
    return os.path.realpath(common) if _is_git_dir(common) else None


def _pointed_to(pointer: str, *, prefix: str) -> str | None:
    """The path that a one-line pointer file of git holds, relative to the file's folder."""
    try:
        text = os.fsdecode(disk.read_regular(os.path.realpath(pointer), limit=_POINTER_LIMIT))
    except (OSError, UnsafePath, TooLarge):
        return None
    line = text.split("\n", 1)[0].strip()
    if "\0" in line or not line.startswith(prefix):
        return None
    path = line.removeprefix(prefix).strip()
    return os.path.join(os.path.dirname(os.path.realpath(pointer)), path) if path else None


def _is_git_dir(path: str) -> bool:
    """What git itself asks of a git directory: HEAD, objects and refs."""
    return (
        os.path.lexists(os.path.join(path, "HEAD"))
        and os.path.isdir(os.path.join(path, "objects"))
        and os.path.isdir(os.path.join(path, "refs"))
    )


def refuse_foreign(place: Place) -> None:
    """Never put prompts and results into a folder that another user owns and could read."""
    above = place.folder
    while not os.path.lexists(above):
        above = os.path.dirname(above)
    owner = os.lstat(above).st_uid
    if os.geteuid() not in {0, owner}:
        raise UnsafePath(
            f"the folder for the journal belongs to another user (uid {owner})",
            file=above,
            remedy="Work as its owner, or clone the repository into a folder of your own.",
        )
