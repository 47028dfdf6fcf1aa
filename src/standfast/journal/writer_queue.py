"""One writer at a time, in turn, with a bounded wait.

Two locks make a turnstile: whoever holds `turnstile` is next, and waits there for `writer`.
The one that leaves `writer` finds the turnstile taken and cannot push in again. SQLite's own
busy timeout has no queue: under 16 writers one made thousands of commits and another one.
"""

from __future__ import annotations

import os
import sys
from fcntl import LOCK_EX, LOCK_NB, LOCK_UN, flock

from standfast.clock import pause
from standfast.journal.locks import TURNSTILE, open_lock, refuse_lockless, take, take_within

_TRIES, _TRY_AGAIN_S = 20, 0.001


class Turnstile:
    """The way into the journal for writers; open once per process, use for every write."""

    __slots__ = ("_next", "_next_path", "_writer", "_writer_path")

    def __init__(self, folder: str) -> None:
        self._next_path = os.path.join(folder, TURNSTILE)
        self._writer_path = os.path.join(folder, "writer.lock")
        self._next = open_lock(self._next_path)
        self._writer = open_lock(self._writer_path)

    def enter(self, timeout_s: float | None) -> None:
        """Become the writer; None waits for as long as it takes."""
        try:  # nobody is waiting and nobody writes: four calls, and no more, for every append
            flock(self._next, LOCK_EX | LOCK_NB)
            try:
                flock(self._writer, LOCK_EX | LOCK_NB)
                return
            finally:
                flock(self._next, LOCK_UN)
        except OSError as error:
            refuse_lockless(error)
        if self._enter_soon():
            return
        mine = take_within(self._writer_path, timeout_s, self._queue, queue=self._next_path)
        os.close(self._writer)
        self._writer = mine

    def _enter_at_once(self) -> bool:
        """Nobody is waiting and nobody writes: four calls, and no more, for every append."""
        try:
            flock(self._next, LOCK_EX | LOCK_NB)
            try:
                flock(self._writer, LOCK_EX | LOCK_NB)
            finally:
                flock(self._next, LOCK_UN)
        except OSError as error:
            refuse_lockless(error)
            return False
        return True

    def _enter_soon(self) -> bool:
        """A hook tries some more: most writers take a moment, loading threads takes three."""
        if "threading" in sys.modules:
            return False
        for _ in range(_TRIES):
            pause(_TRY_AGAIN_S)
            if self._enter_at_once():
                return True
        return False

    def leave(self) -> None:
        """Let the next one in."""
        flock(self._writer, LOCK_UN)

    def close(self) -> None:
        """Give back both files; a lock that is still held goes with them."""
        os.close(self._next)
        os.close(self._writer)

    def _queue(self) -> int:
        first = take(self._next_path)
        try:
            return take(self._writer_path)
        finally:
            os.close(first)
