"""Checkpoints in the journal: upserts by key, every write kept, latest by sequence."""

import itertools
import json
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from multiprocessing import get_context
from pathlib import Path

import pytest

import ratios
from places import ROOT
from standfast import clock
from standfast.app import faces
from standfast.errors.base import BadName, MoveRefused
from standfast.faces import publish
from standfast.faces.face import Face
from standfast.journal.author import Author
from standfast.journal.store import Journal
from standfast.journal.verification import verify
from standfast.protocols.checkpoints.files import checkpoints_json
from standfast.protocols.checkpoints.records import checkpoint_records
from standfast.protocols.checkpoints.rules.checkpoint import Record

WRITERS, EACH = 8, 500
BUILD = ROOT / "build"


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return str(tmp_path / "journal")


@pytest.fixture
def journal(folder: str) -> Iterator[Journal]:
    opened = Journal(folder)
    yield opened
    opened.close()


def record(**other: object) -> Record:
    said: dict[str, object] = {
        "run_id": "r1",
        "phase": "P1",
        "lane": "SL-1",
        "stage": "before_lane_start",
        "status": "ready",
        "base_branch": "main",
        "worktree_path": "/trees/P1/SL-1",
        "log_path": "/logs/P1/SL-1.jsonl",
        "timestamp": "2026-01-02T03:04:05Z",
        "notes": "a note of some length, as one finds them",
        **other,
    }
    return said  # type: ignore[return-value]


def write(journal: Journal, **other: object) -> str:
    with journal.writing() as tx:
        return checkpoint_records.upsert(tx, record(**other))


def ids(journal: Journal, **wanted: str) -> list[str]:
    return [kept.id for kept in checkpoint_records.current(journal, **wanted)]


@pytest.mark.req("CKP-01")
def test_record_of_the_same_key_is_replaced_and_the_others_stay(journal: Journal) -> None:
    write(journal)
    write(journal, lane="SL-2")
    write(journal, stage="after_lane_start", status="in_progress")
    write(journal, notes="again")

    assert ids(journal) == ["CP-002", "CP-003", "CP-004"]
    assert checkpoint_records.current(journal)[-1].record["notes"] == "again"
    journal.mirror()
    assert verify(journal).problems == [], "folding the events again gives the same records"


@pytest.mark.req("CKP-01")
def test_every_write_stays_in_the_history(journal: Journal) -> None:
    for number in range(1, 4):
        write(journal, stage="retry_attempt", status="retrying", retry_attempt=number)
    write(journal, lane="SL-2")

    every = checkpoint_records.history(journal, "r1")

    assert [kept.id for kept in every] == ["CP-001", "CP-002", "CP-003", "CP-004"]
    assert [kept.record.get("retry_attempt") for kept in every] == [1, 2, 3, None]
    found = checkpoint_records.find(journal, "CP-002")
    assert found == every[1]
    assert checkpoint_records.find(journal, "CP-009") is None


