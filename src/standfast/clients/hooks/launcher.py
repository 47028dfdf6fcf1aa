"""The launcher: one small sh file, outside any environment, that clients call for every hook.

It exits 0 whatever happens: a client takes another status for a refusal, and a Python whose
script is gone says 2, which blocks every command. Where Python or the package is gone it leaves
a mark, so that the next command can tell how many calls were lost.
"""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
from contextlib import suppress
from typing import TYPE_CHECKING

from standfast import disk, xdg
from standfast.clients.hooks import bundle
from standfast.errors.base import StandfastError, ThrowawayEnvironment
from standfast.journal.fallback import lost_calls

if TYPE_CHECKING:
    from collections.abc import Mapping

MODE = 0o755
_CACHES = ("/uv/archive-", "/uv/builds-", "/uv/environments-", "/pipx/.cache/", "/.cache/pipx/")

_TEXT = """\
#!/bin/sh
# Standfast's launcher: clients call it for every hook. Made by `standfast install`.
# It exits 0 whatever happens, so that it can never block the client.
{{ {python} -I -S {start} {libraries} "${{CLAUDE_PID:-$PPID}}" "${{0%/*}}/{bundle}"; }} 2>/dev/null
status=$?
[ "$status" = 0 ] && exit 0
(   # in the background: a disk that hangs must not hold the client
    umask 077
    case "$XDG_STATE_HOME" in /*) state=$XDG_STATE_HOME ;; *) state=$HOME/.local/state ;; esac
    for lost in "$state/standfast/lost" "${{TMPDIR:-/tmp}}/standfast-lost-$(id -u)"; do
        mkdir -p "$lost" && [ -O "$lost" ] && [ ! -L "$lost" ] || continue
        set -- "$lost"/*
        [ $# -lt {most} ] || continue
        printf '%s\\n%s\\n' "the hook could not be run (status $status)" \\
            "${{CLAUDE_PROJECT_DIR:-$PWD}}" >"$lost/$(date +%s)-$$" && break
    done
) </dev/null >/dev/null 2>&1 &
exit 0
"""


def path(environ: Mapping[str, str]) -> str:
    """Where the launcher is: the same for every version and environment of Standfast."""
    return os.path.join(xdg.data_home(environ), "standfast", "hook")


def text() -> str:
    """The launcher of the Standfast that runs now."""
    import apsw  # found where it is, which is not always beside us

    return _TEXT.format(
        python=shlex.quote(sys.executable),
        start=shlex.quote(_start()),
        libraries=shlex.quote(os.path.dirname(os.path.dirname(os.path.abspath(apsw.__file__)))),
        bundle=bundle.FILE,
        most=lost_calls.MOST,
    )


def _start() -> str:
    """Where hooks begin; of every version so far, because launchers that are installed name it."""
    return os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "start.py")


def put(environ: Mapping[str, str]) -> bool:
    """Write the launcher if it is not there as it should be; whether it was written."""
    refuse_throwaway()
    target, data = path(environ), text().encode()
    if is_there(environ):
        return False
    disk.make_folder(os.path.dirname(target))
    disk.replace(_beside(environ), bundle.make())
    disk.replace(target, data, mode=MODE)
    return True


def renew(environ: Mapping[str, str]) -> None:
    """After an upgrade of the Standfast that wrote it; another one's is left alone.

    What goes wrong here is no failure of the command that came by: the next one tries again.
    """
    found, _ = snapshot(environ)
    if found is None or shlex.quote(_start()).encode() not in found:
        return
    with suppress(StandfastError, OSError):
        if not put(environ):
            os.utime(_beside(environ))  # it was looked at


def is_there(environ: Mapping[str, str]) -> bool:
    """Whether the launcher is in place, quick, and starts the Standfast that runs now."""
    found, modules = snapshot(environ)
    is_ours = found == text().encode() and os.access(path(environ), os.X_OK)
    return is_ours and modules is not None and bundle.is_current(modules)


def snapshot(environ: Mapping[str, str]) -> tuple[bytes | None, bytes | None]:
    """The launcher and its bundle as they are, for `restore`."""
    return _read(path(environ)), _read(_beside(environ))


def restore(environ: Mapping[str, str], before: tuple[bytes | None, bytes | None]) -> None:
    """Put both back as they were."""
    for target, data, mode in (
        (path(environ), before[0], MODE),
        (_beside(environ), before[1], disk.FILE_MODE),
    ):
        if data is None:
            disk.forget(target)
        else:
            disk.replace(target, data, mode=mode)


def _read(target: str) -> bytes | None:
    try:
        return disk.read_regular(target)
    except FileNotFoundError:
        return None


def _beside(environ: Mapping[str, str]) -> str:
    return os.path.join(os.path.dirname(path(environ)), bundle.FILE)


def remove(environ: Mapping[str, str]) -> None:
    """Take the launcher away; nothing may name it any more."""
    disk.forget(path(environ))
    disk.forget(_beside(environ))


def refuse_throwaway(prefix: str = sys.prefix, package: str = __file__) -> None:
    """An environment that a tool made for one call will be gone when the first hook needs it."""
    if not os.path.realpath(package).startswith(os.path.realpath(prefix) + os.sep):
        return  # a source checkout, which somebody keeps
    reason = _why_throwaway(os.path.realpath(prefix))
    if reason:
        raise ThrowawayEnvironment(f"this Standfast runs from {reason}", file=prefix)


def _why_throwaway(prefix: str) -> str:
    if any(cache in prefix + "/" for cache in _CACHES):
        return "a cache that its tool may empty at any time"
    for folder in {tempfile.gettempdir(), "/tmp", "/var/tmp"}:  # noqa: S108  # looked at only
        inside = prefix.removeprefix(os.path.realpath(folder) + os.sep)
        if inside != prefix and inside.startswith("tmp"):  # as mktemp and tempfile name them
            return "a temporary folder"
    return ""
