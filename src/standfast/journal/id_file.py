"""The id beside a journal's folder: given once it stands, before its first fact is acknowledged.

Whoever finds the id and no journal knows that one was taken away. The file is changed by whoever
holds the turnstile, and looked at by all. Loaded where there is something to change, or to ask.
"""

from __future__ import annotations

import errno
import os

from standfast import clock, disk
from standfast import journal_id as rules
from standfast.errors.base import JournalGone, StandfastError
from standfast.journal import journal_file, own_journals
from standfast.journal.author import STANDFAST
from standfast.journal.chain import LAST
from standfast.journal.journal_file import ID, LARGEST_ID
from standfast.journal.payload import encode
from standfast.journal.tables.folds import ARRIVED, FOLDS, SPOKEN
from standfast.journal_id import Identity

TYPE_CHECKING = False
if TYPE_CHECKING:
    import apsw

    from standfast.journal.author import Author
    from standfast.journal.store import Journal

_REFUSED = {errno.EROFS, errno.EACCES, errno.EPERM}
_NAME_BYTES = 10


def file_of(folder: str) -> str:
    """Beside the folder: never cloned, and not gone with it."""
    return f"{folder}{ID}"


def home_of(folder: str) -> str:
    """What a journal is the journal of: in a repository its git directory."""
    return os.path.dirname(folder)


def read(folder: str) -> Identity | None:
    """What the id file says; None where there is none."""
    try:
        return rules.read(disk.read_regular(file_of(folder), limit=LARGEST_ID))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise disk.disk_error(error, file_of(folder), "read") from error
    except StandfastError:  # a link, a folder, far too large: something was here
        return Identity(rules.UNKNOWN)


def look(folder: str) -> Identity:
    """The same as it will be once somebody writes: a journal that moved, or a copy, is known."""
    known = read(folder)
    if known is None or not known.name or known.home == home_of(folder):
        return known or Identity()
    copied = _NOBODY_WROTE if _answers(known, folder) else None
    return rules.at_home(known, _here(folder, known.name), copied=copied)


def here(journal: Journal, path: str) -> str:
    """A path that was recorded before the repository was moved, or copied, as it is now."""
    known = journal.identity
    return rules.here(path, known.was, known.home) if known.was else path


def original_of(journal: Journal, cell: str) -> str | None:
    """Where the original is, if what this cell tells of was begun there and is its own."""
    copied = journal.identity.original
    if copied is None:
        return None
    rows = journal.query("SELECT 1 FROM cells WHERE key = ? AND seq <= ?", (cell, copied.through))
    return rules.top(copied.path) if rows else None


_NOBODY_WROTE = 2**63 - 1  # a copy that nobody has used yet: all it holds is the original's


def gone(folder: str) -> JournalGone:
    """What to say where the id is and its journal is not."""
    known = read(folder)
    names = rules.gone(known).lost if known else ()
    return absent(folder, names)


def absent(folder: str, names: tuple[str, ...]) -> JournalGone:
    """The same of journals that were here before this one."""
    return JournalGone(f"the journal {', '.join(names)} that was here is gone", file=folder)


def mark_gone(folder: str) -> None:
    """Under the turnstile, where the journal is not there: what was lost is told first."""
    known = read(folder)
    if known is not None and known.name:
        _write(folder, rules.gone(known))


def settle(journal: Journal, connection: apsw.Connection) -> None:
    """Under the turnstile: tell what was lost, then be at home here, under an id."""
    known = read(journal.folder)
    row = connection.execute(LAST).fetchone()
    last = int(str(row[0])) if row else 0
    if known is not None and known.lost and not last:
        _tell_gap(journal, connection, known)
    arrival = _arrival(journal, connection, known, last) if last else None
    if arrival is not None:
        _tell_arrival(journal, connection, arrival)
    copied = last if known is not None and _answers(known, journal.folder) else None
    here = _here(journal.folder, _new_name())
    now = rules.at_home(known, here, copied=copied, is_taken=arrival is not None)
    if journal.state_home:  # before it is at home: nobody looks then
        own_journals.register(journal.state_home, now.name, connection)
    if known is None or rules.write(known) != rules.write(now):
        _write(journal.folder, now)


def _arrival(
    journal: Journal, connection: apsw.Connection, known: Identity | None, last: int
) -> dict[str, object] | None:
    """What to tell of a journal that is not as this user left it; None of one that is."""
    home, folder = journal.state_home, journal.folder
    if not home:
        return None
    if known is None:  # where nothing may be written beside the folder it never has an id
        return {"through": last} if os.access(home_of(folder), os.W_OK) else None
    if _stands_still(known, folder) and not own_journals.can_tell(home):
        return None if _is_owner(folder) else {"through": last}
    if own_journals.vouches_for_all(home, known.name):
        return None
    ours = own_journals.through(home, (*known.before, known.name), connection, last)
    return own_journals.told(connection, ours, last)


