"""The supervisors of one effect: two processes that outlive whoever asked for it, and each other.

`python -I -m standfast.effects.supervisor FOLDER FD`, where FD is the lock `sup`, handed over so
that no moment goes by in which nobody holds it. Its input is the order, with the environment that
stands on no disk; once it has all of that it forks: the child supervises, the parent
waits for it, and both hold the lock. Should the child be killed, the command becomes a child of
the parent, which goes on from there; should the parent be killed, nothing changes. Only when both
are gone does nobody see how the command ends.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from typing import TYPE_CHECKING

from standfast import disk
from standfast.effects.effect_folder import EXIT, ROOM, STARTED, TREE, Folder, Order
from standfast.effects.supervision import FORWARDED, Began, Supervision, first_child
from standfast.errors.base import StandfastError
from standfast.journal import locks
from standfast.processes import programs

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType

_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER
_MOST_DIGITS = 20
NOT_BEGUN = 3


def main(path: str, sup: str) -> int:
    """Supervise the effect in a folder; the lock comes with us and goes with us."""
    os.set_inheritable(int(sup), False)  # noqa: FBT003  # the command must not have it
    folder, began = Folder.at_path(path), Began(time.monotonic())
    order = _order()
    if order is None:
        return NOT_BEGUN
    told, tell = os.pipe()
    names = [_name()]
    _adopt_orphans()
    child = os.fork()
    if child == 0:
        os.setsid()  # what is sent to a group must not take both
        _adopt_orphans()
        os._exit(_supervise(folder, order, began, [*names, _name()], tell))
    status = _status_of(child)
    if status >= 0:
        return status
    if os.path.lexists(folder.at(STARTED)):
        return _go_on(folder, order, began, told, tell)
    return _supervise(folder, order, began, names, tell)


def _order() -> Order | None:
    """What we are to run; None where whoever asked died before all of it was said."""
    try:
        return Order.read(sys.stdin.buffer.read())
    except (OSError, ValueError, TypeError, KeyError):
        sys.stderr.write("its order did not arrive whole")
        return None


def _name() -> str:
    me = programs.identify()
    return "" if me is None else me.as_text()


def _adopt_orphans() -> None:
    """What the command leaves behind becomes ours: we can see it end."""
    try:
        ctypes.CDLL(None, use_errno=True).prctl(_SUBREAPER, 1, 0, 0, 0)
    except (OSError, AttributeError):
        pass  # another system: strays are found by their environment


def _status_of(child: int) -> int:
    """How the other one ended, negative for a signal; what we are told meanwhile is for it."""

    def pass_on(number: int, _frame: FrameType | None) -> None:
        try:
            os.kill(child, number)
        except ProcessLookupError:
            pass  # it has just ended

    for each in FORWARDED:
        signal.signal(each, pass_on)
    _, status = os.waitpid(child, 0)
    for each in FORWARDED:
        signal.signal(each, lambda *_: None)  # its number is nobody's now
    return os.waitstatus_to_exitcode(status)


def _supervise(folder: Folder, order: Order, began: Began, names: Sequence[str], tell: int) -> int:
    """Begin the command, unless that was done once, and see it to its end."""
    try:
        supervision = Supervision(folder, order, began)
        tree = locks.take(folder.at(TREE))
        folder.reserve()
        is_ours = folder.start("\n".join(names))
    except (OSError, StandfastError, ValueError, TypeError) as error:
        disk.forget(folder.at(ROOM))  # others need what little there is
        sys.stderr.write(getattr(error, "problem", None) or str(error))
        sys.stderr.flush()
        return NOT_BEGUN
    if is_ours:
        supervision.see_to_end(lambda: supervision.spawn(tree, tell))
    return 0


def _go_on(folder: Folder, order: Order, began: Began, told: int, tell: int) -> int:
    """See the command to its end that the other one began, or was about to begin."""
    if os.path.lexists(folder.at(EXIT)):
        return 0
    os.set_blocking(told, False)
    try:
        pid: int | None = int(os.read(told, _MOST_DIGITS))
    except BlockingIOError:
        pid = first_child()  # it was killed before it could say
    supervision = Supervision(folder, order, began)
    tree = locks.take(folder.at(TREE)) if pid is None else -1
    supervision.see_to_end(lambda: supervision.spawn(tree, tell) if pid is None else pid)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
