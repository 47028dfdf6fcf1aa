"""The supervisor of one effect: a process of its own that outlives whoever asked for it.

`python -I -m standfast.effects.supervisor FOLDER FD`, where FD is the lock `sup`, handed over so
that no moment goes by in which nobody holds it. The order, once: the tree's lock taken → the right
to begin used up, durably → the command runs → what it left running is ended → what it wrote is
synced → the exit record. Dying between any two leaves something that can be told apart.
"""

from __future__ import annotations

import ctypes
import os
import select
import signal
import sys
import time
from typing import TYPE_CHECKING

from standfast import disk, process
from standfast.effects.folder import ERR, MARK, OUT, ROOM, TREE, Folder
from standfast.effects.lasting import made_durable
from standfast.effects.streams import Stream
from standfast.errors import ProgramMissing, StandfastError
from standfast.journal import locks
from standfast.protocol.effects import Ended
from standfast.redact import redact

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from types import FrameType

    from standfast.effects.folder import Order

_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER
_LOOK_AGAIN_S, _SOON_S = 0.05, 0.005  # soon: what it says without end fills a disk in no time
_GRACE_S = 2.0
_NOT_FOUND = 127
NOT_BEGUN = 3
_FORWARDED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def main(path: str, sup: str) -> int:
    """Supervise the effect in a folder; the lock comes with us and goes with us."""
    os.set_inheritable(int(sup), False)  # noqa: FBT003  # the command must not have it
    folder = Folder.at_path(path)
    try:
        supervision = _prepared(folder)
    except (OSError, StandfastError, ValueError, TypeError) as error:
        disk.forget(folder.at(ROOM))  # others need what little there is
        sys.stderr.write(getattr(error, "problem", None) or str(error))
        return NOT_BEGUN
    if supervision is not None:
        supervision.see_to_end()
    return 0


def _prepared(folder: Folder) -> Supervision | None:
    """Everything that can fail before the right to begin is used up; None: it is used up."""
    supervision = Supervision(folder, folder.read_order())
    folder.reserve()
    _adopt_orphans()
    me = process.identify()
    return supervision if folder.start("" if me is None else me.as_text()) else None


def _adopt_orphans() -> None:
    """What the command leaves behind becomes ours: we can see it end."""
    try:
        ctypes.CDLL(None, use_errno=True).prctl(_SUBREAPER, 1, 0, 0, 0)
    except (OSError, AttributeError):
        pass  # another system: strays are found by their environment


class Supervision:
    """One command while it runs."""

    def __init__(self, folder: Folder, order: Order) -> None:
        self.folder = folder
        self.order = order
        self._tree = locks.take(folder.at(TREE))
        self.streams = [Stream(folder.at(name), order.cap) for name in (OUT, ERR)]
        self.began_ns = time.time_ns()
        self._began = time.monotonic()
        self._asked_to_end = 0

    def see_to_end(self) -> None:
        """Run the command, and leave the record of its end once what it wrote will last."""
        ended = self.run()
        os.close(self._tree)
        self.folder.write_exit(made_durable(self.order, self.began_ns, ended))
        self.folder.clear(OUT, ERR)  # they may be what fills the disk

    def run(self) -> Ended:
        """Run the command to its end, whichever it is."""
        wake, bell = os.pipe()
        os.set_blocking(bell, False)
        signal.set_wakeup_fd(bell, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        try:
            child = self._spawn()
        except (OSError, ProgramMissing) as error:
            said = getattr(error, "problem", None) or str(error)
            return self._ended("not started", _NOT_FOUND)._replace(err=said)
        for each in _FORWARDED:
            signal.signal(each, self._forward)
        self._child = child
        how = self._watch(child, wake)
        left = self._end_rest(child)
        status = child.wait()
        if how == "exited" and status < 0:
            how = "signal"
        return self._ended(how, status)._replace(left=left)

    def _spawn(self) -> subprocess.Popen[bytes]:
        import subprocess

        order = self.order
        program = process.find_program(order.argv[0], order.env.get("PATH"))
        with open(order.stdin or os.devnull, "rb") as given:
            return subprocess.Popen(
                [program, *order.argv[1:]],
                cwd=order.cwd,
                env={**order.env, MARK: self.folder.mark},
                stdin=given,
                stdout=self.streams[0].fd,
                stderr=self.streams[1].fd,
                start_new_session=True,
                pass_fds=(self._tree,),
            )

    def _forward(self, number: int, _frame: FrameType | None) -> None:
        """Whoever ends us means the command."""
        self._asked_to_end = number
        try:
            os.killpg(self._child.pid, number)
        except OSError:
            pass

    def _watch(self, child: subprocess.Popen[bytes], wake: int) -> str:
        """Wait for its end, its time, or a word from outside; what it says is kept in bounds."""
        until = self._began + self.order.timeout_s
        pause = _SOON_S
        while not _is_over(child.pid):
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

    def _end_rest(self, child: subprocess.Popen[bytes]) -> int:
        """End what is still running of it: nothing may write behind a record of its end."""
        left = len(self._members(child))
        for number, grace in ((signal.SIGTERM, _GRACE_S), (signal.SIGKILL, _GRACE_S)):
            give_up = time.monotonic() + grace
            while self._members(child) and time.monotonic() < give_up:
                for pid in self._members(child):
                    identity = process.identify(pid)
                    if identity is not None:
                        process.send(identity, number)
                _reap(child.pid)
                time.sleep(0.01)
        return left

    def _members(self, child: subprocess.Popen[bytes]) -> list[int]:
        """All that lives of it: by its environment, and whatever became a child of ours."""
        found = {child.pid, *self.folder.strays(), *process.descendants()}
        return [pid for pid in sorted(found) if not _is_over(pid)]

    def _ended(self, how: str, status: int) -> Ended:
        out, err = self.streams
        for stream in self.streams:
            stream.bound()
        return Ended(
            how=how,
            status=status,
            seconds=round(time.monotonic() - self._began, 3),
            out=redact(out.tail()),
            err=redact(err.tail()),
            sizes={"out": out.size, "err": err.size},
            digests={"out": out.digest(), "err": err.digest()},
        )


def _is_over(pid: int) -> bool:
    """Whether a process has ended, reaped or not."""
    try:
        seen = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return process.identify(pid) is None
    return seen is not None


def _reap(spared: int) -> None:
    """Take leave of orphans that have ended; the command itself is waited for by its owner."""
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


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
