"""Old events go, and nothing that they left behind: state, ids, chains and mirror are as before."""

import json
import os
import random
import signal
import subprocess
import sys
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuses import Death, Fuse
from standfast import disk
from standfast.errors.base import JournalDamaged
from standfast.journal import mirror, questions
from standfast.journal.author import Author
from standfast.journal.retention import dropped_events as bases
from standfast.journal.retention import event_drop
from standfast.journal.retention.dropped_events import Base
from standfast.journal.store import Journal
from standfast.journal.tables import decision_records
from standfast.journal.transaction import Writing
from standfast.journal.verification import Report, verify

SESSIONS = ("one", "two", "three")
CLAUDE = "claude"


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(str(tmp_path / "standfast"))


def drop(journal: Journal, through: int) -> None:
    """Drop as a trim does, whatever the limits."""
    with mirror.alone(journal.folder) as is_mine:
        assert is_mine
        mirror.append(journal)
        event_drop.settle(journal)
        base = bases.load(journal.connection)
        if through > base.through:
            event_drop.drop(journal, base, through)
        mirror.append(journal)
        event_drop.settle(journal)


def verified(journal: Journal) -> Report:
    report = verify(journal)
    assert report.problems == []
    return report


def numbers(journal: Journal) -> list[int]:
    return [seq for (seq,) in journal.query("SELECT seq FROM events ORDER BY seq")]


def mirrored(journal: Journal) -> list[int]:
    found = [mirror.parse(line) for _, _, line in mirror.lines(journal.folder)]
    return [int(str(event["seq"])) for event in found if event]


def state(connection: apsw.Connection) -> dict[str, object]:
    return {table: bases.rows(connection, table) for table in bases.FOLDED}


def some_work(journal: Journal, session: str, *calls: str) -> None:
    agent = Author(CLAUDE, session=session)
    journal.append("session.started", {"source": "startup", "client": CLAUDE}, agent)
    journal.append("prompt", {"text": f"do {session}"}, Author(session=session))
    for call in calls:
        journal.append("tool.started", {"id": call, "tool": "Bash", "words": call}, agent)
        journal.append("tool.ended", {"id": call, "tool": "Bash", "words": call}, agent)


# Against a journal of which nothing was ever dropped.

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("note"), st.sampled_from(SESSIONS)),
        st.tuples(st.just("cell"), st.sampled_from(SESSIONS)),
        st.tuples(st.just("lease"), st.just("")),
        st.tuples(st.just("run"), st.sampled_from(SESSIONS)),
        st.tuples(st.just("start"), st.sampled_from(SESSIONS)),
        st.tuples(st.just("begin"), st.sampled_from(SESSIONS)),
        st.tuples(st.just("end"), st.sampled_from(SESSIONS)),
        st.tuples(st.just("agent"), st.sampled_from(SESSIONS)),
        st.tuples(st.just("turn"), st.sampled_from(SESSIONS)),
        st.tuples(st.just("on"), st.just("")),
        st.tuples(st.just("reopen"), st.just("")),
        st.tuples(st.just("drop"), st.floats(0, 1)),
    ),
    min_size=5,
    max_size=40,
)


def act(journal: Journal, what: str, who: str, number: int) -> None:
    agent = Author(CLAUDE, session=who)
    call = {"id": f"c{number // 3}", "tool": "Bash", "words": "half an emoji \ud83d"}
    with journal.writing() as tx:
        if what == "note":
            decision_records.note(tx, f"decision {number}", Author(session=who))
        elif what == "cell":
            tx.set(who, {"is": number})
        elif what == "lease":
            tx.take("lane", f"holder {number}")
        elif what == "run":
            tx.append("run.did", {"n": number}, Author(run=f"r-{who}", session=who))
        elif what == "start":
            tx.append("session.started", {"source": "resume", "client": CLAUDE}, agent)
        elif what == "on":
            tx.append("hooks.on", {})
        elif what == "agent":
            label = {**call, "agent": f"a{number // 4}", "running": number % 2 == 0}
            tx.append("tool.ended", label, agent)
            tx.append("agent.ended", {"id": f"a{number // 4}"}, agent)
        else:
            kind = {"begin": "tool.started", "end": "tool.ended", "turn": "turn.ended"}[what]
            tx.append(kind, call if what != "turn" else {"text": "x"}, agent)


