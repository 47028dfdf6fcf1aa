"""What `append` returned for is in the journal, numbered without gaps, chained, and stays there."""

import json
import sqlite3
import sys
from pathlib import Path
from types import FrameType

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from standfast.errors.base import (
    BadDocument,
    BadName,
    Conflict,
    FencedOut,
    JournalFromTheFuture,
    NotAJournal,
    NothingFound,
    TooLarge,
)
from standfast.journal import chain, database, questions
from standfast.journal.author import Author
from standfast.journal.questions import Filter
from standfast.journal.store import Journal
from standfast.journal.tables import decision_records, schema
from standfast.journal.verification import verify
from standfast.redaction.redactor import redact_value


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(str(tmp_path / "standfast"))


def payloads(journal: Journal) -> list[object]:
    return [json.loads(event.payload) for event in questions.events(journal, Filter())]


def test_append_is_found_by_another_process_as_soon_as_it_returns(journal: Journal) -> None:
    seq = journal.append("tool.done", {"command": "npm test"}, Author("lead", session="s1"))

    other = Journal(journal.folder)
    (event,) = questions.events(other, Filter())

    assert (seq, event.seq, event.session, event.actor) == (1, 1, "s1", "lead")
    assert json.loads(event.payload) == {"command": "npm test"}


def test_asking_an_absent_journal_creates_nothing(journal: Journal) -> None:
    with pytest.raises(NothingFound):
        list(questions.events(journal, Filter()))

    assert not Path(journal.folder).exists()


@pytest.mark.parametrize("reopened", [False, True])
def test_settings_are_the_ones_that_the_promises_rest_on(
    journal: Journal, *, reopened: bool
) -> None:
    journal.append("x", {})
    if reopened:
        journal.close()

    def pragma(name: str) -> object:
        return journal.connection.execute(f"PRAGMA {name}").fetchall()[0][0]

    assert pragma("journal_mode") == "wal"
    assert pragma("synchronous") == 2  # FULL
    assert pragma("trusted_schema") == 0
    assert pragma("checksum_verification") == "1"
    assert journal.connection.reserve_bytes() == database.PAGE_CHECKSUM_BYTES
    assert journal.connection.open_vfs == "cksmvfs"


def test_wal_stays_after_the_last_writer_has_gone(journal: Journal) -> None:
    journal.append("x", {})

    journal.close()

    assert Path(journal.path + "-wal").stat().st_size > 0


@pytest.mark.req("PLAT-03")
def test_rollback_journal_keeps_the_same_promises_where_wal_is_unsafe(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "wal_is_safe", lambda _: False)

    for number in range(10):
        journal.append("x", {"n": number})
    mode = journal.connection.execute("PRAGMA journal_mode").fetchall()
    synchronous = journal.connection.execute("PRAGMA synchronous").fetchall()
    again = Journal(journal.folder)
    again.append("x", {"n": 10})

    assert (mode, synchronous) == ([("truncate",)], [(3,)])  # EXTRA
    assert again.connection.execute("PRAGMA synchronous").fetchall() == [(3,)]
    assert payloads(again) == [{"n": n} for n in range(11)]
    assert verify(again).problems == []


def test_transaction_that_fails_leaves_no_trace_and_no_gap(journal: Journal) -> None:
    journal.append("x", {"n": 1})

    with pytest.raises(RuntimeError), journal.writing() as tx:
        tx.allot("RD")
        tx.append("x", {"n": 2})
        raise RuntimeError
    journal.append("x", {"n": 3})
    with journal.writing() as tx:
        identity = tx.allot("RD")
        tx.append("x", {"id": identity})

    assert payloads(journal) == [{"n": 1}, {"n": 3}, {"id": "RD-001"}]
    assert [event.seq for event in questions.events(journal, Filter())] == [1, 2, 3]
    assert verify(journal).problems == []


