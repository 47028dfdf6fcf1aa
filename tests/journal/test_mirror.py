"""The mirror holds every event as a line that checks; a torn tail is cut, never believed."""

import json
import os
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from standfast.errors.base import JournalDamaged
from standfast.journal import mirror, questions
from standfast.journal.author import Author
from standfast.journal.questions import Event, Filter
from standfast.journal.store import MIRROR_EVERY, Journal
from standfast.journal.verification import verify

EVENT = Event(
    seq=7,
    at=5,
    run="r",
    session=None,
    actor="a",
    subdir="",
    kind="k",
    origin=None,
    payload='{"x":1}',
    hash=bytes(32),
)


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(str(tmp_path / "standfast"))


def mirrored(journal: Journal) -> list[int]:
    lines = (mirror.parse(line) for _, _, line in mirror.lines(journal.folder))
    return [int(str(event["seq"])) for event in lines if event is not None]


@given(payload=st.dictionaries(st.text(), st.text()), subdir=st.text())
def test_line_reads_back_and_is_plain_json(payload: dict[str, str], subdir: str) -> None:
    event = Event(
        seq=1,
        at=2,
        run=None,
        session="s",
        actor="a",
        subdir=subdir,
        kind="k",
        origin="o",
        payload=json.dumps(payload),
        hash=bytes(32),
    )

    line = mirror.line_of(event)
    found = mirror.parse(line)

    assert found is not None
    assert (found["payload"], found["subdir"]) == (payload, subdir)
    assert json.loads(line)["crc"]
    assert line.count(b"\n") == 1


@given(cut=st.integers(0, 200), flip=st.integers(0, 200), by=st.integers(1, 255))
def test_line_that_is_cut_or_flipped_is_not_believed(cut: int, flip: int, by: int) -> None:
    line = mirror.line_of(EVENT)
    short = line[: min(cut, len(line) - 1)]
    other = bytearray(line)
    other[flip % len(line)] ^= by

    assert mirror.parse(short) is None
    assert mirror.parse(bytes(other)) is None


def test_mirror_follows_in_batches_and_on_close(journal: Journal) -> None:
    for number in range(MIRROR_EVERY + 3):
        journal.append("x", {"n": number})
    in_batches = mirrored(journal)
    journal.close()

    assert in_batches == list(range(1, MIRROR_EVERY + 1))
    assert mirrored(journal) == list(range(1, MIRROR_EVERY + 4))
    assert verify(Journal(journal.folder)).mirrored == MIRROR_EVERY + 3


def test_torn_last_line_is_cut_before_the_next_is_written(journal: Journal) -> None:
    journal.append("x", {"n": 1})
    journal.append("x", {"n": 2})
    journal.close()
    (segment,) = mirror.segments(journal.folder)
    data = Path(segment).read_bytes()

    for cut in range(data.index(b"\n") + 1, len(data)):
        Path(segment).write_bytes(data[:cut])
        again = Journal(journal.folder)
        assert verify(again).problems == []
        again.mirror()
        again.close()
        assert Path(segment).read_bytes() == data


def test_new_file_begins_when_one_is_full(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mirror, "SEGMENT_BYTES", 2000)

    for number in range(40):
        journal.append("x", {"n": number, "text": "y" * 100})
    journal.close()

    assert len(mirror.segments(journal.folder)) > 3
    assert mirrored(journal) == list(range(1, 41))
    assert verify(Journal(journal.folder)).problems == []


@pytest.mark.parametrize(
    ("damage", "word"),
    [("flip", "is damaged"), ("remove", "follows event 2 with 4"), ("forged", "differ")],
)
def test_damaged_mirror_is_named_by_verify(journal: Journal, damage: str, word: str) -> None:
    for number in range(5):
        journal.append("x", {"n": number})
    journal.close()
    (segment,) = mirror.segments(journal.folder)
    lines = Path(segment).read_bytes().splitlines(keepends=True)
    if damage == "flip":
        lines[2] = lines[2].replace(b'"n":2', b'"n":9')
    elif damage == "remove":
        del lines[2]
    else:
        lines[2] = mirror.line_of(EVENT._replace(seq=3))
    Path(segment).write_bytes(b"".join(lines))

    problems = verify(Journal(journal.folder)).problems

    assert any(word in problem for problem in problems)
    assert all("mirror 000000000001.jsonl:" in problem for problem in problems)


