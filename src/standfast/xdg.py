"""Where the base folders are that people may move: state and data, by the XDG rules. Hook path."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def state_home(environ: Mapping[str, str]) -> str:
    """Where the state of programs belongs."""
    return base(environ, "XDG_STATE_HOME", ".local/state")


def data_home(environ: Mapping[str, str]) -> str:
    """Where the files of programs belong that are neither settings nor state."""
    return base(environ, "XDG_DATA_HOME", ".local/share")


def base(environ: Mapping[str, str], variable: str, default: str) -> str:
    """What the variable says, else *default* under the home; a relative path there is void."""
    found = environ.get(variable, "")
    if os.path.isabs(found):
        return found
    return os.path.join(environ.get("HOME") or os.path.expanduser("~"), default)


def temporaries(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Temporary folders in which a process that may write nowhere else may write."""
    return tuple(dict.fromkeys((environ.get("TMPDIR") or "/tmp", "/tmp")))  # noqa: S108  # see journal.inbox
