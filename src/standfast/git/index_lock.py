"""Having the index of a checkout to ourselves, as git has it while it works.

Whoever holds `index.lock` keeps every other git from committing or switching branches there. The
work is done on a copy of the index, which takes its place only when the branch has moved: nobody
ever finds a new index on an old branch, and a commit of a person never takes our change with it.
A mark says from where to where before any file is written. Only where one was left behind may a
file that looks cut off be one that a dead call was writing; else it is a person's.
"""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING

from standfast import disk
from standfast.errors.base import BadName, GitFailed
from standfast.errors.lanes import BaseMoved, BaseRefused
from standfast.git import fast_forward, worktree_state

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from standfast.git.fast_forward import Checkout

_COPY, _MARK = "standfast-index", "standfast-advance"
_INDEXED = "indexed"
_MODE = 0o644


@contextmanager
def held(place: Checkout, branch: str) -> Iterator[Checkout]:
    """The same checkout with an index of its own; that one stays if all goes well."""
    with taken(place, branch):
        died = mark(place)
        yield _with_copy(place)._replace(died=died)
        _put_in_place(place)
        if fast_forward.finish(place):
            unmark(place)
        else:  # the next call looks once more at what was displaced, and not at the index
            _say(place, f"{place.old} {place.new} {_INDEXED}")


@contextmanager
def taken(place: Checkout, branch: str) -> Iterator[None]:
    """No other git can work in the checkout, which has the branch."""
    home = place.git.git_directory()
    lock, copy = home / "index.lock", home / _COPY
    fd = _take(lock, home, place.top)
    try:
        if place.git.branch() != branch:
            raise BaseMoved(f"{branch} is not checked out there any more", file=place.top)
        yield
    finally:
        disk.forget(str(copy))
        disk.forget(f"{copy}.lock")
        disk.forget(str(lock))
        os.close(fd)
        disk.sync_folder(str(home))  # a lock that came back with the power would stop everybody


# What a call that died left.


def mark(place: Checkout) -> bool:
    """Write down what is about to be done; whether that was written down before, and not ended."""
    words = f"{place.old} {place.new}"
    if worktree_state.read_line(_mark(place)) == words:
        return True
    end_begun(place)
    _say(place, words)
    return False


def end_begun(place: Checkout) -> None:
    """Make good what a call that died began here: done if the branch has it, else taken back."""
    words = worktree_state.read_line(_mark(place)) or ""
    left = _marked(place, words)
    if not fast_forward.has_landed(left):
        fast_forward.give_up(left)
    else:
        if not words.endswith(_INDEXED) and fast_forward.mend_index(_with_copy(left)):
            _put_in_place(left)
        fast_forward.clear_room(left)
    unmark(place)


def _marked(place: Checkout, words: str) -> Checkout:
    """The checkout as another call meant to bring it forward."""
    old, new = (*words.split(" "), "", "")[:2]
    try:
        changes = fast_forward.changes(place.git, old, new)
    except (GitFailed, BadName):  # then nothing tells whose the files are, and all are kept
        return place._replace(changes=[])
    return place._replace(old=old, new=new, changes=changes)


def unmark(place: Checkout) -> None:
    """It is done, or everything is as it was."""
    disk.forget(str(_mark(place)))
    disk.sync_folder(str(_mark(place).parent))


def _say(place: Checkout, words: str) -> None:
    disk.replace(str(_mark(place)), f"{words}\n".encode(), mode=_MODE)


def _mark(place: Checkout) -> Path:
    return place.git.git_directory() / _MARK


# The lock, and the copy.


def _take(lock: Path, home: Path, top: str) -> int:
    """Take the lock as git does; it stays open, so that others see who has it."""
    fast_forward.clear((lock, home / "HEAD.lock"), top)
    try:
        return os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _MODE)
    except FileExistsError as error:
        raise BaseRefused("another git is at work there", file=top) from error
    except OSError as error:
        raise disk.disk_error(error, str(lock)) from error


def _with_copy(place: Checkout) -> Checkout:
    home = place.git.git_directory()
    _copy(home / "index", home / _COPY)
    given = {"GIT_INDEX_FILE": str(home / _COPY)}
    return place._replace(git=place.git.at(place.git.directory, **given))


def _put_in_place(place: Checkout) -> None:
    home = place.git.git_directory()
    os.rename(home / _COPY, home / "index")
    disk.sync_folder(str(home))  # before the mark that it may be behind goes


def _copy(index: Path, copy: Path) -> None:
    disk.forget(str(copy))  # of a call that died
    disk.forget(f"{copy}.lock")
    try:
        shutil.copy2(index, copy)  # with its time: git reads files that are not older than it
    except FileNotFoundError:
        return  # git takes that for an empty one
    except OSError as error:
        raise disk.disk_error(error, str(copy)) from error
