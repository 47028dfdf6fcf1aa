"""A plan that leads a session: what its brief and `status` tell of the resumption section."""

import json
import os
import re
import subprocess
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
from standfast import clock
from standfast.journal import decisions, resumption
from standfast.journal.author import Author
from standfast.protocol import quality_gates
from standfast.protocol.resumption import Resumption
from standfast.protocol.resumption_triggers import (
    AgentCompletion,
    Compaction,
    CompactionEvent,
    CrossPhaseDecision,
    Decision,
    PhaseStart,
    Summary,
)
from standfast.wake import brief, facts, plan_sections, plans, sections
from standfast.wake.facts import Facts
from standfast.wake.plans import Plan

FILE = "ORCHESTRATION.yaml"
LEAD = Author("claude", session=SESSION)
FENCE = re.compile(r"«\w{4} (.*?) \w{4}»")
LISTS = ("files", "defects", "agents")


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
        "unapplied": [],
        "unacknowledged": 0,
        "level": "FRESH",
        "reason": "updated in this phase",
        "all_plans": 1,
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


def told(*found: Plan, size: brief.Size = brief.SHORT) -> list[str]:
    """The lines of the brief, with the fences taken off."""
    text = brief.render(led_by(*found), "M2XD", size)
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
    nothing = dict.fromkeys(("gates", "to_come", "defects", "files", "agents"), [])
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
        sections._next(each, brief.Voice("M2XD", brief.SHORT))[1] for each in (waiting, planned)
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
    ("score", "band"),
    [(0.92, "PASS"), (0.9199, "REVISE"), (0.85, "REVISE"), (0.8499, "REJECTED"), (0, "REJECTED")],
)
def test_score_is_judged_as_the_protocol_does(score: float, band: str) -> None:
    assert plans.band(score) == band == quality_gates.band(Decimal(repr(score)))
    lines = told(plan(gates=[("qg-2", 1, score, 1)]))
    which = "" if band == "PASS" else " iteration 1 of 3,"
    assert f"GATE qg-2{which} {score} {band}, weakest evidence" in lines


def test_bounds_are_those_of_the_protocol() -> None:
    assert [(name, float(least)) for name, least in quality_gates.BANDS] == [
        ("PASS", plans.PASS),
        ("REVISE", plans.REVISE),
        ("REJECTED", 0),
    ]
    assert len(quality_gates.WEIGHTS) == plans.DIMENSIONS
    assert quality_gates.FAILING_AT_MOST == plans.FAILING_AT_MOST


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

    lines = told(many, size=brief.MORE)

    assert "DONE by agents of the plan (quoted): do not redo, 9970 more not shown" in lines
    assert [line for line in lines if line.startswith("GATES ")] == [
        "GATES " + "; ".join(f"qg-{n} 0.95 PASS" for n in range(29, 21, -1)) + "; 22 more"
    ]
    assert sum(line.startswith("- agent-") for line in lines) == 30


def test_what_a_file_is_for_is_told_where_there_is_room() -> None:
    (line,) = (each for each in told(plan(), size=brief.MORE) if "PLAN.md" in each)

    assert line == "- “PLAN.md”, sections “phase 2; risks”, for “the plan”"


def test_decision_that_waits_for_its_phase_says_so_once() -> None:
    found = led_by(plan())
    found.decisions = [
        ("RD-002", "no vendoring", "user", 0, None),
        ("RD-001", "pg", "user", 0, None),
    ]
    found.all_decisions = 2
    found.unapplied = {"RD-002": ("4, 5", "RD-001")}

    lines = [line for _, line in sections._decisions(found, brief.Voice("M2XD", brief.SHORT))[1]]

    waits = "for phase 4, 5, not applied yet, in the plan RD-001"
    assert lines == [
        "- RD-001 «M2XD pg M2XD» (user, 00:00)",
        f"- RD-002 «M2XD no vendoring M2XD» (user, 00:00, {waits})",
    ]
    found.unapplied = {"RD-002": ("", "RD-002")}
    assert "(user, 00:00, not applied yet)" in brief.render(found, "M2XD", brief.SHORT)


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
        unacknowledged=draw(COUNT),
        level=draw(st.sampled_from(["FRESH", "STALE", "CRITICAL"])),
        all_plans=draw(COUNT),
    )


@pytest.mark.req("WAKE-02")
@settings(max_examples=150, deadline=None)
@given(st.lists(any_plan(), min_size=1, max_size=3), st.lists(WORDS, max_size=3))
def test_whatever_a_section_holds_the_brief_fits(found: list[Plan], prompts: list[str]) -> None:
    led = led_by(*found)
    led.prompts = [(number, words) for number, words in enumerate(prompts)]

    short = brief.render(led, "M2XD", brief.SHORT)
    more = brief.render(led, "M2XD", brief.MORE)

    assert units(short) <= 2_000
    assert units(more) <= 10_000
    assert vital(led) <= set(short.split("\n"))


def vital(led: Facts) -> set[str]:
    """Of the first plan the next step and its gate, beside what is vital without any."""
    voice = brief.Voice("M2XD", brief.SHORT)
    told = (sections._asked, sections._in_flight, sections._next, sections._decisions)
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

    text = brief.render(led, "M2XD", brief.SHORT)

    assert units(text) <= 2_000
    assert vital(led) <= set(text.split("\n")), text
    assert units(brief.render(led, "M2XD", brief.MORE)) <= 10_000
