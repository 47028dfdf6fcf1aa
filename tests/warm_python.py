"""`python -m standfast` without the start of an interpreter: each call is a fork of a warm one.

Most of what a short command costs is to load Python, its library and our modules, and to take them
apart at the end, which proves nothing here. A fork is a process like any other: its own status,
streams, folder and environment. What acts while it is loaded (where modules come from, hooks) is
loaded after the fork. That a command loads what it needs, and nothing more, is for the tests that
start a real interpreter.
"""

import atexit
import gc
import importlib
import json
import os
import pkgutil
import re
import runpy
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

LIBRARY = (
    "argparse", "apsw", "ast", "base64", "contextlib", "ctypes", "dataclasses", "datetime",
    "difflib", "fcntl", "hashlib", "heapq", "inspect", "ipaddress", "json", "locale", "pathlib",
    "random", "re", "select", "shlex", "shutil", "signal", "statistics", "struct", "subprocess",
    "tempfile", "textwrap", "threading", "typing", "urllib.parse", "weakref", "yaml",
)  # fmt: skip
ACT_WHEN_LOADED = re.compile(
    r"standfast\.(__main__|import_guard|surfaces\.cli\.entry|clients\.(hooks|start)\b.*"
    r"|effects\.supervisor|testing\b.*)"
)
# What an interpreter reads once, when it starts: with other values it is started anew.
AT_START = ("PYTHON", "LC_", "LANG", "LD_")
CHUNK = 1 << 16
ORDER_BYTES = 1 << 18
NUMBER = 4


class Call(NamedTuple):
    """What the warm interpreter is told."""

    words: Sequence[str]
    cwd: str
    env: dict[str, str]
    umask: int


def run(
    *words: str, cwd: Path, given: str, env: Mapping[str, str], timeout: float
) -> subprocess.CompletedProcess[str]:
    """`standfast WORDS`, as subprocess.run with text and captured output does it."""
    argv = [sys.executable, "-m", "standfast", *words]
    if read_at_start(env) != read_at_start(os.environ):
        return subprocess.run(argv, cwd=cwd, input=given, env=env, capture_output=True,
                              encoding="utf-8", timeout=timeout, check=False)  # fmt: skip
    umask = os.umask(0o077)
    os.umask(umask)
    call = Call(words, str(cwd), dict(env), umask)
    return _fork(argv, call, given.encode(), time.monotonic() + timeout)


def read_at_start(env: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in env.items() if name.startswith(AT_START)}


def _fork(
    argv: list[str], call: Call, given: bytes, until: float
) -> subprocess.CompletedProcess[str]:
    stdin, write = os.pipe()
    out, stdout = os.pipe()
    err, stderr = os.pipe()
    told, status = os.pipe()
    theirs = (stdin, stdout, stderr, status)
    socket.send_fds(_warm(), [json.dumps(call).encode()], theirs)
    for fd in theirs:
        os.close(fd)
    pid = _number(told)
    try:
        read = _communicate(write, given, (out, err), until)
    except subprocess.TimeoutExpired:
        os.kill(pid, signal.SIGKILL)
        raise
    finally:
        code = _number(told)
        for fd in (out, err, told):
            os.close(fd)
    said = (data.decode().replace("\r\n", "\n") for data in read)
    return subprocess.CompletedProcess(argv, code, *said)


def _number(fd: int) -> int:
    return int.from_bytes(os.read(fd, NUMBER), signed=True)


def _communicate(
    write: int, given: bytes, read: tuple[int, int], until: float
) -> tuple[bytes, ...]:
    """Write all of *given* and read to the end of both, whoever else may hold them open."""
    said = {fd: bytearray() for fd in read}
    with selectors.DefaultSelector() as selector:
        for fd in read:
            selector.register(fd, selectors.EVENT_READ)
        selector.register(write, selectors.EVENT_WRITE)
        os.set_blocking(write, False)
        while selector.get_map():
            ready = selector.select(until - time.monotonic())
            if not ready:
                raise subprocess.TimeoutExpired("standfast", 0)
            for key, _ in ready:
                if key.fd == write:
                    given = _written(write, given)
                    is_over = not given
                else:
                    data = os.read(key.fd, CHUNK)
                    said[key.fd] += data
                    is_over = not data
                if is_over:
                    selector.unregister(key.fd)
                    if key.fd == write:
                        os.close(write)
    return tuple(bytes(data) for data in said.values())


def _written(fd: int, data: bytes) -> bytes:
    """Write what fits, and give what is left; nothing is, when nobody reads it any more."""
    try:
        return data[os.write(fd, data[:CHUNK]) :] if data else b""
    except BrokenPipeError:
        return b""


@cache
def _warm() -> socket.socket:
    """Give the way to the warm interpreter of this process; it ends when that is closed."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    for end in (ours, theirs):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, ORDER_BYTES)
    argv = [sys.executable, __file__, str(theirs.fileno())]
    pipe = subprocess.PIPE  # as its forks have: Python asks once whether a stream can seek
    process = subprocess.Popen(
        argv, pass_fds=[theirs.fileno()], stdin=pipe, stdout=pipe, stderr=pipe
    )
    theirs.close()
    atexit.register(process.communicate)
    atexit.register(ours.close)
    return ours


# The warm interpreter.


def main(way: int) -> None:
    for name in (*LIBRARY, *ours()):
        importlib.import_module(name)
    gc.freeze()
    calls = socket.socket(fileno=way)
    while True:
        data, fds, _, _ = socket.recv_fds(calls, ORDER_BYTES, 4)
        if not data:
            return
        pid = os.fork()
        if pid == 0:
            calls.close()
            watch(Call(*json.loads(data)), fds)
            return
        for fd in fds:
            os.close(fd)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def ours() -> list[str]:
    """List the modules of Standfast that may be loaded before it is known what for."""
    found = pkgutil.walk_packages(importlib.import_module("standfast").__path__, "standfast.")
    return [each.name for each in found if not ACT_WHEN_LOADED.fullmatch(each.name)]


def watch(call: Call, fds: list[int]) -> None:
    """Be the parent of the command, and tell how it ended."""
    *streams, told = fds
    pid = os.fork()
    if pid == 0:
        os.close(told)
        become(call, streams)
        return
    os.write(told, pid.to_bytes(NUMBER))
    for fd in streams:
        os.close(fd)
    _, status = os.waitpid(pid, 0)
    os.write(told, os.waitstatus_to_exitcode(status).to_bytes(NUMBER, signed=True))
    os._exit(0)


def become(call: Call, streams: list[int]) -> None:
    """Go on as `python -m standfast`, and end as that does, without taking everything apart."""
    for number, fd in enumerate(streams):
        os.dup2(fd, number)
        os.close(fd)
    os.umask(call.umask)
    os.chdir(call.cwd)
    os.environ.clear()
    os.environ.update(call.env)
    time.tzset()
    sys.argv = ["standfast", *call.words]
    sys.path[0] = call.cwd
    try:
        runpy.run_module("standfast", run_name="__main__", alter_sys=True)
    except SystemExit as end:
        # What Python does at its end and others could see; a traceback ends as it always does.
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(end.code if isinstance(end.code, int) else 0)


if __name__ == "__main__":
    main(int(sys.argv[1]))
