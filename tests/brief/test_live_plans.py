"""A plan that leads a session: what its brief and `status` tell of the resumption section."""

import json
import os
import re
import subprocess
import sys
from copy import copy
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import resumption_samples as samples
from claude_calls import SESSION, Claude
from conftest import Cli
from places import ROOT
from standfast import clock
from standfast.brief import brief_sections, brief_text, facts, live_plans, plan_sections
from standfast.brief.facts import Facts
from standfast.brief.plan_summary import DIMENSIONS, FAILING_AT_MOST, PASS, REVISE, Plan, band
from standfast.journal.author import Author
from standfast.journal.tables import decision_records
from standfast.protocols.resumption.records import document_records
from standfast.protocols.resumption.rules import quality_gates
from standfast.protocols.resumption.rules.triggers import (
    AgentCompletion,
    Compaction,
    CompactionEvent,
    CrossPhaseDecision,
    Decision,
    PhaseStart,
    Summary,
)
from standfast.protocols.resumption.rules.update_matrix import Resumption

FILE = "ORCHESTRATION.yaml"
LEAD = Author("claude", session=SESSION)
FENCE = re.compile(r"«\w{4} (.*?) \w{4}»")
LISTS = ("files", "defects", "agents", "failed")


def units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


# Facts become text.


def plan(**changes: Any) -> Plan:
    made = Plan()
    fields: dict[str, Any] = {
        "file": FILE,
        "root": "/r",
        "status": "ACTIVE",
        "phase": 2,
        "phase_name": "headers",
        "activity": "applying them",
        "next_step": "apply the headers",
        "updated_at": "2026-02-20T10:30:00Z",
        "checkpoint": "CP-007",
        "current_gate": "qg-2",
        "lowest": "evidence",
        "gates": [("qg-2", 2, 0.88, 2), ("qg-1", 2, 0.94, 1)],
        "to_come": ["qg-3"],
        "unfinished": None,
        "defects": ["D-1", "D-2"],
        "primary": "D-2",
        "files": [("PLAN.md", "phase 2; risks", "the plan"), ("b.md", "", "")],
        "agents": [("header-applicator", "DONE. 403 files."), ("audit", "PASS. Fine.")],
        "failed": [],
        "unapplied": [],
        "unacknowledged": 0,
        "level": "FRESH",
        "reason": "updated in this phase",
        "all_plans": 1,
        "is_copy": False,
        **changes,
    }
    for name in LISTS:
        fields.setdefault(f"all_{name}", len(fields[name]))
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def led_by(*found: Plan) -> Facts:
    made = Facts()
    made.session, made.client, made.agent, made.why = SESSION, "claude", "claude", "compact"
    made.branch = made.parent = made.first_prompt = None
    made.woke, made.upto, made.others, made.is_answered = 5, 0, 0, True
    made.all_prompts = made.all_decisions = 0
    made.missing, made.prompts, made.in_flight, made.results = [], [], [], []
    made.commits, made.edited, made.tasks, made.decisions = [], [], [], []
    made.label = made.asked = ""
    made.plans = list(found)
    return made


def told(*found: Plan, size: brief_text.Size = brief_text.SHORT) -> list[str]:
    """The lines of the brief, with the fences taken off."""
    text = brief_text.render(led_by(*found), "M2XD", size)
    return FENCE.sub(r"“\1”", text).split("\n")


@pytest.mark.req("RES-02", "WAKE-01")
def test_everything_of_a_section_is_told_in_its_order() -> None:
    assert told(plan())[1:] == [
        "Session 8f2c0000. Plan ORCHESTRATION.yaml, phase 2 “headers”, ACTIVE.",
        "NEXT, as the plan has it: “apply the headers”",
        "- at work on “applying them”",
        "DONE by agents of the plan (quoted): do not redo",
        "- header-applicator “DONE. 403 files.”",
        "- audit “PASS. Fine.”",
        "GATE qg-2 iteration 2 of 3, 0.88 REVISE, weakest evidence",
        "GATES qg-1 0.94 PASS; qg-3 not begun",
        "OPEN DEFECTS (quoted)",
        "- the worst: “D-2”",
        "- “D-1”",
        "READ, first what matters most (quoted)",
        "- “PLAN.md”, sections “phase 2; risks”",
        "- “b.md”",
        "More: standfast brief --more",
    ]


def test_nothing_is_told_of_what_a_section_does_not_say() -> None:
    nothing: Any = {name: [] for name in ("gates", "to_come", "defects", "files", "agents")}
    none = dict.fromkeys(("current_gate", "lowest", "primary"))
    bare = plan(phase_name=" ", activity="", next_step=" \n", **nothing, **none)

    assert told(bare)[1:-1] == [
        "Session 8f2c0000. Plan ORCHESTRATION.yaml, phase 2, ACTIVE.",
        "NEXT: not recorded.",
    ]


@pytest.mark.req("WAKE-01")
def test_next_step_is_the_recorded_one_or_none() -> None:
    waiting = led_by(plan(next_step="", activity="in the middle"))
    waiting.is_answered = False
    waiting.tasks = [("2", "refunds", "pending")]
    planned = led_by(plan())
    planned.is_answered = False
    planned.tasks = waiting.tasks

    without, with_one = (
        brief_sections._next(each, brief_text.Voice("M2XD", brief_text.SHORT))[1]
        for each in (waiting, planned)
    )

    assert without == [
        (0, "NEXT: not recorded. The newest prompt has no recorded answer. Task list:"),
        (1, "- at work on «M2XD in the middle M2XD»"),
        (2, "- 2 «M2XD refunds M2XD»"),
    ]
    assert with_one == [
        (0, "NEXT, as the plan has it: «M2XD apply the headers M2XD»"),
        (1, "- at work on «M2XD applying them M2XD»"),
        (1, "- The newest prompt has no recorded answer. Task list:"),
        (2, "- 2 «M2XD refunds M2XD»"),
    ]


