"""What an agent with a role does after a compaction: five steps, the same for every role. Pure."""

from __future__ import annotations

from standfast.protocol import ids

CHECKLIST = (
    "Read the context that follows, all of it; the current goal comes first.",
    "Read the role's SKILL.md.",
    "Read the architecture document.",
    "Ask the orchestrator which tasks are yours now.",
    "Report that you are ready: able to write files and to commit.",
)
NOT_FOUND = "NOT FOUND"


def skill_path(role: str) -> str:
    """Where a role's skill is, from the root of the repository."""
    return f".claude/agents/{ids.role(role)}/SKILL.md"


def steps() -> list[str]:
    """The checklist, numbered."""
    return [f"{number}. {step}" for number, step in enumerate(CHECKLIST, 1)]


def document(what: str, path: str, *, is_there: bool) -> str:
    """Where a document is, and whether it is."""
    return f"{what}: {path}" if is_there else f"{what}: {path} {NOT_FOUND}"
