"""Making a context file valid without losing a line of it. Pure.

Title and metadata go to the top, sections get their names, missing ones a stub that says what to
fill in. A line that got other words stands, as it was, in the last section. What needs nothing is
given back as it is, so doing it twice changes nothing.
"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING

from standfast.formats import stated_times
from standfast.protocols.context.rules import (
    context_checks,
    context_headings,
    metadata_tables,
    section_labels,
)
from standfast.protocols.context.rules.context_document import moment, role_in, steps
from standfast.protocols.context.rules.context_draft import Draft
from standfast.protocols.context.rules.context_schema import (
    BY_PREFIX,
    COMPLETED,
    DASH,
    FIELDS,
    KEY_FILES,
    PENDING,
    RECOVERY,
    TO_FILL_IN,
)

if TYPE_CHECKING:
    from standfast.formats.markdown import Heading
    from standfast.protocols.context.rules.context_document import Document, Field

WAS = "Before Migration"
STUBS = {
    RECOVERY: ("1. Read this file", "2. (to fill in: what to read and do next, in order)"),
    COMPLETED: ("(to fill in: `### Task N: … (DONE)` for each task)",),
    PENDING: ("- (to fill in: what is open or blocked)",),
    KEY_FILES: ("- (to fill in: the paths that matter)",),
}
UNKNOWN = f"unknown {TO_FILL_IN})"
_MENDS = frozenset({"pending.missing", "files.missing"})  # beside all errors
_LONGEST_NAME = 200
_TAIL = re.compile(r"[\s\u2013\u2014:|-]*\b(?:session\s+)?context\W*$", re.IGNORECASE)
_HEAD_OF = re.compile(
    r"^(?:(?:agent|session|role|task)\s+)?(?:context|notes)(?: file)?"
    r"(?:\s+(?:for|of)\s+(?:the\s+)?|(?: for)?\s*[:\u2013\u2014|-]+\s*)(?=\w)",
    re.IGNORECASE,
)
_BEFORE_DATE = re.compile(
    r"[\s(\[,:;|\u2013\u2014-]*(?:(?:last\s+)?(?:saved|updated|modified|written)|as of|date)?"
    r"[\s:]*(?:on|at)?\s*$",
    re.IGNORECASE,
)
_FENCE = "~~~"
_AHEAD = timedelta(days=1)  # in some zone it is tomorrow already
_SECTION = 2


def migrate(text: str, *, role: str, now: str) -> str:
    """The same text as a valid file of *role*.

    Its date is the newest that it states by itself and that is not yet to come at *now*. What
    nobody states is marked to be filled in: a date of today would make the file look fresh.
    """
    if not needs_migration(text, role=role, now=now):
        return text
    draft = Draft.of(text)
    draft.close_fence()
    was: list[str] = []
    context_headings.unfold(draft, was)
    metadata_tables.unfold(draft, was)
    section_labels.unfold(draft, was)
    _rename(draft, was)
    _add_missing(draft)
    _number(draft)
    _put_head(draft, role, now, was)
    _keep_words(draft, was)
    return draft.text()


def needs_migration(text: str, *, role: str, now: str) -> bool:
    """Whether a file is invalid, or lacks a section that it should have."""
    found = context_checks.validate(text, role=role, today=now)
    return any(each.is_error or each.rule in _MENDS for each in found)


def _rename(draft: Draft, was: list[str]) -> None:
    for name in STUBS:
        document = draft.parsed()
        if document.named(name):
            continue
        heading = _meant(document, name)
        if heading is None and name == RECOVERY:
            heading = _list_of_steps(document)
        if heading is not None:
            was.append(draft.lines[heading.line - 1])
            draft.lines[heading.line - 1] = f"## {name}{draft.cr}"


def _meant(document: Document, name: str) -> Heading | None:
    """The heading that was meant as a section, else one that will do for it."""
    for is_it in (context_headings.means, context_headings.may_mean):
        found = next((each for each in document.outline.headings if is_it(each, name)), None)
        if found is not None:
            return found
    return None


def _list_of_steps(document: Document) -> Heading | None:
    """Steps to recover by, whatever the section is called: the first is to read this file."""
    for section in document.sections:
        first = next(iter(steps([section])), None)
        if section.heading.level == _SECTION and first and context_checks.begins_recovery(first[1]):
            return section.heading
    return None


def _add_missing(draft: Draft) -> None:
    """The steps before all other sections, everything else behind them."""
    document = draft.parsed()
    for name, stub in STUBS.items():
        if document.named(name):
            continue
        first = next((each for each in document.sections if each.name is not None), None)
        if name == RECOVERY and first is not None:
            draft.put(first.heading.line - 1, f"## {name}", "", *stub, "")
        else:
            draft.append(name, *stub)


def _number(draft: Draft) -> None:
    """Steps that are not numbered stay; a numbered first one comes before them."""
    found = draft.parsed().named(RECOVERY)
    if not steps(found):
        at = found[0].heading.line
        is_tight = at < len(draft.lines) and draft.lines[at].strip()
        draft.put(at, *STUBS[RECOVERY], *([""] if is_tight else []))


def _put_head(draft: Draft, role: str, now: str, was: list[str]) -> None:
    """Title and metadata at the top: those that are right as they are, the others in new words."""
    document = draft.parsed()
    if not context_checks.required_findings(draft.text(), role=role, today=now):
        return
    source = _title_source(document)
    taken = {} if source is None else {source.line: title_of(source.text, role)}
    new = [taken[source.line] if source is not None else title_of("", role)]
    newest = _newest(draft.text(), now)
    for key in FIELDS:
        field = document.fields.get(key)
        line = _field_line(key, field, role, newest)
        if field is not None:
            taken[field.line] = line
        new.append(line)
    head = [_as_it_was(draft, taken, line, was) for line in new]
    rest = [line for number, line in enumerate(draft.lines, 1) if number not in taken]
    below_title = rest.pop(0) if rest and not rest[0].strip() else draft.cr
    below_fields = [] if rest and not rest[0].strip() else [draft.cr]
    draft.lines[:] = [head[0], below_title, *head[1:], *below_fields, *rest]


def _as_it_was(draft: Draft, taken: dict[int, str], line: str, was: list[str]) -> str:
    """A line of the head: if it says what its source said, it is its source."""
    for number, new in taken.items():
        if new is line:
            source = draft.lines[number - 1]
            if source.removesuffix("\r") == line:
                return source
            was.append(source)
    return line + draft.cr


def _title_source(document: Document) -> Heading | None:
    """The heading that was meant as the title: on line 1, or the first of level 1."""
    for heading in document.outline.headings:
        if any(_is_section(heading, name) for name in STUBS):
            return None
        if heading.level == 1 or (heading.line == 1 and heading.text.lower().endswith("context")):
            return heading
        if heading.level == _SECTION:
            return None
    return None


def _is_section(heading: Heading, name: str) -> bool:
    """Whether it is one of the four sections, which stay where they are."""
    if heading.level != _SECTION:
        return False
    return heading.text.startswith(name) if name in BY_PREFIX else heading.text == name


def title_of(text: str, role: str) -> str:
    """A title in its form: the text itself if it is one, else made of its words or the role."""
    name, dash, rest = text.partition(f" {DASH} ")
    words = rest.split()
    if dash and name.strip() and words[-1:] == ["Context"]:
        return f"# {text}"
    short = _HEAD_OF.sub("", _undated(text)) if len(text) <= _LONGEST_NAME else ""
    name = _TAIL.sub("", short).strip().strip("\u2013\u2014:|-").strip()
    fallback = " ".join(word.capitalize() for word in re.split("[-_.]", role))
    return f"# {name or fallback} {DASH} Session Context"


def _undated(title: str) -> str:
    """A title without the day on which it was written."""
    for each in reversed([*stated_times.stated(title)]):
        head = _BEFORE_DATE.sub("", title[: each.start])
        title = f"{head} {title[each.end :].lstrip(')] .')}".strip()
    return title


def _field_line(key: str, field: Field | None, role: str, newest: str | None) -> str:
    """A value that will do stays, whatever else it says: a role may be a person's name for it."""
    value = "" if field is None else field.value
    bare = (value if field is not None and field.is_formed else value.strip("*_` \t")).strip()
    if key == "Updated" and (moment(bare) is None or field is None or not field.is_formed):
        bare = newest or ""
    elif key == "Role":
        bare = bare if role_in(bare) else f"{role} {bare}".strip()
    return f"**{key}**: {bare or UNKNOWN}"


def _newest(text: str, now: str) -> str | None:
    """The newest day or time that a text states, if it is not yet to come."""
    today = stated_times.first(now)
    latest = today.when + _AHEAD if today else None
    newest = stated_times.newest(text, latest)
    if newest is None:
        return None
    if newest.is_day:
        return newest.when.date().isoformat()
    return f"{newest.when:%Y-%m-%dT%H:%M}{'Z' if newest.has_zone else ''}"


def _keep_words(draft: Draft, was: list[str]) -> None:
    """What got other words, in a fence that none of it can close: no heading begins like one."""
    if was:
        draft.append(WAS, "These lines were put in other words:", "", _FENCE)
        draft.lines.extend(was)
        draft.put(len(draft.lines), _FENCE)
