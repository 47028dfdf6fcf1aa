"""An input for which a target is not true: kept as a file, once for each place in the code."""

from __future__ import annotations

import os
import time
import traceback
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from standfast import disk

if TYPE_CHECKING:
    from harness.fuzz.target import Target

SLOW_S = 2.0


class Finding(NamedTuple):
    """What is wrong, where, and the file that shows it."""

    target: str
    problem: str
    path: str

    def __str__(self) -> str:
        again = f"python -m harness.fuzz --input {self.path} {self.target}"
        return f"{self.target}: {self.problem}\n    again: {again}"


class Search:
    """Tries inputs on one target and keeps the first of each kind of finding."""

    def __init__(self, target: Target, folder: str) -> None:
        self.target = target
        self.folder = folder
        self.tried = 0
        self.findings: dict[str, Finding] = {}

    def attempt(self, data: bytes) -> Finding | None:
        """Run the target on *data*; a finding if there is one that was not there before."""
        self.tried += 1
        began = time.perf_counter()
        problem = problem_of(self.target, data)
        if problem is None and time.perf_counter() - began > SLOW_S:
            problem = f"takes longer than {SLOW_S:g} s"
        if problem is None or problem in self.findings:
            return None
        path = os.path.join(self.folder, f"{self.target.name}-{sha256(data).hexdigest()[:12]}")
        disk.make_folder(self.folder)
        disk.replace(path, data)
        self.findings[problem] = Finding(self.target.name, problem, path)
        return self.findings[problem]


def problem_of(target: Target, data: bytes) -> str | None:
    """What went wrong and where; None if nothing did."""
    try:
        target.run(data)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  # whatever it is, it is a finding
        frames = traceback.extract_tb(error.__traceback__)
        ours = [frame for frame in frames if "standfast" in frame.filename]
        where = f"{os.path.basename(ours[-1].filename)}:{ours[-1].lineno}" if ours else "?"
        said = str(error) if isinstance(error, AssertionError) else type(error).__name__
        return f"{said} ({where})"
    return None
