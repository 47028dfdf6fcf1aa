"""A brief: facts of its own session, in a fixed order, bounded, once for each wake-up, no guess."""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ratios
from claude_calls import SESSION, Claude, context
from conftest import Cli
from standfast import clock
from standfast.brief import brief_sections as sections_of_a_brief
from standfast.brief import brief_text, delivery, facts, sessions
from standfast.brief.facts import Facts
from standfast.clients.claude import derived_facts
from standfast.errors.base import NothingFound
from standfast.journal import session_process
from standfast.journal.author import Author
from standfast.journal.store import Journal
from standfast.journal.tables import decision_records, session_folds
from standfast.journal.tables.session_folds import owed_brief
from standfast.journal.verification import verify
from standfast.protocols.resumption.rules import plain_values

ORDER = (
    "[standfast ",
    "Session ",
    "THE USER ASKED",
    "IN FLIGHT",
    "NEXT: ",
    "DECISIONS",
    "LAST RESULTS",
    "CHANGED",
    "1 other session",
    "More: standfast brief --more",
)
KINDS = [
    *("prompt", "done", "failed", "error", "file-", "task", "subject", "decision", "agent", "open")
]
DAY_US = 86_400 * clock.MICROSECONDS


def units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def note(claude: Claude, text: str, *, session: str | None = None) -> None:
    with claude.journal.writing() as tx:
        decision_records.note(tx, text, Author(session=session))


def commit(claude: Claude, subject: str) -> None:
    name = claude.begins("Bash", command="git commit")
    arguments = ["git", "commit", "-q", "--allow-empty", "-m", subject]
    subprocess.run(arguments, cwd=claude.root, check=True)
    claude.ends(name, "Bash", command="git commit")


@pytest.fixture
def claude(repo: Path) -> Claude:
    claude = Claude(repo)
    claude("SessionStart", source="startup")
    return claude


def work_of_every_kind(claude: Claude) -> None:
    Claude(claude.root, "other")("SessionStart", source="startup")
    claude("UserPromptSubmit", prompt="checkout test is flaky, find out why and fix it")
    claude("UserPromptSubmit", prompt="next: open a PR")
    claude.does("Bash", command="npm test")
    claude.fails("Bash", "Exit code 3\n2 failing", command="npm run e2e")
    commit(claude, "checkout: wait for settled")
    edited = {"filePath": f"{claude.root}/src/refunds.ts"}
    claude.does("Edit", file_path="src/refunds.ts", response=edited)
    claude.does("TaskCreate", subject="x", response={"task": {"id": "2", "subject": "refunds fix"}})
    note(claude, "never raise the timeout")
    claude.begins("Agent", description="audit refunds tests", prompt="look", subagent_type="x")
    claude("SubagentStart", agent_id="agent1", agent_type="x")
    claude.begins("Bash", command="npm run e2e -- refunds")


# What stands in it, and where.


@pytest.mark.req("WAKE-01")
def test_sections_stand_in_their_order(claude: Claude) -> None:
    work_of_every_kind(claude)

    text = claude.wakes("compact")

    places = [text.find(title) for title in ORDER]
    assert -1 not in places
    assert places == sorted(places)
    for words in (
        " checkout test is flaky, find out why and fix it ",
        "- subagent «",
        " audit refunds tests ",
        " npm run e2e -- refunds ",
        "failed 3, «",
        " 2 failing ",
        " checkout: wait for settled ",
        "- edited «",
        " src/refunds.ts ",
        "- 2 «",
        " refunds fix ",
        "- RD-001 «",
        " never raise the timeout ",
    ):
        assert text.count(words) == 1, words


@pytest.mark.req("WAKE-01")
def test_next_step_is_never_guessed(claude: Claude) -> None:
    work_of_every_kind(claude)

    text = claude.wakes("compact")

    waiting = "The newest prompt has no recorded answer."
    told = [line for line in text.splitlines() if "NEXT" in line]
    assert told == [f"NEXT: not recorded. {waiting} Task list:"]
    assert not re.search(r"^ *\d+\. ", text, re.MULTILINE)


@pytest.mark.req("WAKE-01")
def test_the_same_journal_gives_the_same_bytes_in_any_process(claude: Claude, cli: Cli) -> None:
    work_of_every_kind(claude)

    told = [
        cli("brief", cwd=claude.root, env={"PYTHONHASHSEED": seed}).stdout
        for seed in ("0", "1", "4242")
    ]
    ask = claude.journal.query
    found = facts.gather(ask, claude.session, "claude", "asked", most=12)
    told.append(brief_text.render(found, delivery.make_nonce(ask), brief_text.SHORT) + "\n")

    assert told[0].startswith("[standfast ")
    assert set(told) == {told[0]}


def test_what_was_done_by_our_own_commands_is_not_told_twice(claude: Claude) -> None:
    claude.does("Bash", command='standfast note "keep the cookie"')
    claude.does("Bash", command="standfast status; npm run deploy")

    text = claude.wakes("compact")

    assert "keep the cookie" not in text
    assert " standfast status; npm run deploy " in text


