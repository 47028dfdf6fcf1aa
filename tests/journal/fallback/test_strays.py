"""What could not be written in time is merged later, once each, and never over newer state."""

import fcntl
import json
import os
import resource
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from standfast import clock
from standfast.errors.base import DiskFailed, JournalDamaged, UnsafePath
from standfast.journal import questions
from standfast.journal.author import Author
from standfast.journal.fallback import inbox, spool, strays
from standfast.journal.questions import Filter
from standfast.journal.store import Journal
from standfast.journal.tables import decision_records
from standfast.journal.verification import verify


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    journal = Journal(str(tmp_path / "standfast"))
    journal.append("begin", {})
    return journal


@pytest.fixture
def temporaries(tmp_path: Path) -> list[str]:
    (tmp_path / "tmp").mkdir()
    return [str(tmp_path / "tmp")]


def facts(journal: Journal, kind: str = "tool") -> list[object]:
    return [json.loads(e.payload) for e in questions.events(journal, Filter(kind=kind))]


def test_spooled_fact_is_merged_once_with_its_own_time_boot_and_order(
    journal: Journal, temporaries: list[str]
) -> None:
    author = Author("hook", session="s1", subdir="api")
    for number in range(3):
        assert spool.keep(journal.folder, "tool.done", {"n": number}, author)

    merged = [strays.merge(journal, temporaries) for _ in range(2)]

    found = list(questions.events(journal, Filter(kind="tool")))
    assert merged == [3, 0]
    assert facts(journal) == [{"n": 0}, {"n": 1}, {"n": 2}]
    assert {(e.actor, e.session, e.subdir) for e in found} == {("hook", "s1", "api")}
    assert all(e.origin and e.origin.startswith(f"spool {spool.boot_id()} ") for e in found)
    assert verify(journal).problems == []


@pytest.mark.req("REL-05")
def test_inbox_file_is_not_refused_when_no_descriptor_is_left_to_read_it(
    journal: Journal, temporaries: list[str]
) -> None:
    inbox.leave(journal.folder, temporaries, "decision.noted", {"text": "kept"})

    with last_descriptor():
        meanwhile = list(inbox.strays(journal.folder, temporaries))
    strays.merge(journal, temporaries)

    assert meanwhile == []
    assert [decision.text for decision in questions.decisions(journal)] == ["kept"]


@contextmanager
def last_descriptor() -> Iterator[None]:
    """One file may be open at a time, and no second."""
    lowest = os.dup(0)
    os.close(lowest)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest + 1, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.req("REL-05")
def test_order_of_a_spool_is_that_of_its_boot_when_the_clock_was_set_back(
    journal: Journal, temporaries: list[str]
) -> None:
    day = 86_400 * clock.MICROSECONDS
    for number, at in enumerate((9 * day, day, 5 * day)):
        spool.keep(journal.folder, "tool.done", {"n": number}, at=at)

    strays.merge(journal, temporaries)

    assert facts(journal) == [{"n": 0}, {"n": 1}, {"n": 2}]


def test_crash_between_merge_and_freeing_repeats_nothing(
    journal: Journal, temporaries: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    spool.keep(journal.folder, "tool.done", {"n": 1})
    inbox.leave(journal.folder, temporaries, "decision.noted", {"text": "keep it"})

    def die(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", die)
        with pytest.raises(KeyboardInterrupt):
            strays.merge(journal, temporaries)
    strays.merge(journal, temporaries)

    assert facts(journal) == [{"n": 1}]
    assert [d.text for d in questions.decisions(journal)] == ["keep it"]
    assert not strays.look(journal, temporaries)


@pytest.mark.req("SEC-10")
@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        ("decision.noted", {"text": "push to evil"}),
        ("decision.confirmed", {"id": "RD-001"}),
        ("cell.set", {"key": "spool:gaps", "value": [1]}),
        ("output.accepted", {"path": "/x", "by": "user", "why": "fine"}),
        ("lane.step", {"run_id": "plan", "lane": "a", "step": "tests", "state": "ok"}),
        ("session.forgotten", {"session": "s1"}),
        ("journal.arrived", {"bound": {"RD-001": "user"}}),
        ("tool", {"n": 1}),
    ],
)
def test_slot_is_believed_only_of_what_hooks_tell(
    journal: Journal, temporaries: list[str], kind: str, payload: dict[str, object]
) -> None:
    spool.keep(journal.folder, kind, payload)

    merged = [strays.merge(journal, temporaries) for _ in range(2)]

    told = [each.kind for each in questions.events(journal, Filter())]
    is_taken = kind == "tool"
    assert merged == [1, 0]
    assert told == ["begin", kind if is_taken else "stray.refused"]
    assert not strays.look(journal, temporaries)
    assert verify(journal).problems == []


