"""The resumption protocol in the real Claude Code: what the model is told, and when it is told."""

import json
from pathlib import Path
from typing import Any

import pytest

from claude_world import VERSIONS, World, installed
from harness.rig.claude import Claude
from harness.rig.model import Model
from harness.rig.script import Reply, Rule
from harness.rig.seen import Kind
from resumption_world import FILE, HOUR_US, begun, section
from standfast.journal.store import Journal
from user_settings import set_by_user

TRIES = 3  # on a busy machine a hook is late, and then it holds nobody
STALE = "resumption:\n  recovery_state:\n    updated_at: 2026-02-20T10:30:00Z\n"


@pytest.fixture(params=VERSIONS)
def client(request: pytest.FixtureRequest, tmp_path: Path) -> World:
    return installed(request.param, tmp_path)


def journal_of(client: World) -> Journal:
    return Journal(str(Path(client.place.project) / ".git" / "standfast"))


def call(tool: str, **given: Any) -> Reply:
    return Reply(calls=((tool, given),))


def asked(model: Model, words: str) -> str:
    return next(r.text for r in model.of(Kind.MAIN) if words in r.last_user)


@pytest.mark.req("RES-11", "RES-14", "RES-13", "RES-22")
def test_model_is_told_how_full_its_context_is_and_what_to_keep(client: World) -> None:
    root = Path(client.place.project)
    rule = '<!-- L2-REINJECT: rank=1, content="Never paint it black." -->\n'
    (root / ".claude" / "rules").mkdir(parents=True, exist_ok=True)
    (root / ".claude" / "rules" / "paint.md").write_text(rule, encoding="utf-8")
    rules = [
        Rule(when="Paint it amber.", reply=Reply(text="Painted.", tokens=75_000)),
        Rule(when="What now?", reply=Reply(text="Rest.", tokens=76_000)),
        Rule(when="And now?", reply=Reply(text="Rest on.", tokens=76_500)),
    ]
    with (
        Model(rules) as model,
        Claude(client.program, client.place, model.url, client.extra) as claude,
    ):
        claude.start()
        claude.send("Paint it amber.")
        begun(journal_of(client), root)
        claude.send("What now?")
        claude.send("And now?")
        claude.end()
        text = asked(model, "And now?")

    assert "<tier>WARNING</tier>" in text
    assert "<monitoring-ok>true</monitoring-ok>" in text
    assert "Resumption staleness: FRESH" in text
    assert "- Never paint it black." in text
    assert "- MUST update the resumption section" in text
    (crossed,) = [event["payload"] for event in client.events("--kind", "context.crossed")]
    assert (crossed["before"], crossed["tier"]) == ("NOMINAL", "WARNING")


@pytest.mark.req("RES-12")
def test_model_is_warned_of_a_write_that_leaves_the_section_stale(client: World) -> None:
    path = str(Path(client.place.project) / FILE)
    rules = [
        Rule(when="Write the plan.", reply=call("Write", file_path=path, content=STALE)),
        Rule(when="created", reply=call("Write", file_path=path, content=f"{STALE}# again\n")),
        Rule(when="updated", reply=Reply(text="Written.")),
    ]
    with (
        Model(rules) as model,
        Claude(client.program, client.place, model.url, client.extra) as claude,
    ):
        claude.start()
        claude.send("Write the plan.")
        claude.end()
        shown = model.of(Kind.MAIN)[-1].text

    assert f"after this write the resumption section of {FILE} is CRITICAL" in shown
    assert "standfast resumption trigger" in shown


@pytest.mark.req("RES-20")
@pytest.mark.parametrize("guarded", [False, True])
def test_model_hears_the_demand_and_is_held_only_by_the_users_guard(
    client: World, *, guarded: bool
) -> None:
    root = Path(client.place.project)
    begun(journal_of(client), root, ago=HOUR_US)
    if guarded:
        set_by_user("guard_resumption: true\n")
    paint = call("Bash", command="echo amber >>amber; echo PAINTED")
    rules = [
        Rule(when="Paint it amber.", reply=paint),
        *[Rule(when="PAINTED", reply=paint)] * TRIES,
        Rule(when="PAINTED", reply=Reply(text="Done.")),
        Rule(when="update it before anything else", reply=Reply(text="I see.")),
    ]
    with (
        Model(rules) as model,
        Claude(client.program, client.place, model.url, client.extra) as claude,
    ):
        claude.start()
        claude.send("Paint it amber.")
        claude.end()
        shown = model.of(Kind.MAIN)[-1].text

    assert f"the resumption section of {FILE} is CRITICAL" in shown
    assert "update it before anything else" in shown
    tried = len(client.events("--kind", "tool.started"))
    ran = (root / "amber").read_text("utf-8").count("amber") if (root / "amber").exists() else 0
    assert (ran < tried) == guarded


@pytest.mark.req("RES-08")
def test_compaction_is_acknowledged_only_once_its_brief_was_seen(client: World) -> None:
    root = Path(client.place.project)
    go_on = (
        Rule(when="Go on.", reply=call("Bash", command="echo GOING", description="go")),
        Rule(when="GOING", reply=Reply(text="Gone.")),
    )
    painted = Rule(when="Paint it amber.", reply=Reply(text="Painted.", tokens=50_000))
    rules = [painted, *go_on * TRIES]
    with (
        Model(rules) as model,
        Claude(client.program, client.place, model.url, client.extra) as claude,
    ):
        claude.start()
        claude.send("Paint it amber.")
        begun(journal_of(client), root)
        claude.send("/compact")
        (before,) = section(journal_of(client))["compaction_events"]["events"]
        activity = section(journal_of(client))["recovery_state"]["current_activity"]
        for _ in range(TRIES):
            claude.send("Go on.")
            client.standfast("status")
            (after,) = section(journal_of(client))["compaction_events"]["events"]
            if after["acknowledged"]:
                break
        claude.end()

    file = root / before["checkpoint_file"]
    assert (before["id"], before["trigger"], before["acknowledged"]) == ("CX-001", "manual", False)
    assert activity == "compaction-recovery"
    assert json.loads(file.read_text(encoding="utf-8"))["id"] == "CX-001"
    assert before["estimated_fill_before"] == 0.5
    assert after == {**before, "acknowledged": True}
