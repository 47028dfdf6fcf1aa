"""The door: run a command under a key, at most once, and know how it ended.

Starting, going on and recovering are the same walk: look at the journal and the effect's folder,
decide (protocol/effects.py), act, look again. Many may walk at once: one begins, the others wait.
"""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from standfast import clock, disk
from standfast.effects.folder import MARK, STARTED, SUP, TREE, Folder, Order
from standfast.errors import NothingFound
from standfast.lane_errors import NotBegun
from standfast.process import lock_holders
from standfast.protocol.effects import Ended, Step, decide, key

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    from standfast.journal.author import Author
    from standfast.journal.store import Journal

_LOOK_AGAIN_S, _SELDOM_S = 0.01, 0.25  # fifty agents that take an hour are looked at seldom
_SHARE = 50
_WORDS, _MOST = 1_000, 64 * 1024
_SPARED_S = 30.0  # what a tree without a supervisor may need beyond its own time


class Outcome(NamedTuple):
    """How an effect stands: ended, or in doubt (None)."""

    ended: Ended | None
    seq: int = 0

    @property
    def is_in_doubt(self) -> bool:
        """Whether nobody can say what became of it."""
        return self.ended is None


def run(
    journal: Journal,
    order: Order,
    author: Author,
    *,
    kind: str = "command",
    tell: Callable[[str], None] = lambda _: None,
) -> Outcome:
    """The end of an effect: as recorded, or of the one that runs, or of the one begun now."""
    folder = Folder(journal.folder, key(order.key))
    supervisor = None
    try:
        while True:
            recorded = find(journal, order.key)
            step = decide(folder.look(recorded=recorded is not None))
            if step is Step.USE and recorded is not None:
                folder.clear()  # whoever recorded it may have died right after
                return recorded
            if step is Step.RECORD:
                _record(journal, folder, order.key, author)
            elif step is Step.WAIT:
                _wait(folder, order, tell)
            elif step is Step.BEGIN:
                _refuse_hopeless(supervisor, order.key)
                supervisor = _begin(journal, folder, order, author, kind)
            elif step is Step.SETTLE:
                return Outcome(None)
    finally:
        _let_go(supervisor)


def find(journal: Journal, name: str) -> Outcome | None:
    """The recorded end of an effect, if it has one."""
    try:
        rows = journal.query(
            "SELECT value, seq FROM cells WHERE key = ?", (f"effect.ended:{name}",)
        )
    except NothingFound:
        return None
    return Outcome(_ended(json.loads(rows[0][0])), int(rows[0][1])) if rows else None


def _ended(value: dict[str, Any]) -> Ended:
    return Ended(**{name: value[name] for name in Ended._fields if name in value})


def _record(journal: Journal, folder: Folder, name: str, author: Author) -> None:
    """Take the exit record into the journal; whoever comes second finds it there."""
    ended = folder.read_exit()
    with journal.writing() as tx:
        if not tx.execute("SELECT 1 FROM cells WHERE key = ?", (f"effect.ended:{name}",)):
            tx.append("effect.ended", {"key": name, **ended._asdict()}, author)
    folder.clear()


def _refuse_hopeless(supervisor: subprocess.Popen[bytes] | None, name: str) -> None:
    """One that gave up before it began anything said why; one that was killed may have a heir."""
    if supervisor is None or supervisor.wait() <= 0 or supervisor.stderr is None:
        return
    said = supervisor.stderr.read(_MOST).decode("utf-8", "replace").strip()
    last = said.rpartition("\n")[2][-_WORDS:]  # of a traceback the reason alone
    raise NotBegun(f"`{name}` could not be begun: {last or 'its supervisor gave up'}")


def _begin(
    journal: Journal, folder: Folder, order: Order, author: Author, kind: str
) -> subprocess.Popen[bytes] | None:
    """Journal the intent, then hand everything to a supervisor; who is not first does nothing."""
    try:
        disk.make_folder(folder.path)
        sup = folder.take(SUP)
    except OSError as error:
        raise _not_begun(order, error) from error
    if sup is None:
        return None
    try:
        if os.path.lexists(folder.at(STARTED)):
            return None  # it was begun while we came for the lock
        told = {"key": order.key, "kind": kind, "argv": order.argv, "cwd": order.cwd}
        journal.append("effect.intended", told, author)
        folder.write_order(order)
        return _spawn(folder, sup)
    except OSError as error:  # no room for another process, or an interpreter that is gone
        raise _not_begun(order, error) from error
    finally:
        os.close(sup)


def _not_begun(order: Order, error: OSError) -> NotBegun:
    return NotBegun(f"`{order.key}` could not be begun: {error.strerror}")


def _spawn(folder: Folder, sup: int) -> subprocess.Popen[bytes]:
    import subprocess

    environ = {name: value for name, value in os.environ.items() if name != MARK}
    module = "standfast.effects.supervisor"
    return subprocess.Popen(
        [sys.executable, "-I", "-m", module, folder.path, str(sup)],
        cwd=os.sep,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,  # says why nothing was begun: a full disk takes no file for it
        start_new_session=True,
        pass_fds=(sup,),
        bufsize=0,
    )


_left: list[subprocess.Popen[bytes]] = []


def _let_go(supervisor: subprocess.Popen[bytes] | None) -> None:
    """It ends without us; those that have are taken leave of. A zombie holds no lock."""
    if supervisor is not None:
        if supervisor.stderr is not None:
            supervisor.stderr.close()
        _left.append(supervisor)
    _left[:] = [each for each in _left if each.poll() is None]


def _wait(folder: Folder, order: Order, tell: Callable[[str], None]) -> None:
    """Until nothing of it lives; a tree without a supervisor that outlasts its time is named."""
    began = clock.monotonic_ns() / 1e9
    until = began + order.timeout_s + _SPARED_S
    told = False
    while folder.is_alive():
        waited = clock.monotonic_ns() / 1e9 - began
        clock.pause(min(max(_LOOK_AGAIN_S, waited / _SHARE), _SELDOM_S))
        if not told and clock.monotonic_ns() / 1e9 > until:
            pids = sorted({*lock_holders(folder.at(TREE)), *folder.strays()})
            holders = ", ".join(map(str, pids))
            tell(f"still running beyond its time: process {holders or 'unknown'}")
            told = True
