"""Opening what links lead to, as long as they stay below a root. Hook path.

A link is read and its words are walked like those of the path, each step from a folder that is held
open, so that nobody can put another one in its place: nothing is looked at first and opened after.
One step up is a step back to the folder that was left open, and above the root there is none.
"""

from __future__ import annotations

import os

from standfast import disk
from standfast.errors.base import UnsafePath

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW
_MOST_LINKS = 40  # as Linux has it


def read(root: str, relative: str, *, limit: int) -> bytes:
    """The contents of a regular file below *root*; FileNotFoundError when there is none."""
    fd = _open(root, relative, is_folder=False)
    try:
        return disk.read_fd(fd, limit=limit, name=os.path.join(root, relative))
    finally:
        os.close(fd)


def open_folder(root: str, relative: str) -> int:
    """Open a folder below *root*; FileNotFoundError when there is none."""
    return _open(root, relative, is_folder=True)


def _open(root: str, relative: str, *, is_folder: bool) -> int:
    held = [os.open(root, _FOLDER & ~os.O_NOFOLLOW)]
    try:
        return _walk(root, held, relative, is_folder=is_folder)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise disk.unsafe(error, os.path.join(root, relative)) from error
    finally:
        for fd in held:
            os.close(fd)


def _walk(root: str, held: list[int], relative: str, *, is_folder: bool) -> int:
    left, links = _parts(relative), 0
    while left:
        name = left.pop()
        target = None if name == ".." else _target(name, held[-1])
        if target is not None:
            links += 1
            left += _parts(_below(root, held, target))
            if links > _MOST_LINKS:
                raise UnsafePath("its links lead to each other", file=relative)
        elif name == "..":
            _step_back(held, relative)
        elif left or is_folder:
            held.append(os.open(name, _FOLDER, dir_fd=held[-1]))
        else:
            return disk.open_regular(name, folder=held[-1])
    if not is_folder:
        raise UnsafePath("it is a folder", file=relative)
    return held.pop()


def _parts(path: str) -> list[str]:
    """The last one first."""
    return [name for name in reversed(path.split("/")) if name not in {"", "."}]


def _target(name: str, folder: int) -> str | None:
    """What a link says; None for anything else, also for what is not there."""
    try:
        return os.readlink(name, dir_fd=folder)
    except OSError:
        return None


def _below(root: str, held: list[int], target: str) -> str:
    """What a link says, from where it stands; from the root where it names that whole."""
    if not target.startswith("/"):
        return target
    for top in (root, os.path.realpath(root)):
        if target.startswith(f"{top.rstrip('/')}/"):
            while len(held) > 1:
                os.close(held.pop())
            return target[len(top) :]
    raise UnsafePath("it is a link that leads out of its folder", file=target)


def _step_back(held: list[int], relative: str) -> None:
    if len(held) == 1:
        raise UnsafePath("it is a link that leads out of its folder", file=relative)
    os.close(held.pop())
