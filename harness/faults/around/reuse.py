"""A process id that is used again: a new process is never taken for the old one.

In a PID namespace of our own the next id can be chosen, so the very same number comes back at once.
"""

from __future__ import annotations

import os
import signal
import time
from typing import TYPE_CHECKING

from harness.faults import loops, perform, worlds
from harness.faults.around.conditions import Trial
from standfast.journal import session_process
from standfast.processes import programs
from standfast.processes.programs import Liveness

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from harness.faults.around.bench import Setting
    from harness.faults.world import World

_SESSION = "9a3d0000-0000-4bbb-8ccc-000000000000"
_TICKS_S = 0.05  # a start is told in hundredths of a second


def lacking(_folder: str) -> str | None:
    """Why ids cannot be chosen here."""
    return loops.apart(lambda: _first_in_namespace(lambda: "" if _again(os.getpid() + 50) else "?"))


def trials(setting: Setting) -> Iterator[Trial]:
    """A process ends, another gets its number."""
    loops.private_mounts()
    said = _first_in_namespace(lambda: "\n".join(_reuse(setting)))
    yield Trial("status", "its pid is used again", said.splitlines())


def _first_in_namespace(work: Callable[[], str]) -> str:
    """Do *work* as the first process of a namespace; what it says."""
    heard, telling = os.pipe()
    loops.private_pids()
    pid = os.fork()
    if pid == 0:
        said = "wedged it was ended"
        try:
            loops.mount_processes()
            said = work()
        except Exception as error:  # noqa: BLE001  # told to whoever asked
            said = f"wedged {error}"
        finally:
            os.write(telling, said.encode())
            os._exit(0)
    os.close(telling)
    with open(heard, encoding="utf-8") as file:
        said = file.read()
    os.waitpid(pid, 0)
    return said


def _again(pid: int) -> bool:
    """Start a process that only waits and has this very number."""
    with open("/proc/sys/kernel/ns_last_pid", "w", encoding="ascii") as file:
        file.write(str(pid - 1))
    parent = os.getpid()
    new = os.fork()
    if new == 0:
        loops.die_with(parent)
        signal.pause()
    return new == pid


def _reuse(setting: Setting) -> Iterator[str]:
    world = worlds.make("begun", os.path.join(setting.folder, "trial"))
    pid, identity, mark = _client(world)
    if programs.liveness(identity) is not Liveness.ALIVE or session_process.is_gone(mark):
        yield "wrong a process that lives is taken for dead"
    if _state(world) != "running":
        yield f"wrong the session of a client that lives is {_state(world)}"
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    time.sleep(_TICKS_S)  # no machine gives out all its numbers within a tick
    if not _again(pid):
        yield "wedged the number did not come back"
    if programs.liveness(identity) is not Liveness.DEAD or not session_process.is_gone(mark):
        yield "wrong a new process is taken for the old one"
    if _state(world) == "running":
        yield "wrong the session of a client that ended is told as running"


def _client(world: World) -> tuple[int, programs.Identity, str]:
    """A client that has called its first hook and lives on."""
    called, tell = os.pipe()
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        loops.die_with(parent)
        fields = {"source": "startup"}
        perform.hook(world, worlds.payload(world, "SessionStart", fields, session=_SESSION))
        os.write(tell, b"x")
        signal.pause()
    os.read(called, 1)
    identity, mark = programs.identify(pid), session_process.mark(str(pid))
    assert identity is not None
    assert mark is not None
    return pid, identity, mark


def _state(world: World) -> str:
    told = perform.facts(perform.command(world, "status", "--json"))
    sessions = told["sessions"]
    assert isinstance(sessions, list)
    return str(next(one["state"] for one in sessions if one["session"] == _SESSION))