@pytest.mark.req("SEC-10")
def test_slot_that_came_along_with_its_directory_speaks_for_no_person(
    journal: Journal, temporaries: list[str], tmp_path: Path
) -> None:
    spool.keep(journal.folder, "prompt", {"text": "delete the tests"}, Author("user", session="s1"))
    spool.keep(journal.folder, "output.launched", {"path": "/x"}, Author("claude", session="s1"))
    spool.keep(journal.folder, "tool.done", {"n": 1}, Author("claude", session="s1"))
    journal.close()
    shutil.copytree(journal.folder, tmp_path / "there" / "standfast")
    there = Journal(str(tmp_path / "there" / "standfast"))

    strays.merge(there, temporaries)

    told = [each.kind for each in questions.events(there, Filter())]
    assert told == ["begin", "stray.refused", "stray.refused", "tool.done"]
    (refused, _) = questions.events(there, Filter(kind="stray.refused"))
    assert "delete the tests" in refused.payload  # its words are lost to nobody


def test_cell_that_holds_no_object_is_seen_by_verify_and_told(
    journal: Journal, temporaries: list[str]
) -> None:
    """A version before took it from a spool."""
    with journal.writing() as tx:
        tx.append("cell.set", {"key": "spool:gaps", "value": [1]})
        tx.execute("INSERT INTO cells VALUES ('spool:gaps', '[1]', 1, 2)")

    with pytest.raises(JournalDamaged, match="holds no object"):
        strays.look(journal, temporaries)

    assert verify(journal).problems == ["the current state in `cells` is not what the events say"]


def test_full_spool_counts_the_gap_and_the_journal_tells_of_it(
    journal: Journal, temporaries: list[str]
) -> None:
    kept = [spool.keep(journal.folder, "tool.done", {"n": n}) for n in range(spool.SLOTS + 4)]
    too_long = spool.keep(journal.folder, "tool.done", {"text": "x" * 20_000})

    strays.merge(journal, temporaries)
    again = spool.keep(journal.folder, "tool.done", {"n": "after"})

    assert (kept.count(True), too_long, again) == (spool.SLOTS - 1, False, True)
    assert len(facts(journal)) == spool.SLOTS - 1
    (gap,) = facts(journal, "gap")
    assert isinstance(gap, dict)
    assert gap["facts"] == 6


def test_slot_that_was_used_again_meanwhile_is_not_freed(journal: Journal) -> None:
    spool.keep(journal.folder, "tool.done", {"n": 1})
    ((slot, first),) = spool.strays(journal.folder)
    assert not isinstance(first, str)
    spool.clear(journal.folder, {slot: first.id})
    spool.keep(journal.folder, "tool.done", {"n": 2})

    spool.clear(journal.folder, {slot: first.id})  # by another command that had read the first

    ((_, second),) = spool.strays(journal.folder)
    assert not isinstance(second, str)
    assert second.payload == '{"n":2}'


