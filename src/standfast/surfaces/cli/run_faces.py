"""The faces of runs while they run: kept up to date for a small share of the time.

A face of thousands of records takes memory and time that would be the orchestrator's for as long
as it runs: those of a large run are kept by a process of their own.
"""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from standfast import clock

if TYPE_CHECKING:
    from standfast.surfaces.cli.context import Context

_SHARE = 20  # faces may take one part in so many of the time
_FEW = 100  # lanes whose faces cost next to nothing


class Faces:
    """Whoever keeps them."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._is_large = False
        self._child: subprocess.Popen[bytes] | None = None
        self._began = self._ended = clock.monotonic_ns()

    def begin(self, lanes: int) -> None:
        """So many lanes are taken on."""
        self._is_large = lanes > _FEW

    def keep(self) -> None:
        """Bring them up to date, if that was not done a moment ago."""
        if self._child is not None:
            if self._child.poll() is None:
                return
            self._child, self._ended = None, clock.monotonic_ns()
        took = self._ended - self._began
        if clock.monotonic_ns() - self._ended < _SHARE * took:
            return
        self._began = clock.monotonic_ns()
        if self._is_large:
            self._child = self._begun()
            return
        self._context.heal(checkpoints=True)
        self._ended = clock.monotonic_ns()

    def close(self) -> None:
        """The last word is in them before anybody is told that it is over."""
        if not self._is_large:
            self._context.heal(checkpoints=True)
            return
        if self._child is not None:
            self._child.wait()
        self._begun().wait()

    def _begun(self) -> subprocess.Popen[bytes]:
        """Every command keeps the faces: this one asks for nothing else."""
        words = [sys.executable, "-I", "-m", "standfast", "-C", self._context.place.root]
        return subprocess.Popen(
            [*words, "checkpoint", "list", "--run-id", "none"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
