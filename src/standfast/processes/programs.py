"""The one door to processes: running a program to its end, within a time and a size.

No shell, argument lists only, a session of its own; when the time is up nothing that the program
started stays alive. Who a process is and whether it lives: `process_identity`, whose names are
offered here too.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import signal as signals
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from standfast.errors.base import ProgramMissing, ProgramTimedOut, TooLarge, UnsafePath, WrongUsage
from standfast.processes.occupants import (
    called_with,
    descendants,
    has_open,
    having_open,
    programs_in,
    working_in,
)
from standfast.processes.process_identity import (
    Identity,
    Liveness,
    has_begun,
    identify,
    liveness,
    lock_holders,
    sees_everyone,
    send,
)
from standfast.processes.termination import (
    MARK,
    carrying,
    end_tree,
    leave,
    ours,
    stay_if_left,
    surrounded_by,
)

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

__all__ = [
    "Finished",
    "Identity",
    "Liveness",
    "called_with",
    "carrying",
    "descendants",
    "find_program",
    "has_open",
    "having_open",
    "identify",
    "leave",
    "liveness",
    "lock_holders",
    "programs_in",
    "run",
    "sees_everyone",
    "send",
    "surrounded_by",
    "uninterrupted",
    "working_in",
]

OUTPUT_LIMIT = 16 * 1024 * 1024
SLOW_S = 3.0  # who waits longer is told for what

_CHUNK = 64 * 1024


# Running a program to its end.


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """A program that ended: status as a shell would say it, negative for a signal."""

    argv: tuple[str, ...]
    status: int
    stdout: bytes
    stderr: bytes
    truncated: bool


def run(
    argv: Sequence[str],
    *,
    cwd: str | Path | None = None,
    env: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    timeout_s: float,
    output_limit: int = OUTPUT_LIMIT,
    take: Callable[[bytes], object] | None = None,
    slow: Callable[[int], float] | None = None,
) -> Finished:
    """Run a program to its end, without a shell, keeping *output_limit* bytes of each stream.

    What it prints is handed to *take* piece by piece instead, where that is given: it can be more
    than memory holds. *slow* is called with its number once it has run for a while, and says after
    how many seconds it wants to be called again. When the time is up, or the wait is interrupted,
    or *take* or *slow* raises, it and everything it started are ended.
    """
    if isinstance(argv, str) or not argv:
        raise WrongUsage("a program and its arguments are given as a list")
    surroundings = dict(os.environ if env is None else env) | {MARK: os.urandom(16).hex()}
    mark = f"{MARK}={surroundings[MARK]}".encode()
    interrupts: list[Callable[[], object]] = []
    with _interrupts_wait(interrupts):
        child = _start(argv, cwd=cwd, env=surroundings)
        ours[child.pid] = mark
    try:
        _pass_on(interrupts)
        out, err = _Capture(output_limit, take), _Capture(min(output_limit, OUTPUT_LIMIT))
        patience = _Patience(child.pid, timeout_s, slow)
        _converse(child, stdin, (out, err), patience)
        _see_off(child, patience)
    except BaseException as error:
        end_tree(child, mark)
        if isinstance(error, TimeoutError):
            raise ProgramTimedOut(f"{argv[0]} did not end within {timeout_s:g} s") from None
        raise
    finally:
        ours.pop(child.pid, None)
        _close_pipes(child)
        stay_if_left()
    return Finished(
        argv=tuple(argv),
        status=child.returncode,
        stdout=out.kept.getvalue(),
        stderr=err.kept.getvalue(),
        truncated=out.truncated or err.truncated,
    )


_INTERRUPTS = (signals.SIGINT, signals.SIGTERM, signals.SIGHUP)


@contextlib.contextmanager
def _interrupts_wait(told: list[Callable[[], object]]) -> Iterator[None]:
    """Between a program's start and our hold on it an interrupt would leave it to itself."""
    before = {number: signals.getsignal(number) for number in _INTERRUPTS}
    heeded = {number: act for number, act in before.items() if callable(act)}  # ignored: said so
    try:
        for number, act in heeded.items():
            signals.signal(number, lambda *_, number=number, act=act: told.append(
                lambda: act(number, None)))  # fmt: skip
    except ValueError:
        heeded = {}  # only the main thread is interrupted
    try:
        yield
    finally:
        for number, act in heeded.items():
            signals.signal(number, act)


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """What is begun and taken note of in here is known to whoever is interrupted, which waits."""
    interrupts: list[Callable[[], object]] = []
    with _interrupts_wait(interrupts):
        yield
    _pass_on(interrupts)


def _pass_on(interrupts: list[Callable[[], object]]) -> None:
    for each in interrupts[:1]:
        each()


