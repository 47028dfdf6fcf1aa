"""A context file is valid when it keeps the rules, and every breach is told with its line."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from context_samples import NOW, ROLE, VALID, WRONG, lines_of
from standfast.formats import markdown
from standfast.protocols.context.rules.context_checks import (
    SCHEMA,
    VERSION,
    Finding,
    parse,
    required_findings,
    validate,
)
from standfast.protocols.context.rules.context_schema import RULES

DAY = "2026-02-03"
ROLE_LINE = "**Role**: oosh-expert (implementation & architecture)"
TAGS = {"TITLE", "MISSING", "FORMAT", "CONTENT", "RECOMMENDED"}


def found(text: str, *, role: str | None = ROLE, today: str = NOW) -> list[Finding]:
    return list(validate(text, role=role, today=today))


def rules(text: str, *, role: str | None = ROLE, today: str = NOW) -> set[tuple[str, str]]:
    return {(each.tag, each.rule) for each in found(text, role=role, today=today)}


@pytest.mark.req("CTX-01", "CTX-02", "CTX-03", "CTX-04", "CTX-05")
def test_file_in_the_form_of_the_schema_has_no_finding() -> None:
    assert found(VALID) == []
    assert VERSION == "1.0"
    assert "schema 1.0" in SCHEMA


@pytest.mark.req("CTX-07")
@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG)
def test_finding_has_a_line_that_is_there_and_what_to_do(text: str) -> None:
    lines = max(1, len(markdown.outline(text).lines))

    assert found(text)
    for each in found(text):
        assert each.tag in TAGS
        assert 1 <= each.line <= lines
        assert each.says
        assert each.remedy
        assert each.is_error == (each.tag != "RECOMMENDED")
    assert [each.line for each in found(text)] == sorted(each.line for each in found(text))


# The title.


@pytest.mark.req("CTX-02", "CTX-16")
@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("# X — Session Context", set()),
        ("# X — Session Context  ", set()),
        ("# X — Session Context #", set()),
        ("# Scrum Master — B — Session Context", set()),
        ("# X — Tester Context", {("RECOMMENDED", "title.session")}),
        ("# X — session Context", {("RECOMMENDED", "title.session")}),
        ("# X — Context", {("RECOMMENDED", "title.session")}),
        ("# X — Session", {("TITLE", "title.context")}),
        ("# X — Session Contexts", {("TITLE", "title.context")}),
        ("# X — SessionContext", {("TITLE", "title.context")}),
        ("# X - Session Context", {("TITLE", "title.dash")}),
        ("# X \u2013 Session Context", {("TITLE", "title.dash")}),
        ("# X—Session Context", {("TITLE", "title.dash")}),
        ("#  — Session Context", {("TITLE", "title.dash")}),
        ("## X — Session Context", {("TITLE", "title.missing")}),
        ("#X — Session Context", {("TITLE", "title.missing")}),
        ("X — Session Context", {("TITLE", "title.missing")}),
        ("", {("TITLE", "title.missing")}),
    ],
)
def test_title_is_a_role_an_em_dash_and_context(title: str, expected: set[tuple[str, str]]) -> None:
    text = VALID.replace("# OOSH Expert Agent — Session Context", title, 1)

    assert rules(text) == expected
    assert all(each.line == 1 for each in found(text))


@pytest.mark.req("CTX-02", "CTX-19")
def test_byte_order_mark_and_crlf_are_no_part_of_the_title() -> None:
    assert found("\ufeff" + VALID.replace("\n", "\r\n")) == []


# Metadata.


@pytest.mark.req("CTX-03", "CTX-17")
@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("**Pane**: 0.4 in cursorOrchestrator\n", "", ("MISSING", "pane.missing", 1)),
        (
            "**Role**: oosh-expert (implementation & architecture)\n",
            "",
            ("MISSING", "role.missing", 1),
        ),
        ("**Updated**: 2026-02-03T12:15Z\n", "", ("MISSING", "updated.missing", 1)),
        ("**Pane**:", "- **Pane**:", ("FORMAT", "pane.format", 5)),
        ("**Pane**:", "**pane**:", ("FORMAT", "pane.format", 5)),
        ("**Pane**:", "**Pane:**", ("FORMAT", "pane.format", 5)),
        ("**Pane**:", "Pane:", ("FORMAT", "pane.format", 5)),
        ("**Pane**:", " **Pane**:", ("FORMAT", "pane.format", 5)),
        ("\n**Pane**:", "\n\n\n**Pane**:", ("FORMAT", "pane.place", 7)),
        (" 0.4 in cursorOrchestrator", "  ", ("CONTENT", "pane.empty", 5)),
        (" oosh-expert (implementation & architecture)", "", ("CONTENT", "role.empty", 4)),
        (" 2026-02-03T12:15Z", "", ("CONTENT", "updated.empty", 3)),
    ],
)
def test_field_is_told_as_missing_misformed_misplaced_or_empty(
    old: str, new: str, expected: tuple[str, str, int]
) -> None:
    (only,) = found(VALID.replace(old, new, 1))

    assert (only.tag, only.rule, only.line) == expected
    assert f"**{expected[1].partition('.')[0].capitalize()}**" in only.says + only.remedy


@pytest.mark.req("CTX-03")
def test_field_counts_on_line_6_and_not_on_line_7() -> None:
    assert found(VALID.replace("\n\n**U", "\n\n\n**U", 1)) == []
    assert rules(VALID.replace("\n\n**U", "\n\n\n\n**U", 1)) == {("FORMAT", "pane.place")}


@pytest.mark.req("CTX-03")
def test_two_fields_on_one_line_are_one_field() -> None:
    text = VALID.replace("\n**Pane**", " **Pane**", 1)

    assert rules(text) == {("MISSING", "pane.missing")}


@pytest.mark.req("CTX-17")
@pytest.mark.parametrize(
    "value", ["0.4", "0.4 in cursorOrchestrator", "%3", "main:0.1 in a (with a remark)"]
)
def test_pane_needs_no_session(value: str) -> None:
    assert found(VALID.replace("0.4 in cursorOrchestrator", value)) == []


@pytest.mark.req("CTX-17")
@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("oosh-expert", set()),
        ("oosh-expert (anything)", set()),
        ("oosh-expert(anything)", set()),
        ("oosh-tester", {("RECOMMENDED", "role.differs")}),
        ("OOSH-Expert", {("RECOMMENDED", "role.differs")}),
        ("oosh-expert and more", {("RECOMMENDED", "role.differs")}),
        ("(oosh-expert)", {("RECOMMENDED", "role.differs")}),
    ],
)
def test_role_is_that_of_the_file_name(value: str, expected: set[tuple[str, str]]) -> None:
    text = VALID.replace("oosh-expert (implementation & architecture)", value)

    assert rules(text) == expected
    assert rules(text, role=None) == set()  # the file's name names none


@pytest.mark.req("CTX-17")
@pytest.mark.parametrize(
    "value",
    [
        *("2026-02-03", "2026-02-03T12:15Z", "2026-02-03T12:15", "2026-02-03T12:15:30Z"),
        *("2026-02-03T12:15:30.5Z", "2026-02-03T14:15+02:00", "2026-02-03T14:15+0200"),
        *("2026-02-03 (after task 9)", "2026-02-02T13:00Z"),
        *("2026-02-03 12:15", "2026-02-03 12:15 UTC", "on 2026-02-03, after task 9"),
        *("~2026-02-03T24:00Z", "2026-02-03T12", "`2026-02-03`", "Tuesday 2026-02-03 at 9:30 am"),
    ],
)
def test_updated_holds_a_date_in_whatever_form_around_it(value: str) -> None:
    assert found(VALID.replace("2026-02-03T12:15Z", value)) == []


@pytest.mark.req("CTX-03", "CTX-17")
@pytest.mark.parametrize(
    "value",
    [
        *("2026-02-30", "2025-02-29", "2026-13-01", "2026-00-01", "0000-01-01", "26-02-03"),
        *("today", "2026/02/03", "20260203", "2026-W06-2", "3 Feb 2026", "٢٠٢٦-٠٢-٠٣"),
        *("12026-02-03", "v2026-02-30T10:00Z"),
    ],
)
def test_updated_that_is_no_date_is_an_error(value: str) -> None:
    (only,) = found(VALID.replace("2026-02-03T12:15Z", value))

    assert (only.tag, only.rule, only.line) == ("FORMAT", "updated.date", 3)


@pytest.mark.req("CTX-17")
@pytest.mark.parametrize(
    ("value", "today", "expected"),
    [
        ("2026-02-03T12:15Z", "2026-02-04T12:15Z", set()),
        ("2026-02-03T12:15Z", "2026-02-04T12:16Z", {("RECOMMENDED", "updated.old")}),
        ("2026-02-03T12:15+02:00", "2026-02-04T10:16Z", {("RECOMMENDED", "updated.old")}),
        ("2026-02-03", "2026-02-04T23:59Z", set()),
        ("2026-02-03", "2026-02-05", {("RECOMMENDED", "updated.old")}),
        ("2026-02-03T23:59Z", "2026-02-05", {("RECOMMENDED", "updated.old")}),
        ("2026-01-27", DAY, {("RECOMMENDED", "updated.old")}),
        ("2026-02-04", DAY, set()),
        ("2027-02-03", DAY, {("RECOMMENDED", "updated.future")}),
    ],
)
def test_updated_more_than_a_day_away_is_a_warning(
    value: str, today: str, expected: set[tuple[str, str]]
) -> None:
    assert rules(VALID.replace("2026-02-03T12:15Z", value), today=today) == expected


# Sections.


@pytest.mark.req("CTX-04", "CTX-05", "CTX-19")
@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("## Recovery Steps", "## Steps", ("MISSING", "recovery.missing", 1)),
        ("## Recovery Steps", "## Recovery", ("FORMAT", "recovery.name", 7)),
        ("## Recovery Steps", "## recovery steps", ("FORMAT", "recovery.name", 7)),
        ("## Recovery Steps", "## Recovery Steps now", ("FORMAT", "recovery.name", 7)),
        ("## Recovery Steps", "### Recovery Steps", ("FORMAT", "recovery.name", 7)),
        ("## Completed Work", "## Work", ("MISSING", "completed.missing", 1)),
        ("## Completed Work", "## Completed", ("FORMAT", "completed.name", 11)),
        ("## Completed Work", "## Completed This Session", ("FORMAT", "completed.name", 11)),
        ("## Pending", "## Open", ("RECOMMENDED", "pending.missing", 1)),
        ("## Key Files", "## Files", ("RECOMMENDED", "files.missing", 1)),
        ("## Key Files", "## Key Files and more", ("RECOMMENDED", "files.missing", 1)),
        ("1. Read this file", "1. Look around", ("RECOMMENDED", "recovery.first", 8)),
    ],
)
def test_section_is_told_as_missing_or_misnamed(
    old: str, new: str, expected: tuple[str, str, int]
) -> None:
    (only,) = found(VALID.replace(old, new, 1))

    assert (only.tag, only.rule, only.line) == expected


@pytest.mark.req("CTX-04", "CTX-05", "CTX-19")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("## Completed Work", "## Completed Work This Session"),
        ("## Pending", "## Pending Tasks"),
        ("## Recovery Steps", "## Recovery Steps ##"),
        ("## Key Files", "  ## Key Files"),
        ("1. Read this file", "1) **Read this file** again"),
    ],
)
def test_name_may_go_on_where_the_schema_says_prefix(old: str, new: str) -> None:
    assert found(VALID.replace(old, new, 1)) == []


@pytest.mark.req("CTX-04")
def test_recovery_steps_need_a_number() -> None:
    bullets = VALID.replace("1. Read", "- Read").replace("2. Ask", "- Ask")

    (only,) = found(bullets)

    assert (only.tag, only.rule, only.line) == ("CONTENT", "recovery.numbered", 7)


@pytest.mark.req("CTX-06", "CTX-19")
@pytest.mark.parametrize(
    "name",
    [
        *("Current Team Layout", "Current State", "Key Rules", "Key Architecture Decisions"),
        *("Git Status", "Next Tasks", "Test Suites", "Anything else"),
    ],
)
def test_other_section_causes_no_finding(name: str) -> None:
    section = f"## {name}\n- words without any form\n### A heading\n"

    assert found(VALID + section) == []
    assert found(VALID.replace("## Recovery", section + "## Recovery", 1)) == []


@pytest.mark.req("CTX-19")
@pytest.mark.parametrize("fence", ["```", "~~~", "````", "   ```text"])
def test_heading_in_a_fence_does_not_count(fence: str) -> None:
    bare = fence.strip().removesuffix("text")
    head, _, rest = VALID.partition("## Recovery Steps\n")
    within = f"{head}{fence}\n## Recovery Steps\n{bare[:-1]}\n1. Read this file\n{bare}\n{rest}"

    assert ("MISSING", "recovery.missing") in rules(within)


@pytest.mark.req("CTX-19")
def test_fence_that_nothing_closes_goes_on_to_the_end() -> None:
    assert {"recovery.missing", "completed.missing"} <= {
        rule for _, rule in rules(VALID.replace("## Recovery", "```\n## Recovery", 1))
    }


@pytest.mark.req("CTX-19")
def test_fence_in_a_section_does_not_end_it() -> None:
    text = VALID.replace("1. Read", "```\n## Pending\n# x\n```\n1. Read", 1)

    assert found(text) == []


# Completed work.


@pytest.mark.req("CTX-18")
@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("### Task 1: x (DONE)", set()),
        ("### Task 1: x (DONE — commit c2c326f)", set()),
        ("### Task 1: x (DONE — commit `c2c326f`)", set()),
        ("1. x (DONE)\n   - a detail\n- another", set()),
        ("### Task 1: x (DONE)\n- a detail\n1. another", set()),
        ("Some words, no entry.", set()),
        (f"1. {'very ' * 200} long (DONE)", set()),
        ("### Task 1: x", {"completed.done"}),
        ("### Task 1: x (DONE - commit c2c326f)", {"completed.done"}),
        ("### Task 1: x (DONE — commit later)", {"completed.done"}),
        ("### Task 1: x (done)", {"completed.done"}),
        ("1. x", {"completed.done"}),
        ("### Parser (DONE)", {"completed.entry"}),
        ("### Task: x (DONE)", {"completed.entry"}),
        ("- x (DONE)", {"completed.entry"}),
        ("* x", {"completed.entry", "completed.done"}),
    ],
)
def test_entry_of_completed_work_is_a_task_or_a_number_and_done(
    entry: str, expected: set[str]
) -> None:
    before, _, rest = VALID.partition("### Task 8")
    text = f"{before}{entry}\n## Pending{rest.partition('## Pending')[2]}"

    assert {each.rule for each in found(text)} == expected
    assert all((each.tag, each.line) == ("RECOMMENDED", 12) for each in found(text))


# Any text.

PIECES = st.sampled_from([line for text in (VALID, *WRONG.values()) for line in text.split("\n")])
TEXTS = st.text() | st.lists(PIECES | st.text(max_size=12), max_size=20).map("\n".join)


@pytest.mark.req("CTX-07", "SEC-02")
@settings(max_examples=300, deadline=None)
@given(TEXTS, st.none() | st.just(ROLE))
def test_any_text_is_taken_apart_and_judged(text: str, role: str | None) -> None:
    lines = max(1, len(parse(text).outline.lines))

    for each in validate(text, role=role, today=NOW):
        assert 1 <= each.line <= lines
        assert each.rule in RULES or f"field.{each.rule.partition('.')[2]}" in RULES
    assert required_findings(text, role=role, today=NOW) == tuple(
        each for each in validate(text, role=role, today=NOW) if each.is_error
    )


@settings(max_examples=200, deadline=None)
@given(TEXTS)
def test_taking_apart_loses_nothing(text: str) -> None:
    outline = markdown.outline(text)

    assert outline.lines == lines_of(text)
    for heading in outline.headings:
        assert heading.text in outline.lines[heading.line - 1]
        assert heading.line not in outline.fenced


@pytest.mark.req("CTX-03", "CTX-17")
@given(st.dates(), st.times().map(lambda time: time.strftime("%H:%M")))
def test_any_day_is_read_back(day: object, time: str) -> None:
    text = VALID.replace("2026-02-03T12:15Z", f"{day}T{time}Z")

    assert not required_findings(text, role=ROLE, today=NOW)


# What is still to be filled in.


@pytest.mark.req("CTX-07", "CTX-17")
@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("0.4 in cursorOrchestrator", "unknown (to fill in)", 5),
        ("2026-02-03T12:15Z", "unknown (to fill in)", 3),
        ("- remove the flag", "- (to fill in: what is open or blocked)", 20),
    ],
)
def test_what_is_marked_to_be_filled_in_is_a_warning_that_stops_a_save(
    old: str, new: str, line: int
) -> None:
    (only,) = found(VALID.replace(old, new))

    assert (only.tag, only.rule, only.line) == ("RECOMMENDED", "fill.in", line)
    assert only.stops_saving
    assert not only.is_error


def test_mark_in_a_fence_is_no_mark() -> None:
    assert found(VALID + "\n```\n- (to fill in)\n```\n") == []
