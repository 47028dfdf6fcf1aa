"""Words that meet are kept once each, and what was set up once stays so for whoever comes next.

The first half is about merging: of faces, of old versions, of attempts that were given up. The
second half is about what must not depend on who opened the journal, or on who else uses SQLite.
"""

from pathlib import Path

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from standfast import config
from standfast.decisions import status_md
from standfast.faces import merge, publish
from standfast.faces.face import Face
from standfast.faces.look import Became
from standfast.faces.merge import Known, Record
from standfast.journal import questions
from standfast.journal.questions import Filter
from standfast.journal.store import Journal
from standfast.journal.tables import decision_records
from standfast.journal.verification import verify

# So few that the same word often comes under two ids, and the same id with two words.
WORDS = st.sampled_from(["tea", "coffee", "water", "milk"])
IDS = st.sampled_from(["RD-001", "RD-002", "RD-003"])
RECORDS = st.lists(st.tuples(st.none() | IDS, WORDS), max_size=6).map(
    lambda pairs: [Record(key=key, value=value, line=n) for n, (key, value) in enumerate(pairs, 1)]
)


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    journal = Journal(str(tmp_path / "standfast"))
    journal.append("begin", {})
    return journal


@pytest.fixture
def face(journal: Journal) -> Face:
    return status_md.face(name="status", root=journal.folder, relative="status.md", in_git=False)


def note(journal: Journal, text: str) -> None:
    with journal.writing() as tx:
        decision_records.note(tx, text)


def pragma(journal: Journal, name: str) -> object:
    return journal.connection.execute(f"PRAGMA {name}").fetchall()[0][0]


# Merging.


@pytest.mark.req("REL-08")
@given(theirs=RECORDS, present=st.dictionaries(IDS, WORDS), base=st.dictionaries(IDS, WORDS))
def test_merge_of_few_words_adds_none_twice_and_none_that_was_there(
    theirs: list[Record], present: dict[str, str], base: dict[str, str]
) -> None:
    published = [
        Record(key=key, value=value, line=n) for n, (key, value) in enumerate(base.items())
    ]
    ours = Known(present=present, ever=frozenset({*present.values(), *base.values()}))

    both = (merge.by_hand(published, theirs, ours), merge.through_git(theirs, ours))

    for changes in both:
        added = [record.value for record in changes.added]
        assert len(added) == len(set(added))
        assert not set(added) & ours.ever


@pytest.mark.req("REL-08")
def test_record_left_as_published_changes_nothing_when_the_journal_moved_on() -> None:
    base = [Record(key="RD-001", value="tea", line=1)]
    ours = Known(present={"RD-001": "water"}, ever=frozenset({"water"}))

    changes = merge.by_hand(base, base, ours)

    assert not changes


@pytest.mark.req("REL-08")
def test_older_version_of_ours_is_rewound_not_edited(journal: Journal, face: Face) -> None:
    note(journal, "one")
    publish.keep(journal, face)
    old = Path(face.path).read_bytes()
    note(journal, "two")
    publish.keep(journal, face)
    Path(face.path).write_bytes(old)

    outcome = publish.keep(journal, face)

    assert outcome.became is Became.REWOUND
    assert [d.text for d in questions.decisions(journal)] == ["one", "two"]
    assert Path(face.path).read_bytes() == face.render(journal, None) != old


def test_trial_that_fails_after_an_event_leaves_no_gap(journal: Journal) -> None:
    with journal.writing() as tx:

        def part() -> None:
            tx.append("x", {"n": 1})
            raise RuntimeError

        with pytest.raises(RuntimeError):
            tx.trial(part)
        tx.append("x", {"n": 2})

    found = list(questions.events(journal, Filter()))
    assert [(event.seq, event.payload) for event in found] == [(1, "{}"), (2, '{"n":2}')]
    assert verify(journal).problems == []


# What holds for whoever comes next.


def test_patience_and_checkpoints_are_set_in_a_journal_that_is_opened_again(
    journal: Journal,
) -> None:
    journal.close()

    again = Journal(journal.folder)
    hook = Journal(journal.folder, checkpoint=False)

    assert pragma(again, "busy_timeout") == 5000
    assert pragma(again, "wal_autocheckpoint") == 2000
    assert pragma(hook, "wal_autocheckpoint") == 0


def test_schema_cannot_be_written_by_hand_in_a_journal_that_is_opened_again(
    journal: Journal,
) -> None:
    journal.close()
    again = Journal(journal.folder)
    again.append("x", {})
    again.connection.execute("PRAGMA writable_schema=ON").fetchall()

    with pytest.raises(apsw.SQLError, match=r"sqlite_(master|schema)"):
        again.connection.execute("UPDATE sqlite_schema SET sql = sql").fetchall()


def test_other_users_of_sqlite_keep_their_own_default_file_system(
    journal: Journal, tmp_path: Path
) -> None:
    theirs = apsw.Connection(str(tmp_path / "theirs.db"))

    assert journal.connection.open_vfs == "cksmvfs"
    assert theirs.open_vfs != "cksmvfs"
    assert apsw.vfs_names()[0] != "cksmvfs"
    theirs.close()


def test_session_that_is_named_for_us_overrules_the_clients(tmp_path: Path) -> None:
    environment = {
        "HOME": str(tmp_path),
        "STANDFAST_SESSION": "ours",
        "CLAUDE_CODE_SESSION_ID": "theirs",
    }

    assert config.load(None, environment).session == "ours"
