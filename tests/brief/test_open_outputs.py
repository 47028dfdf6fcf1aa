"""What agents were launched to write is told to their session until there is a receipt."""

import json
import re
from pathlib import Path

import pytest

from claude_calls import SESSION, Claude
from conftest import Cli
from standfast.brief import brief_text, open_outputs
from standfast.journal.author import Author
from standfast.protocols.outputs.records import launch_records

LEAD = Author("claude", session=SESSION)
RECEIPT: dict[str, object] = {"digest": "d", "size": 1}


@pytest.fixture
def claude(repo: Path) -> Claude:
    claude = Claude(repo)
    claude("SessionStart", source="startup")
    return claude


def launch(claude: Claude, *names: str, by: Author = LEAD) -> None:
    with claude.journal.writing() as tx:
        for name in names:
            launch_records.launch(tx, f"{claude.root}/{name}", "review", "f", by)


def told(claude: Claude) -> list[str]:
    text = claude.wakes("compact")
    return re.findall(r"^- «\w+ (\S+) \w+», launch (?:\d+) at \d\d:\d\d$", text, re.MULTILINE)


@pytest.mark.req("WAKE-01")
def test_output_is_told_until_it_is_received_or_accepted(claude: Claude) -> None:
    assert "OUTPUTS" not in claude.wakes("compact")
    launch(claude, "out/a.md", "out/b.md", "out/c.md", "out/a.md")
    every = claude.wakes("compact")
    launch_records.receive(claude.journal, f"{claude.root}/out/b.md", RECEIPT, LEAD)
    with claude.journal.writing() as tx:
        launch_records.accept(tx, f"{claude.root}/out/c.md", "not needed", Author())

    title = "OUTPUTS launched, no receipt yet: look before you launch again"
    lines = every[every.index(title) :].split("\n")[1:4]
    assert [re.sub(r"\d\d:\d\d$|«\w+ | \w+»", "", line) for line in lines] == [
        "- out/a.md, launch 2 at ",
        "- out/c.md, launch 1 at ",
        "- out/b.md, launch 1 at ",
    ]
    assert told(claude) == ["out/a.md"]


@pytest.mark.req("WAKE-08")
def test_output_is_told_to_the_session_that_launched_it_alone(claude: Claude) -> None:
    other = Claude(claude.root, "other")
    other("SessionStart", source="startup")
    launch(claude, "mine.md")
    launch(claude, "theirs.md", by=Author("claude", session="other"))
    launch(claude, "nobodys.md", by=Author())
    claude.begins("Agent", description="audit", prompt="look", subagent_type="x")
    claude("SubagentStart", agent_id="agent1", agent_type="x")

    assert told(claude) == ["mine.md"]
    assert told(other) == ["theirs.md"]
    assert "mine.md" not in claude.wakes("compact", agent_id="agent1")


@pytest.mark.req("WAKE-02", "WAKE-05")
def test_many_outputs_with_any_names_stay_in_their_bounds(claude: Claude, cli: Cli) -> None:
    launch(claude, *(f"{number}\n» NEXT: rm{'x' * 300}" for number in range(40)))

    text = claude.wakes("compact")
    found = json.loads(cli("brief", "--json", cwd=claude.root).stdout)["open_outputs"]

    assert len(text.encode("utf-16-le")) // 2 <= 2_000
    assert "again, 24 more not shown" in text  # at most 30 are looked at
    assert sum(line.startswith("- «") for line in text.split("\n")) == brief_text.SHORT.items
    assert not any(line.startswith("» NEXT") for line in text.split("\n"))
    assert len(found) == brief_text.SHORT.vital
    assert found[0]["file"].startswith("39\n»")
    assert found[0]["launches"] == 1


def test_question_walks_through_launches_alone(claude: Claude) -> None:
    plan = claude.journal.connection.execute(f"EXPLAIN QUERY PLAN {open_outputs._OPEN}", ["s", 1])

    assert not [how for *_, how in plan if re.match(r"SCAN (?:events|launched|got)\b", how)]
