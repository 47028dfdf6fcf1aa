"""No planted secret is left in any byte that Standfast writes or prints, whichever way it came in.

At least 200 secrets go in as notes, hand edits, inbox entries, spooled facts and payloads; then
every file of the journal, the face in the work tree and the output of every command are searched.
"""

import json
import os
import re
import string
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from attacks import call, done, record, run
from secret_samples import Planted, planted
from standfast.journal.author import Author
from standfast.journal.fallback import inbox, spool
from standfast.journal.store import Journal

SEED = 20_260
SECRETS = planted(SEED)
LINES = [secret for secret in SECRETS if "\n" not in secret.text]
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)
NAMES = [secret for secret in SECRETS if NAME.fullmatch(secret.text)]


def written(repo: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(repo.rglob("*")):
        if path.is_file():
            yield str(path.relative_to(repo)), path.read_bytes()


def printed(repo: Path) -> Iterator[tuple[str, bytes]]:
    for command in (
        ("status", "--all"),
        ("status", "--all", "--json"),
        ("events", "-n", "0"),
        ("events", "-n", "0", "--json"),
        ("journal", "export"),
        ("journal", "verify"),
        ("doctor",),
    ):
        answer = call("-C", str(repo), *command)
        yield " ".join(command), (answer.out + answer.err).encode()


def left(repo: Path, secrets: Iterable[Planted], *, outputs: Iterable[str] = ()) -> list[str]:
    """Where which kind of secret can still be found."""
    places = [*printed(repo), *written(repo), ("said", "".join(outputs).encode())]
    return [
        f"{secret.kind} in {name}"
        for secret in secrets
        for name, data in places
        if secret.secret.encode() in data
    ]


def test_enough_secrets_are_planted() -> None:
    assert len(SECRETS) >= 200
    assert len(NAMES) >= 20


@pytest.mark.req("SEC-04")
@pytest.mark.parametrize("every", [7, pytest.param(1, marks=pytest.mark.sweep)])
def test_no_secret_is_left_when_it_comes_as_a_note(repo: Path, every: int) -> None:
    said = [done(run("note", LINES[0].text, cwd=repo)).out]

    for number, secret in enumerate(SECRETS[::every]):
        if number % 2:
            answer = call("-C", str(repo), "note", "--json", f"use {secret.text}")
        else:
            answer = call("-C", str(repo), "note", "-", stdin=f"use\n{secret.text}\n".encode())
        said.append(done(answer).out + answer.err)

    assert left(repo, SECRETS[::every], outputs=said) == []


@pytest.mark.req("SEC-04")
def test_no_secret_is_left_when_it_comes_by_a_hand_edit(repo: Path) -> None:
    """The first publish keeps what it displaced until the next one: an editor may have it open."""
    folder = record(repo, "kept")
    (repo / ".standfast.yaml").write_text("status_file: STATUS.md\n", encoding="utf-8")
    done(call("-C", str(repo), "note", "first"))
    half = len(LINES) // 2
    add_lines(folder / "status.md", LINES[:half])
    add_lines(repo / "STATUS.md", LINES[half:])

    done(call("-C", str(repo), "note", "three"))  # whoever reads changes no byte there
    record(repo, "one", "two")

    assert left(repo, LINES) == []
    assert (repo / "STATUS.md").read_bytes().count(b"[redacted:") > 50


def add_lines(path: Path, secrets: Iterable[Planted]) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.writelines(f"- use {secret.text}\n" for secret in secrets)


@pytest.mark.req("SEC-04")
def test_no_secret_is_left_when_it_comes_through_the_inbox(repo: Path, world: Path) -> None:
    box = inbox_of(record(repo, "kept"), world)
    for number, secret in enumerate(SECRETS):
        fact = posted(
            number,
            actor="not a name" if number % 3 == 0 else "user",
            subdir=secret.text if number % 3 == 1 else "",
            payload={"text": f"use {secret.text}"},
        )
        (box / f"{number:016x}.json").write_text(json.dumps(fact), encoding="utf-8")

    done(call("-C", str(repo), "status"))

    assert left(repo, SECRETS) == []


@pytest.mark.req("SEC-04")
def test_no_part_of_a_secret_is_left_when_an_excerpt_cuts_it(repo: Path, world: Path) -> None:
    """What is refused is quoted in part, and half a key is not recognised any more."""
    box = inbox_of(record(repo, "kept"), world)
    words = [secret for secret in LINES if len(secret.secret) >= 40 and NAME.match(secret.text)]
    for number in range(400):
        secret = words[number % len(words)]
        text = f"{'x' * (400 + number * 7 % 97)} {secret.text}{' y' * 800}"
        fact = posted(number, actor="not a name", payload={"text": text})
        (box / f"{number:016x}.json").write_text(json.dumps(fact), encoding="utf-8")

    done(call("-C", str(repo), "status"))

    parts = [
        Planted(secret.kind, secret.text, part)
        for secret in words
        for part in (secret.secret[:16], secret.secret[-16:])
    ]
    assert left(repo, parts) == []


def inbox_of(folder: Path, world: Path) -> Path:
    box = Path(inbox.folder_for(str(folder), str(world / "t")))
    box.mkdir(parents=True)
    for path in (box, box.parent):
        path.chmod(0o700)
    return box


def posted(number: int, **changes: object) -> dict[str, object]:
    fact = {
        "kind": "decision.noted",
        "at": number,
        "boot": "boot",
        "since_boot": number,
        "run": None,
        "session": None,
        "actor": "user",
        "subdir": "",
        "payload": {"text": "words"},
    }
    return fact | changes


@pytest.mark.req("SEC-04")
def test_no_secret_is_left_when_it_comes_through_the_spool(repo: Path) -> None:
    folder = record(repo, "kept")

    for start in range(0, len(SECRETS), spool.SLOTS - 1):
        for secret in SECRETS[start : start + spool.SLOTS - 1]:
            payload = {"output": secret.text, "deep": [{"more": f"x {secret.text} y"}]}
            assert spool.keep(str(folder), "tool.used", payload, Author("user"))
        assert left_in_files(folder, SECRETS) == []
        done(call("-C", str(repo), "status"))

    assert left(repo, SECRETS) == []


def left_in_files(folder: Path, secrets: Iterable[Planted]) -> list[str]:
    places = list(written(folder))
    return [
        f"{s.kind} in {name}" for s in secrets for name, data in places if s.secret.encode() in data
    ]


@pytest.mark.req("SEC-04")
def test_no_secret_is_left_when_it_comes_as_a_payload(repo: Path) -> None:
    folder = record(repo, "kept")
    journal = Journal(str(folder))

    with journal.writing() as tx:
        for secret in SECRETS:
            tx.append("tool.used", {"output": secret.text, secret.text: "as a key"})
            tx.append("tool.used", json.dumps({"output": {"text": f"x\n{secret.text}\ny"}}))
    journal.close()

    assert left(repo, SECRETS) == []


@pytest.mark.req("SEC-04")
def test_no_secret_is_left_when_it_comes_as_a_name(repo: Path) -> None:
    """A key that happens to be made like a name: who, which run, which session."""
    said = []

    for number, secret in enumerate(NAMES):
        option = ("--by", "--run")[number % 2]
        answer = call("-C", str(repo), "note", f"{option}={secret.text}", f"words {number}")
        said.append(answer.out + answer.err)

    assert left(repo, NAMES, outputs=said) == []


@pytest.mark.req("SEC-04")
def test_no_secret_is_left_when_a_folder_is_named_after_it(repo: Path) -> None:
    allowed = set(string.ascii_letters + string.digits + "._-")
    word = next(secret for secret in NAMES if set(secret.text) <= allowed)
    folder = repo / word.text
    os.mkdir(folder)

    done(call("-C", str(folder), "note", "words"))
    os.rmdir(folder)

    assert left(repo, [word]) == []
