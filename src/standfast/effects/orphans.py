"""The ledger of what effects left behind: what lives, what is in doubt, and ending it.

A process belongs to an effect if it is its supervisor, by exact identity, or carries the effect's
mark in its environment. Nothing else is ever signalled.
"""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, NamedTuple

from standfast import clock, disk
from standfast.effects import door, missing_folders, settlement, stage_agents
from standfast.effects.effect_folder import EXIT, FOLDER, STARTED, SUP, TREE, Folder
from standfast.errors.base import StandfastError
from standfast.processes import programs
from standfast.processes.occupants import command_of
from standfast.processes.programs import Identity, Liveness
from standfast.wait_notice import Wait, named

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from standfast.effects.missing_folders import TakenAway
    from standfast.effects.stage_agents import Launched
    from standfast.journal.store import Journal

RUNNING, ORPHANED, IN_DOUBT = "running", "orphaned", "in doubt"
_GRACE_S = 5.0
_LOOK_AGAIN_S = 0.02


class Left(NamedTuple):
    """One effect that is not over and done with."""

    key: str
    state: str  # orphaned: its supervisor is gone
    since: int  # µs
    argv: tuple[str, ...]
    pids: tuple[int, ...]
    folder: Folder


def every(journal: Journal) -> list[Left]:
    """What any effect of this journal left: alive, or nobody knows how it ended."""
    top = os.path.join(journal.folder, FOLDER)
    names = sorted(os.listdir(top)) if os.path.isdir(top) else []
    found = (_look(journal, Folder.at_path(os.path.join(top, name))) for name in names)
    effects = [each for each in found if each is not None]
    agents = map(_agent, stage_agents.every(journal.folder))
    gone = map(_taken_away, missing_folders.every(journal))
    return sorted([*effects, *agents, *gone], key=lambda each: each.since)


def _agent(found: Launched) -> Left:
    """An agent of a stage: its launcher sees to it, or is gone."""
    pids = tuple(found.strays())
    state = RUNNING if found.has_launcher() else ORPHANED
    command = command_of(pids[0]).split(" ") if pids else [found.facts.path]
    return Left(found.key, state, found.facts.since, tuple(command), pids, found)


def _taken_away(found: TakenAway) -> Left:
    pids = tuple(found.folder.strays())
    state = ORPHANED if pids else IN_DOUBT
    return Left(found.key, state, found.since, found.argv, pids, found.folder)


def _look(journal: Journal, folder: Folder) -> Left | None:
    try:
        order = folder.read_order()
        since = os.stat(folder.at(STARTED)).st_mtime_ns // 1000
    except (StandfastError, OSError, ValueError, TypeError):
        return None  # over and tidied up, or never begun
    pids = tuple(_members(folder))
    state = _state(journal, folder, order.key, pids)
    return None if state is None else Left(order.key, state, since, tuple(order.argv), pids, folder)


def _state(journal: Journal, folder: Folder, key: str, pids: tuple[int, ...]) -> str | None:
    """Running, orphaned or in doubt; None where it is over and known how."""
    if folder.is_held(SUP):
        return RUNNING
    if pids or folder.is_held(TREE):
        return ORPHANED
    is_over = door.find(journal, key) is not None or os.path.lexists(folder.at(EXIT))
    return None if is_over or settlement.settled(journal, key) is not None else IN_DOUBT


def _members(folder: Folder) -> list[int]:
    """The processes of an effect, its supervisors first."""
    return supervisors(folder) + folder.strays()


def supervisors(folder: Folder) -> list[int]:
    """Those of the two supervisors that live, by exact identity; each passes on what it is told.

    A file can name any process. One that is a supervisor here has the lock open that goes with it.
    """
    try:
        lines = disk.read_regular(folder.at(STARTED)).decode("ascii", "replace").split("\n")
        named = [Identity.from_text(line) for line in lines if line]
    except (OSError, ValueError, StandfastError):
        return []
    alive = [each.pid for each in named if programs.liveness(each) is Liveness.ALIVE]
    return [pid for pid in alive if programs.has_open(pid, folder.at(SUP))]


def end(found: Iterable[Left]) -> list[int]:
    """End every process of these effects; those that nobody could end are handed back.

    A supervisor is asked first: it ends its tree and records that it was cancelled.
    """
    every_folder = [each.folder for each in found]
    told = Wait(lambda: f"what is being ended: {named(_alive(every_folder))}")
    for number, only_supervisors in ((signal.SIGTERM, True), (signal.SIGKILL, False)):
        until = clock.monotonic_ns() / 1e9 + _GRACE_S
        while (alive := _alive(every_folder)) and clock.monotonic_ns() / 1e9 < until:
            _signal(alive, every_folder, number, only_supervisors=only_supervisors)
            told.look()
            clock.pause(_LOOK_AGAIN_S)
    return _alive(every_folder)


def ask(found: Iterable[Left]) -> None:
    """Ask the supervisors of these effects to end their trees; nobody waits for that."""
    folders = [each.folder for each in found]
    _signal(_alive(folders), folders, signal.SIGTERM, only_supervisors=True)


def _alive(folders: Sequence[Folder]) -> list[int]:
    return [pid for folder in folders for pid in _members(folder)]


def _signal(
    alive: Sequence[int],
    folders: Sequence[Folder],
    number: signal.Signals,
    *,
    only_supervisors: bool,
) -> None:
    heads = {pid for folder in folders for pid in supervisors(folder)[-1:]}
    supervised = {pid for folder in folders if folder.is_held(SUP) for pid in _members(folder)}
    for pid in alive:
        if only_supervisors and pid in supervised and pid not in heads:
            continue  # its supervisor sees to it
        identity = programs.identify(pid)
        if identity is not None:
            programs.send(identity, number)
