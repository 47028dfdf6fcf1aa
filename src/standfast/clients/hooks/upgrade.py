"""Hooks after an upgrade in place: what they load is made anew by the next command."""

from __future__ import annotations

import os

from standfast import xdg

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_START = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "start.py")


def see_to(environ: Mapping[str, str]) -> None:
    """Two looks at times for every command; no more is loaded where nothing was upgraded.

    A file's own time may come from the package that it lay in: when it was put here is its ctime.
    """
    modules = os.path.join(xdg.data_home(environ), "standfast", "hook.modules")
    try:
        is_older = os.stat(modules).st_mtime_ns < os.stat(_START).st_ctime_ns
    except OSError:
        return  # there are no hooks
    if is_older:
        from standfast.clients.hooks import launcher

        launcher.renew(environ)
