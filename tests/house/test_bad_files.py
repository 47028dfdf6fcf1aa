"""Whatever stands in a repository or a home, it is taken, or refused and left byte for byte.

Here: configuration files, the face in the work tree and beside the journal, git's own pointers,
and the inbox. Nothing of a repository is run, and nothing is read or written outside of it.
"""

import json
import os
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from attacks import (
    call,
    decisions,
    done,
    fair,
    forget,
    record,
    refused,
    run,
)
from standfast.errors.base import BadConfig, BadDocument, StandfastError, TooLarge
from standfast.journal.fallback import inbox

BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{new}: &{new} [{','.join([f'*{old}'] * 9)}]\n"
    for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)


# Configuration files: what stands at the path, and what may be said of it.


def link_to(target: str) -> Callable[[Path], None]:
    return lambda path: path.symlink_to(target)


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(2 << 30)


ODD_FILES: dict[str, Callable[[Path], object]] = {
    "a link to a file of the system": link_to("/etc/passwd"),
    "a link to an endless device": link_to("/dev/zero"),
    "a FIFO": os.mkfifo,
    "a folder": Path.mkdir,
    "two gigabytes of nothing": sparse,
}
TEXTS: dict[str, tuple[bytes, type[StandfastError]]] = {
    "alias bomb": (BOMB.encode(), TooLarge),
    "nested deeply": (b"a: " + b"[" * 20_000, BadDocument),
    "nested deeply and closed": (b"a: " + b"[" * 500 + b"]" * 500, BadDocument),
    "the same key twice": (b"lock_timeout_s: 1\nlock_timeout_s: 2\n", BadDocument),
    "a tag": (b"lock_timeout_s: !!python/object/apply:os.system ['touch PWNED']\n", BadDocument),
    "a tag of its own": (b"!evil\nlock_timeout_s: 1\n", BadDocument),
    "merge key": (b"a: &a {x: 1}\n<<: *a\n", BadDocument),
    "NUL": (b"lock_timeout_s: 1\n\0\n", BadDocument),
    "bad UTF-8": (b"lock_timeout_s: 1\n# \xff\xfe\n", BadDocument),
    "UTF-16": ("lock_timeout_s: 1\n".encode("utf-16"), BadDocument),
    "tabs": (b"a:\n\tb: 1\n", BadDocument),
    "two documents": (b"lock_timeout_s: 1\n---\nlock_timeout_s: 2\n", BadDocument),
    "escape character": (b"lock_timeout_s: \x1b[31m\n", BadDocument),
    "list at the top": (b"- lock_timeout_s\n", BadConfig),
    "text at the top": (b"lock_timeout_s\n", BadConfig),
    "unknown key": (b'"no\\esuch\\u202Ekey": 1\n', BadConfig),
    "a key that is a number": (b"1: 1\n", BadDocument),
    "a wait that is a list": (b"lock_timeout_s: [1]\n", BadConfig),
    "a wait that is true": (b"lock_timeout_s: true\n", BadConfig),
    "a wait of 90 digits": (b"lock_timeout_s: " + b"9" * 90 + b"\n", BadConfig),
    "a wait of 9000 digits": (b"lock_timeout_s: " + b"9" * 9_000 + b"\n", BadDocument),
    "a wait that is null": (b"lock_timeout_s:\n", BadConfig),
    "over the limit": (b"#" * 70_000, TooLarge),
}
OUTSIDE = {
    "above": "../status.md",
    "above from below": "docs/../../status.md",
    "absolute": "/tmp/status.md",
    "a hook": ".git/hooks/post-commit",
    "git's configuration": ".GIT/config",
    "git on HFS+": ".g\u200cit/config",
    "git on NTFS": "git~1/config",
    "home": "~/../status.md/",
    "empty": "",
    "a list": ["status.md"],
    "hidden": "status\u202e.md",
    "long": "a" * 2_000,
}


@pytest.fixture(params=["project", "user"])
def settings(request: pytest.FixtureRequest, repo: Path, world: Path) -> Path:
    """The file that a repository brings, and the user's own."""
    if request.param == "project":
        return repo / ".standfast.yaml"
    path = world / "home" / ".config" / "standfast" / "config.yaml"
    path.parent.mkdir()
    return path


@pytest.mark.req("SEC-01")
@pytest.mark.parametrize("kind", ODD_FILES)
def test_configuration_is_refused_when_it_is_no_plain_small_file(
    repo: Path, settings: Path, kind: str
) -> None:
    record(repo, "kept")
    ODD_FILES[kind](settings)

    answer = run("note", "words", cwd=repo)

    if kind == "a link to a file of the system" and settings.name == "config.yaml":
        refused(answer, BadConfig, BadDocument)  # one's own file may stand behind a link
    else:
        refused(answer, BadConfig, TooLarge)
    assert "root:" not in answer.err
    assert os.path.lexists(settings)
    forget(settings)
    assert decisions(repo) == ["kept"]


