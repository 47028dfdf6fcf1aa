"""The runners of a run, found before it begins: which one is meant, is it here, may it edit."""

from __future__ import annotations

import json
import os
import tomllib
from typing import TYPE_CHECKING

from standfast import disk, xdg
from standfast.errors.base import ProgramMissing, StandfastError
from standfast.errors.lanes import RunnerMissing
from standfast.processes import programs
from standfast.runners import permissions, runner_settings
from standfast.runners.registry import CLAUDE, CODEX, GEMINI, OPENCODE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from standfast.config import Config
    from standfast.formats.document_limits import Value
    from standfast.runners.permissions import Finding
    from standfast.runners.registry import Runner

_LIMIT = 1024 * 1024


def resolve(name: str, config: Config) -> Runner:
    """The runner that a plan means by *name*; one that names none means the user's own choice."""
    return runner_settings.resolve(name or config.runner, config.runners)


def installed(runner: Runner, path: str | None) -> str:
    """Where its program is, so that a run without it is refused before it begins."""
    program = runner.command[0]
    try:
        found = programs.find_program(program, runner.env.get("PATH", path))
    except ProgramMissing as error:
        raise RunnerMissing(
            f"`{program}`, which the runner `{runner.name}` needs, is not on PATH"
        ) from error
    if not os.path.isfile(found) or not os.access(found, os.X_OK):
        raise RunnerMissing(f"`{program}`, which the runner `{runner.name}` needs, is no program")
    return found


def could_edit(runner: Runner, root: str, environ: Mapping[str, str]) -> Finding | None:
    """What speaks against an agent of it editing files below *root*, by all that can be known."""
    around = {**environ, **runner.env}
    return permissions.judge(runner, list(_settings(runner.kind, root, around)))


def _settings(kind: str, root: str, environ: Mapping[str, str]) -> Iterator[Mapping[str, Value]]:
    """The settings of a client: the user's own, then what a worktree of the repository has."""
    own, shared = _files(kind, environ)
    for file in own:
        data = _bytes(
            os.path.dirname(os.path.realpath(file)), os.path.basename(os.path.realpath(file))
        )
        yield from _parsed(file, data)
    for file in shared:
        yield from _parsed(file, _bytes(root, file))


def _files(kind: str, environ: Mapping[str, str]) -> tuple[list[str], list[str]]:
    home = environ.get("HOME") or "/"
    config = xdg.base(environ, "XDG_CONFIG_HOME", ".config")
    claude = environ.get("CLAUDE_CONFIG_DIR") or f"{home}/.claude"
    codex = environ.get("CODEX_HOME") or f"{home}/.codex"
    return {
        CLAUDE: ([f"{claude}/settings.json"], [".claude/settings.json"]),
        CODEX: ([f"{codex}/config.toml"], []),
        GEMINI: ([f"{home}/.gemini/settings.json"], [".gemini/settings.json"]),
        OPENCODE: ([f"{config}/opencode/opencode.json"], ["opencode.json"]),
    }.get(kind, ([], []))


def _bytes(folder: str, name: str) -> bytes:
    try:
        return disk.read_beneath(folder, name, limit=_LIMIT)
    except (OSError, StandfastError):
        return b""  # it is the client's to complain of it


def _parsed(name: str, data: bytes) -> Iterator[Mapping[str, Value]]:
    try:
        text = data.decode()
        said = tomllib.loads(text) if name.endswith(".toml") else json.loads(text)
    except (ValueError, RecursionError):
        return
    if isinstance(said, dict):
        yield said