def test_call_of_a_tool_without_a_name_is_told_too(claude: Claude) -> None:
    claude("UserPromptSubmit")
    claude("UserPromptSubmit", prompt=5)
    claude("PreToolUse", tool_use_id="t", tool_input={"command": "who knows"})

    text = claude.wakes("compact")

    assert re.search(r"- call «\w+ who knows \w+», since", text)


def test_call_of_a_subagent_that_is_not_known_yet_is_in_flight_itself(claude: Claude) -> None:
    for words in ("first", "second"):
        claude.begins("Agent", description=words, prompt="p", subagent_type="x")
    claude("SubagentStart", agent_id="agent1", agent_type="x")

    text = claude.wakes("compact")

    assert re.findall(r"^- (\w+) «\w+ (\w+)", text, re.MULTILINE) == [
        ("subagent", "first"),
        ("Agent", "second"),
    ]


# How much of it.

WORDS = st.one_of(
    st.text(max_size=40),
    st.text("😀👩‍👧漢字é\n« »<|", max_size=2_000),
    st.integers(0, 4_000).map("w".__mul__),
    st.integers(0, 60).map("a long/path/".__mul__),
)
TIMES = st.integers(0, 2**40)
NAME = st.one_of(st.just("Bash"), WORDS)


def many(*parts: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(st.tuples(*parts), max_size=12)


@st.composite
def any_facts(draw: st.DrawFn) -> Facts:
    found = Facts()
    found.session, found.client, found.agent = SESSION, "claude", "claude"
    found.why = draw(st.sampled_from(["compact", "resume", "fork", "asked"]))
    found.branch, found.parent = draw(st.none() | WORDS), draw(st.none() | st.just("p" * 64))
    found.woke, found.upto, found.others = 5, draw(TIMES), draw(st.integers(0, 10**6))
    found.is_answered = draw(st.booleans())
    found.all_prompts = found.all_decisions = draw(st.integers(0, 10**6))
    found.missing = draw(
        st.lists(
            st.tuples(st.sampled_from(["gap", "hooks.off"]), st.none() | st.integers(1, 9), TIMES),
            max_size=3,
        )
    )
    found.prompts = draw(many(TIMES, WORDS))
    found.first_prompt = draw(st.none() | st.tuples(TIMES, WORDS))
    call = st.sampled_from(["call", "agent"])
    state = st.sampled_from(["open", "background"])
    found.in_flight = draw(many(call, WORDS, TIMES, st.integers(0, 9), st.none() | NAME, state))
    status = st.none() | st.integers(0, 255)
    ended = st.sampled_from(["done", "failed"])
    found.results = draw(many(TIMES, WORDS, ended, status, WORDS, TIMES, st.just("Bash")))
    found.commits = draw(many(st.just("9ac41d0"), WORDS, TIMES))
    found.edited = draw(st.lists(WORDS, max_size=12))
    found.tasks = draw(many(WORDS, WORDS, st.sampled_from(["in_progress", "pending"])))
    found.decisions = draw(many(st.just("RD-001"), WORDS, NAME, TIMES, st.none() | WORDS))
    found.label, found.asked = draw(WORDS), draw(WORDS)
    if draw(st.booleans()):
        found.agent = "agent1"
    return found


@pytest.mark.req("WAKE-02")
@settings(max_examples=80, deadline=None)
@given(found=any_facts())
def test_whatever_there_is_to_tell_it_fits_and_the_vital_is_in_it(found: Facts) -> None:
    short = brief_text.render(found, "M2XD", brief_text.SHORT)
    more = brief_text.render(found, "M2XD", brief_text.MORE)
    addition = brief_text.render(found, "M2XD", brief_text.SHORT, known=["nothing of it"])

    assert units(short) <= 2_000
    assert units(addition) <= 2_000
    assert units(more) <= 10_000
    assert vital(found) <= set(short.split("\n"))


def vital(found: Facts) -> set[str]:
    """The newest prompt, three calls in flight, the newest decision, and no step that is none."""
    voice = brief_text.Voice("M2XD", brief_text.SHORT)
    sections = (
        sections_of_a_brief._asked,
        sections_of_a_brief._in_flight,
        sections_of_a_brief._next,
        sections_of_a_brief._decisions,
    )
    lines = {line for section in sections for rank, line in section(found, voice)[1] if rank == 0}
    kinds = [found.prompts or found.asked, found.in_flight, not found.is_subagent, found.decisions]
    assert len(lines) >= sum(map(bool, kinds[1:]))
    return lines


@pytest.mark.req("WAKE-02")
@pytest.mark.parametrize("agent", ["claude", "agent1"])
@pytest.mark.parametrize("letter", ["w", "漢", "😀"])
def test_the_longest_of_everything_leaves_room_for_the_vital(agent: str, letter: str) -> None:
    words, found = letter * 4_000, Facts()
    found.session, found.client, found.agent = SESSION, "claude", agent
    found.why, found.branch, found.parent = "fork", words, "p" * 64
    found.woke, found.upto, found.others = 5, 2**50, 10**9
    found.is_answered = False
    found.all_prompts = found.all_decisions = 10**6
    found.missing = [("gap", 10**6, 1), ("hooks.off", None, 1)]
    found.prompts = [(number, words + str(number)) for number in range(12)]
    found.first_prompt = (0, words)
    found.in_flight = [("call", words, at, 0, words, "background") for at in range(24)]
    found.results = [(at, words, "failed", 255, words, at, "Bash") for at in range(12)]
    found.commits = [("9ac41d0", words, 1)] * 12
    found.edited = [words] * 12
    found.tasks = [(words, words, "in_progress")] * 12
    found.decisions = [("RD-1000000", words, words, at, "inbox") for at in range(12)]
    found.label = found.asked = words

    text = brief_text.render(found, "M2XD", brief_text.SHORT)

    assert units(text) <= 2_000
    assert vital(found) <= set(text.split("\n"))
    assert units(brief_text.render(found, "M2XD", brief_text.MORE)) <= 10_000


@pytest.mark.req("WAKE-02")
@settings(max_examples=60, deadline=None)
@given(found=any_facts())
def test_nothing_is_left_out_that_there_is_room_for(found: Facts) -> None:
    """One text that is too long hides no shorter one."""
    text = brief_text.render(found, "M2XD", brief_text.SHORT)
    voice = brief_text.Voice("M2XD", brief_text.SHORT)
    lines = text.split("\n")

    for section in sections_of_a_brief.SECTIONS:
        title, told, _ = section(found, voice)
        is_open = not title or any(line.startswith(title) for line in lines)
        for _, line in told:
            cost = units(line) + 1 + (0 if is_open else units(title) + 1)
            spare = 2 * len(", 1000000 more not shown")  # kept free for two titles
            assert line in lines or units(text) + cost + spare > brief_text.SHORT.characters - 1


@pytest.mark.req("WAKE-02")
@pytest.mark.parametrize("letter", ["w", "漢", "😀"])
def test_long_prompts_and_decisions_do_not_starve_what_is_in_flight(
    claude: Claude, letter: str
) -> None:
    for number in range(8):
        claude("UserPromptSubmit", prompt=f"{number}{letter * 4_000}")
        note(claude, f"{number}{letter * 1_900}")
    for number in range(6):
        claude.begins("Bash", command=f"{number}{letter * 300}")

    text = claude.wakes("compact")

    assert units(text) <= 2_000
    assert re.findall(r"^- Bash «\w+ (\d)", text, re.MULTILINE) == list("543210")
    assert re.findall(r"^ \d\d:\d\d «\w+ (\d)", text, re.MULTILINE) == ["7"]
    assert re.findall(r"^- RD-(\d+)", text, re.MULTILINE) == ["008"]


@pytest.mark.req("WAKE-02")
def test_ten_subagents_at_work_are_ten(claude: Claude) -> None:
    for number in range(10):
        claude.begins("Agent", description=f"audit part {number}", prompt="p", subagent_type="x")
        claude("SubagentStart", agent_id=f"agent{number}", agent_type="x")

    text = claude.wakes("compact")

    assert len(re.findall(r"^- subagent «", text, re.MULTILINE)) == 10


@pytest.mark.req("WAKE-02")
def test_ten_thousand_tasks_and_events_make_it_no_longer(claude: Claude, cli: Cli) -> None:
    fill(claude.journal, events=10_000, tasks=10_000, decided=300)

    text = claude.wakes("compact")
    more = cli("brief", "--more", cwd=claude.root).stdout

    assert 1_000 < units(text) <= 2_000
    assert 5_000 < units(more) <= 10_000
    assert "- RD-300 «" in text
    assert text.count("\n- ") < 40


def fill(journal: Journal, *, events: int, tasks: int = 0, decided: int = 0) -> None:
    """A long session: calls that ended, prompts and commits among them."""
    mine, its = Author("claude", session=SESSION), Author("agent1", session=SESSION)
    with journal.writing() as tx:
        for number in range(events // 2):
            who = mine if number % 2 else its
            call = {"id": f"t{number}", "tool": "Bash", "words": f"npm test -- {number}"}
            tx.append("tool.started", call, who)
            tx.append("tool.ended", {**call, "file": f"src/{number}.py"}, who)
            if number % 4 == 1:
                tx.append("prompt", {"text": f"do {number}"}, Author("user", session=SESSION))
                tx.append("commit.seen", {"commit": f"{number:040x}", "words": "c"}, mine)
        for number in range(tasks):
            task = {"id": str(number), "words": f"task {number} " * 5}
            tx.append("tasks.told", {"tasks": [task]}, mine)
        for number in range(decided):
            decision_records.note(tx, f"decision {number} " * 10)


# Asked of the journal.

ASKED: list[str] = []
WALKS = re.compile(
    r"SCAN (?:events|work|agent|call)\b"
    r"|SEARCH events USING INTEGER PRIMARY KEY \(rowid[<>]"  # from one end of them all
    r"|SEARCH (?:work|call) USING PRIMARY KEY \(session=\? AND what=\?\)(?!.*what = 'task')"
)


def watched(journal: Journal) -> Iterator[str]:
    """Every statement that waking up and recording ask, as SQLite would go about it."""
    connection = journal.connection
    statements = {sql for sql in ASKED if " work" in sql or " events" in sql}
    for sql in sorted(statements):
        for *_, plan in connection.execute(f"EXPLAIN QUERY PLAN {sql}", [None] * wants(sql)):
            yield f"{plan} in {' '.join(sql.split())}"


def wants(sql: str) -> int:
    numbered = [int(number) for number in re.findall(r"\?(\d+)", sql)]
    return max([sql.count("?") - len(numbered), *numbered])


@pytest.mark.req("WAKE-02")
def test_no_question_walks_through_all_events_or_all_work(claude: Claude) -> None:
    ask = claude.journal.query

    def asking(sql: str, values: Any = ()) -> list[tuple[Any, ...]]:
        ASKED.append(sql)
        return ask(sql, values)

    for agent in ("claude", "agent1"):
        facts.gather(asking, SESSION, agent, "compact", most=12)
        owed_brief(asking, SESSION, agent)
    list(facts.open_sessions(asking))
    sessions.newest(asking, 5)
    sessions.injected_since(asking, 0)
    sessions.gaps_since(asking, 0)
    for module in (derived_facts, session_folds, delivery):
        ASKED.extend(
            value
            for name, value in vars(module).items()
            if name.startswith("_") and isinstance(value, str) and " WHERE " in value
        )
    plans = list(watched(claude.journal))

    assert len(plans) > 40
    assert [plan for plan in plans if WALKS.match(plan)] == []


@pytest.mark.ratio
@pytest.mark.prove
@pytest.mark.req("WAKE-02")
def test_brief_of_ten_thousand_events_costs_what_it_costs_at_a_hundred(tmp_path: Path) -> None:
    small, large = Journal(str(tmp_path / "small")), Journal(str(tmp_path / "large"))
    for journal, events in ((small, 100), (large, 10_000)):
        start = {"source": "startup", "client": "claude"}
        journal.append("session.started", start, Author("claude", session=SESSION))
        fill(journal, events=events)

    growth = ratios.summed(ratios.computed, briefs(large), briefs(small))

    assert growth <= 1.5, f"{growth:.2f} x"
    small.close()
    large.close()


def briefs(journal: Journal) -> ratios.Act:
    def make() -> None:
        for _ in range(30):
            found = facts.gather(journal.query, SESSION, "claude", "compact", most=12)
            brief_text.render(found, "M2XD", brief_text.SHORT)

    return make


# When it is given: once for each wake-up, until it was seen.


def standing(claude: Claude) -> list[tuple[str, bool, bool]]:
    rows = claude.journal.query("SELECT why, given > 0, seen > 0 FROM briefs ORDER BY owed")
    return [(why, bool(given), bool(seen)) for why, given, seen in rows]


@pytest.mark.req("WAKE-03")
@pytest.mark.parametrize("proof", ["PreToolUse", "Stop"])
def test_brief_is_given_once_and_seen_when_the_model_replies(claude: Claude, proof: str) -> None:
    first = claude.wakes("compact")
    again = claude("UserPromptSubmit", prompt="go on")
    before = standing(claude)
    claude(proof, tool_name="Bash", tool_use_id="t", tool_input={"command": "ls"})
    later = [claude.does("Bash", command="ls"), claude("UserPromptSubmit", prompt="and on")]

    assert first.startswith("[standfast ")
    assert again == ""
    assert before == [("compact", True, False)]
    assert standing(claude) == [("compact", True, True)]
    assert later == ["", ""]
    assert verify(claude.journal).problems == []


@pytest.mark.req("WAKE-03")
@pytest.mark.parametrize("carrier", ["UserPromptSubmit", "PostToolUse"])
def test_brief_that_nobody_waited_for_is_given_by_the_next_hook(
    claude: Claude, carrier: str
) -> None:
    claude.misses("SessionStart", source="compact")
    missed = standing(claude)
    silent = [claude(event, tool_use_id="t", tool_name="Bash") for event in ("PreToolUse", "Stop")]
    printed = claude(carrier, prompt="go on", tool_use_id="t", tool_name="Bash")

    assert missed == [("compact", False, False)]
    assert silent == ["", ""]  # nothing that these print is shown in every version
    assert context(printed).startswith("[standfast ")
    assert claude(carrier, prompt="go on", tool_use_id="t", tool_name="Bash") == ""
    assert standing(claude) == [("compact", True, False)]
    assert verify(claude.journal).problems == []


@pytest.mark.req("WAKE-03")
def test_brief_of_a_subagent_is_not_proved_or_taken_by_another(claude: Claude) -> None:
    claude.wakes("compact", agent_id="agent1")
    claude.does("Bash", command="ls")
    main = standing(claude)
    claude("PreToolUse", agent_id="agent1", tool_use_id="t", tool_name="Bash", tool_input={})

    assert main == [("compact", True, False)]
    assert standing(claude) == [("compact", True, True)]


@pytest.mark.req("WAKE-03")
def test_later_wake_up_makes_an_earlier_one_void(claude: Claude) -> None:
    claude.misses("SessionStart", source="compact")
    claude.misses("SessionStart", source="resume")
    printed = context(claude("UserPromptSubmit", prompt="go on"))

    assert "you were resumed" in printed
    assert claude("UserPromptSubmit", prompt="go on") == ""
    assert standing(claude) == [("compact", False, False), ("resume", True, False)]


@pytest.mark.req("WAKE-03", "WAKE-06")
def test_resume_adds_to_the_brief_that_the_transcript_still_shows(
    claude: Claude, tmp_path: Path
) -> None:
    claude("UserPromptSubmit", prompt="find out why")
    path = tmp_path / "transcript.jsonl"
    full = claude.wakes("resume", transcript_path=str(path))
    shown(path, full)
    claude("UserPromptSubmit", prompt="and fix it")

    addition = claude.wakes("resume", transcript_path=str(path))
    shown(path, addition)
    nothing = claude.wakes("resume", transcript_path=str(path))

    assert addition.startswith("(standfast ")
    assert "and fix it" in addition
    assert "find out why" not in addition
    assert nothing.endswith("· nothing was recorded since)")


@pytest.mark.req("WAKE-03", "WAKE-06")
def test_resume_is_told_everything_when_the_brief_is_gone(claude: Claude, tmp_path: Path) -> None:
    """Not in the transcript, or before a compaction, also one that is not written there yet."""
    path = tmp_path / "transcript.jsonl"
    texts = []
    first = claude.wakes("resume", transcript_path=str(path))
    texts.append(claude.wakes("resume", transcript_path=str(path)))
    shown(path, first)
    claude.misses("SessionStart", source="compact")
    printed = claude("UserPromptSubmit", prompt="go on", transcript_path=str(path))
    texts.append(context(printed))
    path.write_bytes(path.read_bytes() + b'{"type":"system","subtype":"compact_boundary"}\n')
    texts.append(claude.wakes("resume", transcript_path=str(path)))

    assert [text[0] for text in texts] == ["[", "[", "["]


def shown(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"type": "user", "content": text}, ensure_ascii=False) + "\n")


