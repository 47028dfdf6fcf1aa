"""A key that was meant as the resumption section: named, and no second one is put beside it."""

from pathlib import Path

import pytest

from conftest import Cli
from resumption_files import FILE
from standfast.protocols.resumption.rules.near_sections import near

STATE = "recovery_state: {current_phase: 2, next_step: go on}"
MEANT = {
    "another-case": (f"a: 1\nResumption:\n  {STATE}\n", ("Resumption",), 2),
    "shouted": (f"RESUMPTION:\n  {STATE}\n", ("RESUMPTION",), 1),
    "nested": (
        f"orchestration:\n  id: x\n  resumption:\n    {STATE}\n",
        ("orchestration", "resumption"),
        3,
    ),
    "misspelt": (f"resumtion:\n  {STATE}\n", ("resumtion",), 1),
    "with-a-tail": ("resumption_section:\n  nextStep: go on\n", ("resumption_section",), 1),
}
OTHER = {
    "a-switch": "features: {resumption: true}\n",
    "another-tool": "resume:\n  next_step: go on\n",
    "prose": "notes:\n  resumption: see the wiki\n",
    "own-mapping": "Resumption:\n  owner: kim\n",
    "no-yaml": "Resumption: {\n",
    "text": "7",
}


@pytest.mark.req("RES-25")
@pytest.mark.parametrize(("text", "path", "line"), MEANT.values(), ids=MEANT)
def test_near_miss_is_named_with_its_line(text: str, path: tuple[str, ...], line: int) -> None:
    found = near(text)

    assert found is not None
    assert (found.path, found.line) == (path, line)


@pytest.mark.req("RES-25")
@pytest.mark.parametrize("text", OTHER.values(), ids=OTHER)
def test_key_of_another_kind_is_no_near_miss(text: str) -> None:
    assert near(text) is None


@pytest.mark.req("RES-25")
@pytest.mark.parametrize("name", ["another-case", "nested"])
def test_no_second_section_is_put_beside_one(repo: Path, cli: Cli, name: str) -> None:
    text, _, line = MEANT[name]
    (repo / FILE).write_text(text, encoding="utf-8")

    shown = cli("resumption", "show", cwd=repo)
    begun = cli("resumption", "trigger", "T1", "--phase", "1", "--next-step", "x", cwd=repo)

    assert shown.returncode == 13
    assert f"{FILE}:{line}" in shown.stderr
    assert begun.returncode == 31
    assert f"{FILE}:{line}" in begun.stderr
    assert f"{FILE}:{line}: " in cli("resumption", "validate", cwd=repo).stdout
    assert (repo / FILE).read_text(encoding="utf-8") == text


@pytest.mark.req("RES-25")
def test_section_that_was_renamed_gets_no_second_one(repo: Path, cli: Cli) -> None:
    cli("resumption", "trigger", "T1", "--phase", "1", "--next-step", "x", cwd=repo)
    text = (repo / FILE).read_text(encoding="utf-8").replace("resumption:", "Resumption:")
    (repo / FILE).write_text(text, encoding="utf-8")

    written = cli("resumption", "trigger", "T1", "--phase", "2", cwd=repo)

    assert written.returncode == 32
    assert "`Resumption` looks like it" in written.stdout + written.stderr
    assert (repo / FILE).read_text(encoding="utf-8") == text


@pytest.mark.req("RES-10", "RES-25")
def test_time_that_nobody_knows_is_fresh_neither_before_nor_after_a_migration(
    repo: Path, cli: Cli
) -> None:
    (repo / FILE).write_text(
        "resumption:\n  recovery_state: {current_phase: 2, updated_at: yesterday evening}\n",
        encoding="utf-8",
    )
    before = cli("resumption", "show", cwd=repo).stdout

    moved = cli("resumption", "migrate", cwd=repo).stdout
    after = cli("resumption", "show", cwd=repo).stdout

    for shown in (before, after):
        assert "STALE (it does not say when it was updated)" in shown
        assert "UPDATED  unknown" in shown
    assert "unknown, written as 1970-01-01T00:00:00Z, which is never fresh" in moved
    assert "`yesterday evening`" in moved
    cli("resumption", "trigger", "T1", "--phase", "2", cwd=repo)
    assert "FRESH" in cli("resumption", "show", cwd=repo).stdout
