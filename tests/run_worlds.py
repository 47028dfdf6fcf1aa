"""A repository in which runs are taken on from outside, with agents that a script plays."""

import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import warm_python
from effect_desk import until
from lane_runs import build
from standfast.journal.store import Journal
from standfast.processes.programs import find_program
from standfast.protocols.resumption.records import document_records
from standfast.runs.records import run_records

REPORTS = 'echo \'{"type":"result","session_id":"s","total_cost_usd":0.6,"is_error":false}\''
# An agent: a line in a ledger outside, then a file in its worktree.
AGENT = """\
echo "$STANDFAST_LANE/$STANDFAST_TASK working"
echo "$STANDFAST_LANE/$STANDFAST_TASK" >> "{ledger}"
{more}
echo "$STANDFAST_TASK" >> "$STANDFAST_RUN_ID-$STANDFAST_LANE.txt"
"""


@dataclass(frozen=True, kw_only=True)
class Night:
    """One repository, the settings of its user, and the ledger."""

    top: Path
    repo: Path

    @property
    def ledger(self) -> Path:
        return self.top / "ledger"

    @property
    def environ(self) -> dict[str, str]:
        return {
            **os.environ,
            "XDG_CONFIG_HOME": str(self.top / "config"),
            "XDG_STATE_HOME": str(self.top / "state"),
        }

    def agent(self, more: str = ":") -> None:
        """What the scripted runner does, from now on."""
        text = AGENT.format(ledger=self.ledger, more=more)
        (self.top / "agent.sh").write_text(text, encoding="utf-8")

    def settings(self, more: str = "") -> None:
        folder = self.top / "config" / "standfast"
        folder.mkdir(parents=True, exist_ok=True)
        command = f"[sh, {self.top / 'agent.sh'}]"
        text = f"runner: scripted\nrunners:\n  scripted:\n    command: {command}\n{more}"
        (folder / "config.yaml").write_text(text, encoding="utf-8")

    def plan(self, text: str, name: str = "plan.yaml", *, trusted: bool = True) -> str:
        """Write a plan, outside the work tree so that it stays clean."""
        path = self.top / name
        path.write_text(text, encoding="utf-8")
        if trusted:
            done = self.call("plan", "trust", str(path), "--yes")
            assert done.returncode == 0, done.stderr
        return str(path)

    def argv(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "standfast", *words]

    def call(
        self, *words: str, python: Path | None = None, **env: str
    ) -> subprocess.CompletedProcess[str]:
        given = {**self.environ, **env}
        if python is None:
            return warm_python.run(*words, cwd=self.repo, given="", env=given, timeout=120)
        return subprocess.run(
            [str(python), *self.argv(*words)[1:]],
            cwd=self.repo,
            env=given,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=120,
            check=False,
        )

    def start(self, *words: str, **env: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.argv(*words),
            cwd=self.repo,
            env={**self.environ, **env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            start_new_session=True,
        )

    def leave(self, plan: str) -> Path:
        """A run is killed while its agent works, which goes on until this file is there."""
        go = self.top / "go"
        self.agent(f"until test -e {go}; do sleep 0.02; done")
        begun = self.start("run", self.plan(plan))
        until(lambda: self.paid().total() >= 1)
        begun.kill()
        begun.communicate()
        return go

    def git(self, *words: str) -> str:
        done = subprocess.run(
            ["git", *words], cwd=self.repo, check=True, capture_output=True, encoding="utf-8"
        )
        return done.stdout.strip()

    def paid(self) -> Counter[str]:
        """How often each effect happened."""
        if not self.ledger.exists():
            return Counter()
        return Counter(self.ledger.read_text(encoding="utf-8").split())

    def merged(self) -> Counter[str]:
        """The subjects of what is on the base branch, but for the first commit."""
        return Counter(self.git("log", "--format=%s", "main").splitlines()[:-1])

    def journal(self) -> Journal:
        return Journal(str(self.repo / ".git" / "standfast"))

    def word(self, run_id: str) -> str:
        """The newest word about a run."""
        journal = self.journal()
        try:
            return run_records.word(journal, run_id).state
        finally:
            journal.close()

    def lanes(self, run_id: str) -> dict[str, str]:
        """How the lanes of a run stand, as `status` says it."""
        shown = json.loads(self.call("status", run_id, "--json").stdout)
        return {each["lane"]: each["state"] for each in shown["lanes"]}


def night(folder: Path) -> Night:
    made = Night(top=folder, repo=build(folder).repo)
    made.agent()
    made.settings()
    return made


def claude_like(world: Night, more: str = ":") -> None:
    """The scripted agent speaks as Claude Code does, so that its words are read."""
    world.agent(f"{more}\n{REPORTS}")
    folder = world.top / "config" / "standfast"
    command = f"[sh, {world.top / 'agent.sh'}, --permission-mode, acceptEdits]"
    text = f"runner: own\nrunners:\n  own:\n    kind: claude\n    command: {command}\n"
    (folder / "config.yaml").write_text(text, encoding="utf-8")


def slow_git(world: Night, word: str) -> tuple[str, Path, Path]:
    """A PATH on which git waits for a file before it does *word*, and says that it does."""
    folder, waits, go = world.top / "slow", world.top / "waits", world.top / "go"
    folder.mkdir()
    real = find_program("git", os.environ["PATH"])
    text = f"""#!/bin/sh
case " $* " in *" {word} "*)
    echo x >> {waits}; until test -e {go}; do sleep 0.02; done;; esac
exec {real} "$@"
"""
    (folder / "git").write_text(text, encoding="utf-8")
    (folder / "git").chmod(0o755)
    return f"{folder}:{os.environ['PATH']}", waits, go


def documented(world: Night) -> None:
    """The repository has a file with a resumption section."""
    file = world.repo / "ORCHESTRATION.yaml"
    file.write_text("workflow: {id: w}\n", encoding="utf-8")
    world.git("add", ".")
    world.git("commit", "-qm", "a plan for people")
    first = ("--phase", "0", "--phase-name", "before", "--next-step", "run")
    begun = world.call("resumption", "trigger", "T1", *first)
    assert begun.returncode == 0, begun.stderr


def section(world: Night) -> dict[str, Any]:
    """The section of that file."""
    document = document_records.documents(world.journal().query)[0]
    return document.section
