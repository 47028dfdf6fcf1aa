"""Targets for context files: whatever an agent leaves, it is judged, mended and written into."""

from __future__ import annotations

import os
import re
from collections import Counter

from harness.fuzz.target import Target, answered, must, text_of
from standfast.errors.base import BadName, UnsafePath
from standfast.formats.markdown import outline
from standfast.protocols.context.files import context_files
from standfast.protocols.context.rules import context_checks
from standfast.protocols.context.rules.context_migration import STUBS, migrate
from standfast.protocols.context.rules.context_writer import NOTHING, Known, compose
from standfast.text import is_hidden

_ROLE, _NOW = "expert", "2026-02-03T13:00Z"
_KNOWN = Known([("words", "c2c326f"), ("```", None)], ["<!-- x", "more"], ["src/a.py", "b`c"])
_OURS = ("**Updated**", "<!-- standfast:", "<!-- /standfast:")
_ENTRIES = frozenset(
    {
        *("words (DONE \u2014 commit c2c326f)", "``` (DONE)", "- <! -- x", "- more", "- x"),
        *("- `src/a.py`", "- b`c", NOTHING, *(line for stub in STUBS.values() for line in stub)),
    }
)
_NUMBER = re.compile(r"[0-9]{1,9}\. ")


def _text(data: bytes) -> str:
    return context_files.text_of(data, "a.context.md")


@answered
def _validated(data: bytes) -> None:
    text = _text(data)
    lines = max(1, len(outline(text).lines))
    for found in context_checks.validate(text, role=_ROLE, today=_NOW):
        must(1 <= found.line <= lines, "a finding on a line that is not there")
        must(not any(map(is_hidden, found.says)), "a finding that hides something")
    for date in (text, text[:40]):
        context_checks.validate(f"**Updated**: {date}", role=None, today="2026-02-03")


@answered
def _migrated(data: bytes) -> None:
    text = _text(data)
    after = migrate(text, role=_ROLE, now=_NOW)
    must(not context_checks.required_findings(after, role=_ROLE, today=_NOW), "it is not valid")
    must(not _lines(text) - _lines(after), "a line is lost")
    must(migrate(after, role=_ROLE, now=_NOW) == after, "a second time changes it")


@answered
def _written(data: bytes) -> None:
    text = _text(data)
    after = compose(text, role=_ROLE, now=_NOW, known=_KNOWN)
    must(not context_checks.required_findings(after, role=_ROLE, today=_NOW), "it is not valid")
    lost = _by_hand(text) - _by_hand(after)
    must(not lost, f"lines by hand are lost: {lost}")
    again = compose(after, role=_ROLE, now="2026-02-03T13:30Z", known=_KNOWN)
    must(again == after, "a second time changes it")
    other = compose(after, role=_ROLE, now=_NOW, known=Known())
    must(not _by_hand(text) - _by_hand(other), "lines by hand are lost the next time")


def _lines(text: str) -> Counter[str]:
    return Counter(outline(text).lines)


def _by_hand(text: str) -> Counter[str]:
    """What is not ours: neither our marks, nor our entries, nor the date."""
    lines = (line for line in outline(text).lines if line.strip())
    return Counter(
        line
        for line in lines
        if not line.strip().startswith(_OURS) and _NUMBER.sub("", line, count=1) not in _ENTRIES
    )


def _named(data: bytes) -> None:
    text = text_of(data)
    role = context_files.role_of(text)
    if role is not None:
        must(context_files.role_of(context_files.relative(role)) == role, "a role is another")
    try:
        inside = context_files.below("/a/b", "/a/b/c", text)
        must(not os.path.isabs(inside) and ".." not in inside.split("/"), "a path leads outside")
        must(os.path.normpath(inside) == inside, "a path is written in two ways")
    except (UnsafePath, BadName, ValueError):
        pass


_FILE = """\
# Expert — Session Context

**Updated**: 2026-02-03T12:15Z (late)
**Role**: expert (implementation)
**Pane**: 0.4 in main

## Recovery Steps
1. Read this file

## Completed Work
### Task 8: words (DONE — commit c2c326f)
1. more (DONE)

## Pending

## Key Files
"""
_SEEDS = (
    _FILE.encode(),
    compose(_FILE, role=_ROLE, now=_NOW, known=_KNOWN).encode(),
    compose(_FILE, role=_ROLE, now=_NOW, known=Known(pending=["x"])).replace("- x", "- y").encode(),
    b"",
    b"\xef\xbb\xbf# Expert - Session Context\r\n- **updated:** 2026\r\n## Recovery\r\n- x\r\n",
    b"## Completed This Session\n- x\n* y (DONE)\n```\n## Recovery Steps\n~~~\n",
    b"x\n# Notes\nRole: expert (x)\n**Updated**: 2026-02-30\n### Recovery Steps\n~~~~\n",
    b"Expert\n===\n\nDone\n----\n- x\n\nWhat is next\r\n---\n- y by 2026-01-02\n",
    b"# E\n\n| Key | Value |\n|---|---|\n| Role | expert |\n| x | y |\n\n**Done**\n- x\n\n**Mood**",
    b"| Updated | Role |\r\n|:--|--:|\r\n| 2026-01-02 | x |\r\n\nTodo:\r\n- x\r\n\r\nFiles: a\r\n",
)

TARGETS = (
    Target("context", "every finding on a line that is there", _validated, _SEEDS, inputs=1_000),
    Target("context-migrate", "valid, with every line it had", _migrated, _SEEDS, inputs=400),
    Target("context-write", "valid, with every line by hand", _written, _SEEDS, inputs=300),
    Target(
        "context-name",
        "a role that is a name, a path that stays inside",
        _named,
        (b"session/agents/expert.context.md", b"../x.context.md", b"/a/b/x", b".context.md"),
    ),
)
