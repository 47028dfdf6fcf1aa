"""The one door to processes: running a program to its end, within a time and a size.

No shell, argument lists only, a session of its own; when the time is up nothing that the program
started stays alive. Who a process is and whether it lives: standfast.process.identity, whose names
are offered here too.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import signal as signals
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from standfast.errors import ProgramMissing, ProgramTimedOut, TooLarge, UnsafePath, WrongUsage
from standfast.process.identity import (
    PROC,
    Identity,
    Liveness,
    Sighting,
    has_begun,
    identify,
    liveness,
    lock_holders,
    look,
    send,
)
from standfast.process.workers import called_with, descendants, having_open, programs_in, working_in

if TYPE_CHECKING:
    import selectors
    import subprocess
    from collections.abc import Callable, Iterator, Mapping, Sequence

__all__ = [
    "Finished",
    "Identity",
    "Liveness",
    "called_with",
    "descendants",
    "find_program",
    "having_open",
    "identify",
    "liveness",
    "lock_holders",
    "programs_in",
    "run",
    "send",
    "surrounded_by",
    "uninterrupted",
    "working_in",
]

OUTPUT_LIMIT = 16 * 1024 * 1024
GRACE_S = 1.0

_CHUNK = 64 * 1024
_LOOK_AGAIN_S = 0.01
_MARK = "_STANDFAST_RUN"


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
) -> Finished:
    """Run a program to its end, without a shell, keeping *output_limit* bytes of each stream.

    What it prints is handed to *take* piece by piece instead, where that is given: it can be more
    than memory holds. When the time is up, or the wait is interrupted, or *take* raises, it and
    everything it started are ended.
    """
    if isinstance(argv, str) or not argv:
        raise WrongUsage("a program and its arguments are given as a list")
    deadline = time.monotonic() + timeout_s
    surroundings = dict(os.environ if env is None else env) | {_MARK: os.urandom(16).hex()}
    interrupts: list[int] = []
    with _interrupts_wait(interrupts):
        child = _start(argv, cwd=cwd, env=surroundings)
    try:
        _pass_on(interrupts)
        out, err = _Capture(output_limit, take), _Capture(min(output_limit, OUTPUT_LIMIT))
        _converse(child, stdin, (out, err), deadline=deadline)
        child.wait(max(0.0, deadline - time.monotonic()))
    except BaseException as error:
        _end_tree(child, f"{_MARK}={surroundings[_MARK]}".encode())
        if _is_timeout(error):
            raise ProgramTimedOut(f"{argv[0]} did not end within {timeout_s:g} s") from None
        raise
    finally:
        _close_pipes(child)
    return Finished(
        argv=tuple(argv),
        status=child.returncode,
        stdout=out.kept.getvalue(),
        stderr=err.kept.getvalue(),
        truncated=out.truncated or err.truncated,
    )


@contextlib.contextmanager
def _interrupts_wait(told: list[int]) -> Iterator[None]:
    """Between a program's start and our hold on it an interrupt would leave it to itself."""
    ours = signals.default_int_handler
    is_ours = signals.getsignal(signals.SIGINT) is ours  # who ignores it has said so
    try:
        if is_ours:
            signals.signal(signals.SIGINT, lambda number, _: told.append(number))
    except ValueError:
        is_ours = False  # only the main thread is interrupted
    try:
        yield
    finally:
        if is_ours:
            signals.signal(signals.SIGINT, ours)


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """What is begun and taken note of in here is known to whoever is interrupted, which waits."""
    interrupts: list[int] = []
    with _interrupts_wait(interrupts):
        yield
    _pass_on(interrupts)


def _pass_on(interrupts: list[int]) -> None:
    if interrupts:
        raise KeyboardInterrupt


def find_program(name: str, path: str | None) -> str:
    """Find a program by name, never through a relative PATH entry: a repository may be there."""
    if "/" in name:
        return name
    for folder in (path or os.defpath).split(os.pathsep):
        file = Path(folder, name)
        if file.is_absolute() and file.is_file() and os.access(file, os.X_OK):
            return str(file)
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
    *,
    deadline: float,
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
            for key, _ in _ready(selector, deadline):
                if key.data is None:
                    unsent = _feed(key.fd, unsent)
                    more = bool(unsent)
                else:
                    more = _read_some(key.fd, key.data)
                if not more:
                    selector.unregister(key.fileobj)
                    key.fileobj.close()  # type: ignore[union-attr]  # a pipe, never a bare number


def _ready(
    selector: selectors.BaseSelector, deadline: float
) -> list[tuple[selectors.SelectorKey, int]]:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return selector.select(left)


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


def _is_timeout(error: BaseException) -> bool:
    import subprocess  # importing this module stays cheap

    return isinstance(error, TimeoutError | subprocess.TimeoutExpired)


def _close_pipes(child: subprocess.Popen[bytes]) -> None:
    for pipe in (child.stdin, child.stdout, child.stderr):
        if pipe is not None:
            pipe.close()


# Ending what was started. The child is not reaped before the last signal, so that its pid, which
# is also its group's, cannot have become somebody else's.


def _end_tree(child: subprocess.Popen[bytes], mark: bytes) -> None:
    """Ask the tree to end, then end it; what left the group is found by its environment."""
    _signal_tree(child.pid, mark, signals.SIGTERM)
    give_up = time.monotonic() + GRACE_S
    while time.monotonic() < give_up and _tree_lives(child.pid, mark):
        time.sleep(_LOOK_AGAIN_S)
    give_up = time.monotonic() + GRACE_S
    while True:
        _signal_tree(child.pid, mark, signals.SIGKILL)
        if time.monotonic() >= give_up or not _tree_lives(child.pid, mark):
            break
        time.sleep(_LOOK_AGAIN_S)
    _reap(child)


def _reap(child: subprocess.Popen[bytes]) -> None:
    import subprocess  # importing this module stays cheap

    with contextlib.suppress(subprocess.TimeoutExpired):  # stuck in the kernel: nobody can help
        child.wait(GRACE_S)


def _signal_tree(group: int, mark: bytes, signal: signals.Signals) -> None:
    with contextlib.suppress(OSError):
        os.killpg(group, signal)
    for pid in _strays(group, mark):
        identity = identify(pid)
        if identity is not None and mark in _environment(pid):
            send(identity, signal)


def surrounded_by(variable: bytes) -> list[int]:
    """The processes that have `NAME=value` in their environment; none where nobody can be asked."""
    return [pid for pid, _ in _members(-1, variable)]


def _tree_lives(group: int, mark: bytes) -> bool:
    if not (PROC / "self").is_dir():
        return True  # nobody to ask: wait the whole grace, then kill
    return any(True for _ in _members(group, mark))


def _strays(group: int, mark: bytes) -> list[int]:
    return [pid for pid, seen in _members(group, mark) if seen.group != group]


def _members(group: int, mark: bytes) -> Iterator[tuple[int, Sighting]]:
    if not PROC.is_dir():
        return
    for pid in [int(entry.name) for entry in PROC.iterdir() if entry.name.isdigit()]:
        seen = look(pid)
        if not isinstance(seen, Sighting) or seen.is_over:
            continue
        if seen.group == group or mark in _environment(pid):
            yield pid, seen


def _environment(pid: int) -> list[bytes]:
    try:
        return (PROC / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        return []
