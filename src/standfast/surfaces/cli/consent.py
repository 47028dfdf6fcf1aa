"""Changing a file that is the user's: shown first, written only when they say so."""

from __future__ import annotations

import difflib
import sys
from enum import Enum, auto
from typing import TYPE_CHECKING

from standfast.surfaces.cli import answer_streams
from standfast.text import printable

if TYPE_CHECKING:
    import argparse

    from standfast.surfaces.cli.command_context import Context
    from standfast.surfaces.cli.screen import Screen

_STYLES = {"+": "good", "-": "bad", "@": "dim"}


class Consent(Enum):
    """How this call may write."""

    GIVEN = auto()
    ASK = auto()
    SHOW = auto()
    MISSING = auto()  # nobody is there to be asked


def configure(parser: argparse.ArgumentParser) -> None:
    """The flags of a command that asks before it writes."""
    parser.add_argument("--dry-run", action="store_true", help="show the change, write nothing")
    parser.add_argument("--yes", action="store_true", help="write without asking")


def of(context: Context, arguments: argparse.Namespace) -> Consent:
    """What the flags and the terminal allow."""
    if arguments.dry_run:
        return Consent.SHOW
    if arguments.yes:
        return Consent.GIVEN
    return Consent.ASK if sys.stdin.isatty() and not context.json else Consent.MISSING


def ask(question: str, *, usual: bool = True) -> bool:
    """Ask a person; no answer is a no. A line without a word is what is *usual*."""
    sys.stdout.flush()
    print(f"{question} [{'Y/n' if usual else 'y/N'}] ", end="", file=sys.stderr, flush=True)
    answer_streams.refuse_unseen()
    answer = sys.stdin.readline()
    said = {"y", "yes", ""} if usual else {"y", "yes"}
    return answer.strip().lower() in said if answer else False


def diff(before: str | None, after: str | None, name: str) -> str:
    """The change as a unified diff, every character visible."""
    lines = difflib.unified_diff(
        (before or "").split("\n"),
        (after or "").split("\n"),
        "/dev/null" if before is None else name,
        "/dev/null" if after is None else name,
        lineterm="",
    )
    return "\n".join(printable(line) for line in lines)


def paint(diff: str, screen: Screen) -> str:
    """Additions and removals in colours, where colours can be seen."""
    return "\n".join(
        screen.paint(line, style) if (style := _STYLES.get(line[:1])) else line
        for line in diff.split("\n")
    )