def find_program(name: str, path: str | None) -> str:
    """Find a program by name, never through a relative PATH entry: a repository may be there."""
    if "/" in name:
        return name
    for folder in (path or os.defpath).split(os.pathsep):
        file = os.path.join(folder, name)  # a Path's is_file() raises where a folder is closed
        if os.path.isabs(file) and os.path.isfile(file) and os.access(file, os.X_OK):
            return file
    raise ProgramMissing(f"the program {name} was not found on PATH")


def _start(
    argv: Sequence[str], *, cwd: str | Path | None, env: Mapping[str, str]
) -> subprocess.Popen[bytes]:
    import subprocess  # importing this module stays cheap

    if any("\0" in arg for arg in argv):
        raise WrongUsage("an argument of a program holds a NUL")
    program = find_program(argv[0], env.get("PATH"))
    pipe = subprocess.PIPE
    try:
        while True:
            child = subprocess.Popen(
                [program, *argv[1:]],
                cwd=None if cwd is None else os.fspath(cwd),
                env=env,
                stdin=pipe,
                stdout=pipe,
                stderr=pipe,
                start_new_session=True,
            )
            if has_begun(child.pid):
                return child
            child.wait()
            _close_pipes(child)
    except OSError as error:
        raise _not_started(error, argv[0], cwd) from error


def _not_started(error: OSError, program: str, cwd: str | Path | None) -> Exception:
    if error.errno == errno.E2BIG:
        return TooLarge(f"the arguments and environment of {program} are over the system's limit")
    if cwd is not None and error.filename == os.fspath(cwd):
        return UnsafePath("the folder to run in cannot be entered", file=os.fspath(cwd))
    if isinstance(error, FileNotFoundError | PermissionError) or error.errno == errno.ENOEXEC:
        return ProgramMissing(f"the program {program} cannot be run: {error.strerror}")
    return error


class _Capture:
    """The first bytes of a stream; the rest is read and dropped, so that the writer can go on."""

    def __init__(self, limit: int, take: Callable[[bytes], object] | None = None) -> None:
        self.kept = io.BytesIO()  # gives what it holds without a copy
        self.truncated = False
        self._room = limit
        self.take = self._keep if take is None else take

    def _keep(self, chunk: bytes) -> None:
        self.kept.write(chunk[: self._room])
        self.truncated = self.truncated or len(chunk) > self._room
        self._room = max(0, self._room - len(chunk))


def _converse(
    child: subprocess.Popen[bytes],
    stdin: bytes,
    sinks: tuple[_Capture, _Capture],
    patience: _Patience,
) -> None:
    """Feed the child and read both its streams to their end, or raise TimeoutError."""
    import selectors  # importing this module stays cheap

    out, err = sinks
    unsent = memoryview(stdin)
    with selectors.DefaultSelector() as selector:
        for pipe, sink in ((child.stdout, out), (child.stderr, err), (child.stdin, None)):
            if pipe is not None:
                os.set_blocking(pipe.fileno(), False)
                event = selectors.EVENT_WRITE if sink is None else selectors.EVENT_READ
                selector.register(pipe, event, sink)
        while selector.get_map():
            for key, _ in selector.select(patience.left_s()):
                if key.data is None:
                    unsent = _feed(key.fd, unsent)
                    more = bool(unsent)
                else:
                    more = _read_some(key.fd, key.data)
                if not more:
                    selector.unregister(key.fileobj)
                    key.fileobj.close()  # type: ignore[union-attr]  # a pipe, never a bare number


class _Patience:
    """How long a program may still take, and when somebody is to be told that it takes long."""

    def __init__(self, pid: int, timeout_s: float, slow: Callable[[int], float] | None) -> None:
        self._pid, self._slow = pid, slow
        self._until = time.monotonic() + timeout_s
        self._told = time.monotonic() + SLOW_S if slow else self._until

    def left_s(self) -> float:
        """How long to wait now; TimeoutError where its time is up."""
        now = time.monotonic()
        if now >= self._until:
            raise TimeoutError
        if self._slow is not None and now >= self._told:
            self._told = now + self._slow(self._pid)
        return max(0.0, min(self._until, self._told) - now)


def _see_off(child: subprocess.Popen[bytes], patience: _Patience) -> None:
    """Wait for its end: it may have closed both streams long before."""
    import subprocess  # importing this module stays cheap

    while True:
        try:
            child.wait(patience.left_s())
        except subprocess.TimeoutExpired:
            continue
        return


def _feed(fd: int, unsent: memoryview) -> memoryview:
    """Write what the pipe takes; a child that closed its input wants no more."""
    try:
        return unsent[os.write(fd, unsent[:_CHUNK]) :]
    except BlockingIOError:
        return unsent
    except BrokenPipeError:
        return unsent[:0]


def _read_some(fd: int, sink: _Capture) -> bool:
    try:
        chunk = os.read(fd, _CHUNK)
    except BlockingIOError:
        return True
    sink.take(chunk)
    return bool(chunk)


def _close_pipes(child: subprocess.Popen[bytes]) -> None:
    for pipe in (child.stdin, child.stdout, child.stderr):
        if pipe is not None:
            pipe.close()