@pytest.mark.parametrize(
    ("score", "expected"),
    [(0.92, "PASS"), (0.9199, "REVISE"), (0.85, "REVISE"), (0.8499, "REJECTED"), (0, "REJECTED")],
)
def test_score_is_judged_as_the_protocol_does(score: float, expected: str) -> None:
    assert band(score) == expected == quality_gates.band(Decimal(repr(score)))
    lines = told(plan(gates=[("qg-2", 1, score, 1)]))
    which = "" if expected == "PASS" else " iteration 1 of 3,"
    assert f"GATE qg-2{which} {score} {expected}, weakest evidence" in lines


def test_bounds_are_those_of_the_protocol() -> None:
    assert [(name, float(least)) for name, least in quality_gates.BANDS] == [
        ("PASS", PASS),
        ("REVISE", REVISE),
        ("REJECTED", 0),
    ]
    assert len(quality_gates.WEIGHTS) == DIMENSIONS
    assert quality_gates.FAILING_AT_MOST == FAILING_AT_MOST


@pytest.mark.parametrize(
    ("unfinished", "line"),
    [
        (("qg-2", 3, 2), "GATE qg-2 iteration 3 of 3, 2 of 6 scores: run it again from its start"),
        (
            ("qg-3", 4, None),
            "GATE qg-3 iteration 4, cut by a compaction: run it again from its start",
        ),
    ],
)
def test_iteration_that_was_not_ended_is_run_again(
    unfinished: tuple[str, int, int | None], line: str
) -> None:
    lines = told(plan(unfinished=unfinished))

    assert line in lines
    assert "qg-3 not begun" not in "".join(lines) or unfinished[0] != "qg-3"


def test_gate_that_failed_three_times_asks_the_user() -> None:
    lines = told(plan(gates=[("qg-2", 3, 0.88, 3)]))

    assert "NEEDS THE USER: gate qg-2 failed 3 times. Ask; do not run it again." in lines
    passed = plan(gates=[("qg-2", 4, 0.93, 3)], current_gate=None)
    assert not any("NEEDS THE USER" in line for line in told(passed, plan()))


def test_old_section_and_untold_compactions_are_told() -> None:
    reason = "last updated before this session began"

    lines = told(plan(level="CRITICAL", reason=reason, unacknowledged=2))

    assert f"{FILE} is CRITICAL ({reason}): look what holds, bring it up to date." in lines
    assert f"{FILE} holds 2 compactions not yet acknowledged." in lines
    assert not any("is FRESH" in line or "acknowledged" in line for line in told(plan()))


def test_of_several_plans_each_line_says_whose_it_is() -> None:
    lines = told(
        plan(all_plans=2), plan(file="b.yaml", next_step="wait", unacknowledged=1, all_plans=2)
    )

    assert lines[1].endswith("ACTIVE. 1 more, named in each of its lines.")
    for words in (
        "NEXT, as the plan has it: “apply the headers”",
        "NEXT, as b.yaml has it: “wait”",
        "- b.yaml: at work on “applying them”",
        "GATE qg-2 iteration 2 of 3, 0.88 REVISE, weakest evidence",
        "GATE b.yaml: qg-2 iteration 2 of 3, 0.88 REVISE, weakest evidence",
        "- b.yaml: header-applicator “DONE. 403 files.”",
        "b.yaml holds 1 compaction not yet acknowledged.",
    ):
        assert words in lines, words


def test_long_lists_say_how_much_is_left_out() -> None:
    many = plan(
        agents=[(f"agent-{number}", "DONE. x.") for number in range(30)],
        all_agents=10_000,
        gates=[(f"qg-{number}", 1, 0.95, 0) for number in range(30)],
        current_gate=None,
        to_come=[],
    )

    lines = told(many, size=brief_text.MORE)

    assert "DONE by agents of the plan (quoted): do not redo, 9970 more not shown" in lines
    assert [line for line in lines if line.startswith("GATES ")] == [
        "GATES " + "; ".join(f"qg-{n} 0.95 PASS" for n in range(29, 21, -1)) + "; 22 more"
    ]
    assert sum(line.startswith("- agent-") for line in lines) == 30


def test_what_a_file_is_for_is_told_where_there_is_room() -> None:
    (line,) = (each for each in told(plan(), size=brief_text.MORE) if "PLAN.md" in each)

    assert line == "- “PLAN.md”, sections “phase 2; risks”, for “the plan”"


def test_decision_that_waits_for_its_phase_says_so_once() -> None:
    found = led_by(plan())
    found.decisions = [
        ("RD-002", "no vendoring", "user", 0, None),
        ("RD-001", "pg", "user", 0, None),
    ]
    found.all_decisions = 2
    found.unapplied = {"RD-002": ("4, 5", "RD-001")}

    lines = [
        line
        for _, line in brief_sections._decisions(found, brief_text.Voice("M2XD", brief_text.SHORT))[
            1
        ]
    ]

    waits = "for phase 4, 5, not applied yet, in the plan RD-001"
    assert lines == [
        "- RD-001 «M2XD pg M2XD» (user, 00:00)",
        f"- RD-002 «M2XD no vendoring M2XD» (user, 00:00, {waits})",
    ]
    found.unapplied = {"RD-002": ("", "RD-002")}
    assert "(user, 00:00, not applied yet)" in brief_text.render(found, "M2XD", brief_text.SHORT)