def test_transaction_inside_another_is_refused_and_the_outer_one_is_kept(journal: Journal) -> None:
    with journal.writing() as tx:
        tx.append("x", {"n": 1})
        with pytest.raises(RuntimeError, match="open transaction"):
            journal.append("x", {"n": 2})
        tx.append("x", {"n": 3})

    assert payloads(journal) == [{"n": 1}, {"n": 3}]


ENDING = {"__exit__", "_end", "_give_up", "leave", "abandon", "forget", "close"}


def test_interrupt_at_any_call_of_a_write_leaves_a_journal_that_goes_on(journal: Journal) -> None:
    journal.append("x", {"n": 0})
    kept = 1
    for nth in range(1, 400):
        left = nth

        def interrupt(frame: FrameType, event: str, _argument: object) -> None:
            nonlocal left
            left -= event == "call" and frame.f_code.co_name not in ENDING
            if left == 0:
                raise KeyboardInterrupt

        sys.setprofile(interrupt)
        try:
            with journal.writing() as tx:
                tx.append("x", {"n": nth})
            journal.append("y", {"n": nth})
            kept += 2
        except KeyboardInterrupt:
            pass
        else:
            sys.setprofile(None)
            break
        finally:
            sys.setprofile(None)

    recorded = questions.last_seq(journal)
    journal.append("x", {"n": "after"})
    assert nth > 20  # it was interrupted at that many calls
    assert recorded >= kept
    assert verify(journal).problems == []


def test_two_journals_on_one_file_never_take_the_same_number(journal: Journal) -> None:
    other = Journal(journal.folder)

    for number in range(20):
        (journal if number % 3 else other).append("x", {"n": number}, Author(session="s1"))

    assert payloads(journal) == [{"n": n} for n in range(20)]
    assert verify(journal).problems == []


def test_chain_covers_every_field_so_that_no_edit_goes_unseen(journal: Journal) -> None:
    journal.append("x", {"n": 1}, Author("lead", run="r1", subdir="api"), origin="here")
    journal.append("x", {"n": 2}, Author("lead", run="r1"))
    columns = {
        "at": 5,
        "run": "r2",
        "session": "s9",
        "actor": "eve",
        "subdir": "web",
        "kind": "y",
        "origin": "there",
        "payload": '{"n":9}',
        "hash": bytes(32),
    }

    seen = {}
    for column, value in columns.items():
        with journal.writing() as tx:
            before = tx.execute(f"SELECT {column} FROM events WHERE seq = 1")[0][0]
            tx.execute(f"UPDATE events SET {column} = ? WHERE seq = 1", (value,))
        seen[column] = verify(journal).problems
        with journal.writing() as tx:
            tx.execute(f"UPDATE events SET {column} = ? WHERE seq = 1", (before,))  # type: ignore[arg-type]

    assert all(any("event 1" in p for p in problems) for problems in seen.values()), seen
    assert verify(journal).problems == []


@pytest.mark.parametrize("gone", [1, 2])
def test_missing_event_is_named(journal: Journal, gone: int) -> None:
    for number in range(4):
        journal.append("x", {"n": number}, Author(session=f"s{number}"))

    with journal.writing() as tx:
        tx.execute("DELETE FROM events WHERE seq = ?", (gone,))

    assert f"events {gone} to {gone} are missing" in verify(journal).problems


def test_text_payload_is_one_line_of_json_or_refused(journal: Journal) -> None:
    journal.append("x", '{\n"n":1}')
    for bad in ("not json", '{"n":', "{\n"):
        with pytest.raises(BadDocument):
            journal.append("x", bad)
    journal.append("x", {"n": 2})
    journal.close()

    assert payloads(journal) == [{"n": 1}, {"n": 2}]
    assert verify(journal).problems == []


