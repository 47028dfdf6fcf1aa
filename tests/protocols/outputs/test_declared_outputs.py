"""Which files a prompt tells its agent to leave behind, read as a person reads it.

The prompts are those of hurried people and of models, in every form that was seen; a hook that
holds an agent for a file that nobody asked it for costs more than one that lets it go.
"""

import json
import os
from pathlib import Path
from typing import NamedTuple

import pytest

from claude_calls import Claude
from places import TESTS
from standfast.journal.store import Journal
from standfast.protocols.outputs.rules.whole_output import SENTINEL

FOLDER = TESTS / "fixtures" / "prompts"
SESSION_DIR = ".cwf/projects/261116-01-demo"
STATE = f"live:\n  session_id: s\n  dir: {SESSION_DIR}\n"
END = f"End your output file with the exact line `{SENTINEL}` as the last line."
GOOD = f"Two races.\n{SENTINEL}\n"
KIND = "general-purpose"


class Sample(NamedTuple):
    """One prompt, where its agent stands, what is there, and what it is to leave behind."""

    name: str
    prompt: str
    owes: tuple[str, ...]  # below the repository
    cwd: str = ""
    there: tuple[str, ...] = ()


def samples(path: Path) -> list[Sample]:
    blocks = path.read_text(encoding="utf-8").split("=== ")[1:]
    return [_sample(path.stem, block) for block in blocks]


def _sample(file: str, block: str) -> Sample:
    name, *lines = block.splitlines()
    marks: dict[str, list[str]] = {"->": [], "@": [], "!": []}
    while lines and (mark := lines[0].partition(" ")[0]) in marks:
        marks[mark].append(lines.pop(0).partition(" ")[2])
    said = marks["->"][0]
    return Sample(
        f"{file}: {name}",
        "\n".join(lines),
        () if said in {"nothing", "whole"} else tuple(said.split(" + ")),
        (marks["@"] or [""])[0],
        tuple(marks["!"]),
    )


class World:
    """A repository with a live session in it, at home below HOME; the client that works in it."""

    def __init__(self, repo: Path, outside: Path) -> None:
        self.repo, self.outside, self.agents = repo, outside, 0
        self.claude = Claude(repo)
        (repo / ".cwf").mkdir()
        (repo / ".cwf/cwf-state.yaml").write_text(STATE, encoding="utf-8")
        (repo / SESSION_DIR).mkdir(parents=True)
        (repo / "packages/api").mkdir(parents=True)
        (repo / "away").symlink_to(outside)
        (outside / "link").symlink_to(repo)
        self.claude("SessionStart", source="startup")

    def says(self, sample: Sample) -> str:
        places = {
            "{end}": END,
            "{cr}": "\r",
            "{repo}": str(self.repo),
            "{name}": self.repo.name,
            "{out}": str(self.outside),
            "{link}": str(self.outside / "link"),
            "{long}": "/" + "x" * 5000,
        }
        text = sample.prompt
        for mark, place in places.items():
            text = text.replace(mark, place)
        return text

    def held(self, sample: Sample) -> tuple[str, list[str]]:
        """Ask for an agent, let it stop; what it is told, and for which files it is held."""
        self.agents += 1
        agent, prompt = f"a{self.agents}", self.says(sample)
        cwd = os.path.join(self.repo, sample.cwd.replace("{out}", str(self.outside)))
        call = {"prompt": prompt, "description": "review", "subagent_type": KIND}
        self.claude("PreToolUse", tool_name="Agent", tool_input=call, tool_use_id=agent, cwd=cwd)
        said = {"type": "user", "message": {"role": "user", "content": prompt}}
        transcript = self.outside / f"{agent}.jsonl"
        transcript.write_text(json.dumps(said) + "\n", encoding="utf-8")
        told = self.claude(
            "SubagentStop",
            agent_id=agent,
            agent_type=KIND,
            agent_transcript_path=str(transcript),
            stop_hook_active=False,
            cwd=cwd,
        )
        return told, [each for by, each in self.of("output.held") if by == agent]

    def launched(self) -> list[str]:
        return [path for _, path in self.of("output.launched")]

    def of(self, kind: str) -> list[tuple[str, str]]:
        journal = Journal(str(self.repo / ".git" / "standfast"))
        sql = "SELECT payload ->> 'agent', payload ->> 'path' FROM events WHERE kind = ?"
        try:
            return [(str(agent), str(path)) for agent, path in journal.query(sql, (kind,))]
        finally:
            journal.close()

    def leave(self, file: str) -> None:
        path = self.repo / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(GOOD, encoding="utf-8")

    def reads(self, sample: Sample) -> bool:
        """Whether it is read as a person reads it: held for what it owes, until that is there."""
        for file in sample.there:
            self.leave(file)
        owes = [str(self.repo / file) for file in sample.owes]
        told, held = self.held(sample)
        for file in sample.owes:
            self.leave(file)
        after = self.held(sample)
        for file in (*sample.there, *sample.owes):
            (self.repo / file).unlink()
        said = json.loads(told)["reason"] if told else ""
        return held == owes and all(path in said for path in owes) and after == ("", [])


@pytest.fixture
def world(repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setenv("HOME", str(repo.parent))
    outside = tmp_path / "outside"
    outside.mkdir()
    return World(repo, outside)


@pytest.mark.sweep(4)
@pytest.mark.req("OUT-23")
@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.txt")), ids=lambda path: path.stem)
def test_prompts_are_read_as_a_person_reads_them(world: World, path: Path) -> None:
    found = samples(path)

    assert [each.name for each in found if not world.reads(each)] == []
    assert set(world.launched()) >= {str(world.repo / file) for each in found for file in each.owes}


@pytest.mark.req("OUT-23")
def test_enough_prompts_were_tried() -> None:
    found = [each for path in FOLDER.glob("*.txt") for each in samples(path)]
    hold_nobody = [each for each in found if not each.owes]

    assert len({each.name for each in found}) == len(found) >= 1300
    assert len(hold_nobody) >= 820