# Who is told what.


@pytest.mark.req("WAKE-06")
@pytest.mark.parametrize("source", ["compact", "resume"])
def test_who_lost_its_context_is_told_everything(claude: Claude, source: str) -> None:
    claude("UserPromptSubmit", prompt="find out why")

    assert "find out why" in claude.wakes(source)


@pytest.mark.req("WAKE-06")
def test_clear_is_one_line_that_names_what_was_before(claude: Claude, repo: Path) -> None:
    claude("UserPromptSubmit", prompt="find out why")
    claude("SessionEnd", reason="clear")
    line = Claude(repo, "next-session").wakes("clear")

    assert line.startswith("standfast: ")
    assert "\n" not in line
    assert line.endswith("standfast brief 8f2c0000")
    assert "find out why" not in line


@pytest.mark.req("WAKE-06")
def test_fork_is_told_what_its_parent_was_asked_up_to_the_fork(claude: Claude) -> None:
    claude("UserPromptSubmit", prompt="before the fork")
    note(claude, "decided before", session=SESSION)
    child = Claude(claude.root, "child")
    begin = {"source": "fork", "client": "claude", "parent": SESSION}
    claude.journal.append("session.started", begin, Author("claude", session="child"))
    claude("UserPromptSubmit", prompt="after the fork")
    note(claude, "decided after", session=SESSION)

    text = context(child("UserPromptSubmit", prompt="in the child"))

    assert "you were forked from another session]" in text
    assert "Forked from 8f2c0000." in text
    for words in ("before the fork", "decided before", "in the child"):
        assert words in text
    assert "after" not in text

    claude.journal.append("session.forgotten", {"session": SESSION})
    claude.journal.append("session.started", begin, Author("claude", session="child"))
    text = context(child("UserPromptSubmit", prompt="go on"))

    assert "in the child" in text
    assert "before" not in text


