"""The rules of context files as data: each with its tag, and what to do about it. Pure.

A finding is an error unless its tag says RECOMMENDED.
"""

from __future__ import annotations

from typing import NamedTuple

VERSION = "1.0"
FOLDER = "session/agents"
SUFFIX = ".context.md"
FIELDS = ("Updated", "Role", "Pane")
HEAD = 6  # metadata stands in so many lines
DASH = "\u2014"

RECOVERY = "Recovery Steps"
COMPLETED = "Completed Work"
PENDING = "Pending"
KEY_FILES = "Key Files"
BY_PREFIX = frozenset({COMPLETED, PENDING})

TITLE, MISSING, FORMAT, CONTENT = "TITLE", "MISSING", "FORMAT", "CONTENT"
RECOMMENDED = "RECOMMENDED"
TO_FILL_IN = "(to fill in"  # how a migration marks what it could not know
UNFILLED = "fill.in"

_TITLE_FORM = f"Make line 1 `# <Role Name> {DASH} Session Context`."
_DONE_FORM = f"End the entry with `(DONE)` or `(DONE {DASH} commit <hash>)`."


class Finding(NamedTuple):
    """One thing that a context file gets wrong, where it is, and what would be right."""

    tag: str
    rule: str
    line: int
    says: str
    remedy: str

    @property
    def is_error(self) -> bool:
        """Whether the file is invalid for it."""
        return self.tag != RECOMMENDED

    @property
    def stops_saving(self) -> bool:
        """Whether a role cannot be called saved for it: it is invalid, or not whole yet."""
        return self.is_error or self.rule == UNFILLED


# rule: tag, remedy
RULES: dict[str, tuple[str, str]] = {
    "title.missing": (TITLE, _TITLE_FORM),
    "title.dash": (
        TITLE,
        f"Put ` {DASH} ` (the dash is U+2014) between the role and `Session Context`.",
    ),
    "title.context": (TITLE, f"End the title with `{DASH} Session Context`."),
    "title.session": (RECOMMENDED, _TITLE_FORM),
    "field.missing": (MISSING, "Add the line `**Key**: value` to the first 6 lines."),
    "field.format": (FORMAT, "Write it as `**Key**: value`, on a line of its own."),
    "field.place": (FORMAT, "Move the line into the first 6 lines of the file."),
    "field.empty": (CONTENT, "Give it a value."),
    "updated.date": (
        FORMAT,
        "Write a date that exists, like `2026-02-03` or `2026-02-03T12:15Z`.",
    ),
    UNFILLED: (RECOMMENDED, "Fill it in, or take the line out; until then it cannot be saved."),
    "updated.old": (RECOMMENDED, "Bring the file up to date, then its date."),
    "updated.future": (RECOMMENDED, "Write the date of today, in UTC."),
    "role.differs": (
        RECOMMENDED,
        "Write the role that the file is named after, or rename the file.",
    ),
    "recovery.missing": (
        MISSING,
        f"Add `## {RECOVERY}` with a numbered list that begins `1. Read this file`.",
    ),
    "recovery.name": (FORMAT, f"Call the section `## {RECOVERY}`, no more and no less."),
    "recovery.numbered": (CONTENT, "List the steps as `1.`, `2.` and so on."),
    "recovery.first": (RECOMMENDED, "Let the first step be `1. Read this file`."),
    "completed.missing": (
        MISSING,
        f"Add `## {COMPLETED}` with an entry `### Task N: … (DONE)` for each task.",
    ),
    "completed.name": (FORMAT, f"Begin the name of the section with `## {COMPLETED}`."),
    "completed.entry": (RECOMMENDED, "Make the entry `### Task N: …` or a numbered item."),
    "completed.done": (RECOMMENDED, _DONE_FORM),
    "pending.missing": (RECOMMENDED, f"Add `## {PENDING}` with what is open or blocked."),
    "files.missing": (RECOMMENDED, f"Add `## {KEY_FILES}` with the paths that matter."),
    "file.name": (RECOMMENDED, f"Name the file `{FOLDER}/<role>{SUFFIX}`."),
}


def finding(rule: str, line: int, says: str) -> Finding:
    """Make a finding of a rule; those of single fields share the rules of all fields."""
    tag, remedy = RULES[rule] if rule in RULES else RULES[f"field.{rule.partition('.')[2]}"]
    key = rule.partition(".")[0].capitalize()
    return Finding(tag, rule, line, says, remedy.replace("**Key**", f"**{key}**"))


SCHEMA = f"""\
Context files, schema {VERSION}

Where: {FOLDER}/<role>{SUFFIX}, one for each role, in Markdown (UTF-8).

  # <Role Name> {DASH} Session Context        line 1; the dash is U+2014

  **Updated**: 2026-02-03T12:15Z           lines 1 to {HEAD} hold these three,
  **Role**: <role> (<description>)         each on a line of its own
  **Pane**: <pane> in <session>

  ## {RECOVERY}
  1. Read this file
  2. …

  ## {COMPLETED}
  ### Task 1: <what> (DONE {DASH} commit <hash>)

  ## {PENDING}
  - …

  ## {KEY_FILES}
  - …

Errors (the file is invalid, exit 1)
  TITLE    line 1 is no `#` heading, lacks ` {DASH} `, or its last word is not `Context`
  MISSING  a field of the three, `## {RECOVERY}` or `## {COMPLETED}` is not there
  FORMAT   a field or a required section is there under another form, name or place; Updated
           holds no date like 2026-02-03 that exists
  CONTENT  a field is empty; no step is numbered

Warnings (RECOMMENDED; the file stays valid, exit 0)
  the title lacks `Session`; Updated is more than a day old or ahead; Role is not the role in the
  file's name; something is still marked `(to fill in)`, which `save` refuses; the first step is
  not `Read this file`; an entry of completed work is neither `### Task N:` nor numbered, or lacks
  `(DONE)` or `(DONE {DASH} commit <hash>)`; `## {PENDING}` or `## {KEY_FILES}` is not there

`## {COMPLETED}` and `## {PENDING}` may go on (`## {PENDING} Tasks`); the other two names are whole.
Any other section is welcome, such as Current Team Layout, Current State, Key Rules, Key
Architecture Decisions, Git Status, Next Tasks or Test Suites. In a code fence nothing counts.
Role may be followed by a remark in parentheses, Pane by `in <session>`; Updated may say more
than its date.
"""
