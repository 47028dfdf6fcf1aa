"""What all worktrees share and what could change what git merges or writes: agents may change it.

All of it is known by digests: each key that git's configuration has for the main worktree, with
whatever is included; the files beside it and those that keys name; whether the base is a branch or
leads to another. A key that git is not known to pass over when it merges or writes steers it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from standfast import disk
from standfast.errors.base import StandfastError
from standfast.git import armour, excludes, shared_config, special_files, worktree_state

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from standfast.git.command import Git

HEAD, EXCLUDE = "HEAD of the main checkout", "info/exclude"
EXCLUDES = "core.excludesfile"
_ATTRIBUTES = "core.attributesfile"
_LIMIT = 1 << 20
_LEADS = "ref: "  # how a ref says that it only leads to another
_SHARED = ("local", "worktree", "if")  # of a repository; the others are the user's own
_FILES = ("info/attributes", "info/sparse-checkout", EXCLUDE, "shallow")
# Written all the time by git and by tools, and nothing to anybody else.
_NOISE = ("branch.", "gc.", "maintenance.")
# Sections of which no key reaches a merge, a commit or a checkout as they are made here.
_IDLE = frozenset(
    """
    advice alias author blame browser color column commit committer credential difftool fetch
    format gitcvs github gitk gpg grep gui guitool help hook http imap include init instaweb
    interactive lfs log mailinfo mailmap man mergetool notes pager pretty pull push rebase
    receive remote repack rerere safe sendemail sequence showbranch ssh stash status submodule
    tag tar trailer transfer uploadpack url user versionsort web
    """.split()  # noqa: SIM905  # a table
)
_IDLE_KEYS = frozenset(
    {
        *(key.lower() for key in armour.FIXED),
        HEAD,
        EXCLUDE,  # what it hides from a commit is told by name
        EXCLUDES,
        "core.bare",  # not believed, see shared_config.py
        "core.commentchar",
        "core.logallrefupdates",
        "core.whitespace",
        "diff.tool",
        "merge.conflictstyle",
        "merge.guitool",
        "merge.tool",
    }
)


def digests(git: Git, base: str, own: str) -> dict[str, str]:
    """Each of them by its name; *own*: a lane's worktree, which may have settings of its own."""
    rows = list(git.in_force())
    said: dict[str, list[str]] = {}
    for scope, key, value in rows:
        if key.startswith(_NOISE) or (scope not in _SHARED and not steers(key)):
            continue
        said.setdefault(key, []).append(value if scope != "if" else f"if {value}")
    found = {key: _digest("\0".join(values).encode("utf-8", "surrogateescape"))
             for key, values in said.items()}  # fmt: skip
    texts = {**_files(git, rows, own), **_refs(git, base)}
    texts["index"] = b"is there" if shared_config.has_tree(git.common_directory()) else b""
    return {**found, **{name: _digest(text) for name, text in texts.items() if text}}


def _digest(data: bytes) -> str:
    import hashlib  # only here

    return hashlib.sha256(data).hexdigest()[:12]


def _files(git: Git, rows: Iterable[tuple[str, str, str]], own: str) -> dict[str, bytes]:
    common = git.common_directory()
    found = {name: _text(common / name) for name in _FILES}
    found[EXCLUDE] = excludes.without_ours(found[EXCLUDE])
    for key, usual in ((_ATTRIBUTES, "attributes"), (EXCLUDES, "ignore")):
        named = [value for _, each, value in rows if each == key]
        path = named[-1] if named else special_files.of_user(usual)
        name = f"the file of {key}" if named else f"git/{usual}"
        found[name] = _text(git.directory / os.path.expanduser(path))
    folder = worktree_state.own_folder(common, os.path.realpath(own))
    if folder is not None:
        found["config.worktree"] = _text(folder / "config.worktree")
    return found


def _refs(git: Git, base: str) -> dict[str, bytes]:
    """Where the base leads if it is no branch of its own, and what the main checkout has."""
    ref = f"refs/heads/{base}"
    files = {ref: git.common_directory() / ref, HEAD: git.common_directory() / "HEAD"}
    said = {name: worktree_state.read_line(file) or "" for name, file in files.items()}
    if os.path.lexists(git.common_directory() / "reftable"):
        said[ref] = f"{_LEADS}{git.symbolic(ref) or ''}"
    return {
        name: os.fsencode(each) if each.startswith(_LEADS) else b"" for name, each in said.items()
    }


def _text(path: Path) -> bytes:
    try:
        return disk.read_regular(os.path.realpath(path), limit=_LIMIT)
    except FileNotFoundError:
        return b""
    except (OSError, StandfastError) as error:
        return f"unreadable: {type(error).__name__}".encode()


def changed(before: dict[str, str], now: dict[str, str]) -> list[str]:
    """The names of what came, went or is another."""
    return sorted(name for name in {*before, *now} if before.get(name) != now.get(name))


def steers(name: str) -> bool:
    """Whether what git merges or writes may depend on it."""
    if name in _IDLE_KEYS or name.startswith(("git/ignore", f"the file of {EXCLUDES}")):
        return False
    section, middle, variable = armour.split_key(name)
    if section in _IDLE:
        return False
    return middle is None or not (
        f"{section}.{variable}" in armour.NAMED
        or section == "diff"
        or (section, variable) == ("merge", "name")
    )
