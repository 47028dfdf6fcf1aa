"""A damaged journal is named, copied aside and rebuilt; what is lost is told, nothing is made up.

Whatever was damaged: every event that is there afterwards is the one that was recorded, under its
own number, and every number that is not there is named. Cut short anywhere, a repair goes on.
"""

import json
import os
import random
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from attacks import DONE, call, decisions, done, fair, record, refused, run, unprivileged
from damaged import (
    DATABASE,
    FILES,
    INDEX,
    LOG,
    MIRROR,
    Harm,
    Sample,
    facts,
    fill,
    flip,
    harm,
    keep_faces,
    keeps_the_truth,
    make,
    mend,
    missing,
    told,
    with_checksums,
    with_sqlite,
    zero,
)
from standfast.errors.base import (
    DiskFailed,
    JournalDamaged,
    JournalFromTheFuture,
    JournalUnwritable,
    NotAJournal,
    NothingFound,
    StandfastError,
)
from standfast.journal import mirror, questions
from standfast.journal.author import Author
from standfast.journal.fallback import spool, strays
from standfast.journal.questions import Event
from standfast.journal.repair.journal_repair import repair
from standfast.journal.repair.losses import KIND
from standfast.journal.repair.pages import Pages
from standfast.journal.retention import dropped_events as bases
from standfast.journal.retention import event_drop
from standfast.journal.store import Journal
from standfast.journal.tables import decision_records as deciding
from standfast.journal.verification import verify

FLIPS_EACH = 15


@pytest.fixture(scope="module")
def sample(world_of_the_session: None, tmp_path_factory: pytest.TempPathFactory) -> Sample:
    return make(tmp_path_factory.mktemp("sample") / "standfast")


@pytest.fixture
def folder(sample: Sample, tmp_path: Path) -> Path:
    return sample.copy(tmp_path / "standfast")


# Damage of every kind.


@pytest.mark.sweep(2)
@pytest.mark.req("REL-06")
@pytest.mark.parametrize("file", FILES)
def test_flipped_byte_is_repaired_and_no_answer_is_wrong(
    sample: Sample, tmp_path: Path, file: str
) -> None:
    dice = random.Random(f"flips in {file}")
    size = (sample.folder / file).stat().st_size
    first = [0, 17, 20, 24, 44, 60, 68, 92, 100, size - 1]

    for number, offset in enumerate([*first, *(dice.randrange(size) for _ in range(FLIPS_EACH))]):
        folder = sample.copy(tmp_path / str(number))
        flip(folder / file, offset, dice.randrange(8))

        answer = told(folder)
        mended = mend(folder)

        assert answer == sample.truth or isinstance(answer, JournalDamaged | NotAJournal), offset
        keeps_the_truth(sample, folder, mended)
        assert len(missing(mended)) <= 3, offset
        shutil.rmtree(folder)


@pytest.mark.req("REL-06")
@pytest.mark.parametrize("file", [DATABASE, LOG])
def test_many_flipped_bytes_lose_only_what_is_named(
    sample: Sample, tmp_path: Path, file: str
) -> None:
    dice = random.Random(f"many flips in {file}")
    size = (sample.folder / file).stat().st_size

    for number in range(10):
        folder = sample.copy(tmp_path / str(number))
        for _ in range(2 ** (number % 6 + 1)):
            flip(folder / file, dice.randrange(size), dice.randrange(8))

        mended = mend(folder)

        keeps_the_truth(sample, folder, mended)


