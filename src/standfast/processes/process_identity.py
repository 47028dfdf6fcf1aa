"""Who a process is, whether it lives, signalling it, and who holds a lock.

A pid alone names nobody: it is used again, and means something else in another container or on
another machine. An identity therefore carries the machine, the PID namespace, the boot and the
start time, and what cannot be compared is unknown, never dead. Callers import these names from
standfast.processes.programs.
"""

from __future__ import annotations

import errno
import os
import re
import signal as signals
import sys
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from standfast.errors.base import ProgramMissing, ProgramTimedOut

if TYPE_CHECKING:
    from collections.abc import Sequence

PROC = Path("/proc")
MACHINE_ID_FILES = (Path("/etc/machine-id"), Path("/var/lib/dbus/machine-id"))
BOOT_ID_FILE = PROC / "sys/kernel/random/boot_id"
NOT_KNOWN = "unknown"

_READ_LIMIT = 64 * 1024
_FIELD = re.compile(r"[A-Za-z0-9._:-]{1,128}")
PID = re.compile(r"[1-9][0-9]{0,9}")
_FORKED_ONLY = 0x40  # Linux's flag of a process that has not called exec
_FIRST_NAMESPACE = "4026531836"  # what Linux calls the one that sees all others
_RANDOM_NODE = 1 << 40  # set by uuid.getnode when it found no card and drew a number


# Who a process is.


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """One process, told apart from every other that has or had its pid; ValueError if it cannot."""

    machine: str
    pid_namespace: str
    boot: str
    pid: int
    start: str

    def __post_init__(self) -> None:
        fields = (self.machine, self.pid_namespace, self.boot, self.start)
        if not (all(map(_FIELD.fullmatch, fields)) and PID.fullmatch(str(self.pid))):
            raise ValueError("a process identity holds a field that is not one")

    def as_text(self) -> str:
        """One line: `machine/namespace/boot/pid/start`."""
        return f"{self.machine}/{self.pid_namespace}/{self.boot}/{self.pid}/{self.start}"

    @classmethod
    def from_text(cls, text: str) -> Identity:
        """Read `as_text` back; anything else is a ValueError."""
        fields = text.split("/")
        if len(fields) != 5 or not PID.fullmatch(fields[3]):  # noqa: PLR2004  # the five above
            raise ValueError("not a process identity")
        machine, namespace, boot, pid, start = fields
        return cls(machine=machine, pid_namespace=namespace, boot=boot, pid=int(pid), start=start)


class Liveness(StrEnum):
    """What can be said about a process from here."""

    ALIVE = "alive"
    DEAD = "dead"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """What the system shows of a process: its one-letter state, its group and when it began."""

    state: str
    group: int
    start: str
    is_program: bool = True  # not yet, between fork and exec, where the system tells

    @property
    def is_over(self) -> bool:
        """A zombie has ended; only its parent has not looked yet."""
        return self.state in {"Z", "X", "x"}


def identify(pid: int | None = None) -> Identity | None:
    """Tell who a process is, by default this one; None when it cannot be seen.

    The namespace is the one in which the number counts: that of the process that asks.
    """
    number = os.getpid() if pid is None else pid
    seen = look(number)
    if not isinstance(seen, Sighting) or seen.is_over:
        return None
    return Identity(
        machine=machine_id(),
        pid_namespace=pid_namespace(),
        boot=boot_id(),
        pid=number,
        start=seen.start,
    )


def liveness(identity: Identity) -> Liveness:
    """Whether that very process lives; unknown wherever this machine and namespace cannot tell."""
    if identity.machine != machine_id() or identity.pid_namespace != pid_namespace():
        return Liveness.UNKNOWN
    boot = boot_id()
    if NOT_KNOWN in {boot, identity.boot}:
        return Liveness.UNKNOWN
    if boot != identity.boot:
        return Liveness.DEAD
    seen = look(identity.pid)
    if isinstance(seen, Liveness):
        return seen
    same = seen.start == identity.start and not seen.is_over
    return Liveness.ALIVE if same else Liveness.DEAD


def send(identity: Identity, signal: signals.Signals) -> bool:
    """Signal that very process; False when it was not sent, because it is gone or not ours.

    The pidfd holds on to one process while its start time is read again. A system without
    pidfds leaves a moment between the look and the kill in which the pid could change hands.
    """
    if identity.pid <= 1:
        return False  # init, or with kill() a whole group
    try:
        pidfd = _open_pidfd(identity.pid)
    except OSError:
        return False
    try:
        if liveness(identity) is not Liveness.ALIVE:
            return False
        _signal_one(pidfd, identity.pid, signal)
    except OSError:
        return False
    finally:
        if pidfd is not None:
            os.close(pidfd)
    return True


def _open_pidfd(pid: int) -> int | None:
    if not hasattr(os, "pidfd_open"):
        return None
    try:
        return os.pidfd_open(pid)
    except OSError as error:
        if error.errno in {errno.ENOSYS, errno.EPERM}:  # an old kernel, or a sandbox's filter
            return None
        raise


def _signal_one(pidfd: int | None, pid: int, signal: signals.Signals) -> None:
    if pidfd is None:
        os.kill(pid, signal)
    else:
        signals.pidfd_send_signal(pidfd, signal)


# What the system says: small readers that take paths and text, so that each can be tried anywhere.


def machine_id(files: Sequence[Path] = MACHINE_ID_FILES) -> str:
    """Name this machine, the same after every reboot."""
    for file in files:
        text = _first_line(file)
        if _FIELD.fullmatch(text):
            return text
    return machine_fingerprint()


