"""Files with a resumption section, as people keep them, for tests from outside."""

import os
from pathlib import Path
from typing import Any

from resumption_samples import lived
from standfast.formats.yaml_text import read_yaml
from standfast.formats.yaml_writer import write
from standfast.journal.author import USER
from standfast.journal.store import Journal
from standfast.protocols.resumption.records import document_records as recorded
from standfast.protocols.resumption.rules.update_matrix import Resumption

FILE = "ORCHESTRATION.yaml"
AROUND = "# ours, do not touch\nworkflow: {id: w-1, name: 'a name'}  # kept\n"
V1 = """\
schema_version: "1.0"
resumption:
  last_checkpoint: CP-003
  current_state: |
    Phase 2 is running,
    two agents are done.
  next_step: wait for the third
  files_to_read:
    - PLAN.md
    - {path: NOTES.md, priority: 2, purpose: notes}
  cross_session_portable: true
  ephemeral_references: false
  mood: hopeful
"""


def section(repo: Path, file: str = FILE) -> dict[str, Any]:
    """The section as the file shows it."""
    document = read_yaml((repo / file).read_bytes(), name=file)
    assert isinstance(document.value, dict)
    found = document.value["resumption"]
    assert isinstance(found, dict)
    return found


def put(repo: Path, value: object, file: str = FILE) -> None:
    """A file with this section in it."""
    text = AROUND + write({"resumption": value})  # type: ignore[dict-item]  # whatever is to be tried
    (repo / file).write_text(text, encoding="utf-8")


def old() -> dict[str, Any]:
    """A whole section, last updated long before any session of a test."""
    return lived().section


def journalled(repo: Path, value: dict[str, Any] | None = None) -> Journal:
    """A document of the journal, as if it had been recorded then."""
    folder = str(repo / ".git" / "standfast")
    journal = Journal(folder, state_home=os.environ["XDG_STATE_HOME"])
    with journal.writing() as tx:
        recorded.begin(tx, FILE, str(repo), Resumption(value or old()), USER)
    return journal
