"""A repository with plain git: what the tests of lanes' worktrees, replays and moves start from."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import prepared
from standfast.git.command import Git

BRANCH = "lane/P1/SL-1"
FILES = {
    "a": b"one\ntwo\nthree\n",
    "deep/er/b": b"b\n" * 50,
    "line\nbreak": b"odd\n",
    "bytes": bytes(range(256)),
    "empty": b"",
}

# What a lane makes of these: a change, an end, other bytes, a new folder, a folder for a file.
CHANGES: dict[str, bytes | None] = {
    "a": b"one\nTWO\nthree\n",
    "deep/er/b": None,
    "bytes": bytes(range(255, -1, -1)) * 300,
    "new/file": b"new\n" * 1000,
    "empty/is/a/folder/now": b"x",
}


@dataclass(frozen=True, kw_only=True)
class Repo:
    """Where it is; its own worktree has `main`."""

    top: Path

    @property
    def door(self) -> Git:
        return Git(directory=self.top)

    @property
    def lane(self) -> Path:
        return self.top / ".worktrees" / "r1" / "P1" / "SL-1"

    def git(self, *args: str, cwd: Path | None = None, stdin: bytes = b"") -> str:
        done = subprocess.run(
            ["git", *args], cwd=cwd or self.top, input=stdin, capture_output=True, check=True
        )
        return os.fsdecode(done.stdout).removesuffix("\n")

    def head(self, what: str = "HEAD", cwd: Path | None = None) -> str:
        return self.git("rev-parse", "--verify", what, cwd=cwd)

    def commit(self, files: dict[str, bytes | None], words: str = "x", *, on: str = "") -> str:
        """Write and commit in the main worktree, on a branch if one is named."""
        if on:
            self.git("checkout", "-q", on)
        write(self.top, files)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", words)
        return self.head()

    def status(self, cwd: Path | None = None) -> list[str]:
        said = self.git("status", "--porcelain", "-z", "--no-renames", cwd=cwd)
        return said.split("\0")[:-1]

    def branch(self, name: str, at: str = "HEAD") -> str:
        self.git("branch", "-f", name, at)
        return name


def write(top: Path, files: dict[str, bytes | None]) -> None:
    for name, data in files.items():
        path = top / name
        if data is None:
            path.unlink()
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def build(folder: Path, files: dict[str, bytes] | None = None) -> Repo:
    top = folder / "repo"
    if files is None:
        folder.mkdir(parents=True, exist_ok=True)
        prepared.repository(_first_commit, top)
        return Repo(top=top)
    top.mkdir(parents=True)
    _commit_first(top, files)
    return Repo(top=top)


def _first_commit(top: Path) -> None:
    _commit_first(top, FILES)


def _commit_first(top: Path, files: dict[str, bytes]) -> None:
    repo = Repo(top=top)
    repo.git("init", "-q", "-b", "main")
    repo.commit({**files}, "first")


def contents(top: Path) -> dict[str, bytes]:
    """Every file of a worktree but git's own."""
    found = {}
    for folder, folders, names in os.walk(top):
        folders[:] = [name for name in folders if name not in {".git", ".worktrees"}]
        for name in names:
            path = Path(folder, name)
            key = os.path.relpath(path, top)
            if key != ".git":
                found[key] = (
                    os.fsencode(os.readlink(path)) if path.is_symlink() else path.read_bytes()
                )
    return found
