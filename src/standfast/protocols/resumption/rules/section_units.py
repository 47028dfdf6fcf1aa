"""A section's fields and log entries, each by its path, so that each can have an author. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from standfast.protocols.resumption.rules.section_schema import SUB_SECTIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from standfast.protocols.resumption.rules.section_schema import Section

LATEST = ("checkpoints", "latest_id")  # beside the section, and what it must agree with
LOGS = ("decision_log", "agent_summaries", "compaction_events")
_WHOLE = "files_to_read"

Path = tuple[str, ...]  # the sub-section, and the field or entry in it


def records(section: Section) -> Iterator[tuple[Path, Any]]:
    """Every field and every entry of a log, by its path."""
    for name, value in section.items():
        if name == _WHOLE or name not in SUB_SECTIONS:  # the project's own are taken whole
            yield (name,), value
        elif name == "decision_log":
            yield from (((name, entry["id"]), entry) for entry in value)
        elif name == "compaction_events":
            yield from (((name, event["id"]), event) for event in value["events"])
        else:
            yield from (((name, field), each) for field, each in value.items())
