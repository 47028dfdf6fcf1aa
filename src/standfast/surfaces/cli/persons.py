"""What only a person may say, and which person says it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from standfast.effects import lineage
from standfast.errors import PersonOnly
from standfast.protocol import ids

if TYPE_CHECKING:
    from standfast.surfaces.cli.context import Context

# Set by coding agents for the commands that they run.
_AGENTS = ("CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "CODEX_SANDBOX", "GEMINI_CLI", "OPENCODE")
# By a hook, by `stage run`, and around every command that goes through the door of effects.
_OURS = ("STANDFAST_SESSION", "STANDFAST_OUTPUT", "STANDFAST_EFFECT")


def refuse_agents(context: Context) -> None:
    """An agent that could let itself off would be no gate at all."""
    is_told = any(context.environ.get(name) for name in (*_AGENTS, *_OURS))
    if is_told or lineage.is_an_agents():
        raise PersonOnly("an agent asks for what only a person may say")
    if lineage.may_be_hidden(context.place.folder):
        raise PersonOnly(
            "a command of this repository is at work where it cannot be seen from here: whether an"
            " agent asks for what only a person may say cannot be told",
            remedy="Say it where that was begun, outside of containers, or when it has ended: see"
            " `standfast ps`.",
        )


def who(context: Context, by: str | None) -> str:
    """The name that is recorded: as given, else the login."""
    if by is not None:
        return ids.name(by, what="--by")
    login = context.environ.get("LOGNAME") or context.environ.get("USER") or ""
    plain = "".join(char for char in login if char.isascii() and (char.isalnum() or char in "._-"))
    return ids.name(plain.strip("._-")[:64] or f"uid-{os.getuid()}", what="--by")