@pytest.mark.sweep(4)
@pytest.mark.req("SEC-02")
@pytest.mark.parametrize("case", TEXTS)
def test_configuration_is_refused_with_its_line_when_its_text_is_hostile(
    repo: Path, settings: Path, case: str
) -> None:
    record(repo, "kept")
    text, cause = TEXTS[case]
    settings.write_bytes(text)

    answer = call("-C", str(repo), "note", "words")

    refused(answer, cause)
    assert str(settings) in answer.err
    assert len(answer.err) < 1_000
    assert settings.read_bytes() == text
    assert not (repo / "PWNED").exists()
    settings.unlink()
    assert decisions(repo) == ["kept"]


@pytest.mark.req("SEC-02")
@pytest.mark.parametrize(
    "text",
    [
        b"\xef\xbb\xbflock_timeout_s: 2\n",
        b"lock_timeout_s: 2\r\n# more\r\n",
        b"\xef\xbb\xbf# only\r\n",
        b"",
        b"---\n...\n",
    ],
    ids=["BOM", "CRLF", "comment", "empty", "empty document"],
)
def test_configuration_is_taken_when_only_its_line_ends_or_mark_are_foreign(
    repo: Path, settings: Path, text: bytes
) -> None:
    settings.write_bytes(text)

    done(call("-C", str(repo), "note", "words"))

    assert decisions(repo) == ["words"]


@pytest.mark.req("SEC-01", "SEC-03")
@pytest.mark.parametrize("command", ["status", "doctor", "note words", "events", "journal verify"])
def test_program_named_by_a_repository_is_never_run(repo: Path, command: str) -> None:
    record(repo, "kept")
    evil = repo / "evil.sh"
    evil.write_text(f'#!/bin/sh\ntouch {repo}/PWNED\nexec git "$@"\n', encoding="utf-8")
    evil.chmod(0o755)
    (repo / ".standfast.yaml").write_text("git: ./evil.sh\nstatus_file: s.md\n", encoding="utf-8")

    answer = fair(run(*command.split(), cwd=repo))

    assert "SF104" in answer.out + answer.err
    assert not (repo / "PWNED").exists()


@pytest.mark.req("SEC-01", "SEC-03")
def test_git_beside_the_work_is_never_run(repo: Path) -> None:
    """A relative folder in PATH, and a `git` in the repository itself."""
    evil = repo / "git"
    evil.write_text(f"#!/bin/sh\ntouch {repo}/PWNED\n", encoding="utf-8")
    evil.chmod(0o755)
    (repo / ".standfast.yaml").write_text("status_file: status.md\n", encoding="utf-8")
    (repo / "status.md").write_text("## Decisions\n- by hand\n", encoding="utf-8")
    path = f".::{os.environ['PATH']}"

    for command in (("note", "words"), ("status",), ("doctor",)):
        fair(run(*command, cwd=repo, env={"PATH": path}))

    assert not (repo / "PWNED").exists()
    assert "by hand" in decisions(repo)


@pytest.mark.req("SEC-01")
@pytest.mark.parametrize("case", OUTSIDE)
def test_face_is_refused_when_a_repository_puts_it_outside(repo: Path, case: str) -> None:
    record(repo, "kept")
    hooks = sorted((repo / ".git").rglob("*"))
    text = json.dumps({"status_file": OUTSIDE[case]})
    (repo / ".standfast.yaml").write_text(text, encoding="utf-8")

    refused(call("-C", str(repo), "note", "words"), BadConfig, BadDocument)

    assert sorted((repo / ".git").rglob("*")) == hooks
    assert not (repo.parent / "status.md").exists()


# Faces: what stands where one belongs.


def through_a_link(path: Path) -> None:
    outside = path.parents[2] / "outside"
    outside.mkdir()
    path.parent.rmdir()
    path.parent.symlink_to(outside)


def linked_to(text: bytes) -> Callable[[Path], None]:
    def put(path: Path) -> None:
        target = path.parents[2] / "target"
        target.write_bytes(text)
        path.symlink_to(target)

    return put


