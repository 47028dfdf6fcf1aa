"""What is wrong with a plan, or was read otherwise than it stands: each with its line. Pure."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, NamedTuple

from standfast.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable

    from standfast.plans.model import Gate, Lane, Plan, Task

ERROR, WARNING = "error", "warning"
SHOWN = 80  # characters of somebody's words in a finding
MOST = 1_000  # findings of one plan: who has more mends these first


class Finding(NamedTuple):
    """One thing: a plan with an error cannot be run, a warning says how it was understood."""

    line: int
    problem: str
    remedy: str = ""
    severity: str = ERROR

    @property
    def is_error(self) -> bool:
        """Whether the plan cannot be run as it is."""
        return self.severity == ERROR

    def __str__(self) -> str:
        return f"{self.problem}. {self.remedy}" if self.remedy else self.problem


def warning(line: int, problem: str, remedy: str = "") -> Finding:
    """Something that does not keep the plan from being run."""
    return Finding(line, problem, remedy, WARNING)


def errors(findings: Iterable[Finding]) -> list[Finding]:
    """Those that keep the plan from being run."""
    return [each for each in findings if each.is_error]


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """By line, each once, and not without end."""
    found = sorted(dict.fromkeys(findings), key=lambda each: each.line)
    if len(found) <= MOST:
        return found
    return [*found[:MOST], Finding(found[MOST].line, f"and {len(found) - MOST:,} more")]


def line_of(thing: Plan | Lane | Task | Gate, part: str) -> int:
    """The line of a part of something, or of the thing itself."""
    return thing.said.get(part) or int(getattr(thing, "line", 1)) or 1


def quoted(words: object) -> str:
    """Somebody's words, safe to be shown in a sentence."""
    return f"`{one_line(str(words), SHOWN)}`"


def nearest(word: str, known: Iterable[str]) -> str:
    """What was probably meant, and else all that could be: to be added to a problem."""
    names = [each for each in known if each]
    close = difflib.get_close_matches(word[:SHOWN], names, n=1)
    if close:
        return f"Did you mean {quoted(close[0])}?"
    shown = ", ".join(one_line(each, SHOWN) for each in names[:20])
    return f"There {'is' if len(names) == 1 else 'are'} {shown}." if names else ""
