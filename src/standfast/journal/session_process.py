"""Which process a session lives in, as one line that can be compared later. Hook path.

A mark is the process id, its start in clock ticks, the boot and the PID namespace. A process
of another namespace cannot be seen from here: it is never said to be gone.
"""

from __future__ import annotations

import os

from standfast.journal.fallback.spool import boot_id

_SHELLS = frozenset({"sh", "dash", "bash", "zsh"})
_FIELDS_AFTER_NAME = 20  # proc(5): the start time is field 22, the second ends in `)`


def mark(pid: str) -> str | None:
    """The mark of a running process; a shell that only started us stands for its own parent."""
    found = _look(pid)
    if found is not None and found[0] in _SHELLS:
        pid, found = found[1], _look(found[1])
    return None if found is None else f"{pid} {found[2]} {boot_id()} {_namespace()}"


def is_gone(mark: str | None) -> bool:
    """Whether the process of a mark has surely ended."""
    parts = (mark or "").split(" ")
    if len(parts) != 4 or not os.path.isdir("/proc/self"):  # noqa: PLR2004  # as `mark` writes it
        return False
    pid, start, boot, namespace = parts
    if boot != boot_id():
        return True
    if namespace != _namespace():
        return False
    found = _look(pid)
    return found is None or found[2] != start


def arguments(mark: str) -> list[str]:
    """What the process of a mark was started with; nothing where that cannot be seen."""
    pid = mark.partition(" ")[0]
    if not (pid.isascii() and pid.isdigit()):
        return []
    try:
        with open(f"/proc/{pid}/cmdline", encoding="utf-8", errors="replace") as file:
            return file.read(64 * 1024).split("\0")
    except OSError:
        return []


def is_below(argument: str) -> bool:
    """Whether any process above this one was started with an argument."""
    pid = str(os.getppid())
    while found := _look(pid):
        if argument in arguments(pid):
            return True
        pid = found[1]
    return False


def _look(pid: str) -> tuple[str, str, str] | None:
    """A process's name, parent and start."""
    if not (pid.isascii() and pid.isdigit()):
        return None
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            name, _, rest = file.read().rpartition(")")
    except OSError:
        return None
    fields = rest.split()
    if len(fields) < _FIELDS_AFTER_NAME or fields[0] in {"Z", "X"}:
        return None
    return name.partition("(")[2], fields[1], fields[_FIELDS_AFTER_NAME - 1]


def _namespace() -> str:
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return "unknown"
