"""What a trial that failed leaves to look at: its report, and the folders it worked in.

Reports name the seed; folders hold logs and disk images. They go to build/prove/, a folder for
each trial, until `make prove` runs again.
"""

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

KEPT_VARIABLE = "STANDFAST_KEPT_TRIALS"  # the folder; without it nothing is kept


def keep(top: str, report: pytest.TestReport, fixtures: Mapping[str, object]) -> None:
    """Copy what a failed trial had to *top* before its fixtures take it away."""
    place = Path(top, re.sub(r"[^\w.-]+", "-", report.nodeid)[:150])
    place.mkdir(parents=True, exist_ok=True)
    (place / "report.txt").write_text(report.longreprtext, encoding="utf-8")
    for name, value in fixtures.items():
        if isinstance(value, str | Path) and os.path.isabs(value) and os.path.isdir(value):
            copy = ["cp", "-a", "--sparse=always", str(value), str(place / name)]
            subprocess.run(copy, check=False, capture_output=True)  # sockets and the like stay
