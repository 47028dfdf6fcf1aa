"""Who is at work: in a folder, with a file, with an argument, and who was begun by whom."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from standfast.processes.process_identity import PID, PROC, read_proc_stat, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator


_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


def working_in(folder: str | Path) -> list[int]:
    """The processes whose current folder is there or below, as far as the system shows it.

    Not this one and those that it was called by: a shell may call us where it stands.
    """
    top, ours = os.path.realpath(folder), set(line())
    found = []
    for pid in _pids():
        try:
            where = os.readlink(PROC / str(pid) / "cwd")
        except OSError:
            continue
        if pid not in ours and (
            where == top or where.startswith(f"{top}{os.sep}") or _stands_in(pid, top)
        ):
            found.append(pid)
    return found


def _stands_in(pid: int, top: str) -> bool:
    """The same for one in another mount namespace, where the folder goes by another name."""
    try:
        if os.readlink(PROC / str(pid) / "ns/mnt") == os.readlink(PROC / "self/ns/mnt"):
            return False
        wanted = os.stat(top)
        at = os.open(PROC / str(pid) / "cwd", _FOLDER)
    except OSError:
        return False
    try:
        while not os.path.samestat(os.fstat(at), wanted):
            above = os.open("..", _FOLDER, dir_fd=at)
            is_top = os.path.samestat(os.fstat(at), os.fstat(above))
            os.close(at)
            at = above
            if is_top:
                return False
    except OSError:
        return False
    finally:
        os.close(at)
    return True


def programs_in(name: str, folder: str | Path) -> list[int]:
    """Those among the processes in a folder that run a program of this name."""
    return [pid for pid in working_in(folder) if _program(pid) == name]


def _program(pid: int) -> str:
    try:
        return (PROC / str(pid) / "comm").read_text("utf-8", "replace").removesuffix("\n")
    except OSError:
        return ""


def command_of(pid: int) -> str:
    """What a process was called as, or "" where nobody can say; it may hold secrets."""
    try:
        said = (PROC / str(pid) / "cmdline").read_bytes()
    except OSError:
        return ""
    return said.rstrip(b"\0").replace(b"\0", b" ").decode("utf-8", "replace") or _program(pid)


def since_of(pid: int) -> str:
    """When a process began, in local time, or "" where nobody can say."""
    try:
        seen = read_proc_stat(text_of(PROC / str(pid) / "stat"))
        if seen is None:
            return ""
        age_s = time.clock_gettime(time.CLOCK_BOOTTIME) - int(seen.start) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, AttributeError):
        return ""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(time.time() - age_s))


def called_with(argument: str) -> list[int]:
    """The processes that have this very argument, as far as the system shows it."""
    wanted, found = os.fsencode(argument), []
    for pid in _pids():
        try:
            said = (PROC / str(pid) / "cmdline").read_bytes()
        except OSError:
            continue
        if wanted in said.split(b"\0"):
            found.append(pid)
    return found


def having_open(path: str | Path) -> list[int]:
    """The processes that have this very file open, as far as the system shows it."""
    try:
        facts = Path(path).lstat()
    except OSError:
        return []
    return [pid for pid in _pids() if _has_open(pid, facts)]


def has_open(pid: int, path: str | Path) -> bool:
    """Whether a process has this very file open; where nobody can be asked, it may."""
    if not (PROC / "self").is_dir():
        return True
    try:
        return _has_open(pid, Path(path).lstat())
    except OSError:
        return False


def _has_open(pid: int, facts: os.stat_result) -> bool:
    try:
        with os.scandir(PROC / str(pid) / "fd") as entries:
            return any(_is_same(entry, facts) for entry in entries)
    except OSError:
        return False


def _is_same(entry: os.DirEntry[str], facts: os.stat_result) -> bool:
    try:
        return os.path.samestat(entry.stat(), facts)
    except OSError:
        return False


def _pids() -> list[int]:
    try:
        return sorted(int(entry.name) for entry in PROC.iterdir() if entry.name.isdigit())
    except OSError:
        return []


def line() -> list[int]:
    """This process, its parent, and so on upwards."""
    found, pid = [], os.getpid()
    while pid > 0 and pid not in found:
        found.append(pid)
        pid = read_above(pid) or 0
    return found


def read_above(pid: int) -> int | None:
    """Who began a process: 0 is nobody in this namespace, None is not known."""
    try:
        return read_parent(text_of(PROC / str(pid) / "stat"))
    except OSError:
        return None


def descendants(of: int | None = None) -> list[int]:
    """The processes that this one, or *of*, began, and those that they began, as far as seen."""
    parents = dict(_with_parents())
    top = os.getpid() if of is None else of
    found, more = {top}, {top}
    while more:
        more = {pid for pid, parent in parents.items() if parent in more} - found
        found |= more
    return sorted(found - {top})


def _with_parents() -> Iterator[tuple[int, int]]:
    """Every process that has not ended, and its parent: who has ended has no children."""
    for pid in _pids():
        try:
            text = text_of(PROC / str(pid) / "stat")
        except OSError:
            continue
        seen = read_proc_stat(text)
        if seen is not None and not seen.is_over:
            yield pid, read_parent(text)


def read_parent(text: str) -> int:
    """The parent that /proc/PID/stat names; 0 where there is none."""
    fields = text[text.rfind(")") + 1 :].split()[1:2]
    return int(fields[0]) if fields and PID.fullmatch(fields[0]) else 0
