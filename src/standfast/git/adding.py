"""Making a worktree, also where making it was cut off before.

Git makes the branch, its own folder for the worktree, the links between the two, and then writes
the files. From the first moment on that folder is locked with a mark of ours, and the mark goes
when everything is durable: a worktree without it is whole, and is never written over. One that has
it holds nothing but what git began: its links are put right, and its files written again. After a
power cut all of these small files may be empty, the mark too; then the branch tells whose it is.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from standfast import disk, process
from standfast.errors import GitFailed
from standfast.git import Git, checked_ref, contents, standing
from standfast.git.durable import sync_all
from standfast.lane_errors import BranchTaken, InTheWay, LaneBusy

if TYPE_CHECKING:
    from collections.abc import Iterator

EXCLUDED = "/.worktrees/"
_WHOLE = "standfast"  # what becomes of the mark
_GITS_OWN = "initializing"


class _Place(NamedTuple):
    """Where a worktree is to be, and where git keeps what is its own."""

    git: Git
    common: Path
    path: str
    branch: str

    @property
    def mark(self) -> str:
        return f"standfast makes it: {self.path}"

    @property
    def ref_lock(self) -> Path:
        return self.common / "refs" / "heads" / f"{self.branch}.lock"

    @property
    def link(self) -> Path:
        return Path(self.path, ".git")


def add(git: Git, path: str | Path, branch: str, start: str) -> None:
    """Have a worktree at *path* with *branch* in it, made at *start* if there is none yet."""
    whole = os.path.realpath(path)
    place = _Place(git, git.common_directory(), whole, checked_ref(branch))
    _exclude(place.common)
    own = _look(place) or _make(place, start)
    if own is not None:
        if _is_whole(place, own):
            return
        _go_on(place, own, start)
    _finish(place)


def _make(place: _Place, start: str) -> Path | None:
    """Have git make it; gives the folder of one that a git left behind made meanwhile."""
    if not _is_free(place):
        own = _wait(place)  # it may be about to take its files away, or have made it
        if own is not None:
            return own
        _refuse_another(place)
    disk.forget(str(place.link))
    told = ("worktree", "add", "--quiet", "--lock", "--reason", place.mark)
    try:
        place.git.write(*told, "-b", place.branch, "--", place.path, start)
    except GitFailed:
        own = _wait(place)
        if own is not None:
            return own
        if place.git.resolve(f"refs/heads/{place.branch}") is None:
            raise
        _refuse_taken(place)
        place.git.write(*told, "--", place.path, place.branch)
    return None


def _refuse_taken(place: _Place) -> None:
    for each in standing.listed(place.git):
        if each.branch == place.branch:
            raise BranchTaken(f"{place.branch} is checked out in {each.path}")


def _refuse_another(place: _Place) -> None:
    if not _is_free(place):
        raise InTheWay("something is there that is not the lane's worktree", file=place.path)


def _is_free(place: _Place) -> bool:
    """Only an empty folder, or the mere link of a worktree that was never made, may be there."""
    if not os.path.lexists(place.path):
        return True
    try:
        names = os.listdir(place.path)
    except OSError:
        return False  # a file, or a folder that is not ours to read
    return not names or (names == [".git"] and _leads_nowhere(place.link))


def _leads_nowhere(link: Path) -> bool:
    said = standing.read_line(link)
    if said is None:
        return False
    target = said.removeprefix("gitdir: ")
    return not said or (target != said and not os.path.lexists(target))


# Which folder of git's is the worktree's own.


def _look(place: _Place) -> Path | None:
    """Git's folder; if it was only begun, or its files are gone, then nobody is at it any more."""
    own = _own_folder(place)
    if own is None and not os.path.lexists(place.ref_lock):
        return None
    if own is None or _is_begun(place, own) or not os.path.lexists(place.link):
        return _wait(place)
    return own


def _wait(place: _Place) -> Path | None:
    """The git of a caller that died may still be at it; what one left that died too is swept."""
    at_it = standing.gone(lambda: process.called_with(place.mark))
    if at_it:
        raise LaneBusy(f"process {at_it[0]} makes the worktree", file=place.path)
    own = _own_folder(place)
    locks = [] if own is None else [*own.glob("*.lock")]
    busy = standing.clear((*locks, place.ref_lock))
    if busy is not None:
        raise LaneBusy(busy, file=place.path)
    return own


def _own_folder(place: _Place) -> Path | None:
    found = [each for each in standing.folders(place.common) if _is_own(place, each)]
    return found[0] if found else None


