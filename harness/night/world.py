"""Where the night happens: a repository, its user's settings and clients, a ledger, and a boot id.

The clients are the real ones, configured as a user would who wants them to pay bills without being
asked. A reboot is what a program can see of one: every process is gone, and the kernel names
another boot. Root can have that by a file bound over the kernel's, seen by this night alone.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import uuid
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from harness.night.mind import PROMPT
from harness.rig import homes
from harness.rig.clients import PINNED, install
from harness.rig.place import MARK, make_place

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

RUN = "night"
CLIENTS = ("claude", "codex")
PLACE, BILL = "place", "bill"
BOOT_ID = "/proc/sys/kernel/random/boot_id"
_IN_ITS_BOOT = f'mount --bind "$0" {BOOT_ID} && exec "$@"'
_BILL = """\
#!/bin/sh
# bill look|pay|write NAME: a bill is paid by a line in the ledger, and noted in the worktree.
ledger={ledger}
case $1 in
look) if grep -qx "$2" "$ledger"; then echo "bill $2: paid"; else echo "bill $2: open"; fi ;;
pay) sleep 0.2; echo "$2" >> "$ledger"; sleep 0.2 ;;
write) echo "$2" > "$2.txt"; echo "bill $2: written" ;;
esac
"""
_LONGEST_S = 120


class Lane(NamedTuple):
    """One lane of the plan: its bill is its name."""

    phase: str
    name: str
    client: str

    @property
    def bill(self) -> str:
        """What stands in the ledger once it is paid."""
        return f"{self.phase}-{self.name}"


def lanes(phases: int, each: int) -> tuple[Lane, ...]:
    """Phases with as many lanes each, the clients in turns."""
    return tuple(
        Lane(f"P{phase}", f"{CLIENTS[number % 2]}-{number}", CLIENTS[number % 2])
        for phase in range(1, phases + 1)
        for number in range(each)
    )


def plan(wanted: Sequence[Lane]) -> str:
    """The plan, as a person would write it; nothing is tried twice."""
    lines = [f"run: {RUN}", "test: git diff --check HEAD", "retries: 0", "phases:"]
    for phase in dict.fromkeys(lane.phase for lane in wanted):
        lines += [f"  {phase}:", "    lanes:"]
        for lane in wanted:
            if lane.phase == phase:
                lines += [f"      {lane.name}:", f"        runner: {lane.client}"]
                lines += [f"        task: {PROMPT.format(name=lane.bill)}"]
    return "\n".join(lines) + "\n"


class World:
    """The folders of one night, and how Standfast is called in it."""

    def __init__(self, folder: str, urls: Mapping[str, str], wanted: Sequence[Lane]) -> None:
        self.place = make_place(os.path.join(folder, PLACE))
        self.lanes = tuple(wanted)
        self.repo = self.place.project
        self.ledger = self._at("books", "ledger")
        self.said = self._at("said")
        self.plan = self._at("plan.yaml")
        self.mark = f"{MARK}={self.place.folder}".encode()
        self.why_no_boot = why_no_boot()
        self._boot = ""
        self._env = self._environment(urls)
        self._build()

    def _at(self, *names: str) -> str:
        return os.path.join(self.place.folder, *names)

    def _environment(self, urls: Mapping[str, str]) -> dict[str, str]:
        """A subscriber's, for only they are told of limits; git knows who commits."""
        who = {"NAME": "night", "EMAIL": "night@example.invalid"}
        own = {
            f"GIT_{role}_{what}": said
            for role in ("AUTHOR", "COMMITTER")
            for what, said in who.items()
        }
        own |= {"ANTHROPIC_API_KEY": "", "CLAUDE_CODE_OAUTH_TOKEN": "rig-token"}
        own |= {"CLAUDE_CODE_MAX_RETRIES": "1", "ANTHROPIC_BASE_URL": urls["claude"]}
        own |= {"XDG_CONFIG_HOME": self._at("config"), "XDG_STATE_HOME": self._at("state")}
        own["TMPDIR"] = self._at("tmp")
        return homes.codex(self.place, urls["codex"], own)

    def _build(self) -> None:
        for name in ("books", "tmp", os.path.join("config", "standfast")):
            os.makedirs(self._at(name))
        _write(self.ledger, "")
        _write(self._at(BILL), _BILL.format(ledger=shlex.quote(self.ledger)))
        os.chmod(self._at(BILL), 0o755)
        _write(self._at("config", "standfast", "config.yaml"), json.dumps(self._settings()))
        _write(self.plan, plan(self.lanes))
        _write(os.path.join(self.repo, ".gitignore"), ".claude/\n")
        for words in (["add", "."], ["commit", "-qm", "the plan's beginning"]):
            subprocess.run(["git", *words], cwd=self.repo, env=self._env, check=True)
        self.boot()
        self.call("plan", "trust", self.plan, "--yes").check_returncode()

    def _settings(self) -> dict[str, object]:
        """What a user writes who lets them pay: this one command, and where the ledger is."""
        programs = {name: install(PINNED[name], client=name) for name in CLIENTS}
        may_pay = f"Bash({self._at(BILL)}:*)"
        flags = {
            "claude": ["--permission-mode", "acceptEdits", "--allowedTools", may_pay],
            "codex": ["exec", *self._sandbox(programs["codex"])],
        }
        return {"runners": {n: {"command": [programs[n], *flags[n]]} for n in CLIENTS}}

    def _sandbox(self, codex: str) -> list[str]:
        """Where a system has nothing to make a sandbox of, its user does without."""
        tried = subprocess.run(
            [codex, "sandbox", "--", "true"],
            cwd=self.repo,
            env=self._env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        if tried.returncode != 0:
            return ["--sandbox", "danger-full-access"]
        books = json.dumps([os.path.dirname(self.ledger)])
        return ["--sandbox", "workspace-write",
                "-c", f"sandbox_workspace_write.writable_roots={books}"]  # fmt: skip

    def boot(self) -> bool:
        """Whatever is started from now on finds another boot; False where that cannot be had."""
        if self.why_no_boot:
            return False
        self._boot = self._at(f"boot-{uuid.uuid4()}")
        _write(self._boot, f"{uuid.uuid4()}\n")
        return True

    def within(self, argv: Sequence[str]) -> list[str]:
        """A command of this boot."""
        around = ["unshare", "-m", "sh", "-c", _IN_ITS_BOOT, self._boot] if self._boot else []
        return [*around, *argv]

    def _argv(self, words: Sequence[str]) -> list[str]:
        return self.within([sys.executable, "-m", "standfast", *words])

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        """A command that is watched, with a group of its own; what it says is kept."""
        with open(self.said, "ab") as said:
            said.write(f"$ standfast {shlex.join(words)}\n".encode())
            said.flush()
            return subprocess.Popen(
                self._argv(words),
                cwd=self.repo,
                env=self._env,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                start_new_session=True,
            )

    def call(self, *words: str) -> subprocess.CompletedProcess[str]:
        """A command that is waited for."""
        return subprocess.run(
            self._argv(words),
            cwd=self.repo,
            env=self._env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=_LONGEST_S,
            check=False,
        )

    def git(self, *words: str) -> str:
        """What git says of the repository."""
        done = subprocess.run(["git", *words], cwd=self.repo, env=self._env, check=True,
                              capture_output=True, encoding="utf-8")  # fmt: skip
        return done.stdout.strip()

    def paid(self) -> Counter[str]:
        """How often each bill was paid."""
        with open(self.ledger, encoding="utf-8") as file:
            return Counter(file.read().split())


def why_no_boot() -> str:
    """Why no other boot can be shown here; empty where it can."""
    if os.geteuid() != 0:
        return "only root can show a program another boot id"
    tried = ["unshare", "-m", "sh", "-c", _IN_ITS_BOOT, "/dev/null", "true"]
    try:
        done = subprocess.run(tried, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except FileNotFoundError:
        return "there is no `unshare` here"
    return "" if done.returncode == 0 else "nothing can be mounted here, not even by root"


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
