"""Whom kill -9 strikes at night: the orchestrator, its group, supervisors, everything, the machine.

From outside, as anybody's kill would. All but the orchestrator are looked for in /proc, by the mark
that every process of a night has in its environment.
"""

from __future__ import annotations

import os
import random
import signal
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from standfast import clock
from standfast.processes import programs

if TYPE_CHECKING:
    from harness.night.world import World

ORCHESTRATOR, GROUP = "orchestrator", "its group"
SUPERVISOR, PAIR = "one supervisor", "both supervisors"
EVERYTHING, REBOOT = "everything", "everything, new boot"
WEIGHTS = {ORCHESTRATOR: 12, GROUP: 8, SUPERVISOR: 8, PAIR: 6, EVERYTHING: 6, REBOOT: 10}
LIVES_ON = (SUPERVISOR, PAIR)  # the orchestrator does
_SUPERVISOR = b"standfast.effects.supervisor"
_EFFECT, _TASK, _LANE, _PHASE = (
    b"STANDFAST_EFFECT", b"STANDFAST_TASK", b"STANDFAST_LANE", b"STANDFAST_PHASE",
)  # fmt: skip
_LOOK_AGAIN_S = 0.01


@dataclass(slots=True)
class Seen:
    """Who lives at one moment."""

    everybody: list[int] = field(default_factory=list)
    supervisors: dict[bytes, list[int]] = field(default_factory=dict)  # by their effect's folder
    agents: dict[str, set[bytes]] = field(default_factory=dict)  # the effects that run, by lane

    @property
    def doubled(self) -> list[str]:
        """Lanes in which two agents are at work at once."""
        return [lane for lane, effects in self.agents.items() if len(effects) > 1]


def drawn(seed: int, kills: int) -> list[str]:
    """Whom a night strikes, in turn; the same for the same seed."""
    return random.Random(seed).choices(list(WEIGHTS), list(WEIGHTS.values()), k=kills)


def look(world: World) -> Seen:
    """Who lives in this night."""
    seen = Seen()
    for pid in programs.surrounded_by(world.mark):
        seen.everybody.append(pid)
        words = _read(pid, "cmdline").split(b"\0")
        if _SUPERVISOR in words[:-2]:
            folder = words[words.index(_SUPERVISOR) + 1]
            seen.supervisors.setdefault(folder, []).append(pid)
            continue
        around = dict(each.partition(b"=")[::2] for each in _read(pid, "environ").split(b"\0"))
        if _EFFECT in around and _TASK in around:
            lane = f"{around[_PHASE].decode()}-{around[_LANE].decode()}"
            seen.agents.setdefault(lane, set()).add(around[_EFFECT])
    return seen


def strike(world: World, orchestrator: int, victim: str, chance: random.Random) -> str:
    """Kill, and say whom: where nobody supervises, it is the orchestrator."""
    if victim in LIVES_ON:
        pairs = list(look(world).supervisors.values())
        if pairs:
            pair = chance.choice(pairs)
            for pid in pair if victim == PAIR else [chance.choice(pair)]:
                _send(world, pid)
            return victim
        victim = ORCHESTRATOR
    if victim == ORCHESTRATOR:
        os.kill(orchestrator, signal.SIGKILL)  # nobody has waited for it: the number is its own
        return victim
    os.killpg(orchestrator, signal.SIGKILL)
    if victim != GROUP:
        end(world)
    if victim == REBOOT and not world.boot():
        return EVERYTHING
    return victim


def end(world: World) -> None:
    """Kill everybody of a night, those too who began meanwhile."""
    while pids := programs.surrounded_by(world.mark):
        for pid in pids:
            _send(world, pid)
        clock.pause(_LOOK_AGAIN_S)


def _send(world: World, pid: int) -> None:
    """Kill a process of this night and no other: its number may be somebody else's by now."""
    identity = programs.identify(pid)
    if identity is not None and world.mark in _read(pid, "environ").split(b"\0"):
        programs.send(identity, signal.SIGKILL)


def _read(pid: int, name: str) -> bytes:
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:
            return file.read()
    except OSError:
        return b""
