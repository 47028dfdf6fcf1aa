"""Whatever order facts come in: what ended stays so, and the state is what they say."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from standfast.journal.author import Author
from standfast.journal.store import Journal
from standfast.journal.verification import verify

SPOOL = "spool boot 1"
OPEN = {"open", "background"}


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    journal = Journal(str(tmp_path / "standfast"))
    journal.append("session.started", {"source": "startup", "client": "claude"}, author("s1"))
    yield journal
    journal.close()


def author(session: str, actor: str = "claude") -> Author:
    return Author(actor, session=session)


def tell(
    journal: Journal, kind: str, *, session: str = "s1", actor: str = "claude", **fields: Any
) -> int:
    return journal.append(kind, fields, author(session, actor))


def states(journal: Journal, what: str, session: str = "s1") -> dict[str, str]:
    found = journal.query(
        "SELECT key, state FROM work WHERE what = ? AND session = ? ORDER BY key", (what, session)
    )
    return dict(found)


# Any order.

IDS = st.sampled_from(["a", "b", "c"])
KINDS = st.sampled_from(
    ["tool.started", "tool.ended", "tool.failed", "background", "turn.ended", "listed"]
)
STEP = st.tuples(KINDS, IDS, st.sampled_from(["s1", "s2"]), st.booleans(), st.integers(-50, 0))


def event(kind: str, key: str) -> tuple[str, dict[str, object]]:
    """A step as the event that a hook would have recorded."""
    if kind == "background":
        return "tool.ended", {"id": key, "tool": "Bash", "words": "w", "background": f"shell-{key}"}
    if kind == "listed":
        return "turn.ended", {"background": [f"shell-{key}"]}
    if kind == "turn.ended":
        return kind, {"text": "done"}
    return kind, {"id": key, "tool": "Bash", "words": "w"}


@settings(max_examples=60, deadline=None)
@given(steps=st.lists(STEP, max_size=40))
def test_no_order_of_events_reopens_what_has_ended(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str, str, bool, int]]
) -> None:
    journal = Journal(str(tmp_path_factory.mktemp("j") / "standfast"))
    ended: set[tuple[str, str]] = set()
    with journal.writing() as tx:
        for number, (kind, key, session, is_late, age) in enumerate(steps):
            name, payload = event(kind, key)
            at = 1_000 + number + (age if is_late else 0)
            tx.append(name, payload, author(session), origin=SPOOL if is_late else None, at=at)
            if kind in {"tool.ended", "tool.failed"}:
                ended.add((session, key))
            rows = tx.execute("SELECT session, key, state FROM work WHERE what = 'call'")
            now = {(str(session), str(key)): str(state) for session, key, state in rows}
            assert not {call for call in ended if now[call] in OPEN}

    told = {
        (session, key) for kind, key, session, *_ in steps if kind not in {"turn.ended", "listed"}
    }
    calls = journal.query("SELECT session, key, ended, state FROM work WHERE what = 'call'")
    assert {(session, key) for session, key, *_ in calls} == told
    assert all(over > 0 or state == "open" for *_, over, state in calls)
    assert verify(journal).problems == []
    journal.close()


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_state_of_a_call_does_not_depend_on_when_its_begin_comes_in(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """A begin that waited in the spool comes after its end; the rest keeps its order."""
    ends = data.draw(st.lists(st.tuples(IDS, st.sampled_from(["ended", "failed"])), max_size=8))
    begins = data.draw(st.lists(IDS, unique=True))
    found = []
    for late in (False, True):
        journal = Journal(str(tmp_path_factory.mktemp("j") / "standfast"))
        with journal.writing() as tx:
            started = [("tool.started", {"id": key, "words": key}) for key in begins]
            over = [(f"tool.{how}", {"id": key, "words": key}) for key, how in ends]
            for kind, payload in [*over, *started] if late else [*started, *over]:
                origin = SPOOL if late and kind == "tool.started" else None
                tx.append(kind, payload, author("s1"), origin=origin)
        found.append((states(journal, "call"), words(journal)))
        assert verify(journal).problems == []
        journal.close()

    assert found[0] == found[1]


def words(journal: Journal) -> list[tuple[object, ...]]:
    return journal.query("SELECT key, words FROM work ORDER BY what, key")


def test_equal_tool_ids_of_two_sessions_are_two_calls(journal: Journal) -> None:
    tell(journal, "tool.started", id="t", words="mine")
    tell(journal, "tool.started", session="s2", id="t", words="theirs")
    tell(journal, "tool.ended", session="s2", id="t", words="theirs")

    assert states(journal, "call") == {"t": "open"}
    assert states(journal, "call", "s2") == {"t": "done"}


def test_fact_without_an_id_is_kept_and_opens_nothing(journal: Journal) -> None:
    for kind in ("tool.started", "tool.ended", "tool.failed", "agent.started", "agent.ended"):
        tell(journal, kind, tool="Bash", words="x", background="b1")

    assert journal.query("SELECT count(*) FROM events WHERE kind GLOB '[at]*.*'") == [(5,)]
    assert journal.query("SELECT * FROM work") == []
    assert verify(journal).problems == []


def test_call_that_was_refused_is_not_in_flight_after_its_turn(journal: Journal) -> None:
    tell(journal, "tool.started", id="refused", words="git push")
    tell(journal, "tool.started", actor="agent1", id="its", words="npm test")
    tell(journal, "turn.ended", text="I was not allowed to")
    tell(journal, "tool.started", id="next", words="ls")

    assert states(journal, "call") == {"its": "open", "next": "open", "refused": "left"}

    tell(journal, "tool.failed", id="refused", error="late, but true")

    assert states(journal, "call")["refused"] == "failed"
    assert verify(journal).problems == []


def test_late_end_of_a_turn_leaves_alone_what_began_after_it(journal: Journal) -> None:
    with journal.writing() as tx:
        tx.append("tool.started", {"id": "old"}, author("s1"), at=1_000)
        tx.append("tool.started", {"id": "new"}, author("s1"), at=3_000)
        tx.append("turn.ended", {"text": "x"}, author("s1"), origin=SPOOL, at=2_000)

    assert states(journal, "call") == {"new": "open", "old": "left"}


# What runs in the background.


def test_background_command_ends_when_the_client_no_longer_lists_it(journal: Journal) -> None:
    for key in ("a", "b", "c"):
        tell(journal, "tool.started", id=key, tool="Bash", words=key)
        tell(journal, "tool.ended", id=key, tool="Bash", words=key, background=f"shell-{key}")

    tell(journal, "turn.ended", text="no list in this version")
    before = states(journal, "call")
    tell(journal, "turn.ended", background=["shell-a", None, 7])
    tell(journal, "turn.ended", background=["shell-a", "shell-b"])  # b does not come back to life

    assert before == {"a": "background", "b": "background", "c": "background"}
    assert states(journal, "call") == {"a": "background", "b": "unseen", "c": "unseen"}
    assert verify(journal).problems == []


def test_list_from_a_spool_ends_no_command_that_is_newer(journal: Journal) -> None:
    with journal.writing() as tx:
        tx.append("tool.ended", {"id": "a", "background": "x"}, author("s1"), at=1_000)
        tx.append("tool.ended", {"id": "b", "background": "y"}, author("s1"), at=3_000)
        tx.append("turn.ended", {"background": []}, author("s1"), origin=SPOOL, at=2_000)

    assert states(journal, "call") == {"a": "unseen", "b": "background"}


def test_background_of_one_session_is_not_ended_by_another(journal: Journal) -> None:
    tell(journal, "tool.ended", id="a", background="x")
    tell(journal, "turn.ended", session="s2", background=[])

    assert states(journal, "call") == {"a": "background"}


# Subagents.


@pytest.mark.parametrize("order", ["before", "after", "never", "unknown"])
def test_subagent_has_its_label_whenever_its_call_comes_back(journal: Journal, order: str) -> None:
    """Before its end when it runs in the background, after it when it was waited for."""
    call = {"id": "c", "tool": "Agent", "words": "audit", "agent": "a1"}
    tell(journal, "tool.started", id="c", tool="Agent", words="audit")
    if order != "unknown":
        tell(journal, "agent.started", id="a1", words="")
    if order == "before":
        tell(journal, "tool.ended", **call, running=1)
        assert states(journal, "agent") == {"a1": "open"}
        tell(journal, "agent.ended", actor="a1", id="a1", text="done")
    elif order == "after":
        tell(journal, "agent.ended", actor="a1", id="a1", text="done")
        tell(journal, "tool.ended", **call)
    else:  # its own end was lost, but the call that waited for it came back
        tell(journal, "tool.ended", **call)

    ((state, label, agent, ended),) = journal.query(
        "SELECT state, words, agent, ended FROM work WHERE what = 'agent'"
    )
    assert (state, label, agent) == ("done", "audit", "claude")
    assert ended > 0
    assert verify(journal).problems == []


@pytest.mark.parametrize("told", [True, False])
def test_subagent_that_ended_is_not_at_work_again(journal: Journal, *, told: bool) -> None:
    tell(journal, "agent.started", id="a1", words="audit")
    tell(journal, "agent.ended", actor="a1", id="a1", **({"text": "two races"} if told else {}))
    tell(journal, "agent.started", id="a1", words="audit")
    tell(journal, "tool.ended", id="c", tool="Agent", words="audit", agent="a1", running=1)

    assert states(journal, "agent") == {"a1": "done" if told else "silent"}


# Tasks: the client's own list.

PENDING, BEGUN, DONE, GONE = "pending", "in_progress", "completed", "deleted"


@pytest.mark.parametrize(
    ("told", "then"),
    [
        ([{"tasks": [{"id": "1", "words": "a"}]}], {"1": ("a", PENDING)}),
        ([{"tasks": [{"id": 1, "words": "a"}]}], {"1": ("a", PENDING)}),
        (
            [{"tasks": [{"id": "1", "words": "a"}]}, {"tasks": [{"id": "1", "status": BEGUN}]}],
            {"1": ("a", BEGUN)},
        ),
        (
            [{"tasks": [{"id": "1", "words": "a"}]}, {"tasks": [{"id": "1", "words": "b"}]}],
            {"1": ("b", PENDING)},
        ),
        (
            [
                {"tasks": [{"id": "1", "words": "a"}, {"id": "2", "words": "b"}]},
                {"tasks": [{"id": "2", "words": "b", "status": DONE}], "whole": 1},
            ],
            {"1": ("a", GONE), "2": ("b", DONE)},
        ),
        (
            [{"tasks": [{"id": "1", "words": "a"}]}, {"tasks": [], "whole": 1}],
            {"1": ("a", GONE)},
        ),
        ([{"tasks": [{"id": "1", "words": "a"}]}, {"tasks": []}], {"1": ("a", PENDING)}),
        ([{"tasks": [{"id": None, "words": "a"}]}], {}),
        ([{"tasks": []}], {}),
        ([{}], {}),
    ],
)
def test_tasks_are_as_they_were_last_told(
    journal: Journal, told: list[dict[str, Any]], then: dict[str, tuple[str, str]]
) -> None:
    for fields in told:
        tell(journal, "tasks.told", **fields)

    rows = journal.query("SELECT key, words, state FROM work WHERE what = 'task'")
    assert {key: (text, state) for key, text, state in rows} == then
    assert verify(journal).problems == []


def test_old_word_on_a_task_does_not_replace_a_newer_one(journal: Journal) -> None:
    with journal.writing() as tx:
        done = {"tasks": [{"id": "1", "words": "new", "status": DONE}]}
        tx.append("tasks.told", done, author("s1"), at=3_000)
        for old in ({"tasks": [{"id": "1", "words": "old", "status": BEGUN}]}, {"whole": 1}):
            payload = {"tasks": [], **old}
            tx.append("tasks.told", payload, author("s1"), origin=SPOOL, at=2_000)

    rows = journal.query("SELECT words, state FROM work WHERE what = 'task'")
    assert rows == [("new", DONE)]


def test_whole_list_of_one_session_drops_no_task_of_another(journal: Journal) -> None:
    tell(journal, "tasks.told", tasks=[{"id": "1", "words": "a"}])
    tell(journal, "tasks.told", session="s2", tasks=[], whole=1)

    assert states(journal, "task") == {"1": PENDING}


# The session itself.


def test_subagent_that_compacts_changes_nothing_of_its_session(journal: Journal) -> None:
    before = journal.query("SELECT * FROM sessions")
    tell(journal, "session.started", actor="a1", source="compact", client="claude", tokens=5)
    tell(journal, "compaction.begun", actor="a1", tokens=5, window=9)

    assert journal.query("SELECT * FROM sessions") == before
    assert journal.query("SELECT session, agent FROM briefs") == [("s1", "a1")]


def test_nothing_brings_a_forgotten_session_back(journal: Journal) -> None:
    journal.append("session.forgotten", {"session": "s1"})
    for source in ("startup", "resume", "compact", "clear", "fork"):
        tell(journal, "session.started", source=source, client="claude")
    tell(journal, "session.ended", reason="other")

    assert journal.query("SELECT count(*) FROM sessions WHERE forgotten > 0") == [(1,)]
    assert verify(journal).problems == []


def test_compactions_are_counted_and_wake_nobody_anew(journal: Journal) -> None:
    seq = tell(journal, "session.started", source="resume", client="claude")
    for _ in range(3):
        tell(journal, "session.started", source="compact", client="claude")

    assert journal.query("SELECT compactions, woke FROM sessions") == [(3, seq)]


ODD = ("id", "words", "agent", "file", "background", "source")


def test_payloads_of_any_shape_fold_or_are_refused_whole(journal: Journal) -> None:
    """A fold that fails leaves no event behind, and the journal stays what its events say."""
    odd: list[object] = [None, 0, 1.5, "", "x", [], {}, [[]], {"id": {}}, True, "\u0000", "9" * 500]
    for kind in ("tool.started", "tool.ended", "agent.ended", "session.started", "turn.ended"):
        for value in odd:
            fields: dict[str, Any] = dict.fromkeys(ODD, value)
            tell(journal, kind, **fields, client="claude")
    for value in odd:
        tell(journal, "brief.given", owed=value, nonce=value, characters=7)
        tell(journal, "brief.missed", owed=value)

    assert verify(journal).problems == []
    assert json.dumps(journal.query("SELECT * FROM work"))


# Starts and ends that come late.

STARTS = st.sampled_from(["startup", "resume", "compact", "end"])


@settings(max_examples=60, deadline=None)
@given(steps=st.lists(st.tuples(STARTS, st.booleans(), st.integers(-50, 0)), max_size=25))
def test_state_of_a_session_is_what_its_events_say_also_of_late_ones(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, bool, int]]
) -> None:
    journal = Journal(str(tmp_path_factory.mktemp("j") / "standfast"))
    for number, (source, late, shift) in enumerate(steps):
        kind = "session.ended" if source == "end" else "session.started"
        fields = {"reason": "other"} if source == "end" else {"source": source, "client": "claude"}
        at = 1_000 + number * 10 + (shift * 10 if late else 0)
        with journal.writing() as tx:
            tx.append(kind, fields, author("s1"), origin=SPOOL if late else None, at=at)

    assert not steps or verify(journal).problems == []
    journal.close()


def test_late_start_undoes_no_end_that_came_after_it(journal: Journal) -> None:
    with journal.writing() as tx:
        tx.append("session.started", {"source": "resume", "client": "claude"}, author("s1"), at=1)
    tell(journal, "session.ended", reason="other")
    with journal.writing() as tx:
        late = {"source": "compact", "client": "claude"}
        tx.append("session.started", late, author("s1"), origin=SPOOL, at=2)

    assert journal.query("SELECT ended FROM sessions") == [("other",)]
    assert journal.query("SELECT count(*) FROM briefs WHERE why = 'compact'") == [(0,)]


def test_work_of_an_earlier_life_stays_in_flight_until_somebody_knows(journal: Journal) -> None:
    tell(journal, "agent.started", id="a1", words="audit")
    tell(journal, "tool.started", id="t1", tool="Bash", words="./deploy prod")
    tell(journal, "session.started", source="resume", client="claude")
    tell(journal, "tool.started", id="t2", tool="Bash", words="refused")
    tell(journal, "turn.ended", text="done")

    assert states(journal, "agent") == {"a1": "open"}
    assert states(journal, "call") == {"t1": "open", "t2": "left"}
    assert verify(journal).problems == []


@pytest.mark.parametrize("kind", ["prompt", "compaction.begun"])
def test_call_that_was_stopped_by_hand_is_not_in_flight(journal: Journal, kind: str) -> None:
    tell(journal, "tool.started", id="t1", tool="Bash", words="touch deployed")
    tell(journal, kind, actor="user" if kind == "prompt" else "claude", trigger="manual", text="x")

    assert states(journal, "call") == {"t1": "left"}


def test_what_ended_while_hooks_were_off_is_not_said_to_run(journal: Journal) -> None:
    tell(journal, "tool.started", id="t1", tool="Bash", words="npm test")
    journal.append("hooks.off", {})
    journal.append("hooks.on", {})

    assert states(journal, "call") == {"t1": "left"}
    assert verify(journal).problems == []


def roles(journal: Journal) -> dict[str, str]:
    rows = journal.query("SELECT key, value ->> '$' FROM cells WHERE key LIKE 'role:%'")
    return {str(key): str(value) for key, value in rows}


@pytest.mark.req("CTX-14")
def test_role_of_a_session_is_the_newest_that_was_told(journal: Journal) -> None:
    for session, role in (("s1", "dev"), ("s2", "tester"), ("s1", "lead"), ("s3", None), ("s4", 7)):
        told = {} if role is None else {"role": role}
        tell(journal, "session.started", session=session, client="claude", **told)
    with journal.writing() as tx:
        late = {"client": "claude", "role": "overtaken"}
        tx.append("session.started", late, author("s1"), origin=SPOOL, at=2)

    assert roles(journal) == {"role:s1": "lead", "role:s2": "tester"}
    assert verify(journal).problems == []
