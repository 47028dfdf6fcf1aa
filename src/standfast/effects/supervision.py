"""A command while it runs: watched, kept in bounds, ended with all it started, its end recorded.

The order, once: the tree's lock taken → the right to begin used up, durably → the command runs →
what it left running is ended → what it wrote is synced → the exit record. Dying between any two
leaves something that can be told apart. The command's own end is looked at and never taken from
the system: whoever supervises after us finds it there too.
"""

from __future__ import annotations

import os
import select
import signal
import time
from typing import TYPE_CHECKING, NamedTuple

from standfast.effects import client_reports, durability
from standfast.effects.effect_folder import ERR, MARK, OUT
from standfast.effects.moved_effects import Place
from standfast.effects.rules import Ended
from standfast.effects.streams import Stream
from standfast.errors.base import ProgramMissing
from standfast.processes import programs
from standfast.redaction.redactor import redact

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

    from standfast.effects.effect_folder import Folder, Order

FORWARDED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_LOOK_AGAIN_S, _SOON_S = 0.05, 0.005  # soon: what it says without end fills a disk in no time
_GRACE_S = 2.0
_NOT_FOUND = 127


class Began(NamedTuple):
    """When the supervisors began, before anything of the command did."""

    monotonic: float


class Supervision:
    """One command while it runs."""

    def __init__(self, folder: Folder, order: Order, began: Began) -> None:
        self.folder = folder
        self.order = order
        self.began = began
        self.streams = [Stream(folder.at(name), order.cap) for name in (OUT, ERR)]
        self._place = Place(folder.path)
        self._asked_to_end = 0
        self._pid = 0
        self._before: dict[str, tuple[int, ...]] | None = None  # whoever goes on knows nothing

    def see_to_end(self, begin: Callable[[], int]) -> None:
        """Watch the command that *begin* names, and leave the record of its end, made to last."""
        ended = self._run(begin)
        self.folder, self.order = self._place.now(self.folder, self.order)
        self.folder.write_exit(durability.made_durable(self.order, self._before, ended))
        self.folder.clear(OUT, ERR)  # they may be what fills the disk

    def spawn(self, tree: int, tell: int) -> int:
        """Begin the command; its number is told to whoever may have to go on."""
        import subprocess

        order = self.order
        self._before = durability.look(order)
        program = programs.find_program(order.argv[0], order.env.get("PATH"))
        with open(order.stdin or os.devnull, "rb") as given:
            self._child = subprocess.Popen(  # kept: one that is let go of takes its end with it
                [program, *order.argv[1:]],
                cwd=order.cwd,
                env={**order.env, MARK: self.folder.mark},
                stdin=given,
                stdout=self.streams[0].fd,
                stderr=self.streams[1].fd,
                start_new_session=True,
                pass_fds=(tree,),
            )
        os.write(tell, str(self._child.pid).encode())
        os.close(tree)
        return self._child.pid

    def _run(self, begin: Callable[[], int]) -> Ended:
        """Watch the command to its end, whichever it is."""
        wake, bell = os.pipe()
        os.set_blocking(bell, False)
        signal.set_wakeup_fd(bell, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for each in FORWARDED:
            signal.signal(each, self._forward)
        try:
            self._pid = begin()
        except (OSError, ProgramMissing, ValueError) as error:  # a zero byte fits nowhere
            said = getattr(error, "problem", None) or str(error)
            return self._ended("not started", _NOT_FOUND)._replace(err=redact(said))
        if self._asked_to_end:
            self._forward(self._asked_to_end, None)  # it came before there was anybody to tell
        how = self._watch(wake)
        left = self._end_rest()
        status = _status_of(self._pid)
        if how == "exited" and status < 0:
            how = "signal"
        return self._ended(how, status)._replace(left=left)

    def _forward(self, number: int, _frame: FrameType | None) -> None:
        """Whoever ends us means the command."""
        self._asked_to_end = number
        if self._pid:
            try:
                os.killpg(self._pid, number)
            except OSError:
                pass

    def _watch(self, wake: int) -> str:
        """Wait for its end, its time, or a word from outside; what it says is kept in bounds."""
        until = self.began.monotonic + self.order.timeout_s
        pause = _SOON_S
        while not _is_over(self._pid):
            select.select([wake], [], [], pause)
            _drain(wake)
            was_loud = any([stream.bound() for stream in self.streams])  # noqa: C419  # both
            pause = _SOON_S if was_loud else _LOOK_AGAIN_S
            if time.monotonic() >= until:
                return "timeout"
            if self._asked_to_end and time.monotonic() >= self._patience(until):
                return "cancelled"
        return "cancelled" if self._asked_to_end else "exited"

    def _patience(self, until: float) -> float:
        """A command that was asked to end has a little time for it."""
        self._end_by = getattr(self, "_end_by", time.monotonic() + _GRACE_S)
        return min(until, self._end_by)

    def _end_rest(self) -> int:
        """End what is still running of it: nothing may write behind a record of its end."""
        left = len(self._members())
        for number, grace in ((signal.SIGTERM, _GRACE_S), (signal.SIGKILL, _GRACE_S)):
            give_up = time.monotonic() + grace
            while self._members() and time.monotonic() < give_up:
                for pid in self._members():
                    identity = programs.identify(pid)
                    if identity is not None:
                        programs.send(identity, number)
                _reap(self._pid)
                time.sleep(0.01)
        return left

    def _members(self) -> list[int]:
        """All that lives of it: by its environment, and whatever became a child of ours."""
        found = {self._pid, *self.folder.strays(), *programs.descendants()}
        return [pid for pid in sorted(found) if not _is_over(pid)]

    def _ended(self, how: str, status: int) -> Ended:
        out, err = self.streams
        for stream in self.streams:
            stream.bound()
        return Ended(
            how=how,
            status=status,
            seconds=round(time.monotonic() - self.began.monotonic, 3),
            out=redact(out.tail()),
            err=redact(err.tail()),
            sizes={"out": out.size, "err": err.size},
            digests={"out": out.digest(), "err": err.digest()},
            report=client_reports.of(self.order, out.kept(), err.kept())
            if self.order.reader
            else {},
        )


def first_child() -> int | None:
    """A process that became ours, ended or not: what a supervisor left that could not tell."""
    for found in (_ended_children, programs.descendants, _ended_children):  # it may end meanwhile
        pid = next(iter(found()), None)
        if pid is not None:
            return pid
    return None


def _status_of(pid: int) -> int:
    """How a child of ours ended, as a shell would say it, negative for a signal; it stays there."""
    seen = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    assert seen is not None  # noqa: S101  # nothing but WNOHANG gives none
    return seen.si_status if seen.si_code == os.CLD_EXITED else -seen.si_status


def _is_over(pid: int) -> bool:
    """Whether a process has ended, reaped or not."""
    try:
        seen = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return programs.identify(pid) is None
    return seen is not None


def _reap(spared: int) -> None:
    """Take leave of orphans that have ended; the command's own end stays to be looked at."""
    for pid in _ended_children():
        if pid != spared:
            try:
                os.waitpid(pid, os.WNOHANG)
            except ChildProcessError:
                continue


def _ended_children() -> Iterator[int]:
    """Children of ours that have ended; each is told once."""
    told: set[int] = set()
    while True:
        try:
            seen = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return
        if seen is None or seen.si_pid in told:
            return
        told.add(seen.si_pid)
        yield seen.si_pid


def _drain(wake: int) -> None:
    while select.select([wake], [], [], 0)[0]:
        if not os.read(wake, 512):
            return
