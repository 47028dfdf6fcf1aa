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


# A relative path in one of these would be another folder for each directory: the repository's.
FOLDERS = ("HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")
FILES = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM")


def base(environ: Mapping[str, str], variable: str, default: str) -> str:
    """What the variable says, else *default* under the home; a relative path there is void."""
    found = environ.get(variable, "")
    return found if os.path.isabs(found) else os.path.join(home(environ), default)


def home(environ: Mapping[str, str]) -> str:
    """The home; where the variable depends on where we are, what the system knows of this user."""
    found = environ.get("HOME", "")
    if os.path.isabs(found):
        return found
    from pwd import getpwuid  # nearly everybody has one

    try:
        return getpwuid(os.getuid()).pw_dir
    except KeyError:
        return "/"


def relative(environ: Mapping[str, str]) -> list[str]:
    """The variables that lead to folders of the repository that a command is called in."""
    said = ((name, environ.get(name)) for name in (*FOLDERS, *FILES))
    return [name for name, path in said if path and not os.path.isabs(path)]


def temporaries(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Temporary folders in which a process that may write nowhere else may write."""
    own = environ.get("TMPDIR", "")
    return tuple(dict.fromkeys((own if os.path.isabs(own) else "/tmp", "/tmp")))  # noqa: S108  # see journal.fallback.inbox