def test_latest_is_told_by_sequence_whatever_the_clock_says(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(journal, timestamp="2030-01-01T00:00:00Z")
    monkeypatch.setattr(clock, "now_us", lambda: 1_000_000)  # back to 1970
    write(journal, stage="after_lane_start", status="in_progress")
    write(journal, stage="after_lane_tests", status="failed")

    newest = checkpoint_records.latest(journal, "r1", "P1", "SL-1")

    assert newest is not None
    assert newest.key.stage == "after_lane_tests"
    assert checkpoint_records.latest(journal, "r1", "P1", "SL-9") is None


def test_latest_is_of_its_run_phase_and_lane(journal: Journal) -> None:
    write(journal, run_id="r1")
    write(journal, run_id="r10")
    write(journal, run_id="r1", lane="-")
    write(journal, run_id="r1", phase="P2")

    assert ids(journal, run_id="r1") == ["CP-001", "CP-003", "CP-004"]
    assert ids(journal, run_id="r1", phase="P1", lane="-") == ["CP-003"]
    assert ids(journal, lane="SL-1") == ["CP-001", "CP-002", "CP-004"]


@pytest.mark.req("CKP-13")
def test_move_that_does_not_follow_leaves_no_trace(journal: Journal) -> None:
    write(journal, stage="pre_pr", status="ready")
    write(journal, stage="pre_pr", status="complete")
    before = journal.query("SELECT count(*) FROM events")

    with pytest.raises(MoveRefused, match="is `complete` and may become complete, rolled_back"):
        write(journal, stage="pre_pr", status="ready")

    assert journal.query("SELECT count(*) FROM events") == before
    assert write(journal, stage="pre_pr", status="rolled_back") == "CP-003", "no number was used up"


@pytest.mark.req("CKP-12")
def test_event_belongs_to_its_run_whoever_writes_it(journal: Journal) -> None:
    with journal.writing() as tx:
        checkpoint_records.upsert(tx, record(), Author("claude", session="s1"))

    assert journal.query("SELECT stream, run, session, actor FROM events") == [
        ("run:r1", "r1", "s1", "claude")
    ]


def test_key_that_looks_like_a_secret_is_refused(journal: Journal) -> None:
    with pytest.raises(BadName, match="looks like a secret"):
        write(journal, lane="ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8")


def test_secret_in_the_notes_is_not_kept(journal: Journal) -> None:
    secret = "sk-ant-api03-" + "Ab1" * 30
    write(journal, notes=f"ran with {secret}")

    assert secret not in str(journal.query("SELECT payload FROM events"))
    assert secret not in str(checkpoint_records.texts(journal))


# Many writers.


def keep_writing(folder: str, number: int) -> None:
    journal = Journal(folder)
    for turn in range(EACH):
        write(journal, run_id=f"run-{number}", lane=f"SL-{turn}")
    journal.close()


@pytest.mark.req("CKP-01")
@pytest.mark.prove
def test_eight_writers_of_five_hundred_lose_nothing(folder: str, tmp_path: Path) -> None:
    started = get_context("fork")
    workers = [
        started.Process(target=keep_writing, args=(folder, number)) for number in range(WRITERS)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    journal = Journal(folder)
    renders: list[int] = []

    face = counted(tmp_path, renders)
    publish.keep(journal, face)

    kept = checkpoint_records.current(journal)
    shown = json.loads(Path(face.path).read_bytes())
    wanted = {(f"run-{n}", f"SL-{t}") for n in range(WRITERS) for t in range(EACH)}
    assert [worker.exitcode for worker in workers] == [0] * WRITERS
    assert {(each.key.run_id, each.key.lane) for each in kept} == wanted
    assert {(each["run_id"], each["lane"]) for each in shown} == wanted
    assert len(kept) == len(shown) == WRITERS * EACH
    assert sorted(int(each.id[3:]) for each in kept) == list(range(1, WRITERS * EACH + 1))
    assert len(renders) == 1, "one render for 4,000 pending events"
    journal.close()


def write_until_killed(folder: str, number: int) -> None:
    journal = Journal(folder)
    for turn in range(10**9):
        write(journal, run_id=f"run-{number}", lane=f"SL-{turn}")
        with open(os.path.join(folder, f"told-{number}"), "a", encoding="utf-8") as file:
            file.write(f"{turn}\n")


@pytest.mark.prove
def test_killed_writers_lose_nothing_that_they_told(folder: str) -> None:
    Journal(folder).append("begun", {})
    started = get_context("fork")
    workers = [started.Process(target=write_until_killed, args=(folder, n)) for n in range(4)]
    for worker in workers:
        worker.start()
    told = [Path(folder) / f"told-{number}" for number in range(4)]
    while not all(path.exists() and path.read_bytes().count(b"\n") > 20 for path in told):
        assert all(worker.is_alive() for worker in workers)
    for worker in workers:
        os.kill(worker.pid or 0, signal.SIGKILL)
        worker.join()

    kept = {
        (each.key.run_id, each.key.lane) for each in checkpoint_records.current(Journal(folder))
    }

    for number, path in enumerate(told):
        for turn in path.read_text(encoding="utf-8").split("\n")[:-1]:
            assert (f"run-{number}", f"SL-{turn}") in kept


# What it costs.


def counted(root: Path, renders: list[int]) -> Face:
    face = checkpoints_json.face(
        name=faces.CHECKPOINTS, root=str(root), relative="checkpoints.json", in_git=False
    )

    def render(journal: Journal, data: bytes | None) -> bytes:
        renders.append(1)
        return face.render(journal, data)

    return face._replace(render=render)


@pytest.mark.req("CKP-01")
def test_burst_of_writes_is_rendered_once(journal: Journal, tmp_path: Path) -> None:
    renders: list[int] = []
    face = counted(tmp_path, renders)
    for lane in range(200):
        write(journal, lane=f"SL-{lane}")

    outcome = publish.keep(journal, face)

    assert outcome.written
    assert len(renders) == 1
    assert len(json.loads(Path(face.path).read_bytes())) == 200


def filled(folder: Path, records: int) -> Journal:
    journal = Journal(str(folder))
    with journal.writing() as tx:
        for number in range(records):
            checkpoint_records.upsert(tx, record(run_id=f"run-{number % 100}", lane=f"SL-{number}"))
    return journal


@pytest.fixture
def real_disk() -> Iterator[Path]:
    BUILD.mkdir(exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix="checkpoints-", dir=BUILD))
    yield made
    shutil.rmtree(made)


@pytest.mark.ratio
@pytest.mark.prove
def test_upsert_at_ten_thousand_records_costs_what_it_costs_at_a_hundred(real_disk: Path) -> None:
    small, large = filled(real_disk / "small", 100), filled(real_disk / "large", 10_000)

    def upserts(journal: Journal) -> ratios.Act:
        lanes = itertools.cycle(range(80))
        return lambda: write(journal, run_id="run-7", lane=f"SL-{next(lanes)}07")

    best = ratios.decile(upserts(large), upserts(small), bound=2)

    assert len(checkpoint_records.current(large)) >= 10_000
    assert best <= 2, f"{best:.2f} times"
    small.close()
    large.close()