# How much of it.

WORDS = st.one_of(
    st.text(max_size=40),
    st.text("😀👩‍👧漢字é\n« »<|/M2XD", max_size=1_000),
    st.integers(0, 4_000).map("w".__mul__),
)
COUNT = st.integers(0, 10**9)


def many(*parts: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(st.tuples(*parts), max_size=12)


@st.composite
def any_plan(draw: st.DrawFn) -> Plan:
    gate = st.tuples(WORDS, st.integers(1, 10**6), st.floats(0, 1), st.integers(0, 9))
    found = draw(st.lists(gate, max_size=12))
    names = st.sampled_from([name for name, *_ in found]) if found else st.none()
    return plan(
        file=draw(WORDS),
        phase=draw(COUNT),
        **{name: draw(WORDS) for name in ("phase_name", "activity", "next_step")},
        gates=found,
        current_gate=draw(names | st.none()),
        lowest=draw(WORDS | st.none()),
        to_come=draw(st.lists(WORDS, max_size=12)),
        unfinished=draw(st.none() | st.tuples(WORDS, COUNT, st.none() | st.integers(0, 6))),
        defects=draw(st.lists(WORDS, max_size=12)),
        primary=draw(WORDS | st.none()),
        files=draw(many(WORDS, WORDS, WORDS)),
        agents=draw(many(WORDS, WORDS)),
        failed=draw(many(WORDS, WORDS)),
        unacknowledged=draw(COUNT),
        level=draw(st.sampled_from(["FRESH", "STALE", "CRITICAL"])),
        all_plans=draw(COUNT),
        is_copy=draw(st.booleans()),
    )


@pytest.mark.req("WAKE-02")
@settings(max_examples=60, deadline=None)
@given(st.lists(any_plan(), min_size=1, max_size=3), st.lists(WORDS, max_size=3))
def test_whatever_a_section_holds_the_brief_fits(found: list[Plan], prompts: list[str]) -> None:
    led = led_by(*found)
    led.prompts = [(number, words) for number, words in enumerate(prompts)]

    short = brief_text.render(led, "M2XD", brief_text.SHORT)
    more = brief_text.render(led, "M2XD", brief_text.MORE)

    assert units(short) <= 2_000
    assert units(more) <= 10_000
    assert vital(led) <= set(short.split("\n"))


def vital(led: Facts) -> set[str]:
    """Of the first plan the next step and its gate, beside what is vital without any."""
    voice = brief_text.Voice("M2XD", brief_text.SHORT)
    told = (
        brief_sections._asked,
        brief_sections._in_flight,
        brief_sections._next,
        brief_sections._decisions,
    )
    of_plan = (plan_sections.gates, plan_sections.ask_first)
    lines = {line for each in (*told, *of_plan) for rank, line in each(led, voice)[1] if rank == 0}
    assert any(line.startswith("NEXT") for line in lines)
    return lines


@pytest.mark.req("WAKE-02")
@pytest.mark.parametrize("letter", ["w", "漢", "😀"])
@pytest.mark.parametrize("count", [1, 3])
def test_the_longest_of_everything_leaves_room_for_the_vital(letter: str, count: int) -> None:
    words = letter * 4_000
    gate = (words, 3, 0.12345678, 3)
    long = plan(
        file=words,
        phase=10**9,
        **dict.fromkeys(("phase_name", "activity", "next_step", "lowest", "primary"), words),
        gates=[gate, *[(words + str(number), 1, 0.95, 1) for number in range(20)]],
        current_gate=words,
        to_come=[words] * 20,
        unfinished=(words, 10**6, None),
        defects=[words] * 20,
        files=[(words, words, words)] * 20,
        agents=[(words, words)] * 20,
        failed=[(words, words)] * 20,
        unacknowledged=10**6,
        level="CRITICAL",
        all_plans=10**6,
    )
    led = led_by(*[copy(long) for _ in range(count)])
    led.branch, led.parent, led.why, led.is_answered = words, "p" * 64, "fork", False
    led.all_prompts = led.all_decisions = 10**6
    led.prompts = [(number, words + str(number)) for number in range(12)]
    led.in_flight = [("call", words, at, 0, words, "background") for at in range(24)]
    led.results = [(at, words, "failed", 255, words, at, "Bash") for at in range(12)]
    led.tasks = [(words, words, "in_progress")] * 12
    led.decisions = [("RD-1000000", words, words, at, "inbox") for at in range(12)]
    led.unapplied = {"RD-1000000": ("9" * 24, "RD-900000")}

    text = brief_text.render(led, "M2XD", brief_text.SHORT)

    assert units(text) <= 2_000
    assert vital(led) <= set(text.split("\n")), text
    assert units(brief_text.render(led, "M2XD", brief_text.MORE)) <= 10_000


# From the journal.


@pytest.fixture
def claude(repo: Path) -> Claude:
    claude = Claude(repo)
    claude("SessionStart", source="startup")
    claude("UserPromptSubmit", prompt="go on with the headers")
    claude("Stop")
    return claude


def now(**changes: Any) -> samples.Recovery:
    """The state of a section that is written at this moment."""
    return samples.LATER._replace(updated_at=clock.rfc3339(clock.now_us()), **changes)


def begin(claude: Claude, state: Resumption | None = None, file: str = FILE) -> None:
    with claude.journal.writing() as tx:
        document_records.begin(tx, file, str(claude.root), state or samples.lived(), LEAD)


def fire(claude: Claude, *triggers: Any, by: Author = LEAD, file: str = FILE) -> None:
    with claude.journal.writing() as tx:
        for trigger in triggers:
            document_records.fire(tx, file, trigger, by)


def gate(name: str, value: str) -> Any:
    return samples.iteration(name, value, state=now())


def score(claude: Claude, name: str, *dimensions: str) -> None:
    scores = dict.fromkeys(dimensions, Decimal("0.9"))
    with claude.journal.writing() as tx:
        document_records.score(tx, FILE, name, scores, LEAD)


def plain(text: str) -> str:
    return FENCE.sub(r"“\1”", text)


def by_plan(claude: Claude) -> None:
    """A section in its second phase, its second gate at work."""
    begin(claude)
    summary = Summary("header-applicator", "DONE", "403 files")
    fire(claude, PhaseStart(now()), AgentCompletion(now(), summary))
    fire(claude, gate("qg-1", "0.94"), gate("qg-2", "0.90"), gate("qg-2", "0.88"))


@pytest.mark.req("RES-02", "WAKE-01", "WAKE-06")
def test_woken_session_is_told_its_plan(claude: Claude) -> None:
    by_plan(claude)

    text = plain(claude.wakes("compact"))

    for words in (
        "Plan ORCHESTRATION.yaml, phase 2 “headers”, ACTIVE.",
        "NEXT, as the plan has it: “apply the headers”",
        "- at work on “phase-2-agent-execution”",
        "- header-applicator “DONE. 403 files.”",
        "- audit-executor “PASS. All compatible.”",
        "GATE qg-2 iteration 2 of 3, 0.88 REVISE, weakest completeness",
        "GATES qg-1 0.94 PASS",
        "- the worst: “D-2”",
        "- “PLAN.md”, sections “phase 1”",
        "- “ORCHESTRATION.yaml”",
        "ORCHESTRATION.yaml holds 1 compaction not yet acknowledged.",
        "“go on with the headers”",
    ):
        assert text.count(words) == 1, words
    assert "No plan." not in text
    assert "NEXT: not recorded" not in text
    assert not re.search(r" is (FRESH|STALE|CRITICAL) ", text)


@pytest.mark.req("WAKE-01")
@pytest.mark.parametrize(
    ("status", "is_done"),
    [
        ("FAILED", False),
        ("Failure", False),
        ("**ERROR**", False),
        ("timed out", False),
        ("PARTIAL", False),
        ("INCOMPLETE", False),
        ("DONE", True),
        ("PASS", True),
        ("COMPLETE", True),
        ("APPROVED", True),
    ],
)
def test_only_what_was_done_is_not_to_be_done_again(
    claude: Claude, status: str, *, is_done: bool
) -> None:
    by_plan(claude)
    fire(claude, AgentCompletion(now(), Summary("builder", status, "nothing FAILED but compiles")))

    text = plain(claude.wakes("compact"))

    title, not_done = "DONE by agents of the plan", "NOT DONE by agents of the plan (quoted)\n"
    listed = text[text.index(f"\n{title}") : text.index("\nGATE ")]
    assert (not_done in listed) != is_done
    behind = listed.partition(not_done)[2] if not is_done else listed
    assert "- builder “" in behind
    assert "- header-applicator “DONE. 403 files.”" in listed.partition(not_done)[0]


@pytest.mark.req("WAKE-06", "WAKE-08")
def test_only_the_session_that_a_plan_leads_is_told_of_it(
    claude: Claude, repo: Path, tmp_path: Path
) -> None:
    by_plan(claude)
    subprocess.run(["git", "commit", "-q", "--allow-empty", "-m", "x"], cwd=repo, check=True)
    elsewhere = tmp_path / "elsewhere"
    subprocess.run(["git", "worktree", "add", "-q", elsewhere], cwd=repo, check=True)
    other = Claude(elsewhere, "other")
    claude.begins("Agent", description="audit", prompt="look", subagent_type="x")
    claude("SubagentStart", agent_id="agent1", agent_type="x")

    for text in (
        other.wakes("compact") or other.wakes("compact"),
        claude.wakes("compact", agent_id="agent1"),
    ):
        assert text.startswith("[standfast ")
        assert "headers" not in text.replace("go on with the headers", "")
        assert "qg-2" not in text
        assert "Plan " not in text


@pytest.mark.req("WAKE-08")
def test_plan_by_which_another_session_is_at_work_is_left_to_it(claude: Claude) -> None:
    by_plan(claude)
    other = Claude(claude.root, "0ther000-1")
    other("SessionStart", source="startup")
    asks = (
        "Session 8f2c0000 is at work by ORCHESTRATION.yaml: ask the user before you work by it too."
    )

    left = other.wakes("compact")
    later = CrossPhaseDecision(now(), Decision("x", "y", (4,)))
    fire(claude, later, by=Author(session=other.session))  # decides nothing about who leads
    still_left = other.wakes("compact")
    own = claude.wakes("compact")
    claude("SessionEnd", reason="other")
    taken = other.wakes("compact")
    fire(claude, PhaseStart(now()), by=Author(session=other.session))
    claude("SessionStart", source="resume")
    handed_over = claude.wakes("compact")

    for text in (left, still_left):
        assert asks in text
        assert "No plan." in text
        assert "qg-2" not in text
    assert "Plan ORCHESTRATION.yaml" in own
    assert "is at work by" not in own + taken
    assert "Plan ORCHESTRATION.yaml" in taken
    assert "Session 0ther000 is at work by ORCHESTRATION.yaml" in handed_over
    assert "Plan ORCHESTRATION.yaml" not in handed_over


@pytest.mark.req("WAKE-08")
def test_of_two_plans_the_one_that_is_led_elsewhere_is_no_further_one(claude: Claude) -> None:
    other = Claude(claude.root, "0ther000-1")
    other("SessionStart", source="startup")
    by_plan(claude)
    begin(claude, file="b.yaml")
    fire(claude, PhaseStart(now()), by=Author(session=other.session))

    text = plain(claude.wakes("compact"))

    assert "Plan b.yaml, phase 1 “audit”, ACTIVE.\n" in text
    assert "Session 0ther000 is at work by ORCHESTRATION.yaml" in text


@pytest.mark.req("WAKE-08")
def test_plan_that_a_person_moved_on_leads_any_session(claude: Claude) -> None:
    by_plan(claude)
    fire(claude, PhaseStart(now()), by=Author())
    other = Claude(claude.root, "0ther000-1")
    other("SessionStart", source="startup")

    assert "Plan ORCHESTRATION.yaml" in other.wakes("compact")


def test_plan_that_is_over_leads_nobody(claude: Claude, cli: Cli) -> None:
    by_plan(claude)
    fire(claude, PhaseStart(now(workflow_status="PAUSED")))
    assert "phase 2 “headers”, PAUSED." in plain(claude.wakes("compact"))
    for status in ("COMPLETE", "FAILED", "CANCELLED"):
        fire(claude, PhaseStart(now(workflow_status=status)))
        assert "No plan." in claude.wakes("compact")
    assert "PLAN" not in cli("status", cwd=claude.root).stdout


def test_active_plan_comes_before_one_that_rests(claude: Claude) -> None:
    begin(claude, file="a.yaml")
    begin(claude)
    fire(claude, PhaseStart(now(next_step="the other one")), file="a.yaml")
    fire(claude, PhaseStart(now(workflow_status="PAUSED")))

    text = plain(claude.wakes("compact"))

    assert "Plan a.yaml, phase 2 “headers”, ACTIVE. 1 more, named in each of its lines." in text
    assert "NEXT, as the plan has it: “the other one”" in text
    assert "NEXT, as ORCHESTRATION.yaml has it: “apply the headers”" in text


@pytest.mark.req("WAKE-01")
def test_decision_is_told_once_and_says_that_it_waits(claude: Claude) -> None:
    with claude.journal.writing() as tx:
        decision_records.note(tx, "keep the cookie", LEAD)
    begin(claude)
    later = CrossPhaseDecision(now(), Decision("no vendoring", "size", (4, 5)))
    fire(claude, later, by=Author(session="another"))
    done = CrossPhaseDecision(now(), Decision("tabs", "taste", (1,), applied=True))
    fire(claude, done)
    with claude.journal.writing() as tx:
        document_records.catch_up(tx, LEAD)

    text = plain(claude.wakes("compact"))

    lines = re.findall(r"^- (RD-\d+) “(.*?)” \(\w+, \d\d:\d\d(.*)\)$", text, re.MULTILINE)
    unverified = ", unverified, for phase 2, 3, not applied yet, in the plan RD-001"
    assert lines == [
        ("RD-001", "keep the cookie", ""),
        ("RD-002", "keep SPDX", unverified),
        ("RD-003", "no vendoring", ", for phase 4, 5, not applied yet"),
        ("RD-004", "tabs", ""),
    ]
    assert "more not shown" not in text
    root = str(claude.root)
    found = facts.gather(claude.journal.query, SESSION, "claude", "asked", most=9, root=root)
    assert found.all_decisions == len(found.decisions) == 4


@pytest.mark.req("WAKE-01")
def test_decision_of_a_gate_waits_until_it_is_applied(claude: Claude) -> None:
    begin(claude)
    said = Decision("pin it", "drift")
    fire(claude, samples.iteration("qg-1", "0.93", said, state=now()))

    assert "“pin it” (claude, " in plain(claude.wakes("compact"))
    assert re.search(r"“pin it” .*, not applied yet\)", plain(claude.wakes("compact")))
    fire(claude, CrossPhaseDecision(now(), samples.Applied("RD-002")))
    assert "“pin it”" in plain(claude.wakes("compact"))
    assert not re.search(r"“pin it” .*not applied yet", plain(claude.wakes("compact")))


@pytest.mark.req("WAKE-01")
def test_iteration_that_was_cut_is_run_again_until_it_is_scored(claude: Claude) -> None:
    by_plan(claude)
    score(claude, "qg-2", "evidence", "traceability")
    scored = plain(claude.wakes("compact"))
    cut = Compaction(clock.rfc3339(clock.now_us()), "auto", None, 2, "qg-2", 3)
    fire(claude, CompactionEvent(now(), cut))
    compacted = plain(claude.wakes("compact"))
    fire(claude, CompactionEvent(now(), cut._replace(active_gate_iteration=2)))
    compacted_again = plain(claude.wakes("compact"))
    fire(claude, PhaseStart(now(current_phase=3)))
    in_the_next_phase = plain(claude.wakes("compact"))
    fire(claude, PhaseStart(now()), gate("qg-2", "0.89"))
    ended = plain(claude.wakes("compact"))

    again = "run it again from its start"
    assert f"GATE qg-2 iteration 3 of 3, 2 of 6 scores: {again}\nGATE qg-2 iteration 2" in scored
    for text in (compacted, compacted_again):
        assert f"GATE qg-2 iteration 3 of 3, cut by a compaction: {again}" in text
    assert again not in in_the_next_phase
    assert again not in ended.replace("do not run it again.", "")
    assert "NEEDS THE USER: gate qg-2 failed 3 times. Ask; do not run it again." in ended
    assert "holds 3 compactions not yet acknowledged" in ended


@pytest.mark.parametrize(
    ("history", "asks"), [([0.93, 0.9, 0.9], False), ([0.9, 0.92, 0.9, 0.9199], True)]
)
def test_iteration_that_passed_is_no_failing_one(
    claude: Claude, history: list[float], *, asks: bool
) -> None:
    state = samples.lived()
    state.section["quality_trajectory"]["score_history"]["qg-1"] = history
    begin(claude, state)

    assert ("NEEDS THE USER: gate qg-1 failed 3 times." in claude.wakes("compact")) == asks


def test_what_was_being_done_is_told_while_a_section_recovers(claude: Claude) -> None:
    begin(claude)
    fire(claude, PhaseStart(now(current_activity=live_plans.RECOVERING)))
    alone = plain(claude.wakes("compact"))
    states = ("the first thing", "what was done last", live_plans.RECOVERING)
    with claude.journal.writing() as tx:
        for number, activity in enumerate(states, 1):
            stood = {FILE: {"recovery_state": {"current_activity": activity}}, "x": {}}
            told = {"id": f"CX-00{number}", "file": "f", "root": "/elsewhere", "documents": stood}
            tx.append("compaction.checkpoint", told, LEAD)

    text = plain(claude.wakes("compact"))

    assert "- at work on “compaction-recovery”" in alone
    assert "- at work on “what was done last”" in text
    assert live_plans.RECOVERING not in text


@pytest.mark.req("RES-10")
def test_old_section_is_judged_by_the_start_of_the_session(claude: Claude) -> None:
    begin(claude)
    fire(claude, PhaseStart(samples.LATER))

    text = claude.wakes("compact")

    assert "ORCHESTRATION.yaml is CRITICAL (last updated before this session began): " in text
    fire(claude, PhaseStart(now()))
    assert " is CRITICAL " not in claude.wakes("compact")
    # One whose start is not known judges nothing, and what a compaction starts is no session.
    ask = claude.journal.query
    hour = clock.now_us() + 3_600 * clock.MICROSECONDS
    levels = [
        live_plans.gather(ask, str(claude.root), who, at, most=5)[0].level
        for who, at in ((SESSION, clock.now_us()), ("nobody", clock.now_us()), (None, hour))
    ]
    assert levels == ["FRESH", "FRESH", "STALE"]


def test_session_that_is_known_from_its_compaction_on_has_no_start(repo: Path) -> None:
    claude = Claude(repo)
    claude("SessionStart", source="compact")
    begin(claude)

    text = claude.wakes("compact")

    assert "ORCHESTRATION.yaml is STALE (last updated " in text


def huge() -> Resumption:
    state = samples.lived()
    section = state.section
    names = [f"thing-{number} thing" for number in range(500)]
    section["agent_summaries"] = dict.fromkeys(names, "DONE. x.")
    section["files_to_read"] = [
        {"path": name, "priority": 500 - number, "purpose": "p", "sections": ["a", "b"]}
        for number, name in enumerate(names)
    ]
    section["defect_summary"]["unresolved_defects"] = names
    section["quality_trajectory"]["score_history"] = {name: [0.5] * 2 for name in names}
    section["quality_trajectory"]["current_gate"] = names[7]
    section["quality_trajectory"]["gates_remaining"] = [*names, "one more"]
    section["recovery_state"]["next_step"] = "word " * 20_000
    return state


@pytest.mark.req("WAKE-02")
def test_huge_section_makes_a_brief_no_longer(claude: Claude, cli: Cli) -> None:
    begin(claude, huge())

    text = plain(claude.wakes("compact"))
    more = cli("brief", "--more", cwd=claude.root).stdout
    found = facts.gather(
        claude.journal.query, SESSION, "claude", "asked", most=30, root=str(claude.root)
    )

    assert units(text) <= 2_000
    assert units(more) <= 10_000
    assert "- “thing-499 thing”, sections “a; b”" in text  # of the highest priority
    assert "GATE “thing-7 thing” iteration 2 of 3, 0.5 REJECTED" in text
    assert re.search(r"do not redo, 49\d more not shown", text)
    (its,) = found.plans
    assert [len(getattr(its, name)) for name in ("agents", "files", "defects", "gates")] == [30] * 4
    assert its.to_come == ["one more"]
    assert len(its.next_step) == 4_000


@pytest.mark.req("WAKE-02")
def test_no_question_walks_through_everything(claude: Claude) -> None:
    asked: list[str] = []

    def ask(sql: str, values: Any = ()) -> list[tuple[Any, ...]]:
        asked.append(sql)
        return claude.journal.query(sql, values)

    live_plans.gather(ask, str(claude.root), SESSION, clock.now_us(), most=5)
    assert len(asked) == 1  # without any document it is one question
    by_plan(claude)
    live_plans.gather(ask, "/elsewhere", SESSION, clock.now_us(), most=5)
    assert len(asked) == 3
    live_plans.gather(ask, str(claude.root), SESSION, clock.now_us(), most=5)

    for sql in asked:
        most = next((number for number in (4, 3) if f"?{number}" in sql), sql.count("?"))
        values = [None] * most
        for *_, how in claude.journal.connection.execute(f"EXPLAIN QUERY PLAN {sql}", values):
            assert not re.match(r"SCAN (?:cells|events|decisions|sessions)\b", how), sql


# From outside.

REST = """\
# the orchestrator's own file
workflow: {id: wf-7, status: ACTIVE}
pipelines:
  - id: main
    current_phase: 9
    phases: [{id: 9, name: far ahead, status: in_progress}]
quality_gates: {qg-9: {status: pending}}
checkpoints: {latest_id: CP-042}
"""
AFTER = """\
agents:  # and after it
  - {id: stranger, status: complete, finding: nothing of the section}
"""


def written(claude: Claude, cli: Cli) -> tuple[Path, str]:
    """A file whose section has lived, long ago by any clock, and the section alone."""
    by_plan(claude)
    later = CrossPhaseDecision(samples.LATER, Decision("no vendoring", "size", (4,)))
    fire(claude, later)
    file = claude.root / FILE
    file.write_text(REST, encoding="utf-8")
    assert cli("note", "as it was", cwd=claude.root).returncode == 0  # whoever reads writes nothing
    text = file.read_text(encoding="utf-8")
    at = text.index("resumption:")
    file.write_text(text + AFTER, encoding="utf-8")
    return file, text[at:]


def unstamped(text: str) -> str:
    """Without the nonce and the times of the day."""
    mark = text[11:15]
    assert text.startswith(f"[standfast {mark} · ")
    return re.sub(r"\d\d:\d\d(:\d\d)?", "T", text.replace(mark, "NNNN"))


@pytest.mark.req("RES-02")
def test_brief_is_the_same_when_all_but_the_section_is_removed(claude: Claude, cli: Cli) -> None:
    file, section = written(claude, cli)
    said = [cli("brief", cwd=claude.root).stdout, cli("brief", "--more", cwd=claude.root).stdout]
    woken = claude.wakes("compact")
    assert "qg-9" not in woken

    file.write_text(section, encoding="utf-8")

    again = [cli("brief", cwd=claude.root).stdout, cli("brief", "--more", cwd=claude.root).stdout]
    assert [unstamped(text) for text in again] == [unstamped(text) for text in said]
    assert unstamped(claude.wakes("compact")) == unstamped(woken)
    assert file.read_text(encoding="utf-8").startswith("resumption:")


@pytest.mark.req("RES-02")
def test_section_alone_orients_a_session_that_never_saw_the_rest(
    claude: Claude, cli: Cli, tmp_path: Path
) -> None:
    fresh = {name: Claude(tmp_path / name) for name in ("whole", "alone")}
    for each in fresh.values():
        subprocess.run(["git", "init", "-q", each.root], check=True)
        each("SessionStart", source="startup")
        each("UserPromptSubmit", prompt="where were we?")
    file, section = written(claude, cli)
    told = []
    for name, text in (("whole", file.read_text(encoding="utf-8")), ("alone", section)):
        (fresh[name].root / FILE).write_text(text, encoding="utf-8")
        assert cli("status", cwd=fresh[name].root).returncode == 0
        told.append(unstamped(fresh[name].wakes("compact")))

    assert told[0] == told[1]
    for words in (
        "phase 2 «NNNN headers NNNN», ACTIVE",
        "NEXT, as the plan has it: «NNNN apply the headers NNNN»",
        "«NNNN PLAN.md NNNN», sections «NNNN phase 1 NNNN»",
        "GATE qg-2 iteration 2 of 3, 0.88 REVISE",
        "«NNNN no vendoring NNNN»",
        "for phase 4, not applied yet",
        "header-applicator «NNNN DONE. 403 files. NNNN»",
        "the worst: «NNNN D-2 NNNN»",
    ):
        assert words in told[1], words


def test_page_shows_what_is_told(claude: Claude) -> None:
    by_plan(claude)
    page = ROOT / "docs" / "how-to" / "see-what-an-agent-is-told.md"
    shown = page.read_text(encoding="utf-8").split("```text\n")[1].split("\n```")[0]

    said = claude.wakes("compact").split("\n")[1:-1]

    mark = said[0].split("«")[1][:4]
    text = re.sub(r"\d\d:\d\d", "14:02", "\n".join(said))
    assert text.replace(mark, "7Q4K") == shown


@pytest.mark.req("WAKE-01")
def test_status_has_a_line_for_each_plan(claude: Claude, cli: Cli) -> None:
    by_plan(claude)

    said = cli("status", cwd=claude.root).stdout

    (line,) = (each for each in said.splitlines() if each.startswith("PLAN"))
    words = "phase 2 headers, ACTIVE, qg-2 iteration 2: 0.88, updated just now"
    assert line.split(maxsplit=2) == ["PLAN", FILE, words]
    assert "NEEDS YOU" not in said
    fire(claude, PhaseStart(samples.LATER))
    score(claude, "qg-2", "evidence")
    said = cli("status", cwd=claude.root).stdout
    assert re.search(
        r"qg-2 iteration 3: 1 of 6 scores, updated \d+ days ago, STALE$", said, re.MULTILINE
    )


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (59, "updated just now"),
        (60, "updated 1 min ago"),
        (119 * 60, "updated 119 min ago"),
        (120 * 60, "updated 2 h ago"),
        (47 * 3_600, "updated 47 h ago"),
        (48 * 3_600, "updated 2 days ago"),
        (-10, "updated just now"),
        (-400, "updated in the future"),
    ],
)
def test_age_is_told_in_the_unit_that_people_use(seconds: int, words: str) -> None:
    from standfast.surfaces.cli import plan_list

    at = clock.now_us() - seconds * clock.MICROSECONDS
    assert plan_list._age(clock.rfc3339(at)) == words
    assert plan_list._age("yesterday") == "updated nobody knows when"