@pytest.mark.req("SEC-08")
@given(steps=STEPS)
@settings(max_examples=60, deadline=None)
def test_state_chain_and_ids_are_those_of_a_journal_that_kept_everything(
    steps: list[tuple[str, Any]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    journal = Journal(str(tmp_path_factory.mktemp("j") / "standfast"))
    whole: list[Any] = []

    def collect() -> None:
        after = whole[-1][0] if whole else 0
        whole.extend(journal.query("SELECT * FROM events WHERE seq > ? ORDER BY seq", (after,)))

    for number, (what, value) in enumerate([("note", "one"), *steps]):
        if what == "reopen":
            journal.close()
            journal = Journal(journal.folder)
        elif what == "drop":
            collect()
            drop(journal, round(value * questions.last_seq(journal)))
        else:
            act(journal, what, value, number)
    collect()

    twin = Base()
    for event in whole:  # each link is checked, over all that was dropped
        twin.take(event)
    assert state(journal.connection) == state(twin.state)
    assert verified(journal).events == len(numbers(journal))
    noted = [text for (text,) in journal.query("SELECT text FROM decisions")]
    ((given_out,),) = journal.query("SELECT last FROM counters WHERE prefix = 'RD'")
    assert given_out == len(noted) == len(set(noted))
    journal.close()


# What goes on after a drop.


@pytest.mark.req("SEC-08")
def test_stream_whose_events_were_all_dropped_goes_on_from_its_last_hash(journal: Journal) -> None:
    some_work(journal, "one", "a")
    journal.append("x", {})
    before = journal.query("SELECT hash FROM events WHERE session = 'one' ORDER BY seq DESC")[0][0]
    drop(journal, 5)
    journal.close()

    again = Journal(journal.folder)
    again.append("prompt", {"text": "and now"}, Author(session="one"))

    assert bases.load(again.connection).heads["session:one"] == before
    assert numbers(again) == [6, 7]
    assert verified(again).dropped == 5


@pytest.mark.req("SEC-08")
def test_writer_that_remembers_a_dropped_number_takes_the_next_free_one(journal: Journal) -> None:
    journal.append("x", {})  # remembers 1
    other = Journal(journal.folder)
    for _ in range(5):
        other.append("x", {})
    drop(other, 6)

    assert journal.append("x", {}) == 8
    assert numbers(other) == [7, 8]
    verified(other)


@pytest.mark.req("SEC-08")
def test_work_of_sessions_that_are_over_goes_and_of_those_at_work_stays(journal: Journal) -> None:
    some_work(journal, "old", "a", "b")
    some_work(journal, "young", "c")
    agent = Author(CLAUDE, session="young")
    journal.append("tool.started", {"id": "long", "tool": "Bash", "words": "long"}, agent)
    upto = questions.last_seq(journal)
    journal.append("notice", {"text": "go on"}, Author(session="young"))

    drop(journal, upto)
    journal.append("tool.ended", {"id": "long", "tool": "Bash"}, agent)

    assert journal.query("SELECT session, key, state FROM work ORDER BY key") == [
        ("young", "c", "done"),
        ("young", "long", "done"),
    ]
    assert len(journal.query("SELECT 1 FROM sessions")) == 2
    verified(journal)


@pytest.mark.req("SEC-08")
@pytest.mark.parametrize("author", [Author(session="old"), Author(run="r", session="old")])
def test_session_that_comes_back_at_the_last_moment_keeps_its_work(
    journal: Journal, monkeypatch: pytest.MonkeyPatch, author: Author
) -> None:
    some_work(journal, "old", "a", "b")
    real = disk.replace

    def replace(path: str, data: bytes) -> None:
        if path.endswith(".base.json"):
            other = Journal(journal.folder)
            other.append("tool.started", {"id": "c", "tool": "Bash", "words": "c"}, author)
            other.let_go()
        real(path, data)

    with monkeypatch.context() as patch:
        patch.setattr(disk, "replace", replace)
        drop(journal, 6)

    assert numbers(journal) == [1, 2, 3, 4, 5, 6, 7]
    drop(journal, 6)
    assert numbers(journal) == [7, 8]
    assert journal.query("SELECT key FROM work ORDER BY key") == [("a",), ("b",), ("c",)]
    verified(journal)


@pytest.mark.req("SEC-08")
def test_file_does_not_grow_while_dropped_pages_are_filled_again(journal: Journal) -> None:
    def fill() -> None:
        with journal.writing() as tx:
            for number in range(2_000):
                tx.append("x", {"n": number, "text": "words " * 50})

    fill()
    drop(journal, 1_900)
    journal.query("PRAGMA wal_checkpoint(TRUNCATE)")
    ((before,),) = journal.query("PRAGMA page_count")
    for _ in range(5):
        fill()
        drop(journal, questions.last_seq(journal) - 100)
    journal.query("PRAGMA wal_checkpoint(TRUNCATE)")
    ((after,),) = journal.query("PRAGMA page_count")

    assert after <= before * 1.15
    assert Path(journal.path).stat().st_size == after * 2048
    verified(journal)


# The mirror.


@pytest.mark.req("SEC-08")
def test_mirror_loses_whole_files_and_the_beginning_of_the_next(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mirror, "SEGMENT_BYTES", 1_000)
    for number in range(30):
        journal.append("x", {"n": number})
        journal.mirror()
    names = [mirror.first_seq(path) for path in mirror.segments(journal.folder)]
    inside = names[3] + 1

    drop(journal, inside)

    assert mirrored(journal) == list(range(inside + 1, 32))
    assert [mirror.first_seq(p) for p in mirror.segments(journal.folder)][:2] == [
        inside + 1,
        names[4],
    ]
    assert verified(journal).mirrored == 31 - inside
    journal.close()
    verified(Journal(journal.folder))


@pytest.mark.req("SEC-08")
def test_mirror_that_was_removed_is_made_again_with_its_base(journal: Journal) -> None:
    for number in range(10):
        journal.append("x", {"n": number})
    drop(journal, 6)
    for path in Path(journal.folder, "mirror").iterdir():
        path.unlink()

    missing = verify(journal).problems
    drop(journal, 0)

    assert missing == ["the mirror's copy of the base after event 6 is missing or differs"]
    assert verified(journal).mirrored == len(numbers(journal)) == 5


# Death between any two steps.


def full(folder: Path) -> Journal:
    journal = Journal(str(folder))
    for name in SESSIONS:
        some_work(journal, name, "a", "b")
    with journal.writing() as tx:
        decision_records.note(tx, "kept for ever")
    journal.close()
    return Journal(str(folder))


@pytest.mark.req("SEC-08")
@pytest.mark.parametrize("dropped_before", [0, 4])
def test_drop_cut_short_after_any_step_is_harmless_and_healed_by_the_next(
    tmp_path: Path, dropped_before: int
) -> None:
    for nth in count(1):
        journal = full(tmp_path / str(nth))
        if dropped_before:
            drop(journal, dropped_before)
        last = questions.last_seq(journal)
        fuse = Fuse(nth)
        with pytest.MonkeyPatch.context() as patch, suppress(Death):
            for name in ("fsync", "rename", "unlink", "write", "ftruncate"):
                patch.setattr(os, name, fuse.on(getattr(os, name)))
            for name in ("append", "execute", "_end"):
                patch.setattr(Writing, name, fuse.on(getattr(Writing, name)))
            drop(journal, 11)
        journal.let_go()

        again = Journal(journal.folder)
        at_once = verify(again)
        assert at_once.problems == [], f"after step {nth}"
        assert at_once.dropped in {dropped_before, 11}
        assert numbers(again)[0] == at_once.dropped + 1
        assert numbers(again)[-1] == last + (at_once.dropped == 11)
        drop(again, 11)
        assert verified(again).dropped == 11
        assert mirrored(again) == numbers(again)
        kept = sorted(os.listdir(Path(again.folder, "mirror")))
        assert kept == ["000000000011.base.json", "000000000012.jsonl"]
        assert [d.text for d in questions.decisions(again)] == ["kept for ever"]
        again.close()
        if fuse.left > 0:  # there were fewer steps than that
            break
    assert nth > 15


TRIMMER = """
import sys
from standfast.journal import mirror, questions
from standfast.journal.retention import dropped_events, event_drop
from standfast.journal.store import Journal
journal = Journal(sys.argv[1], lock_timeout_s=60)
rounds = int(sys.argv[2])
while rounds:
    rounds -= 1
    with mirror.alone(journal.folder) as is_mine:
        if not is_mine:
            continue
        mirror.append(journal)
        event_drop.settle(journal)
        found = dropped_events.load(journal.connection)
        upto = min(questions.last_seq(journal) - 20, mirror.last_seq(journal.folder))
        if upto > found.through:
            event_drop.drop(journal, found, upto)
    print(upto, flush=True)
"""


@pytest.mark.req("SEC-08")
def test_kill_at_any_moment_of_a_drop_leaves_a_journal_that_verifies(tmp_path: Path) -> None:
    journal = full(tmp_path / "standfast")
    dice = random.Random(8)
    for _ in range(25):
        for _ in range(30):
            journal.append("x", {"text": "words " * 20}, Author(session="s"))
        process = subprocess.Popen(
            [sys.executable, "-c", TRIMMER, journal.folder, "-1"], stdout=subprocess.PIPE
        )
        assert process.stdout is not None
        for _ in range(dice.randrange(3)):  # dies in the middle of one of the first
            process.stdout.readline()
            journal.append("x", {}, Author(session="s"))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        verified(journal)
    drop(journal, questions.last_seq(journal))

    assert [d.text for d in questions.decisions(journal)] == ["kept for ever"]
    assert len(os.listdir(Path(journal.folder, "mirror"))) == 2
    verified(journal)


WRITER = """
import sys
from standfast.journal.author import Author
from standfast.journal.store import Journal
journal = Journal(sys.argv[1], lock_timeout_s=60)
author = Author("writer", session=sys.argv[2])
for number in range(1, 151):
    with journal.writing() as tx:
        tx.append("wrote", {"id": tx.allot("ST"), "number": number}, author)
    print(number, flush=True)
journal.close()
"""


@pytest.mark.prove
@pytest.mark.req("SEC-08")
def test_many_writers_lose_nothing_while_two_others_drop(tmp_path: Path) -> None:
    folder = str(tmp_path / "standfast")
    Journal(folder).append("x", {})
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, folder, f"w{n}"],
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )
        for n in range(6)
    ]
    trimmers = [
        subprocess.Popen(
            [sys.executable, "-c", TRIMMER, folder, "-1"], stdout=subprocess.PIPE, encoding="utf-8"
        )
        for _ in range(2)
    ]
    said = [writer.communicate(timeout=120)[0] for writer in writers]
    for trimmer in trimmers:
        assert trimmer.poll() is None  # still at it: they came upon no error
        trimmer.kill()
        trimmer.communicate()
    journal = Journal(folder)
    report = verified(journal)

    assert all(lines.split() == [str(n) for n in range(1, 151)] for lines in said)
    assert journal.query("SELECT last FROM counters WHERE prefix = 'ST'") == [(900,)]
    drops = questions.last_seq(journal) - 901
    assert report.dropped > 0
    assert drops > 2
    assert set(report_heads(journal)) >= {f"session:w{n}" for n in range(6)}


