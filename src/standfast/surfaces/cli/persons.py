"""What only a person may say, and which person says it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from standfast import ids
from standfast.effects import ancestry, hidden_ancestry
from standfast.errors.base import PersonOnly

if TYPE_CHECKING:
    from standfast.surfaces.cli.command_context import Context

# Set for the commands that agents run: by coding agents, by a hook of a client's, and by us. Whose
# command one of ours is, its ancestors say.
_AGENTS = {
    "CLAUDECODE": "claude",
    "CLAUDE_CODE_SESSION_ID": "claude",
    "STANDFAST_SESSION": "claude",
    "CODEX_SANDBOX": "codex",
    "GEMINI_CLI": "gemini",
    "OPENCODE": "opencode",
    "STANDFAST_OUTPUT": ancestry.UNNAMED,
    "STANDFAST_EFFECT": ancestry.UNNAMED,
}


def agent(context: Context) -> str | None:
    """The agent whose command this is; None for a person's."""
    told = (name for variable, name in _AGENTS.items() if context.environ.get(variable))
    return ancestry.agent(context.place.folder) or next(told, None)


def refuse_agents(context: Context) -> None:
    """An agent that could let itself off would be no gate at all."""
    is_told = any(context.environ.get(name) for name in _AGENTS)
    if is_told or ancestry.is_an_agents():
        raise PersonOnly("an agent asks for what only a person may say")
    if hidden_ancestry.may_be_hidden(context.place.folder):
        raise PersonOnly(
            "a command of this repository is at work where it cannot be seen from here: whether an"
            " agent asks for what only a person may say cannot be told",
            remedy="Say it where that was begun, outside of containers, or when it has ended: see"
            " `standfast ps`.",
        )


def decider(context: Context, by: str | None) -> str:
    """Who decided, as given: an agent that we run decides in no name but its own."""
    if by is None or ancestry.is_an_agents():
        return context.who
    return ids.name(by, what="--by")


def who(context: Context, by: str | None) -> str:
    """The name that is recorded: as given, else the login."""
    if by is not None:
        return ids.name(by, what="--by")
    login = context.environ.get("LOGNAME") or context.environ.get("USER") or ""
    plain = "".join(char for char in login if char.isascii() and (char.isalnum() or char in "._-"))
    return ids.name(plain.strip("._-")[:64] or f"uid-{os.getuid()}", what="--by")