def machine_fingerprint(node: int | None = None, host: str | None = None) -> str:
    """Make a name of the network card's address, or of the host's name where there is no card."""
    import hashlib  # only machines without a machine-id need it
    import uuid

    node = uuid.getnode() if node is None else node
    host = os.uname().nodename if host is None else host
    fact = f"host {host}" if node & _RANDOM_NODE else f"node {node:012x}"
    return hashlib.sha256(fact.encode()).hexdigest()[:32]


def pid_namespace(link: Path = PROC / "self/ns/pid") -> str:
    """Name this process's PID namespace by its inode, or `none` where there is no such thing."""
    try:
        return str(link.stat().st_ino)
    except OSError:
        return "none"


def sees_everyone() -> bool:
    """Whether every process of this machine has a number here: not within a container."""
    return pid_namespace() in ("none", _FIRST_NAMESPACE) and _is_own_proc()


def _is_own_proc() -> bool:
    try:
        return (PROC / "self").readlink() == Path(str(os.getpid()))
    except OSError:
        return True  # there is none, as there are no namespaces


def boot_id(file: Path = BOOT_ID_FILE) -> str:
    """Name this boot.

    macOS's kern.boottime is not used: it moves when the clock is set, and would call the
    living dead.
    """
    text = _first_line(file)
    if not text and sys.platform == "darwin":
        text = _answer("sysctl", "-n", "kern.bootsessionuuid")
    return text if _FIELD.fullmatch(text) else NOT_KNOWN


def read_proc_stat(text: str) -> Sighting | None:
    """Take /proc/PID/stat apart; the name in parentheses may itself hold parentheses."""
    fields = text[text.rfind(")") + 1 :].split()
    try:
        is_program = not int(fields[6]) & _FORKED_ONLY
        return Sighting(
            state=fields[0], group=int(fields[2]), start=fields[19], is_program=is_program
        )
    except (IndexError, ValueError):
        return None


def read_ps(text: str) -> Sighting | None:
    """Take apart what `ps -o stat=,pgid=,lstart=` prints for one process."""
    fields = text.split()
    try:
        state, group, start = fields[0][0], int(fields[1]), "-".join(fields[2:])
    except (IndexError, ValueError):
        return None
    return Sighting(state=state, group=group, start=start) if _FIELD.fullmatch(start) else None


def look(pid: int) -> Sighting | Liveness:
    """See a process, or say why not: dead, or unknown because it hides."""
    if (PROC / "self").is_dir():
        return _look_in_proc(pid)
    seen = read_ps(_answer("ps", "-o", "stat=,pgid=,lstart=", "-p", str(pid)))
    return seen or _ask_by_signal(pid)


def has_begun(pid: int) -> bool:
    """Whether a child of ours came as far as being the program that it was started to be.

    Before that it is one of our group for a moment, and what a terminal sends to that ends it: a
    Ctrl-C that we survive would be its end.
    """
    if not (PROC / "self").is_dir():
        return True  # only another program could tell
    seen = _look_in_proc(pid)
    return not isinstance(seen, Sighting) or seen.is_program


def _look_in_proc(pid: int) -> Sighting | Liveness:
    me = os.getpid()
    if (PROC / "self").readlink() != Path(str(me)) and pid != me:
        return Liveness.UNKNOWN  # this /proc shows another namespace: its numbers are not ours
    try:
        text = text_of(PROC / ("self" if pid == me else str(pid)) / "stat")
    except PermissionError:
        return Liveness.UNKNOWN
    except OSError:  # not there, or it ended while we read
        return _ask_by_signal(pid)
    return read_proc_stat(text) or Liveness.UNKNOWN


def _ask_by_signal(pid: int) -> Liveness:
    """Dead only if the system knows no such pid: /proc mounted with hidepid hides the living."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return Liveness.DEAD
    except (OSError, OverflowError):
        pass
    return Liveness.UNKNOWN


def text_of(file: Path, limit: int = _READ_LIMIT) -> str:
    """What a file of the system says; it has no length."""
    with file.open("rb") as handle:
        return handle.read(limit).decode("utf-8", "replace")


def _first_line(file: Path) -> str:
    try:
        return text_of(file).partition("\n")[0].strip()
    except OSError:
        return ""


def _answer(*argv: str) -> str:
    """One line from a system tool, in one language and one time zone, or nothing."""
    from standfast.processes.programs import run  # that module is built on this one

    env = {"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL": "C", "TZ": "UTC"}
    try:
        done = run(argv, env=env, timeout_s=5)
    except (ProgramMissing, ProgramTimedOut):
        return ""
    return done.stdout.decode("utf-8", "replace").strip()


# Who holds a lock.


def lock_holders(path: str | Path) -> list[int]:
    """List the pids that hold an flock on the file, for a message; empty where nobody can say."""
    try:
        text, facts = text_of(PROC / "locks", -1), Path(path).stat()
    except OSError:
        return []
    return read_locks(text, device=facts.st_dev, inode=facts.st_ino)


def read_locks(text: str, *, device: int, inode: int) -> list[int]:
    """Find the holders in the text of /proc/locks, without waiters and pids of other namespaces."""
    wanted = f"{os.major(device):02x}:{os.minor(device):02x}:{inode}"
    rows = (line.split() for line in text.splitlines())
    held = (row for row in rows if len(row) > 5 and row[1] == "FLOCK" and row[5] == wanted)  # noqa: PLR2004  # its columns
    return sorted({int(row[4]) for row in held if PID.fullmatch(row[4])})
