"""Migrated, any text is a valid context file with every line that it had; again changes nothing."""

import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from context_samples import NOW, ROLE, VALID, WRONG, lines_of
from standfast.protocols.context.rules.context_checks import required_findings, validate
from standfast.protocols.context.rules.context_document import parse
from standfast.protocols.context.rules.context_migration import migrate, needs_migration

HEADS = ("#", "**", "- **", "- ", "updated", "role", "pane", "Updated", "Role", "Pane",
         "Last updated")  # fmt: skip


def done(text: str, role: str = ROLE) -> str:
    return migrate(text, role=role, now=NOW)


def holds(text: str, role: str = ROLE) -> str:
    """What is true of every migration."""
    after = done(text, role)
    assert required_findings(after, role=role, today=NOW) == ()
    assert not {"pending.missing", "files.missing"} & {
        each.rule for each in validate(after, role=role, today=NOW)
    }
    assert not Counter(lines_of(text)) - Counter(lines_of(after)), "a line is lost"
    assert done(after, role) == after
    return after


def is_in_order(some: list[str], lines: list[str]) -> bool:
    rest = iter(lines)
    return all(line in rest for line in some)


@pytest.mark.req("CTX-13")
@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG)
def test_wrong_file_is_valid_afterwards_with_every_line(text: str) -> None:
    assert needs_migration(text, role=ROLE, now=NOW)

    after = holds(text)

    words = [line for line in lines_of(text) if not line.lstrip(" >*-").startswith(HEADS)]
    assert is_in_order([line for line in words if line.strip()], lines_of(after))
    assert after.startswith("\ufeff") == text.startswith("\ufeff")
    if "\r\n" in text:
        assert after.count("\n") == after.count("\r\n")


@pytest.mark.req("CTX-13")
def test_valid_file_is_left_as_it_is() -> None:
    for text in (VALID, VALID.rstrip("\n"), "\ufeff" + VALID.replace("\n", "\r\n")):
        assert done(text) == text
        assert not needs_migration(text, role=ROLE, now=NOW)


@pytest.mark.req("CTX-13")
def test_title_metadata_and_names_are_taken_over() -> None:
    text = """\
Some words.
# OOSH Expert - Session Context
- **updated:** 2026-02-03 12:15
- role: tester (implementation)

## Completed This Session
- x
## Recovery
- Read this file
"""
    assert (
        holds(text)
        == """\
# OOSH Expert — Session Context

**Updated**: 2026-02-03T12:15
**Role**: tester (implementation)
**Pane**: unknown (to fill in)

Some words.

## Completed Work
- x
## Recovery Steps
1. Read this file
2. (to fill in: what to read and do next, in order)

- Read this file

## Pending

- (to fill in: what is open or blocked)

## Key Files

- (to fill in: the paths that matter)

## Before Migration

These lines were put in other words:

~~~
## Recovery
## Completed This Session
# OOSH Expert - Session Context
- **updated:** 2026-02-03 12:15
- role: tester (implementation)
~~~
"""
    )


@pytest.mark.req("CTX-13")
@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("# OOSH Expert - Session Context", "# OOSH Expert — Session Context"),
        ("# OOSH Expert: session context", "# OOSH Expert — Session Context"),
        ("# OOSH Expert", "# OOSH Expert — Session Context"),
        ("# Session Context", "# Oosh Expert — Session Context"),
        ("# Context —", "# Oosh Expert — Session Context"),
        ("# A — B", "# A — B — Session Context"),
        ("## OOSH Expert — Session Context", "# OOSH Expert — Session Context"),
        (f"# {'x' * 300}", "# Oosh Expert — Session Context"),
        ("# \x1c", "# Oosh Expert — Session Context"),
        ("# X — Tester Context", "# X — Tester Context"),
        ("# Task Agent Context — saved 2026-02-04", "# Task Agent — Session Context"),
        ("# oosh-expert context (updated 2026-02-04 19:30)", "# oosh-expert — Session Context"),
        ("# Agent Context: ScrumMaster", "# ScrumMaster — Session Context"),
        ("# Session Context — Tester", "# Tester — Session Context"),
        ("# Tester, as of Feb 4, 2026", "# Tester — Session Context"),
        ("# 2026-02-04", "# Oosh Expert — Session Context"),
        ("# Context for OOSH Expert (Bash OO)", "# OOSH Expert (Bash OO) — Session Context"),
        ("# Session context of the tester", "# tester — Session Context"),
    ],
)
def test_title_is_made_of_the_one_there_was(title: str, expected: str) -> None:
    text = VALID.replace("# OOSH Expert Agent — Session Context", title, 1)

    assert lines_of(holds(text))[0] == expected


