"""A repository with one lane in a worktree of its own, and its checkpoints, made with plain git."""

import hashlib
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import prepared
from standfast.journal.author import USER
from standfast.journal.store import Journal
from standfast.protocols.checkpoints.records import checkpoint_records as recorded
from standfast.runs.lanes import lane_rollback

NAMES = ("r1", "P1", "SL-1")
LANE = ("--run-id", "r1", "--phase", "P1", "--lane", "SL-1")
BRANCH = "lane/P1/SL-1"


@dataclass(frozen=True, kw_only=True)
class Scene:
    """Where it is; *base* is the commit that the lane started from."""

    repo: Path
    tree: Path
    base: str

    def git(self, *args: str, cwd: Path | None = None) -> bytes:
        argv = ["git", *args]
        return subprocess.run(argv, cwd=cwd or self.tree, check=True, capture_output=True).stdout

    def head(self) -> str:
        return self.git("rev-parse", "HEAD").decode().strip()

    def commit(self, name: str, text: str) -> str:
        (self.tree / name).write_text(text, encoding="utf-8")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", name)
        return self.head()

    def journal(self) -> Journal:
        return Journal(str(self.repo / ".git" / "standfast"))

    def backups(self) -> list[str]:
        said = self.git("for-each-ref", "--format=%(refname)", "refs/standfast")
        return said.decode().split()

    def reachable(self) -> set[str]:
        """Every object that some ref leads to."""
        said = self.git("rev-list", "--objects", "--no-object-names", "--all", cwd=self.repo)
        return set(said.decode().split())

    def files(self) -> dict[bytes, tuple[str, str]]:
        """What the worktree holds, git's own file left out: path -> kind and blob."""
        found = {}
        top = os.fsencode(self.tree)
        for folder, folders, names in os.walk(top):
            for name in [*names, *(n for n in folders if os.path.islink(os.path.join(folder, n)))]:
                path = os.path.join(folder, name)
                relative = os.path.relpath(path, top)
                if relative != b".git":
                    found[relative] = entry(path)
        return found


def entry(path: bytes) -> tuple[str, str]:
    if os.path.islink(path):
        return "120000", blob(os.readlink(path))
    data = Path(os.fsdecode(path)).read_bytes()
    return ("100755" if os.stat(path).st_mode & 0o100 else "100644"), blob(data)


def blob(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def build(folder: Path, *, name: str = "lane 1") -> Scene:
    repo, tree = folder / "repo", folder / name
    if not repo.exists():
        folder.mkdir(parents=True, exist_ok=True)
        prepared.repository(_first_commit, repo)
    argv = ["git", "worktree", "add", "-q", "-b", BRANCH, str(tree)]
    subprocess.run(argv, cwd=repo, check=True, capture_output=True)
    base = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=tree, check=True, capture_output=True, encoding="utf-8"
    ).stdout.strip()
    scene = Scene(repo=repo, tree=tree, base=base)
    write(scene, "before_lane_start", "ready")
    write(scene, "after_lane_start", "in_progress", head_sha=base)
    return scene


def _first_commit(repo: Path) -> None:
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=repo, check=True)
    (repo / "a").write_bytes(b"a\n")
    (repo / "b").write_bytes(b"b\n")
    (repo / "sub").mkdir()
    (repo / "sub" / "c").write_bytes(b"c\n")
    (repo / ".gitignore").write_bytes(b"*.log\n")
    subprocess.run(["git", "add", "."], cwd=repo, check=True)
    subprocess.run(["git", "commit", "-q", "-m", "first"], cwd=repo, check=True)


def write(scene: Scene, stage: str, status: str, **more: str) -> None:
    record = {
        "run_id": NAMES[0], "phase": NAMES[1], "lane": NAMES[2], "stage": stage, "status": status,
        "base_branch": "main", "worktree_path": str(scene.tree), "branch": BRANCH,
        "log_path": str(scene.repo / "log.jsonl"), "timestamp": "2026-01-02T03:04:05Z",
        "notes": "", "base_sha": scene.base, **more,
    }  # fmt: skip
    journal = scene.journal()
    with journal.writing() as tx:
        recorded.upsert(tx, {name: said for name, said in record.items() if said})
    journal.close()


def roll_back(scene: Scene, to: str | None = None) -> lane_rollback.Done:
    journal = scene.journal()
    try:
        asked = lane_rollback.Asked(*NAMES, to=to)
        return lane_rollback.roll_back(journal, str(scene.repo), asked, USER)
    finally:
        journal.let_go()


def statuses(scene: Scene) -> dict[str, str]:
    journal = scene.journal()
    found = {kept.key.stage: kept.status for kept in recorded.current(journal, *NAMES)}
    journal.let_go()
    return found
