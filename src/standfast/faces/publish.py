"""Keeping a face: take in what others wrote, then put in place what the journal says.

Starting, going on and recovering are the same walk: settle what an earlier walk left, look at
the file, adopt what it says, render, swap. Walking twice changes nothing.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from standfast import disk
from standfast.errors.base import BadDocument, FaceInvalid, StandfastError, TooLarge, UnsafePath
from standfast.faces import displaced_files, drafts, edit_authors, look, merge, swap
from standfast.faces.look import Became, digest
from standfast.journal import locks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from standfast.faces.face import Face
    from standfast.journal.store import Journal

_TRIES = 200  # an editor that saves faster than we can look must stop some time


class Outcome(NamedTuple):
    """What `keep` found and did."""

    became: Became
    written: bool = False
    refused: StandfastError | None = None


def keep(journal: Journal, face: Face, *, exchange: bool = True) -> Outcome:
    """Adopt what is on disk, then publish what the journal says."""
    try:
        with one_at_a_time(journal):
            displaced_files.settle_crash(journal, face)
            drafts.sweep(journal, face)
            for _ in range(_TRIES):
                outcome = _walk(journal, face, exchange=exchange)
                if outcome is not None:
                    return outcome
    except (FaceInvalid, TooLarge, UnsafePath) as refused:
        return Outcome(became=Became.EDITED, refused=refused)
    except FileNotFoundError:
        missing = UnsafePath("the folder for this face does not exist", file=face.path)
        return Outcome(became=Became.ABSENT, refused=missing)
    except OSError as error:
        raise disk.disk_error(error, face.path) from error
    raise FaceInvalid("something rewrites this file faster than it can be read", file=face.path)


def take_in(journal: Journal, face: Face) -> Outcome:
    """Adopt what is on disk, and leave the file as it is: its next publish comes later."""
    try:
        with one_at_a_time(journal):
            displaced_files.settle_crash(journal, face)
            for written in displaced_files.changed_since(journal, face):
                _adopt_displaced(journal, face, written)
            return Outcome(_look(journal, face)[0])
    except (FaceInvalid, TooLarge, UnsafePath) as refused:
        return Outcome(became=Became.EDITED, refused=refused)
    except FileNotFoundError:
        return Outcome(became=Became.ABSENT)
    except OSError as error:
        raise disk.disk_error(error, face.path) from error


@contextmanager
def one_at_a_time(journal: Journal) -> Iterator[None]:
    """Whoever writes faces or sweeps drafts does it alone."""
    path = os.path.join(journal.folder, "faces.lock")
    fd = locks.open_lock(path)
    if not locks.try_lock(fd):
        os.close(fd)
        fd = locks.take_within(path, journal.lock_timeout_s)
    try:
        yield
    finally:
        os.close(fd)


def _walk(journal: Journal, face: Face, *, exchange: bool) -> Outcome | None:
    """Look, adopt, publish once; None when the file changed under our hands."""
    for written in displaced_files.changed_since(journal, face):
        _adopt_displaced(journal, face, written)
    became, data = _look(journal, face)
    if became is Became.UNSETTLED:
        return Outcome(became=became)
    rendered = face.render(journal, data)
    if rendered == data:
        base = drafts.without_secrets(rendered)
        look.remember_published(journal, face, rendered, base=base)
        return Outcome(became=became)
    taken = swap.put_in_place(journal, face, rendered, expected=data, exchange=exchange)
    if taken is None:
        return None  # a file appeared where none was
    if taken.data == data:
        displaced_files.drop_if_secret(journal, face, taken)
        return Outcome(became=became, written=True)
    return None  # somebody saved in between: the next walk takes it from what was displaced


def _look(journal: Journal, face: Face) -> tuple[Became, bytes | None]:
    """Look at what stands there, and adopt it."""
    data = look.contents(face)
    memory = look.remembered(journal, face)
    if digest(data) != memory.digest:
        look.make_durable(face)
    settled = memory.unsettled == digest(data) and look.is_at_rest(face.path)
    try:
        became = adopt(journal, face, data, base=memory.base, settled=settled, in_place=True)
    except FaceInvalid as refused:
        look.remember(journal, face, refused=f"{refused.where}: {refused.problem}")
        raise
    if became is Became.UNSETTLED:
        look.remember(journal, face, unsettled=digest(data))
    return became, data


def adopt(
    journal: Journal,
    face: Face,
    data: bytes | None,
    *,
    base: bytes | None,
    settled: bool,
    in_place: bool = False,
) -> Became:
    """Journal what these bytes say beyond *base* and the journal; refuse what cannot be read.

    Once what stands *in place* is journalled, the next edit is to that, even if we die before we
    publish: a line that is amended twice is one decision, not two.
    """
    became = look.classify(journal, face, data, settled=settled)
    if data is None or became not in {Became.EDITED, Became.FROM_GIT}:
        return became
    if face.take is not None:
        _take(journal, face, data, in_place=in_place)
        return became
    theirs, before = _read(face, data), _read_base(face, base)

    def news() -> merge.Changes:
        ours = face.known(journal)
        if became is Became.FROM_GIT:
            return merge.through_git(theirs, ours)
        return merge.by_hand(before, theirs, ours)

    sign = _signer(journal, face, news, in_place=in_place)  # git is asked while nobody waits
    with journal.writing() as tx:
        changes = sign(news())
        if changes:
            face.record(tx, changes, f"{face.relative}, {became}")
        if in_place and (changes or face.carry is not None):
            look.rebase(tx, face, drafts.without_secrets(data))
    return became


def _take(journal: Journal, face: Face, data: bytes, *, in_place: bool) -> None:
    assert face.take is not None  # noqa: S101  # asked before
    try:
        face.take(journal, data, str(Became.EDITED), in_place=in_place)
    except (BadDocument, TooLarge) as error:
        raise FaceInvalid(error.problem, file=face.path, line=error.line) from error


def _signer(
    journal: Journal, face: Face, news: Callable[[], merge.Changes], *, in_place: bool
) -> Callable[[merge.Changes], merge.Changes]:
    """Puts their authors to changes, where that matters."""
    if not face.is_judged:
        return lambda changes: changes
    written_us = edit_authors.written_us(face.path) if in_place else None
    by = edit_authors.of(
        journal, face, [each.value for part in news() for each in part], written_us=written_us
    )
    return lambda changes: edit_authors.signed(changes, by)


def _carry(journal: Journal, face: Face, theirs: bytes | None, base: bytes | None) -> None:
    """What somebody wrote around our part of a file goes back where it was to be."""
    if face.carry is None or theirs is None:
        return
    current = look.contents(face)
    wanted = face.carry(current, theirs, base)
    if wanted is not None:
        rendered = face.render(journal, wanted)
        taken = swap.put_in_place(journal, face, rendered, expected=current, exchange=True)
        if taken is not None and taken.data == current:
            displaced_files.drop_if_secret(journal, face, taken)


def _read(face: Face, data: bytes) -> tuple[merge.Record, ...]:
    try:
        return face.read(data, face.path)
    except (FaceInvalid, BadDocument, TooLarge) as error:
        raise FaceInvalid(error.problem, file=face.path, line=error.line) from error


def _read_base(face: Face, base: bytes | None) -> tuple[merge.Record, ...]:
    """What the file was to be an edit of; less a secret it may no longer be readable."""
    try:
        return () if base is None else face.read(base, face.path)
    except (FaceInvalid, BadDocument, TooLarge):
        return ()


def _adopt_displaced(journal: Journal, face: Face, written: displaced_files.Displaced) -> None:
    """Somebody saved while we swapped, or wrote into a file that we had swapped out."""
    at, data, base, settled = written
    try:
        became = adopt(journal, face, data, base=base, settled=settled)
        _carry(journal, face, data, base)
    except FaceInvalid as error:
        if face.carry is not None and not settled:  # half of it may still be on its way
            displaced_files.watch(journal, face, at, base=base, looked=digest(data))
            return
        kept = drafts.keep_aside(journal, face, data)
        displaced_files.watch(journal, face, at, base=data, seen=digest(data))
        displaced_files.drop_if_secret(journal, face, written)
        raise FaceInvalid(
            f"{error.problem} (an edit that came while the file was being written)",
            file=kept,
            line=error.line,
            remedy="Mend that copy and put its lines into the face again.",
        ) from error
    if became is Became.UNSETTLED:  # its last line has no end yet: look again
        displaced_files.watch(journal, face, at, base=base, looked=digest(data))
        return
    displaced_files.watch(journal, face, at, base=data, seen=digest(data))
    displaced_files.drop_if_secret(journal, face, written)
