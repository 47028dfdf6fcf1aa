"""Acts on a lane's git, killed at the nth call that changes a file; run as a program, it acts.

The program forks for each act, so that python is started once. It and every git that it starts
are under the shim, which kills the one that calls, only the caller of git, or all of them.
"""

import json
import mmap
import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from harness.faults.shim import compiler
from standfast.errors.base import StandfastError
from standfast.git import branch_advance, worktrees
from standfast.git.command import Git

SOURCE = Path(__file__).parent / "kill_shim.c"
SELF, CALLER, ALL = 1, 2, 3
MODES = (SELF, CALLER, ALL)
FORMAT = "6l"  # of the file by which the shim is told


class Ended(NamedTuple):
    """How an act came out."""

    status: int  # of the process: negative for a signal, 1 for a refusal
    calls: int  # that changed something
    fired: bool
    said: str


class Killer:
    """A program that acts, and dies when it is told to."""

    def __init__(self, folder: Path) -> None:
        library, self._file = folder / "shim.so", folder / "shared"
        command = [str(compiler()), "-shared", "-fPIC", "-O2", "-o", str(library), str(SOURCE)]
        subprocess.run([*command, "-ldl"], check=True)
        self._file.write_bytes(bytes(struct.calcsize(FORMAT)))
        env = {**os.environ, "LD_PRELOAD": str(library), "KILL_SHIM_FILE": str(self._file)}
        argv = [sys.executable, __file__]
        pipe = subprocess.PIPE
        self._program = subprocess.Popen(argv, env=env, stdin=pipe, stdout=pipe)

    def act(self, name: str, *args: str, nth: int = 0, mode: int = SELF) -> Ended:
        assert self._program.stdin
        assert self._program.stdout
        order = json.dumps([name, args, nth, mode]).encode()
        self._program.stdin.write(order + b"\n")
        self._program.stdin.flush()
        return Ended(*json.loads(self._program.stdout.readline()))

    def close(self) -> None:
        self._program.communicate()


@contextmanager
def killer(folder: Path) -> Iterator[Killer]:
    made = Killer(folder)
    try:
        yield made
    finally:
        made.close()


def fresh(template: Path, at: Path) -> Path:
    shutil.rmtree(at, ignore_errors=True)
    shutil.copytree(template, at, symlinks=True)
    return at


def has_fired(shared: Path) -> bool:
    """Whether the shim has killed whom this file told it to kill."""
    with shared.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as seen:
        return bool(struct.unpack(FORMAT, seen[:])[-1])


# The program.


def perform(name: str, args: list[str]) -> str:
    git = Git(directory=Path(args[0]))
    if name == "add":
        worktrees.add(git, *args[1:])
        return ""
    if name == "remove":
        return worktrees.remove(git, args[1]) or ""
    if name == "end":
        branch_advance.end_begun(git, args[1])
        return ""
    branch_advance.advance(git, *args[1:])
    return ""


def child(shared: mmap.mmap, order: list[object], out: int) -> None:
    name, args, nth, mode = order
    struct.pack_into(FORMAT, shared, 0, 1, nth, 0, mode, os.getpid(), 0)
    try:
        said, status = perform(str(name), list(args)), 0  # type: ignore[call-overload]
    except StandfastError as error:
        said, status = f"{type(error).__name__}: {error}", 1
    struct.pack_into("l", shared, 0, 0)
    os.write(out, said.encode("utf-8", "replace"))
    os._exit(status)


def main() -> None:
    with open(os.environ["KILL_SHIM_FILE"], "r+b") as file:
        shared = mmap.mmap(file.fileno(), struct.calcsize(FORMAT))
    for line in sys.stdin:
        said, out = os.pipe()
        pid = os.fork()
        if pid == 0:
            child(shared, json.loads(line), out)
        os.close(out)
        _, status = os.waitpid(pid, 0)
        with os.fdopen(said, "rb") as words:
            told = words.read().decode()
        _, _, calls, _, _, fired = struct.unpack_from(FORMAT, shared)
        struct.pack_into("l", shared, 0, 0)
        print(json.dumps([os.waitstatus_to_exitcode(status), calls, bool(fired), told]), flush=True)


if __name__ == "__main__":
    main()
