"""Any client, called once and without a terminal: a prompt goes in, words come out, or it dies."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from typing import TYPE_CHECKING, Self

from harness.rig.rig_error import RigError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

DEADLINE_S = 180  # some take long to start on a busy machine
LOOK_EVERY_S = 0.05


class NeverSaid(RigError):
    """What the story waits for was not printed in time."""


class Printing:
    """A client that runs in *cwd*, with the file *prompt* as its input; killed if it still does."""

    def __init__(
        self, argv: Sequence[str], *, cwd: str, env: Mapping[str, str], prompt: str
    ) -> None:
        self._files = (f"{prompt}.out", f"{prompt}.err")
        with (
            open(prompt, "rb") as given,
            open(self._files[0], "wb") as out,
            open(self._files[1], "wb") as err,
        ):
            self._process = subprocess.Popen(
                list(argv),
                cwd=cwd,
                env={**env, "PWD": cwd},  # opencode believes it
                stdin=given,
                stdout=out,
                stderr=err,
                start_new_session=True,  # so that its group can be killed, and not ours
            )

    @property
    def said(self) -> tuple[bytes, bytes]:
        """Both streams, as far as they go."""
        out, err = (open(name, "rb") for name in self._files)  # noqa: SIM115  # closed below
        with out, err:
            return out.read(), err.read()

    def wait(self) -> int:
        """Its status."""
        self.wait_until(lambda: self._process.poll() is not None)
        return self._process.returncode

    def wait_until(self, happened: Callable[[], bool], *, deadline_s: float = DEADLINE_S) -> None:
        """Look again and again, until *happened* says so."""
        until = time.monotonic() + deadline_s
        while not happened():
            if time.monotonic() > until:
                out, err = self.said
                raise NeverSaid(f"not within {deadline_s:g} s: {out[-1000:]!r} {err[-1000:]!r}")
            time.sleep(LOOK_EVERY_S)

    def kill(self) -> None:
        """End it with kill -9, and its whole group."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
