"""A repository with a role: its context file, its lifecycle in the journal, its states file."""

import json
import os
from pathlib import Path

from context_samples import ROLE, VALID
from standfast.journal.author import USER
from standfast.journal.store import Journal
from standfast.protocols.context.records import lifecycle_records
from standfast.surfaces.cli.context_findings import minute

FILE = f"session/agents/{ROLE}.context.md"
FRESH = VALID.replace("2026-02-03T12:15Z", minute())


def put(repo: Path, text: str = FRESH, role: str = ROLE) -> Path:
    file = repo / "session" / "agents" / f"{role}.context.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def journal(repo: Path) -> Journal:
    return Journal(str(repo / ".git" / "standfast"))


def state(repo: Path, role: str = ROLE) -> str | None:
    kept = journal(repo)
    found = lifecycle_records.of(kept, role)
    kept.close()
    return found.state if found else None


def bring(repo: Path, to: str, role: str = ROLE) -> None:
    kept = journal(repo)
    with kept.writing() as tx:
        lifecycle_records.begin(tx, role, "test", USER)
        lifecycle_records.walk(tx, role, to, "test", USER)
    kept.close()


def moves(repo: Path) -> list[tuple[str | None, str]]:
    kept = journal(repo)
    rows = kept.query("SELECT payload FROM events WHERE kind = 'lifecycle.moved' ORDER BY seq")
    kept.close()
    return [(found["from"], found["to"]) for found in (json.loads(row[0]) for row in rows)]


def states_file(role: str = "oosh_expert") -> Path:
    root = Path(os.environ["XDG_CONFIG_HOME"]) / "standfast" / "stateMachines"
    return root / f"{role}.states.env"
