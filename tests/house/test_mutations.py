"""A thousand inputs that were right once and then were mutated: each is answered, none is a bug.

Mutants are drawn from fixed seeds. What was recorded before is never gone afterwards, and a
journal whose bytes changed tells the truth or says that it is damaged. One mutant in twenty is
tried with the real command line; the others call its entry point.
"""

import json
import os
import random
import shlex
import shutil
import subprocess
import tempfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from attacks import DONE, Answer, call, fair, record, run
from harness.fuzz.mutation import mutate
from standfast.errors.base import JournalDamaged, NotAJournal
from standfast.journal.author import Author
from standfast.journal.fallback import inbox, spool


@pytest.fixture
def quick(world: Path) -> Iterator[Path]:
    """A folder in memory where there is one: a thousand mutants need no thousand syncs."""
    shared = Path("/dev/shm")  # a folder of our own is made in it
    where = shared if os.access(shared, os.W_OK) else world
    with tempfile.TemporaryDirectory(dir=where, ignore_cleanup_errors=True) as name:
        yield Path(name)


@pytest.fixture
def fresh(quick: Path) -> Callable[[], Path]:
    """Give the repository with two decisions, each time as new."""
    repo, original = quick / "repo", quick / "original"
    subprocess.run(["git", "init", "-q", "--template=", str(repo)], check=True)
    record(repo, "kept", "also kept").rename(original)

    def make() -> Path:
        shutil.rmtree(repo / ".git" / "standfast", ignore_errors=True)
        shutil.copytree(original, repo / ".git" / "standfast")
        return repo

    return make


def answered(repo: Path, dice: random.Random, *args: str) -> Answer:
    """Ask in this process, or now and then in one of its own."""
    if dice.randrange(20) == 0:
        return fair(run(*args, cwd=repo))
    return fair(call("-C", str(repo), *args))


def keeps_its_promises(repo: Path, dice: random.Random) -> None:
    """Every decision from before is still told, and the journal agrees with itself."""
    told = answered(repo, dice, "status", "--all", "--json")
    assert told.status == DONE, told
    ids = {decision["id"] for decision in json.loads(told.out)["decisions"]}
    assert {"RD-001", "RD-002"} <= ids
    if dice.randrange(5) == 0:
        assert answered(repo, dice, "journal", "verify").status == DONE
        assert answered(repo, dice, "note", "more").status == DONE


@pytest.mark.req("SEC-02")
@pytest.mark.parametrize("part", range(2))
def test_mutated_settings_are_answered(fresh: Callable[[], Path], part: int) -> None:
    repo, dice = fresh(), random.Random(f"settings {part}")
    seeds = (b"lock_timeout_s: 2\n", b"# ours\nstatus_file: docs/status.md\nlock_timeout_s: 0.5\n")
    before = call("-C", str(repo), "events", "-n", "0").out

    for _ in range(100):
        (repo / ".standfast.yaml").write_bytes(mutate(dice.choice(seeds), dice))
        answered(repo, dice, dice.choice(("status", "events", "doctor")))

    (repo / ".standfast.yaml").unlink()
    assert call("-C", str(repo), "events", "-n", "0").out.startswith(before)
    keeps_its_promises(repo, dice)


@pytest.mark.sweep(2)
@pytest.mark.req("SEC-02")
@pytest.mark.parametrize("part", range(2))
def test_mutated_faces_are_adopted_or_refused(fresh: Callable[[], Path], part: int) -> None:
    dice = random.Random(f"faces {part}")

    for _ in range(75):
        repo = fresh()
        face = repo / ".git" / "standfast" / "status.md"
        face.write_bytes(mutate(face.read_bytes(), dice))
        answered(repo, dice, "status")
        keeps_its_promises(repo, dice)


ENTRY = (
    b'{"kind":"decision.noted","at":1700000000000000,"boot":"boot","since_boot":1,"run":null,'
    b'"session":"s-1","actor":"user","subdir":"docs","payload":{"text":"posted"}}'
)


@pytest.mark.req("SEC-02")
@pytest.mark.parametrize("part", range(2))
def test_mutated_inbox_entries_are_taken_or_refused(
    fresh: Callable[[], Path], world: Path, part: int
) -> None:
    dice = random.Random(f"inbox {part}")

    for _ in range(15):
        repo = fresh()
        box = Path(inbox.folder_for(str(repo / ".git" / "standfast"), str(world / "t")))
        box.mkdir(parents=True, exist_ok=True)
        for path in (box, box.parent):
            path.chmod(0o700)
        for _ in range(5):
            (box / f"{dice.randrange(1 << 64):016x}.json").write_bytes(mutate(ENTRY, dice))
        answered(repo, dice, "status")
        keeps_its_promises(repo, dice)