def test_state_that_the_events_do_not_tell_is_named(journal: Journal) -> None:
    with journal.writing() as tx:
        decision_records.note(tx, "use postgres")
        tx.set("k", {"v": 1})
        tx.take("lane", "me")

    seen = []
    for sql in (
        "UPDATE decisions SET text = 'use mysql'",
        "UPDATE cells SET value = '2'",
        "UPDATE leases SET token = 7",
        "UPDATE counters SET last = 9",
    ):
        journal.connection.execute("SAVEPOINT s")
        journal.connection.execute(sql)
        seen.append(verify(journal).problems)
        journal.connection.execute("ROLLBACK TO s")
        journal.connection.execute("RELEASE s")

    assert [len(problems) for problems in seen] == [1, 1, 1, 1]
    assert verify(journal).problems == []


def test_chain_can_be_checked_with_sha256_alone() -> None:
    import hashlib

    text = "\n".join(["00" * 32, "1", "5", "", "s", "a", "", "k", "", '{"x":1}'])

    link = chain.link(chain.START, 1, 5, None, "s", "a", "", "k", None, '{"x":1}')

    assert link == hashlib.sha256(text.encode()).digest()


def test_ids_come_without_gaps_and_in_order(journal: Journal) -> None:
    with journal.writing() as tx:
        found = [decision_records.note(tx, f"decision {n}") for n in range(1001)]

    assert found[:2] == ["RD-001", "RD-002"]
    assert found[-1] == "RD-1001"
    assert [d.id for d in questions.decisions(journal)] == found


def test_compare_and_set_refuses_who_read_before_someone_else_wrote(journal: Journal) -> None:
    with journal.writing() as tx:
        first = tx.set("phase", {"is": 1}, expect=0)

    with journal.writing() as tx:
        tx.set("phase", {"is": 2}, expect=first)
    with pytest.raises(Conflict), journal.writing() as tx:
        tx.set("phase", {"is": 3}, expect=first)

    assert questions.cell(journal, "phase") == ({"is": 2}, 2)


def test_fence_stops_the_holder_of_an_older_token(journal: Journal) -> None:
    with journal.writing() as tx:
        old = tx.take("lane", "first")
    with journal.writing() as tx:
        new = tx.take("lane", "second", expect=old)

    with pytest.raises(FencedOut), journal.writing() as tx:
        tx.append("late", {})
        tx.fence("lane", old)
    with journal.writing() as tx:
        tx.fence("lane", new)
        tx.append("in.time", {})

    assert [e.kind for e in questions.events(journal, Filter())] == [
        "lease.taken",
        "lease.taken",
        "in.time",
    ]
    with pytest.raises(Conflict), journal.writing() as tx:
        tx.take("lane", "third", expect=old)


@pytest.mark.req("SEC-01")
@pytest.mark.parametrize("bad", ["../x", "a/b", "", "a\nb", "x" * 65, "-rf", "a b", "\u202ex"])
def test_names_outside_the_allow_list_are_refused_with_nothing_written(
    journal: Journal, bad: str
) -> None:
    journal.append("x", {})

    for author in (Author(bad), Author(run=bad), Author(session=bad)):
        with pytest.raises(BadName):
            journal.append("x", {}, author)
    with pytest.raises(BadName):
        journal.append(bad, {})

    assert questions.last_seq(journal) == 1


@pytest.mark.req("SEC-04")
def test_secret_in_a_payload_never_reaches_the_file(journal: Journal) -> None:
    secret = "sk-ant-" + "api03-" + "Zx9" * 12
    journal.append("tool.done", {"env": {"DEEP": [f"KEY={secret}"]}, "db_password": "hunter2!"})
    journal.append("tool.done", json.dumps({"text": f"export K={secret}"}))
    journal.close()

    files = [path for path in Path(journal.folder).rglob("*") if path.is_file()]
    written = b"".join(path.read_bytes() for path in files)

    assert len(files) > 3
    assert secret.encode() not in written
    assert b"hunter2!" not in written


