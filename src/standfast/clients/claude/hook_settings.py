"""The few settings that hooks go by, without loading the reader of settings for nothing. Hook path.

`config` reads settings and nobody else does; it costs a hook more time than all else together. So
it is asked only where a file of settings names one of these.
"""

from __future__ import annotations

import os

from standfast import disk, xdg
from standfast.errors.base import StandfastError
from standfast.protocols.resumption.rules import context_monitor, reinject_markers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from standfast.clients.hooks.hook_call import Call

USER_FILE, PROJECT_FILE = "standfast/config.yaml", ".standfast.yaml"
GUARD = b"guard_resumption"

_NAMES = (b"context_window", b"context_tiers", b"reinject_tokens")
_VARIABLE = "STANDFAST_CONTEXT_WINDOW"
_LIMIT = 64 * 1024


class Chosen:
    """What is set, or its defaults."""

    __slots__ = ("context_tiers", "context_window", "reinject_tokens")

    def __init__(self) -> None:
        self.context_window: int | None = None
        self.context_tiers: tuple[float, ...] = context_monitor.THRESHOLDS
        self.reinject_tokens = reinject_markers.BUDGET


def settings(call: Call) -> Chosen:
    """A file of settings that cannot be read is told by commands, not by hooks."""
    chosen = Chosen()
    found = _user(call.environ) + _project(call.place.root)
    if _VARIABLE not in call.environ and not any(name in found for name in _NAMES):
        return chosen
    from standfast import config

    try:
        told = config.load(call.place.root, call.environ)
    except StandfastError:
        return chosen
    for name in Chosen.__slots__:
        setattr(chosen, name, getattr(told, name))
    return chosen


def is_guarded(environ: Mapping[str, str]) -> bool:
    """Only the user's own file decides: what comes with a repository may stop nobody."""
    data = _user(environ)
    if GUARD not in data:
        return False
    from standfast import config

    try:
        return config.load(None, environ).guard_resumption
    except StandfastError:
        return is_guarded_by(data)


def is_guarded_by(data: bytes) -> bool:
    """Whether a file of settings that cannot be read has the plain line that says so."""
    for line in data.splitlines():
        name, colon, value = line.partition(b":")
        if colon and name == GUARD:
            return value.partition(b" #")[0].strip().lower() == b"true"
    return False


def _user(environ: Mapping[str, str]) -> bytes:
    path = os.path.join(xdg.base(environ, "XDG_CONFIG_HOME", ".config"), USER_FILE)
    try:
        return disk.read_regular(os.path.realpath(path), limit=_LIMIT)
    except (StandfastError, OSError):
        return b""


def _project(root: str) -> bytes:
    try:
        return disk.read_beneath(root, PROJECT_FILE, limit=_LIMIT)
    except (StandfastError, OSError):
        return b""