def filled(text: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(text)


FACES: dict[str, Callable[[Path], object]] = {
    "a link": linked_to(b"## Decisions\n- of somebody else\n"),
    "a link to nowhere": link_to("/no/such/file"),
    "a FIFO": os.mkfifo,
    "a folder": Path.mkdir,
    "five megabytes": filled(b"## Decisions\n" + b"- words\n" * 700_000),
    "one long line": filled(b"## Decisions\n- " + b"a" * 3_000_000 + b"\n"),
    "two gigabytes": sparse,
    "binary": filled(bytes(range(256)) * 20 + b"\n"),
    "not UTF-8": filled(b"## Decisions\n- \xff\xfe\n"),
    "UTF-16": filled("## Decisions\n- words\n".encode("utf-16")),
    "a conflict": filled(b"## Decisions\n<<<<<<< HEAD\n- ours\n=======\n- theirs\n>>>>>>> x\n"),
    "something else": filled(b"# My notes\n\nkeep them\n"),
    "a decision too long": filled(b"## Decisions\n- " + b"word " * 500 + b"\n"),
}


NO_FOLDERS: dict[str, Callable[[Path], object]] = {
    "behind a link": through_a_link,
    "nowhere": lambda path: path.parent.rmdir(),
    "in a file": lambda path: (path.parent.rmdir(), path.parent.write_bytes(b"mine")),
}


@pytest.fixture(params=["beside the journal", "in the work tree"])
def face(request: pytest.FixtureRequest, repo: Path) -> Path:
    """Where a face belongs: nothing is there yet."""
    folder = record(repo, "kept")
    if request.param == "beside the journal":
        (folder / "status.md").unlink()
        return folder / "status.md"
    (repo / ".standfast.yaml").write_text("status_file: docs/status.md\n", encoding="utf-8")
    (repo / "docs").mkdir()
    return repo / "docs" / "status.md"


@pytest.mark.sweep(4)
@pytest.mark.req("SEC-01", "SEC-02")
@pytest.mark.parametrize("kind", FACES)
def test_face_is_left_alone_and_told_of_when_it_cannot_be_read(
    repo: Path, face: Path, kind: str
) -> None:
    FACES[kind](face)
    os.utime(face, (1, 1), follow_symlinks=False)  # written a while ago
    before = [*everything(repo.parent), as_it_is(face)]

    done(run("note", "more", cwd=repo))
    done(call("-C", str(repo), "note", "and more"))
    told = done(call("-C", str(repo), "status"))

    assert "NEEDS YOU" in told.out
    assert [*everything(repo.parent), as_it_is(face)] == before
    assert decisions(repo) == ["kept", "more", "and more"]


@pytest.mark.req("SEC-01")
@pytest.mark.parametrize("kind", NO_FOLDERS)
def test_face_is_told_of_when_its_folder_is_no_folder_of_the_repository(
    repo: Path, kind: str
) -> None:
    record(repo, "kept")
    (repo / ".standfast.yaml").write_text("status_file: docs/status.md\n", encoding="utf-8")
    (repo / "docs").mkdir()
    NO_FOLDERS[kind](repo / "docs" / "status.md")
    before = everything(repo.parent)

    noted = done(run("note", "more", cwd=repo))
    told = done(call("-C", str(repo), "status"))

    # Where there is nothing to read, only whoever wants to write comes upon it.
    assert "NEEDS YOU" in told.out or "docs/status.md" in noted.out + noted.err
    assert everything(repo.parent) == before
    assert decisions(repo) == ["kept", "more"]


def everything(folder: Path) -> list[object]:
    """Every file outside of git's own folder, with its contents."""
    found: list[object] = []
    for at, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name != ".git"]
        found += [as_it_is(Path(at, name)) for name in sorted(files + folders)]
    return found


def as_it_is(path: Path) -> tuple[str, int, int, bytes]:
    if not os.path.lexists(path):
        return str(path), 0, 0, b""
    facts = path.lstat()
    small = stat.S_ISREG(facts.st_mode) and facts.st_size < 8 << 20
    size = 0 if stat.S_ISDIR(facts.st_mode) else facts.st_size
    return str(path), facts.st_mode, size, path.read_bytes() if small else b""


@pytest.mark.req("SEC-02")
@pytest.mark.parametrize(
    "text",
    [
        b"\xef\xbb\xbf## Decisions\n- by hand\n",
        b"## Decisions\r\n\r\n* by hand\r\n",
        b"## Decisions\n- by hand",
    ],
    ids=["BOM", "CRLF", "no final line end"],
)
def test_face_is_adopted_when_only_its_line_ends_or_mark_are_foreign(
    repo: Path, face: Path, text: bytes
) -> None:
    face.write_bytes(text)
    os.utime(face, (1, 1))  # written a while ago

    for _ in range(2):  # a last line without its end is believed when it stands still
        done(call("-C", str(repo), "status"))

    assert decisions(repo) == ["kept", "by hand"]


