"""What the keys of a task in a team plan mean, by their words: order, tests, or nothing. Pure.

People write `Blocked By`, `Needs`, `How to test`. One that could say who waits for whom is read or
is an error; a test that nobody would run is told.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from standfast.plans.findings import ERROR, quoted, warning
from standfast.plans.readers import test_commands
from standfast.plans.readers.markdown_plan import key_of

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from standfast.plans.findings import Finding
    from standfast.plans.readers.markdown_plan import Line

AFTER, BLOCKS, TEST, WHO = "depends on", "blocks", "verify", "assigned to"
_TASKS = r"(?: (?:tasks?|steps?|ids?|task ids?))?"
_AFTER = re.compile(
    r"(?:(?:must |to )?(?:starts?|runs?|begins?|do|done|comes?) )?"
    r"(?:deps?|depend(?:s|ency|encies|ing)?(?: on)?|blocked(?: by| on)?|blockers?|after|needs?"
    r"|requires?|waits?(?: for| on)?|waiting (?:for|on)|prereqs?|prerequisites?|predecessors?)"
    + _TASKS
)
_BLOCKS = re.compile(
    r"(?:blocks|unblocks|blocking|required by|needed by|before|successors?)" + _TASKS
)
_TEST = re.compile(
    r"(?:how to )?(?:test|tests|testing|verify|verification|validate|validation|check|checks)"
    r"(?: (?:it|this|by|with|using|via|running|plan|steps?|cmds?|commands?|method|instructions?))*"
)
_WHO = re.compile(
    r"(?:task )?(?:owner|owned by|assignee|assigned|assigned (?:agent|member|teammate)|teammate"
    r"|team member|responsible)"
)
_COULD_ORDER = re.compile(r"(?:depend\w*|block(?:s|ed|ing|ers?)?|after|needs?|requires?)(?: |$)")
_UNREAD = "names a test, and nothing is run for it"
_MOST_WORDS = 3  # of a key: more are a sentence with a colon
_ASKS = re.compile(
    r"(?:then |finally |and )?(?:verify|validate|confirm|(?:test|check)(?= (?:it |this )?"
    r"(?:by|with|using|via|running)\b))\b",
    re.IGNORECASE,
)
_BY = re.compile(r"^(?:\s+(?:it|this|by|with|using|via|running))*\s*", re.IGNORECASE)
_TESTS = re.compile(
    r"\b(?:pytest|jest|vitest|rspec|tox|nox|phpunit|ctest|bats|mocha|playwright|cypress|unittest"
    r"|(?:npm|pnpm|yarn|bun|cargo|go|mix|make|dotnet|gradle|gradlew|mvn|swift|deno|rake|sbt|just"
    r"|task|npx|bazel|flutter|zig|rails)(?: run| -\S+){0,2} \S*(?:test|check|spec|verify))",
)  # commands that are there to test something


def meaning(key: str) -> str:
    """The key under which it is looked for."""
    for name, words in ((AFTER, _AFTER), (BLOCKS, _BLOCKS), (WHO, _WHO)):
        if words.fullmatch(key):
            return name
    return key


def known(lines: Sequence[Line], keys: Collection[str]) -> set[str]:
    """The keys of some lines that mean something, those that could mean an order too."""
    said = {key_of(line) for line in lines if not line.fenced} - {""}
    return {*keys, *(each for each in said if could_order(each) or meaning(each) != each
                     or _TEST.fullmatch(each))}  # fmt: skip


def could_order(key: str) -> bool:
    """Whether a key begins as one that says who waits for whom."""
    return _COULD_ORDER.match(key) is not None and len(key.split()) <= _MOST_WORDS


def is_test(key: str) -> bool:
    """Whether what a key says is to be run."""
    return _TEST.fullmatch(key) is not None


def asked(lines: Sequence[Line], found: list[Finding]) -> list[Line]:
    """The lines, those that ask for a command to be run as a test with the key of one."""
    made = []
    for line in lines:
        said = None if line.fenced or key_of(line) else _ASKS.match(line.words)
        if said is None:
            made.append(line)
            continue
        rest = _BY.sub("", line.words[said.end() :])
        if not test_commands.of_text(rest)[0]:
            made.append(line)
            continue
        found.append(warning(line.number, f"{quoted(line.words)} is taken for its test"))
        made.append(line._replace(text=f"{line.text[: line.indent]}- Verify: {rest}"))
    return made


def is_to_test(command: str) -> bool:
    """Whether a command is there to test something."""
    return _TESTS.search(command) is not None


def unread(lines: Sequence[Line], tests: Sequence[str], found: list[Finding]) -> None:
    """Tell of the tests that some lines name and that are not among those that are run."""
    run = "\n".join(tests)
    for line in lines:
        commands = [] if line.fenced else test_commands.of_text(line.text)[0]
        lost = [each for each in commands if is_to_test(each) and each not in run]
        if lost:
            problem = f"{quoted(line.words)} {_UNREAD}"
            found.append(warning(line.number, problem, "Write `Verify:` before the command."))


def refuse_untested(found: list[Finding]) -> None:
    """In a plan of which nothing would be tested, a test that is not read is an error."""
    found[:] = [
        each._replace(severity=ERROR) if each.problem.endswith(_UNREAD) else each for each in found
    ]
