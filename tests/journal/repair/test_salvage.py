"""What is read without SQLite is what SQLite reads; damaged bytes never raise and prove nothing."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from damaged import DATABASE, LOG, Sample, make
from standfast.journal import chain
from standfast.journal.author import Author
from standfast.journal.repair.evidence import Claims, Pieces, as_row, gather, pages_of
from standfast.journal.repair.losses import Losses
from standfast.journal.repair.pages import Pages
from standfast.journal.repair.verdicts import Start, choose, seal
from standfast.journal.store import Journal

if TYPE_CHECKING:
    from pathlib import Path

    from standfast.journal.tables.folds import Row


@pytest.fixture(scope="module")
def sample(world_of_the_session: None, tmp_path_factory: pytest.TempPathFactory) -> Sample:
    return make(tmp_path_factory.mktemp("sample") / "standfast")


# Pages.


@pytest.mark.req("REL-06")
def test_rows_read_from_pages_are_those_that_sqlite_reads(tmp_path: Path) -> None:
    """Payloads of every length around the borders of a page and of an overflow page."""
    journal = Journal(str(tmp_path / "j"))
    for part, lengths in enumerate((range(1_500, 2_100, 7), range(3_900, 4_300, 9), [60_000, 1])):
        with journal.writing() as tx:
            for length in lengths:
                author = Author("user", run="r-1" if length % 2 else None, session="s-é"[:2])
                tx.append("x", {"text": "ä" * (length % 3) + "x" * length}, author)
        if part == 0:
            journal.checkpoint()
    expected = {tuple(row) for row in journal.query("SELECT * FROM events")}
    journal.let_go()

    pages = pages_of(Pieces(str(tmp_path / "j")), [])
    found = {row for row in map(as_row, pages.records()) if row is not None}

    assert found == expected
    assert len(expected) > 100
    assert pages.frames.sound == len(pages.frames.frames) > 0


@pytest.mark.req("REL-06")
def test_garbage_is_read_without_an_error(sample: Sample) -> None:
    file, log = ((sample.folder / name).read_bytes() for name in (DATABASE, LOG))
    dice = random.Random("garbage")
    known = {event.hash for event in sample.truth}

    for _ in range(60):
        pieces = [bytearray(file), bytearray(log)]
        for piece in pieces:
            for _ in range(dice.randrange(60)):
                at = dice.randrange(len(piece))
                piece[at : at + dice.randrange(1, 9)] = dice.randbytes(dice.randrange(1, 9))
            del piece[dice.randrange(len(piece)) :]
        pages = Pages(bytes(pieces[0]), bytes(pieces[1]), dice.choice((0, 3, 10**6)))
        rows = [row for row in map(as_row, pages.records()) if row is not None]
        assert all(isinstance(row[0], int) for row in rows)
        assert len([row for row in rows if row[10] in known]) <= len(rows)


def test_frames_left_over_by_a_killed_writer_are_not_taken_for_facts(tmp_path: Path) -> None:
    """Longer than the transaction that took its place, the end of it still checks by itself."""
    folder = tmp_path / "j"
    journal = Journal(str(folder))
    journal.append("first", {})
    before = (folder / LOG).read_bytes()
    with journal.writing() as tx:  # killed before anybody knew of its commit
        for number in range(30):
            tx.append("never", {"n": number, "text": "x" * 300}, Author("user", session="s"))
    never = (folder / LOG).read_bytes()
    journal.let_go()
    (folder / LOG).write_bytes(before)
    (folder / "journal.db-shm").unlink()
    journal = Journal(str(folder))
    seq = journal.append("second", {})
    after = (folder / LOG).read_bytes()
    journal.let_go()
    (folder / LOG).write_bytes(after + never[len(after) :])

    pieces = Pieces(str(folder))
    pages = pages_of(pieces, [])
    claims = gather(pieces, pages)

    assert len(pages.frames.frames) > pages.frames.sound
    assert seq == 2
    assert {c.row[7] for told in claims.by_seq.values() for c in told} == {"first", "second"}
    assert claims.known == seq


# Choosing.


def rows(*streams: str) -> list[Row]:
    """Events in these sessions, rightly chained."""
    heads: dict[str, bytes] = {}
    made: list[Row] = []
    for seq, session in enumerate(streams, 1):
        fields = (seq, seq, None, session, "user", "", "x", None, f'{{"n":{seq}}}')
        stream = f"session:{session}"
        heads[stream] = chain.link(heads.get(stream, chain.START), *fields)
        made.append((seq, seq, stream, None, session, *fields[4:], heads[stream]))
    return made


def claims_of(*told: Row, likely: bool = True) -> Claims:
    claims = Claims()
    for row in told:
        claims.add(row).mirrored = likely
    return claims


def chosen(claims: Claims, base: Start | None = None) -> tuple[list[Row], list[tuple[int, int]]]:
    taken: list[Row] = []
    choice = choose(claims, lambda row: taken.append(row) is None, base or Start())
    return taken, choice.missing


def evil(row: Row) -> Row:
    return (*row[:9], '{"n":666}', row[10])


@pytest.mark.req("REL-06")
def test_whole_chain_is_believed_without_any_checksum() -> None:
    truth = rows("a", "b", "a", "a", "b")

    assert chosen(claims_of(*truth, likely=False)) == (truth, [])


@pytest.mark.req("REL-06")
def test_claim_that_the_chain_contradicts_is_never_believed() -> None:
    truth = rows("a", "b", "a", "a", "b")

    for at in range(5):
        told = [*truth[:at], evil(truth[at]), *truth[at + 1 :]]
        assert chosen(claims_of(*told)) == (
            [*truth[:at], *truth[at + 1 :]],
            [(at + 1, at + 1)],
        )
        assert chosen(claims_of(*told, truth[at])) == (truth, [])


@pytest.mark.req("REL-06")
def test_event_after_a_loss_needs_a_checksum_and_is_sealed() -> None:
    truth = rows("a", "a", "a", "b")
    told = [truth[0], truth[2], truth[3]]
    taken: list[Row] = []

    choice = choose(claims_of(*told), lambda row: taken.append(row) is None)
    unlikely, missing = chosen(claims_of(*told, likely=False))

    assert taken == told
    assert choice.missing == [(2, 2)]
    assert choice.sealed == [(3, seal(truth[2]))]
    assert unlikely == [truth[0], truth[3]]
    assert missing == [(2, 3)]


@pytest.mark.req("REL-06")
def test_line_that_follows_from_the_database_since_a_fork_is_no_fork() -> None:
    """The mirror went on over a fork; the page of its last event is gone."""
    truth = rows("a", "b", "b", "b")
    fork = rows("a", "c", "c", "a")
    claims = claims_of(truth[3], *fork[1:])
    for row in truth[:3]:
        claims.add(row).is_sound = True

    taken: list[Row] = []
    choice = choose(claims, lambda row: taken.append(row) is None)

    assert taken == truth
    assert [(found.first, found.last) for found in choice.forked] == [(2, 4)]
    assert choice.missing == []


@pytest.mark.req("REL-06")
def test_what_stands_before_the_base_is_not_looked_at() -> None:
    truth = rows("a", "b", "a", "b")
    base = Start(2, {"session:a": truth[0][10], "session:b": truth[1][10]})

    assert chosen(claims_of(*truth[2:]), base) == (truth[2:], [])
    assert chosen(claims_of(evil(truth[0]), *truth[2:]), base) == (truth[2:], [])
    assert chosen(claims_of(evil(truth[2]), truth[3]), base) == ([truth[3]], [(3, 3)])


@pytest.mark.req("REL-06")
def test_losses_are_covered_only_as_far_as_they_were_told() -> None:
    losses = Losses([(5, 6), (7, 9), (20, 20)], {})

    assert losses.covers(5, 9)
    assert losses.covers(8, 8)
    assert losses.covers(20, 20)
    assert not losses.covers(4, 5)
    assert not losses.covers(9, 10)
    assert not losses.covers(5, 20)
    assert not Losses([], {}).covers(1, 1)
