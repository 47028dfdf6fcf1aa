"""Context files: what an agent leaves to itself for the time after a compaction. Pure.

`validate` says everything that is wrong with a text and raises for none. The day is the caller's
to say: nothing here has a clock.
"""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

from standfast.protocols.context.rules.context_document import (
    Document,
    Field,
    entries,
    moment,
    nearest,
    parse,
    role_in,
    steps,
)
from standfast.protocols.context.rules.context_schema import (
    COMPLETED,
    DASH,
    FIELDS,
    HEAD,
    KEY_FILES,
    PENDING,
    RECOVERY,
    SCHEMA,
    TO_FILL_IN,
    UNFILLED,
    VERSION,
    Finding,
    finding,
)
from standfast.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["SCHEMA", "VERSION", "Document", "Finding", "parse", "required_findings", "validate"]

_SHOWN = 60
_DONE = re.compile(rf"\(DONE(?: {DASH} commit `?[0-9a-fA-F]{{4,64}}`?)?\)")
_DAY = timedelta(days=1)
_FIRST_STEP = "read this file"


def validate(text: str, *, role: str | None, today: str) -> tuple[Finding, ...]:
    """Everything that is wrong, in the order of lines; *today* is a date or datetime in ISO 8601.

    *role* is the one in the file's name; None where that names none.
    """
    document = parse(text)
    found = [
        *_of_title(document),
        *_of_fields(document, role, today),
        *_of_recovery(document),
        *_of_completed(document),
        *_of_recommended(document),
        *_of_unfilled(document),
    ]
    return tuple(sorted(found, key=lambda each: each.line))


def required_findings(text: str, *, role: str | None, today: str) -> tuple[Finding, ...]:
    """The errors alone: what stands between a file and `saved`."""
    return tuple(each for each in validate(text, role=role, today=today) if each.is_error)


def _of_title(document: Document) -> Iterator[Finding]:
    title = document.title
    if title is None or title.level != 1:
        yield finding("title.missing", 1, "line 1 is not a `#` heading")
        return
    name, dash, rest = title.text.partition(f" {DASH} ")
    words = rest.split()
    if not dash or not name.strip():
        yield finding("title.dash", 1, f"the title has no ` {DASH} ` after a role's name")
    elif words[-1:] != ["Context"]:
        yield finding("title.context", 1, f"the title does not end in `{DASH} … Context`")
    elif "Session" not in words:
        yield finding("title.session", 1, "the title does not say `Session Context`")


def _of_fields(document: Document, role: str | None, today: str) -> Iterator[Finding]:
    for key in FIELDS:
        field = document.fields.get(key)
        rule, form = key.lower(), f"`**{key}**:`"
        if field is None:
            yield finding(f"{rule}.missing", 1, f"there is no {form} in the first {HEAD} lines")
        elif not field.is_formed:
            yield finding(f"{rule}.format", field.line, f"{key} does not begin its line as {form}")
        elif field.line > HEAD:
            yield finding(f"{rule}.place", field.line, f"{form} stands below line {HEAD}")
        elif not field.value:
            yield finding(f"{rule}.empty", field.line, f"{form} has no value")
        elif key == "Updated":
            yield from _of_updated(field, today)
        elif key == "Role" and role is not None and role_in(field.value) != role:
            shown = one_line(role_in(field.value), _SHOWN)
            yield finding("role.differs", field.line, f"Role is `{shown}`, the file's is `{role}`")


def _of_updated(field: Field, today: str) -> Iterator[Finding]:
    shown = one_line(field.value, _SHOWN)
    then, now = moment(field.value), moment(today)
    if now is None:
        raise ValueError(f"the caller has no such day: {today}")
    if then is None and TO_FILL_IN in field.value:
        return  # which is told of every such line
    if then is None:
        yield finding("updated.date", field.line, f"Updated holds no date that exists: `{shown}`")
        return
    if isinstance(then, datetime) and isinstance(now, datetime):
        age = now - then
    else:  # whole days: one of the two says no more
        age = _day(now) - _day(then)
    if age > _DAY:
        yield finding("updated.old", field.line, f"Updated is more than a day old: `{shown}`")
    elif age < -_DAY:
        yield finding("updated.future", field.line, f"Updated is yet to come: `{shown}`")


def _day(when: date | datetime) -> date:
    return when.date() if isinstance(when, datetime) else when


def _of_recovery(document: Document) -> Iterator[Finding]:
    found = document.named(RECOVERY)
    if not found:
        yield _absent(document, RECOVERY, "recovery")
        return
    listed = steps(found)
    if not listed:
        line = found[0].heading.line
        yield finding("recovery.numbered", line, f"`## {RECOVERY}` has no numbered step")
    elif not begins_recovery(listed[0][1]):
        yield finding("recovery.first", listed[0][0], "the first step is not `Read this file`")


def begins_recovery(step: str) -> bool:
    """Whether it is the step with which every recovery begins."""
    return step.lstrip("*_`\"'").lower().startswith(_FIRST_STEP)


def _absent(document: Document, name: str, rule: str) -> Finding:
    """A required section: under another name, or not there at all."""
    other = nearest(document, name)
    if other is None:
        return finding(f"{rule}.missing", 1, f"there is no section `## {name}`")
    shown = one_line(f"{'#' * other.level} {other.text}", _SHOWN)
    return finding(f"{rule}.name", other.line, f"the section is called `{shown}`")


def _of_completed(document: Document) -> Iterator[Finding]:
    found = document.named(COMPLETED)
    if not found:
        yield _absent(document, COMPLETED, "completed")
    for entry in (entry for section in found for entry in entries(section)):
        shown = one_line(entry.words, _SHOWN)
        if not entry.is_formed:
            yield finding("completed.entry", entry.line, f"no task and no number: `{shown}`")
        if not _DONE.search(entry.words):
            yield finding("completed.done", entry.line, f"not marked as done: `{shown}`")


def _of_recommended(document: Document) -> Iterator[Finding]:
    for name, rule in ((PENDING, "pending.missing"), (KEY_FILES, "files.missing")):
        if not document.named(name):
            yield finding(rule, 1, f"there is no section `## {name}`")


def _of_unfilled(document: Document) -> Iterator[Finding]:
    for number, line in enumerate(document.outline.lines, 1):
        if TO_FILL_IN in line and number not in document.outline.fenced:
            shown = one_line(line, _SHOWN)
            yield finding(UNFILLED, number, f"something is still to be filled in: `{shown}`")
