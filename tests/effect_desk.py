"""A desk where effects are ordered: a journal, a file that counts them, a gate they wait for."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from standfast import clock
from standfast.effects import door
from standfast.effects.effect_folder import STARTED, Folder, Order
from standfast.effects.rules import Ended
from standfast.journal.author import USER
from standfast.journal.store import Journal
from standfast.processes import programs

CALLER = """
import os, sys
from standfast.effects import door
from standfast.effects.effect_folder import Order
from standfast.journal.author import USER
from standfast.journal.store import Journal

folder, name, script, cwd = sys.argv[1:]
order = Order(name, ("sh", "-c", script), cwd, dict(os.environ), 60.0)
print("asked", flush=True)
print(door.run(Journal(folder), order, USER).ended.status, flush=True)
"""


LONG_S = 240  # for what takes a second where nobody else is at work


class Desk:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.journal = Journal(str(root / "journal"))
        self.count = root / "count"
        self.gate = root / "gate"

    def order(self, name: str, script: str, **more: object) -> Order:
        plain = Order(name, ("sh", "-c", script), str(self.root), dict(os.environ), 60.0)
        return plain._replace(**more)  # type: ignore[arg-type]  # fields of an order

    def run(self, name: str, script: str, **more: object) -> door.Outcome:
        return door.run(self.journal, self.order(name, script, **more), USER)

    def end(self, name: str, script: str, **more: object) -> Ended:
        ended = self.run(name, script, **more).ended
        assert ended is not None
        return ended

    def counted(self) -> int:
        try:
            return len(self.count.read_text(encoding="utf-8").splitlines())
        except FileNotFoundError:
            return 0

    def waiting(self) -> str:
        """A script that counts itself, waits until the gate is opened, and counts again."""
        wait = f"until [ -e {self.gate} ]; do sleep 0.01; done"
        return f"echo begun >> {self.count}; {wait}; echo over >> {self.count}; exit 7"

    def call(self, name: str, script: str) -> subprocess.Popen[str]:
        words = [sys.executable, "-c", CALLER, self.journal.folder, name, script, str(self.root)]
        return subprocess.Popen(words, stdout=subprocess.PIPE, encoding="utf-8")

    def folder(self, name: str) -> Folder:
        return Folder(self.journal.folder, name)

    def begun(self, name: str, script: str) -> Folder:
        """As one stands whose supervisors died before they wrote anything else."""
        folder, order = self.folder(name), self.order(name, script)
        folder.write_order(order)
        self.journal.append("effect.intended", {"key": name, "argv": order.argv}, USER)
        folder.start("")
        return folder

    def supervisors(self, name: str) -> list[programs.Identity]:
        """The two of them, the one that waits first."""
        text = Path(self.folder(name).at(STARTED)).read_text(encoding="utf-8")
        return [programs.Identity.from_text(line) for line in text.splitlines()]

    def kill_supervisors(self, name: str) -> None:
        """Neither is left to go on for the other."""
        both = self.supervisors(name)
        assert len(both) == 2
        for each in both:
            programs.send(each, signal.SIGKILL)


def until(seen: Callable[[], bool]) -> None:
    """Wait for another process; what never comes fails the test, also on a busy machine."""
    deadline = time.monotonic() + LONG_S
    while not seen():
        assert time.monotonic() < deadline, "it never came"
        clock.pause(0.005)


def kill_all(pids: Iterable[int]) -> None:
    """Some of them may have ended by themselves."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def cut_short(desk: Desk, name: str = "a") -> None:
    """Begin an effect and kill it with its caller and its supervisor."""
    before = desk.counted()
    caller = desk.call(name, desk.waiting())
    until(lambda: desk.counted() == before + 1)
    members = programs.surrounded_by(f"STANDFAST_EFFECT={desk.folder(name).mark}".encode())
    desk.kill_supervisors(name)
    caller.kill()
    caller.communicate()
    kill_all(members)
    until(lambda: not desk.folder(name).is_alive())  # as the product sees it: locks and marks
