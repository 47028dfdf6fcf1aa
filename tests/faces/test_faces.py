"""A face loses nobody's words: not an editor's, not git's, not the journal's."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from places import TESTS
from standfast import disk
from standfast.app import faces
from standfast.decisions import status_md
from standfast.errors.base import FaceInvalid
from standfast.faces import displaced_files, look, merge, publish, swap
from standfast.faces.face import Face
from standfast.faces.look import Became
from standfast.faces.merge import Known, Record
from standfast.journal import questions
from standfast.journal.questions import Decision
from standfast.journal.store import Journal
from standfast.journal.tables import decision_records
from standfast.journal.verification import verify

EDITOR = TESTS / "racing_editor.py"


@pytest.fixture
def journal(repo: Path) -> Journal:
    return Journal(str(repo / ".git" / "standfast"))


@pytest.fixture
def beside(journal: Journal) -> Face:
    return status_md.face(name="status", root=journal.folder, relative="status.md", in_git=False)


@pytest.fixture
def in_tree(repo: Path) -> Face:
    return status_md.face(name="tree/STATUS.md", root=str(repo), relative="STATUS.md", in_git=True)


def note(journal: Journal, text: str) -> str:
    with journal.writing() as tx:
        return decision_records.note(tx, text)


def texts(journal: Journal) -> list[str]:
    return [d.text for d in questions.decisions(journal)]


def git(repo: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=repo, check=True, capture_output=True, encoding="utf-8", timeout=60
    )
    return done.stdout


def append(face: Face, line: str) -> None:
    with Path(face.path).open("a", encoding="utf-8") as file:
        file.write(line)


# The rules, pure.

WORDS = st.text(min_size=1, max_size=8).filter(str.strip).map(decision_records.clean)
DECISIONS = st.lists(WORDS, max_size=6, unique=True).map(
    lambda words: [
        Decision(id=f"RD-{n:03}", text=w, actor="user", subdir="", origin=None, at=0)
        for n, w in enumerate(words, 1)
    ]
)


@given(found=DECISIONS)
def test_rendered_face_reads_back_as_the_same_decisions(found: list[Decision]) -> None:
    records = status_md.read(status_md.render(found), "status.md")

    assert [(r.key, r.value) for r in records] == [(d.id, d.text) for d in found]


@given(base=DECISIONS, theirs=DECISIONS, later=WORDS)
def test_merge_never_loses_words_and_never_repeats_them(
    base: list[Decision], theirs: list[Decision], later: str
) -> None:
    published = status_md.read(status_md.render(base), "s")
    edited = status_md.read(status_md.render(theirs), "s")
    present = {r.key: r.value for r in published if r.key} | {"RD-900": later}
    ours = Known(present=present, ever=frozenset(present.values()))

    changes = merge.by_hand(published, edited, ours)

    after = dict(present)
    after.update({r.key: r.value for r in changes.amended if r.key})
    added = [r.value for r in changes.added]
    assert {r.value for r in edited} <= {*after.values(), *added, *present.values()}
    assert after["RD-900"] == later  # journalled after the render: it survives
    assert len(added) == len(set(added))
    assert not set(added) & ours.ever
    assert not merge.through_git(edited, ours).amended


def test_record_that_both_changed_keeps_ours_and_adds_theirs() -> None:
    base = [Record(key="RD-001", value="tea", line=1)]
    theirs = [Record(key="RD-001", value="coffee", line=1)]
    ours = Known(present={"RD-001": "water"}, ever=frozenset({"tea", "water"}))

    changes = merge.by_hand(base, theirs, ours)

    assert [r.value for r in changes.added] == ["coffee"]
    assert not changes.amended


@pytest.mark.parametrize(
    ("text", "line", "word"),
    [
        ("# Standfast\n\nmy own paragraph\n\n## Decisions\n", 3, "below"),
        ("## Decisions\n\nno bullet\n", 3, "list entry"),
        ("## Decisions\n- ok\n<<<<<<< HEAD\n", 3, "list entry"),
        ("## Decisions\n- " + "x" * 3000 + "\n", 2, "characters"),
    ],
)
def test_line_that_is_no_record_is_refused_with_its_number(text: str, line: int, word: str) -> None:
    with pytest.raises(FaceInvalid, match=word) as caught:
        status_md.read(text.encode(), "status.md")

    assert caught.value.line == line


@pytest.mark.req("SEC-02")
@pytest.mark.parametrize("data", [b"\xff\xfe\n", b"## Decisions\n- a\0b\n"])
def test_bytes_that_are_no_text_are_refused_and_kept(
    journal: Journal, beside: Face, data: bytes
) -> None:
    note(journal, "one")
    publish.keep(journal, beside)
    Path(beside.path).write_bytes(data)

    outcome = publish.keep(journal, beside)
    note(journal, "two")
    publish.keep(journal, beside)

    assert outcome.refused is not None
    assert outcome.refused.line == 1 + data.startswith(b"##")
    assert Path(beside.path).read_bytes() == data
    assert texts(journal) == ["one", "two"]


def test_bullets_of_every_kind_crlf_and_bom_are_read() -> None:
    data = "\ufeff## Decisions\r\n* a\r\n+ b\r\n1. c\r\n-   RD-004 d\r\n".encode()

    records = status_md.read(data, "s")

    assert [(r.key, r.value) for r in records] == [
        (None, "a"),
        (None, "b"),
        (None, "c"),
        ("RD-004", "d"),
    ]


# Publishing and adopting, on disk.


def test_face_is_published_privately_and_again_changes_nothing(
    journal: Journal, beside: Face
) -> None:
    note(journal, "one")

    first = publish.keep(journal, beside)
    before = Path(beside.path).stat()
    second = publish.keep(journal, beside)
    after = Path(beside.path).stat()  # its time of access may be another: it is read

    assert (first.written, second.written) == (True, False)
    assert second.became is Became.SAME
    assert before.st_mode & 0o777 == 0o600
    assert (after.st_ino, after.st_mtime_ns, after.st_ctime_ns) == (
        before.st_ino,
        before.st_mtime_ns,
        before.st_ctime_ns,
    )
    assert questions.last_seq(journal) == 1


@pytest.mark.req("REL-08")
def test_hand_edit_is_adopted_and_facts_journalled_since_survive(
    journal: Journal, beside: Face
) -> None:
    note(journal, "one")
    note(journal, "two")
    publish.keep(journal, beside)
    note(journal, "three, after the render")
    edited = Path(beside.path).read_text(encoding="utf-8").replace("RD-002 two", "RD-002 2")
    Path(beside.path).write_text(edited + "- four, by hand\n", encoding="utf-8")

    outcome = publish.keep(journal, beside)

    assert outcome.became is Became.EDITED
    assert texts(journal) == ["one", "2", "three, after the render", "four, by hand"]
    assert Path(beside.path).read_bytes() == status_md.render(questions.decisions(journal))
    assert verify(journal).problems == []


@pytest.mark.req("REL-08")
def test_record_taken_away_by_hand_comes_back(journal: Journal, beside: Face) -> None:
    note(journal, "one")
    note(journal, "two")
    publish.keep(journal, beside)
    Path(beside.path).write_text("# Standfast\n\n## Decisions\n", encoding="utf-8")

    publish.keep(journal, beside)

    assert texts(journal) == ["one", "two"]
    assert "RD-002 two" in Path(beside.path).read_text(encoding="utf-8")


def test_invalid_edit_is_named_kept_and_adopted_once_mended(journal: Journal, beside: Face) -> None:
    note(journal, "one")
    publish.keep(journal, beside)
    append(beside, "what is this\n")
    broken = Path(beside.path).read_bytes()

    refused = publish.keep(journal, beside)
    note(journal, "two")
    publish.keep(journal, beside)
    still = Path(beside.path).read_bytes()
    told = look.refused_faces(journal)
    Path(beside.path).write_bytes(broken.replace(b"what is", b"- what is"))
    publish.keep(journal, beside)

    assert refused.refused is not None
    assert (refused.refused.file, refused.refused.line) == (beside.path, 9)
    assert still == broken
    assert told == [f"{beside.path}:9: this is not a list entry: begin it with `- `"]
    assert texts(journal) == ["one", "two", "what is this"]
    assert look.refused_faces(journal) == []


def test_last_line_without_its_end_is_taken_once_it_stays(journal: Journal, beside: Face) -> None:
    note(journal, "one")
    publish.keep(journal, beside)
    append(beside, "- half a li")

    first = publish.keep(journal, beside)
    append(beside, "ne")
    second = publish.keep(journal, beside)
    third = publish.keep(journal, beside)
    os.utime(beside.path, (1, 1))  # a while later
    fourth = publish.keep(journal, beside)

    assert (first.became, second.became, third.became) == (Became.UNSETTLED,) * 3
    assert fourth.became is Became.EDITED
    assert texts(journal) == ["one", "half a line"]


@pytest.mark.req("SEC-04")
def test_secret_written_by_hand_is_redacted_in_journal_and_face(
    journal: Journal, beside: Face
) -> None:
    note(journal, "one")
    publish.keep(journal, beside)
    append(beside, "- the db is postgres://app:hunter2pass@db/prod\n")

    publish.keep(journal, beside)
    publish.keep(journal, beside)

    assert len(texts(journal)) == 2
    journal.close()
    held = [p for p in Path(journal.folder).rglob("*") if p.is_file()]
    assert not [p for p in held if b"hunter2pass" in p.read_bytes()]


@pytest.mark.req("SEC-01")
@pytest.mark.parametrize("kind", ["link", "fifo", "folder", "huge"])
def test_face_that_is_no_regular_file_is_refused_without_touching_it(
    journal: Journal, beside: Face, tmp_path: Path, kind: str
) -> None:
    note(journal, "one")
    path = Path(beside.path)
    outside = tmp_path / "outside"
    outside.write_text("precious", encoding="utf-8")
    if kind == "link":
        path.symlink_to(outside)
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.touch()
        os.truncate(path, 2 * 1024**3)

    outcome = publish.keep(journal, beside)

    assert outcome.refused is not None
    assert outcome.refused.code in {"SF301", "SF106"}
    assert outside.read_text(encoding="utf-8") == "precious"
    assert texts(journal) == ["one"]


def test_publish_makes_each_step_durable_before_the_next(
    journal: Journal, beside: Face, monkeypatch: pytest.MonkeyPatch
) -> None:
    note(journal, "one")
    publish.keep(journal, beside)
    note(journal, "two")
    steps: list[str] = []
    real_sync, real_swap, real_remember = os.fsync, disk.swap, look.remember

    def sync(fd: int) -> None:
        name = os.path.basename(os.readlink(f"/proc/self/fd/{fd}"))
        steps.append("draft" if name.endswith("(deleted)") else name)  # it has no name yet
        real_sync(fd)

    def swapped(*arguments: Any) -> bool:
        steps.append("swap")
        return real_swap(*arguments)

    def remember(*arguments: Any, **columns: Any) -> None:
        steps.append("intent" if columns.get("draft") else "outcome")
        real_remember(*arguments, **columns)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(disk, "swap", swapped)
    monkeypatch.setattr(look, "remember", remember)
    publish.keep(journal, beside)

    assert steps == ["draft", "drafts", "intent", "swap", "standfast", "drafts", "outcome"]


@pytest.mark.parametrize("at", ["before the swap", "after the swap"])
def test_crash_around_the_swap_is_settled_by_the_next_command(
    journal: Journal, beside: Face, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    note(journal, "one")
    publish.keep(journal, beside)
    note(journal, "two")
    real = disk.swap

    def crash(*arguments: Any) -> bool:
        if at == "after the swap":
            append(beside, "- in between\n")
            real(*arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(disk, "swap", crash)
        with pytest.raises(KeyboardInterrupt):
            publish.keep(journal, beside)
    publish.keep(Journal(journal.folder), beside)

    expected = ["one", "two", "in between"] if at == "after the swap" else ["one", "two"]
    assert texts(journal) == expected
    assert Path(beside.path).read_bytes() == status_md.render(questions.decisions(journal))
    assert verify(journal).problems == []


@pytest.mark.req("REL-08")
def test_edit_that_was_added_to_the_index_is_still_an_edit(
    kept_in_git: Path, journal: Journal, in_tree: Face
) -> None:
    edited = Path(in_tree.path).read_text(encoding="utf-8").replace("two", "zwei")
    Path(in_tree.path).write_text(edited, encoding="utf-8")
    git(kept_in_git, "add", "STATUS.md")

    outcome = publish.keep(journal, in_tree)

    assert outcome.became is Became.EDITED
    assert texts(journal) == ["one", "zwei"]


# Racing.


@pytest.mark.prove
@pytest.mark.req("REL-08")
@pytest.mark.parametrize(
    ("how", "exchange", "edits"),
    [("rename", True, 1500), ("inplace", True, 1500), ("rename", False, 300)],
)
def test_no_edit_of_a_racing_editor_is_lost_or_taken_twice(
    journal: Journal, beside: Face, how: str, edits: int, *, exchange: bool
) -> None:
    note(journal, "the first")
    publish.keep(journal, beside)
    editor = subprocess.Popen(
        [sys.executable, EDITOR, beside.path, str(edits), how],
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    ours = ["the first"]

    while editor.poll() is None:
        ours.append(f"fact {len(ours)}")
        note(journal, ours[-1])
        publish.keep(journal, beside, exchange=exchange)
    said, _ = editor.communicate()
    for _ in range(3):  # the last edit, what it displaced, and nothing more
        last = publish.keep(journal, beside, exchange=exchange)

    saved = said.splitlines()
    found = texts(journal)
    assert len(saved) == edits
    ((swaps,),) = journal.connection.execute("SELECT count(*) FROM published").fetchall()
    assert int(str(swaps)) > 5  # it was a race
    assert sorted(found) == sorted([*ours, *saved])
    assert not last.written
    assert Path(beside.path).read_bytes() == status_md.render(questions.decisions(journal))


@pytest.mark.req("REL-08")
def test_edit_that_falls_between_look_and_swap_is_taken_from_what_was_displaced(
    journal: Journal, beside: Face
) -> None:
    note(journal, "one")
    publish.keep(journal, beside)
    note(journal, "two")
    seen = look.contents(beside)
    append(beside, "- in between\n")

    rendered = beside.render(journal, None)
    displaced = swap.put_in_place(journal, beside, rendered, expected=seen, exchange=True)
    publish.keep(journal, beside)  # as the next command would after a crash right here

    assert displaced is not None
    assert displaced.data != seen
    assert texts(journal) == ["one", "two", "in between"]


@pytest.mark.req("REL-08")
def test_edit_of_a_displaced_file_that_an_editor_still_had_open_is_taken_in(
    journal: Journal, beside: Face
) -> None:
    note(journal, "one")
    publish.keep(journal, beside)
    with Path(beside.path).open("a", encoding="utf-8") as still_open:
        note(journal, "two")
        publish.keep(journal, beside)
        still_open.write("- written into the old file\n")

    publish.keep(journal, beside)

    assert texts(journal) == ["one", "two", "written into the old file"]


@pytest.mark.req("REL-08")
def test_line_without_its_end_in_a_displaced_file_is_taken_in_too(
    journal: Journal, beside: Face
) -> None:
    note(journal, "one")
    publish.keep(journal, beside)
    with Path(beside.path).open("a", encoding="utf-8") as still_open:
        note(journal, "two")
        publish.keep(journal, beside)
        still_open.write("- written into the old file")
    for old in Path(journal.folder, "drafts").iterdir():
        os.utime(old, (1, 1))  # a while later

    for number in range(displaced_files.WATCHED + 2):
        note(journal, f"more {number}")
        publish.keep(journal, beside)

    assert "written into the old file" in texts(journal)


@pytest.mark.req("REL-08")
def test_old_file_that_an_editor_had_open_reverts_no_amendment(
    journal: Journal, beside: Face
) -> None:
    note(journal, "a")
    publish.keep(journal, beside)
    with Path(beside.path).open("a", encoding="utf-8") as still_open:
        with journal.writing() as tx:
            decision_records.amend(tx, "RD-001", "a, amended", origin="test")
        publish.keep(journal, beside)
        still_open.write("- c\n")

    publish.keep(journal, beside)

    assert texts(journal) == ["a, amended", "c"]


def test_second_line_under_an_id_adds_and_leaves_the_first_alone(
    journal: Journal, beside: Face
) -> None:
    note(journal, "sessions in Postgres")
    publish.keep(journal, beside)
    append(beside, "- RD-001 no longer holds for tests\n")

    publish.keep(journal, beside)

    assert texts(journal) == ["sessions in Postgres", "no longer holds for tests"]


def test_refusal_is_forgotten_once_the_file_is_as_it_was(
    journal: Journal, beside: Face, repo: Path, tmp_path: Path
) -> None:
    from standfast.journal.place import find

    note(journal, "one")
    place = find(str(repo), state_home=str(tmp_path))
    faces.keep_all(journal, place, None)
    good = Path(beside.path).read_bytes()
    append(beside, "bad\n")
    faces.keep_all(journal, place, None)
    told = look.refused_faces(journal)
    Path(beside.path).write_bytes(good)

    faces.keep_all(journal, place, None)

    assert told
    assert look.refused_faces(journal) == []
    assert faces.is_settled(journal)


def test_invalid_edit_at_the_last_instant_is_kept_aside_and_named(
    journal: Journal, beside: Face
) -> None:
    note(journal, "one")
    publish.keep(journal, beside)
    note(journal, "two")
    seen = look.contents(beside)
    append(beside, "no bullet\n")
    swap.put_in_place(journal, beside, beside.render(journal, None), expected=seen, exchange=True)

    outcome = publish.keep(journal, beside)

    assert outcome.refused is not None
    assert outcome.refused.file is not None
    assert b"no bullet\n" in Path(outcome.refused.file).read_bytes()
    assert outcome.refused.line == 9


# git moving files under our feet.


@pytest.fixture
def kept_in_git(repo: Path, journal: Journal, in_tree: Face) -> Path:
    """Two commits, each with its own decision; the face is part of both."""
    for words in ("one", "two"):
        note(journal, words)
        publish.keep(journal, in_tree)
        git(repo, "add", "STATUS.md")
        git(repo, "commit", "-qm", words)
    return repo


@pytest.mark.req("REL-08")
@pytest.mark.parametrize(
    "moves",
    [
        ["checkout -qf HEAD~1"],
        ["checkout -q HEAD~1 -- STATUS.md"],
        ["stash -q"],
        ["stash -q", "checkout -qf HEAD && stash pop -q"],
        ["reset -q --hard HEAD~1"],
        ["checkout -qfb other HEAD~1", "checkout -qf -"],
    ],
)
def test_git_that_brings_back_an_older_face_undecides_nothing(
    kept_in_git: Path, journal: Journal, in_tree: Face, moves: list[str]
) -> None:
    note(journal, "three")
    publish.keep(journal, in_tree)

    for move in moves:
        for command in move.split(" && "):
            git(kept_in_git, *command.split())
        publish.keep(journal, in_tree)

    assert texts(journal) == ["one", "two", "three"]
    assert questions.last_seq(journal) == 3
    assert Path(in_tree.path).read_bytes() == status_md.render(questions.decisions(journal))


def commit_elsewhere(repo: Path, branch: str, lines: list[str]) -> None:
    """A branch of somebody whose journal is not ours, with the same ids for other words."""
    git(repo, "switch", "-q", "-c", branch, "HEAD~1")
    found = [
        Decision(id=f"RD-{n:03}", text=t, actor="x", subdir="", origin=None, at=0)
        for n, t in enumerate(lines, 1)
    ]
    (repo / "STATUS.md").write_bytes(status_md.render(found))
    git(repo, "commit", "-qam", "elsewhere")


@pytest.mark.req("REL-08")
def test_branch_of_another_clone_adds_its_words_once_under_new_ids(
    kept_in_git: Path, journal: Journal, in_tree: Face
) -> None:
    commit_elsewhere(kept_in_git, "theirs", ["one", "somebody else's"])

    first = publish.keep(journal, in_tree)
    git(kept_in_git, "checkout", "-q", "--", "STATUS.md")
    publish.keep(journal, in_tree)

    assert first.became is Became.FROM_GIT
    found = questions.decisions(journal)
    assert [(d.id, d.text) for d in found] == [
        ("RD-001", "one"),
        ("RD-002", "two"),
        ("RD-003", "somebody else's"),
    ]
    assert found[-1].origin == "STATUS.md, through git, there as RD-002"


@pytest.mark.req("REL-08")
def test_merge_of_two_branches_decides_nothing_twice(
    kept_in_git: Path, journal: Journal, in_tree: Face
) -> None:
    main = git(kept_in_git, "branch", "--show-current").strip()
    commit_elsewhere(kept_in_git, "theirs", ["one", "somebody else's"])
    git(kept_in_git, "switch", "-q", main)

    merging = subprocess.run(
        ["git", "merge", "-q", "theirs"], cwd=kept_in_git, check=False, capture_output=True
    )
    conflicted = publish.keep(journal, in_tree)
    kept = Path(in_tree.path).read_text(encoding="utf-8")
    resolved = "".join(
        line
        for line in kept.splitlines(keepends=True)
        if line[:7] not in {"<" * 7, "=" * 7, ">" * 7}
    )
    Path(in_tree.path).write_text(resolved, encoding="utf-8")
    git(kept_in_git, "commit", "-qam", "merged")
    publish.keep(journal, in_tree)

    assert merging.returncode == 1
    assert conflicted.refused is not None
    assert "<<<<<<<" in kept
    assert texts(journal) == ["one", "two", "somebody else's"]


def test_old_words_of_an_amended_decision_are_no_new_fact_when_git_brings_them(
    kept_in_git: Path, journal: Journal, in_tree: Face
) -> None:
    edited = Path(in_tree.path).read_text(encoding="utf-8").replace("two", "zwei")
    Path(in_tree.path).write_text(edited, encoding="utf-8")
    publish.keep(journal, in_tree)
    git(kept_in_git, "commit", "-qam", "zwei")
    git(kept_in_git, "switch", "-q", "-c", "old", "HEAD~1")
    (kept_in_git / "STATUS.md").write_bytes(
        (kept_in_git / "STATUS.md").read_bytes() + b"- RD-003 added there\n"
    )
    git(kept_in_git, "commit", "-qam", "old words, one more")

    publish.keep(journal, in_tree)

    assert texts(journal) == ["one", "zwei", "added there"]


@pytest.mark.req("REL-08", "PLAT-02")
def test_copy_in_another_worktree_is_neither_published_nor_adopted(
    kept_in_git: Path, journal: Journal, tmp_path: Path
) -> None:
    from standfast.journal.place import find

    here = find(str(kept_in_git), state_home=str(tmp_path))
    faces.keep_all(journal, here, "STATUS.md")
    other = tmp_path / "other"
    git(kept_in_git, "worktree", "add", "-q", str(other), "HEAD~1")
    (other / "STATUS.md").write_text("## Decisions\n- only a copy\n", encoding="utf-8")
    there = find(str(other), state_home=str(tmp_path))
    listed = git(kept_in_git, "worktree", "list", "--porcelain")

    faces.keep_all(journal, there, "STATUS.md")

    assert there.folder == here.folder
    assert texts(journal) == ["one", "two"]
    assert (other / "STATUS.md").read_text(encoding="utf-8") == "## Decisions\n- only a copy\n"
    assert git(kept_in_git, "worktree", "list", "--porcelain") == listed


@pytest.mark.req("CLI-02")
def test_work_tree_shows_nothing_but_the_face_itself(
    kept_in_git: Path, journal: Journal, in_tree: Face
) -> None:
    note(journal, "three")

    publish.keep(journal, in_tree)

    assert git(kept_in_git, "status", "--porcelain") == " M STATUS.md\n"
    assert sorted(p.name for p in kept_in_git.iterdir() if p.name != ".git") == sorted(
        [*git(kept_in_git, "ls-files").split()]
    )


def test_mode_of_a_face_in_the_work_tree_stays(
    kept_in_git: Path, journal: Journal, in_tree: Face
) -> None:
    Path(in_tree.path).chmod(0o664)
    note(journal, "three")

    publish.keep(journal, in_tree)

    assert Path(in_tree.path).stat().st_mode & 0o777 == 0o664