@pytest.mark.req("RES-10")
def test_status_says_what_needs_a_person(claude: Claude, cli: Cli) -> None:
    begin(claude)
    fire(claude, PhaseStart(samples.LATER))
    mine = {"CLAUDE_CODE_SESSION_ID": SESSION, "CLAUDECODE": "1"}

    critical = cli("status", cwd=claude.root, env=mine).stdout
    anybody = cli("status", cwd=claude.root).stdout
    fire(claude, *(gate("qg-1", "0.9") for _ in range(2)))
    escalated = cli("status", cwd=claude.root)
    facts_told = json.loads(cli("status", "--json", cwd=claude.root).stdout)

    reason = "its resumption section is CRITICAL: last updated before this session began"
    assert re.search(rf"^NEEDS YOU +{FILE} +{reason}$", critical, re.MULTILINE)
    assert "NEEDS YOU" not in anybody
    how = 'Say how the work goes on: standfast resumption decide "…"'
    words = f"gate qg-1 failed 3 times. {how}"
    assert re.search(rf"^NEEDS YOU +{FILE} +{words}$", escalated.stdout, re.MULTILINE)
    (needed,) = facts_told["needs_you"]
    assert (needed["file"], needed["problem"], needed["code"]) == (FILE, words, None)
    assert [each["needs_you"] for each in facts_told["documents"]] == [words]


