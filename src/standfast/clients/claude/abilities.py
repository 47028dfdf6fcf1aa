"""What each version of Claude Code can do, as data: measured on the real programs.

Older versions silently drop every hook of a settings file that names an event they do not know.
So a version is taken to know what the nearest measured version at or below it knows, no more.
"""

from __future__ import annotations

from typing import NamedTuple

Version = tuple[int, int, int]


class Measured(NamedTuple):
    """What a version knows beyond the measured one before it."""

    version: Version
    events: tuple[str, ...]
    exec_form: bool  # a hook's `args` make it run without a shell; earlier they are ignored


EVERYWHERE = (
    "SessionStart",
    "SessionEnd",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "Notification",
    "SubagentStop",
    "Stop",
    "PreCompact",
)
MEASURED = (
    Measured((1, 0, 128), EVERYWHERE, exec_form=False),
    Measured(
        (2, 0, 76), ("PostToolUseFailure", "SubagentStart", "PermissionRequest"), exec_form=False
    ),
    Measured(
        (2, 1, 100),
        ("PostCompact", "StopFailure", "TaskCreated", "TaskCompleted", "TeammateIdle"),
        exec_form=False,
    ),
    Measured((2, 1, 325), (), exec_form=True),
)

# What we listen to. Never WorktreeCreate: a hook there replaces git's own work.
WANTED = (
    "SessionStart",
    "SessionEnd",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "SubagentStart",
    "SubagentStop",
    "Stop",
    "PreCompact",
    "PostCompact",
    "TaskCreated",
    "TaskCompleted",
)


class Abilities(NamedTuple):
    """What may be installed for one version."""

    events: tuple[str, ...]
    exec_form: bool


def of(version: Version | None) -> Abilities:
    """The abilities of *version*; None, a version that could not be read, has the safe ones."""
    known = [each for each in MEASURED if version is not None and each.version <= version]
    names = {name for each in known for name in each.events} or set(EVERYWHERE)
    return Abilities(
        events=tuple(name for name in WANTED if name in names),
        exec_form=bool(known) and known[-1].exec_form,
    )
