"""An agent with a role in the real Claude Code: it saves, is compacted, recovers, and is active."""

import json
from pathlib import Path
from typing import Any

import pytest

from claude_world import VERSIONS, World, told
from context_samples import ROLE
from harness.rig.claude import Claude
from harness.rig.model import Model
from harness.rig.script import Reply, Rule
from harness.rig.seen import Kind
from role_worlds import FILE, FRESH, put

MADE = ["active", "saving", "saved", "compacting", "recovering", "active"]


def bash(command: str) -> Reply:
    given: Any = {"command": command, "description": "the next step"}
    return Reply(calls=(("Bash", given),))


@pytest.fixture(params=VERSIONS)
def client(request: pytest.FixtureRequest, tmp_path: Path) -> World:
    made = World(request.param, tmp_path)
    made.extra["HIVEMIND_ROLE"] = ROLE
    made.extra["CONFIG_PATH"] = str(tmp_path / "config")
    return made


def states(client: World) -> list[str]:
    moved = client.events("--kind", "lifecycle.moved")
    return [str(event["payload"]["to"]) for event in moved]


@pytest.mark.req("CTX-11", "CTX-21", "CTX-26")
def test_the_seven_steps_end_in_active(client: World, tmp_path: Path) -> None:
    client.standfast("install", "claude", "--yes")
    client.standfast("context", "shim")
    client.standfast("context", "lifecycle.init", ROLE)  # 1: it works normally
    put(Path(client.place.project))
    skill = Path(client.place.project) / ".claude" / "agents" / ROLE / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("The expert knows where the towel is.\n", encoding="utf-8")
    rules = [
        Rule(when="You are near the limit", reply=bash(f"./context lifecycle.save {ROLE}")),
        Rule(when=f"{ROLE} is saved", reply=Reply(text="Saved.")),
        Rule(when="Go on.", reply=bash(f"./context recover {ROLE}")),
        Rule(
            when="That is all: go on with step 1", reply=bash(f"cat .claude/agents/{ROLE}/SKILL.md")
        ),
        Rule(when="where the towel is", reply=bash("git status --short")),
        Rule(when="session/", reply=Reply(text="Ready.")),
    ]
    with (
        Model(rules) as model,
        Claude(client.program, client.place, model.url, client.extra) as claude,
    ):
        claude.start()
        claude.send("You are near the limit of your context: save.")  # 2 and 3
        assert states(client)[-1] == "saved"
        claude.send("/compact")  # 4
        assert states(client)[-1] == "recovering"
        claude.send("Go on.")  # 5, 6 and 7
        claude.end()
        left, unscripted = list(model.script.rules), list(model.script.unscripted)
        summary = "\n".join(request.text for request in model.of(Kind.SUMMARY))
        woken = next(r.text for r in model.of(Kind.MAIN) if "Go on." in r.last_user)

    assert (left, unscripted) == ([], [])
    assert f"This agent has the role {ROLE}; its context is saved in {FILE}" in summary
    assert f"ROLE {ROLE}, lifecycle recovering; its context: {FILE}" in woken
    assert FRESH.rstrip() in woken  # whole: it is short
    assert "near the limit of your context" in told(woken)  # and the brief is as it was
    assert states(client) == MADE
    found = (tmp_path / "config" / "stateMachines" / "oosh_expert.states.env").read_text("utf-8")
    assert "STATE_ID_oosh_expert=11\n" in found
    status = json.loads(client.standfast("context", "lifecycle.status", ROLE, "--json"))
    assert status["roles"][0]["state"] == "active"


@pytest.mark.req("CTX-21", "CTX-24")
def test_hook_of_the_checkout_alone_notes_an_unsaved_role_and_blocks_nothing(
    client: World,
) -> None:
    client.standfast("context", "shim", "--hook")
    client.standfast("context", "lifecycle.init", ROLE)
    rules = [
        Rule(when="Begin.", reply=Reply(text="Begun.")),
        Rule(when="Go on.", reply=Reply(text="Went on.")),
    ]
    with (
        Model(rules) as model,
        Claude(client.program, client.place, model.url, client.extra) as claude,
    ):
        claude.start()
        claude.send("Begin.")
        claude.send("/compact")
        claude.send("Go on.")
        put(Path(client.place.project))
        claude.send("/compact")
        claude.end()
        summaries = [request.text for request in model.of(Kind.SUMMARY)]

    assert len(summaries) == 2  # neither was stopped
    assert f"the context of role {ROLE} is NOT saved: {FILE} does not exist" in summaries[0]
    assert f"its context is saved in {FILE}" in summaries[1]
    assert states(client) == ["active", "saving", "saved", "compacting"]