@pytest.mark.req("CTX-13")
def test_date_in_its_form_stays_and_one_that_nobody_states_is_to_be_filled_in() -> None:
    old = VALID.replace("2026-02-03T12:15Z", "2025-01-01").replace("## Pending", "## Open")
    old = old.replace("(DONE)", "(DONE, 2026-01-09)")  # a newer one is told beside it

    assert parse(holds(old)).fields["Updated"].value == "2025-01-01"
    assert parse(holds("")).fields["Updated"].value == "unknown (to fill in)"
    told = "2026-02-31, no 2026-02-28T10:00Z"
    assert parse(holds(f"**Updated**: {told}")).fields["Updated"].value == told


@pytest.mark.req("CTX-13")
def test_section_of_the_schema_that_is_optional_is_not_renamed() -> None:
    text = "## Key Rules\n## Next Tasks\n## Git Status\n"

    assert is_in_order(["## Key Rules", "## Next Tasks", "## Git Status"], lines_of(holds(text)))


@pytest.mark.req("CTX-13")
def test_what_was_put_in_other_words_cannot_close_its_fence() -> None:
    text = VALID.replace("# OOSH Expert Agent", "# ~~~~~ x", 1).replace("— Session", "- Session")

    assert parse(holds(text)).outline.open_fence is None


@pytest.mark.req("CTX-13")
def test_file_that_is_spoilt_again_is_mended_again() -> None:
    once = holds(WRONG["Completed This Session"])

    twice = holds(once.replace("## Completed Work", "## Completed", 1))

    assert twice.count("## Before Migration") == 2


PIECES = st.sampled_from(sorted({line for text in WRONG.values() for line in text.split("\n")}))
TEXTS = st.lists(PIECES | st.text(max_size=10), max_size=16).flatmap(
    lambda lines: st.sampled_from(["\n", "\r\n"]).map(lambda end: end.join(lines))
)


@pytest.mark.req("CTX-13")
@settings(max_examples=500, deadline=None)
@given(st.text() | TEXTS, st.sampled_from([ROLE, "x", "a.b_c-1"]))
def test_any_text_is_valid_afterwards_with_every_line(text: str, role: str) -> None:
    after = holds(text, role)

    lines = lines_of(text)
    under = {at for at, line in enumerate(lines) if re.fullmatch(r" {0,3}(={3,}|-{3,})\s*", line)}
    words = [
        line
        for at, line in enumerate(lines)
        if line.strip() and ":" not in line and "#" not in line and not {at, at + 1} & under
    ]
    assert is_in_order(words, lines_of(after))


