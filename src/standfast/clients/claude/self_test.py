"""Proof that the hooks work: each is called as the client will call it, in a place of its own.

The launcher turns every failure into status 0, so the status proves little: a call counts as
answered when the journal of a throwaway repository holds what it told.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import time
from typing import TYPE_CHECKING, NamedTuple

from standfast import scratch_folder
from standfast.clients.claude.recipes import RECIPES
from standfast.clients.claude.samples import BEFORE, SAMPLES
from standfast.clients.claude.settings_text import TIMEOUT_S
from standfast.errors.base import StandfastError
from standfast.journal import questions
from standfast.journal.fallback import strays
from standfast.journal.store import Journal
from standfast.processes import programs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from standfast.clients.claude.settings_text import Hook, Ours

_LATE_S = 2.0  # a hook may leave before its fact is on disk
_TIDY_S = 2.0
_LOOK_AGAIN_S = 0.02
_OUTPUT_LIMIT = 64 * 1024


class Proof(NamedTuple):
    """Which events were answered, and how long a call takes."""

    answered: tuple[str, ...]
    silent: tuple[str, ...]
    median_ms: float


def call_all(hooks: Sequence[Ours], environ: Mapping[str, str]) -> Proof:
    """Make the call of each hook once, where no real journal can be reached."""
    took: dict[str, float | None] = {}
    with scratch_folder.folder() as folder:
        try:
            repository = _repository(folder)
            surroundings = _surroundings(environ, folder, repository)
            for ours in hooks:
                is_doubtful = None in took.values()
                took[ours.event] = _heard(ours, repository, surroundings, is_doubtful=is_doubtful)
        finally:
            _clear(folder)
    return Proof(
        answered=tuple(event for event, ms in took.items() if ms is not None),
        silent=tuple(event for event, ms in took.items() if ms is None),
        median_ms=statistics.median([ms for ms in took.values() if ms is not None] or [0.0]),
    )


def _heard(
    ours: Ours, repository: str, environ: Mapping[str, str], *, is_doubtful: bool
) -> float | None:
    """How long a call took that the journal tells of; None if it tells of none.

    On a machine that has much to do one call may be late: it is made once more before a hook is
    called silent. Once one was silent, nobody waits for the others.
    """
    patience_s, calls = (0.0, 1) if is_doubtful else (_LATE_S, 2)
    for _ in range(calls):
        ms = _call(ours, repository, environ)
        if ms is not None and _is_recorded(repository, ours.event, patience_s):
            return ms
    return None


def _clear(folder: str) -> None:
    """Remove the folder, once no hook that tidies up after its answer may still write there."""
    until = time.monotonic() + _TIDY_S
    while programs.surrounded_by(f"TMPDIR={folder}".encode()) and time.monotonic() < until:
        time.sleep(_LOOK_AGAIN_S)
    shutil.rmtree(folder, ignore_errors=True)


def _repository(folder: str) -> str:
    """As much of a repository as it takes to be one: above it there may be a real one."""
    repository = os.path.join(folder, "repository")
    for name in ("objects", "refs"):
        os.makedirs(os.path.join(repository, ".git", name))
    with open(os.path.join(repository, ".git", "HEAD"), "w", encoding="utf-8") as file:
        file.write("ref: refs/heads/main\n")
    return repository


def _surroundings(environ: Mapping[str, str], folder: str, repository: str) -> dict[str, str]:
    kept = {k: v for k, v in environ.items() if not k.startswith(("CLAUDE", "STANDFAST_", "GIT_"))}
    return kept | {
        "CLAUDE_PROJECT_DIR": repository,
        "XDG_STATE_HOME": os.path.join(folder, "state"),
        "TMPDIR": folder,
    }


def _call(ours: Ours, cwd: str, environ: Mapping[str, str]) -> float | None:
    """How many milliseconds one call took; None if it failed."""
    for event, sample in BEFORE.get(ours.event, ()):
        _tell(ours, event, sample, cwd, environ)
    return _tell(ours, ours.event, SAMPLES[ours.event], cwd, environ)


def _tell(
    ours: Ours, event: str, sample: Mapping[str, object], cwd: str, environ: Mapping[str, str]
) -> float | None:
    told = {"session_id": _session(ours.event), "cwd": cwd, "hook_event_name": event}
    payload = json.dumps({**told, **sample}).encode()
    began = time.monotonic()
    try:
        done = programs.run(
            _argv(ours.hook),
            cwd=cwd,
            env=environ,
            stdin=payload,
            timeout_s=TIMEOUT_S,
            output_limit=_OUTPUT_LIMIT,
        )
    except (StandfastError, OSError):
        return None
    return (time.monotonic() - began) * 1000 if done.status == 0 else None


def _argv(hook: Hook) -> list[str]:
    """As the client makes a call of what the settings say."""
    command, arguments = str(hook["command"]), hook.get("args")
    if isinstance(arguments, list):
        return [command, *map(str, arguments)]
    return ["/bin/sh", "-c", command]


def _session(event: str) -> str:
    """One for each event: so each finds its own in the journal."""
    return f"proof-{event}"


def _is_recorded(repository: str, event: str, patience_s: float) -> bool:
    """Whether the journal tells of the call, waiting a little if it does not yet."""
    until = time.monotonic() + patience_s
    kind, _ = RECIPES[event]
    wanted = questions.Filter(kind=kind, session=_session(event))
    while not _has(os.path.join(repository, ".git", "standfast"), wanted):
        if time.monotonic() > until:
            return False
        time.sleep(_LOOK_AGAIN_S)
    return True


def _has(folder: str, wanted: questions.Filter) -> bool:
    journal = Journal(folder)
    try:
        strays.merge(journal, [])
        return bool(questions.last_events(journal, wanted, 1))
    except StandfastError:
        return False
    finally:
        journal.close()
