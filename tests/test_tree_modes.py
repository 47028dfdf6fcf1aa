"""Files that we make in a work tree have the rights that the user's umask leaves, as git's have."""

import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Cli

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


def test_file_that_is_there_keeps_its_rights(repo: Path, cli: Cli) -> None:
    file = repo / "ORCHESTRATION.yaml"
    file.write_text("a: 1\n", encoding="utf-8")
    file.chmod(0o604)

    cli("resumption", "trigger", "T1", "--phase", "1", cwd=repo)

    assert file.stat().st_mode & 0o777 == 0o604