@pytest.mark.req("WAKE-06")
def test_subagent_that_compacts_has_a_brief_of_its_own(claude: Claude) -> None:
    claude("UserPromptSubmit", prompt="the user's words")
    claude.begins("Agent", description="audit", prompt="look at refunds", subagent_type="x")
    claude("SubagentStart", agent_id="agent1", agent_type="x")
    given = {"tool_name": "Bash", "tool_use_id": "its", "tool_input": {"command": "its own call"}}
    claude("PreToolUse", agent_id="agent1", **given)
    claude.begins("Bash", command="the main one's")

    text = claude.wakes("compact", agent_id="agent1")

    assert re.search(r"You are a subagent of session 8f2c0000, begun for «\w+ audit \w+»\.", text)
    assert "look at refunds" in text
    assert "its own call" in text
    assert "the main one's" not in text
    assert "the user's words" not in text
    assert "NEXT" not in text


@pytest.mark.req("WAKE-06")
def test_fresh_start_says_nothing(claude: Claude, repo: Path) -> None:
    claude("UserPromptSubmit", prompt="find out why")
    claude.does("Bash", command="ls")
    claude("SessionEnd", reason="other")

    assert Claude(repo, "fresh")("SessionStart", source="startup") == ""


def cut_off(repo: Path, *, at: int | None = None, living: bool = False) -> str:
    """A session with a call in flight whose process is gone; its id."""
    with subprocess.Popen(["sleep", "60"]) as process:
        mark = session_process.mark(str(os.getpid() if living else process.pid))
        process.kill()
    session = "dead0000-1"
    author = Author("claude", session=session)
    start = {"source": "startup", "client": "claude", "process": mark}
    with Journal(str(repo / ".git" / "standfast")).writing() as tx:
        tx.append("session.started", start, author, at=at)
        tx.append("prompt", {"text": "words of the dead"}, author, at=at)
        tx.append("tool.started", {"id": "t", "tool": "Bash", "words": "npm"}, author, at=at)
    return session


