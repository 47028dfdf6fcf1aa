"""Repositories that are made once in each process and copied: git needs many programs to make one.

What a copy is used for must not depend on where it lies: worktrees are added to it afterwards.
"""

import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

_HOME: list[Path] = []
_MADE: dict[Callable[[Path], None], Path] = {}


def live_in(folder: Path) -> None:
    """Say where templates are made: they live as long as the session."""
    _HOME[:] = [folder]


def repository(make: Callable[[Path], None], at: Path) -> None:
    """Have at *at* what *make* makes of an empty folder."""
    if make not in _MADE:
        template = Path(tempfile.mkdtemp(dir=_HOME[0]))
        make(template)
        _MADE[make] = template
    shutil.copytree(_MADE[make], at, symlinks=True)
    at.chmod(0o755)  # a temporary folder is private
    # Git knows files by their inodes too: without this it would take each for a changed one.
    subprocess.run(["git", "update-index", "-q", "--refresh"], cwd=at, check=True)
