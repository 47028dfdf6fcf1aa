"""What a repository's shared configuration says, read as a file: agents may write it at any time.

Which keys changed is told; `core.bare` is not believed of a repository that has a main worktree:
git would refuse to work there, and a merge would leave the files of that checkout behind.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from standfast import disk
from standfast.errors import StandfastError

if TYPE_CHECKING:
    from pathlib import Path

_LIMIT = 1 << 20
_FILES = ("config", "config.worktree")
_SECTION = re.compile(r'^\s*\[\s*([\w.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]\s*(.*)$')
_PAIR = re.compile(r"^\s*([A-Za-z][\w-]*)\s*(?:=\s*(.*))?$")
_NO = ("false", "no", "off", "0")


def digests(common: Path) -> dict[str, str]:
    """Each key of the shared configuration, with a digest of its values: they may be secrets."""
    import hashlib  # only here

    found: dict[str, list[str]] = {}
    for name in _FILES:
        for key, value in pairs(_text(common / name)):
            found.setdefault(key, []).append(f"{name}\0{value}")
    return {
        key: hashlib.sha256(os.fsencode("\0".join(values))).hexdigest()[:12]
        for key, values in found.items()
    }


def changed(before: dict[str, str], now: dict[str, str]) -> list[str]:
    """The keys that came, went or have another value."""
    return sorted(key for key in {*before, *now} if before.get(key) != now.get(key))


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


def is_called_bare(common: Path) -> bool:
    """Whether a repository is called bare that has an index, and so a worktree."""
    if common.name != ".git" or not (common / "index").is_file():
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
