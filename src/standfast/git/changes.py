"""What differs from the last commit in a worktree: changed, staged, deleted and new files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from standfast.git.command import names

if TYPE_CHECKING:
    from standfast.git.command import Git


_CONVERSIONS = ("filter", "ident", "working-tree-encoding")


def paths(git: Git) -> list[str]:
    """Every file that a commit of all of it would take; repositories inside are left out."""
    said = git.read("status", "--porcelain", "-z", "--no-renames", "--untracked-files=all")
    return read_paths(said)


def read_paths(output: bytes) -> list[str]:
    """Take apart what `git status --porcelain -z --no-renames` prints."""
    found = (row[3:] for row in names(output))  # behind two marks and a blank
    return [name for name in found if name and not name.endswith("/")]


def filtered(git: Git, files: list[str]) -> list[str]:
    """Those of these files whose contents git would pass through a filter."""
    told = os.fsencode("".join(f"{name}\0" for name in files))
    return read_filtered(git.read("check-attr", "-z", "--stdin", "filter", stdin=told))


def converted(git: Git, file: str) -> bool:
    """Whether a file on disk is other than its blob: its words are in no version of it then."""
    said = git.read("check-attr", "-z", *_CONVERSIONS, "--", file)
    return bool(read_filtered(said))


def read_filtered(output: bytes) -> list[str]:
    """Take apart what `git check-attr -z` prints: path, attribute, value."""
    fields = names(output)
    triples = zip(fields, fields, fields, strict=False)
    return [name for name, _, value in triples if value not in {"unspecified", "unset"}]
