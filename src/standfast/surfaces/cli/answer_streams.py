"""The streams that a command answers on: what they cannot take ends nothing that is being done.

An answer is printed once the thing stands, so a full disk behind `>` says nothing of the thing
itself. The first failure is kept, the rest is swallowed, and whoever called is told at the end. A
reader or a terminal that went away is no failure: nobody is there to be told.
"""

from __future__ import annotations

import errno
import io
import os
import select
import stat
import sys

from standfast.errors.base import AnswerLost, DiskFailed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TextIO

    from _typeshed import ReadableBuffer


class _Forgiving(io.FileIO):
    """A descriptor that takes everything."""

    lost: OSError | None = None
    is_gone = False  # the terminal behind it

    def write(self, data: ReadableBuffer) -> int:
        """As many bytes as there is room for; all of them once it has failed."""
        size = memoryview(data).nbytes
        while self.lost is None and not self.is_gone:
            try:
                if (taken := super().write(data)) is not None:
                    return taken
                select.select([], [self], [])  # somebody made the pipe one that does not wait
            except BrokenPipeError:
                raise
            except OSError as error:
                self.is_gone = error.errno == errno.EIO and stat.S_ISCHR(
                    os.fstat(self.fileno()).st_mode
                )
                self.lost = None if self.is_gone else error
        return size


def forgiving(stream: TextIO) -> TextIO:
    """The same stream, which forgives, where there is a descriptor behind it."""
    if type(stream) is not io.TextIOWrapper or type(_raw(stream)) is not io.FileIO:
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
        return stream
    raw = _Forgiving(stream.fileno(), "w", closefd=False)
    return io.TextIOWrapper(
        io.BufferedWriter(raw), stream.encoding, "backslashreplace",
        line_buffering=stream.line_buffering, write_through=stream.write_through,
    )  # fmt: skip


def why_lost(stream: TextIO) -> str:
    """Why something that was printed there could not be written; empty where all was."""
    stream.flush()
    error = getattr(_raw(stream), "lost", None)
    return "" if error is None else error.strerror or str(error)


def _raw(stream: TextIO) -> object:
    return getattr(getattr(stream, "buffer", None), "raw", None)


def unheard(why: str) -> AnswerLost:
    """The work stands, the words about it are lost."""
    return AnswerLost(f"it was done, only the answer could not be printed: {why}")


def go_on_if_heard() -> None:
    """Print what is buffered; who follows something for ever ends where nobody can be told."""
    if why := why_lost(sys.stdout):
        raise unheard(why)


def refuse_unseen() -> None:
    """Nobody agrees to what they could not be shown."""
    if why := why_lost(sys.stdout) or why_lost(sys.stderr):
        raise DiskFailed(f"what is asked about cannot be shown, so nothing was done: {why}")