@pytest.mark.req("CTX-13", "CTX-17")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# X\n\nLast updated: 2026-02-01\n", "2026-02-01"),
        ("# X\n\n_Last updated: 2026-02-01 19:30_\n", "2026-02-01T19:30"),
        ("# X\n\n## Updated\n2026-02-01 19:30 UTC\n", "2026-02-01T19:30Z"),
        ("# X Context — saved 2026-02-01\n\n## Done\n- 2026-01-31: it\n", "2026-02-01"),
        ("# X Context — saved 2026-01-01\n\n## Done\n- 2026-01-31: it\n", "2026-01-31"),
        ("# X\n\nLast updated: Feb 1st, 2026 at 9:05 pm\n", "2026-02-01T21:05"),
        ("# X\n\n| Updated | 2026/02/01 |\n", "2026-02-01"),
        ("---\nupdated: 2026-02-01\nrole: x\n---\n# X\n", "2026-02-01"),
        ("# X\n\nDue on 2026-03-01, begun 2026-01-15\n", "2026-01-15"),
        ("# X\n\nDue on 2026-03-01\n", "unknown (to fill in)"),
        (
            "# X\n\n- Updated: 2026-01-11 19:30\n\n## Pending\n- demo on 2026-02-01\n",
            "2026-01-11T19:30",
        ),
        ("# X\n\nLast saved: 2026-01-11\n\nThe release is 2026-02-01\n", "2026-01-11"),
        (
            "# X\n\nUpdated: 2026-01-11\n\n## Log (last update: 2026-01-19T08:00Z)\n- a\n",
            "2026-01-19T08:00Z",
        ),
        ("# X\n\nSaved 2026-01-11\n\n## Next\n- the audit of 2026-02-01\n", "2026-01-11"),
        ("# X\n\n**Updated**: 01/02/2026\n", "unknown (to fill in)"),
        ("# X\n\n**Updated**: yesterday\n", "unknown (to fill in)"),
    ],
)
def test_date_is_the_newest_that_the_file_states_and_never_todays(text: str, expected: str) -> None:
    after = holds(text)

    assert parse(after).fields["Updated"].value == expected
    assert NOW not in after


@pytest.mark.req("CTX-13", "CTX-17")
def test_role_that_a_person_gave_another_name_keeps_it() -> None:
    after = holds(VALID.replace("**Role**: oosh-expert (", "Role: OOSH Expert ("))

    assert parse(after).fields["Role"].value == "OOSH Expert (implementation & architecture)"
    assert {each.rule for each in validate(after, role=ROLE, today=NOW)} == {"role.differs"}


UNDERLINED = """\
Dev Lead Session Context
========================

Updated: 2026-01-10
Pane: 0.2

Recovery Steps
--------------
1. Read this file

Completed Work
--------------
- merged PR 41

Pending
-------
- PR 43

My notes
--------
| a | b |
|---|---|

Not a heading, for it goes on
over two lines
---
"""


@pytest.mark.req("CTX-13", "CTX-17")
def test_underlined_headings_are_headings() -> None:
    lines = lines_of(holds(UNDERLINED, "dev-lead"))

    assert lines[0] == "# Dev Lead — Session Context"
    assert [line for line in lines if line.startswith("## ")] == [
        *("## Recovery Steps", "## Completed Work", "## Pending", "## My notes", "## Key Files"),
        "## Before Migration",
    ]
    assert sum("(to fill in" in line for line in lines) == 1, "the key files"
    assert holds("---\nrole: x\n---\n# X\n").count("role: x") == 1


@pytest.mark.req("CTX-13", "CTX-17")
@pytest.mark.parametrize(
    ("heading", "name"),
    [
        ("What I did", "Completed Work"),
        ("What was done today", "Completed Work"),
        ("Accomplished", "Completed Work"),
        ("Files", "Key Files"),
        ("Files I touched", "Key Files"),
        ("Next", "Pending"),
        ("Next steps", "Pending"),
        ("What's next", "Pending"),
        ("Still open", "Pending"),
        ("After a compact", "Recovery Steps"),
        ("Done", "Completed Work"),
    ],
)
def test_section_under_a_name_of_its_own_gets_no_empty_double(heading: str, name: str) -> None:
    lines = lines_of(holds(f"# X\n\n## {heading}\n1. it\n"))

    assert lines[lines.index(f"## {name}") + 1] == "1. it"