@pytest.mark.req("SEC-01")
def test_face_shows_no_hidden_characters_that_a_person_pasted(repo: Path) -> None:
    folder = record(repo, "kept")
    face = folder / "status.md"
    text = face.read_text(encoding="utf-8") + "- see\x1b[31m \u202eevil\u2069 \U000e0041\x9b\n"
    face.write_text(text, encoding="utf-8")

    fair(call("-C", str(repo), "status"))
    fair(call("-C", str(repo), "events"))
    fair(call("-C", str(repo), "events", "--json"))

    assert not set("\x1b\u202e\u2069\U000e0041\x9b") & set(face.read_text(encoding="utf-8"))
    assert len(decisions(repo)) == 2


# Git's own pointers.


def pointer(text: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(text)


def common_directory(text: bytes) -> Callable[[Path], None]:
    def put(path: Path) -> None:
        inner = path.parent / "inner"
        for name in ("objects", "refs"):
            (inner / name).mkdir(parents=True)
        (inner / "HEAD").write_bytes(b"ref: refs/heads/main\n")
        (inner / "commondir").write_bytes(text)
        path.write_bytes(b"gitdir: inner\n")

    return put


POINTERS: dict[str, Callable[[Path], object]] = {
    "to nowhere": pointer(b"gitdir: /no/such/folder\n"),
    "to itself": pointer(b"gitdir: .git\n"),
    "to a file": pointer(b"gitdir: /etc/passwd\n"),
    "to a device": link_to("/dev/zero"),
    "in a loop": lambda path: path.symlink_to(path),
    "with a NUL": pointer(b"gitdir: /tmp\0x\n"),
    "not UTF-8": pointer(b"gitdir: \xff\xfe\n"),
    "too long": pointer(b"gitdir: " + b"a/" * 2_000 + b"\n"),
    "huge": sparse,
    "FIFO": os.mkfifo,
    "empty": pointer(b""),
    "an empty folder": Path.mkdir,
    "a common directory in a loop": common_directory(b"../inner\n"),
    "a common directory nowhere": common_directory(b"/no/such/folder\n"),
    "a common directory with a NUL": common_directory(b"a\0b\n"),
    "a common directory that is huge": common_directory(b"a" * 100_000),
}


@pytest.mark.sweep(4)
@pytest.mark.req("SEC-01", "PLAT-03")
@pytest.mark.parametrize("kind", POINTERS)
def test_repository_is_answered_when_its_pointer_is_broken(tmp_path: Path, kind: str) -> None:
    POINTERS[kind](tmp_path / ".git")

    note = fair(run("note", "words", cwd=tmp_path))
    told = fair(run("status", cwd=tmp_path))

    assert (note.status == 0) == ("words" in told.out)


@pytest.mark.req("SEC-01", "SEC-03")
def test_bare_repository_inside_a_work_tree_is_not_believed(repo: Path) -> None:
    """A clone can bring one along, with a journal of its own making in it."""
    record(repo, "kept")
    inner = repo / "vendor"
    subprocess.run(["git", "init", "-q", "--bare", str(inner)], check=True)

    done(run("-C", str(inner), "note", "more", cwd=repo))

    assert not (inner / "standfast").exists()
    assert decisions(repo) == ["kept", "more"]


# The inbox.


def entry(**changes: object) -> dict[str, object]:
    whole = {
        "kind": "decision.noted",
        "at": 1_700_000_000_000_000,
        "boot": "boot",
        "since_boot": 1,
        "run": None,
        "session": None,
        "actor": "user",
        "subdir": "",
        "payload": {"text": "posted"},
    }
    return {**whole, **changes}


def posted(**changes: object) -> bytes:
    return json.dumps(entry(**changes)).encode()


REFUSED_ENTRIES: dict[str, bytes | Callable[[Path], object]] = {
    "a link": link_to("/etc/passwd"),
    "a FIFO": os.mkfifo,
    "a folder": Path.mkdir,
    "two gigabytes": sparse,
    "empty": b"",
    "not JSON": b"{",
    "not UTF-8": b"\xff\xfe",
    "NUL": posted().replace(b"posted", b"po\0sted"),
    "nested deeply": b"[" * 30_000,
    "nested deeply in the payload": posted(payload=json.loads('{"a":' * 90 + "1" + "}" * 90)),
    "a list": b"[]",
    "a key twice": posted()[:-1] + b',"kind":"decision.noted"}',
    "a key too many": posted(more=1),
    "a key too few": b'{"kind": "decision.noted"}',
    "another kind": posted(kind="lease.taken", payload={"name": "a", "holder": "b", "token": 99}),
    "a cell": posted(kind="cell.set", payload={"key": "home:status", "value": {}}),
    "a number too large": posted(at=10**30),
    "a time before time": posted(at=-1),
    "infinity": posted().replace(b"1700000000000000", b"Infinity"),
    "true for a number": posted(at=True),
    "an actor that leaves": posted(actor="../x"),
    "an actor that is empty": posted(actor=""),
    "a run that is a path": posted(run="/etc/passwd"),
    "a session too long": posted(session="a" * 1_000),
    "a payload that is text": posted(payload="text"),
    "no words": posted(payload={"text": ""}),
    "words that are a list": posted(payload={"text": ["a"]}),
    "too many words": posted(payload={"text": "word " * 1_000}),
}


@pytest.fixture
def box(repo: Path, world: Path) -> Path:
    """The inbox of the repository's journal, made as the next note would make it."""
    folder = record(repo, "kept")
    box = Path(inbox.folder_for(str(folder), str(world / "t")))
    box.mkdir(parents=True)
    for path in (box, box.parent):
        path.chmod(0o700)
    return box


def put(path: Path, what: bytes | Callable[[Path], object]) -> None:
    path.write_bytes(what) if isinstance(what, bytes) else what(path)


@pytest.mark.sweep(4)
@pytest.mark.req("SEC-01", "SEC-02", "SEC-07")
@pytest.mark.parametrize("kind", REFUSED_ENTRIES)
def test_inbox_entry_is_refused_once_and_takes_no_number(repo: Path, box: Path, kind: str) -> None:
    put(box / f"{0:016x}.json", REFUSED_ENTRIES[kind])

    for _ in range(2):
        fair(call("-C", str(repo), "status"))
    verified = fair(call("-C", str(repo), "journal", "verify"))
    said = done(call("-C", str(repo), "note", "more"))
    told = done(call("-C", str(repo), "events", "--kind", "stray.refused"))

    assert verified.status == 0, verified
    assert said.out == "Recorded RD-002\n"
    assert len(told.out.splitlines()) == 1
    assert "root:" not in told.out
    assert decisions(repo) == ["kept", "more"]


@pytest.mark.req("SEC-01", "SEC-07")
def test_inbox_with_everything_wrong_still_gives_up_what_is_right(repo: Path, box: Path) -> None:
    for number, what in enumerate(REFUSED_ENTRIES.values()):
        put(box / f"{number:016x}.json", what)
    (box / f"{500:016x}.json").write_bytes(posted())
    for name in ("a\udcff.json", "a" * 250 + ".json", "-rf.json", "\x1b[31m.json"):
        (box / name).write_bytes(posted(payload={"text": "not ours"}))

    done(run("status", cwd=repo))
    fair(run("events", "-n", "0", cwd=repo))

    assert decisions(repo) == ["kept", "posted"]
    assert fair(call("-C", str(repo), "journal", "verify")).status == 0


@pytest.mark.req("SEC-07")
def test_inbox_entry_is_taken_once_when_it_comes_again(repo: Path, box: Path) -> None:
    for _ in range(3):
        (box / f"{7:016x}.json").write_bytes(posted())
        assert "NEEDS YOU" not in done(call("-C", str(repo), "status")).out
        assert not list(box.iterdir())

    assert decisions(repo) == ["kept", "posted"]


@pytest.mark.req("SEC-07")
def test_inbox_entries_are_taken_in_the_order_they_were_left(repo: Path, box: Path) -> None:
    for number in range(8):
        name = f"{(number * 5) % 8:016x}.json"
        words = {"text": f"words {number}"}
        (box / name).write_bytes(posted(since_boot=number, at=number, payload=words))

    done(call("-C", str(repo), "status"))

    assert decisions(repo) == ["kept", *(f"words {number}" for number in range(8))]


@pytest.mark.req("SEC-01", "SEC-07")
@pytest.mark.parametrize("fault", ["open to others", "a link", "of another user"])
def test_inbox_is_not_read_when_others_could_have_written_it(
    repo: Path, box: Path, fault: str
) -> None:
    (box / f"{1:016x}.json").write_bytes(posted())
    if fault == "open to others":
        box.chmod(0o777)
    elif fault == "a link":
        elsewhere = box.parent / "elsewhere"
        box.rename(elsewhere)
        box.symlink_to(elsewhere)
    elif os.geteuid() != 0:
        pytest.skip("only root can give files away")
    else:
        os.chown(box, 54_321, 54_321)

    done(run("status", cwd=repo))

    assert decisions(repo) == ["kept"]
