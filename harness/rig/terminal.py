"""Claude Code as a person sees it: in a terminal of tmux, with a server of its own for each."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
import time
from typing import TYPE_CHECKING, Self

from harness.rig.rig_error import RigError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from harness.rig.place import Place

DEADLINE_S = 60
LOOK_EVERY_S = 0.05
WIDTH, HEIGHT = 150, 50
# What stands before the line that a person types in: newer versions, older ones.
PROMPT = ("\N{HEAVY RIGHT-POINTING ANGLE QUOTATION MARK ORNAMENT}", ">")


class TmuxMissing(RigError):
    """There is no tmux here: a terminal cannot be played."""


class NeverShown(RigError):
    """What the story waits for did not come to pass in time."""


class Terminal:
    """A person at the keyboard of the program at *program*."""

    def __init__(
        self, program: str, place: Place, url: str, extra: Mapping[str, str] | None = None
    ) -> None:
        tmux = shutil.which("tmux")
        if tmux is None:
            raise TmuxMissing("tmux is not installed, so the terminal of a client is not tried")
        self.place = place
        self._program = program
        self._environment = place.environment(url, {"TERM": "xterm-256color", **(extra or {})})
        self._folder = tempfile.mkdtemp(prefix="rig-")  # not in the place: a socket's path is short
        self._tmux = [tmux, "-u", "-S", os.path.join(self._folder, "tmux"), "-f", "/dev/null"]

    def start(self, *arguments: str) -> None:
        """Start the client and wait until it takes a prompt."""
        argv = [self._program, "--permission-mode", "bypassPermissions", *arguments]
        size = ["-x", str(WIDTH), "-y", str(HEIGHT)]
        # A new server takes over the whole environment of who starts it.
        self._run("new-session", "-d", *size, "-c", self.place.project, shlex.join(argv))
        self.wait_until(lambda: self._stands(""))

    def screen(self) -> str:
        """What can be read now, scrolled lines included."""
        return self._run("capture-pane", "-p", "-S", "-500")

    def type(self, line: str) -> None:
        """Type a line, and send it off once it stands on the screen."""
        self._run("send-keys", "-l", line)
        self.wait_until(lambda: self._stands(line))
        self._run("send-keys", "Enter")

    def wait_until(self, happened: Callable[[], bool], *, deadline_s: float = DEADLINE_S) -> None:
        """Look again and again, until *happened* says so."""
        until = time.monotonic() + deadline_s
        while not happened():
            if time.monotonic() > until:
                raise NeverShown(f"not within {deadline_s:g} s; the screen:\n{self._last_screen()}")
            time.sleep(LOOK_EVERY_S)

    def is_running(self) -> bool:
        """Is the client there: its terminal closes with it."""
        return self._call("has-session").returncode == 0

    def close(self) -> None:
        """Close the terminal and leave no process behind."""
        self._call("kill-server")
        shutil.rmtree(self._folder, ignore_errors=True)
        self.place.end_leftovers()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _stands(self, line: str) -> bool:
        """Is *line* what the last prompt on the screen holds."""
        shown = [text.strip() for text in self.screen().splitlines()]
        prompts = [text for text in shown if text.startswith(PROMPT)]
        return bool(prompts) and prompts[-1][1:].strip() == line.strip()

    def _last_screen(self) -> str:
        return self._call("capture-pane", "-p").stdout.strip()

    def _run(self, *arguments: str) -> str:
        ended = self._call(*arguments)
        if ended.returncode != 0:
            raise NeverShown(f"tmux {arguments[0]}: {ended.stderr.strip()}")
        return ended.stdout

    def _call(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self._tmux, *arguments],
            env=self._environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
