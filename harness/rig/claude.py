"""Claude Code in print mode: one long-lived process, prompts in, messages out, as JSON lines."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import time
from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING, Self, TypeAlias

from harness.rig.rig_error import RigError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from harness.rig.place import Place
    from standfast.formats.document_limits import Value

Message: TypeAlias = "dict[str, Value]"

DEADLINE_S = 60
ARGUMENTS = (
    *("-p", "--verbose", "--permission-mode", "bypassPermissions"),
    *("--input-format", "stream-json", "--output-format", "stream-json"),
)


class ClientFailed(RigError):
    """The client ended, or stayed silent, where the story needed a word of it."""


class Claude:
    """The program at *program*, in *place*, with the model at *url*; lives several lives."""

    def __init__(
        self, program: str, place: Place, url: str, extra: Mapping[str, str] | None = None
    ) -> None:
        self.place = place
        self.session = ""
        self.messages: list[Message] = []
        self._program = program
        self._environment = place.environment(url, extra)
        self._errors = os.path.join(place.folder, "stderr")
        self._process: subprocess.Popen[bytes] | None = None
        self._heard: queue.SimpleQueue[Message | None] = queue.SimpleQueue()

    def start(self, *arguments: str) -> None:
        """Begin a life; a new session unless *arguments* resume one."""
        if self._process is not None:
            raise ClientFailed("it runs already")
        with open(self._errors, "ab") as errors:
            self._process = subprocess.Popen(
                [self._program, *ARGUMENTS, *arguments],
                cwd=self.place.project,
                env=self._environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,  # so that its group can be killed, and not ours
            )
        self._heard = queue.SimpleQueue()
        Thread(target=_listen, args=(self._process, self._heard), daemon=True).start()

    def resume(self, session: str | None = None) -> None:
        """Begin another life of *session*, by default of the last one."""
        self.start("--resume", session or self.session)

    def say(self, prompt: str) -> None:
        """Send a prompt, and wait for nothing."""
        line = {"type": "user", "message": {"role": "user", "content": prompt}}
        stdin = self._running().stdin
        assert stdin is not None
        try:
            stdin.write(json.dumps(line).encode() + b"\n")
            stdin.flush()
        except OSError as error:
            raise ClientFailed(f"it takes no prompt: {error}{self._complaint()}") from error

    def send(self, prompt: str, *, deadline_s: float = DEADLINE_S) -> Message:
        """Send a prompt and wait for the end of its turn: the `result` message."""
        self.say(prompt)
        return self.wait_for(lambda said: said.get("type") == "result", deadline_s=deadline_s)

    def wait_for(
        self, wanted: Callable[[Message], bool], *, deadline_s: float = DEADLINE_S
    ) -> Message:
        """The next message that is *wanted*."""
        until = time.monotonic() + deadline_s
        while True:
            try:
                said = self._heard.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                silent = f"nothing of the kind within {deadline_s:g} s"
                raise ClientFailed(silent + self._complaint()) from None
            if said is None:
                raise ClientFailed(f"it ended{self._complaint()}")
            self.messages.append(said)
            self.session = str(said.get("session_id") or self.session)
            if wanted(said):
                return said

    def kill(self, *, group: bool = False) -> None:
        """End this life with kill -9; with *group*, of the client's whole process group."""
        process = self._running()
        self._catch_up()
        if group:
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
        self._bury()

    def end(self, *, by: signal.Signals | None = None, deadline_s: float = DEADLINE_S) -> int:
        """End this life in an orderly way: close its input, or send a signal. Its status."""
        process = self._running()
        assert process.stdin is not None
        if by is None:
            with suppress(OSError):
                process.stdin.close()
        else:
            process.send_signal(by)
        try:
            status = process.wait(deadline_s)
        except subprocess.TimeoutExpired:
            self.kill(group=True)
            raise ClientFailed(f"it did not end within {deadline_s:g} s") from None
        self._bury()
        return status

    def close(self) -> None:
        """Leave no process behind, whatever happened."""
        if self._process is not None:
            self.kill(group=True)
        self.place.end_leftovers()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise ClientFailed("it does not run")
        return self._process

    def _catch_up(self) -> None:
        """Take what was said already: the session's id may be among it."""
        with suppress(queue.Empty):
            while (said := self._heard.get_nowait()) is not None:
                self.messages.append(said)
                self.session = str(said.get("session_id") or self.session)

    def _bury(self) -> None:
        process, self._process = self._running(), None
        assert process.stdin is not None
        process.wait()
        with suppress(OSError):
            process.stdin.close()

    def _complaint(self) -> str:
        with open(self._errors, encoding="utf-8", errors="replace") as file:
            said = file.read()[-2000:].strip()
        return f"; it said: {said}" if said else ""


def _listen(process: subprocess.Popen[bytes], heard: queue.SimpleQueue[Message | None]) -> None:
    assert process.stdout is not None
    with process.stdout as lines:
        for line in lines:
            with suppress(ValueError):  # a line that is cut off by a kill
                said = json.loads(line)
                if isinstance(said, dict):
                    heard.put(said)
    heard.put(None)
