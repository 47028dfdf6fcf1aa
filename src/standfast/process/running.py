"""A program that runs while we look after others: begun, asked, read, and ended with its tree.

Its streams are files, not pipes: should we die, it is not cut off in the middle of a line. The
files have no name and go with the last who has them open.
"""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Self

from standfast.errors import WrongUsage
from standfast.process import _MARK, _end_tree, _not_started, find_program

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping, Sequence


class Running:
    """One program and everything it starts."""

    def __init__(self, child: subprocess.Popen[bytes], said: int, mark: str) -> None:
        self._child = child
        self._said = said
        self._mark = mark

    @classmethod
    def begin(
        cls,
        argv: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str],
        stdin: bytes = b"",
        keep_open: Sequence[int] = (),
    ) -> Self:
        """Start a program without a shell; the files in *keep_open* stay open in its whole tree."""
        import subprocess  # importing this module stays cheap

        if not argv or any("\0" in argument for argument in argv):
            raise WrongUsage("a program and its arguments are given as a list, without NUL")
        program = find_program(argv[0], env.get("PATH"))
        mark = os.urandom(16).hex()
        given, said = _unnamed(stdin), _unnamed(b"")
        try:
            child = subprocess.Popen(
                [program, *argv[1:]],
                cwd=cwd,
                env={**env, _MARK: mark},
                stdin=given,
                stdout=said,
                stderr=said,
                start_new_session=True,
                pass_fds=keep_open,
            )
        except OSError as error:
            os.close(said)
            raise _not_started(error, argv[0], cwd) from error
        finally:
            os.close(given)
        return cls(child, said, mark)

    def status(self) -> int | None:
        """How it ended, as a shell would say it, negative for a signal; None while it runs.

        It is not reaped yet: its number, which is its group's, must not become somebody else's.
        """
        ended = os.waitid(os.P_PID, self._child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if ended is None:
            return None
        return ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status

    def last_words(self, most: int) -> str:
        """The end of what it has said so far."""
        size = os.fstat(self._said).st_size
        return os.pread(self._said, most, max(0, size - most)).decode("utf-8", "replace")

    def end(self) -> None:
        """End it and everything it started; nothing more can be asked then."""
        _end_tree(self._child, f"{_MARK}={self._mark}".encode())
        self.let_go()

    def let_go(self) -> None:
        """It has ended, and what it started may live on; nothing more can be asked then."""
        self._child.wait()
        os.close(self._said)


def _unnamed(data: bytes) -> int:
    """A file without a name, at its beginning."""
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.seek(0)
        return os.dup(file.fileno())
