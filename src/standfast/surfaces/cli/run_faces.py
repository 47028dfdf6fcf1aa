"""The faces of runs while they run: kept up to date for a small share of the time.

A face of thousands of records takes memory and time that would be the orchestrator's for as long
as it runs: those of a large run are kept by a process of their own. One that cannot be begun, or
fails, takes no run along.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from standfast import clock
from standfast.errors.base import StandfastError
from standfast.processes.running_program import Running
from standfast.wait_notice import Wait

if TYPE_CHECKING:
    from standfast.surfaces.cli.command_context import Context

_SHARE = 20  # faces may take one part in so many of the time
_FEW = 100  # lanes whose faces cost next to nothing
_PATIENCE_S = 60.0  # for faces of thousands of records
_LOOK_AGAIN_S = 0.02


class Faces:
    """Whoever keeps them."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._is_large = False
        self._child: Running | None = None
        self._began = self._ended = clock.monotonic_ns()

    def begin(self, lanes: int) -> None:
        """So many lanes are taken on."""
        self._is_large = lanes > _FEW

    def keep(self) -> None:
        """Bring them up to date, if that was not done a moment ago."""
        if self._child is not None:
            if self._child.status() is None:
                return
            self._child.let_go()
            self._child, self._ended = None, clock.monotonic_ns()
        took = self._ended - self._began
        if clock.monotonic_ns() - self._ended < _SHARE * took:
            return
        self._began = clock.monotonic_ns()
        if self._is_large:
            self._child = self._begun()
        else:
            self._context.heal(checkpoints=True)
        self._ended = clock.monotonic_ns()

    def close(self) -> None:
        """The last word is in them before anybody is told that it is over."""
        if self._is_large:
            self._waited()  # what it has read may be from before the last word
            self._child = self._begun()
        if self._waited() != 0:
            self._context.heal(checkpoints=True)

    def _waited(self) -> int | None:
        """How the process that keeps them ended; None where there is none that did, in time."""
        child, self._child = self._child, None
        if child is None:
            return None
        until = clock.monotonic_ns() + _PATIENCE_S * 1e9
        told = Wait(lambda: "the files that show the run to be written")
        while (status := child.status()) is None and clock.monotonic_ns() < until:
            told.look()
            clock.pause(_LOOK_AGAIN_S)
        if status is None:
            child.end()
        else:
            child.let_go()
        return status

    def _begun(self) -> Running | None:
        """A command that keeps the faces and does nothing else."""
        root, flags = self._context.place.root, self._context.flags
        ours = [sys.executable, "-I", "-m", "standfast", "-C", root]
        settings = [word for each in flags for word in ("--set", each)]
        words = [*ours, *settings, "checkpoint", "keep"]
        try:
            return Running.begin(words, cwd=root, env=self._context.environ)
        except (StandfastError, OSError):
            return None  # too many processes, too little memory: it may go well next time
