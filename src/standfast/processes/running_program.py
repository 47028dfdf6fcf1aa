"""A program that runs while we look after others: begun, asked, read, and ended with its tree.

Its streams are files, not pipes: should we die, it is not cut off in the middle of a line. The
files have no name and go with the last who has them open.
"""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Self

from standfast.errors.base import WrongUsage
from standfast.processes.programs import _not_started, find_program
from standfast.processes.termination import MARK, end_trees, ours

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
        mark: str = "",
    ) -> Self:
        """Start a program without a shell; the files in *keep_open* stay open in its whole tree.

        Everything it starts has the *mark* in its environment: whoever knows it finds them.
        """
        import subprocess  # importing this module stays cheap

        if not argv or any("\0" in argument for argument in argv):
            raise WrongUsage("a program and its arguments are given as a list, without NUL")
        program = find_program(argv[0], env.get("PATH"))
        mark = mark or new_mark()
        given, said = _unnamed(stdin), _unnamed(b"")
        try:
            child = subprocess.Popen(
                [program, *argv[1:]],
                cwd=cwd,
                env={**env, MARK: mark},
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
        ours[child.pid] = variable(mark)
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
        end_all([self])

    def let_go(self) -> None:
        """It has ended, and what it started may live on; nothing more can be asked then."""
        self._child.wait()
        ours.pop(self._child.pid, None)
        os.close(self._said)


def end_all(running: Sequence[Running]) -> None:
    """End these and everything they started, at once."""
    end_trees([(each._child, variable(each._mark)) for each in running])  # noqa: SLF001  # this module's own
    for each in running:
        each.let_go()


def new_mark() -> str:
    """A mark that nobody else has."""
    return os.urandom(16).hex()


def variable(mark: str) -> bytes:
    """How a mark stands in the environment."""
    return f"{MARK}={mark}".encode()


def _unnamed(data: bytes) -> int:
    """A file without a name, at its beginning."""
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.seek(0)
        return os.dup(file.fileno())
