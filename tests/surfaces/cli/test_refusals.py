"""What is damaged, foreign, planted or forbidden is refused by name, once, and never believed."""

import errno
import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from zlib import crc32

import apsw
import pytest

from standfast import disk
from standfast.errors.base import Exhausted, JournalUnwritable, UnsafePath
from standfast.journal import mirror, questions
from standfast.journal.author import Author
from standfast.journal.fallback import inbox, spool, strays
from standfast.journal.questions import Filter
from standfast.journal.store import Journal
from standfast.journal.verification import verify

GOOD: Mapping[str, object] = {
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


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    journal = Journal(str(tmp_path / "standfast"))
    journal.append("begin", {})
    return journal


@pytest.fixture
def temporaries(tmp_path: Path) -> list[str]:
    (tmp_path / "tmp").mkdir()
    return [str(tmp_path / "tmp")]


def post(journal: Journal, temporaries: list[str], entry: bytes) -> Path:
    """Plant an entry in the inbox, as anything that runs as this user could."""
    folder = Path(inbox.folder_for(journal.folder, temporaries[0]))
    disk.make_folder(str(folder))
    path = folder / f"{'0' * 16}.json"
    path.write_bytes(entry)
    return path


def good_but(**fields: object) -> bytes:
    return json.dumps({**GOOD, **fields}).encode()


def payloads(journal: Journal, kind: str) -> list[str]:
    return [event.payload for event in questions.events(journal, Filter(kind=kind))]


# The inbox.


def test_inbox_entry_that_is_right_is_taken(journal: Journal, temporaries: list[str]) -> None:
    post(journal, temporaries, good_but())

    strays.merge(journal, temporaries)

    assert [d.text for d in questions.decisions(journal)] == ["t"]
    assert payloads(journal, "stray.refused") == []


@pytest.mark.req("SEC-02")
@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        ("lease.taken", {"name": "l", "holder": "x", "token": 9}),
        ("cell.set", {"key": "k", "value": {}}),
        ("decision.amended", {"id": "RD-001", "text": "other"}),
    ],
)
def test_inbox_takes_nothing_that_would_change_what_is_known(
    journal: Journal, temporaries: list[str], kind: str, payload: dict[str, object]
) -> None:
    post(journal, temporaries, good_but(kind=kind, payload=payload))

    strays.merge(journal, temporaries)

    assert payloads(journal, kind) == []
    (refused,) = payloads(journal, "stray.refused")
    assert "decisions only" in refused


@pytest.mark.req("SEC-02")
@pytest.mark.parametrize("field", ["at", "since_boot"])
@pytest.mark.parametrize("value", [-1, 2**62])
def test_inbox_entry_is_refused_when_a_time_is_out_of_range(
    journal: Journal, temporaries: list[str], field: str, value: int
) -> None:
    post(journal, temporaries, good_but(**{field: value}))

    strays.merge(journal, temporaries)

    assert list(questions.decisions(journal)) == []
    (refused,) = payloads(journal, "stray.refused")
    assert "out of range" in refused


def test_refused_entry_is_told_once_when_it_could_not_be_renamed(
    journal: Journal, temporaries: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = post(journal, temporaries, b"not json")

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "rename", die)
        with pytest.raises(KeyboardInterrupt):
            strays.merge(journal, temporaries)
    left = path.exists()
    strays.merge(journal, temporaries)

    assert left
    assert not path.exists()
    assert len(payloads(journal, "stray.refused")) == 1


@pytest.mark.req("SEC-01")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_inbox_is_left_alone_when_only_its_inner_folder_is_another_users(
    journal: Journal, temporaries: list[str]
) -> None:
    path = post(journal, temporaries, good_but())
    ours = list(inbox.strays(journal.folder, temporaries))
    os.chown(path.parent, os.geteuid() + 1, -1)

    assert len(ours) == 1
    assert list(inbox.strays(journal.folder, temporaries)) == []


@pytest.mark.req("SEC-04")
def test_secret_in_a_refused_stray_is_not_repeated(
    journal: Journal, temporaries: list[str]
) -> None:
    secret = "ghp_" + "Ab3" * 12
    post(journal, temporaries, good_but(actor="../x", payload={"text": f"token {secret}"}))

    strays.merge(journal, temporaries)

    (refused,) = payloads(journal, "stray.refused")
    assert "token" in refused
    assert secret not in refused


# The spool.


def test_slot_is_not_believed_when_one_byte_of_its_body_changed(journal: Journal) -> None:
    spool.keep(journal.folder, "tool.done", {"n": 5})
    path = Path(journal.folder, "spool")
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b'{"n":5}', b'{"n":6}'))

    ((slot, header),) = spool.strays(journal.folder)
    problems = verify(journal).problems
    strays.merge(journal, [])

    assert (slot, header) == (1, whole[spool.SLOT_BYTES : spool.SLOT_BYTES + 16].hex())
    assert problems == ["spool slot 1 does not check"]
    assert payloads(journal, "tool.done") == []
    assert not strays.look(journal, [])


# Folders: links, other people's eyes, no right to write.


@pytest.mark.req("SEC-01")
def test_journal_folder_is_refused_for_writing_and_reading_when_it_is_a_link(
    tmp_path: Path,
) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    link.symlink_to(real)

    disk.refuse_link(str(real))
    with pytest.raises(UnsafePath, match="link"):
        disk.refuse_link(str(link))
    with pytest.raises(UnsafePath, match="link"):
        Journal(str(link)).append("x", {})
    with pytest.raises(UnsafePath, match="link"):
        list(questions.events(Journal(str(link)), Filter()))

    assert list(real.iterdir()) == []