def _is_own(place: _Place, own: Path) -> bool:
    if standing.read_line(own / "locked") == place.mark:
        return True
    back = standing.read_line(own / "gitdir")
    if back:
        return os.path.realpath(os.path.dirname(back)) == place.path
    head = standing.read_line(own / "HEAD")
    if head == f"ref: refs/heads/{place.branch}":
        return True
    # Nothing is left of what git wrote but names: the link at the path must be as empty.
    is_named = own.name.rstrip("0123456789") == Path(place.path).name.rstrip("0123456789")
    return (
        is_named
        and not head
        and not standing.read_line(own / "locked")
        and standing.read_line(place.link) == ""
    )


def _is_whole(place: _Place, own: Path) -> bool:
    """Whether it was finished; what was finished and is gone, or is another's, is refused."""
    if _is_begun(place, own):
        return False
    head = standing.read_line(own / "HEAD")
    if head != f"ref: refs/heads/{place.branch}":
        raise InTheWay(f"a worktree is there, but {place.branch} is not in it", file=place.path)
    if os.path.lexists(place.link):
        return True
    _refuse_lost(place, own)
    return False


def _is_begun(place: _Place, own: Path) -> bool:
    """An empty lock is a person's who gave no reason, or all that a power cut left of our mark."""
    lock = standing.read_line(own / "locked")
    if lock == "":
        return not os.path.lexists(own / _WHOLE)
    return lock in {place.mark, _GITS_OWN} or not standing.read_line(own / "gitdir")


def _refuse_lost(place: _Place, own: Path) -> None:
    """Its folder is gone. It is made again, unless somebody has to say something about that."""
    if os.path.isdir(place.path) and os.listdir(place.path):
        raise InTheWay("a worktree was there, and something else is now", file=place.path)
    if os.path.lexists(own / "locked"):
        raise InTheWay("a worktree was there; it is gone, and somebody locked it", file=place.path)


# Going on where somebody was cut off.


def _go_on(place: _Place, own: Path, start: str) -> None:
    if place.git.resolve(f"refs/heads/{place.branch}") is None:
        none = "0" * len(start)
        place.git.write("update-ref", f"refs/heads/{place.branch}", start, none)
    if standing.read_line(own / "locked") == place.mark:
        disk.forget(str(own / "index"))  # nobody has staged anything yet, and it may be cut off
    disk.make_folder(place.path)
    wanted = {
        own / "locked": place.mark,
        own / "gitdir": str(place.link),
        own / "commondir": "../..",
        own / "HEAD": f"ref: refs/heads/{place.branch}",
        place.link: f"gitdir: {own}",
    }
    for file, said in wanted.items():
        if standing.read_line(file) != said:
            disk.replace(str(file), f"{said}\n".encode(), mode=0o644)
    door = Git(directory=Path(place.path), program=place.git.program)
    _refuse_others(door, place.path)
    door.write("reset", "--hard", "--quiet")


def _refuse_others(door: Git, path: str) -> None:
    """Of what is there, all must be what git wrote, or the beginning of it."""
    if (door.git_directory() / "index").exists():
        staged = door.read("diff-index", "--cached", "--name-only", "HEAD")
        if staged:
            raise InTheWay("something is staged in the worktree that was there", file=path)
    for name, how in contents.differing(door).items():
        if how == "D":
            continue
        data = contents.held(path, name)
        if data is None or not contents.begins(door, data, f"HEAD:{name}"):
            raise InTheWay(f"somebody's file is there: {name!r:.200}", file=path)


def _finish(place: _Place) -> None:
    """Everything but the files is durable, and only then the mark goes."""
    own = _own_folder(place)
    if own is None:
        raise GitFailed("git made a worktree, but it is not there", file=place.path)
    heads = place.common / "refs" / "heads"
    sync_all(
        [
            *(path for path in sorted(own.rglob("*")) if not path.is_symlink()),
            own,
            own.parent,
            place.common,
            *_with_folders(heads / place.branch, place.common),
            *_with_folders(place.common / "logs" / "refs" / "heads" / place.branch, place.common),
            *_with_folders(place.link, place.common.parent),
        ]
    )
    os.rename(own / "locked", own / _WHOLE)
    disk.sync_folder(str(own))


def _with_folders(path: Path, top: Path) -> Iterator[Path]:
    """A file and the folders above it that may be new."""
    yield path
    for folder in path.parents:
        if folder in {top, Path(folder.anchor)}:
            return
        yield folder


def _exclude(common: Path) -> None:
    """Worktrees inside the main one are not among its files."""
    file = common / "info" / "exclude"
    try:
        there = disk.read_regular(str(file))
    except FileNotFoundError:
        there = b""
    if EXCLUDED.encode() in there.split(b"\n"):
        return
    disk.make_folder(str(file.parent))
    gap = b"" if not there or there.endswith(b"\n") else b"\n"
    disk.replace(str(file), there + gap + EXCLUDED.encode() + b"\n", mode=0o644)
