"""Documents of the resumption protocol in a repository that hooks are called in."""

import json
from pathlib import Path
from typing import Any

from resumption_samples import PLAN
from standfast import clock
from standfast.journal.author import USER
from standfast.journal.store import Journal
from standfast.journal.tables.document_folds import Document
from standfast.protocols.resumption.records import document_records
from standfast.protocols.resumption.rules.triggers import Recovery
from standfast.protocols.resumption.rules.update_matrix import begin

FILE = "ORCHESTRATION.yaml"
HOUR_US = 3600 * clock.MICROSECONDS
MINUTE_US = 60 * clock.MICROSECONDS


def begun(journal: Journal, root: Path, *, ago: int = 0, file: str = FILE) -> Document:
    """A document that is worked by, last updated so many microseconds ago."""
    updated_at = clock.rfc3339(clock.now_us() - ago)
    state = Recovery(
        *(None, 2, "headers", "ACTIVE", "phase-2-agent-execution", "apply the headers", None),
        updated_at,
    )
    with journal.writing() as tx:
        return document_records.begin(
            tx, file, str(root), begin(state, [PLAN], ["qg-1", "qg-2"]), USER
        )


def section(journal: Journal, file: str = FILE) -> dict[str, Any]:
    """The section as the journal has it."""
    found = document_records.find(journal.query, file)
    assert found is not None
    return found.section


def transcript(
    path: Path, tokens: int, *, model: str = "claude-opus-4", between: tuple[str, str] = (",", ":")
) -> Path:
    """A client's transcript whose newest reply was given so many tokens."""
    usage = {"input_tokens": 12, "cache_creation_input_tokens": 0,
             "cache_read_input_tokens": tokens - 12, "output_tokens": 5}  # fmt: skip
    message = {"type": "assistant", "message": {"model": model, "role": "assistant",
                                                "usage": usage}}  # fmt: skip
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(message, separators=between) + "\n")
    return path


def payloads(journal: Journal, kind: str) -> list[dict[str, Any]]:
    """What the events of a kind say."""
    rows = journal.query("SELECT payload FROM events WHERE kind = ? ORDER BY seq", (kind,))
    return [json.loads(text) for (text,) in rows]
