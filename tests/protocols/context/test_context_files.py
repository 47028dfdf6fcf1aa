"""Where context files are, and that what agents wrote there is in the journal, once."""

import json
import os
from pathlib import Path

import pytest

from context_samples import ROLE, VALID
from secret_samples import planted
from standfast.errors.base import BadDocument, BadName, TooLarge, UnsafePath
from standfast.journal import overwritten_files, questions
from standfast.journal.store import Journal
from standfast.protocols.context.files import context_files

HOSTILE = ["../x", "/etc/passwd", "a/b", "", "..", ".hidden", "a b", "x.lock", "é", "a\nb", "-rf"]


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(str(tmp_path / "journal"))


def kinds(journal: Journal) -> list[str]:
    return [event.kind for event in questions.events(journal, questions.Filter())]


@pytest.mark.req("CTX-01")
def test_role_has_its_file_in_session_agents() -> None:
    assert context_files.relative(ROLE) == "session/agents/oosh-expert.context.md"
    assert context_files.role_of(context_files.relative(ROLE)) == ROLE
    assert context_files.role_of("x/notes.md") is None
    assert context_files.role_of("session/agents/.context.md") is None
    assert context_files.role_of("session/agents/a b.context.md") is None


@pytest.mark.req("CTX-01", "SEC-01")
@pytest.mark.parametrize("role", HOSTILE)
def test_role_that_could_lead_elsewhere_is_refused(tmp_path: Path, role: str) -> None:
    with pytest.raises(BadName):
        context_files.relative(role)
    with pytest.raises(BadName):
        context_files.read(str(tmp_path), role)


def test_files_are_listed_by_name_and_nothing_else_is(tmp_path: Path) -> None:
    assert context_files.listed(str(tmp_path)) == []
    folder = tmp_path / "session" / "agents"
    folder.mkdir(parents=True)
    for name in ("b.context.md", "a.context.md", "notes.md", "c.context.md.bak"):
        (folder / name).write_text("x", encoding="utf-8")

    assert context_files.listed(str(tmp_path)) == [
        "session/agents/a.context.md",
        "session/agents/b.context.md",
    ]


@pytest.mark.req("SEC-01")
def test_folder_that_is_a_link_is_not_listed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere" / "agents").mkdir(parents=True)
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "session").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(UnsafePath):
        context_files.listed(str(tmp_path / "root"))


@pytest.mark.req("SEC-01")
def test_path_is_taken_from_the_root_and_one_that_leads_outside_is_refused(tmp_path: Path) -> None:
    root, here = str(tmp_path), str(tmp_path / "sub")
    os.mkdir(here)

    assert context_files.below(root, here, "x.md") == "sub/x.md"
    assert context_files.below(root, here, "../x.md") == "x.md"
    assert context_files.below(root, here, f"{root}/a/../x.md") == "x.md"
    for outside in ("../../x.md", "/etc/passwd", "..", f"{root}-beside/x", root):
        with pytest.raises(UnsafePath, match="outside"):
            context_files.below(root, here, outside)


def test_text_keeps_its_ends_and_is_utf_8() -> None:
    assert context_files.text_of("\ufeffä\r\n".encode(), "x") == "\ufeffä\r\n"
    for bad in (b"\xff", b"a\0b"):
        with pytest.raises(BadDocument):
            context_files.text_of(bad, "x")
    with pytest.raises(TooLarge):
        context_files.text_of(b"a" * (context_files.LIMIT + 1), "x")


def test_what_an_agent_wrote_is_journalled_once(journal: Journal) -> None:
    assert context_files.adopt(journal, ROLE, VALID.encode())
    assert not context_files.adopt(journal, ROLE, VALID.encode())
    assert context_files.adopt(journal, ROLE, b"other")
    assert context_files.adopt(journal, ROLE, VALID.encode())  # it came back

    assert kinds(journal).count("context.adopted") == 3
    (event, *_) = [
        json.loads(each.payload)
        for each in questions.events(journal, questions.Filter())
        if each.kind == "context.adopted"
    ]
    assert event == {
        "role": ROLE,
        "path": "session/agents/oosh-expert.context.md",
        "digest": event["digest"],
        "size": len(VALID.encode()),
    }
    assert overwritten_files.kept(journal, event["digest"]) == VALID.encode()


def test_text_whose_events_were_dropped_is_journalled_again(journal: Journal) -> None:
    context_files.adopt(journal, ROLE, b"one")
    with journal.writing() as tx:
        tx.execute("UPDATE cells SET seq = 999")  # as if the event of then were no longer there

    assert context_files.adopt(journal, ROLE, b"one")


def test_large_text_is_kept_whole(journal: Journal) -> None:
    data = ("ä" * 70_000 + "\n").encode()
    context_files.adopt(journal, ROLE, data)
    context_files.adopt(journal, "other", b"\xff\0 no text")

    digests = [
        json.loads(each.payload)["digest"]
        for each in questions.events(journal, questions.Filter())
        if each.kind == "context.adopted"
    ]
    assert [overwritten_files.kept(journal, each) for each in digests] == [data, b"\xff\0 no text"]


@pytest.mark.req("SEC-04")
def test_secret_in_a_context_file_does_not_reach_the_journal(journal: Journal) -> None:
    secrets = planted(5)
    text = VALID + "\n".join(each.text for each in secrets)
    context_files.adopt(journal, ROLE, text.encode())
    journal.close()

    there = b"".join(
        each.read_bytes() for each in Path(journal.folder).rglob("*") if each.is_file()
    )
    assert b"Navigation by name" in there
    assert [each.kind for each in secrets if each.secret.encode() in there] == []
