"""The PreCompact hook of one checkout, for agents with a role: a small sh file that settings call.

`.claude/hooks/pre-compact.sh`, named by `.claude/settings.local.json`: where those that follow the
convention look for it. It passes everything on to the launcher, which exits 0 whatever happens.
"""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, NamedTuple

from standfast import disk
from standfast.clients.claude import settings_file, settings_text
from standfast.clients.hooks import launcher
from standfast.errors.base import NotOurs

if TYPE_CHECKING:
    from collections.abc import Mapping

FILE = ".claude/hooks/pre-compact.sh"
EVENT = "PreCompact"
COMMAND = f'"$CLAUDE_PROJECT_DIR"/{FILE}'
_OURS = b"# Made by `standfast context shim"
_HEAD = 200

_HOOK = """\
#!/bin/sh
# Made by `standfast context shim --hook`: before a compaction the role's context is checked.
# It exits 0 whatever happens, and only notes what is not saved: it can never stop a compaction.
[ -z "${{HIVEMIND_ROLE-}}" ] || [ ! -x {launcher} ] || {launcher} claude 2>/dev/null
exit 0
"""

_SHIM = """\
#!/bin/sh
# Made by `standfast context shim`: `./context` is `standfast context`.
# Its repository is the one that it lies in: from elsewhere it acts there, not where you stand.
file=$0
while [ -L "$file" ]; do
  target=$(readlink "$file") || exit
  case "$target" in /*) file=$target ;; *) file=$(dirname "$file")/$target ;; esac
done
home=$(cd "$(dirname "$file")" && pwd -P) || exit
here=$(pwd -P)
repository=$here
until [ "$repository" = "$home" ] || [ "$repository" = / ] || [ -e "$repository/.git" ]; do
  repository=$(dirname "$repository")
done
[ "$repository" = "$home" ] || here=$home
[ ! -x {python} ] || exec {python} -I -m standfast -C "$here" context "$@"
exec standfast -C "$here" context "$@"
"""


class Written(NamedTuple):
    """A file, and whether it had to be written."""

    path: str
    is_new: bool


def put_shim(root: str, python: str) -> Written:
    """`./context`, which passes arguments and exit statuses through."""
    return _put(root, "context", _SHIM.format(python=shlex.quote(python)))


def put_hook(root: str, environ: Mapping[str, str]) -> list[Written]:
    """The hook, and the settings of this checkout that call it; the launcher first."""
    launcher.put(environ)
    called = shlex.quote(launcher.path(environ))
    made = _put(root, FILE, _HOOK.format(launcher=called))
    file = settings_file.of_project(root)

    def with_ours(text: str | None) -> str:
        return settings_text.with_command(text, EVENT, COMMAND, name=file.shown)

    settings_file.sweep(file, with_ours)  # two that differ in no more than ours are the same
    change = settings_file.change(file, with_ours)
    return [made, Written(file.shown, change.before != change.after)]


def is_there(root: str) -> bool:
    """Whether this checkout has the hook, which calls the launcher."""
    try:
        return _OURS in disk.read_beneath(root, FILE)[:_HEAD]
    except FileNotFoundError:
        return False


def _put(root: str, relative: str, text: str) -> Written:
    """Write a file of ours, never over somebody else's."""
    path, data = os.path.join(root, relative), text.encode()
    disk.make_folders_beneath(root, relative)
    try:
        found = disk.read_beneath(root, relative)
    except FileNotFoundError:
        found = None
    if found is not None and _OURS not in found[:_HEAD]:
        raise NotOurs("this file was not made by Standfast", file=path)
    if found == data and os.access(path, os.X_OK):
        return Written(path, is_new=False)
    try:
        if found is None:
            _place(path, data)
        else:
            disk.replace(path, data, mode=disk.tree_mode(is_program=True))
    except OSError as error:
        raise disk.disk_error(error, path) from error
    return Written(path, is_new=True)


def _place(path: str, data: bytes) -> None:
    """A file that appeared at the last instant is not written over."""
    try:
        disk.create(path, data, mode=disk.tree_mode(is_program=True))
    except FileExistsError as error:
        raise NotOurs("this file was not made by Standfast", file=path) from error
    disk.sync_folder(os.path.dirname(path))