@pytest.mark.req("SEC-02")
@pytest.mark.parametrize("part", range(2))
def test_mutated_spool_slots_are_taken_or_refused(fresh: Callable[[], Path], part: int) -> None:
    """Half of them with a sum that is right for the mutant, as no accident would leave it."""
    dice = random.Random(f"spool {part}")
    body = b"00ff\n1\nboot\n1\n\ns-1\nuser\ndocs\ntool.used\n" + b'{"output":"some"}'

    for _ in range(15):
        repo = fresh()
        for slot in range(1, 6):
            mutant = mutate(body, dice)[: spool.BODY_LIMIT]
            said = zlib.crc32(mutant) if slot % 2 else dice.randrange(1 << 32)
            header = b"SFSPOOL1" + len(mutant).to_bytes(4, "big") + said.to_bytes(4, "big")
            write_at(
                repo / ".git" / "standfast" / "spool", slot * spool.SLOT_BYTES, header + mutant
            )
        answered(repo, dice, "status")
        keeps_its_promises(repo, dice)


def write_at(path: Path, offset: int, data: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(offset)
        file.write(data)


@pytest.mark.sweep
@pytest.mark.req("SEC-02")
def test_mutated_mirror_lines_are_named_or_mended(fresh: Callable[[], Path]) -> None:
    dice = random.Random("mirror")

    for number in range(100):
        repo = fresh()
        path = repo / ".git" / "standfast" / "mirror" / f"{1:012d}.jsonl"
        mutant = mutate(path.read_bytes(), dice)
        if number % 2:  # the sum is right again: somebody did it on purpose
            body = mutant.rpartition(b',"crc":"')[0]
            mutant = body + b',"crc":"%08x"}\n' % zlib.crc32(body.rpartition(b"\n")[2])
        path.write_bytes(mutant)
        answered(repo, dice, dice.choice(("status", "events", "doctor")))
        answered(repo, dice, "journal", "verify")
        answered(repo, dice, "note", "more")
        path.unlink()
        assert "also kept" in answered(repo, dice, "status").out


@pytest.mark.sweep(2)
@pytest.mark.req("SEC-02")
@pytest.mark.parametrize("part", range(2))
def test_mutated_journals_tell_the_truth_or_are_named(fresh: Callable[[], Path], part: int) -> None:
    dice = random.Random(f"journal {part}")
    truth = call("-C", str(fresh()), "events", "--json", "-n", "0").out

    for _ in range(75):
        repo = fresh()
        folder = repo / ".git" / "standfast"
        path = folder / dice.choice(("journal.db", "journal.db-wal", "journal.db-shm"))
        path.write_bytes(mutate(path.read_bytes(), dice))
        answer = answered(repo, dice, "events", "--json", "-n", "0")
        if answer.status == DONE:
            assert answer.out == truth
        else:
            assert answer.code in {JournalDamaged.code, NotAJournal.code}, answer
        answered(repo, dice, dice.choice(("status", "doctor")))
        answered(repo, dice, "note", "more")


COMMAND_LINES = (
    "status --all --json --dir docs/a",
    "note --by user --run run-1 some words",
    "events --kind decision --run r --session s --actor user --dir docs --after 0 -n 5 --json",
    "journal verify --json",
    "journal export --output out.jsonl",
    "--set lock_timeout_s=1 --set status_file=docs/s.md status",
    "doctor --json",
)


@pytest.mark.req("SEC-01", "SEC-02")
@pytest.mark.parametrize("part", range(2))
def test_mutated_command_lines_are_answered(
    fresh: Callable[[], Path], part: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo, dice = fresh(), random.Random(f"command lines {part}")
    monkeypatch.chdir(repo)

    for _ in range(100):
        args = shlex.split(dice.choice(COMMAND_LINES))
        at = dice.randrange(len(args))
        mutant = mutate(args[at].encode(), dice).replace(b"\0", b"")
        if mutant.startswith((b"-f", b"--follow")) or b"/" in mutant:
            continue  # one waits by design, the other could name a file outside
        args[at] = os.fsdecode(mutant)
        fair(call(*args))

    assert "also kept" in call("-C", str(repo), "status", "--all").out


@pytest.mark.req("SEC-02")
def test_mutated_facts_are_kept_as_text_and_verify(fresh: Callable[[], Path]) -> None:
    """Whatever words somebody gives, the journal that holds them still agrees with itself."""
    repo, dice = fresh(), random.Random("facts")

    for _ in range(60):
        words = mutate(b"use the second parser, not the first", dice)
        answered(repo, dice, "note", "--", os.fsdecode(words.replace(b"\0", b"")) or "none")
    spool.keep(str(repo / ".git" / "standfast"), "tool.used", {"a": "\ud800"}, Author("user"))

    assert answered(repo, dice, "journal", "verify").status == DONE
    keeps_its_promises(repo, dice)
