"""Whether a repository's shared configuration calls it bare, read as a file: agents may write it.

`core.bare` is not believed of a repository that has a main worktree: git would refuse to work
there, and a merge would leave the files of that checkout behind.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from standfast import disk
from standfast.errors.base import StandfastError

if TYPE_CHECKING:
    from pathlib import Path

_LIMIT = 1 << 20
_FILES = ("config", "config.worktree")
_SECTION = re.compile(r'^\s*\[\s*([\w.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]\s*(.*)$')
_PAIR = re.compile(r"^\s*([A-Za-z][\w-]*)\s*(?:=\s*(.*))?$")
_NO = ("false", "no", "off", "0")


def pairs(text: str) -> list[tuple[str, str]]:
    """The settings of a file, as far as a plain look shows them."""
    found: list[tuple[str, str]] = []
    section = ""
    for line in text.replace("\\\n", "").splitlines():
        head = _SECTION.match(line)
        if head is not None:
            name = head[1].lower()
            section = f"{name}.{head[2]}" if head[2] is not None else name
        pair = _PAIR.match(line if head is None else head[3])
        if pair is not None and section:
            value = "true" if pair[2] is None else pair[2].strip()
            found.append((f"{section}.{pair[1].lower()}", value))
    return found


def work_tree(directory: Path) -> Path | None:
    """The main worktree around a folder, if its repository falsely says that it has none."""
    top = next((each for each in (directory, *directory.parents) if _is_there(each)), None)
    return top if top is not None and is_called_bare(top / ".git") else None


def has_tree(common: Path) -> bool:
    """Whether a repository has an index, and so a main worktree, whatever it is called."""
    return common.name == ".git" and (common / "index").is_file()


def is_called_bare(common: Path) -> bool:
    """Whether git takes a repository with a main worktree for bare: it follows no includes here."""
    if not has_tree(common):
        return False
    said = [value for name in _FILES for key, value in pairs(_text(common / name))
            if key == "core.bare"]  # fmt: skip
    return bool(said) and said[-1].lower() not in _NO


def _is_there(folder: Path) -> bool:
    return os.path.lexists(folder / ".git")


def _text(path: Path) -> str:
    try:
        return disk.read_regular(str(path), limit=_LIMIT).decode("utf-8", "surrogateescape")
    except (OSError, StandfastError):
        return ""
