"""What a document shows, a test has run; what is generated is current; links lead somewhere."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from places import ROOT

PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(r"^```console\n(.*?)^```", re.DOTALL | re.MULTILINE)
MINUTE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d")
LINK = re.compile(r"\]\(([^)#\s]+)[^)]*\)")


def steps(page: Path) -> list[tuple[str, str]]:
    """Each command of the page's console blocks with what it is said to print."""
    found: list[tuple[str, str]] = []
    for block in BLOCK.findall(page.read_text(encoding="utf-8")):
        for line in block.splitlines(keepends=True):
            if line.startswith("$ "):
                found.append((line[2:].rstrip("\n"), ""))
            elif line.startswith("> ") and not found[-1][1]:  # it goes on, as in a terminal
                found[-1] = (f"{found[-1][0]}\n{line[2:].rstrip()}", "")
            else:
                found[-1] = (found[-1][0], found[-1][1] + line)
    return found


@pytest.mark.parametrize(
    "page", [p for p in PAGES if steps(p)], ids=lambda page: str(page.relative_to(ROOT))
)
def test_every_command_shown_prints_what_is_shown(page: Path, repo: Path) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

    for command, shown in steps(page):
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=repo,
            env={**os.environ, "PATH": path},
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=60,
        )
        printed = MINUTE.sub("2026-01-02 03:04", done.stdout)
        assert printed == shown, f"{command}\n{done.stderr}"


def test_generated_pages_are_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "reference.py", "--check"],
        capture_output=True,
        encoding="utf-8",
        check=False,
        cwd=ROOT,
    )

    assert done.returncode == 0, done.stdout + done.stderr


def test_every_link_between_pages_leads_somewhere() -> None:
    pages = [*PAGES, *ROOT.glob("*.md")]

    broken = [
        f"{page.name}: {target}"
        for page in pages
        for target in LINK.findall(page.read_text(encoding="utf-8"))
        if "://" not in target and not (page.parent / target).exists()
    ]

    assert broken == []


def test_journal_page_names_every_kind_and_table() -> None:
    from standfast.journal.tables import schema

    page = (ROOT / "docs" / "reference" / "journal.md").read_text(encoding="utf-8")
    source = "".join(
        path.read_text(encoding="utf-8")
        for path in (ROOT / "src" / "standfast").rglob("*.py")
        if "testing" not in path.parts
    )
    kinds = set(re.findall(r"\.append\(\s*\"([a-z.]+)\"", source))
    tables = re.findall(r"CREATE TABLE (\w+)", str(schema.MIGRATIONS))

    assert len(kinds) >= 6
    assert [kind for kind in kinds if f"`{kind}`" not in page] == []
    assert [table for table in tables if f"`{table}`" not in page] == []
