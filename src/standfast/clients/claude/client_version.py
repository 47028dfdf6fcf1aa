"""Which Claude Code is installed: asked of the program itself, within a time."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING

from standfast import xdg
from standfast.errors.base import StandfastError
from standfast.processes import programs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from standfast.clients.claude.abilities import Version

PROGRAM = "claude"
ELSEWHERE = (".claude/local/claude", ".local/bin/claude")  # below the home

_TIMEOUT_S = 10
_OUTPUT_LIMIT = 4096
_SAID = re.compile(rb"\s*([0-9]{1,4})\.([0-9]{1,4})\.([0-9]{1,6})(?![0-9])")


def installed(environ: Mapping[str, str]) -> Version | None:
    """The version of the first program that tells one; None if none does."""
    for program in _programs(environ):
        try:
            done = programs.run(
                [program, "--version"],
                cwd="/",
                env=environ,
                timeout_s=_TIMEOUT_S,
                output_limit=_OUTPUT_LIMIT,
            )
        except (StandfastError, OSError):
            continue
        found = told(done.stdout)
        if done.status == 0 and found is not None:
            return found
    return None


def told(output: bytes) -> Version | None:
    """The version at the beginning of what the program prints."""
    found = _SAID.match(output)
    return None if found is None else (int(found[1]), int(found[2]), int(found[3]))


def _programs(environ: Mapping[str, str]) -> Iterator[str]:
    with suppress(StandfastError):
        yield programs.find_program(PROGRAM, environ.get("PATH"))
    for relative in ELSEWHERE:
        path = os.path.join(xdg.home(environ), relative)
        if os.access(path, os.X_OK):
            yield path