@pytest.mark.req("WAKE-06")
def test_fresh_start_is_told_in_one_line_of_work_that_nobody_owns(repo: Path) -> None:
    cut_off(repo)

    printed = json.loads(Claude(repo)("SessionStart", source="startup"))

    line = printed["hookSpecificOutput"]["additionalContext"]
    assert re.fullmatch(
        r"standfast: session dead0000 stopped at [\d: -]+ with work in flight; to see it:"
        r" standfast brief dead0000",
        line,
    )
    assert printed["systemMessage"] == line


@pytest.mark.req("WAKE-06", "WAKE-09")
@pytest.mark.parametrize("why", ["old", "forgotten", "living", "ended"])
def test_fresh_start_is_not_told_of_work_that_is_no_longer_open(
    repo: Path, cli: Cli, why: str
) -> None:
    old = clock.now_us() - 8 * DAY_US
    session = cut_off(repo, at=old if why == "old" else None, living=why == "living")
    if why == "forgotten":
        assert cli("forget", "dead", cwd=repo).returncode == 0
    if why == "ended":
        Claude(repo, session)("SessionEnd", reason="other")

    assert Claude(repo)("SessionStart", source="startup") == ""


@pytest.mark.req("WAKE-08")
def test_sessions_that_work_at_the_same_time_never_read_of_each_other(repo: Path) -> None:
    both = [Claude(repo, "aaaa-session"), Claude(repo, "bbbb-session")]
    for claude in both:
        claude("SessionStart", source="startup")
    for step in range(3):
        for claude in both:
            own = f"{claude.session[:4]}-{step}"
            claude("UserPromptSubmit", prompt=f"prompt {own}")
            claude.does("Bash", command=f"done {own}", response={"stdout": own})
            claude.fails("Bash", f"error {own}", command=f"failed {own}")
            task = {"id": str(step), "subject": f"task {own}"}
            claude.does("TaskCreate", response={"task": task})
            commit(claude, f"subject {own}")
            claude.does("Write", file_path=own, response={"filePath": f"{repo}/file-{own}"})
            note(claude, f"decision {own}", session=claude.session)
            claude.begins("Agent", description=f"agent {own}", prompt=own, subagent_type="x")
            claude("SubagentStart", agent_id=f"agent{step}", agent_type="x")
            claude.begins("Bash", command=f"open {own}")
    for mine, theirs in (("aaaa", "bbbb"), ("bbbb", "aaaa")):
        claude = both[mine == "bbbb"]
        found = facts.gather(claude.journal.query, claude.session, "claude", "asked", most=80)
        text = claude.wakes("compact") + brief_text.render(found, "M2XD", brief_text.MORE)

        for kind in [
            "prompt",
            "done",
            "failed",
            "error",
            "file-",
            "task",
            "subject",
            "decision",
            "agent",
            "open",
        ]:
            assert re.search(rf"{kind} ?{mine}-2", text), kind
        assert theirs not in text
        assert text.count("1 other session at work in this repository") == 2


