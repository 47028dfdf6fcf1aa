"""A crash between any two steps loses nobody's words, because each step is durable before the next.

Death is an exception that nothing of ours catches, raised right after a real system call was
made; what the next command then finds on the real disk is what the test looks at.
"""

import fcntl
import os
from contextlib import suppress
from itertools import count
from pathlib import Path

import pytest

from fuses import Death, Fuse
from standfast import disk
from standfast.decisions import status_md
from standfast.faces import look, publish, swap
from standfast.faces.face import Face
from standfast.journal import mirror, questions
from standfast.journal.store import Journal
from standfast.journal.tables import decision_records
from standfast.journal.verification import verify

THEIRS = b"## Decisions\n- theirs\n"
LINUX = pytest.mark.skipif(
    not os.path.isdir("/proc/self/fd"), reason="the name of a synced file is read from /proc"
)


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(str(tmp_path / "standfast"))


@pytest.fixture
def face(journal: Journal) -> Face:
    return face_of(journal)


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is synced from here on: the name of a folder, or `contents` for any file."""
    order: list[str] = []
    real = os.fsync

    def sync(fd: int) -> None:
        path = os.readlink(f"/proc/self/fd/{fd}")
        order.append(os.path.basename(path) if os.path.isdir(path) else "contents")
        real(fd)

    monkeypatch.setattr(os, "fsync", sync)
    return order


def face_of(journal: Journal) -> Face:
    return status_md.face(name="status", root=journal.folder, relative="status.md", in_git=False)


def note(journal: Journal, text: str) -> None:
    with journal.writing() as tx:
        decision_records.note(tx, text)


def texts(journal: Journal) -> list[str]:
    return [d.text for d in questions.decisions(journal)]


# The swap of a face.


def edit_then_swap(journal: Journal, face: Face, fuse: Fuse, *, exchange: bool) -> None:
    """An editor saves at the last instant before a swap that dies when *fuse* burns out."""
    note(journal, "one")
    publish.keep(journal, face, exchange=exchange)
    note(journal, "two")
    seen = look.contents(face)
    with Path(face.path).open("a", encoding="utf-8") as file:
        file.write("- in between\n")
    rendered = face.render(journal, None)
    with pytest.MonkeyPatch.context() as patch, suppress(Death):
        for name in ("fsync", "rename", "link", "unlink"):
            patch.setattr(os, name, fuse.on(getattr(os, name)))
        patch.setattr(disk, "swap", fuse.on(disk.swap))
        swap.put_in_place(journal, face, rendered, expected=seen, exchange=exchange)


@pytest.mark.req("REL-08")
@pytest.mark.parametrize("exchange", [True, False])
def test_edit_is_kept_when_the_swap_is_cut_short_after_any_step(
    tmp_path: Path, *, exchange: bool
) -> None:
    for nth in count(1):
        journal = Journal(str(tmp_path / str(nth)))
        face = face_of(journal)
        fuse = Fuse(nth)

        edit_then_swap(journal, face, fuse, exchange=exchange)
        for _ in range(2):
            publish.keep(journal, face, exchange=exchange)

        assert sorted(texts(journal)) == ["in between", "one", "two"], f"after step {nth}"
        assert Path(face.path).read_bytes() == face.render(journal, None)
        assert verify(journal).problems == []
        journal.close()
        if fuse.left > 0:  # the swap had fewer steps than that
            break
    assert nth > 5


@pytest.mark.req("REL-08")
@pytest.mark.parametrize("swapped", [b"one", None])
def test_other_words_after_a_swap_that_was_cut_short_are_no_new_decision(
    journal: Journal, face: Face, swapped: bytes | None
) -> None:
    note(journal, "one")
    if swapped is not None:
        publish.keep(journal, face)
    note(journal, "two")
    with pytest.MonkeyPatch.context() as patch, suppress(Death):
        patch.setattr(look, "remember_published", Fuse(1).on(lambda *_, **__: None))
        publish.keep(journal, face)

    edited = Path(face.path).read_bytes().replace(b"two", b"twice")
    Path(face.path).unlink()
    Path(face.path).write_bytes(edited)
    publish.keep(journal, face)

    assert texts(journal) == ["one", "twice"]


@pytest.mark.req("REL-08")
def test_line_amended_again_after_a_death_between_adopting_and_publishing_is_amended(
    journal: Journal, face: Face, monkeypatch: pytest.MonkeyPatch
) -> None:
    def edit(before: str, after: str) -> None:
        Path(face.path).write_text(
            Path(face.path).read_text("utf-8").replace(before, after), "utf-8"
        )

    def dies(*_given: object, **_named: object) -> None:
        raise Death

    note(journal, "one")
    publish.keep(journal, face)
    edit("one", "two")
    with monkeypatch.context() as patch, suppress(Death):
        patch.setattr(swap, "put_in_place", dies)
        note(journal, "another")  # so that there is something to publish
        publish.keep(journal, face)
    edit("two", "three")
    publish.keep(journal, face)

    assert texts(journal) == ["three", "another"]


@pytest.mark.req("REL-08")
def test_file_that_appears_where_none_was_is_not_written_over(journal: Journal, face: Face) -> None:
    note(journal, "one")
    Path(face.path).write_bytes(THEIRS)

    rendered = face.render(journal, None)
    placed = swap.put_in_place(journal, face, rendered, expected=None, exchange=True)
    kept = Path(face.path).read_bytes()
    publish.keep(journal, face)

    assert placed is None
    assert kept == THEIRS
    assert texts(journal) == ["one", "theirs"]


@pytest.mark.req("REL-08")
def test_file_that_appears_between_the_two_steps_is_not_written_over(
    journal: Journal, face: Face, monkeypatch: pytest.MonkeyPatch
) -> None:
    note(journal, "one")
    publish.keep(journal, face, exchange=False)
    note(journal, "two")
    seen = look.contents(face)
    real = os.rename

    def rename(source: str, target: str, **folders: int) -> None:
        real(source, target, **folders)
        if target.endswith(".aside"):
            Path(face.path).write_bytes(THEIRS)

    with monkeypatch.context() as patch:
        patch.setattr(os, "rename", rename)
        swap.put_in_place(journal, face, face.render(journal, None), expected=seen, exchange=False)
    kept = Path(face.path).read_bytes()
    for _ in range(2):
        publish.keep(journal, face, exchange=False)

    assert kept == THEIRS
    assert texts(journal) == ["one", "two", "theirs"]


def test_drafts_that_nobody_names_are_swept_and_other_files_stay(
    journal: Journal, face: Face
) -> None:
    note(journal, "one")
    publish.keep(journal, face)
    litter = Path(journal.folder, "drafts", ".standfast-0000.draft")
    somebodys = litter.with_name("notes.draft")
    for path in (litter, somebodys):
        path.write_bytes(b"")

    publish.keep(journal, face)

    assert not litter.exists()
    assert somebodys.exists()


# The order of syncs.


@LINUX
@pytest.mark.req("REL-08")
@pytest.mark.parametrize("where", ["in place", "displaced"])
def test_what_a_person_wrote_is_synced_before_it_is_journalled(
    journal: Journal, face: Face, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """A power cut would leave zeros in a file whose words the journal knows."""
    note(journal, "one")
    publish.keep(journal, face)
    with Path(face.path).open("a", encoding="utf-8") as editor:
        if where == "displaced":
            note(journal, "two")
            publish.keep(journal, face)
        editor.write("- theirs\n")
        editor.flush()
        theirs = os.fstat(editor.fileno()).st_ino
        order: list[str] = []
        real_sync, real_note = os.fsync, decision_records.note
        monkeypatch.setattr(
            os, "fsync", lambda fd: (order.append(str(os.fstat(fd).st_ino)), real_sync(fd))[1]
        )
        monkeypatch.setattr(
            decision_records,
            "note",
            lambda *a, **k: (order.append("journalled"), real_note(*a, **k))[1],
        )
        publish.keep(journal, face)

    assert order.index(str(theirs)) < order.index("journalled")


@LINUX
def test_new_folders_are_synced_in_their_parents(tmp_path: Path, synced: list[str]) -> None:
    disk.make_folder(str(tmp_path / "a" / "b"))

    assert synced == [tmp_path.name, "a"]


@LINUX
def test_first_write_syncs_the_folder_once_the_tables_are_there(
    journal: Journal, synced: list[str]
) -> None:
    journal.append("x", {})

    beside = os.path.basename(os.path.dirname(journal.folder))
    tables, its_id = ["contents", "standfast"] * 2, ["contents", beside]
    assert synced[-6:] == [*tables, *its_id]


@LINUX
def test_mirror_syncs_its_folder_for_a_new_file_only(journal: Journal, synced: list[str]) -> None:
    journal.append("x", {})
    disk.make_folder(str(Path(journal.folder, "mirror")))
    synced.clear()

    journal.mirror()
    journal.append("x", {})
    journal.mirror()

    assert synced == ["contents", "mirror", "contents"]


# The mirror after a crash, and beside another writer.


def test_torn_tail_of_the_mirror_is_cut_when_it_is_longer_than_what_comes(journal: Journal) -> None:
    journal.append("x", {"n": 1})
    journal.append("x", {"n": 2})
    journal.close()
    (segment,) = mirror.segments(journal.folder)
    data = Path(segment).read_bytes()
    first = data.index(b"\n") + 1
    Path(segment).write_bytes(data[:first] + bytes(len(data)))

    again = Journal(journal.folder)
    again.mirror()
    again.close()

    assert Path(segment).read_bytes() == data


def test_mirror_that_another_writes_is_left_to_it(journal: Journal) -> None:
    journal.append("x", {})
    folder = str(Path(journal.folder, "mirror"))
    disk.make_folder(folder)
    other = os.open(folder, os.O_RDONLY)
    fcntl.flock(other, fcntl.LOCK_EX)

    journal.mirror()
    meanwhile = mirror.last_seq(journal.folder)
    os.close(other)
    journal.mirror()

    assert (meanwhile, mirror.last_seq(journal.folder)) == (0, 1)
