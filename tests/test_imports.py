"""What a repository calls `json.py` or `standfast/` is imported by no command of ours."""

import os
import site
import subprocess
import sys
from pathlib import Path

import pytest

from standfast import __file__ as package

SCRIPT = Path(package).parent.parent / "bin" / "standfast"
PLANTED = ("json", "re", "apsw", "yaml", "subprocess", "contextlib", "typing", "hashlib", "ctypes")


@pytest.fixture
def planted(repo: Path) -> Path:
    """A repository full of modules that leave a mark when they are imported."""
    line = f"open({str(repo / 'imported')!r}, 'a').write(__name__ + '\\n')\nraise SystemExit(9)\n"
    for name in PLANTED:
        (repo / f"{name}.py").write_text(line, encoding="utf-8")
    for name in ("standfast", "rich"):
        (repo / name).mkdir()
        (repo / name / "__init__.py").write_text(line, encoding="utf-8")
    return repo


def call(where: Path, path: str, *words: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": path}
    return subprocess.run(
        words, cwd=where, env=env, capture_output=True, encoding="utf-8", check=False
    )


@pytest.mark.req("SEC-03")
@pytest.mark.parametrize("path", [".", "", "{}", "lib:./:/nowhere"])
@pytest.mark.parametrize("command", [("status",), ("note", "words"), ("doctor",), ("ps", "--json")])
def test_command_imports_nothing_that_pythonpath_names(
    planted: Path, path: str, command: tuple[str, ...]
) -> None:
    told = path.format(planted)

    done = call(planted, told, sys.executable, str(SCRIPT), *command)

    assert not (planted / "imported").exists()
    assert done.returncode == 0, done.stderr


@pytest.mark.req("SEC-03")
def test_module_imports_nothing_beside_the_caller(planted: Path) -> None:
    """What Python itself needs for `-m`, it takes from there before we can say anything."""
    (planted / "standfast" / "__init__.py").unlink()
    (planted / "standfast").rmdir()
    (planted / "contextlib.py").unlink()

    done = call(planted, "/nowhere", sys.executable, "-m", "standfast", "note", "words")

    assert not (planted / "imported").exists()
    assert done.returncode == 0, done.stderr


@pytest.mark.req("SEC-03")
def test_agent_keeps_the_users_pythonpath(planted: Path) -> None:
    env = ("add", "-A"), ("commit", "-qm", "first")
    for words in env:
        subprocess.run(("git", *words), cwd=planted, check=True)
    (planted / "task.md").write_text("Do it.\n", encoding="utf-8")
    said = planted / "said"
    lane = ("--run-id", "r", "--phase", "P1", "--lane", "SL-1", "--task", "task.md")

    done = call(
        planted, ".", sys.executable, str(SCRIPT), "lane", "run", *lane,
        "--runner", f'echo "$PYTHONPATH" > {said}', "--base", "main",
    )  # fmt: skip

    assert said.read_text(encoding="utf-8") == ".\n", done.stderr
    assert not (planted / "imported").exists()


@pytest.mark.parametrize("path", [site.getsitepackages()[0], str(SCRIPT.parent.parent)])
def test_what_is_installed_stays_where_pythonpath_names_it_too(repo: Path, path: str) -> None:
    done = call(repo, path, sys.executable, str(SCRIPT), "note", "words")

    assert done.returncode == 0, done.stderr
