"""Repositories that are made once in each process and copied: git needs many programs to make one.

What a copy is used for must not depend on where it lies: worktrees are added to it afterwards.
"""

import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

_MADE: dict[Callable[[Path], None], Path] = {}


def repository(make: Callable[[Path], None], at: Path) -> None:
    """Have at *at* what *make* makes of an empty folder."""
    if make not in _MADE:
        # Beside the folders of all tests: as long-lived as they.
        template = Path(tempfile.mkdtemp(prefix="prepared-", dir=at.parents[1])) / "repo"
        template.mkdir()
        make(template)
        _MADE[make] = template
    shutil.copytree(_MADE[make], at, symlinks=True)
    # Git knows files by their inodes too: without this it would take each for a changed one.
    subprocess.run(["git", "update-index", "-q", "--refresh"], cwd=at, check=True)
