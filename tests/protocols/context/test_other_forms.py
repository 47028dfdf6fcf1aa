"""Metadata in tables, and sections under bold lines and labels: each line is still there."""

import pytest

from standfast.protocols.context.rules.context_checks import required_findings
from standfast.protocols.context.rules.context_migration import migrate
from standfast.protocols.context.rules.context_writer import Known, compose

NOW = "2026-11-19T02:00Z"
SECTIONS = """\
## Recovery Steps
1. Read this file

## Completed Work
1. all (DONE)

## Pending
- more

## Key Files
- a.py
"""
HEAD = "# Ops \N{EM DASH} Session Context\n\n"
ALL = HEAD + f"**Updated**: 2026-02-03\n**Role**: ops\n**Pane**: 0.1\n\n{SECTIONS}"


def migrated(text: str) -> str:
    after = migrate(text, role="ops", now=NOW)
    assert required_findings(after, role="ops", today=NOW) == ()
    assert migrate(after, role="ops", now=NOW) == after
    assert not {*text.split("\n")} - {*after.split("\n")}
    return after


@pytest.mark.req("CTX-13")
def test_rows_of_other_things_stay_in_the_table() -> None:
    table = "| Key | Value |\n|---|---|\n| Role | ops |\n| Model | big |\n| Pane | 0.1 |\n"

    after = migrated(f"{HEAD}{table}\n{SECTIONS}")

    assert "**Role**: ops\n**Pane**: 0.1\n" in after
    assert "\n| Key | Value |\n|---|---|\n| Model | big |\n" in after


@pytest.mark.req("CTX-13")
def test_table_beside_lines_of_metadata_stays() -> None:
    table = "| Role | what it does |\n|---|---|\n| qa | tests |\n"

    assert migrated(ALL.replace("\n## Rec", f"\n{table}\n## Rec")).count("| qa | tests |") == 1
    after = migrated(f"{HEAD}**Role**: ops\n\n{table}\n{SECTIONS}")
    assert f"\n{table}" in after


@pytest.mark.req("CTX-13")
def test_bold_line_within_a_section_that_is_there_is_no_heading() -> None:
    text = ALL.replace("1. all (DONE)", "**Done**\n\n1. all (DONE)\n\n**Todo**\n\n1. b (DONE)")

    assert migrated(text) == text


@pytest.mark.req("CTX-13")
def test_bold_lines_in_a_file_without_headings_are_all_of_them() -> None:
    after = migrated("# Ops\n\n**Done**\n- a\n\n**Open**\n- b\n\n**Gossip**\n- c\n")

    assert "## Completed Work\n- a\n\n## Pending\n- b\n\n## Gossip\n- c\n" in after


@pytest.mark.req("CTX-14")
@pytest.mark.parametrize("updated", ["2026-02-03", "unknown (to fill in)"])
def test_nothing_that_is_known_makes_no_file_newer(updated: str) -> None:
    text = ALL.replace("2026-02-03", updated)

    once = compose(text, role="ops", now=NOW, known=Known())

    assert f"**Updated**: {updated}\n" in once
    assert compose(once, role="ops", now="2026-12-01T00:00Z", known=Known()) == once
    assert f"**Updated**: {NOW}\n" in compose(text, role="ops", now=NOW, known=Known(pending=["x"]))
