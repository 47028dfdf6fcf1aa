"""Ending what was started: a program and its whole tree, one or all of this process's.

A child is not reaped before the last signal, so that its pid, which is also its group's, cannot
have become somebody else's.
"""

from __future__ import annotations

import contextlib
import os
import signal as signals
import time
from typing import TYPE_CHECKING

from standfast.processes.process_identity import PROC, Sighting, identify, look, send

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator, Sequence

GRACE_S = 1.0
LEAVE_S = 0.3
MARK = "_STANDFAST_RUN"
_LOOK_AGAIN_S = 0.01

ours: dict[int, bytes] = {}  # programs that run at the moment, in any thread, and their marks
_is_left = False  # whoever called us leaves


def end_tree(child: subprocess.Popen[bytes], mark: bytes) -> None:
    """Ask the tree to end, then end it; what left the group is found by its environment."""
    end_trees([(child, mark)])


def end_trees(children: Sequence[tuple[subprocess.Popen[bytes], bytes]]) -> None:
    """The same for several at once: ten that do not listen take no longer than one."""
    trees = [(child.pid, mark) for child, mark in children]
    _signal_trees(trees, signals.SIGTERM)
    give_up = time.monotonic() + GRACE_S
    while time.monotonic() < give_up and _any_lives(trees):
        time.sleep(_LOOK_AGAIN_S)
    give_up = time.monotonic() + GRACE_S
    while True:
        _signal_trees(trees, signals.SIGKILL)
        if time.monotonic() >= give_up or not _any_lives(trees):
            break
        time.sleep(_LOOK_AGAIN_S)
    for child, _ in children:
        _reap(child)


def leave() -> None:
    """End the programs of every thread, at once: this process is about to end.

    A thread whose program is ended under its hands stays where it is: what it would do next, and
    write down, would be about a failure that was none.
    """
    global _is_left  # noqa: PLW0603  # for every thread of the process
    _is_left = True
    trees = list(ours.items())
    _signal_trees(trees, signals.SIGTERM)
    give_up = time.monotonic() + LEAVE_S
    while time.monotonic() < give_up and _any_lives(trees):
        time.sleep(_LOOK_AGAIN_S)
    _signal_trees(trees, signals.SIGKILL)


def stay_if_left() -> None:
    """Where this process is being left, only its main thread still does anything."""
    import threading  # importing this module stays cheap

    if _is_left and threading.current_thread() is not threading.main_thread():
        threading.Event().wait()


def _reap(child: subprocess.Popen[bytes]) -> None:
    import subprocess  # importing this module stays cheap

    with contextlib.suppress(subprocess.TimeoutExpired):  # stuck in the kernel: nobody can help
        child.wait(GRACE_S)


def _signal_trees(trees: Sequence[tuple[int, bytes]], signal: signals.Signals) -> None:
    for group, mark in trees:
        _signal_tree(group, mark, signal)


def _any_lives(trees: Sequence[tuple[int, bytes]]) -> bool:
    return any(_tree_lives(*each) for each in trees)


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


def carrying(name: str) -> list[tuple[int, dict[str, str]]]:
    """The processes that have a variable of this name in their environment, with all of that."""
    found = []
    for entry in PROC.iterdir() if PROC.is_dir() else ():
        if entry.name.isdigit():
            read = (each.decode("utf-8", "replace") for each in _environment(int(entry.name)))
            environ = dict(each.partition("=")[::2] for each in read)
            if name in environ:
                found.append((int(entry.name), environ))
    return found


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