def report_heads(journal: Journal) -> list[str]:
    rows = journal.query("SELECT stream FROM heads UNION SELECT stream FROM events")
    return [stream for (stream,) in rows]


# Tampering.


def change_document(journal: Journal) -> None:
    ((document,),) = journal.query("SELECT document FROM base")
    changed = document.replace("kept for ever", "never was said", 1)
    body, _, _ = changed.encode().rpartition(b',"crc":"')
    sealed = body + b',"crc":"%08x"}\n' % bases.zlib.crc32(body)
    journal.query("UPDATE base SET document = ?", (sealed.decode(),))
    journal.query("UPDATE decisions SET text = 'never was said'")
    Path(event_drop.file_of(journal.folder, 19)).write_bytes(sealed)


def change_payload(journal: Journal) -> None:
    change_document(journal)
    digest = bases.digest(Path(event_drop.file_of(journal.folder, 19)).read_bytes())
    journal.query(
        "UPDATE events SET payload = json_set(payload, '$.base', ?) WHERE kind = 'events.dropped'",
        (digest,),
    )


TAMPERED = {
    "a decision in the base": (change_document, "not what the journal says of it"),
    "the base and its digest": (change_payload, "its hash does not match"),
    "a head": (
        lambda journal: journal.query("UPDATE heads SET hash = zeroblob(32) WHERE stream = 'repo'"),
        "`heads` are not those of the base",
    ),
    "the last number": (
        lambda journal: journal.query("UPDATE base SET through = 18"),
        "not what the journal says of it",
    ),
    "no base": (
        lambda journal: journal.query("DELETE FROM base"),
        "not what the journal says of it",
    ),
    "half a base": (
        lambda journal: journal.query("UPDATE base SET document = substr(document, 1, 99)"),
        "its checksum is wrong",
    ),
    "more dropped than said": (
        lambda journal: journal.query("DELETE FROM events WHERE seq = 20"),
        "events 20 to 20 are missing",
    ),
    "the drop itself": (
        lambda journal: journal.query("DELETE FROM events WHERE kind = 'events.dropped'"),
        "not what the journal says of it",
    ),
    "a counter": (
        lambda journal: journal.query("UPDATE counters SET last = 0"),
        "the ids given out",
    ),
    "the mirror's base": (
        lambda journal: Path(event_drop.file_of(journal.folder, 19)).write_text("{}", "utf-8"),
        "the mirror's copy of the base",
    ),
}


