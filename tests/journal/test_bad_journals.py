"""Whatever becomes of the journal's folder, no answer is wrong, nothing hangs, nothing is lost.

A damaged journal is named as damaged; what belongs to somebody else is left as it is; what was
acknowledged is there again as soon as the disk lets it. Nothing is written outside the folder.
"""

import fcntl
import json
import os
import random
import shutil
import socket
import sqlite3
import subprocess
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from attacks import (
    DONE,
    STANDFAST,
    TIMEOUT_S,
    Answer,
    call,
    decisions,
    done,
    fair,
    forget,
    record,
    refused,
    run,
    unprivileged,
    with_mounts,
)
from standfast.errors.base import (
    DiskFailed,
    JournalDamaged,
    JournalFromTheFuture,
    JournalUnreadable,
    NotAJournal,
    UnsafePath,
)
from standfast.journal import database, id_file, journal_file
from standfast.journal.author import Author
from standfast.journal.fallback import spool
from standfast.journal.store import Journal
from standfast.journal.tables import decision_records as deciding

COMMANDS = (("status",), ("note", "more"), ("events",), ("journal", "verify"), ("doctor",))


def every_command(repo: Path) -> list[Answer]:
    """One in a process of its own, where a hang is found out; then all of them."""
    fair(run("note", "in a process", cwd=repo))
    return [fair(call("-C", str(repo), *command)) for command in COMMANDS]


# The folder itself.


@pytest.mark.req("SEC-01")
@pytest.mark.parametrize("target", ["a folder", "an older journal", "nothing"])
def test_journal_folder_is_refused_when_it_is_a_link(
    repo: Path, tmp_path: Path, target: str
) -> None:
    outside = tmp_path / "outside"
    if target == "an older journal":
        record(repo, "kept").rename(outside)
    elif target == "a folder":
        outside.mkdir()
    (repo / ".git" / "standfast").symlink_to(outside)
    before = sorted(outside.rglob("*"))

    refused(run("note", "words", cwd=repo), UnsafePath)
    for command in COMMANDS:
        fair(call("-C", str(repo), *command))

    assert sorted(outside.rglob("*")) == before
    assert outside.exists() == (target != "nothing")


@pytest.mark.req("SEC-01")
@pytest.mark.parametrize("kind", ["file", "fifo", "socket", "device"])
def test_journal_folder_is_refused_when_it_is_no_folder(repo: Path, kind: str) -> None:
    folder = repo / ".git" / "standfast"
    match kind:
        case "file":
            folder.write_bytes(b"mine")
        case "fifo":
            os.mkfifo(folder)
        case "socket":
            listen_at(folder)
        case "device":
            folder.symlink_to("/dev/null")

    answers = every_command(repo)

    assert answers[1].code == UnsafePath.code
    assert not folder.is_dir()
    if kind == "file":
        assert folder.read_bytes() == b"mine"


def listen_at(path: Path) -> None:
    here = os.getcwd()
    os.chdir(path.parent)  # the path of a socket has about 100 bytes
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(here)


@pytest.mark.req("PLAT-03")
def test_journal_outside_git_works_when_the_home_is_behind_a_link(
    tmp_path: Path, world: Path
) -> None:
    (world / "link").symlink_to(world / "home")
    work = tmp_path / "work"
    work.mkdir()
    env = {"HOME": str(world / "link"), "XDG_STATE_HOME": str(world / "link" / "state")}

    said = done(run("note", "kept", cwd=work, env=env))
    told = done(run("status", cwd=work, env=env))

    assert said.out == "Recorded RD-001\n"
    assert "kept" in told.out


# What stands where the database belongs.


def plain_database(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path)
    for statement in ("CREATE TABLE mine (a)", "INSERT INTO mine VALUES (1)", *statements):
        connection.execute(statement)
    connection.commit()
    connection.close()


def with_version(path: Path) -> None:
    plain_database(path, "PRAGMA user_version=70")