def test_plan_of_another_checkout_is_listed_where_it_is(
    claude: Claude, cli: Cli, tmp_path: Path, repo: Path
) -> None:
    by_plan(claude)
    subprocess.run(["git", "commit", "-q", "--allow-empty", "-m", "x"], cwd=repo, check=True)
    elsewhere = tmp_path / "elsewhere"
    subprocess.run(["git", "worktree", "add", "-q", elsewhere], cwd=repo, check=True)

    said = cli("status", cwd=elsewhere).stdout

    assert re.search(rf"^PLAN +{re.escape(str(repo / FILE))} +phase 2 headers", said, re.MULTILINE)


def test_facts_of_a_plan_are_told_as_json(claude: Claude, cli: Cli) -> None:
    by_plan(claude)
    score(claude, "qg-2", "evidence")

    (found,) = json.loads(cli("brief", "--json", cwd=claude.root).stdout)["documents"]
    (listed,) = json.loads(cli("status", "--json", cwd=claude.root).stdout)["documents"]

    assert found == listed
    assert found.pop("updated_at").endswith("Z")
    assert found.pop("read_from") is None
    assert found == {
        "file": FILE,
        "root": os.path.realpath(claude.root),
        "phase": 2,
        "phase_name": "headers",
        "status": "ACTIVE",
        "activity": "phase-2-agent-execution",
        "next_step": "apply the headers",
        "staleness": {"level": "FRESH", "reason": "updated in this phase"},
        "last_checkpoint": found["last_checkpoint"],
        "current_gate": "qg-2",
        "gates": [
            {"gate": "qg-1", "iteration": 2, "score": 0.94, "band": "PASS"},
            {"gate": "qg-2", "iteration": 2, "score": 0.88, "band": "REVISE"},
        ],
        "gates_to_come": [],
        "run_again": {"gate": "qg-2", "iteration": 3, "scores": 1},
        "lowest_dimension": "completeness",
        "unresolved_defects": ["D-2"],
        "primary_defect": "D-2",
        "files_to_read": [
            {"path": "PLAN.md", "sections": "phase 1", "purpose": "the plan"},
            {"path": FILE, "sections": "", "purpose": ""},
        ],
        "agents": [
            {"agent": "header-applicator", "summary": "DONE. 403 files."},
            {"agent": "audit-executor", "summary": "PASS. All compatible."},
        ],
        "agents_not_done": [],
        "agents_from_repository": [],
        "by": {},
        "unacknowledged_compactions": 1,
        "needs_you": None,
    }


def test_status_loads_no_rules_and_nothing_of_lanes_where_there_are_none(claude: Claude) -> None:
    """It starts within six bare interpreters only without them."""
    rules = {"document_records", "quality_gates", "section_file", "triggers", "update_matrix"}
    lanes = {"active_run", "lane_list", "lane_steps", "schedule"}
    source = ROOT / "src" / "standfast"
    assert rules | lanes <= {each.stem for each in source.rglob("*.py")}, "a name is out of date"
    code = (
        "import sys; from standfast.surfaces.cli.entry import main; main(['status']);"
        f"sys.exit(any(m.rpartition('.')[2] in {rules | lanes} for m in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=claude.root, capture_output=True, check=False
    )
    assert done.returncode == 0, done
