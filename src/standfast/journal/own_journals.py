"""Which journals are this user's, and how far: in the state directory, which does not travel.

A file for each, by the name of its id, with a line for each event that this user's writing was seen
to have come to: its number, and a digest of where every chain ended there. One without lines was
left by a version that wrote none: it vouches for all of its journal. Where this directory cannot be
written, a journal that stands where it stood, in a folder of this user, is theirs. Hook path.
"""

from __future__ import annotations

import os

import apsw

from standfast import disk
from standfast.errors.base import JournalDamaged, StandfastError
from standfast.journal import journal_file
from standfast.journal.chain import LAST, sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from standfast.journal.store import Journal

_LIMIT = 256 * 1024
_MOST, _KEPT = 1_000, 500  # lines: old ones are for backups that are put back

# Where every chain ended at an event. One look at the index for each chain, not at each event.
_ENDS = """
    WITH RECURSIVE chains (stream) AS (
      SELECT min(stream) FROM events
      UNION ALL SELECT (SELECT min(stream) FROM events WHERE stream > chains.stream)
      FROM chains WHERE stream IS NOT NULL),
    ends (stream, seq) AS (
      SELECT stream, (SELECT max(seq) FROM events WHERE stream = chains.stream AND seq <= ?1)
      FROM chains WHERE stream IS NOT NULL)
    SELECT stream, hex(hash) FROM ends JOIN events USING (seq, stream)
    UNION SELECT stream, hex(hash) FROM heads
      WHERE stream NOT IN (SELECT stream FROM ends WHERE seq IS NOT NULL)
    ORDER BY 1"""


def register(state_home: str, name: str, connection: apsw.Connection) -> None:
    """Before it is at home: what it says by now is known to this user."""
    try:
        disk.make_folder(os.path.dirname(journal_file.registered(state_home, name)))
        _add(state_home, name, connection)
    except (OSError, StandfastError):
        return  # nowhere to write it: `can_tell` says so


def can_tell(state_home: str) -> bool:
    """Whether a journal of this user's would be known here."""
    folder = os.path.dirname(journal_file.registered(state_home, "x"))
    try:
        disk.make_folder(folder)
    except (OSError, StandfastError):
        return False
    return os.access(folder, os.W_OK | os.X_OK)


def advance(state_home: str, journal: Journal) -> None:
    """Remember that this user's journal has come to where it is now."""
    said = journal_file.id_of(journal.folder)
    if not (state_home and journal_file.is_ours(journal.folder, said, state_home)):
        return
    name = said.partition(b"\n")[0].removeprefix(b"journal ").decode()
    try:
        _add(state_home, name, journal.connection)
    except (OSError, StandfastError, apsw.Error):
        return  # what is wrong with the journal is told by whoever asks it something


def _add(state_home: str, name: str, connection: apsw.Connection) -> None:
    row = connection.execute(LAST).fetchone()
    last = int(str(row[0])) if row else 0
    lines = _lines(state_home, name)
    if lines and lines[-1].partition(" ")[0] == str(last):
        return
    path, line = journal_file.registered(state_home, name), f"{last} {_digest(connection, last)}\n"
    if not os.path.lexists(path):  # durable: after a power cut the journal would be a stranger's
        disk.replace(path, line.encode())
        return
    if len(lines) >= _MOST:
        disk.replace(path, "".join(f"{each}\n" for each in lines[-_KEPT:]).encode())
    # Not synced: behind after a power cut, it is ahead again with the next command.
    fd = disk.open_regular(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        os.write(fd, line.encode())
    finally:
        os.close(fd)


def _lines(state_home: str, name: str) -> list[str]:
    try:
        data = disk.read_regular(journal_file.registered(state_home, name), limit=_LIMIT)
    except FileNotFoundError:
        return []
    return data.decode("ascii", "replace").split("\n")[:-1]


def _digest(connection: apsw.Connection, seq: int) -> str:
    ends = connection.execute(_ENDS, (seq,)).fetchall()
    return sha256("\n".join(f"{stream} {end}" for stream, end in ends).encode()).hexdigest()


def vouches_for_all(state_home: str, name: str) -> bool:
    """Whether it is known, and no more than that."""
    if not journal_file.is_registered(state_home, name):
        return False
    return not os.stat(journal_file.registered(state_home, name)).st_size


def through(state_home: str, names: Iterable[str], connection: apsw.Connection, last: int) -> int:
    """The newest event up to which a journal of these names is as this user left it."""
    lines = [line.split(" ") for name in names for line in _known(state_home, name)]
    points = {int(line[0]): line[1] for line in lines if len(line) == 2 and line[0].isdigit()}  # noqa: PLR2004  # as written
    for seq in sorted(points, reverse=True):
        if seq <= last and _digest(connection, seq) == points[seq]:
            return seq
    return 0


def _known(state_home: str, name: str) -> list[str]:
    if not journal_file.is_registered(state_home, name):
        return []
    try:
        return _lines(state_home, name)
    except (OSError, StandfastError):
        return []


def told(connection: apsw.Connection, ours: int, last: int) -> dict[str, object] | None:
    """What an arrival says: how much of it is whose; None where all is as this user left it.

    Decisions and documents are this user's as they stood after event *ours*, by events whose
    chain holds: tables and later events are anybody's.
    """
    from standfast.journal.retention import dropped_events

    state = _state(connection, ours)
    if state is None:
        return {"through": last}
    if ours == last and all(
        dropped_events.rows(connection, table) == dropped_events.rows(state, table)
        for table in dropped_events.FOLDED
    ):
        return None
    said = "SELECT id, actor, text FROM decisions WHERE actor <> 'repository'"
    words = dict(connection.execute("SELECT id, text FROM decisions"))
    bound = {str(id_): by for id_, by, text in state.execute(said) if words.get(id_) == text}
    documents = "SELECT key, value FROM cells WHERE key >= 'resumption:' AND key < 'resumption;'"
    now = dict(connection.execute(documents))
    kept = [key for key, value in state.execute(documents) if now.get(key) == value]
    return {"through": last, "ours": ours, "bound": bound, "kept": kept}


def _state(connection: apsw.Connection, ours: int) -> apsw.Connection | None:
    """What the events up to this one come to; None where they are not what was recorded."""
    from standfast.journal.repair import losses
    from standfast.journal.retention import dropped_events
    from standfast.journal.tables import folds

    if not ours:
        return None
    said = connection.execute(
        "SELECT seq, payload ->> 'base' FROM events WHERE kind IN (?, ?) ORDER BY seq DESC LIMIT 1",
        (folds.DROPPED, losses.KIND),
    ).fetchone()
    try:
        document = dropped_events.stored(connection)
        if document is not None and (
            said is None or said[0] > ours or said[1] != dropped_events.digest(document)
        ):
            return None
        base = dropped_events.Base() if document is None else dropped_events.read(document)
        lost = losses.Losses.told(connection)
        for row in connection.execute("SELECT * FROM events WHERE seq <= ? ORDER BY seq", (ours,)):
            base.take(row, lost)
    except JournalDamaged:
        return None
    return base.state