def test_batch_is_synced_and_a_new_file_makes_its_folder_synced_too(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        journal.append("x", {"n": number})
    synced: list[str] = []
    real = os.fsync

    def sync(fd: int) -> None:
        synced.append(os.path.basename(os.readlink(f"/proc/self/fd/{fd}")))
        real(fd)

    monkeypatch.setattr(os, "fsync", sync)
    journal.mirror()

    assert synced[-2:] == ["000000000001.jsonl", "mirror"]


def test_journal_that_lacks_what_its_mirror_holds_is_damaged_not_begun_anew(
    journal: Journal,
) -> None:
    journal.append("x", {"n": 1}, Author(session="s"))
    journal.close()
    for name in ("journal.db", "journal.db-wal", "journal.db-shm"):
        Path(journal.folder, name).unlink()
    Path(journal.path).touch()

    for again in (Journal(journal.folder), Journal(journal.folder, checkpoint=False)):
        with pytest.raises(JournalDamaged):
            again.append("x", {"n": 2})
    with pytest.raises(JournalDamaged):
        list(questions.events(Journal(journal.folder), Filter()))

    assert mirrored(journal) == [1]


def test_mirror_that_cannot_be_written_undoes_no_fact(journal: Journal) -> None:
    journal.append("x", {"n": 1})
    Path(journal.folder, "mirror").write_text("in the way", encoding="utf-8")

    journal.close()

    with pytest.raises(Exception, match=r"folder|directory"):
        mirror.segments(journal.folder)


@pytest.mark.req("REL-01")
@pytest.mark.parametrize("back", [1, 40, 120])
def test_batch_whose_middle_a_power_cut_took_is_written_again(journal: Journal, back: int) -> None:
    for number in range(600):  # three batches, and a bit
        journal.append("x", {"n": number, "text": "y" * 100})
    journal.close()
    (path,) = mirror.segments(journal.folder)
    with open(path, "r+b") as file:
        sectors = file.seek(0, os.SEEK_END) // 512
        file.seek((sectors - back) * 512)
        file.write(bytes(512))

    journal.append("x", {})
    journal.close()

    assert mirrored(journal) == list(range(1, 602))
    assert verify(journal).problems == []


@pytest.mark.req("REL-01")
def test_first_batch_of_all_is_written_again_from_its_first_line(journal: Journal) -> None:
    for number in range(9):
        journal.append("x", {"n": number, "text": "y" * 100})
    journal.close()
    (path,) = mirror.segments(journal.folder)
    with open(path, "r+b") as file:
        file.write(bytes(512))

    journal.append("x", {})
    journal.close()

    assert mirrored(journal) == list(range(1, 11))
    assert verify(journal).problems == []


def test_one_sync_never_covers_more_than_is_looked_through(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[int] = []
    write = mirror._write
    monkeypatch.setattr(
        mirror,
        "_write",
        lambda p, at, batch: (written.append(len(b"".join(batch))), write(p, at, batch)),
    )
    for number in range(9):
        journal.append("x", {"n": number, "text": "y" * 30_000})
    journal.append("x", {"text": "y" * 200_000})
    journal.close()

    assert sorted(written)[-2] <= 64 * 1024  # the large one is a single line
    assert mirrored(journal) == list(range(1, 11))


@pytest.mark.req("REL-06")
def test_line_whose_payload_was_changed_and_whose_crc_was_mended_is_named(journal: Journal) -> None:
    journal.append("x", {"text": "as it was"})
    journal.append("x", {"text": "more"})
    journal.close()
    (segment,) = mirror.segments(journal.folder)
    first, second = Path(segment).read_bytes().splitlines(keepends=True)
    body = first.rpartition(b',"crc":"')[0].replace(b"as it was", b"never was")
    Path(segment).write_bytes(body + b',"crc":"%08x"}\n' % zlib.crc32(body) + second)

    problems = verify(Journal(journal.folder)).problems

    assert problems == [f"mirror {Path(segment).name}:1 and event 1 differ"]


@pytest.mark.req("REL-06")
def test_journal_that_was_put_back_and_written_on_is_named(journal: Journal) -> None:
    """By hooks, who have no time to ask the mirror: soon its numbers are ahead of it again."""
    journal.append("x", {"n": 1})
    journal.close()
    before = {path: path.read_bytes() for path in Path(journal.folder).glob("journal.db*")}
    for number in range(2, 5):
        journal.append("x", {"n": number})
    journal.close()
    for path, data in before.items():
        path.write_bytes(data)
    hook = Journal(journal.folder, checkpoint=False)
    for number in range(10, 16):
        hook.append("x", {"n": number})
    hook.let_go()

    with pytest.raises(JournalDamaged, match="event 4 is not the one in its mirror"):
        questions.last_seq(Journal(journal.folder))
