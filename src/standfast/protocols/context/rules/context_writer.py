"""Writing what is known into a context file, around what its agent wrote by hand. Pure.

In each section our entries stand between two comments, and nothing else is ours. The first comment
has the digest of what follows: where it no longer fits, somebody wrote there too, and their lines
are put before it.
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from standfast.protocols.context.rules import context_checks
from standfast.protocols.context.rules.context_document import moment
from standfast.protocols.context.rules.context_draft import Draft
from standfast.protocols.context.rules.context_migration import STUBS, UNKNOWN, migrate, title_of
from standfast.protocols.context.rules.context_schema import COMPLETED, KEY_FILES, PENDING, RECOVERY
from standfast.text import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from standfast.formats.markdown import Section

NOTHING = "Nothing is recorded."
_MARKS = {COMPLETED: "completed", PENDING: "pending", KEY_FILES: "files"}
_BEGIN = re.compile(r"<!-- standfast:(completed|pending|files) ([0-9a-f]{12}) .*-->")
_NUMBER = re.compile(r"[0-9]{1,9}\. ")
_WIDTH = 160
_PASSES = 6  # lines that leave one span may end the section of another
UNKNOWN_PANE = "unknown"
STEPS = """\
1. Read this file
2. Run `standfast brief` and read what it says
3. Go on with what is pending"""
_FRESH = f"""\
{{title}}

**Updated**: {{now}}
**Role**: {{role}}
**Pane**: {UNKNOWN_PANE}

## {RECOVERY}

{STEPS}

## {COMPLETED}

## {PENDING}

## {KEY_FILES}
"""


class Known(NamedTuple):
    """What the journal knows, oldest first: work that is done, open, and where it was done."""

    completed: Sequence[tuple[str, str | None]] = ()  # words, and the commit
    pending: Sequence[str] = ()
    files: Sequence[str] = ()


class _Span(NamedTuple):
    """Our part of a section: the lines of its two comments, and the digest in the first."""

    begin: int
    end: int
    digest: str


def compose(text: str | None, *, role: str, now: str, known: Known) -> str:
    """The file of *role* with what is *known* in it; the same text where nothing is new."""
    if text is None or not text.strip():
        text = ""
        draft = Draft.of(_FRESH.format(title=title_of("", role), now=now, role=role))
    else:
        draft = Draft.of(migrate(text, role=role, now=now))
    draft.close_fence()
    _fill_in(draft)
    for _ in range(_PASSES):
        before = draft.text()
        for name, entries in _entries(known).items():
            _put(draft, name, entries)
        # Where metadata stood below a section, it may have sunk too low.
        draft = Draft.of(migrate(draft.text(), role=role, now=now))
        if draft.text() == before:
            break
    # Where the journal knows nothing, the file is as old as it was.
    if any(known) and (draft.text() != text or _is_stale(draft, role, now)):
        _touch(draft, now)
    return draft.text()


def _fill_in(draft: Draft) -> None:
    """What a migration could not know and we do; no pane is as good as one for who recovers."""
    known = {f"**Pane**: {UNKNOWN}": [f"**Pane**: {UNKNOWN_PANE}"],
             STUBS[RECOVERY][-1]: STEPS.split("\n")[1:]}  # fmt: skip
    fenced = draft.parsed().outline.fenced
    draft.lines[:] = [
        new + (draft.cr if words in known else "")
        for number, line in enumerate(draft.lines, 1)
        for words in [line.removesuffix("\r") if number not in fenced else ""]
        for new in known.get(words, [line])
    ]


def _entries(known: Known) -> dict[str, list[str]]:
    done = [
        f"{number}. {_words(words)} (DONE{f' — commit {commit}' if commit else ''})"
        for number, (words, commit) in enumerate(known.completed, 1)
    ]
    files = [f"- {_words(path)}" if "`" in path else f"- `{_words(path)}`" for path in known.files]
    return {
        COMPLETED: done,
        PENDING: [f"- {_words(words)}" for words in known.pending],
        KEY_FILES: files,
    }


def _words(text: str) -> str:
    """On one line, and no comment that could hide what follows."""
    return one_line(text.replace("<!--", "<! --"), _WIDTH) or "(without words)"


def _put(draft: Draft, name: str, entries: list[str]) -> None:
    span = _span(draft, name)
    section = draft.parsed().named(name)[0]
    stubs = {"", *STUBS[name]}
    if span is None and not entries and any(line.strip() not in stubs for _, line in section.body):
        return  # a section by hand, and nothing to add to it
    ours = entries or [NOTHING]
    begin = (
        f"<!-- standfast:{_MARKS[name]} {_digest(ours)} from the journal;"
        " lines of your own go above or below -->"
    )
    new = [begin, *ours, f"<!-- /standfast:{_MARKS[name]} -->"]
    if span is None:
        _insert(draft, section, new, stub=STUBS[name])
        return
    inside = draft.lines[span.begin : span.end - 1]
    theirs = [] if _digest(inside) == span.digest else _not_in(ours, inside)
    draft.lines[span.begin - 1 : span.end] = theirs
    draft.put(span.begin - 1 + len(theirs), *new)


def _span(draft: Draft, name: str) -> _Span | None:
    """The first whole span of a section, wherever it was moved to; not in code."""
    outline = draft.parsed().outline
    begun: _Span | None = None
    for number, line in enumerate(outline.lines, 1):
        if number in outline.fenced:
            continue
        found = _BEGIN.fullmatch(line.strip())
        if found is not None and found[1] == _MARKS[name]:
            begun = _Span(number, number, found[2])
        elif begun is not None and line.strip() == f"<!-- /standfast:{_MARKS[name]} -->":
            return begun._replace(end=number)
    return None


def _insert(draft: Draft, section: Section, new: list[str], *, stub: Sequence[str]) -> None:
    """At the end of a section; what asked to be filled in goes."""
    last = section.last
    for number, line in reversed(section.body):
        if line in stub:
            del draft.lines[number - 1]
            last -= 1
    at = last
    while at > section.heading.line and not draft.lines[at - 1].strip():
        at -= 1
    gap = [""] if at < len(draft.lines) and draft.lines[at].strip() else []
    draft.put(at, "", *new, *gap)


def _not_in(ours: list[str], inside: list[str]) -> list[str]:
    """What is not ours in there, as far as can be told: our own lines may have other numbers."""
    known = {_NUMBER.sub("", line, count=1) for line in (*ours, NOTHING)}
    bare = [_NUMBER.sub("", line.removesuffix("\r"), count=1) for line in inside]
    return [line for line, words in zip(inside, bare, strict=True) if words not in known]


def _digest(lines: list[str]) -> str:
    text = "\n".join(line.removesuffix("\r") for line in lines)
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _is_stale(draft: Draft, role: str, now: str) -> bool:
    found = context_checks.validate(draft.text(), role=role, today=now)
    is_unsaid = moment(draft.parsed().fields["Updated"].value) is None
    return is_unsaid or any(each.rule in {"updated.old", "updated.future"} for each in found)


def _touch(draft: Draft, now: str) -> None:
    """The date is the one line by hand that changes; a remark behind it stays."""
    field = draft.parsed().fields["Updated"]
    _, bracket, remark = field.value.replace(UNKNOWN, "").partition("(")
    if moment(field.value) != moment(now):
        cr = "\r" if draft.lines[field.line - 1].endswith("\r") else ""
        draft.lines[field.line - 1] = f"**Updated**: {now} {bracket}{remark}".rstrip() + cr
