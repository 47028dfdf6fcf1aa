"""The frame: which commands there are, in three groups, and how one is found and run."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from standfast import __version__
from standfast.errors.base import WrongUsage

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType


class Command(NamedTuple):
    """A verb.

    Its module in `commands/` is loaded when it is called, and holds these functions:

    `configure(parser)` declares the arguments, `run(context, arguments)` gives the exit status;
    `rewrite(words)`, where there is one, brings what was typed into the form declared.
    """

    name: str
    says: str


# The order of each group is the order of `--help`.
GROUPS: tuple[tuple[str, tuple[Command, ...]], ...] = (
    (
        "Commands",
        (
            Command("install", "put the hooks into a coding agent's settings"),
            Command("uninstall", "take them out again; what was recorded stays"),
            Command("status", "what is decided, in flight and in need of you"),
            Command("brief", "what an agent is told when it wakes up"),
            Command("note", "record a decision"),
            Command("run", "take a plan to merged work: agents in worktrees, wave by wave"),
            Command("resume", "go on with what a crash, a reboot or a person stopped"),
            Command("rollback", "take the lanes of a run back; everything is kept first"),
            Command("stop", "end a run and what it has running"),
            Command("logs", "what a run or a lane said, and says"),
            Command("doctor", "check that everything here can keep its promises"),
        ),
    ),
    (
        "Protocol files",
        (
            Command("outputs", "whether the agents of a stage really finished"),
            Command("context", "the context file and the lifecycle of an agent's role"),
            Command("stage", "launch what a stage lacks, check it, apply the gate"),
            Command("resumption", "where the work is, so that any session can resume it"),
            Command("gate", "the scores of a quality gate, and what follows from them"),
            Command("checkpoint", "how far each lane of a run is, to resume or roll back"),
            Command("plan", "what a run is to do: check it, show it, trust its commands"),
            Command("lane", "run one lane to its merge, resume it, or roll it back"),
            Command("live-state", "which session of a workflow is the live one"),
        ),
    ),
    (
        "More",
        (
            Command("events", "what was recorded, filtered or followed"),
            Command("ps", "what runs left running, and what is in doubt"),
            Command("reap", "end what runs left running"),
            Command("settle", "say what became of a command whose end nobody saw"),
            Command("journal", "verify, repair, export or trim the journal; what was written over"),
            Command("demo", "watch a run being killed with -9, and nothing happen twice"),
            Command("off", "hooks leave this repository alone"),
            Command("on", "hooks record and brief again"),
            Command("forget", "never list or inject a session again"),
        ),
    ),
)


class Parser(argparse.ArgumentParser):
    """argparse, with our own words for a wrong call."""

    def parse_args(self, args: Sequence[str]) -> argparse.Namespace:  # type: ignore[override]  # ours
        """Parse what was given: names may stand before, between and after the options.

        Not where there is a `--`: argparse forgets it between the two looks that this takes.
        """
        return super().parse_args(args) if "--" in args else self.parse_intermixed_args(args)

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing, so that `--json` and exit statuses hold here too."""
        raise WrongUsage(message, remedy=f"See `{self.prog} --help`.")


def run(arguments: Sequence[str]) -> int:
    """Parse, load the command, call it."""
    before, rest = _split(arguments)
    options = _global_parser().parse_args(before)
    if options.version:
        print(f"standfast {__version__}")
        return 0
    if options.help or options.command is None:
        print(help_text(), end="")
        return 0
    from standfast.clients.hooks import upgrade  # --help needs none of it
    from standfast.config import refuse_relative_homes
    from standfast.surfaces.cli.command_context import Context
    from standfast.surfaces.cli.screen import Screen

    refuse_relative_homes(os.environ)
    parser, verb = load(options.command)
    parsed = parser.parse_args(getattr(verb, "rewrite", list)(rest))
    context = Context(
        directory=options.directory,
        environ=os.environ,
        flags=options.set,
        screen=Screen.for_stream(sys.stdout, os.environ),
        json=getattr(parsed, "json", False),
    )
    try:
        status = int(verb.run(context, parsed))
        context.heal_if_due()
        context.remember_place()
        upgrade.see_to(context.environ)
    finally:
        context.remember_how_far()
        context.close()
    return status


def _split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Ours up to the command, and what follows it: a `--` there is the command's own."""
    position = 0
    while position < len(arguments) and arguments[position].startswith("-"):
        position += 2 if arguments[position] in {"-C", "--set"} else 1
    return list(arguments[: position + 1]), list(arguments[position + 1 :])


def commands() -> list[Command]:
    """Every command there is."""
    return [command for _, group in GROUPS for command in group]


ALIASES = {"recover": "brief"}


def load(name: str) -> tuple[Parser, ModuleType]:
    """The parser and the module of a command."""
    name = ALIASES.get(name, name)
    known = {command.name: command for command in commands()}
    if name not in known:
        raise WrongUsage(f"there is no command `{name}`{_nearest(name, list(known))}")
    module = name.replace("-", "_")
    verb = importlib.import_module(f"standfast.surfaces.cli.commands.{module}")
    parser = Parser(prog=f"standfast {name}", description=known[name].says, allow_abbrev=False)
    parser.add_argument("--json", action="store_true", help="machine-readable output")
    verb.configure(parser)
    return parser, verb


def _global_parser() -> Parser:
    parser = Parser(prog="standfast", add_help=False, allow_abbrev=False)
    parser.add_argument("-h", "--help", action="store_true")
    parser.add_argument("--version", action="store_true")
    parser.add_argument("-C", dest="directory", default=".")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("command", nargs="?")
    return parser


def help_text() -> str:
    """The first screen."""
    lines = ["usage: standfast [-C DIR] [--set KEY=VALUE] COMMAND …", ""]
    for title, group in GROUPS:
        if group:
            lines += [title, *(f"  {c.name:<12}{c.says}" for c in group), ""]
    lines += [
        "  -C DIR            act as if started in DIR",
        "  --set KEY=VALUE   a setting for this call",
        "  --version         what runs here",
        "",
        "Every command takes --help and --json.",
    ]
    return "\n".join(lines) + "\n"


def _nearest(name: str, known: list[str]) -> str:
    import difflib

    close = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean `{close[0]}`?" if close else ""