@pytest.mark.req("WAKE-09")
def test_forgotten_session_is_never_listed_or_injected_again(claude: Claude, cli: Cli) -> None:
    claude("UserPromptSubmit", prompt="words to forget")
    claude.begins("Bash", command="still open")
    before = claude.journal.query("SELECT count(*) FROM events")

    assert cli("forget", "8f2c", cwd=claude.root).returncode == 0
    told = [claude.wakes(source) for source in ("resume", "compact", "fork")]
    told.append(context(claude("UserPromptSubmit", prompt="again")))
    told.append(claude.does("Bash", command="again"))
    status = [cli("status", *more, cwd=claude.root).stdout for more in ([], ["--all"], ["--json"])]

    assert told == [""] * 5
    assert not [text for text in status if "8f2c" in text or "words to forget" in text]
    assert claude.journal.query("SELECT count(*) FROM events WHERE kind = 'prompt'") == [(2,)]
    assert claude.journal.query("SELECT count(*) FROM events") > before
    assert cli("brief", cwd=claude.root).returncode != 0
    assert cli("forget", "8f2c", cwd=claude.root).returncode == 0
    assert verify(claude.journal).problems == []


# What it costs, and what people see of it.


@pytest.mark.req("WAKE-10")
def test_ordinary_session_is_told_nothing(claude: Claude, cli: Cli) -> None:
    said = [
        claude("UserPromptSubmit", prompt="go on"),
        claude.does("Bash", command="ls"),
        claude.does("Edit", file_path="x", response={"filePath": "x"}),
        claude("PreToolUse", tool_name="Agent", tool_use_id="a", tool_input={"prompt": "p"}),
        claude("SubagentStart", agent_id="agent1", agent_type="x"),
        claude("SubagentStop", agent_id="agent1", last_assistant_message="done"),
        claude("PreCompact", trigger="auto"),
        claude("PostCompact", trigger="auto", compact_summary="all"),
        claude("Notification", message="x"),
        claude("TaskCreated", task_id="1", task_subject="x"),
        claude("Stop", last_assistant_message="done"),
        claude("SessionEnd", reason="other"),
    ]

    assert said == [""] * len(said)
    assert "TOLD" not in cli("status", cwd=claude.root).stdout


