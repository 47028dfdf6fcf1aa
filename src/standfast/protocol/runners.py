"""What runs an agent: a client that is known by name, a command of the user's own, a shell line.

Each client has a module (runner_*.py) with two pure functions: `argv` says how it is called, and
`read` takes from what it printed who it was, what it cost, and whether a limit stopped it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

SHELL, CLAUDE, CODEX, GEMINI, OPENCODE = "shell", "claude", "codex", "gemini", "opencode"
KINDS = (CLAUDE, CODEX, GEMINI, OPENCODE, SHELL)


class Runner(NamedTuple):
    """One way to run an agent, as it was when the run began."""

    name: str  # as plans say it
    kind: str = SHELL  # how it is called, and how its words are read
    command: tuple[str, ...] = ()  # the program, and what the user wants it to be given
    resume: tuple[str, ...] = ()  # the same for going on with a session: `{session}` is its id
    env: Mapping[str, str] = {}
    time_s: float | None = None


class Call(NamedTuple):
    """One call of an agent."""

    prompt: str  # the file that holds the prompt; it is also the standard input
    session: str = ""  # the id that it is to have, or has
    is_resumed: bool = False  # it goes on with that session


class Report(NamedTuple):
    """What a client said of itself; what it did not say is empty."""

    session: str = ""
    cost_usd: str = ""  # a decimal, as it was said
    tokens_in: int = 0
    tokens_out: int = 0
    limit: str = ""  # why it could not go on: a usage or rate limit, in its own words
    limit_until_s: int = 0  # when that ends, in seconds since 1970; 0 is not told
    error: str = ""
    last: str = ""  # its last words, one line