def test_payload_that_python_could_not_read_again_is_refused(journal: Journal) -> None:
    """SQLite takes a thousand levels: recorded, such a fact would break whoever lists it."""
    deep = '{"a":' * 900 + "1" + "}" * 900
    with pytest.raises(BadDocument):
        journal.append("x", deep)
    with pytest.raises(BadDocument):
        journal.append("x", f"{deep}\n")
    many = {"a": [{"b": "[{"}] * 400}  # many brackets, few levels
    journal.append("x", many)

    (event,) = questions.events(journal, questions.Filter())
    assert event.as_dict()["payload"] == many
    assert verify(journal).problems == []


def test_payload_over_the_limit_is_refused_and_the_journal_goes_on(journal: Journal) -> None:
    with pytest.raises(TooLarge):
        journal.append("x", {"text": "a" * 300_000})
    journal.append("x", {"n": 1})

    assert payloads(journal) == [{"n": 1}]


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None)
@given(
    facts=st.lists(st.dictionaries(st.text("abcxyz_", min_size=1), JSON, max_size=4), max_size=5)
)
def test_any_payload_comes_back_as_it_went_in(
    tmp_path_factory: pytest.TempPathFactory, facts: list[dict[str, object]]
) -> None:
    journal = Journal(str(tmp_path_factory.mktemp("j") / "standfast"))

    for fact in facts:
        journal.append("x", fact)

    if facts:
        assert payloads(journal) == [redact_value(fact) for fact in facts]
        assert verify(journal).problems == []
    journal.close()


def test_lone_surrogate_is_kept_as_an_escape(journal: Journal) -> None:
    journal.append("x", {"path": "caf\udce9"})

    (event,) = questions.events(journal, Filter())

    assert json.loads(event.payload) == {"path": "caf\udce9"}
    assert verify(journal).problems == []


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (Filter(kind="decision"), [1, 2]),
        (Filter(kind="decision.noted"), [1]),
        (Filter(kind="decis"), []),
        (Filter(session="s1"), [2, 4]),
        (Filter(run="r1"), [3]),
        (Filter(actor="lead"), [3]),
        (Filter(after=2), [3, 4]),
        (Filter(subdir="api"), [2, 4]),
        (Filter(subdir="ap"), []),
    ],
)
def test_filter_gives_exactly_the_matching_events(
    journal: Journal, wanted: Filter, expected: list[int]
) -> None:
    with journal.writing() as tx:
        decision_records.note(tx, "one")
        tx.append(
            "decision.amended", {"id": "RD-001", "text": "1"}, Author(session="s1", subdir="api")
        )
        tx.append("other", {}, Author("lead", run="r1"))
        tx.append("other", {}, Author(session="s1", subdir="api/v2"))

    assert [event.seq for event in questions.events(journal, wanted)] == expected
    assert [event.seq for event in questions.last_events(journal, wanted, 1)] == expected[-1:]


# Files that are not a journal, or not yet, or not any more.


def test_text_file_in_the_journals_place_is_refused_and_kept(journal: Journal) -> None:
    Path(journal.folder).mkdir()
    Path(journal.path).write_text("dear diary\n" * 100, encoding="utf-8")

    with pytest.raises(NotAJournal):
        journal.append("x", {})

    assert Path(journal.path).read_text(encoding="utf-8").startswith("dear diary")


def test_other_programs_database_is_refused_and_kept(journal: Journal) -> None:
    Path(journal.folder).mkdir()
    theirs = sqlite3.connect(journal.path)
    theirs.execute("CREATE TABLE bookmarks (url)")
    theirs.commit()
    theirs.close()

    with pytest.raises(NotAJournal):
        journal.append("x", {})

    again = sqlite3.connect(journal.path)
    assert again.execute("SELECT name FROM sqlite_master").fetchall() == [("bookmarks",)]
    again.close()


def test_journal_from_the_future_is_refused_and_untouched(journal: Journal) -> None:
    journal.append("x", {"n": 1})
    journal.connection.execute(f"PRAGMA user_version={schema.VERSION + 1}").fetchall()
    journal.close()

    with pytest.raises(JournalFromTheFuture):
        Journal(journal.folder).append("x", {"n": 2})
    with pytest.raises(JournalFromTheFuture):
        list(questions.events(Journal(journal.folder), Filter()))

    plain = database.connect(journal.path)
    assert plain.execute("SELECT count(*) FROM events").fetchall() == [(1,)]


