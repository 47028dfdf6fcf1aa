"""Standfast in the real Claude Code: what the model was shown after each way of waking up."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import resumption_samples
from claude_world import BRIEF, VERSIONS, World, installed, told
from harness.rig.claude import Claude
from harness.rig.model import Model
from harness.rig.script import Reply, Rule
from harness.rig.seen import Kind
from harness.rig.terminal import Terminal, TmuxMissing
from standfast.formats.yaml_writer import write
from standfast.protocols.resumption.rules.update_matrix import apply


@pytest.fixture(params=VERSIONS)
def client(request: pytest.FixtureRequest, tmp_path: Path) -> World:
    return installed(request.param, tmp_path)


@pytest.mark.req("WAKE-01", "WAKE-02", "WAKE-03", "WAKE-06")
def test_solo_session_wakes_up_after_both_compactions_and_a_kill(client: World) -> None:
    played = client.play("solo.yaml")

    assert played.problems == []
    assert max(len(told(request.text)) for request in played.requests) in range(400, 2_001)
    assert len(client.events("--kind", "brief.given")) == 3
    (session,) = json.loads(client.standfast("status", "--json"))["sessions"]
    assert (session["compactions"], session["brief_seen"]) == (2, True)


@pytest.mark.req("WAKE-06")
def test_subagent_that_compacts_gets_its_own_brief(client: World) -> None:
    played = client.play("subagent.yaml")

    assert played.problems == []
    briefed = [r for r in played.requests if r.kind is Kind.AGENT and BRIEF.search(r.text)]
    assert briefed
    said = told(briefed[0].text)
    assert "You are a subagent of session" in said
    assert "Audit every refund test." in said
    assert "echo first look" in said
    assert "a secret of the main agent" not in said
    assert "Have the refunds audited" not in said
    assert briefed[0].text.count("[standfast ") == 1
    assert not any(BRIEF.search(r.text) for r in played.requests if r.kind is Kind.MAIN)


@pytest.mark.req("CLI-01", "WAKE-10")
def test_nothing_is_recorded_or_said_once_it_is_off(client: World) -> None:
    played = client.play("off.yaml")

    assert played.problems == []
    assert [e["kind"] for e in client.events()][-2:] == ["tool.started", "hooks.off"]
    assert "not to be recorded" not in json.dumps(client.events())


@pytest.mark.req("WAKE-08")
def test_two_sessions_at_once_never_see_each_others_work(client: World) -> None:
    names = ("amber", "cobalt")
    rules = [rule for name in names for rule in work_of(name)]
    with (
        Model(rules) as model,
        Claude(client.program, client.place, model.url, client.extra) as first,
        Claude(client.program, client.place, model.url, client.extra) as second,
    ):
        first.start()
        second.start()
        for name, claude in zip(names, (first, second), strict=True):
            claude.send(f"Paint it {name}.")
        for name, claude in zip(names, (first, second), strict=True):
            claude.send("/compact")
            claude.send(f"Which colour, {name}?")
        first.end()
        second.end()
        shown = {name: asked(model, f"Which colour, {name}?") for name in names}

    for name, other in (names, names[::-1]):
        said = told(shown[name])
        assert {f"Paint it {name}.", f"{name} it is", f"only {name}"} <= fenced(said)
        assert other not in said
        assert "1 other session at work in this repository" in said


@pytest.mark.req("RES-02", "WAKE-01", "WAKE-06")
def test_plan_of_the_checkout_is_told_after_a_compaction(client: World) -> None:
    file = Path(client.place.project, "ORCHESTRATION.yaml")
    section = apply(resumption_samples.lived(), resumption_samples.iteration("qg-1", "0.88"))
    text = write({"resumption": section.section})
    file.write_text(f"workflow: {{id: wf-1}}\n{text}", encoding="utf-8")
    with (
        Model([Rule(always=True, reply=Reply(text="Done."))]) as model,
        Claude(client.program, client.place, model.url, client.extra) as claude,
    ):
        claude.start()
        claude.send("Go on with the plan.")
        client.standfast("status")  # whoever comes by takes the section over
        claude.send("/compact")
        claude.send("Where were we?")
        claude.end()
        before, after = (asked(model, words) for words in ("Go on with the plan", "Where were we?"))

    assert "[standfast " not in before
    assert after.count("[standfast ") == 1
    said = told(after)
    assert "Plan ORCHESTRATION.yaml, phase 2 «" in said
    assert "NEXT, as the plan has it: «" in said
    assert {"headers", "apply the headers", "PLAN.md", "keep SPDX"} <= fenced(said)
    assert "GATE qg-1 iteration 2 of 3, 0.88 REVISE" in said
    assert len(client.events("--kind", "brief.given")) == 1


def work_of(name: str) -> list[Rule]:
    commit = f"git -c user.name=Rig -c user.email=r@example.invalid commit -qm 'only {name}'"
    command = f"echo {name} >{name}; git add {name}; {commit} -- {name}; echo {name} done"
    note: Any = {"command": f"standfast note '{name} it is'", "description": "note"}
    return [
        Rule(when=f"Paint it {name}.", reply=Reply(calls=(("Bash", note),))),
        Rule(when="Recorded RD-", reply=Reply(calls=(("Bash", {"command": command}),))),
        Rule(when=f"{name} done", reply=Reply(text="Painted.")),
        Rule(when=f"Which colour, {name}?", reply=Reply(text=name)),
    ]


def asked(model: Model, words: str) -> str:
    return next(r.text for r in model.of(Kind.MAIN) if words in r.last_user)


def fenced(brief: str) -> set[str]:
    return {match[2] for match in re.finditer(r"«(\w{4}) (.*?) \1»", brief)}


@pytest.mark.req("WAKE-06")
def test_one_line_after_clear_says_how_to_get_the_rest(client: World) -> None:
    rules = [
        Rule(when="Paint it amber.", reply=Reply(text="PAINTED")),
        Rule(when="What now?", reply=Reply(text="ASKED")),
    ]
    with Model(rules) as model:
        try:
            terminal = Terminal(client.program, client.place, model.url, client.extra)
        except TmuxMissing as missing:
            pytest.skip(str(missing))
        with terminal:
            terminal.start()
            terminal.type("Paint it amber.")
            terminal.wait_until(lambda: "PAINTED" in terminal.screen())
            terminal.type("/clear")
            terminal.wait_until(lambda: "says: standfast:" in terminal.screen())  # for the person
            terminal.type("What now?")
            terminal.wait_until(lambda: "ASKED" in terminal.screen())
        text = asked(model, "What now?")

    before = client.events("--kind", "prompt")[0]["session"]
    line = f"what was done before /clear is kept; to see it: standfast brief {before[:8]}"
    assert text.count(line) == 1
    assert "Paint it amber" not in text


@pytest.mark.req("WAKE-06", "WAKE-08")
def test_fork_gets_the_brief_of_its_parent_marked_as_one(tmp_path: Path) -> None:
    client = installed("2.1.325", tmp_path)
    with (
        Model([Rule(always=True, reply=Reply(text="Painted."))]) as model,
        Claude(client.program, client.place, model.url, client.extra) as claude,
    ):
        claude.start()
        claude.send("Paint it amber.")
        parent = claude.session
        claude.end()
        claude.start("--resume", parent, "--fork-session")
        claude.send("Which colour?")
        fork = claude.session
        claude.end()
        said = told(asked(model, "Which colour?"))

    assert fork != parent
    assert f"Forked from {parent[:8]}." in said
    assert fenced(said) >= {"Paint it amber."}
