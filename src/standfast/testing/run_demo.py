"""`standfast demo`: a plan is run by scripted agents, killed with -9 again and again, and finished.

Every task has an effect that nothing could take back or tell from outside: a line in a ledger, as a
payment would be. At the end the ledger is counted: each line must be there once. Everything happens
in a temporary folder, and nothing of it stays.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from typing import TYPE_CHECKING

from standfast.processes import programs
from standfast.testing.apart import leave_person_alone, temporary_folder
from standfast.testing.demo_display import DemoDisplay

if TYPE_CHECKING:
    from collections.abc import Mapping

KILLS = 6
INTERRUPTED = 130
_ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_LANES: Mapping[str, tuple[str, ...]] = {
    "schema": (),
    "design": (),
    "api": ("schema",),
    "login": ("schema", "design"),
    "mail": ("schema",),
    "docs": ("api", "login"),
}
TASKS = ("build", "announce")
_AGENT = """\
echo "$STANDFAST_TASK: thinking"; sleep 0.2
echo "$STANDFAST_LANE/$STANDFAST_TASK" >> "{ledger}"
echo "$STANDFAST_TASK: done" | tee -a "$STANDFAST_LANE.txt"; sleep 0.2
"""
_SUPERVISOR = b"standfast.effects.supervisor"
_LONGEST_S = 150.0
_WORDS = 2000  # of what went wrong


class Demo:
    """One telling of it."""

    def __init__(self, folder: str, seed: int) -> None:
        self.repo, self.ledger = os.path.join(folder, "repo"), os.path.join(folder, "ledger")
        self._config, self._said = os.path.join(folder, "config"), os.path.join(folder, "said")
        self._random = random.Random(seed)
        self.stage = DemoDisplay(self)
        self.kills: list[str] = []
        self._until = time.monotonic() + _LONGEST_S

    @property
    def lanes(self) -> tuple[str, ...]:
        """The lanes of the plan, in its order."""
        return tuple(_LANES)

    def tell(self) -> int:
        """Build, run, kill, resume, count; 0 if every effect happened once."""
        self.build()
        self.stage.open()
        try:
            words = ["run", "plan.yaml"]
            while self._live(words):
                words = ["resume"]
        finally:
            self.stage.close()
        return self.judge()

    def judge(self) -> int:
        """Count; 0 if every effect happened once and every lane is merged."""
        counted = self.counted()
        expected = [f"{lane}/{task}" for lane in _LANES for task in TASKS]
        lost = [name for name in expected if not counted[name]]
        repeated = sum(times - 1 for times in counted.values())
        merged = self._merged()
        self.stage.count(len(expected), counted.total(), len(lost), repeated, merged)
        return int(bool(lost or repeated or merged != len(_LANES)))

    def counted(self) -> Counter[str]:
        """How often each effect happened so far."""
        try:
            with open(self.ledger, encoding="utf-8") as file:
                return Counter(file.read().split())
        except FileNotFoundError:
            return Counter()

    def build(self) -> None:
        """A repository, a plan, and agents that do what a script says."""
        os.makedirs(os.path.join(self._config, "standfast"))
        os.mkdir(self.repo)
        agent = os.path.join(self._config, "agent.sh")
        _write(agent, _AGENT.format(ledger=self.ledger))
        settings = f"runner: scripted\nrunners:\n  scripted:\n    command: [sh, {agent}]\n"
        _write(os.path.join(self._config, "standfast", "config.yaml"), settings)
        _write(os.path.join(self.repo, "plan.yaml"), plan())
        _write(os.path.join(self.repo, ".gitignore"), ".claude/\n")
        name = ("-c", "user.name=demo", "-c", "user.email=demo@example.com")
        for words in (("init", "-q", "-b", "main"), ("add", "."), (*name, "commit", "-qm", "plan")):
            subprocess.run(["git", *words], cwd=self.repo, check=True)
        self._call("plan", "trust", "plan.yaml", "--yes").wait()

    def _call(self, *words: str) -> subprocess.Popen[bytes]:
        own = ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "TMPDIR")  # who is killed leaves drafts behind
        people = {f"GIT_{who}_{what}": "demo@example.com" if what == "EMAIL" else "demo"
                  for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}  # fmt: skip
        with open(self._said, "ab") as said:
            return subprocess.Popen(
                [sys.executable, "-m", "standfast", *words],
                cwd=self.repo,
                env={**os.environ, **dict.fromkeys(own, self._config), **people},
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                start_new_session=True,
            )

    def _live(self, words: list[str]) -> bool:
        """One life of the orchestrator; whether it was cut short."""
        life = self._call(*words)
        self.stage.life(words)
        strike = time.monotonic() + self._random.uniform(0.5, 2.2)
        while life.poll() is None:
            self.stage.draw()
            time.sleep(0.1)
            if len(self.kills) < KILLS and time.monotonic() > strike:
                victim = self._kill(life)
                self.kills.append(victim)
                self.stage.killed(victim)
                if victim == "a supervisor":
                    strike = time.monotonic() + self._random.uniform(0.5, 2.2)
            if time.monotonic() > self._until:
                os.killpg(life.pid, signal.SIGKILL)
                return False
        if life.returncode > 0:
            with open(self._said, encoding="utf-8", errors="replace") as said:
                self.stage.broken(said.read()[-_WORDS:])
        return life.returncode < 0

    def _kill(self, life: subprocess.Popen[bytes]) -> str:
        """The orchestrator, or one of those who watch its agents: whoever the dice say."""
        pids = programs.called_with(_SUPERVISOR.decode())
        ours = [pid for pid in pids if self._is_ours(pid)]
        if ours and self._random.random() < 1 / 3:
            os.kill(self._random.choice(ours), signal.SIGKILL)
            return "a supervisor"
        os.killpg(life.pid, signal.SIGKILL)
        life.wait()
        return "the orchestrator"

    def _is_ours(self, pid: int) -> bool:
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                return os.fsencode(self.repo) in file.read()
        except OSError:
            return False

    def _merged(self) -> int:
        """How many lanes are in the base branch, each once."""
        words = ["git", "log", "--format=%s", "main"]
        log = subprocess.run(words, cwd=self.repo, check=True, capture_output=True)
        subjects = Counter(log.stdout.decode().splitlines())
        done = [lane for lane in _LANES for task in TASKS
                if subjects[f"feat(P1-{lane}): {task.capitalize()} {lane}."] == 1]  # fmt: skip
        return len(done) // len(TASKS)


def plan() -> str:
    """The plan, as a person would write it."""
    lines = ["run: night", "test: git diff --check HEAD", "lanes:"]
    for lane, after in _LANES.items():
        lines += [f"  {lane}:", f"    after: [{', '.join(after)}]"] if after else [f"  {lane}:"]
        lines.append("    tasks:")
        for task in TASKS:
            lines += [f"      {task}:", f"        prompt: {task.capitalize()} {lane}."]
    return "\n".join(lines) + "\n"


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def main(seed: int | None = None) -> int:
    """Tell it; whoever is impatient leaves nothing behind."""
    for ending in _ENDINGS:
        signal.signal(ending, signal.default_int_handler)
    signal.set_wakeup_fd(-1)  # nobody ends us meanwhile: what it runs is ended first
    leave_person_alone()
    with temporary_folder() as folder:
        demo = Demo(folder, random.randrange(10**6) if seed is None else seed)
        try:
            return demo.tell()
        except KeyboardInterrupt:
            return INTERRUPTED
        finally:
            demo._call("stop", "night").wait()  # noqa: SLF001  # its own


if __name__ == "__main__":
    sys.exit(main())
