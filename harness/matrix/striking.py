"""Whom kill -9 strikes: the orchestrator, its group, a supervisor, the tree, or all of them.

From outside, as anybody's kill would. The orchestrator's number is known, the others are looked
for in /proc by the mark of the trial.
"""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from harness.matrix.work import NAMES
from standfast import clock
from standfast.processes import occupants, programs

if TYPE_CHECKING:
    from harness.matrix.work import Room

ORCHESTRATOR, GROUP, SUPERVISOR, TREE, ALL = "orchestrator", "group", "supervisor", "tree", "all"
SOUGHT = (SUPERVISOR, TREE)
VICTIMS = (ORCHESTRATOR, GROUP, SUPERVISOR, TREE, ALL)
_SUPERVISOR = b"standfast.effects.supervisor"
_LOOK_AGAIN_S = 0.005
_PATIENCE_NS = 500_000_000


@dataclass(slots=True)
class Strike:
    """One kill: whom it was meant for, whom it found, and where it was."""

    victim: str
    place: str = ""
    supervised: bool = False  # it took an effect and both of its supervisors
    effects: set[str] = field(default_factory=set)  # whose trees it took


@dataclass(frozen=True, slots=True)
class Seen:
    """The processes of a trial beside its orchestrator."""

    supervisors: tuple[int, ...]
    tree: tuple[int, ...]
    effects: frozenset[str]
    everybody: tuple[int, ...]


_NOBODY = Seen((), (), frozenset(), ())


def look(room: Room) -> Seen:
    """Who lives in a trial; a process between two states is nobody yet."""
    words = {pid: _words(pid) for pid in programs.surrounded_by(room.mark.encode())}
    script = room.script.encode()
    shells = {pid: w for pid, w in words.items() if w and os.path.basename(w[0]) == b"sh"}
    roots = {pid for pid, w in shells.items() if any(script in word for word in w)}
    named = (w[w.index(script) + 1].decode() for w in shells.values() if script in w[:-1])
    return Seen(
        supervisors=tuple(pid for pid, w in words.items() if _SUPERVISOR in w),
        tree=tuple(sorted(roots | {pid for pid in words if _parent(pid) in roots})),
        effects=frozenset(name for name in named if name in NAMES),
        everybody=tuple(words),
    )


def strike(room: Room, orchestrator: int, victim: str) -> Strike:
    """Kill; whoever is meant and does not come leaves it to the orchestrator."""
    if victim in {GROUP, ALL}:
        os.killpg(orchestrator, signal.SIGKILL)  # nobody has waited for it: the number is its own
    seen = _await(room, victim) if victim in SOUGHT else look(room) if victim == ALL else _NOBODY
    if victim not in {GROUP, ALL} and not _meant(seen, victim):
        os.kill(orchestrator, signal.SIGKILL)
        return Strike(ORCHESTRATOR)
    for pid in sorted(_meant(seen, victim), key=lambda pid: pid not in seen.supervisors):
        _send(room, pid)
    if victim == ALL:
        end(room)
    return Strike(
        victim,
        supervised=victim == ALL and bool(seen.supervisors),
        effects=set(seen.effects) if victim in {TREE, ALL} else set(),
    )


def _meant(seen: Seen, victim: str) -> tuple[int, ...]:
    tree = seen.tree if seen.effects else ()  # one that has no name yet is awaited
    one = seen.supervisors[:1] if clock.monotonic_ns() % 2 else seen.supervisors[-1:]
    return {SUPERVISOR: one, TREE: tree, ALL: seen.everybody}.get(victim, ())


def _await(room: Room, victim: str) -> Seen:
    """Look until the victim is there, for a moment: between two effects it is not."""
    until = clock.monotonic_ns() + _PATIENCE_NS
    while not _meant(seen := look(room), victim) and clock.monotonic_ns() < until:
        clock.pause(_LOOK_AGAIN_S)
    return seen


def end(room: Room) -> None:
    """Kill everybody of a trial, those too who began meanwhile."""
    while pids := look(room).everybody:
        for pid in pids:
            _send(room, pid)
        clock.pause(_LOOK_AGAIN_S)


def wait(room: Room, seconds: float) -> bool:
    """Until nothing of a trial lives; False if something still does after so long."""
    until = clock.monotonic_ns() + int(seconds * 1e9)
    while look(room).everybody:
        if clock.monotonic_ns() > until:
            return False
        clock.pause(_LOOK_AGAIN_S)
    return True


def _send(room: Room, pid: int) -> None:
    """Kill a process of this trial and no other: its number may be somebody else's by now."""
    identity = programs.identify(pid)
    if identity is not None and room.mark.encode() in _read(pid, "environ").split(b"\0"):
        programs.send(identity, signal.SIGKILL)


def _words(pid: int) -> list[bytes]:
    return _read(pid, "cmdline").split(b"\0")[:-1]


def _parent(pid: int) -> int:
    return occupants.read_parent(_read(pid, "stat").decode("utf-8", "replace"))


def _read(pid: int, name: str) -> bytes:
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:
            return file.read()
    except OSError:
        return b""
