"""A place apart for demos: nothing of whoever watches gets in, and nothing of it stays."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_REMOVE_TRIES, _REMOVE_AGAIN_S = 20, 0.05
_PERSONAL = ("GIT_", "STANDFAST_", "XDG_", "CLAUDE", "ANTHROPIC")
_NO_GIT_SETTINGS = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


def leave_person_alone() -> None:
    """No setting of whoever watches gets in, and none is touched: children inherit this."""
    for name in [name for name in os.environ if name.startswith(_PERSONAL)]:
        del os.environ[name]
    os.environ.update(_NO_GIT_SETTINGS)


@contextmanager
def temporary_folder() -> Iterator[str]:
    """A folder that is gone afterwards."""
    folder = os.path.realpath(tempfile.mkdtemp(prefix="standfast-demo-"))
    try:
        yield folder
    finally:
        for _ in range(_REMOVE_TRIES):  # what was killed a moment ago may still be writing
            shutil.rmtree(folder, ignore_errors=True)
            if not os.path.lexists(folder):
                break
            time.sleep(_REMOVE_AGAIN_S)
