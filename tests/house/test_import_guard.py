"""What a repository calls `json.py` or `standfast/` is imported by no command of ours."""

import os
import py_compile
import site
import subprocess
import sys
from pathlib import Path

import pytest

from standfast import __file__ as package
from standfast.errors.base import NotARepository

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


def call(where: Path, path: str, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": path, **more}
    return subprocess.run(
        words, cwd=where, env=env, capture_output=True, encoding="utf-8", check=False
    )


@pytest.mark.sweep(4)
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


def compiled(repo: Path, name: str, prefix: Path) -> None:
    """What Python takes for a module of ours that it has compiled, without another look."""
    source = Path(package).parent / name
    evil = repo / "evil.py"
    line = f"open({str(repo / 'imported')!r}, 'a').write(__name__)\n"
    evil.write_text(f"{source.read_text(encoding='utf-8')}\n{line}", encoding="utf-8")
    tag = sys.implementation.cache_tag
    there = prefix / source.parent.relative_to("/") / f"{source.stem}.{tag}.pyc"
    there.parent.mkdir(parents=True, exist_ok=True)
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    py_compile.compile(str(evil), str(there), str(source), invalidation_mode=mode)


@pytest.mark.req("SEC-03")
@pytest.mark.parametrize("prefix", [".", "{}", "x"])
@pytest.mark.parametrize("how", [(str(SCRIPT),), ("-m", "standfast")])
def test_nothing_compiled_is_taken_from_where_a_variable_says(
    repo: Path, prefix: str, how: tuple[str, ...]
) -> None:
    told = prefix.format(repo)
    for name in ("config.py", "errors/base.py", "surfaces/cli/frame.py"):
        compiled(repo, name, repo / told)

    done = call(repo, "", sys.executable, *how, "note", "words", PYTHONPYCACHEPREFIX=told)

    assert not (repo / "imported").exists()
    assert done.returncode == 0, done.stderr


@pytest.mark.req("SEC-03")
def test_no_package_is_taken_from_a_users_folder_that_depends_on_where_we_are(
    planted: Path,
) -> None:
    """Only where Python has such folders: a virtual environment has none."""
    whole = Path(sys.base_prefix) / "bin" / "python3"
    shown = subprocess.run(
        [whole, "-c", "import site; print(site.getusersitepackages())"],
        cwd=planted, env={**os.environ, "PYTHONUSERBASE": "."}, capture_output=True, check=True,
        encoding="utf-8",
    )  # fmt: skip
    there = planted / shown.stdout.strip()
    there.mkdir(parents=True)
    for name in ("apsw", "rich", "yaml"):
        (there / f"{name}.py").write_text((planted / "json.py").read_text("utf-8"), "utf-8")
    ours = os.pathsep.join((*site.getsitepackages(), str(Path(package).parent.parent)))
    line = (
        "import sys; sys.path += sys.argv.pop().split(':'); "
        "from standfast.surfaces.cli.entry import main; sys.exit(main(['note', 'words']))"
    )

    call(planted, "/nowhere", str(whole), "-P", "-c", line, ours, PYTHONUSERBASE=".")

    assert not (planted / "imported").exists()


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


@pytest.mark.parametrize("how", [(str(SCRIPT),), ("-P", "-m", "standfast")], ids=["file", "module"])
@pytest.mark.parametrize("path", [None, "/nowhere"])
@pytest.mark.parametrize(
    ("command", "status"), [("--help", 0), ("--version", 0), ("status", NotARepository.exit_status)]
)
def test_command_answers_without_a_traceback_when_its_folder_is_gone(
    tmp_path: Path, how: tuple[str, ...], path: str | None, command: str, status: int
) -> None:
    """A worktree of a lane that was merged, say."""
    gone = tmp_path / "gone"
    gone.mkdir()
    env = {name: each for name, each in os.environ.items() if name != "PYTHONPATH"}
    env |= {} if path is None else {"PYTHONPATH": path}
    line = 'rmdir "$PWD" && exec "$@"'

    done = subprocess.run(
        ["sh", "-c", line, "sh", sys.executable, *how, command],
        cwd=gone, env=env, capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip

    assert (done.returncode, "Traceback" in done.stderr) == (status, False), done.stderr
