"""Repair: a damaged journal is copied aside, rebuilt from what is proved, and tells its losses.

Everything that can fail for want of room comes before anything is changed: the copy, the new
database, its check. Then a mark names the copy, and from there on every attempt starts from that
copy and ends in the same journal, however often it is cut short. Writers wait at the turnstile
or use the spool; nobody opens the journal while the mark is there.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import ExitStack
from typing import TYPE_CHECKING, NamedTuple

import apsw

from standfast import disk
from standfast.errors.base import (
    InternalError,
    JournalDamaged,
    NotAJournal,
    NothingFound,
    TooLarge,
    UnsafePath,
)
from standfast.journal import (
    damage,
    database,
    file_owner,
    journal_file,
    locks,
    mirror,
    questions,
    verification,
)
from standfast.journal.repair import evidence, foundation, quarantine, rebuild, repair_report
from standfast.journal.retention import dropped_events as bases
from standfast.journal.retention import event_drop
from standfast.journal.store import write_refused
from standfast.journal.writer_queue import Turnstile

if TYPE_CHECKING:
    from standfast.journal.repair.repair_report import Outcome, Story
    from standfast.journal.repair.verdicts import Range
    from standfast.journal.store import Journal

_NEW = "journal.db.rebuilt"
_WORDS = 20


class Repaired(NamedTuple):
    """What was done; no quarantine means that there was nothing to do."""

    quarantine: str | None
    events: int
    missing: list[Range]
    damaged: list[str]
    forked: list[str]  # in words: events that only the mirror tells, and differently
    outcome: Outcome | None
    aside: tuple[str, ...] = ()  # where what is no file of ours was put

    @property
    def is_unsure(self) -> bool:
        """Whether more may be lost than anything tells of."""
        return self.outcome is not None and self.outcome.is_unsure

    def as_dict(self) -> dict[str, object]:
        """What `journal repair --json` prints."""
        return {
            "repaired": self.quarantine is not None,
            "quarantine": self.quarantine,
            "events": self.events,
            "missing": self.missing,
            "complete": not self.is_unsure,
            "forked": self.outcome.forked if self.outcome else [],
            "ids": self.outcome.ids if self.outcome else [],
            "damaged": self.damaged,
            "set_aside": list(self.aside),
        }


def repair(journal: Journal) -> Repaired:
    """Look, and rebuild if anything is wrong; an undamaged journal is left as it is."""
    disk.refuse_link(journal.folder)
    if not os.path.isdir(journal.folder):
        raise NothingFound("nothing has been recorded here yet", file=journal.folder)
    database.is_there(journal.path)  # who may not look into the folder is told so, and no more
    journal.abandon()
    try:
        with ExitStack() as held:
            _hold(journal, held)
            aside = _set_aside(journal)
            found = _problems(journal)
            done = _repair(journal, found) if found else _unchanged(journal)
            return done._replace(aside=aside)
    except apsw.Error as error:
        raise database.translate(error, journal.path) from error
    except OSError as error:
        raise write_refused(error, journal.folder) from error
    finally:
        journal.abandon()


def _hold(journal: Journal, held: ExitStack) -> None:
    """Nobody else publishes, writes or mirrors; in the order in which others take these locks."""
    patience = journal.lock_timeout_s
    faces = os.path.join(journal.folder, "faces.lock")
    held.callback(os.close, locks.take_within(faces, patience))
    folder = os.path.join(journal.folder, mirror.FOLDER)
    if os.path.isdir(folder) and not os.path.islink(folder):
        held.callback(os.close, locks.take_within(folder, patience, lambda: _lock_folder(folder)))
    turnstile = Turnstile(journal.folder)
    held.callback(turnstile.close)
    turnstile.enter(patience)


def _lock_folder(path: str) -> int:
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    fcntl.flock(fd, fcntl.LOCK_EX)
    return fd


def _set_aside(journal: Journal) -> tuple[str, ...]:
    """What stands at a name that SQLite opens, and is no file: it would be waited for, or used."""
    new = os.path.join(journal.folder, _NEW)
    odd = [*database.odd_beside(journal.path), *database.odd_beside(new)]
    return quarantine.put_away(journal.folder, odd) if odd else ()


def _problems(journal: Journal) -> list[str]:
    """What is wrong, in words; nothing where all is well."""
    if database.is_there(os.path.join(journal.folder, damage.MARK)):
        return quarantine.marked(journal.folder)[0] or ["the journal was found to be damaged"]
    if not database.is_there(journal.path):
        if any(quarantine.mirror_files(journal.folder)):
            return ["the database is gone"]
        raise NothingFound("nothing has been recorded here yet", file=journal.folder)
    if not quarantine.is_plain(journal.path):
        raise NotAJournal("this is not a regular file", file=journal.path)
    try:
        connection = journal_file.open_or_create(journal.path, checkpoint=True)
        journal_file.prepare_spool(journal.folder)
    except (JournalDamaged, NotAJournal, TooLarge, UnsafePath) as error:
        return [error.problem]
    except apsw.Error as error:
        said = database.translate(error, journal.path)
        if isinstance(said, JournalDamaged | NotAJournal):
            return [said.problem]
        raise said from error
    try:
        return verification.check(connection, journal.folder, journal.path).problems[:_WORDS]
    except (TooLarge, UnsafePath) as error:  # the mirror is something else
        return [error.problem]
    finally:
        connection.close(True)  # noqa: FBT003  # apsw: close even where it reports errors


def _unchanged(journal: Journal) -> Repaired:
    connection = journal_file.open_existing(journal.path, checkpoint=False)
    try:
        ((count,),) = connection.execute("SELECT count(*) FROM events").fetchall()
        return Repaired(None, int(str(count)), [], [], [], None)
    finally:
        connection.close()


def _repair(journal: Journal, found: list[str]) -> Repaired:
    _, begun = quarantine.marked(journal.folder)
    if begun is not None:
        story, outcome = _rebuild(journal, begun, found)
        return _put_in_place(journal, begun, story, outcome)
    partial = quarantine.copy_aside(journal.folder)
    try:
        story, outcome = _rebuild(journal, partial, found)
    except BaseException:
        rebuild.forget(os.path.join(journal.folder, _NEW))
        quarantine.drop(partial)
        raise
    return _put_in_place(journal, quarantine.keep(partial), story, outcome)


def _rebuild(journal: Journal, copy: str, found: list[str]) -> tuple[Story, Outcome]:
    """A new database beside the old one, checked; nothing else is changed."""
    pieces = evidence.Pieces(copy)
    pages = evidence.pages_of(pieces, found)
    told = evidence.gather(pieces, pages)
    file_owner.refuse_others(pages, told, journal.path)
    name = quarantine.name_of(copy)
    story = repair_report.Story(name, quarantine.made_at(name), found, told.damaged)
    with quarantine.workplace(journal.folder) as work:
        kept = rebuild.remembered(copy, work)
    path = os.path.join(journal.folder, _NEW)
    ground = foundation.found(told)
    outcome = rebuild.build(path, told, kept, story, ground)
    connection = database.connect(path)
    try:
        wrong = verification.check_events(connection)
    finally:
        connection.close()
        rebuild.forget_log(path)  # empty: nothing was written
    if wrong:
        raise InternalError(f"the rebuilt journal does not verify: {wrong[0]}", file=copy)
    return story, outcome


def _put_in_place(journal: Journal, copy: str, story: Story, outcome: Outcome) -> Repaired:
    """From the mark on there is no way back, and every way forward ends in the same journal."""
    quarantine.mark(journal.folder, copy, story.found)
    rebuild.forget_log(journal.path)  # a log beside a new database would be read as its own
    disk.sync_folder(journal.folder)
    os.rename(os.path.join(journal.folder, _NEW), journal.path)
    disk.sync_folder(journal.folder)
    _mirror_anew(journal, copy)
    disk.forget(os.path.join(journal.folder, damage.MARK))
    disk.sync_folder(journal.folder)
    chosen = outcome.chosen
    return Repaired(
        *(copy, chosen.events, chosen.missing), story.damaged, outcome.fork_words, outcome
    )


def _mirror_anew(journal: Journal, copy: str) -> None:
    """Every line again; what is no mirror of ours goes into the quarantine as it is."""
    folder = os.path.join(journal.folder, mirror.FOLDER)
    if os.path.islink(folder) or not os.path.isdir(folder):
        if os.path.lexists(folder):
            quarantine.set_aside(folder, copy)
        disk.make_folder(folder)
    for path in mirror.segments(journal.folder):
        if quarantine.is_plain(path, mirror.LARGEST):
            disk.forget(path)
        else:
            quarantine.set_aside(path, copy)
    for path in event_drop.base_files(journal.folder):
        if not quarantine.is_plain(path):
            quarantine.set_aside(path, copy)
    connection = database.connect(journal.path)
    try:
        mirror.write_anew(journal.folder, questions.all_events(connection))
        document, through = bases.stored(connection), bases.through(connection)
    finally:
        connection.close()
    base = event_drop.file_of(journal.folder, through)
    if document is not None:
        disk.replace(base, document)
    event_drop.sweep(journal.folder, keep=None if document is None else os.path.basename(base))
    disk.sync_folder(folder)