@pytest.mark.req("REL-06")
@pytest.mark.parametrize("file", FILES)
def test_truncated_file_is_repaired(sample: Sample, tmp_path: Path, file: str) -> None:
    size = (sample.folder / file).stat().st_size

    for number, length in enumerate((0, 1, 31, 33, 100, 2_048, size // 2, size - 1)):
        folder = sample.copy(tmp_path / str(number))
        os.truncate(folder / file, length)

        answer = told(folder)
        mended = mend(folder)

        lost = {event.seq for event in sample.truth} - {event.seq for event in facts(folder)}
        assert lost == missing(mended) or file == LOG  # cut off, it says nothing of what it held
        assert all(event in sample.truth for event in facts(folder))
        assert answer == sample.truth or isinstance(answer, StandfastError) or file == LOG
        assert {event.seq for event in sample.truth[: sample.mirrored]}.isdisjoint(lost)


@pytest.mark.req("REL-06")
def test_zeroed_pages_are_repaired(sample: Sample, tmp_path: Path) -> None:
    pages = (sample.folder / DATABASE).stat().st_size // 2_048

    for number in range(pages):
        folder = sample.copy(tmp_path / str(number))
        zero(folder / DATABASE, number * 2_048, 2_048)
        mended = mend(folder)

        keeps_the_truth(sample, folder, mended)
        assert missing(mended) == set()  # the mirror has all that the database file has


GONE: dict[str, tuple[str, ...]] = {
    "database": (DATABASE,),
    "database and index": (DATABASE, INDEX),
    "all but the mirror": (DATABASE, LOG, INDEX),
    "mirror": (MIRROR,),
    "index": (INDEX,),
    "mirror and index": (MIRROR, INDEX),
}


@pytest.mark.req("REL-06")
@pytest.mark.parametrize("gone", GONE)
def test_deleted_files_are_made_anew(sample: Sample, folder: Path, gone: str) -> None:
    for name in GONE[gone]:
        (folder / name).unlink()

    mended = mend(folder)

    kept = facts(folder)
    assert kept == sample.truth[: len(kept)]
    assert len(kept) >= (sample.mirrored if DATABASE in GONE[gone] else len(sample.truth))
    assert mended.missing == []


@pytest.mark.req("REL-06")
@pytest.mark.parametrize("what", ["garbage", "zeros", "nothing", "a text"])
def test_database_that_was_written_over_is_rebuilt_from_log_and_mirror(
    sample: Sample, folder: Path, what: str
) -> None:
    size = (folder / DATABASE).stat().st_size
    (folder / DATABASE).write_bytes(
        {
            "garbage": random.Random(1).randbytes(size),
            "zeros": bytes(size),
            "nothing": b"",
            "a text": b"mine\n" * 9_000,
        }[what]
    )

    mended = mend(folder)

    keeps_the_truth(sample, folder, mended)
    assert missing(mended) == set()


@pytest.mark.req("REL-06")
@pytest.mark.parametrize("checkpoint", ["PASSIVE", "TRUNCATE"])
def test_pages_that_another_program_moved_without_checksums_are_proved_by_the_chain(
    sample: Sample, folder: Path, checkpoint: str
) -> None:
    with_sqlite(folder, f"PRAGMA wal_checkpoint({checkpoint})")

    answer = told(folder)
    mended = mend(folder)

    assert answer == sample.truth or isinstance(answer, JournalDamaged)
    assert mended.quarantine is not None
    keeps_the_truth(sample, folder, mended)
    assert missing(mended) == set()


TAMPERED = {
    "a table gone": "DROP TABLE decisions",
    "the events gone": "DROP TABLE events",
    "an event gone": "DELETE FROM events WHERE seq = 2",
    "events at the end gone": "DELETE FROM events WHERE seq > 30",
    "other words": """UPDATE events SET payload = '{"id":"RD-001","text":"evil"}' WHERE seq = 1""",
    "another state": "UPDATE decisions SET text = 'evil'",
    "a counter set back": "UPDATE counters SET last = 0",
    "a hash too short": "UPDATE events SET hash = x'00' WHERE seq = 1",
    "another session": "UPDATE events SET session = 'evil' WHERE seq = 5",
}


@pytest.mark.req("REL-06")
@pytest.mark.parametrize("what", TAMPERED)
def test_what_was_tampered_with_comes_back_from_the_mirror(tmp_path: Path, what: str) -> None:
    sample = make(tmp_path / "standfast", mirror_all=True)
    with_checksums(sample.folder, TAMPERED[what])

    mended = mend(sample.folder)

    assert mended.quarantine is not None
    assert facts(sample.folder) == sample.truth


@pytest.mark.req("REL-06")
def test_event_that_nothing_remembers_is_named_and_its_number_not_used_again(
    tmp_path: Path,
) -> None:
    sample = make(tmp_path / "standfast", mirror_all=True)
    shutil.rmtree(sample.folder / "mirror")
    evil = """UPDATE events SET payload = '{"id":"RD-009","text":"evil"}' WHERE kind GLOB 'dec*'"""
    with_checksums(sample.folder, f"{evil} AND seq > (SELECT max(seq) - 20 FROM events)")
    gone = {event.seq for event in sample.truth[-20:] if event.kind == "decision.noted"}

    mended = mend(sample.folder)
    keeps_the_truth(sample, sample.folder, mended)
    journal = Journal(str(sample.folder))
    with journal.writing() as tx:
        new = deciding.note(tx, "after")

    assert missing(mended) == gone
    assert verify(journal).missing == mended.missing
    used = {json.loads(e.payload)["id"] for e in sample.truth if e.kind == "decision.noted"}
    assert new not in used
    assert int(new[3:]) == len(used) + 1


# What a repair tells, and what it leaves.


@pytest.mark.req("REL-06")
def test_undamaged_journal_is_left_as_it_is(sample: Sample, folder: Path) -> None:
    before = contents(folder)

    mended = repair(Journal(str(folder)))

    assert mended.quarantine is None
    assert mended.events == len(sample.truth)
    assert {**contents(folder), INDEX: b""} == {**before, INDEX: b""}


def contents(folder: Path) -> dict[str, bytes]:
    """Every file but the locks."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix != ".lock"
    }


@pytest.mark.req("REL-06")
def test_quarantine_holds_every_byte_of_before_for_nobody_else(folder: Path) -> None:
    harm(folder)
    before = {name: (folder / name).read_bytes() for name in (DATABASE, MIRROR, "spool")}

    mended = mend(folder)

    quarantine = Path(str(mended.quarantine))
    assert quarantine.parent == folder / "quarantine"
    assert {name: (quarantine / name).read_bytes() for name in before} == before
    modes = {
        stat.S_IMODE(path.stat().st_mode) & 0o077 for path in [quarantine, *quarantine.rglob("*")]
    }
    assert modes == {0}


@pytest.mark.req("REL-06")
def test_journal_tells_of_its_repair(sample: Sample, folder: Path) -> None:
    harm(folder)

    mended = mend(folder)

    (event,) = [event for event in told(folder) if event.kind == KIND]  # type: ignore[union-attr]  # told in full
    payload = json.loads(event.payload)
    assert payload["quarantine"] == Path(str(mended.quarantine)).name
    assert payload["events"] == len(sample.truth)
    assert payload["missing"] == []
    assert payload["damaged"] == mended.damaged
    assert event.actor == "standfast"


@pytest.mark.req("REL-06")
def test_second_damage_is_repaired_too_and_the_first_losses_stay_known(
    sample: Sample, folder: Path
) -> None:
    shutil.rmtree(folder / "mirror")
    with_checksums(folder, "DELETE FROM events WHERE seq IN (5, 6, 11)")
    first = mend(folder)
    journal = Journal(str(folder))
    fill(journal, 6)
    journal.close()
    shutil.rmtree(folder / "mirror")
    with_checksums(folder, "DELETE FROM events WHERE seq IN (7, 30)")

    second = mend(folder)

    assert missing(first) == {5, 6, 11}
    assert missing(second) == {5, 6, 7, 11, 30}
    assert facts(folder)[: len(sample.truth) - 5] == [
        event for event in sample.truth if event.seq not in missing(second)
    ]


@pytest.mark.req("REL-06")
def test_loss_that_nobody_told_of_and_a_change_after_the_repair_stay_problems(
    folder: Path,
) -> None:
    shutil.rmtree(folder / "mirror")
    with_checksums(folder, "DELETE FROM events WHERE seq BETWEEN 5 AND 9")
    mend(folder)
    shutil.rmtree(folder / "mirror")

    for number, change in enumerate(
        (
            "DELETE FROM events WHERE seq = 4",
            "DELETE FROM events WHERE seq = 10",
            *(f"UPDATE events SET payload = '{{}}' WHERE seq = {seq}" for seq in range(10, 16)),
        )
    ):
        other = folder.with_name(f"other-{number}")
        shutil.copytree(folder, other)
        with_checksums(other, change)

        assert verify(Journal(str(other))).problems, change


# Protocol files and strays.


def texts(folder: Path) -> list[str]:
    journal = Journal(str(folder))
    found = [decision.text for decision in questions.decisions(journal)]
    journal.close()
    return found


@pytest.mark.req("REL-06")
@pytest.mark.parametrize("also_lost", ["", "DELETE FROM faces", "DELETE FROM published"])
def test_decision_that_only_a_face_remembers_comes_back_once(folder: Path, also_lost: str) -> None:
    keep_faces(folder)
    before = texts(folder)
    shutil.rmtree(folder / "mirror")
    lost = (
        "DELETE FROM events WHERE seq IN (SELECT seq FROM decisions ORDER BY number DESC LIMIT 2)"
    )
    with_checksums(folder, lost, *([also_lost] if also_lost else []))

    mended = mend(folder)
    without = texts(folder)
    for _ in range(2):
        keep_faces(folder)

    assert len(missing(mended)) == 2
    assert without == before[:-2]
    assert texts(folder) == before
    assert verify(Journal(str(folder))).problems == []


@pytest.mark.req("REL-06")
def test_face_brings_nothing_twice_when_all_memory_of_it_is_lost(folder: Path) -> None:
    keep_faces(folder)
    before = texts(folder)
    Journal(str(folder)).mirror()
    (folder / DATABASE).write_bytes(b"")
    (folder / LOG).unlink()

    mend(folder)
    for _ in range(2):
        keep_faces(folder)

    assert texts(folder) == before


@pytest.mark.req("REL-06")
@pytest.mark.parametrize("lost", ["merged", "all"])
def test_stray_is_not_taken_twice_when_the_memory_of_it_is_lost(folder: Path, lost: str) -> None:
    spool.keep(str(folder), "turn.ended", {"text": "from the spool"}, Author("claude", session="s"))
    spool.keep(str(folder), "tool.used", {"n": 1}, Author("user", session="s-1"))
    waiting = (folder / "spool").read_bytes()
    journal = Journal(str(folder))
    strays.merge(journal, [])
    journal.close()
    (folder / "spool").write_bytes(waiting)  # a crash before its slots were freed
    if lost == "merged":
        with_checksums(folder, "DELETE FROM merged", "UPDATE counters SET last = 0")
    else:
        (folder / DATABASE).write_bytes(b"")
        (folder / LOG).unlink()

    mend(folder)
    journal = Journal(str(folder))
    merged = strays.merge(journal, [])
    kinds = [event.kind for event in questions.events(journal, questions.Filter())]
    journal.close()

    assert merged == 0
    assert kinds.count("tool.used") == 1
    assert kinds.count("turn.ended") == 1
    assert not spool.is_used(str(folder))


# Journals whose oldest events were dropped.


def trimmed(folder: Path) -> list[Event]:
    """Drop the first half, and tell what is left."""
    journal = Journal(str(folder))
    journal.mirror()
    base = bases.load(journal.connection)
    assert event_drop.drop(journal, base, 30) == 30
    journal.mirror()
    event_drop.settle(journal)
    kept = list(questions.events(journal, questions.Filter()))
    journal.close()
    assert kept[0].seq == 31
    return kept


@pytest.mark.req("REL-06")
@pytest.mark.parametrize(
    "gone", [(DATABASE, LOG, INDEX), ("mirror",), (LOG, INDEX), (), ("base",)], ids=str
)
def test_journal_with_dropped_events_is_repaired_from_its_base(
    folder: Path, gone: tuple[str, ...]
) -> None:
    kept = trimmed(folder)
    before = texts(folder)
    assert len(before) > len([event for event in kept if event.kind == "decision.noted"])
    for name in gone:
        path = folder / name
        if name == "base":
            event_drop.base_files(str(folder))  # the copy in the mirror; the database has another
            path = Path(event_drop.base_files(str(folder))[0])
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    if gone in {(), ("mirror",)}:
        with_checksums(folder, "UPDATE counters SET last = 0")

    mended = mend(folder)

    assert facts(folder) == kept
    assert mended.missing == []
    assert texts(folder) == before


@pytest.mark.req("REL-06")
def test_base_that_is_lost_is_told_as_the_loss_of_its_events(folder: Path) -> None:
    keep_faces(folder)
    kept = trimmed(folder)
    before = texts(folder)
    for path in event_drop.base_files(str(folder)):
        Path(path).unlink()
    with_checksums(folder, "DELETE FROM base", "VACUUM")

    mended = mend(folder)
    keep_faces(folder)

    assert facts(folder)[: len(kept)] == kept
    assert mended.missing == [(1, 30)]
    assert sorted(texts(folder)) == sorted(before)  # the face knew them
    assert verify(Journal(str(folder))).problems == []


@pytest.mark.req("REL-06")
def test_events_are_dropped_from_a_journal_with_known_losses(folder: Path) -> None:
    shutil.rmtree(folder / "mirror")
    with_checksums(folder, "DELETE FROM events WHERE seq IN (5, 6, 11, 40)")
    mend(folder)
    journal = Journal(str(folder))
    base = bases.load(journal.connection)

    dropped = event_drop.drop(journal, base, 30)
    event_drop.settle(journal)
    report = verify(journal)
    journal.close()

    assert dropped == 27
    assert report.problems == []
    assert report.missing == [(40, 40)]


# Two histories for the same numbers.


def put_back(folder: Path) -> list[Event]:
    """A journal of which an old copy was put back; what it holds now."""
    journal = Journal(str(folder))
    fill(journal, 5)
    journal.close()
    with_checksums(folder)
    old = (folder / DATABASE).read_bytes()
    kept = facts(folder)
    journal = Journal(str(folder))
    fill(journal, 7)
    journal.mirror()
    journal.close()
    for name in (LOG, INDEX):
        (folder / name).unlink(missing_ok=True)
    (folder / DATABASE).write_bytes(old)
    return kept


def write_on(folder: Path, count: int) -> list[Event]:
    """As hooks do, which never ask the mirror; all events there are then."""
    journal = Journal(str(folder), checkpoint=False)
    for number in range(count):
        journal.append("prompt", {"text": f"do {number}"}, Author("user", session="hook"))
    found = list(questions.events(journal, questions.Filter()))
    journal.let_go()
    return found


def newest(folder: Path, kind: str) -> dict[str, Any]:
    """What the newest event of a kind says."""
    found = told(folder)
    assert isinstance(found, list)
    payload: dict[str, Any] = json.loads([e for e in found if e.kind == kind][-1].payload)
    return payload


def kinds(folder: Path) -> list[str]:
    found = told(folder)
    assert isinstance(found, list)
    return [event.kind for event in found]


@pytest.mark.req("REL-06")
@pytest.mark.parametrize("count", [1, 4, 9, 30])
def test_database_that_was_put_back_and_written_on_is_the_truth_and_the_fork_is_named(
    tmp_path: Path, count: int
) -> None:
    folder = tmp_path / "standfast"
    kept = put_back(folder)
    mirrored = mirror.last_seq(str(folder))
    truth = write_on(folder, count)

    mended = mend(folder)

    forked = [(len(kept) + 1, mirrored)]
    words = f"events {len(kept) + 1} to {mirrored} stand differently in the mirror"
    assert facts(folder) == truth
    assert mended.missing == []
    assert mended.as_dict()["forked"] == forked
    assert [said for said in mended.damaged if said.startswith(words) and MIRROR in said]
    assert newest(folder, KIND)["forked"] == [list(forked[0])]
    assert "the mirror told otherwise" in newest(folder, "gap")["why"]
    assert verify(Journal(str(folder))).forked == forked
    lines = (Path(str(mended.quarantine)) / MIRROR).read_bytes().splitlines()
    assert len(lines) == mirrored


@pytest.mark.req("REL-06")
@pytest.mark.parametrize("others", [3, 60])
def test_mirror_of_another_journal_replaces_nothing(
    sample: Sample, folder: Path, tmp_path: Path, others: int
) -> None:
    other = Journal(str(tmp_path / "other"))
    fill(other, others)
    other.mirror()
    last = questions.last_seq(other)
    other.close()
    shutil.rmtree(folder / "mirror")
    shutil.copytree(tmp_path / "other" / "mirror", folder / "mirror")

    mended = mend(folder)

    assert facts(folder) == sample.truth
    assert mended.missing == []
    assert mended.as_dict()["forked"] == [(1, last)]


@pytest.mark.req("REL-06")
@pytest.mark.parametrize("own", [3, 20, 60])
def test_mirror_of_another_journal_with_dropped_events_replaces_nothing(
    folder: Path, tmp_path: Path, own: int
) -> None:
    """Its base is none of ours either, wherever the database ends."""
    kept = trimmed(folder)
    mine = tmp_path / "mine"
    journal = Journal(str(mine))
    for number in range(own):
        with journal.writing() as tx:
            deciding.note(tx, f"mine {number}")
    truth = list(questions.events(journal, questions.Filter()))
    journal.close()
    shutil.rmtree(mine / "mirror")
    shutil.copytree(folder / "mirror", mine / "mirror")

    mended = mend(mine)

    assert facts(mine) == truth
    assert mended.missing == []
    assert mended.as_dict()["forked"] == [(kept[0].seq, kept[-1].seq)]


@pytest.mark.req("REL-06")
def test_database_put_back_from_before_events_were_dropped_goes_on_with_the_mirror(
    sample: Sample, folder: Path
) -> None:
    with_checksums(folder)
    old = (folder / DATABASE).read_bytes()
    kept = trimmed(folder)
    before = texts(folder)
    for name in (LOG, INDEX):
        (folder / name).unlink(missing_ok=True)
    (folder / DATABASE).write_bytes(old)

    mended = mend(folder)

    assert facts(folder) == kept
    assert mended.missing == []
    assert texts(folder) == before
    assert mended.as_dict()["forked"] == []


@pytest.mark.req("REL-06")
def test_mirror_that_goes_on_from_the_database_is_taken_in_full(tmp_path: Path) -> None:
    folder = tmp_path / "standfast"
    kept = put_back(folder)
    lines = [mirror.parse(line) for _, _, line in mirror.lines(str(folder))]

    mended = mend(folder)

    assert [event.hash.hex() for event in facts(folder)] == [line["hash"] for line in lines if line]
    assert len(lines) > len(kept)
    assert mended.as_dict()["forked"] == []
    assert mended.is_unsure  # a mirror lags: more may have been recorded


@pytest.mark.req("REL-06")
def test_mirror_is_believed_where_the_database_cannot_be_read(tmp_path: Path) -> None:
    folder = tmp_path / "standfast"
    put_back(folder)
    write_on(folder, 4)
    (folder / DATABASE).write_bytes(b"")
    (folder / LOG).unlink()
    lines = [mirror.parse(line) for _, _, line in mirror.lines(str(folder))]

    mended = mend(folder)

    assert [event.hash.hex() for event in facts(folder)] == [line["hash"] for line in lines if line]
    assert mended.as_dict()["forked"] == []
    assert mended.is_unsure


# What nobody can know.


def smashed_end(folder: Path) -> None:
    """Everything but the oldest pages is noise, and there is no mirror."""
    with_checksums(folder)
    shutil.rmtree(folder / "mirror")
    data = (folder / DATABASE).read_bytes()
    found = Pages(data, b"")
    rights = [n for n in range(1, len(data) // 2_048 + 1) if _holds_after(found, data, n, 20)]
    for number in rights:
        noise = random.Random(number).randbytes(2_048)
        data = data[: (number - 1) * 2_048] + noise + data[number * 2_048 :]
    (folder / DATABASE).write_bytes(data)


def _holds_after(pages: Pages, data: bytes, number: int, seq: int) -> bool:
    """Whether a page has a row of the events after this one, or of an index on them."""
    page = data[(number - 1) * 2_048 : number * 2_048]
    for key, values in pages._rows(page, number):
        is_event = len(values) == 11 and key > seq
        if is_event or (key == 0 and isinstance(values[-1], int) and values[-1] > seq):
            return True
    return False


@pytest.mark.req("REL-06")
def test_end_that_cannot_be_read_is_told_as_unknown_and_missing_ids_are_named(
    sample: Sample, folder: Path
) -> None:
    smashed_end(folder)
    used = [json.loads(e.payload)["id"] for e in sample.truth if e.kind == "decision.noted"]

    mended = mend(folder)

    kept = facts(folder)
    left = [json.loads(e.payload)["id"] for e in kept if e.kind == "decision.noted"]
    first = used[len(left)]
    assert 0 < len(kept) < len(sample.truth)
    assert kept == sample.truth[: len(kept)]
    assert mended.is_unsure
    assert mended.as_dict()["complete"] is False
    assert mended.as_dict()["ids"] == [(first, used[-1])]
    assert newest(folder, KIND)["unsure"] is True
    gap = newest(folder, "gap")
    assert f"decisions {first} to {used[-1]} are missing" in gap["why"]
    assert gap["facts"] >= len(used) - len(left)
    assert verify(Journal(str(folder))).is_unsure


@pytest.mark.req("REL-06")
@pytest.mark.parametrize("gone", [(DATABASE, LOG, INDEX), ("mirror",)], ids=str)
def test_losses_are_known_only_where_the_end_of_the_database_is(
    folder: Path, gone: tuple[str, ...]
) -> None:
    for name in gone:
        shutil.rmtree(folder / name) if name == "mirror" else (folder / name).unlink()
    if gone == ("mirror",):
        with_checksums(folder, "DELETE FROM events WHERE seq = 5")

    mended = mend(folder)

    assert mended.is_unsure == (LOG in gone)
    assert ("unsure" in newest(folder, KIND)) == (LOG in gone)


@pytest.mark.req("REL-06")
def test_flipped_byte_on_the_last_page_of_events_leaves_their_end_unknown(folder: Path) -> None:
    """Its rows can still be read, but nobody can say that no row is gone from it."""
    with_checksums(folder)
    data = (folder / DATABASE).read_bytes()
    shutil.rmtree(folder / "mirror")
    flip(folder / DATABASE, data.rindex(b'{"number":10,"text":"xxx'))  # the newest event

    mended = mend(folder)

    assert mended.is_unsure


@pytest.mark.req("REL-06")
@pytest.mark.parametrize("at", [3_000, 60_000])
@pytest.mark.parametrize("index", [True, False])
def test_log_that_cannot_be_read_to_its_end_leaves_the_end_unknown(
    folder: Path, at: int, *, index: bool
) -> None:
    shutil.rmtree(folder / "mirror")
    harm(folder)  # without the index this is all that is noticed
    size = (folder / LOG).stat().st_size
    log = (folder / LOG).read_bytes()
    noise = bytearray(random.Random(at).randbytes(size))
    for frame in range(32, size, 2_048 + 24):  # each still of this log, as a flip leaves it
        noise[frame : frame + 16] = log[frame : frame + 16]
    (folder / LOG).write_bytes(log[:at] + bytes(noise[at:]))
    if not index:
        (folder / INDEX).unlink()

    mended = mend(folder)

    assert mended.quarantine is not None
    assert mended.is_unsure


@pytest.mark.req("REL-06")
def test_repair_that_lost_nothing_tells_of_no_gap(folder: Path) -> None:
    harm(folder)

    mended = mend(folder)

    assert mended.as_dict()["complete"] is True
    assert "gap" not in kinds(folder)


@pytest.mark.req("REL-06")
def test_loss_is_told_as_a_gap_once(folder: Path) -> None:
    shutil.rmtree(folder / "mirror")
    with_checksums(folder, "DELETE FROM events WHERE seq IN (5, 6, 11)")
    mend(folder)
    first = newest(folder, "gap")
    flip(folder / MIRROR, 1_000)
    mend(folder)
    again = kinds(folder).count("gap")
    shutil.rmtree(folder / "mirror")
    with_checksums(folder, "DELETE FROM events WHERE seq IN (7, 30)")
    mend(folder)

    assert first["facts"] == 3
    assert again == 1
    assert newest(folder, "gap")["facts"] == 2
    assert kinds(folder).count("gap") == 2


@pytest.mark.req("REL-06")
def test_command_never_says_that_nothing_is_lost_where_nobody_knows(repo: Path) -> None:
    folder = record(repo, "one", "two", "three")
    for name in (DATABASE, LOG, INDEX):
        (folder / name).unlink(missing_ok=True)

    said = done(call("-C", str(repo), "journal", "repair"))
    verified = done(call("-C", str(repo), "journal", "verify"))
    status = done(call("-C", str(repo), "status"))

    assert "Repaired: 3 events kept, none known to be lost." in said.out
    assert "what could not be read may have held more" in said.out
    assert "Lost before the last repair: none that is known; what could not be read" in verified.out
    assert "LOST" in status.out
    assert "may have held more" in status.out


@pytest.mark.req("REL-06")
def test_command_tells_of_a_fork(repo: Path, tmp_path: Path) -> None:
    folder = record(repo, "one", "two")
    other = Journal(str(tmp_path / "other"))
    fill(other, 3)
    other.mirror()
    other.close()
    shutil.rmtree(folder / "mirror")
    shutil.copytree(tmp_path / "other" / "mirror", folder / "mirror")

    said = done(call("-C", str(repo), "journal", "repair"))
    verified = done(call("-C", str(repo), "journal", "verify"))

    assert "2 events kept, none lost, others only in the quarantine." in said.out
    assert "events 1 to 4 stand differently in the mirror" in said.out
    assert "Otherwise in a mirror, which is in the quarantine: events 1 to 4." in verified.out
    assert "the mirror told otherwise" in done(call("-C", str(repo), "status")).out
    assert sorted(decisions(repo)) == ["one", "two"]


# A crash anywhere, and again.


class Fuse:
    """Lets some calls be made, and ends the process right after the last of them."""

    def __init__(self, left: int) -> None:
        self.left = left

    def on(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            result = real(*arguments, **named)
            self.left -= 1
            if self.left == 0:
                os._exit(9)
            return result

        return call


MUTATING = ("fsync", "rename", "unlink", "mkdir", "rmdir", "write", "ftruncate", "open")


def killed_after(folder: Path, calls: int) -> bool:
    """Repair in a process of its own that dies after so many calls; False if it lived."""
    pid = os.fork()
    if pid == 0:
        fuse = Fuse(calls)
        for name in MUTATING:
            setattr(os, name, fuse.on(getattr(os, name)))
        try:
            repair(Journal(str(folder)))
        except BaseException:  # noqa: BLE001  # the test tells by the status
            os._exit(7)
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert status in {0, 9}
    return status == 9


@pytest.mark.sweep(4)
@pytest.mark.req("REL-03", "REL-06")
@pytest.mark.parametrize("part", range(4))
def test_repair_cut_short_anywhere_twice_ends_as_the_first_would_have(
    sample: Sample, tmp_path: Path, part: int
) -> None:
    def harmed(name: str) -> Path:
        folder = sample.copy(tmp_path / name)
        with_checksums(folder, "DELETE FROM events WHERE seq IN (5, 6, 49)")
        flip(folder / MIRROR, 2_000)
        return folder

    straight = harmed("straight")
    mend(straight)
    dice = random.Random(part)

    for nth in count(part + 1, 4):
        folder = harmed(str(nth))
        died = killed_after(folder, nth)
        if died:
            assert isinstance(told(folder), StandfastError | list)
            killed_after(folder, dice.randrange(1, nth + 20))
        mended = mend(folder)

        assert facts(folder) == facts(straight), nth
        assert repairs(folder) == repairs(straight), nth
        left = [path.name for path in (folder / "quarantine").iterdir()]
        assert not [name for name in left if name == "work" or name.endswith(".partial")]
        if not died:
            break
        assert mended.quarantine is None or Path(mended.quarantine).is_dir()
        shutil.rmtree(folder)
    assert nth > 20


def repairs(folder: Path) -> list[object]:
    """What the journal says of its repairs, but for the name of the quarantine."""
    found = told(folder)
    assert isinstance(found, list)
    payloads = [json.loads(event.payload) for event in found if event.kind == KIND]
    return [{**payload, "quarantine": None} for payload in payloads]


@pytest.mark.req("REL-06")
def test_nobody_opens_a_journal_whose_repair_is_not_finished(folder: Path, repo: Path) -> None:
    home = repo / ".git" / "standfast"
    shutil.copytree(folder, home)
    harm(home)
    for calls in count(1):
        assert killed_after(home, calls)
        if (home / "damaged").exists():
            break

    for command in (("status",), ("events",), ("note", "more"), ("journal", "verify")):
        answer = fair(call("-C", str(repo), *command))
        assert "a repair was begun and not finished" in answer.out + answer.err
        assert answer.status != DONE
    told_doctor = fair(call("-C", str(repo), "doctor"))
    mended = done(call("-C", str(repo), "journal", "repair"))

    assert "standfast journal repair" in told_doctor.out
    assert "none lost" in mended.out
    assert fair(call("-C", str(repo), "journal", "verify")).status == DONE


# Others at the same time.

REPAIR = """
import sys
from standfast.journal.repair.journal_repair import repair
from standfast.journal.store import Journal
print(repair(Journal(sys.argv[1], lock_timeout_s=60)).quarantine)
"""
WRITE = """
import sys
from standfast.journal.author import Author
from standfast.journal.store import Journal
from standfast.errors.base import StandfastError
journal = Journal(sys.argv[1], lock_timeout_s=60)
print("ready", flush=True)
for number in range(int(sys.argv[2])):
    try:
        seq = journal.append("written", {"n": number}, Author("user", session=sys.argv[3]))
    except StandfastError as error:
        print(error.code, flush=True)
        continue
    print(seq, flush=True)
"""


def start(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", *arguments], stdout=subprocess.PIPE, encoding="utf-8"
    )


@pytest.mark.req("REL-06")
@pytest.mark.prove
def test_of_many_repairs_at_once_one_repairs(sample: Sample, folder: Path) -> None:
    harm(folder)

    running = [start(REPAIR, str(folder)) for _ in range(6)]
    said = [process.communicate()[0].strip() for process in running]

    assert [process.returncode for process in running] == [0] * 6
    assert sorted(said)[1:] == ["None"] * 5 or said.count("None") == 5
    assert facts(folder) == sample.truth
    assert len(repairs(folder)) == 1


@pytest.mark.req("REL-06")
@pytest.mark.prove
@pytest.mark.parametrize("where", ["mirror", "database"])
def test_writers_that_go_on_while_it_is_repaired_lose_nothing(
    sample: Sample, folder: Path, where: str
) -> None:
    """Each has the journal open all the time: none may write into the file that was replaced."""
    writers = [start(WRITE, str(folder), "120", f"w-{number}") for number in range(3)]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    if where == "mirror":
        flip(folder / MIRROR, 1_000)
    else:
        harm(folder)
    mended = subprocess.run(
        [sys.executable, "-c", REPAIR, str(folder)], check=True, capture_output=True
    )
    said = [word for writer in writers for word in writer.communicate()[0].split()]

    acknowledged = [int(word) for word in said if word.isdigit()]
    found = {event.seq: event for event in facts(folder)}
    assert mended.stdout.strip() != b"None"
    assert len(acknowledged) > 100
    assert all(found[seq].kind == "written" for seq in acknowledged)
    assert list(found.values())[: len(sample.truth)] == sample.truth
    assert verify(Journal(str(folder))).problems == []


def test_open_journal_notices_that_its_file_was_replaced(sample: Sample, folder: Path) -> None:
    journal = Journal(str(folder))
    assert questions.last_seq(journal) == len(sample.truth)
    flip(folder / MIRROR, 1_000)
    mend(folder)

    seen = questions.last_seq(journal)
    seq = journal.append("after", {})
    journal.close()

    assert seen == len(sample.truth) + 1
    assert facts(folder)[-1].seq == seq


# What may not be touched.


@pytest.mark.req("REL-06")
@pytest.mark.parametrize("more", ["CREATE TABLE mine (a)", "PRAGMA application_id=77"])
def test_database_of_somebody_else_is_never_replaced(folder: Path, more: str) -> None:
    for name in (DATABASE, LOG, INDEX):
        (folder / name).unlink()
    with_sqlite(folder, "CREATE TABLE other (a)", "INSERT INTO other VALUES (1)", more)
    before = (folder / DATABASE).read_bytes()

    with pytest.raises(NotAJournal):
        repair(Journal(str(folder)))

    assert (folder / DATABASE).read_bytes() == before
    assert not any((folder / "quarantine").iterdir())


@pytest.mark.req("REL-06")
def test_journal_under_another_application_id_is_never_replaced(folder: Path) -> None:
    with_checksums(folder, "PRAGMA application_id=77")
    before = (folder / DATABASE).read_bytes()

    with pytest.raises(NotAJournal):
        repair(Journal(str(folder)))

    assert (folder / DATABASE).read_bytes() == before


@pytest.mark.req("REL-06")
@pytest.mark.parametrize("is_damaged", [False, True])
def test_journal_of_a_newer_version_is_left_to_it(folder: Path, *, is_damaged: bool) -> None:
    with_checksums(folder, "PRAGMA user_version=99", "CREATE TABLE news (a)")
    if is_damaged:
        flip(folder / DATABASE, 1_800)
    before = (folder / DATABASE).read_bytes()

    with pytest.raises(JournalFromTheFuture):
        repair(Journal(str(folder)))

    assert (folder / DATABASE).read_bytes() == before


@pytest.mark.req("REL-06")
@pytest.mark.parametrize("kind", ["folder", "fifo", "link"])
def test_what_is_no_file_at_the_journals_place_is_left_alone(folder: Path, kind: str) -> None:
    (folder / DATABASE).unlink()
    {
        "folder": Path.mkdir,
        "fifo": os.mkfifo,
        "link": lambda path: path.symlink_to("/etc/passwd"),
    }[kind](folder / DATABASE)
    before = (folder / DATABASE).lstat().st_mode

    with pytest.raises(NotAJournal):
        repair(Journal(str(folder)))

    assert (folder / DATABASE).lstat().st_mode == before


@pytest.mark.req("REL-06")
def test_nothing_is_repaired_where_nothing_was_recorded(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()

    for name in ("absent", "empty"):
        with pytest.raises(NothingFound):
            repair(Journal(str(tmp_path / name)))


# A mirror that somebody else has had their hands in.


def huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(50 << 30)


ODD: dict[str, Harm] = {
    "link": lambda path: path.symlink_to("/dev/zero"),
    "FIFO": os.mkfifo,
    "folder": Path.mkdir,
    "huge": huge,
    "one long line": lambda path: path.write_bytes(b"x" * 3_000_000),
    "garbage": lambda path: path.write_bytes(random.Random(2).randbytes(300_000)),
}


@pytest.mark.req("REL-06", "SEC-01")
@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize("where", ["mirror", MIRROR])
def test_odd_mirror_is_set_aside_and_written_anew(
    sample: Sample, folder: Path, where: str, kind: str
) -> None:
    path = folder / where
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    ODD[kind](path)

    mended = mend(folder)

    assert facts(folder) == sample.truth
    assert missing(mended) == set()
    journal = Journal(str(folder))
    journal.mirror()  # what has no whole line is no damage: it is written as if it were not there
    lines = [mirror.parse(line) for _, _, line in mirror.lines(str(folder))]
    assert [line["seq"] for line in lines if line] == list(
        range(1, questions.last_seq(journal) + 1)
    )


@pytest.mark.req("REL-06", "SEC-01")
def test_forged_line_is_never_believed_over_what_is_proved(sample: Sample, folder: Path) -> None:
    harm(folder)
    forged = [
        event._replace(payload='{"id":"RD-001","text":"evil"}', hash=bytes(32))
        for event in sample.truth
    ]
    forged += [event._replace(payload='{"text":"evil"}') for event in sample.truth[:10]]
    (folder / MIRROR).write_bytes(b"".join(map(mirror.line_of, [*forged, *sample.truth])))

    mended = mend(folder)

    assert facts(folder) == sample.truth
    assert missing(mended) == set()


@pytest.mark.req("REL-06", "SEC-01")
def test_forged_line_that_fits_no_table_is_left_out(sample: Sample, folder: Path) -> None:
    last = sample.truth[-1]
    forged = last._replace(seq=last.seq + 5, kind="decision.noted", payload='{"id":null}')
    unshaped = last._replace(seq=last.seq + 6, payload="[1]")
    with (folder / MIRROR).open("ab") as file:
        file.write(mirror.line_of(forged) + mirror.line_of(unshaped))

    mend(folder)

    assert [event for event in facts(folder) if "null" in event.payload] == []
    assert facts(folder)[: len(sample.truth)] == sample.truth


# Disks that refuse.


@pytest.mark.req("REL-06", "REL-05")
def test_folder_that_cannot_be_written_is_told_and_nothing_changes(folder: Path) -> None:
    harm(folder)
    before = contents(folder)
    for path in [*folder.rglob("*"), folder]:
        path.chmod(0o500 if path.is_dir() else 0o400)

    answer = subprocess.run(
        [*unprivileged(), sys.executable, "-c", REPAIR, str(folder)],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )

    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o700 if path.is_dir() else 0o600)
    assert JournalUnwritable.__name__ in answer.stderr
    assert contents(folder) == before


@pytest.mark.req("REL-06", "REL-05")
@pytest.mark.parametrize("room", range(1, 30, 4))
def test_full_disk_changes_nothing(
    sample: Sample, folder: Path, monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    """Writes of ours are refused once *room* of them were made; nothing is half done."""
    harm(folder)
    before = contents(folder)
    left = iter(range(room))
    real = os.write

    def write(fd: int, data: bytes) -> int:
        if next(left, None) is None:
            raise OSError(28, "No space left on device")
        return real(fd, data)

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", write)
        try:
            repair(Journal(str(folder)))
            was_full = False
        except DiskFailed:
            was_full = True

    if was_full and not (folder / "damaged").exists():
        kept = {name: data for name, data in contents(folder).items() if name != INDEX}
        assert kept == {name: data for name, data in before.items() if name != INDEX}
    mended = mend(folder)
    assert facts(folder) == sample.truth
    assert mended.missing == []


# The command.


@pytest.fixture
def damaged_repo(repo: Path) -> Path:
    folder = record(repo, "one", "two", "three")
    with_checksums(folder, """UPDATE events SET payload = '{"a":1}' WHERE seq = 2""")
    lines = (folder / MIRROR).read_bytes().splitlines(keepends=True)
    (folder / MIRROR).write_bytes(lines[0] + lines[2])
    return repo


@pytest.mark.req("REL-06")
def test_command_repairs_and_tells_people(damaged_repo: Path) -> None:
    before = fair(call("-C", str(damaged_repo), "journal", "verify"))
    said = done(run("journal", "repair", cwd=damaged_repo))
    again = done(call("-C", str(damaged_repo), "journal", "repair"))
    verified = done(call("-C", str(damaged_repo), "journal", "verify"))

    assert before.status == 1
    assert "Repaired: 2 events kept, 1 lost." in said.out
    assert "event 2" in said.out
    assert ".git/standfast/quarantine/" in said.out
    assert "adopted" in said.out  # `two` still stood in status.md
    assert "nothing to repair" in again.out
    assert "Lost before the last repair: event 2." in verified.out
    assert sorted(decisions(damaged_repo)) == ["one", "three", "two"]


@pytest.mark.req("REL-06")
def test_command_repairs_and_tells_programs(damaged_repo: Path) -> None:
    said = json.loads(done(call("-C", str(damaged_repo), "journal", "repair", "--json")).out)
    again = json.loads(done(call("-C", str(damaged_repo), "journal", "repair", "--json")).out)
    verified = json.loads(done(call("-C", str(damaged_repo), "journal", "verify", "--json")).out)

    assert said["repaired"] is True
    assert said["events"] == 2
    assert said["missing"] == [[2, 2]]
    assert len(said["adopted"]) == 1
    assert Path(said["quarantine"]).is_dir()
    assert again["repaired"] is False
    assert verified["missing"] == [[2, 2]]
    assert verified["ok"] is True


@pytest.mark.req("REL-06")
def test_every_refusal_of_a_damaged_journal_names_the_repair(repo: Path) -> None:
    folder = record(repo, "one")
    (folder / DATABASE).unlink()

    for command in (("note", "more"), ("status",), ("events",)):
        answer = refused(call("-C", str(repo), *command), JournalDamaged)
        assert "standfast journal repair" in answer.err
    verified = fair(call("-C", str(repo), "journal", "verify"))
    assert verified.status == 1
    assert "standfast journal repair" in verified.out
    done(call("-C", str(repo), "journal", "repair"))

    assert decisions(repo) == ["one"]