def _stands_still(known: Identity, folder: str) -> bool:
    return (known.home, known.mark) == (home_of(folder), journal_file.mark_of(folder))


def _is_owner(folder: str) -> bool:
    """Whose the folder is, whoever may write there: root may everywhere."""
    return os.stat(folder).st_uid == os.geteuid()


def _tell_arrival(
    journal: Journal, connection: apsw.Connection, arrival: dict[str, object]
) -> None:
    """What others said so far is the repository's: told before anybody asks it again."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        text = encode(arrival)
        journal.insert(connection, ARRIVED, text, STANDFAST, origin=None, at=clock.now_us())
    except BaseException:
        journal.forget()
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def read_as_strangers(journal: Journal, connection: apsw.Connection) -> bool:
    """Have a reader see it so before anybody wrote here: in tables of this connection alone."""
    row = connection.execute(LAST).fetchone()
    last = int(str(row[0])) if row else 0
    arrival = _arrival(journal, connection, read(journal.folder), last) if last else None
    if arrival is None:
        return False
    for table in SPOKEN:
        copy = f"CREATE TEMP TABLE {table} AS SELECT * FROM main.{table}"  # noqa: S608  # our names
        connection.execute(copy)
    event = (0, 0, "", None, None, "", "", ARRIVED, None, encode(arrival), b"")
    FOLDS[ARRIVED](connection, event)
    return True


def _here(folder: str, new: str) -> rules.Here:
    return rules.Here(home_of(folder), journal_file.mark_of(folder), new)


def lost(journal: Journal) -> tuple[str, ...]:
    """The journals that were here and are gone, as long as nobody has seen to it."""
    known = read(journal.folder)
    if known is None:
        return ()
    return rules.gone(known).lost if _is_gone(journal) else known.lost


def _is_gone(journal: Journal) -> bool:
    """Whether nothing is there, or only what somebody who died had begun to make since.

    Where its mirror is left it is damaged, and no more: a repair brings it back.
    """
    try:
        return journal.connection is None
    except StandfastError as error:  # what else is wrong with it is told by whoever reads it
        return isinstance(error, JournalGone)


def acknowledge(journal: Journal, kind: str, author: Author) -> None:
    """A person, or a repair, has seen to what was lost; that is recorded, and the id stays."""
    with journal.writing() as tx:
        known = read(journal.folder)
        if known is None or not known.lost:
            return
        tx.append(kind, {"lost": list(known.lost)}, author)
    with journal.writing():  # after it is recorded, and nobody else changes the file meanwhile
        kept = Identity(
            known.name, known.home, was=known.was, original=known.original, mark=known.mark,
            before=known.before,
        )  # fmt: skip
        _write(journal.folder, kept)


def _new_name() -> str:
    return os.urandom(_NAME_BYTES).hex()


def _tell_gap(journal: Journal, connection: apsw.Connection, known: Identity) -> None:
    names = ", ".join(known.lost)
    why = f"the journal {names} that was here is gone"
    text = encode({"facts": 1, "why": why, "lost": list(known.lost)})
    journal.insert(connection, "gap", text, STANDFAST, origin=None, at=clock.now_us())


def _answers(known: Identity, folder: str) -> bool:
    """Whether the journal of this id is still at the home that the file names, and not this one."""
    if not known.name or not known.home or known.home == home_of(folder):
        return False
    there = os.path.join(known.home, os.path.basename(folder))
    if disk.identity(known.home) in {None, disk.identity(home_of(folder))}:
        return False  # gone; or the same folder by another name
    try:
        other = read(there)
    except StandfastError:
        return True  # nobody can tell now: what may be another's is left alone
    return other is not None and other.name == known.name and other.home == known.home


def _write(folder: str, identity: Identity) -> None:
    """Durably; where nothing may be written beside the folder, the journal goes without an id."""
    path, data = file_of(folder), rules.write(identity)
    try:
        if os.path.lexists(path):
            disk.replace(path, data)
        else:
            disk.create(path, data)  # leaves no draft behind, whenever it is killed
            disk.sync_folder(os.path.dirname(path))
    except (StandfastError, OSError) as error:
        cause = error if isinstance(error, OSError) else error.__cause__
        if not (isinstance(cause, OSError) and cause.errno in _REFUSED):
            raise