@pytest.mark.req("SEC-06")
def test_journal_folder_becomes_private_when_it_was_open_to_all(tmp_path: Path) -> None:
    folder = tmp_path / "standfast"
    folder.mkdir()
    folder.chmod(0o755)

    Journal(str(folder)).append("x", {})

    assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("code", [errno.EROFS, errno.EACCES, errno.EPERM])
def test_journal_is_unwritable_not_broken_when_its_folder_may_not_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "mkdir", refuse)

    with pytest.raises(JournalUnwritable):
        Journal(str(tmp_path / "standfast")).append("x", {})


@pytest.mark.skipif(os.geteuid() == 0, reason="no mode of a folder stops root")
def test_journal_is_unwritable_when_the_mode_of_the_parent_forbids_it(tmp_path: Path) -> None:
    parent = tmp_path / "closed"
    parent.mkdir(mode=0o500)

    with pytest.raises(JournalUnwritable):
        Journal(str(parent / "standfast")).append("x", {})


# Verify, naming each damage.


@pytest.fixture
def segment(journal: Journal) -> Path:
    """The mirror of five events."""
    for number in range(4):
        journal.append("x", {"n": number})
    journal.close()
    (path,) = mirror.segments(journal.folder)
    return Path(path)


def replace_third(segment: Path, third: bytes) -> None:
    lines = segment.read_bytes().splitlines(keepends=True)
    segment.write_bytes(b"".join([*lines[:2], third, *lines[3:]]))


def test_flipped_line_of_the_mirror_is_named_as_damaged(journal: Journal, segment: Path) -> None:
    third = segment.read_bytes().splitlines(keepends=True)[2]
    replace_third(segment, third.replace(b'"n":1', b'"n":9'))

    problems = verify(Journal(journal.folder)).problems

    assert "mirror 000000000001.jsonl:3 is damaged" in problems


def test_line_of_the_mirror_with_a_right_sum_and_another_hash_is_named_as_different(
    journal: Journal, segment: Path
) -> None:
    third = segment.read_bytes().splitlines(keepends=True)[2]
    body = third.rpartition(b',"crc":"')[0].replace(b'"hash":"', b'"hash":"00')
    replace_third(segment, body + b',"crc":"%08x"}\n' % crc32(body))

    problems = verify(Journal(journal.folder)).problems

    assert problems == ["mirror 000000000001.jsonl:3 and event 3 differ"]


def test_page_that_no_table_uses_is_named(journal: Journal) -> None:
    with journal.writing() as tx:
        tx.execute("CREATE TABLE other (a TEXT)")
    journal.connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
    journal.connection.execute("PRAGMA writable_schema=ON").fetchall()
    journal.connection.execute("DELETE FROM sqlite_schema WHERE name='other'").fetchall()
    journal.close()

    problems = verify(Journal(journal.folder)).problems

    assert any("never used" in problem for problem in problems)


def set_sql(journal: Journal, index: str, sql: str) -> None:
    """Change what the schema says of *index*, behind SQLite's back; holds from the next opening."""
    journal.connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
    journal.connection.execute("PRAGMA writable_schema=ON").fetchall()
    change = "UPDATE sqlite_schema SET sql = ? WHERE name = ?"
    journal.connection.execute(change, (sql, index)).fetchall()
    journal.close()


def test_index_that_lost_a_row_is_named(journal: Journal) -> None:
    journal.append("x", {}, Author(session="s"))
    ask = "SELECT sql FROM sqlite_schema WHERE name = 'events_by_stream'"
    ((sql,),) = journal.query(ask)
    set_sql(journal, "events_by_stream", f"{sql} WHERE seq < 0")
    with journal.writing() as tx:  # in the table alone: as many rows in both, but not the same
        tx.execute("UPDATE events SET stream = 'session:t' WHERE seq = 2")
    set_sql(journal, "events_by_stream", str(sql))

    problems = verify(Journal(journal.folder)).problems

    assert "database page: row 2 missing from index events_by_stream" in problems


def test_event_that_was_moved_to_another_stream_is_named(journal: Journal) -> None:
    journal.append("x", {}, Author(session="s"))
    with journal.writing() as tx:
        tx.execute("UPDATE events SET stream = 'session:t' WHERE seq = 2")

    problems = verify(journal).problems

    assert problems == ["event 2 is not what was recorded: its hash does not match"]


# What the system has no room for is no bug.


SCARCE = """
import resource, sys
from standfast.surfaces.cli.entry import main
main(["plan", "check", sys.argv[1]])
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + 500_000
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
sys.exit(main(["plan", "check", sys.argv[2]]))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only there memory is limited like this")
def test_lack_of_memory_is_told_as_such_and_as_no_bug(repo: Path, tmp_path: Path) -> None:
    small, large = tmp_path / "small.yaml", tmp_path / "large.yaml"
    small.write_text("lanes: {a: Do it.}\n", encoding="utf-8")
    large.write_bytes(b"# " + b"x" * 1_900_000 + b"\nlanes: {a: Do it.}\n")
    argv = [sys.executable, "-c", SCARCE, str(small), str(large)]
    said = subprocess.run(argv, cwd=repo, capture_output=True, encoding="utf-8", check=False)
    assert said.returncode == Exhausted.exit_status, said
    assert "the system gave no more" in said.stderr
    assert "bug" not in said.stderr


def test_lack_of_threads_is_told_as_such() -> None:
    before = threading.stack_size(1 << 46)  # more than there can be
    try:
        with pytest.raises(RuntimeError) as refused:
            threading.Thread(target=print).start()
    finally:
        threading.stack_size(before)
    told = Exhausted.of(refused.value)
    assert told is not None
    assert "threads" in told.problem