@pytest.mark.req("WAKE-10")
def test_person_sees_one_line_and_status_counts_the_characters(claude: Claude, cli: Cli) -> None:
    printed = json.loads(claude("SessionStart", source="compact"))
    text = printed["hookSpecificOutput"]["additionalContext"]
    more = claude.wakes("resume")
    shown = cli("status", cwd=claude.root).stdout
    counted = json.loads(cli("status", "--json", cwd=claude.root).stdout)

    assert printed["systemMessage"] == f"standfast: briefed the agent in {len(text):,} characters"
    assert set(printed) == {"hookSpecificOutput", "systemMessage"}
    assert counted["characters_injected_24h"] == units(text) + units(more)
    assert f"TOLD  {units(text) + units(more):,} characters to agents in 24 hours" in shown


@pytest.mark.req("WAKE-10")
def test_hooks_that_are_off_say_and_record_nothing(claude: Claude, cli: Cli) -> None:
    assert cli("off", cwd=claude.root).returncode == 0
    before = claude.journal.query("SELECT count(*) FROM events")
    said = [claude("UserPromptSubmit", prompt="secret"), claude("SessionStart", source="compact")]

    assert said == ["", ""]
    assert claude.journal.query("SELECT count(*) FROM events") == before
    assert cli("on", cwd=claude.root).returncode == 0
    assert claude.wakes("compact").startswith("[standfast ")


# The command.


def test_brief_as_json_holds_the_facts_behind_the_text(claude: Claude, cli: Cli) -> None:
    work_of_every_kind(claude)

    found = json.loads(cli("brief", "8f2c", "--json", cwd=claude.root).stdout)

    assert list(found) == [
        *("session", "client", "branch", "records_up_to", "asked", "in_flight", "tasks"),
        *("decisions", "from_repository", "results", "commits", "edited", "other_sessions"),
        "open_outputs",
        *("documents", "text"),
    ]
    assert found["session"] == SESSION
    assert [each["text"] for each in found["asked"]][
        1
    ] == "checkout test is flaky, find out why and fix it"
    assert found["tasks"] == [{"id": "2", "words": "refunds fix", "state": "pending"}]
    assert found["edited"] == ["src/refunds.ts"]
    assert found["other_sessions"] == 1
    assert found["results"][0]["status"] == 3


def test_brief_takes_the_callers_own_session_then_the_newest(repo: Path, cli: Cli) -> None:
    for name in ("aaaa", "bbbb"):
        Claude(repo, name)("SessionStart", source="startup")

    newest = cli("brief", cwd=repo).stdout
    own = cli("brief", cwd=repo, env={"STANDFAST_SESSION": "aaaa"}).stdout

    assert "Session bbbb" in newest
    assert "Session aaaa" in own