def test_crash_while_the_journal_was_being_made_is_mended_by_the_next_write(
    journal: Journal,
) -> None:
    Path(journal.folder).mkdir()
    Path(journal.path).touch()
    with pytest.raises(NothingFound):
        questions.last_seq(journal)
    half = database.connect(journal.path)
    database.prepare(half, wal=True)
    half.close()

    with pytest.raises(NothingFound):
        questions.last_seq(Journal(journal.folder))
    journal.append("x", {"n": 1})

    assert payloads(journal) == [{"n": 1}]
    assert journal.connection.reserve_bytes() == database.PAGE_CHECKSUM_BYTES


def test_older_schema_is_migrated_in_one_step_and_keeps_every_event(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal.append("x", {"n": 1})
    journal.close()
    later = (*schema.MIGRATIONS, ("CREATE TABLE novelty (a) STRICT".replace("(a)", "(a TEXT)"),))
    monkeypatch.setattr(schema, "MIGRATIONS", later)
    monkeypatch.setattr(schema, "VERSION", len(later))

    newer = Journal(journal.folder)
    newer.append("x", {"n": 2})

    assert payloads(newer) == [{"n": 1}, {"n": 2}]
    assert newer.connection.execute("SELECT count(*) FROM novelty").fetchall() == [(0,)]
    assert verify(newer).problems == []


def test_migration_that_fails_leaves_the_old_schema_whole(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal.append("x", {"n": 1})
    journal.close()
    broken = (*schema.MIGRATIONS, ("CREATE TABLE novelty (a TEXT) STRICT", "CREATE nonsense"))
    with monkeypatch.context() as patch:
        patch.setattr(schema, "MIGRATIONS", broken)
        patch.setattr(schema, "VERSION", len(broken))
        newer = Journal(journal.folder)
        with pytest.raises(Exception, match="nonsense"):
            newer.append("x", {"n": 2})
        newer.close()

    again = Journal(journal.folder)
    again.append("x", {"n": 3})

    assert payloads(again) == [{"n": 1}, {"n": 3}]


def test_disk_error_in_a_commit_acknowledges_nothing_and_the_next_write_works(
    journal: Journal,
) -> None:
    journal.append("x", {"n": 1})
    journal.connection.execute("PRAGMA max_page_count=1").fetchall()
    pages = journal.connection.execute("PRAGMA page_count").fetchall()[0][0]
    journal.connection.execute(f"PRAGMA max_page_count={pages}").fetchall()

    with pytest.raises(Exception, match="full") as caught:
        journal.append("x", {"text": "y" * 200_000})
    journal.append("x", {"n": 2})

    assert getattr(caught.value, "code", None) == "SF206"
    assert payloads(journal) == [{"n": 1}, {"n": 2}]
    assert verify(journal).problems == []


def test_flipped_byte_in_a_page_is_named_never_believed(journal: Journal) -> None:
    for number in range(200):
        journal.append("x", {"n": number, "text": "abcdefgh" * 20})
    journal.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    journal.close()
    data = bytearray(Path(journal.path).read_bytes())
    position = data.rindex(b"abcdefgh")
    data[position] ^= 1
    Path(journal.path).write_bytes(data)

    problems = verify(Journal(journal.folder)).problems

    assert problems
    with pytest.raises(Exception, match="damaged") as caught:
        payloads(Journal(journal.folder))
    assert getattr(caught.value, "code", None) == "SF201"


def test_raw_sqlite_of_the_same_library_can_read_the_events(journal: Journal) -> None:
    journal.append("x", {"n": 1})
    journal.close()

    plain = apsw.Connection(journal.path, vfs="unix", flags=apsw.SQLITE_OPEN_READONLY)

    assert plain.execute("SELECT payload FROM events").fetchall() == [('{"n":1}',)]
    plain.close()
