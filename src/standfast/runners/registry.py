"""What runs an agent: a client that is known by name, a command of the user's own, a shell line.

Each client has a module in this package with two pure functions: `argv` says how it is called, and
`read` takes from what it printed who it was, what it cost, and whether a limit stopped it.
"""

from __future__ import annotations

from decimal import Decimal
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

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

    prompt: str  # the file that holds the prompt; it is the standard input, too, but of a script
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
    is_gone: bool = False  # there is no such session to go on with: it did nothing


class Client(Protocol):
    """What the module of a client has."""

    def argv(self, runner: Runner, call: Call) -> list[str]:
        """The words of a command that does *call*."""
        ...

    def read(self, out: bytes, err: bytes = b"", now: datetime | None = None) -> Report:
        """What a client said on both streams; it ended at *now*, in the zone it ran in.

        Some tell of trouble only as an error, and of a limit only the hour at which it ends.
        """
        ...


# As plans name them, for whoever configured nothing: no flag that widens what an agent may do.
KNOWN: Mapping[str, Runner] = {
    CLAUDE: Runner(CLAUDE, CLAUDE, ("claude",)),
    CODEX: Runner(CODEX, CODEX, ("codex", "exec")),
    GEMINI: Runner(GEMINI, GEMINI, ("gemini",)),
    OPENCODE: Runner(OPENCODE, OPENCODE, ("opencode", "run")),
    SHELL: Runner(SHELL, SHELL, ("/bin/sh", "{prompt}")),
}
CHOOSES_SESSION = (CLAUDE, GEMINI)  # they take an id of ours; the others tell theirs
_SHELLS = frozenset({"bash", "dash", "fish", "ksh", "mksh", "sh", "zsh"})
HAVE_SESSIONS = (CLAUDE, CODEX, GEMINI, OPENCODE)


def argv(runner: Runner, call: Call) -> list[str]:
    """The words of the command that has *runner* do *call*.

    Whoever starts it sets PWD to the folder it works in: opencode believes that variable.
    """
    return _client(runner.kind).argv(runner, call)


def read(kind: str, out: bytes, err: bytes = b"", now: datetime | None = None) -> Report:
    """What a client of *kind* said of itself; never raises, whatever stands there."""
    from standfast.runners.templates import complaint, is_gone

    report = _client(kind).read(out, err, now)
    if kind == SHELL:
        return report
    if report == Report():
        report = Report(error=complaint(err))  # it did not even begin
    return report._replace(is_gone=is_gone(report.error))


def spent(calls: Iterable[tuple[str, Report]]) -> tuple[Decimal, int, int]:
    """What several calls took together, each with its kind: dollars, tokens in, tokens out.

    Codex counts a session from its beginning, so that a later call of one replaces the earlier.
    """
    counted: dict[tuple[str, str], Report] = {}
    for number, (kind, report) in enumerate(calls):
        own = report.session if kind == CODEX and report.session else f"call {number}"
        before = counted.get((kind, own), Report())
        counted[kind, own] = report if report.tokens_in >= before.tokens_in else before
    costs = (Decimal(each.cost_usd or 0) for each in counted.values())
    return (
        sum(costs, Decimal()),
        sum(each.tokens_in for each in counted.values()),
        sum(each.tokens_out for each in counted.values()),
    )


def can_resume(runner: Runner) -> bool:
    """Whether a session of it can be gone on with."""
    return runner.kind in HAVE_SESSIONS or bool(runner.resume)


def takes_script(runner: Runner) -> bool:
    """Whether it runs the task's own words as commands: no word of ours may stand among them.

    So does what somebody set in the place of `shell`, and a shell that gets the prompt as its file
    or, where it gets nothing else, as its input.
    """
    if runner.kind != SHELL:
        return False
    program, *rest = runner.command
    is_shell = program.rpartition("/")[2] in _SHELLS
    return runner.name == SHELL or (is_shell and (not rest or "{prompt}" in rest))


def has_script(runner: Runner) -> bool:
    """Whether it is given its commands as a file, so that nothing is left to be read as input.

    A script that asks for something would read its own words otherwise.
    """
    return takes_script(runner) and "{prompt}" in runner.command


def _client(kind: str) -> Client:
    name = kind if kind in KINDS else SHELL
    return cast("Client", import_module(f"standfast.runners.{name}"))
