"""What is there afterwards: read from the disk by the product's own readers, in one picture."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, NamedTuple

from standfast.errors.base import JournalGone, NothingFound
from standfast.journal import questions

if TYPE_CHECKING:
    from harness.faults.world import World
    from standfast.journal.store import Journal


class Seen(NamedTuple):
    """The facts of one world."""

    decisions: dict[str, str]
    events: list[tuple[str, str | None, str]]  # kind, session, payload
    gaps: int
    first: int = 1  # the number of the first event: those before it were dropped

    def since(self, first: int) -> list[tuple[str, str | None, str]]:
        """The events from one number on."""
        return self.events[max(0, first - self.first) :]

    def number(self, kind: str, session: str | None = None) -> int:
        """How many events of one kind there are, of one session or of all."""
        return sum(
            one == kind and (session is None or whose == session) for one, whose, _ in self.events
        )


def look(journal: Journal) -> Seen:
    """Read everything; what is not there yet is nothing."""
    try:
        rows = list(questions.events(journal, questions.Filter()))
        found = {d.id: d.text for d in questions.decisions(journal)}
    except (NothingFound, JournalGone):
        return Seen({}, [], 0)
    events = [(row.kind, row.session, row.payload) for row in rows]
    gaps = sum(json.loads(payload)["facts"] for kind, _, payload in events if kind == "gap")
    return Seen(found, events, gaps, rows[0].seq if rows else 1)


CONTEXT = "repo/session/agents/expert.context.md"

# Files that are replaced as a whole: each is as it was, or as it was to be, and nothing between.
_WHOLE = (
    "repo/.git/standfast/status.md",
    "repo/.git/standfast/off",
    "repo/.git/standfast-id",
    "home/.claude/settings.json",
    "home/.local/share/standfast/hook",
    "home/.local/share/standfast/hook.modules",
    "repo/.cwf/cwf-state.yaml",
    "export.jsonl",
    CONTEXT,
    "repo/ORCHESTRATION.yaml",
    "repo/context",
    "repo/.claude/hooks/pre-compact.sh",
    "repo/.claude/settings.local.json",
    "home/.config/standfast/stateMachines/oosh_expert.states.env",
)
_MINUTE = re.compile(rb"^\*\*Updated\*\*: [-0-9]{10}T[0-9]{2}:[0-9]{2}Z$", re.MULTILINE)
_ID = re.compile(rb"\A(?:(?:journal|home|folder|was|lost|copy|before) [^\n]+\n)+\Z")
_SECOND = re.compile(rb'\b(updated_at|timestamp): "[-0-9T:Z]{20}"')


def whole_files(world: World) -> dict[str, bytes | None]:
    """The bytes of every file that is replaced as a whole."""
    return {name: _bytes(os.path.join(world.root, name)) for name in _WHOLE}


def timeless(data: bytes) -> bytes:
    """A file without the moment that it was written in: trials take longer than that.

    An id is another in each of them, and is given in steps: any that is whole is as good.
    """
    if _ID.match(data):
        return b"an id"
    return _SECOND.sub(rb"\1: now", _MINUTE.sub(b"**Updated**: now", data))


def _bytes(path: str) -> bytes | None:
    try:
        with open(path, "rb") as file:
            return timeless(file.read())
    except FileNotFoundError:
        return None


def litter(world: World) -> list[str]:
    """Drafts that a crash left and nobody took away; those beside the journal are still watched."""
    return [
        os.path.relpath(os.path.join(folder, name), world.root)
        for folder, _, names in os.walk(world.root)
        for name in names
        if name.endswith((".draft", ".partial")) and os.path.basename(folder) != "drafts"
    ]
