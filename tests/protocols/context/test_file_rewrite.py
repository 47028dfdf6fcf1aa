"""An agent's file is changed while others write it: their words are in the file or journalled."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from context_samples import ROLE, VALID
from places import TESTS
from secret_samples import planted
from standfast import open_writers
from standfast.errors.base import Conflict, StandfastError, TooLarge, UnsafePath
from standfast.faces import displaced_files, drafts, look, swap
from standfast.journal import overwritten_files, questions
from standfast.journal.author import USER
from standfast.journal.store import Journal
from standfast.protocols.context.files import context_files, file_rewrite
from standfast.protocols.context.files.file_rewrite import Rewritten, rewrite

EDITOR = TESTS / "racing_editor.py"
RELATIVE = context_files.relative(ROLE)
OURS = b"ours\n"
Change = Callable[[bytes | None], bytes]


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    made = Journal(str(tmp_path / ".journal"))
    with made.writing():
        pass
    return made


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / RELATIVE
    path.parent.mkdir(parents=True)
    path.write_bytes(b"theirs\n")
    return path


def with_ours(data: bytes | None) -> bytes:
    """Put our line below what is there, once."""
    return (data or b"").replace(OURS, b"") + OURS


def changed(journal: Journal, root: Path, change: Change = with_ours) -> Rewritten:
    return rewrite(journal, str(root), RELATIVE, change, USER)


def kept(journal: Journal) -> str:
    """Everything that the journal keeps of files, each whole: a line may be cut by two parts."""
    rows = journal.query(
        "SELECT DISTINCT payload ->> 'digest' FROM events WHERE kind = ?", (overwritten_files.KIND,)
    )
    found = [overwritten_files.kept(journal, str(row[0])) for row in rows]
    assert None not in found
    return "\n".join((data or b"").decode() for data in found)


@pytest.mark.req("CTX-13", "CTX-14")
def test_file_is_changed_and_what_it_was_is_in_the_journal(
    journal: Journal, tmp_path: Path, file: Path
) -> None:
    file.chmod(0o640)

    assert changed(journal, tmp_path) == Rewritten(b"theirs\n", b"theirs\nours\n")
    assert file.read_bytes() == b"theirs\nours\n"
    assert file.stat().st_mode & 0o777 == 0o640
    assert "theirs" in kept(journal)
    before = questions.last_seq(journal)
    assert changed(journal, tmp_path) == Rewritten(b"theirs\nours\n", b"theirs\nours\n")
    assert questions.last_seq(journal) == before  # nothing to do, nothing to tell


@pytest.mark.req("CTX-14")
def test_file_and_its_folders_are_made_where_there_are_none(
    journal: Journal, tmp_path: Path
) -> None:
    assert changed(journal, tmp_path) == Rewritten(None, OURS)
    assert (tmp_path / RELATIVE).read_bytes() == OURS


@pytest.mark.req("CTX-14")
def test_edit_between_look_and_swap_is_changed_instead(
    journal: Journal, tmp_path: Path, file: Path
) -> None:
    saves = [b"newer\n", b"newest\n"]

    def change(data: bytes | None) -> bytes:
        if saves:  # somebody saves at the last instant
            draft = file.with_suffix(".new")
            draft.write_bytes(saves.pop(0))
            draft.rename(file)
        return with_ours(data)

    done = changed(journal, tmp_path, change)

    assert done == Rewritten(b"newest\n", b"newest\nours\n", kept=1)
    assert file.read_bytes() == b"newest\nours\n"
    assert all(words in kept(journal) for words in ("theirs", "newer", "newest"))


@pytest.mark.req("CTX-14")
def test_file_that_comes_or_goes_meanwhile_is_looked_at_again(
    journal: Journal, tmp_path: Path, file: Path
) -> None:
    acts = [file.unlink, lambda: file.write_bytes(b"back\n")]

    def change(data: bytes | None) -> bytes:
        if acts:
            acts.pop(0)()
        return with_ours(data)

    assert changed(journal, tmp_path, change).after == b"back\nours\n"
    assert file.read_bytes() == b"back\nours\n"


@pytest.mark.req("CTX-14")
def test_edit_that_a_crash_left_displaced_is_changed_by_the_next_call(
    journal: Journal, tmp_path: Path, file: Path
) -> None:
    face = file_rewrite._face(str(tmp_path), RELATIVE)
    seen = look.contents(face)
    file.write_bytes(b"in between\n")

    swap.put_in_place(journal, face, OURS, expected=seen, exchange=True)  # and then it died
    done = changed(journal, tmp_path)

    assert done.after == b"in between\nours\n"
    assert file.read_bytes() == b"in between\nours\n"


@pytest.mark.req("CTX-14")
@pytest.mark.parametrize("touched", [False, True])
def test_words_written_into_a_file_that_was_swapped_out_are_not_lost(
    journal: Journal, tmp_path: Path, file: Path, *, touched: bool
) -> None:
    with file.open("ab") as still_open:
        changed(journal, tmp_path)
        still_open.write(b"late\n")
    if touched:
        file.write_bytes(b"a new version\n")

    done = changed(journal, tmp_path)

    assert "late" in kept(journal)
    if touched:  # which of the two is meant, nobody knows
        assert done == Rewritten(b"a new version\n", b"a new version\nours\n", kept=1)
    else:
        assert done == Rewritten(b"theirs\nlate\n", b"theirs\nlate\nours\n")


@pytest.mark.req("CTX-14", "REL-08")
@pytest.mark.skipif(not open_writers.KNOWN, reason="nothing tells who writes")
def test_a_file_that_somebody_has_open_is_watched_however_many_were_swapped_out_since(
    journal: Journal, tmp_path: Path, file: Path
) -> None:
    with file.open("ab") as still_open:
        for number in range(3 * displaced_files.WATCHED):
            changed(journal, tmp_path, lambda data, n=number: (data or b"") + b"%d\n" % n)
        still_open.write(b"late\n")

    changed(journal, tmp_path)

    assert "late" in kept(journal)
    for number in range(2 * displaced_files.WATCHED):
        changed(journal, tmp_path, lambda data, n=number: (data or b"") + b"%d\n" % n)
    held = os.listdir(Path(journal.folder) / drafts.DRAFTS)
    assert len(held) <= displaced_files.WATCHED + 1  # who has closed it cannot write any more


@pytest.mark.req("SEC-01")
@pytest.mark.parametrize("kind", ["link", "dangling link", "fifo", "folder", "too large"])
def test_what_is_no_regular_file_is_refused_and_left(
    journal: Journal, tmp_path: Path, file: Path, kind: str
) -> None:
    file.unlink()
    target = tmp_path / "target"
    target.write_bytes(b"elsewhere")
    if kind == "fifo":
        os.mkfifo(file)
    elif kind == "folder":
        file.mkdir()
    elif kind == "too large":
        with file.open("wb") as large:
            large.truncate(context_files.LIMIT + 1)
    else:
        file.symlink_to(target if kind == "link" else tmp_path / "nowhere")
    before = file.lstat()

    with pytest.raises(TooLarge if kind == "too large" else UnsafePath):
        changed(journal, tmp_path)

    assert file.lstat().st_ino == before.st_ino
    assert target.read_bytes() == b"elsewhere"
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.req("SEC-01")
def test_folder_that_is_a_link_is_not_followed(journal: Journal, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "session").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(UnsafePath):
        changed(journal, tmp_path)

    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.sweep
def test_file_of_the_largest_size_is_changed(journal: Journal, tmp_path: Path, file: Path) -> None:
    data = b"a line of sixteen\n" * (900_000 // 2)
    file.write_bytes(data)

    changed(journal, tmp_path)

    assert file.read_bytes() == data + OURS


@pytest.mark.req("SEC-04")
def test_secret_stays_in_the_file_and_reaches_nothing_of_ours(
    journal: Journal, tmp_path: Path, file: Path
) -> None:
    secrets = planted(9)
    file.write_text(VALID + "\n".join(each.text for each in secrets), encoding="utf-8")

    changed(journal, tmp_path)
    changed(journal, tmp_path, lambda data: with_ours(data) + OURS)
    journal.close()

    folder = Path(journal.folder)
    there = b"".join(each.read_bytes() for each in folder.rglob("*") if each.is_file())
    assert [each.kind for each in secrets if each.secret.encode() in there] == []
    assert all(each.secret in file.read_text("utf-8") for each in secrets)


def test_change_that_refuses_leaves_the_file(journal: Journal, tmp_path: Path, file: Path) -> None:
    def change(data: bytes | None) -> bytes:
        raise TooLarge("no")

    with pytest.raises(StandfastError):
        changed(journal, tmp_path, change)

    assert file.read_bytes() == b"theirs\n"


@pytest.mark.prove
@pytest.mark.req("CTX-14")
@pytest.mark.parametrize("how", ["rename", "inplace"])
def test_no_line_of_a_racing_editor_is_lost(
    journal: Journal, tmp_path: Path, file: Path, how: str
) -> None:
    editor = subprocess.Popen(
        [sys.executable, EDITOR, str(file), "1500", how], stdout=subprocess.PIPE, encoding="utf-8"
    )
    calls = 0
    while editor.poll() is None:
        calls += 1
        mark = f"mark {calls}\n".encode()
        with contextlib.suppress(Conflict):  # it saves all the time: a call may give up
            changed(journal, tmp_path, lambda data, mark=mark: (data or b"") + mark)
    said, _ = editor.communicate()
    for _ in range(2):
        changed(journal, tmp_path)

    words = kept(journal) + file.read_text("utf-8")
    assert len(words.split("mark ")) > 5  # it was a race
    assert len(said.splitlines()) == 1_500
    assert [line for line in said.splitlines() if f"{line}\n" not in words] == []