def test_brief_says_what_is_wrong_with_the_session_that_was_named(repo: Path, cli: Cli) -> None:
    nothing = cli("brief", cwd=repo)
    for name in ("aaaa", "aaaa-1", "aaaa-2"):
        Claude(repo, name)("SessionStart", source="startup")
    unknown, several = cli("brief", "zz", cwd=repo), cli("brief", "aaaa-", cwd=repo)
    bad, exact = cli("brief", "../x", cwd=repo), cli("brief", "aaaa", cwd=repo)

    assert nothing.returncode == NothingFound.exit_status
    assert "no session of an agent was recorded here yet" in nothing.stderr
    assert "there is no session `zz` here" in unknown.stderr
    assert several.returncode == 2
    assert "several sessions begin with `aaaa-`" in several.stderr
    assert bad.returncode != 0
    assert "Session aaaa." in exact.stdout or "Session aaaa," in exact.stdout


# Where no session is.


def plan_of(cli: Cli, root: Path) -> None:
    cli("resumption", "trigger", "T1", "--phase", "2", "--next-step", "go east", cwd=root)
    cli("resumption", "decide", "use x", cwd=root)
    for arguments in (["add", "ORCHESTRATION.yaml"], ["commit", "-qm", "plan"]):
        subprocess.run(["git", *arguments], cwd=root, check=True)


def away(kind: str, root: Path, to: Path) -> Path:
    """A fresh clone, a linked worktree, or a clone from before the plan that pulls it."""
    git = ["git", "-C", str(root)]
    if kind == "worktree":
        subprocess.run([*git, "worktree", "add", "-q", str(to)], check=True)
        return to
    subprocess.run(["git", "clone", "-q", str(root), str(to)], check=True)
    if kind == "pull":
        for arguments in (["reset", "-q", "--hard", "HEAD~1"], ["pull", "-q"]):
            subprocess.run(["git", *arguments], cwd=to, check=True)
    return to


@pytest.mark.parametrize("kind", ["clone", "worktree", "pull"])
def test_brief_works_from_the_files_where_no_session_was_recorded(
    kind: str, repo: Path, tmp_path: Path, cli: Cli
) -> None:
    subprocess.run(["git", "commit", "-q", "--allow-empty", "-m", "x"], cwd=repo, check=True)
    plan_of(cli, repo)
    there = away(kind, repo, tmp_path / "there")

    found, told = cli("brief", cwd=there), json.loads(cli("brief", "--json", cwd=there).stdout)

    assert found.returncode == 0, found.stderr
    assert "No session was recorded here" in found.stdout
    assert "phase 2" in found.stdout
    assert "go east" in found.stdout
    assert told["session"] is None
    assert [each["file"] for each in told["documents"]] == ["ORCHESTRATION.yaml"]
    if kind != "worktree":  # which shares the journal
        assert all(each["at"] > "2000" for each in told["from_repository"])
        assert told["from_repository"]
        assert told["records_up_to"] is None
        assert not (there / ".git/standfast/journal.db").exists()


@pytest.mark.sweep(4)
@pytest.mark.req("RES-25")
@pytest.mark.parametrize("status", ["COMPLETE", "completed", "FAILED", "cancelled"])
@pytest.mark.parametrize("kind", ["clone", "worktree", "pull"])
def test_plan_that_is_over_is_told_where_no_session_was_recorded(
    kind: str, status: str, repo: Path, tmp_path: Path, cli: Cli
) -> None:
    subprocess.run(["git", "commit", "-q", "--allow-empty", "-m", "x"], cwd=repo, check=True)
    plan_of(cli, repo)
    there = away(kind, repo, tmp_path / "there")
    if kind == "worktree":  # its copy is from before: what the journal has is told
        cli("resumption", "trigger", "T2", "--status", plain_values.status(status) or "", cwd=repo)
    else:
        file = there / "ORCHESTRATION.yaml"
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace("ACTIVE", status), encoding="utf-8")

    found = cli("brief", cwd=there)

    assert found.returncode == 0, found.stderr
    assert f", {plain_values.status(status)}." in found.stdout
    assert "phase 2" in found.stdout
    assert found.stdout.count("use x") == 1
    assert "bring it up to date" not in found.stdout


def test_brief_tells_a_decision_that_no_agent_heard_yet(repo: Path, cli: Cli) -> None:
    cli("note", "keep it", cwd=repo)

    found = cli("brief", cwd=repo)

    assert found.returncode == 0
    assert "keep it" in found.stdout
    assert "records up to" in found.stdout


def test_brief_says_which_session_was_forgotten(claude: Claude, cli: Cli) -> None:
    claude("UserPromptSubmit", prompt="go west")
    cli("forget", SESSION, cwd=claude.root)

    alone = cli("brief", cwd=claude.root)
    plan_of(cli, claude.root)
    with_plan = cli("brief", cwd=claude.root)
    itself = cli("brief", SESSION[:8], cwd=claude.root)

    assert alone.returncode == NothingFound.exit_status
    for found in (alone, with_plan):
        assert f"session {SESSION[:8]} was forgotten here" in found.stderr
        assert f"standfast brief {SESSION[:8]}" in found.stderr
        assert "yet" not in found.stderr
    assert "phase 2" in with_plan.stdout
    assert "go west" not in with_plan.stdout
    assert "go west" in itself.stdout
