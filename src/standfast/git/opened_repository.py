"""Which repository git opens for a path of this machine: by its own rules, in its own order.

A path may stand for a folder below it, for one beside it with a suffix, or for what a file there
leads to. Hooks are run where git ends up, so that is what is looked at, shown and trusted.
"""

from __future__ import annotations

import os
import re

from standfast import disk
from standfast.errors.base import StandfastError

_SUFFIXES = ("/.git", "", ".git/.git", ".git")
_HEAD = re.compile(rb"ref:\s*refs/|[0-9a-fA-F]{40}(?:[0-9a-fA-F]{24})?(?:\s|\Z)")
_LEADS = b"gitdir: "
_LIMIT = 1 << 20


def opened(path: str) -> str | None:
    """The git directory that a push to this whole path opens, links followed; None: there is none.

    Its own name must lead to it again: that is where the push goes.
    """
    base = path if path == "/" else path.rstrip("/") or "/"
    for found in (f"{base}{suffix}" for suffix in _SUFFIXES):
        if os.path.isfile(found):
            led = _led_to(found)
            return os.path.realpath(led) if led is not None and _is_git(led) else None
        if _is_git(found):
            return os.path.realpath(found)
    return None


def common(home: str) -> str:
    """The directory whose hooks and configuration a git directory has: its own, or another's."""
    said = _said(os.path.join(home, "commondir"))
    return home if said is None else os.path.realpath(os.path.join(home, said))


def _led_to(file: str) -> str | None:
    said = _read(file)
    if said is None or not said.startswith(_LEADS):
        return None
    where = os.fsdecode(said.removeprefix(_LEADS).rstrip(b"\r\n"))
    return os.path.join(os.path.dirname(file), where) if where and "\0" not in where else None


def _is_git(home: str) -> bool:
    shared = common(home)
    return _is_head(os.path.join(home, "HEAD")) and all(
        os.access(os.path.join(shared, name), os.X_OK) for name in ("objects", "refs")
    )


def _is_head(path: str) -> bool:
    """A link to a ref counts too, as it did in old repositories."""
    try:
        if os.path.islink(path) and os.readlink(path).startswith("refs/"):
            return True
    except OSError:
        return False
    said = _read(path)
    return said is not None and _HEAD.match(said) is not None


def _said(path: str) -> str | None:
    said = _read(path)
    where = None if said is None else os.fsdecode(said.rstrip(b"\r\n"))
    return where if where and "\0" not in where else None


def _read(path: str) -> bytes | None:
    """What git reads there, whatever links lead to it."""
    try:
        return disk.read_regular(os.path.realpath(path), limit=_LIMIT)
    except (OSError, ValueError, StandfastError):
        return None
