"""Hooks as a client calls them: the real launcher, in processes of its own, watched to their end.

A hook may go on after its launcher has left. Every call inherits the write end of one pipe, so
the end of that pipe is the end of the last process that the call began.
"""

import json
import os
import select
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

import apsw

import standfast
from attacks import call, done
from standfast.clients.hooks import launcher
from standfast.clients.hooks.deadline import TOOL_S

SESSION = "8f2c0000-1111-4222-8333-444455556666"
PAYLOADS: Mapping[str, Mapping[str, object]] = json.loads(
    Path(__file__).with_name("fixtures").joinpath("claude_2.1.325_hooks.json").read_text("utf-8")
)
PATIENCE_S = 60
BARE_STARTS = 15  # a hook is a shell, Python and a fork; a machine may be busy with others


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """What a client sees of one call, and how long it saw nothing."""

    status: int
    out: bytes
    err: bytes
    seconds: float


@dataclass(slots=True)
class Hooks:
    """One session of a client in one repository."""

    repo: Path
    launcher: Path
    env: dict[str, str | None] = field(default_factory=dict)
    through: Sequence[str] = ()
    cwd: Path | None = None
    alive: list[int] = field(default_factory=list)

    def payload(self, event: str, /, **fields: object) -> dict[str, object]:
        """One payload, with the fields that every event has."""
        common = {"session_id": SESSION, "transcript_path": "/nowhere.jsonl", "cwd": str(self.repo)}
        return {**common, "hook_event_name": event, **fields}

    def __call__(self, event: str, /, **fields: object) -> Called:
        """Call one hook to its very end: it left in silence, and nothing of it runs any more."""
        called = self.silently(json.dumps(self.payload(event, **fields)).encode())
        self.rest()
        return called

    def silently(self, data: bytes) -> Called:
        """Call with these bytes; what no hook of ours may do is refused here."""
        called = self.send(data)
        assert (called.status, called.err) == (0, b""), called
        return called

    def send(self, data: bytes) -> Called:
        """Call with these bytes on stdin, and come back as soon as the client would."""
        began = perf_counter()
        process = self.start()
        out, err = process.communicate(data, timeout=PATIENCE_S)
        seconds = perf_counter() - began
        return Called(status=process.returncode, out=out, err=err, seconds=seconds)

    def start(self) -> subprocess.Popen[bytes]:
        """Begin a call, its stdin still open."""
        reader, writer = os.pipe()
        try:
            process = subprocess.Popen(
                [*self.through, str(self.launcher), "claude"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=self.cwd or self.repo,
                env=self.environ(),
                pass_fds=[writer],
            )
        finally:
            os.close(writer)
        self.alive.append(reader)
        return process

    def environ(self) -> dict[str, str]:
        """The pinned world, the client's own variables, and this session's; None takes one away."""
        wanted = {**os.environ, "CLAUDE_PROJECT_DIR": str(self.repo), **self.env}
        return {name: value for name, value in wanted.items() if value is not None}

    def rest(self) -> None:
        """Wait until no process of any call is left."""
        while self.alive:
            waiting = select.poll()  # a number over 1023 is nothing that select could wait for
            waiting.register(self.alive[0], select.POLLIN)
            ended = waiting.poll(PATIENCE_S * 1000)
            assert ended, "a hook runs on"
            os.close(self.alive.pop(0))

    def begin(self) -> None:
        """Set a session up that works."""
        self("SessionStart", source="startup")
        self("UserPromptSubmit", prompt="find out why the checkout test is flaky")
        self.bash("before", "npm test")
        assert self.kinds() == ["session.started", "prompt", "tool.started", "tool.ended"]

    def bash(self, use: str, command: str) -> None:
        """One command of the model, from its begin to its end."""
        what = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": use}
        self("PreToolUse", **what)
        self("PostToolUse", **what, tool_response={"stdout": "ok", "stderr": ""})

    @property
    def folder(self) -> Path:
        """Where the journal is."""
        return self.repo / ".git" / "standfast"

    def events(self) -> list[dict[str, object]]:
        """Every event, as the next command tells them: it first takes in what was kept apart."""
        told = done(call("-C", str(self.repo), "events", "-n", "0", "--json")).out
        return [json.loads(line) for line in told.splitlines()]

    def kinds(self) -> list[str]:
        """The kinds of all events in their order."""
        return [str(event["kind"]) for event in self.events()]

    def of(self, kind: str) -> list[dict[str, object]]:
        """The payloads of all events of one kind."""
        return [dict(event["payload"]) for event in self.events() if event["kind"] == kind]  # type: ignore[call-overload]

    def gaps(self) -> int:
        """How many facts are told to be lost."""
        return sum(int(str(gap["facts"])) for gap in self.of("gap"))

    def whole(self) -> None:
        """Refuse a journal that does not verify."""
        done(call("-C", str(self.repo), "journal", "verify"))

    def works(self) -> None:
        """Refuse hooks that do not record again."""
        before = len(self.of("tool.ended"))
        self.bash(f"again-{before}", "make again")
        assert len(self.of("tool.ended")) == before + 1
        self.whole()


def put_launcher(target: Path, text: str | None = None) -> Path:
    """Write a launcher as the installer would."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text or launcher.text(), encoding="utf-8")
    target.chmod(launcher.MODE)
    return target


def copy_of_everything(folder: Path) -> str:
    """Put interpreter, libraries and package into *folder*; the launcher that starts them."""
    package = Path(standfast.__file__).parent
    library = Path(apsw.__file__).parent
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(package, folder / "site" / package.name, ignore=ignored)
    shutil.copytree(library, folder / "site" / library.name, ignore=ignored)
    (folder / "python").symlink_to(os.path.realpath(sys.executable))
    text = launcher.text()
    for real, copied in (
        (str(package), folder / "site" / package.name),
        (str(library.parent), folder / "site"),
        (sys.executable, folder / "python"),
    ):
        assert real in text
        text = text.replace(real, str(copied))
    return text


def deadline_s() -> float:
    """The time a tool's hook has, and what starting it costs on this machine in this minute."""
    return TOOL_S + BARE_STARTS * bare_s()


def bare_s() -> float:
    """How long a bare interpreter takes: the slowest of three."""
    return max(_bare_start() for _ in range(3))


def _bare_start() -> float:
    began = perf_counter()
    subprocess.run([sys.executable, "-I", "-c", "pass"], check=True)
    return perf_counter() - began