def with_log(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("CREATE TABLE mine (a)")
    connection.commit()
    connection.close()


IMPOSTORS: dict[str, Callable[[Path], object]] = {
    "a text": lambda path: path.write_bytes(b"not a database\n" * 1_000),
    "a short text": lambda path: path.write_bytes(b"hello"),
    "zeros": lambda path: path.write_bytes(bytes(8_192)),
    "a folder": Path.mkdir,
    "a FIFO": os.mkfifo,
    "a socket": listen_at,
    "a link": lambda path: path.symlink_to("/etc/passwd"),
    "a link to nowhere": lambda path: path.symlink_to("/no/such/file"),
    "another program's database": plain_database,
    "another program's, with a version": with_version,
    "another program's, with a log": with_log,
}


@pytest.mark.sweep(4)
@pytest.mark.req("SEC-01")
@pytest.mark.parametrize("kind", IMPOSTORS)
def test_file_at_the_journals_place_is_left_alone_when_it_is_something_else(
    repo: Path, kind: str
) -> None:
    folder = repo / ".git" / "standfast"
    folder.mkdir(mode=0o700)
    path = folder / "journal.db"
    IMPOSTORS[kind](path)
    before = path.read_bytes() if path.is_file() else path.lstat().st_mode

    answers = every_command(repo)

    assert answers[1].code == NotAJournal.code, answers[1]
    assert answers[2].code == NotAJournal.code, answers[2]
    assert (path.read_bytes() if path.is_file() else path.lstat().st_mode) == before


@pytest.mark.req("PLAT-01")
def test_journal_is_left_alone_when_a_newer_standfast_made_it(repo: Path) -> None:
    folder = record(repo, "kept")
    change(folder, "PRAGMA user_version=99")
    before = (folder / "journal.db").read_bytes()

    answers = every_command(repo)

    assert {answer.code for answer in answers[1:4]} == {JournalFromTheFuture.code}
    assert (folder / "journal.db").read_bytes() == before


def change(folder: Path, *statements: str) -> None:
    """Somebody else's hand in the database, its page checksums in order."""
    connection = database.connect(str(folder / "journal.db"))
    for statement in (*statements, "PRAGMA wal_checkpoint(TRUNCATE)"):
        connection.execute(statement).fetchall()
    connection.close()


TAMPERED = {
    "a table gone": "DROP TABLE decisions",
    "the events gone": "DROP TABLE events",
    "an event gone": "DELETE FROM events WHERE seq = 2",
    "the last events gone": "DELETE FROM events WHERE seq > 1",
    "other words": """UPDATE events SET payload = '{"id":"RD-001","text":"evil"}' WHERE seq = 1""",
    "no JSON": (
        "PRAGMA ignore_check_constraints=ON; UPDATE events SET payload = 'evil' WHERE seq = 1"
    ),
    "a state that the events do not tell": "UPDATE decisions SET text = 'evil'",
    "a counter set back": "UPDATE counters SET last = 0",
    "a hash too short": "UPDATE events SET hash = x'00' WHERE seq = 1",
}


@pytest.mark.sweep(3)
@pytest.mark.req("SEC-02")
@pytest.mark.parametrize("kind", TAMPERED)
def test_journal_that_was_tampered_with_is_answered_and_does_not_verify(
    repo: Path, kind: str
) -> None:
    folder = record(repo, "kept", "also kept", "and this")
    change(folder, TAMPERED[kind])

    verified = fair(call("-C", str(repo), "journal", "verify"))
    every_command(repo)
    for command in (("events", "--json"), ("journal", "export"), ("status", "--json")):
        fair(call("-C", str(repo), *command))

    assert verified.status != DONE


@pytest.mark.req("SEC-01")
@pytest.mark.parametrize("lost", ["emptied", "log removed", "database removed", "all removed"])
def test_loss_of_the_database_is_named_when_the_mirror_remembers(repo: Path, lost: str) -> None:
    folder = record(repo, "kept", "also kept")
    mirrored = (folder / "mirror" / f"{1:012d}.jsonl").read_bytes()
    for name in {
        "emptied": ("journal.db-wal", "journal.db-shm"),
        "log removed": ("journal.db-wal", "journal.db-shm"),
        "database removed": ("journal.db",),
        "all removed": ("journal.db", "journal.db-wal", "journal.db-shm"),
    }[lost]:
        (folder / name).unlink()
    if lost == "emptied":
        (folder / "journal.db").write_bytes(b"")

    for command in (("note", "more"), ("status",), ("events",), ("note", "still more")):
        refused(call("-C", str(repo), *command), JournalDamaged)

    assert (folder / "mirror" / f"{1:012d}.jsonl").read_bytes() == mirrored


# Damage: bytes that are not what was written.


@pytest.fixture(scope="module")
def long_journal(
    world_of_the_session: None, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, list[str]]:
    """A repository with 2,000 events, half of them checkpointed, and what `events` says of it."""
    repo = tmp_path_factory.mktemp("long") / "repo"
    subprocess.run(["git", "init", "-q", str(repo)], check=True)
    folder = repo / ".git" / "standfast"
    journal = Journal(str(folder))
    for batch in range(20):
        if batch == 10:
            journal.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        with journal.writing() as tx:
            for number in range(batch * 100, batch * 100 + 100):
                if number % 20:
                    author = Author("user", session=f"session-{number % 7}")
                    tx.append("thing.done", {"number": number, "text": "x" * (number % 90)}, author)
                else:
                    deciding.note(tx, f"decision {number}")
    journal.close()
    done(call("-C", str(repo), "status"))
    return repo, all_events(repo).out.splitlines()


def copied(original: Path, repo: Path) -> None:
    """As its own user copies it: they are known to have written it."""
    shutil.copytree(original, repo)
    known = id_file.read(str(repo / ".git" / "standfast"))
    assert known
    vouches = Path(journal_file.registered(os.environ["XDG_STATE_HOME"], known.name))
    vouches.parent.mkdir(parents=True, exist_ok=True)
    vouches.touch()


def all_events(repo: Path) -> Answer:
    return fair(call("-C", str(repo), "events", "--json", "-n", "0"))


@pytest.mark.sweep(4)
@pytest.mark.req("SEC-02")
@pytest.mark.parametrize("shared_memory", [True, False], ids=["with shm", "without shm"])
@pytest.mark.parametrize("file", ["journal.db", "journal.db-wal"])
def test_flipped_byte_gives_the_right_answer_or_is_named(
    long_journal: tuple[Path, list[str]], tmp_path: Path, file: str, *, shared_memory: bool
) -> None:
    original, truth = long_journal
    size = (original / ".git" / "standfast" / file).stat().st_size
    chosen = random.Random(f"{file} {shared_memory}")
    offsets = [0, 18, 24, 44, 60, 92, *(chosen.randrange(size) for _ in range(26))]
    named = 0

    for number, offset in enumerate(offsets):
        repo = tmp_path / str(number)
        copied(original, repo)
        flip(repo / ".git" / "standfast" / file, offset, chosen)
        if not shared_memory:
            (repo / ".git" / "standfast" / "journal.db-shm").unlink()
        answer = all_events(repo)
        named += not is_right(answer, truth)
        for command in (("status",), ("note", "more"), ("journal", "verify")):
            fair(call("-C", str(repo), *command))
        shutil.rmtree(repo)

    assert named > 0


def is_right(answer: Answer, truth: list[str]) -> bool:
    """Whether all events are told; else the damage is named, and what is told of them is true."""
    if answer.status == DONE:
        assert answer.out.splitlines() == truth
        return True
    refused(answer, JournalDamaged, NotAJournal)
    told = answer.out.splitlines()[:-1]
    assert told == truth[: len(told)]
    return False


def flip(path: Path, offset: int, chosen: random.Random) -> None:
    data = bytearray(path.read_bytes())
    data[offset] ^= 1 << chosen.randrange(8)
    path.write_bytes(data)


@pytest.mark.req("SEC-02")
@pytest.mark.parametrize("file", ["journal.db", "journal.db-wal"])
def test_truncated_journal_gives_the_right_answer_or_is_named(
    long_journal: tuple[Path, list[str]], tmp_path: Path, file: str
) -> None:
    original, truth = long_journal
    size = (original / ".git" / "standfast" / file).stat().st_size

    for number, length in enumerate((0, 1, 31, 100, 512, 4_096, size // 2, size - 4_096, size - 1)):
        repo = tmp_path / str(number)
        copied(original, repo)
        os.truncate(repo / ".git" / "standfast" / file, length)
        (repo / ".git" / "standfast" / "journal.db-shm").unlink()
        is_right(all_events(repo), truth)
        shutil.rmtree(repo)


# What stands beside the database.


ODD_NEIGHBOURS: dict[str, Callable[[Path], object]] = {
    "folder": Path.mkdir,
    "fifo": os.mkfifo,
    "socket": listen_at,
    "link out": lambda path: path.symlink_to(path.parents[3] / "outside"),
    "link to a device": lambda path: path.symlink_to("/dev/zero"),
}


@pytest.mark.sweep(4)
@pytest.mark.req("SEC-01")
@pytest.mark.parametrize("kind", ODD_NEIGHBOURS)
@pytest.mark.parametrize(
    "name",
    ["turnstile.lock", "writer.lock", "faces.lock", "spool", "mirror", "drafts", "kept"],
)
def test_odd_file_beside_the_journal_is_named_or_harmless(repo: Path, name: str, kind: str) -> None:
    folder = record(repo, "kept")
    forget(folder / name)
    ODD_NEIGHBOURS[kind](folder / name)

    every_command(repo)

    assert not (repo.parent / "outside").exists()
    forget(folder / name)
    assert decisions(repo)[0] == "kept"
    assert fair(call("-C", str(repo), "journal", "verify")).status == DONE


@pytest.mark.req("REL-12", "REL-06")
@pytest.mark.parametrize("kind", ODD_NEIGHBOURS)
@pytest.mark.parametrize("end", database.BESIDE)
def test_odd_file_where_sqlite_opens_one_is_named_and_set_aside_by_a_repair(
    repo: Path, end: str, kind: str
) -> None:
    """SQLite opens these names in C: at a pipe it would wait for ever, deaf to whoever asks."""
    folder = record(repo, "kept")
    odd = folder / f"journal.db{end}"
    forget(odd)
    ODD_NEIGHBOURS[kind](odd)
    mode = odd.lstat().st_mode

    assert f"journal.db{end}" in refused(run("status", cwd=repo), NotAJournal).err
    for command in (("note", "more"), ("events",), ("journal", "verify")):
        said = refused(call("-C", str(repo), *command), NotAJournal)
        assert f"journal.db{end}" in said.err
        assert "journal repair" in said.err
    assert odd.lstat().st_mode == mode

    mended = done(run("journal", "repair", cwd=repo))
    (kept,) = (each for each in folder.glob("quarantine/*/*") if each.name == f"odd-{odd.name}")
    assert kept.lstat().st_mode == mode
    assert str(kept.relative_to(repo)) in mended.out
    assert decisions(repo) == ["kept"]
    assert done(call("-C", str(repo), "journal", "verify")).status == DONE
    assert "set aside" not in done(call("-C", str(repo), "journal", "repair")).out
    assert "others may read" not in call("-C", str(repo), "doctor").out


@pytest.mark.req("REL-06")
def test_odd_file_of_a_rebuild_that_was_cut_short_is_set_aside_by_the_next(repo: Path) -> None:
    folder = record(repo, "kept")
    (folder / "journal.db").write_bytes(bytes(100))
    odd = folder / "journal.db.rebuilt-journal"
    os.mkfifo(odd)

    done(run("journal", "repair", cwd=repo))

    assert not odd.exists()
    assert decisions(repo) == ["kept"]


@pytest.mark.req("SEC-01")
@pytest.mark.parametrize("name", ["mirror", "drafts"])
def test_nothing_is_written_through_a_link_to_a_folder_outside(repo: Path, name: str) -> None:
    folder = record(repo, "kept")
    outside = repo.parent / "outside"
    outside.mkdir()
    (outside / ".standfast-mine.draft").write_bytes(b"mine")
    forget(folder / name)
    (folder / name).symlink_to(outside)

    every_command(repo)

    assert [path.name for path in outside.iterdir()] == [".standfast-mine.draft"]


def checked_line(body: bytes) -> bytes:
    return body + b',"crc":"%08x"}\n' % zlib.crc32(body)


def huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(50 << 30)


MIRRORS: dict[str, bytes | Callable[[Path], object]] = {
    "garbage": random.Random(1).randbytes(300_000),
    "one long line": b"x" * 3_000_000,
    "huge": huge,
    "FIFO": os.mkfifo,
    "link": lambda path: path.symlink_to("/dev/zero"),
    "folder": Path.mkdir,
    "no JSON, but the right sum": checked_line(b"no json"),
    "no event, but the right sum": checked_line(b'{"a":1'),
    "nested deeply, the right sum": checked_line(b'{"a":' + b"[" * 100_000),
    "a number that is text": checked_line(b'{"seq":"\xc2\xb2"'),
    "a number too large": checked_line(b'{"seq":%s' % (b"9" * 30)),
    "an event to come": checked_line(b'{"seq":7,"hash":"00"'),
    "empty": b"",
}


@pytest.mark.sweep(3)
@pytest.mark.req("SEC-01", "SEC-02")
@pytest.mark.parametrize("kind", MIRRORS)
def test_mirror_that_was_replaced_is_named_or_mended(repo: Path, kind: str) -> None:
    folder = record(repo, "kept")
    path = folder / "mirror" / f"{1:012d}.jsonl"
    path.unlink()
    what = MIRRORS[kind]
    path.write_bytes(what) if isinstance(what, bytes) else what(path)

    every_command(repo)

    forget(path)
    assert decisions(repo)[0] == "kept"


@pytest.mark.req("SEC-01")
@pytest.mark.parametrize("name", ["\u00b2\u00b2\u00b2.jsonl", f"{10**12 - 1}.jsonl", "x.jsonl"])
def test_mirror_goes_on_when_a_file_in_it_is_not_ours(repo: Path, name: str) -> None:
    folder = record(repo, "kept")
    (folder / "mirror" / name).write_bytes(b"")

    record(repo, "more")

    verified = json.loads(done(call("-C", str(repo), "journal", "verify", "--json")).out)
    assert verified["mirrored"] == verified["events"] == 2


# The spool.


def slot(*fields: str) -> bytes:
    body = "\n".join(fields).encode("utf-8", "surrogatepass")
    header = b"SFSPOOL1" + len(body).to_bytes(4, "big") + zlib.crc32(body).to_bytes(4, "big")
    return header + body


def stray(kind: str = "tool.done", payload: str = '{"text":"spooled"}', **changes: str) -> bytes:
    whole = {
        "id": "00",
        "at": "1",
        "boot": "boot",
        "since": "1",
        "run": "",
        "session": "",
        "actor": "agent",
        "subdir": "",
    }
    return slot(*(whole | changes).values(), kind, payload)


SLOTS: dict[str, bytes] = {
    "garbage after the mark": b"SFSPOOL1" + random.Random(2).randbytes(1_000),
    "a length beyond the slot": b"SFSPOOL1\xff\xff\xff\xff0000",
    "nine lines": slot(*"123456789"),
    "not UTF-8": slot("a", "1", "b", "1", "", "", "user", "", "x", "\udcff"),
    "a time of 30 digits": stray(at="9" * 30),
    "a time of 5000 digits": stray(at="9" * 5_000),
    "a time of other digits": stray(at="\u00b2"),
    "an actor that leaves": stray(actor="../x"),
    "a kind that leaves": stray(kind="../x"),
    "no JSON": stray(payload="evil"),
    "JSON nested deeply": stray(payload='{"a":' * 3_000),
    "JSON that is a list": stray(payload="[]"),
    "JSON with NaN": stray(payload='{"text":NaN}'),
    "words of a person": stray(kind="decision.noted", actor="user"),
    "no words": stray(kind="decision.noted", payload="{}"),
    "a cell without a key": stray(kind="cell.set", payload="{}"),
    "a lease without a token": stray(kind="lease.taken", payload='{"name":"a"}'),
    "an amendment of nothing": stray(kind="decision.amended", payload="{}"),
    "an amendment without words": stray(kind="decision.amended", payload='{"id":"RD-001"}'),
}


@pytest.mark.sweep(4)
@pytest.mark.req("SEC-01", "SEC-02")
@pytest.mark.parametrize("kind", SLOTS)
def test_spool_slot_is_refused_once_when_it_cannot_be_taken(repo: Path, kind: str) -> None:
    folder = record(repo, "kept")
    put_in_slot(folder, 1, SLOTS[kind])
    put_in_slot(folder, 2, stray(id="ff"))

    fair(call("-C", str(repo), "status"))
    verified = fair(call("-C", str(repo), "journal", "verify"))
    told = done(call("-C", str(repo), "events", "--kind", "stray.refused"))
    record(repo, "more")

    assert decisions(repo) == ["kept", "more"]
    assert "spooled" in done(call("-C", str(repo), "events", "--kind", "tool.done", "--json")).out
    assert verified.status == DONE, verified
    assert len(told.out.splitlines()) <= 1
    assert not list(spool.strays(str(folder)))


def put_in_slot(folder: Path, number: int, data: bytes) -> None:
    with (folder / "spool").open("r+b") as file:
        file.seek(number * spool.SLOT_BYTES)
        file.write(data)


@pytest.mark.req("SEC-01", "SEC-02")
@pytest.mark.parametrize("length", [0, 1, 8, 100, spool.SLOT_BYTES + 7, 50 << 30])
def test_spool_of_another_length_is_answered(repo: Path, length: int) -> None:
    folder = record(repo, "kept")
    os.truncate(folder / "spool", length)

    every_command(repo)

    assert decisions(repo)[0] == "kept"


@pytest.mark.req("SEC-01")
def test_spool_full_of_garbage_is_answered(repo: Path) -> None:
    folder = record(repo, "kept")
    (folder / "spool").write_bytes(random.Random(3).randbytes(spool.SLOTS * spool.SLOT_BYTES))

    every_command(repo)

    assert decisions(repo)[0] == "kept"
    assert fair(call("-C", str(repo), "journal", "verify")).status == DONE


@pytest.mark.req("SEC-01")
@pytest.mark.parametrize("name", ["spool", "faces.lock", "writer.lock", "turnstile.lock"])
def test_commands_do_not_wait_for_ever_when_a_lock_is_held(repo: Path, name: str) -> None:
    folder = record(repo, "kept")

    with (folder / name).open("r+b") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        for command in (("status",), ("note", "more"), ("events",), ("journal", "verify")):
            fair(run("--set", "lock_timeout_s=0.1", *command, cwd=repo))

    assert decisions(repo)[0] == "kept"


# Read-only places.


@pytest.fixture
def sealed(repo: Path) -> Iterator[Path]:
    """A journal whose folder and files may only be read."""
    folder = record(repo, "kept")
    found = [folder, *folder.rglob("*")]
    for path in reversed(found):
        path.chmod(0o500 if path.is_dir() else 0o400)
    yield folder
    for path in found:
        path.chmod(0o700 if path.is_dir() else 0o600)


def unseal(folder: Path) -> None:
    folder.chmod(0o700)
    for path in folder.rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)


@pytest.mark.req("SEC-07")
def test_read_only_journal_is_read_and_notes_wait_when_modes_forbid_writing(
    repo: Path, sealed: Path
) -> None:
    through = unprivileged()

    said = [done(run("note", words, cwd=repo, through=through)) for words in ("one", "two")]
    told = [done(run(command, cwd=repo, through=through)) for command in ("status", "events")]
    fair(run("journal", "verify", cwd=repo, through=through))
    fair(run("doctor", cwd=repo, through=through))
    unseal(sealed)

    assert all("inbox" in answer.out for answer in said)
    assert all("kept" in answer.out for answer in told)
    assert decisions(repo) == ["kept", "one", "two"]
    assert decisions(repo) == ["kept", "one", "two"]


@pytest.mark.req("SEC-07")
def test_note_is_kept_once_when_only_the_folder_is_read_only(repo: Path) -> None:
    folder = record(repo, "kept")
    folder.chmod(0o500)

    try:
        done(run("note", "more", cwd=repo, through=unprivileged()))
        told = done(run("status", cwd=repo, through=unprivileged()))
    finally:
        folder.chmod(0o700)

    assert "kept" in told.out
    assert decisions(repo) == ["kept", "more"]


# What may not be read is not absent.


ASK_THE_JOURNAL = (
    *("brief", "logs", "status", "events", "ps", "journal verify", "checkpoint list"),
    *("context lifecycle.status", "resumption show", "resume", "journal repair"),
)


@pytest.mark.req("REL-11")
@pytest.mark.parametrize("name", ["", "journal.db", "journal.db-wal"])
def test_journal_that_may_not_be_read_is_told_as_such_and_never_as_an_empty_one(
    repo: Path, name: str
) -> None:
    folder = record(repo, "kept")
    (folder / name).chmod(0)
    through = unprivileged()

    said = [run(*command.split(), cwd=repo, through=through) for command in ASK_THE_JOURNAL]
    noted = fair(run("note", "more", cwd=repo, through=through))
    checked = run("doctor", cwd=repo, through=through)
    (folder / name).chmod(0o700 if not name else 0o600)

    for answer in said:
        refused(answer, JournalUnreadable)
        assert "cannot write" not in answer.err
        assert answer.out == ""
    assert "SF211" in checked.out
    assert "inbox" in noted.out
    assert decisions(repo) == ["kept", "more"]


def script(way: tuple[str, ...], text: str, cwd: Path) -> list[Answer]:
    """Run a shell script whose `sf` calls Standfast, and hand back what each call said."""
    log = cwd.with_name(f"{cwd.name}-log")
    log.mkdir()
    function = (
        "n=100\n"
        f'sf() {{ n=$((n+1)); s=0; {" ".join(STANDFAST)} "$@"'
        f' >"{log}/$n.out" 2>"{log}/$n.err" || s=$?; echo $s >"{log}/$n.status"; }}\n'
    )
    ended = subprocess.run(
        [*way, "bash", "-e", "-c", function + text],
        cwd=cwd,
        capture_output=True,
        encoding="utf-8",
        timeout=TIMEOUT_S * 4,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return [
        Answer(
            argv=(status.stem,),
            status=int(status.read_text(encoding="utf-8")),
            out=status.with_suffix(".out").read_text(encoding="utf-8"),
            err=status.with_suffix(".err").read_text(encoding="utf-8"),
        )
        for status in sorted(log.glob("*.status"))
    ]


@pytest.mark.req("SEC-07")
def test_read_only_mount_is_read_and_notes_wait_in_the_inbox(repo: Path) -> None:
    record(repo, "kept")

    answers = script(
        with_mounts(),
        "mount --bind .git .git && mount -o remount,bind,ro .git\n"
        "sf note one; sf note two; sf status; sf events; sf journal verify; sf journal export\n",
        repo,
    )

    assert [fair(answer).status for answer in answers] == [DONE] * 6
    assert all("kept" in answer.out for answer in (*answers[2:4], answers[5]))
    assert "inbox" in answers[0].out
    assert decisions(repo) == ["kept", "one", "two"]
    assert decisions(repo) == ["kept", "one", "two"]


@pytest.mark.req("SEC-07")
def test_first_note_waits_in_the_inbox_when_there_is_no_journal_yet(repo: Path) -> None:
    answers = script(
        with_mounts(),
        "mount --bind .git .git && mount -o remount,bind,ro .git\nsf note one; sf status\n",
        repo,
    )

    assert [fair(answer).status for answer in answers] == [DONE] * 2
    assert not (repo / ".git" / "standfast").exists()
    assert decisions(repo) == ["one"]


# A disk without room.


@pytest.mark.req("PLAT-03")
@pytest.mark.parametrize("size", ["1500k", "2m"])
def test_full_disk_loses_nothing_that_was_acknowledged(tmp_path: Path, size: str) -> None:
    """Full from the start, then with a little room at a time, then with enough."""
    disk = tmp_path / "disk"
    disk.mkdir()

    answers = script(
        with_mounts(),
        f"mount -t tmpfs -o size={size} none '{disk}'\n"
        f"cd '{disk}'; git init -q --template= .\n"
        "sf note words-first; sf note words-second\n"
        "dd if=/dev/zero of=fill bs=4k 2>/dev/null || true\n"
        "sf note words-full; sf status\n"
        "for k in 4 12 20 40; do truncate -s -${k}k fill; sf note words-$k; sf status; done\n"
        "rm fill\n"
        "sf note words-last; sf status --all --json; sf journal verify\n",
        tmp_path,
    )

    for answer in answers:
        fair(answer)
        assert answer.status in {DONE, DiskFailed.exit_status}, answer
    *_, last, status, verified = answers
    told = [decision["text"] for decision in json.loads(status.out)["decisions"]]
    notes = (*answers[:3], *answers[4:-3:2], last)
    words = ["words-first", "words-second", "words-full"]
    words += [f"words-{k}" for k in (4, 12, 20, 40)] + ["words-last"]
    kept = [w for w, answer in zip(words, notes, strict=True) if answer.status == DONE]
    assert answers[2].status == DiskFailed.exit_status
    assert last.status == DONE
    assert told == kept
    assert verified.status == DONE


@pytest.mark.req("PLAT-03")
def test_disk_too_small_for_a_journal_is_told_each_time(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()

    answers = script(
        with_mounts(),
        f"mount -t tmpfs -o size=256k none '{disk}'\n"
        f"cd '{disk}'; git init -q --template= .\n"
        "sf note words-first; sf note words-second; sf status; sf doctor; sf events\n",
        tmp_path,
    )

    for answer in answers[:2]:
        refused(answer, DiskFailed)
    for answer in answers[2:]:
        assert "words" not in fair(answer).out
