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
from standfast.journal.store import Journal
from standfast.protocol.outputs import SENTINEL

FOLDER = Path(__file__).parent / "fixtures" / "prompts"
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


def samples() -> list[Sample]:
    return [
        _sample(path.stem, block)
        for path in sorted(FOLDER.glob("*.txt"))
        for block in path.read_text(encoding="utf-8").split("=== ")[1:]
    ]


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


@pytest.fixture
def world(repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setenv("HOME", str(repo.parent))
    outside = tmp_path / "outside"
    outside.mkdir()
    return World(repo, outside)


@pytest.mark.req("OUT-23")
@pytest.mark.parametrize("sample", samples(), ids=lambda each: each.name)
def test_prompt_is_read_as_a_person_reads_it(world: World, sample: Sample) -> None:
    for file in sample.there:
        world.leave(file)
    owes = [str(world.repo / file) for file in sample.owes]

    told, held = world.held(sample)

    assert held == owes
    assert bool(told) == bool(owes)
    assert all(path in json.loads(told)["reason"] for path in owes)
    assert set(world.launched()) >= set(owes)
    for file in sample.owes:
        world.leave(file)
    assert world.held(sample) == ("", [])


@pytest.mark.req("OUT-23")
def test_enough_prompts_were_tried() -> None:
    assert len(samples()) >= 200
    assert len({each.name for each in samples()}) == len(samples())
