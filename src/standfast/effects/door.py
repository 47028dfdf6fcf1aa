"""The door: run a command under a key, at most once, and know how it ended.

Starting, going on and recovering are the same walk: look at the journal and the effect's folder,
decide (effects/rules.py), act, look again. Many may walk at once: one begins, the others wait.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from standfast import clock, disk
from standfast.effects.effect_folder import MARK, STARTED, SUP, TREE, Folder, Order
from standfast.effects.rules import Ended, Seen, Step, decide, key, run_of
from standfast.errors.base import NothingFound
from standfast.errors.lanes import NotBegun, StillRunning
from standfast.processes.programs import having_open, identify, lock_holders, send
from standfast.text import printable
from standfast.wait_notice import HELP, Wait, named

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    from standfast.journal.author import Author
    from standfast.journal.store import Journal

_INTENDED = """
    SELECT 1 FROM events WHERE kind = 'effect.intended' AND payload ->> 'key' = ? LIMIT 1"""
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
    ready: Callable[[Folder], None] = lambda _: None,
) -> Outcome:
    """The end of an effect: as recorded, or of the one that runs, or of the one begun now.

    *ready* is called before it is begun, by whoever begins it.
    """
    folder = Folder(journal.folder, key(order.key))
    supervisor = None
    try:
        while True:
            recorded = find(journal, order.key)
            step = decide(look(journal, folder, order.key))
            if step is Step.USE and recorded is not None:
                folder.clear()  # whoever recorded it may have died right after
                return recorded
            if step is Step.RECORD:
                _record(journal, folder, order.key, author)
            elif step is Step.WAIT:
                _wait(folder, order, is_ours=supervisor is not None)
            elif step is Step.BEGIN:
                _refuse_hopeless(supervisor, order.key)
                supervisor = _begin(journal, folder, order, author, kind, ready)
            elif step is Step.SETTLE:
                return Outcome(None)
            elif step is Step.REFUSE:
                raise _refused(folder, order.key)
    finally:
        _let_go(supervisor)


def look(journal: Journal, folder: Folder, name: str) -> Seen:
    """What journal and folder show: its intent, what there is of it, then whether its end is known.

    Others are at it meanwhile, so the end is asked for last; what is refused is looked at twice.
    """
    for _ in range(2):
        if find(journal, name) is not None:
            return Seen(recorded=True)
        seen = folder.look(intended=_is_intended(journal, folder, name))
        seen = seen._replace(recorded=find(journal, name) is not None)
        if decide(seen) is not Step.REFUSE:
            break
    return seen


def _is_intended(journal: Journal, folder: Folder, name: str) -> bool:
    """Whether this journal was about to begin it; versions before kept no cell of that."""
    try:
        if journal.query("SELECT 1 FROM cells WHERE key = ?", (f"effect.intended:{name}",)):
            return True
        return folder.has_begun() and bool(journal.query(_INTENDED, (name,)))
    except NothingFound:
        return False


def _refused(folder: Folder, name: str) -> NotBegun:
    return NotBegun(
        f"{printable(folder.path)} tells of `{name}`, and the journal never intended it",
        remedy="It came with the directory, or is left of a journal that is gone. Look at it; move"
        " it away if it is yours to move, or choose another `--run-id`.",
    )


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
            by = author.in_run(run_of(name))
            tx.append("effect.ended", {"key": name, **ended._asdict()}, by)
    folder.clear()


def _refuse_hopeless(supervisor: subprocess.Popen[bytes] | None, name: str) -> None:
    """One that gave up before it began anything said why; one that was killed may have a heir."""
    if supervisor is None or supervisor.wait() <= 0 or supervisor.stderr is None:
        return
    said = supervisor.stderr.read(_MOST).decode("utf-8", "replace").strip()
    last = said.rpartition("\n")[2][-_WORDS:]  # of a traceback the reason alone
    raise NotBegun(f"`{name}` could not be begun: {last or 'its supervisor gave up'}")


def _begin(
    journal: Journal,
    folder: Folder,
    order: Order,
    author: Author,
    kind: str,
    ready: Callable[[Folder], None],
) -> subprocess.Popen[bytes] | None:
    """Note the order, journal the intent, hand over to a supervisor; the first one alone."""
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
        ready(folder)
        folder.write_order(order)  # first: an intent without an order was robbed of it
        told = {"key": order.key, "kind": kind, "argv": order.argv, "cwd": order.cwd}
        journal.append("effect.intended", told, author.in_run(run_of(order.key)))
        _at_work.append(supervisor := _spawn(folder, sup))
        return _hand_over(supervisor, order)
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
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,  # says why nothing was begun: a full disk takes no file for it
        start_new_session=True,
        pass_fds=(sup,),
        bufsize=0,
    )


def _hand_over(supervisor: subprocess.Popen[bytes], order: Order) -> subprocess.Popen[bytes]:
    """Give the order itself, by a pipe: its environment is not for a disk.

    A supervisor begins nothing before it has all of it. One that died meanwhile is looked at later.
    """
    assert supervisor.stdin is not None  # noqa: S101  # it was begun with a pipe
    try:
        with supervisor.stdin as pipe:
            disk.write_all(pipe.fileno(), order.whole())
    except BrokenPipeError:
        pass
    return supervisor


_left: list[subprocess.Popen[bytes]] = []
_at_work: list[subprocess.Popen[bytes]] = []  # every one of this process; few, and all soon over


def end_begun() -> None:
    """Ask what this process has begun to end: its journal is gone, and nobody else would know."""
    for supervisor in _at_work:
        if supervisor.poll() is None:
            supervisor.terminate()


def _let_go(supervisor: subprocess.Popen[bytes] | None) -> None:
    """It ends without us; those that have are taken leave of. A zombie holds no lock."""
    if supervisor is not None:
        if supervisor.stderr is not None:
            supervisor.stderr.close()
        _left.append(supervisor)
    _left[:] = [each for each in _left if each.poll() is None]
    _at_work[:] = [each for each in _at_work if each.returncode is None]


def _wait(folder: Folder, order: Order, *, is_ours: bool) -> None:
    """Until nothing of it lives; one that we did not begin is named, and none outlasts its time."""
    began = clock.monotonic_ns() / 1e9
    told = Wait(lambda: _waited_for(folder, order))
    while folder.is_alive():
        waited = clock.monotonic_ns() / 1e9 - began
        clock.pause(min(max(_LOOK_AGAIN_S, waited / _SHARE), _SELDOM_S))
        is_alone = not folder.is_held(SUP)
        if not is_ours or (is_alone and folder.is_alive()):
            told.look()
        if is_alone and _age_s(folder, waited) > order.timeout_s + _SPARED_S:
            _end(folder, order)


def _waited_for(folder: Folder, order: Order) -> str:
    """Who is at it, and what helps; nobody ends what has lost those who supervised it."""
    alone = "" if folder.is_held(SUP) else ", whose supervisors are gone,"
    return f"`{order.key}`{alone} to end: {named(_holders(folder))}; {HELP}"


def _holders(folder: Folder) -> list[int]:
    found = {*lock_holders(folder.at(TREE)), *having_open(folder.at(TREE)), *folder.strays()}
    return sorted(found - {os.getpid()})


def _age_s(folder: Folder, waited: float) -> float:
    """For how long it has run; a clock that was set may not make it look older than it can be."""
    try:
        age = clock.now_us() / 1e6 - os.stat(folder.at(STARTED)).st_mtime
    except OSError:
        age = 0.0
    return max(waited, min(age, clock.monotonic_ns() / 1e9))


def _end(folder: Folder, order: Order) -> None:
    """Its time is up, and nobody else ends it: everything that carries its mark."""
    for pid in folder.strays():
        identity = identify(pid)
        if identity is not None:
            send(identity, signal.SIGKILL)
    clock.pause(_SELDOM_S)
    if folder.is_alive() and not folder.is_held(SUP) and not folder.strays():
        raise StillRunning(
            f"`{order.key}` lives on beyond its time, and nothing shows that it is ours:"
            f" {named(_holders(folder))}",
            remedy="Look at what it is; once it has ended, call this again.",
        )
