"""What an agent with a role does after a compaction: five steps, the same for every role. Pure."""

from __future__ import annotations

from standfast import ids

_FIRST = "the current goal comes first."
CHECKLIST = (
    f"Read the context that follows, all of it; {_FIRST}",
    "Read the role's SKILL.md.",
    "Read the architecture document.",
    "Ask the orchestrator which tasks are yours now.",
    "Report that you are ready: able to write files and to commit.",
)
NOT_FOUND = "NOT FOUND"


def skill_path(role: str) -> str:
    """Where a role's skill is, from the root of the repository."""
    return f".claude/agents/{ids.role(role)}/SKILL.md"


def steps(first: str = CHECKLIST[0]) -> list[str]:
    """The checklist, numbered; *first* is another step where no context follows."""
    return [f"{number}. {step}" for number, step in enumerate((first, *CHECKLIST[1:]), 1)]


def elsewhere(file: str) -> str:
    """The first step where the context is not shown."""
    return f"Read {file}, all of it; {_FIRST}"


def nowhere(role: str) -> str:
    """The first step where there is no context."""
    return f"There is no context file; standfast context write {role} writes what is recorded."


def document(what: str, path: str, *, is_there: bool) -> str:
    """Where a document is, and whether it is."""
    return f"{what}: {path}" if is_there else f"{what}: {path} {NOT_FOUND}"