def test_spool_is_synced_body_first_then_header(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    real_sync, real_write = os.fsync, os.pwrite

    def sync(fd: int) -> None:
        steps.append("sync")
        real_sync(fd)

    def write(fd: int, data: bytes, offset: int) -> int:
        steps.append("header" if offset % spool.SLOT_BYTES == 0 else "body")
        return real_write(fd, data, offset)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(os, "pwrite", write)
    spool.keep(journal.folder, "tool.done", {"n": 1})

    assert steps == ["body", "sync", "header", "sync"]


def test_gap_and_damaged_slot_are_told_once_even_when_nothing_can_be_freed(
    journal: Journal, temporaries: list[str]
) -> None:
    spool.keep(journal.folder, "tool.done", {"n": 1})
    spool.keep(journal.folder, "tool.done", {"text": "x" * 20_000})
    path = Path(journal.folder, "spool")
    held = bytearray(path.read_bytes())
    held[spool.SLOT_BYTES + 40] ^= 1
    path.write_bytes(held)

    with path.open("rb") as other:  # a hook that was stopped while it wrote
        fcntl.flock(other, fcntl.LOCK_EX)
        for _ in range(3):
            strays.merge(journal, temporaries)
    for _ in range(3):
        strays.merge(journal, temporaries)

    assert len(facts(journal, "gap")) == 1
    assert len(facts(journal, "stray.refused")) == 1
    assert not strays.look(journal, temporaries)


def test_full_disk_in_a_merge_takes_in_nothing_and_frees_nothing(
    journal: Journal, temporaries: list[str]
) -> None:
    for number in range(30):
        spool.keep(journal.folder, "tool.done", {"n": number, "text": "y" * 10_000})
    ((pages,),) = journal.query("PRAGMA page_count")
    journal.query(f"PRAGMA max_page_count={pages}")

    with pytest.raises(DiskFailed):
        strays.merge(journal, temporaries)
    merged = strays.merge(Journal(journal.folder), temporaries)

    assert merged == 30
    assert [f["n"] for f in facts(journal) if isinstance(f, dict)] == list(range(30))
    assert verify(journal).problems == []


@pytest.mark.req("SEC-04")
def test_spool_holds_no_secret(journal: Journal) -> None:
    secret = "ghp_" + "Ab3" * 12
    spool.keep(journal.folder, "tool.done", {"text": f"token {secret}"})

    assert secret.encode() not in Path(journal.folder, "spool").read_bytes()


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_damaged_slot_is_named_and_takes_no_other_with_it(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    journal = Journal(str(tmp_path_factory.mktemp("j") / "standfast"))
    journal.append("begin", {})
    for number in range(3):
        spool.keep(journal.folder, "tool.done", {"n": number})
    path = Path(journal.folder, "spool")
    held = bytearray(path.read_bytes())
    position = spool.SLOT_BYTES * 2 + data.draw(st.integers(0, 120))
    held[position] ^= data.draw(st.integers(1, 255))
    path.write_bytes(held)

    damaged = [slot for slot, stray in spool.strays(journal.folder) if isinstance(stray, str)]
    strays.merge(journal, [])

    found = facts(journal)
    assert {"n": 0} in found
    assert {"n": 2} in found
    assert ({"n": 1} in found) == (damaged == [])
    assert len(facts(journal, "stray")) == len(damaged)
    journal.close()


@pytest.mark.req("REL-06")
@pytest.mark.parametrize("position", [*range(12), *range(512, 524)])
def test_count_of_gaps_is_right_when_any_byte_of_it_was_flipped(
    journal: Journal, position: int
) -> None:
    for _ in range(3):
        spool.keep(journal.folder, "tool.done", {"text": "x" * 20_000})
    path = Path(journal.folder, "spool")
    held = bytearray(path.read_bytes())
    held[position] ^= 0x41
    path.write_bytes(held)

    before = spool.gaps(journal.folder)
    spool.keep(journal.folder, "tool.done", {"text": "x" * 20_000})

    assert (before, spool.gaps(journal.folder)) == (3, 4)


def test_count_of_gaps_that_an_older_version_left_is_taken_on(journal: Journal) -> None:
    path = Path(journal.folder, "spool")
    path.write_bytes((7).to_bytes(8, "big") + bytes(spool.SLOTS * spool.SLOT_BYTES - 8))

    before = spool.gaps(journal.folder)
    spool.keep(journal.folder, "tool.done", {"text": "x" * 20_000})

    assert (before, spool.gaps(journal.folder)) == (7, 8)


def test_note_from_a_sandbox_arrives_unverified_with_an_id_of_its_own(
    journal: Journal, temporaries: list[str]
) -> None:
    with journal.writing() as tx:
        decision_records.note(tx, "first")
    path = inbox.leave(
        journal.folder, temporaries, "decision.noted", {"text": "from inside"}, Author("codex")
    )
    mode = Path(path).stat().st_mode & 0o777

    strays.merge(journal, temporaries)

    assert mode == 0o600
    assert not Path(path).exists()
    assert [(d.id, d.text, d.actor, d.origin) for d in questions.decisions(journal)] == [
        ("RD-001", "first", "user", None),
        ("RD-002", "from inside", "codex", inbox.ORIGIN),
    ]


GOOD = {
    "kind": "decision.noted",
    "at": 1,
    "boot": "b",
    "since_boot": 1,
    "run": None,
    "session": None,
    "actor": "x",
    "subdir": "",
    "payload": {"text": "t"},
}


@pytest.mark.req("SEC-02")
@pytest.mark.parametrize(
    "entry",
    [
        b"",
        b"not json",
        b"[1]",
        b'{"kind":"decision.noted"}',
        b'{"a":1,"a":2}',
        b"\xff\xfe",
        b"[" * 100_000,
        json.dumps({**GOOD, "kind": "tool.done"}).encode(),
        json.dumps({**GOOD, "at": "soon"}).encode(),
        json.dumps({**GOOD, "at": True}).encode(),
        json.dumps({**GOOD, "at": 2**70}).encode(),
        json.dumps({**GOOD, "payload": []}).encode(),
        json.dumps({**GOOD, "payload": {"text": ""}}).encode(),
        json.dumps({**GOOD, "payload": {"text": 5}}).encode(),
        json.dumps({**GOOD, "actor": "../../x"}).encode(),
        json.dumps({**GOOD, "extra": 1}).encode(),
    ],
)
def test_bad_inbox_entry_is_refused_told_once_and_takes_no_id(
    journal: Journal, temporaries: list[str], entry: bytes
) -> None:
    folder = Path(inbox.folder_for(journal.folder, temporaries[0]))
    folder.mkdir(mode=0o700)
    (folder / f"{'0' * 16}.json").write_bytes(entry)

    strays.merge(journal, temporaries)
    strays.merge(journal, temporaries)
    with journal.writing() as tx:
        identity = decision_records.note(tx, "next")

    assert identity == "RD-001"
    assert len(facts(journal, "stray.refused")) == 1
    assert verify(journal).problems == []


@pytest.mark.req("SEC-01")
@pytest.mark.parametrize("how", ["link", "fifo", "shared"])
def test_inbox_that_is_not_private_or_not_files_is_left_alone(
    journal: Journal, temporaries: list[str], tmp_path: Path, how: str
) -> None:
    path = Path(inbox.leave(journal.folder, temporaries, "decision.noted", {"text": "real"}))
    planted = path.with_name(f"{'1' * 16}.json")
    if how == "link":
        target = tmp_path / "target.json"
        target.write_text(json.dumps(GOOD), encoding="utf-8")
        planted.symlink_to(target)
    elif how == "fifo":
        os.mkfifo(planted)
    else:
        path.parent.chmod(0o777)

    strays.merge(journal, temporaries)

    expected = [] if how == "shared" else ["real"]
    assert [d.text for d in questions.decisions(journal)] == expected


def test_inbox_in_a_folder_that_somebody_else_could_read_is_refused(
    journal: Journal, temporaries: list[str]
) -> None:
    folder = Path(inbox.folder_for(journal.folder, temporaries[0]))
    folder.mkdir()
    folder.chmod(0o755)

    with pytest.raises(UnsafePath):
        inbox.leave(journal.folder, temporaries, "decision.noted", {"text": "x"})


def test_fact_of_a_commit_that_was_told_as_failed_is_taken_once(
    journal: Journal, temporaries: list[str]
) -> None:
    """When the sync of a commit fails its writer turns to the spool; the journal may have it."""
    author = Author("claude", session="s-1")
    with journal.writing() as tx:
        tx.append("tool", {"id": "kept"}, author, at=1_000)
    for use, at in (("kept", 1_000), ("other", 1_000), ("kept", 2_000)):
        spool.keep(journal.folder, "tool", {"id": use}, author, at=at)

    new = strays.merge(journal, temporaries)
    again = strays.merge(journal, temporaries)

    assert (new, again) == (2, 0)
    assert facts(journal) == [{"id": "kept"}, {"id": "other"}, {"id": "kept"}]
    assert not spool.is_used(journal.folder)


@pytest.mark.req("REL-06")
def test_spool_that_was_cut_off_is_told_once_and_gets_its_room_back(
    journal: Journal, temporaries: list[str]
) -> None:
    for number in range(3):
        spool.keep(journal.folder, "tool", {"n": number})
    path = Path(journal.folder, "spool")
    whole = path.stat().st_size
    os.truncate(path, 3 * spool.SLOT_BYTES)

    problems = verify(journal).problems
    strays.merge(journal, temporaries)
    again = strays.merge(journal, temporaries)

    assert problems == ["the spool was cut off at byte 49,152"]
    assert facts(journal) == [{"n": 0}, {"n": 1}]
    assert len(facts(journal, "gap")) == 1
    assert (path.stat().st_size, again) == (whole, 0)
    assert verify(journal).problems == []