@pytest.mark.req("SEC-08")
@pytest.mark.parametrize("what", TAMPERED)
def test_base_that_was_tampered_with_is_named(tmp_path: Path, what: str) -> None:
    journal = full(tmp_path / "standfast")
    journal.append("x", {})
    drop(journal, 19)
    verified(journal)
    tamper, named = TAMPERED[what]

    tamper(journal)

    assert any(named in problem for problem in verify(journal).problems), verify(journal).problems


@pytest.mark.req("SEC-08")
@pytest.mark.parametrize(
    "change", ["UPDATE events SET at = at + 1 WHERE seq = 3", "DELETE FROM events WHERE seq = 3"]
)
def test_events_that_are_not_what_was_recorded_are_never_dropped(
    tmp_path: Path, change: str
) -> None:
    journal = full(tmp_path / "standfast")
    journal.query(change)
    before = numbers(journal)

    with pytest.raises(JournalDamaged, match=r"event"):
        drop(journal, 10)

    assert numbers(journal) == before
    assert verify(journal).problems != []


@pytest.mark.req("SEC-08")
def test_base_document_is_plain_json_that_reads_back(journal: Journal) -> None:
    act(journal, "begin", "one", 1)  # words with half an emoji
    act(journal, "note", "one", 2)
    drop(journal, 2)

    document = Path(event_drop.file_of(journal.folder, 2)).read_bytes()

    found = json.loads(document)
    assert (found["base"], found["through"], found["counters"]) == (1, 2, {"RD": 1})
    assert bases.read(document).document() == document
    for cut in range(0, len(document), 7):
        with pytest.raises(JournalDamaged):
            bases.read(document[:cut])
