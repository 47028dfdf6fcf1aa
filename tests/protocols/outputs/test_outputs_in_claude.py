"""Outputs in the real Claude Code: what a subagent that leaves none is told, and how often."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from claude_world import VERSIONS, installed
from harness.rig.claude import Claude
from harness.rig.model import Model
from harness.rig.script import Reply, Rule
from harness.rig.seen import Kind
from standfast.protocols.outputs.rules import whole_output

TASK = "Find every race in refunds."
FINDINGS = f"Two races, both in refunds.\n{whole_output.SENTINEL}\n"
OWN_WORDS = (
    "The file MUST exist when you finish. End your output file with the exact\n"
    f"line `{whole_output.SENTINEL}` as the last line.\n"
)
ONLY_SAID = Reply(text="I found two races.")


class Review:
    """A session in which the model has something reviewed by a subagent."""

    def __init__(self, version: str, folder: Path) -> None:
        self.world = installed(version, folder)
        self.path = Path(self.world.place.project, "review-races.md")
        self.remedy = whole_output.remedy(str(self.path), whole_output.MISSING)
        self.lead: list[str] = []  # what the lead was told
        self.writes = Reply(calls=(("Write", {"file_path": str(self.path), "content": FINDINGS}),))

    def run(self, *does: tuple[str, Reply], prompt: str = "", times: int = 1) -> list[str]:
        """Play it; the last words of the user in each request of the subagent, in order."""
        prompt = prompt or whole_output.prompt(f"{TASK} {'Be thorough. ' * 300}", str(self.path))
        task: Mapping[str, Any] = {
            "prompt": prompt,
            "description": "review",
            "subagent_type": "general-purpose",
        }
        rules = [
            Rule(when="Have it reviewed.", reply=Reply(calls=(("Agent", task),) * times)),
            *(Rule(to=Kind.AGENT, when=when, reply=reply) for when, reply in does),
            Rule(always=True, reply=Reply(text="The review is in.")),
        ]
        world = self.world
        with (
            Model(rules) as model,
            Claude(world.program, world.place, model.url, world.extra) as claude,
        ):
            claude.start()
            claude.send("Have it reviewed.")
            claude.end()
            assert model.script.unscripted == []
            assert [rule for rule in model.script.rules if not rule.always] == []
            self.lead = [request.text for request in model.of(Kind.MAIN)]
            return [request.last_user for request in model.of(Kind.AGENT)]

    def kept(self, kind: str) -> list[Mapping[str, Any]]:
        return [event["payload"] for event in self.world.events("--kind", kind)]


@pytest.fixture(params=VERSIONS)
def review(request: pytest.FixtureRequest, tmp_path: Path) -> Review:
    return Review(request.param, tmp_path)


@pytest.mark.req("OUT-13", "OUT-14")
def test_subagent_that_only_says_it_is_held_once_and_writes_its_file(review: Review) -> None:
    said = review.run(
        (TASK, ONLY_SAID), (review.remedy, review.writes), ("created", Reply(text="Written."))
    )

    assert whole_output.paragraph(str(review.path)) in said[0]
    assert len([words for words in said if review.remedy.strip() in words]) == 1
    assert review.path.read_text("utf-8") == FINDINGS
    assert [each["fault"] for each in review.kept("output.checked")] == [whole_output.MISSING, ""]
    (held,) = review.kept("output.held")
    assert (held["path"], held["fault"]) == (str(review.path), whole_output.MISSING)
    (launched,) = review.kept("output.launched")
    assert launched["path"] == str(review.path)
    assert [each["id"] for each in review.kept("agent.ended")] == [held["agent"]]


@pytest.mark.req("OUT-13")
def test_stubborn_subagent_is_held_once_and_let_go(review: Review) -> None:
    review.run((TASK, ONLY_SAID), (review.remedy, Reply(text="I said it already.")))

    assert len(review.kept("output.held")) == 1
    assert len(review.kept("output.checked")) == 2
    assert len(review.kept("agent.ended")) == 1


@pytest.mark.req("OUT-13")
def test_subagent_that_leaves_its_file_is_told_nothing(review: Review) -> None:
    said = review.run((TASK, review.writes), ("created", Reply(text="Written.")))

    assert "does not exist" not in "".join(said)
    assert review.kept("output.held") == []
    assert [each["fault"] for each in review.kept("output.checked")] == [""]


@pytest.mark.req("OUT-23")
def test_relative_path_of_the_protocols_own_words_is_held_for_where_it_belongs(
    review: Review,
) -> None:
    folder = Path(review.world.place.project, ".cwf/projects/one")
    folder.mkdir(parents=True)
    (folder.parents[1] / "cwf-state.yaml").write_text("live:\n  dir: .cwf/projects/one\n", "utf-8")
    prompt = f"{TASK}\nWrite your complete findings to: .cwf/projects/one/x.md\n{OWN_WORDS}"
    remedy = whole_output.remedy(str(folder / "x.md"), whole_output.MISSING)

    review.run((TASK, ONLY_SAID), (remedy, Reply(text="I said it already.")), prompt=prompt)

    (held,) = review.kept("output.held")
    (launched,) = review.kept("output.launched")
    assert held["path"] == launched["path"] == str(folder / "x.md")


@pytest.mark.req("OUT-06", "OUT-23")
def test_lead_hears_of_the_third_launch_of_one_output(review: Review) -> None:
    review.path.write_text(FINDINGS, encoding="utf-8")

    review.run(*[(TASK, ONLY_SAID)] * 3, times=3)

    assert len(review.kept("output.launched")) == 3
    told = f"{review.path} is complete, and this is its launch number 3"
    assert any(told in text for text in review.lead)
