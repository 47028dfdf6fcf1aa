"""Eight processes save, check and gate one session at once: nothing lost, every count right."""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest

from conftest import Cli
from standfast.journal import questions
from standfast.journal.store import Journal
from standfast.journal.verification import verify
from standfast.protocols.context.rules.lifecycle import MOVES
from standfast.protocols.outputs.rules.whole_output import SENTINEL

pytestmark = pytest.mark.prove

PROCESSES = 8
TURNS = (
    ("context", "lifecycle.save", "tester"),
    ("outputs", "check", "--stage", "retro", "--launched", "cdm-analysis"),
    ("outputs", "gate", "--stage", "retro", "--launched", "cdm-analysis"),
    ("context", "save", "tester"),
)


@pytest.fixture
def session(repo: Path, cli: Cli) -> Path:
    """A repository with a role, a live session and a valid output."""
    folder = Path(cli("live-state", "begin", "s", cwd=repo).stdout.strip())
    output = folder / "retro-cdm-analysis.md"
    output.write_text(f"Found it.\n{SENTINEL}\n", encoding="utf-8")
    cli("context", "write", "tester", cwd=repo)
    assert cli("context", "lifecycle.init", "tester", cwd=repo).returncode == 0
    return repo


@pytest.mark.req("CTX-08", "CTX-10", "OUT-04", "OUT-09")
def test_eight_processes_at_one_session_lose_nothing_and_count_right(session: Path) -> None:
    before = len(list(events(session)))

    at_once = [begin(session, shift) for shift in range(PROCESSES)]
    ended = [each.communicate(timeout=120) for each in at_once]

    assert [each.returncode for each in at_once] == [0] * PROCESSES, ended
    told = list(events(session))[before:]
    kinds = Counter(event.kind for event in told)
    assert kinds["output.received"] == 1
    assert kinds["stage.gated"] == PROCESSES
    assert {json.loads(e.payload)["gate"] for e in told if e.kind == "stage.gated"} == {"PASS"}
    moves = [json.loads(e.payload) for e in told if e.kind == "lifecycle.moved"]
    assert all(move["to"] in MOVES[move["from"]] for move in moves)
    assert all(one["to"] == next_["from"] for one, next_ in pairwise(moves))
    assert moves[-1]["to"] == "saved"
    with closing(Journal(str(session / ".git/standfast"))) as journal:
        assert verify(journal).problems == []


def begin(repo: Path, shift: int) -> subprocess.Popen[bytes]:
    """One process that does all four, each begins with another."""
    order = [TURNS[(shift + turn) % len(TURNS)] for turn in range(len(TURNS))]
    script = (
        "import sys; from standfast.surfaces.cli.entry import main\n"
        f"sys.exit(max(main(list(turn)) for turn in {order!r}))"
    )
    return subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=repo,
        env=os.environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def events(repo: Path) -> Iterator[questions.Event]:
    with closing(Journal(str(repo / ".git/standfast"))) as journal:
        yield from questions.events(journal, questions.Filter())
