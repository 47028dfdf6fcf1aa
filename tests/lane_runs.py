"""A repository and shell agents for lanes that Standfast runs itself, with plain git beside it."""

import json
import os
import signal
import subprocess
import sys
import uuid
from dataclasses import dataclass
from pathlib import Path

import prepared
import warm_python
from standfast.journal.store import Journal
from standfast.protocols.checkpoints.records import checkpoint_records as recorded

NAMES = ("r1", "P1", "SL-1")
LANE = ("--run-id", "r1", "--phase", "P1", "--lane", "SL-1")
BRANCH = "lane/P1/SL-1"
WRITES = 'echo "$STANDFAST_TASK" >> made.txt'  # an agent that does something


@dataclass(frozen=True, kw_only=True)
class Lane:
    """A repository in which one lane is run from outside."""

    repo: Path
    home: Path

    @property
    def tree(self) -> Path:
        return self.repo / ".worktrees" / "r1" / "P1" / "SL-1"

    def git(self, *args: str, cwd: Path | None = None) -> str:
        argv = ["git", *args]
        done = subprocess.run(
            argv, cwd=cwd or self.repo, check=True, capture_output=True, encoding="utf-8"
        )
        return done.stdout.strip()

    def task(self, name: str, text: str = "Do it.\n") -> str:
        path = self.home / f"{name}.md"
        path.write_text(text, encoding="utf-8")
        return str(path)

    def argv(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "standfast", "lane", *words]

    def call(self, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
        return self.standfast("lane", *words, **env)

    def standfast(self, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
        given = {**os.environ, **env}
        return warm_python.run(*words, cwd=self.repo, given="", env=given, timeout=120)

    def run(self, runner: str = WRITES, *more: str, **env: str) -> subprocess.CompletedProcess[str]:
        given = more if "--task" in more else ("--task", self.task("one"), *more)
        return self.call("run", *LANE, "--runner", runner, *given, **env)

    def resume(self, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
        return self.call("resume", *LANE, *words, **env)

    def journal(self) -> Journal:
        return Journal(str(self.repo / ".git" / "standfast"))

    def history(self) -> list[tuple[str, str]]:
        """Every checkpoint that was written, in order: stage and status."""
        journal = self.journal()
        try:
            return [(each.key.stage, each.status) for each in recorded.history(journal, "r1")]
        finally:
            journal.close()

    def records(self) -> dict[str, dict[str, object]]:
        """The current record of each stage, as the file has them."""
        path = self.repo / ".claude/ai-dev-kit/run-logs/checkpoints.json"
        return {each["stage"]: each for each in json.loads(path.read_text(encoding="utf-8"))}

    def log(self) -> list[dict[str, object]]:
        path = self.repo / ".claude/ai-dev-kit/run-logs/r1.jsonl"
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

    def show(self, ref: str, name: str) -> str:
        return self.git("show", f"{ref}:{name}")


def build(folder: Path) -> Lane:
    repo, home = folder / "repo", folder / "tasks"
    home.mkdir(parents=True)
    prepared.repository(_first_commit, repo)
    return Lane(repo=repo, home=home)


def _first_commit(repo: Path) -> None:
    lane = Lane(repo=repo, home=repo)
    lane.git("init", "-q", "-b", "main")
    (repo / "a.txt").write_text("a\n", encoding="utf-8")
    (repo / ".gitignore").write_text("*.log\n.claude/\n", encoding="utf-8")
    lane.git("add", ".")
    lane.git("commit", "-q", "-m", "first")


def end_everything(lane: Lane, orchestrator: int) -> None:
    """As a power cut does: the orchestrator, the supervisor and the command's whole tree."""
    os.kill(orchestrator, signal.SIGKILL)
    shown = json.loads(lane.standfast("ps", "--json").stdout)["effects"]
    while pids := [pid for each in shown for pid in each["pids"]]:
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        shown = json.loads(lane.standfast("ps", "--json").stdout)["effects"]


def reboot(lane: Lane) -> None:
    """Every command that was begun was begun before the machine came up."""
    for started in (lane.repo / ".git/standfast/effects").glob("*/started"):
        lines = [line.split("/") for line in started.read_text("utf-8").splitlines()]
        there = [[*each[:2], str(uuid.uuid4()), *each[3:]] for each in lines]
        started.write_text("\n".join("/".join(each) for each in there), encoding="utf-8")


def end_at(mark: Path, lane: Lane, *words: str, plan: str = "") -> None:
    """Begin the lane, or a plan, and end everything once the mark is there."""
    argv = lane.argv("run", *LANE, "--task", lane.task("one"), *words)
    if plan:
        argv = [*lane.argv()[:-1], "run", plan, "--base", "main"]
    child = subprocess.Popen(argv, cwd=lane.repo, stderr=subprocess.DEVNULL)
    while not mark.exists():
        assert child.poll() is None
    end_everything(lane, child.pid)
    child.wait()


def resumed(lane: Lane) -> None:
    """As a person does after that: resume the lane, answer that it is to be done again, resume."""
    lane.resume()
    (left,) = json.loads(lane.standfast("ps", "--json").stdout)["effects"]
    assert lane.standfast("settle", left["key"], "again").returncode == 0
    done = lane.resume()
    assert done.returncode == 0, done.stderr
