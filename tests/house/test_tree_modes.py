"""Files that we make in a work tree have the rights that the user's umask leaves, as git's have."""

import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Cli
from context_samples import ROLE
from lane_runs import LANE, WRITES

CALLS = {
    "ORCHESTRATION.yaml": ("resumption", "trigger", "T1", "--phase", "1"),
    "session/agents/tester.context.md": ("context", "write", "tester"),
    "context": ("context", "shim"),
}


def run(repo: Path, umask: str, *words: str) -> None:
    """As a shell with that umask would."""
    call = f'umask {umask} && exec "$0" -m standfast "$@"'
    subprocess.run(["sh", "-c", call, sys.executable, *words], cwd=repo, check=True,
                   capture_output=True)  # fmt: skip


@pytest.mark.sweep(4)
@pytest.mark.req("REL-08")
@pytest.mark.parametrize("file", CALLS)
@pytest.mark.parametrize(
    ("umask", "plain", "program"),
    [("002", 0o664, 0o775), ("022", 0o644, 0o755), ("027", 0o640, 0o750), ("077", 0o600, 0o700)],
)
def test_umask_is_honoured(repo: Path, file: str, umask: str, plain: int, program: int) -> None:
    run(repo, umask, *CALLS[file])

    mode = (repo / file).stat().st_mode & 0o777
    assert mode == (program if file == "context" else plain)
    assert (repo / ".git" / "standfast" / "status.md").exists() is False or (
        repo / ".git" / "standfast" / "status.md"
    ).stat().st_mode & 0o077 == 0


@pytest.mark.req("SEC-06")
def test_files_that_were_replaced_are_private_beside_the_journal_whatever_the_umask(
    repo: Path,
) -> None:
    for tier in ("0.1", "0.2", "0.3"):
        run(repo, "000", "resumption", "trigger", "T7", "--phase", "1", "--fill", tier)
    file = repo / "ORCHESTRATION.yaml"
    other = repo.parent / "other"
    other.hardlink_to(file)  # this one is no copy of ours
    run(repo, "000", "resumption", "trigger", "T7", "--fill", "0.4")

    state = [path for path in (repo / ".git" / "standfast").rglob("*") if path.is_file()]
    drafts = [path for path in state if path.parent.name == "drafts"]
    is_open = [path.name for path in state if path.stat().st_mode & 0o077]
    assert len(drafts) > 1
    assert is_open == [path.name for path in drafts if path.samefile(other)]
    assert file.stat().st_mode & 0o777 == 0o666


def test_file_that_is_there_keeps_its_rights(repo: Path, cli: Cli) -> None:
    file = repo / "ORCHESTRATION.yaml"
    file.write_text("a: 1\n", encoding="utf-8")
    file.chmod(0o604)

    cli("resumption", "trigger", "T1", "--phase", "1", cwd=repo)

    assert file.stat().st_mode & 0o777 == 0o604


PLAN = """\
merge: none
lanes:
  a: {task: "echo one > one.txt; test -e ../../../../mended", runner: shell}
  b: {task: "echo two > two.txt", runner: shell}
"""
FILES = {
    "task.md": "Do it.\n",
    "plan.yaml": PLAN,
}


def writing() -> list[tuple[str, ...]]:
    """A call of every command that makes something in a work tree."""
    other = (*LANE[:-1], "SL-2")
    return [
        ("note", "a decision"),
        ("resumption", "trigger", "T1", "--phase", "1"),
        ("resumption", "decide", "Use X"),
        ("context", "write", "tester"),
        ("context", "shim", "--hook"),
        ("context", "lifecycle.init", ROLE),
        ("live-state", "begin", "work"),
        ("outputs", "launched", "researcher"),
        ("checkpoint", "write", *LANE[:-1], "SL-9", "--stage", "before_lane_start",
         "--status", "ready", "--base-branch", "main"),
        ("install", "claude", "--project", "--yes"),
        ("lane", "run", *LANE, "--runner", WRITES, "--task", "task.md", "--output", "r.md"),
        ("lane", "run", *other, "--runner", WRITES, "--task", "task.md", "--test", "false"),
        ("lane", "rollback", *other),
        ("lane", "resume", *other),
        ("plan", "trust", "plan.yaml", "--yes"),
        ("run", "plan.yaml"),
        ("resume",),
        ("checkpoint", "keep"),
        ("status",),
    ]  # fmt: skip


def made(repo: Path) -> dict[str, int]:
    """Every file and folder of the work tree, git's own left out, and its rights."""
    paths = [path for path in repo.rglob("*") if ".git" not in path.relative_to(repo).parts]
    return {str(p.relative_to(repo)): p.lstat().st_mode & 0o777 for p in paths
            if not p.is_symlink()}  # fmt: skip


def test_nothing_that_any_command_makes_is_kept_from_the_group(repo: Path) -> None:
    for name, text in FILES.items():
        (repo / name).write_text(text, encoding="utf-8")
    subprocess.run(["git", "add", "."], cwd=repo, check=True)
    subprocess.run(["git", "commit", "-qm", "first"], cwd=repo, check=True)
    before = made(repo)

    for words in writing():
        call = 'umask 002 && exec "$0" -m standfast "$@"'
        subprocess.run(["sh", "-c", call, sys.executable, *words], cwd=repo, check=False,
                       stdin=subprocess.DEVNULL, capture_output=True)  # fmt: skip

    new = {name: mode for name, mode in made(repo).items() if name not in before}
    wrong = {name: oct(mode) for name, mode in new.items() if mode not in {0o664, 0o775}}
    assert wrong == {}
    names = " ".join(new)
    for part in ("run-logs/", ".jsonl", ".cwf/projects/", ".worktrees/", ".outputs", "context",
                 "checkpoints.json", "ORCHESTRATION.yaml", "settings.local.json"):  # fmt: skip
        assert part in names, part
