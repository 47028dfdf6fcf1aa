"""In the morning: what the ledger, the repository and Standfast itself say of the night."""

from __future__ import annotations

import json
import os
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from harness.night import striking
from harness.night.mind import PROMPT
from standfast.processes import programs

if TYPE_CHECKING:
    from harness.night.campaign import Night
    from harness.night.world import World


@dataclass(slots=True)
class Verdict:
    """One night, counted."""

    lanes: int
    kills: int
    victims: dict[str, int]
    reboots: int
    why_no_reboots: str
    parked: int
    merged: int
    expected: int
    seen: int
    lost: int
    repeated: int
    asked: int
    continued: int
    seconds: float
    problems: list[str] = field(default_factory=list)

    @property
    def is_well(self) -> bool:
        """Whether everything happened once, and nothing else."""
        return not (self.problems or self.lost or self.repeated or self.merged != self.lanes)

    def as_dict(self) -> dict[str, Any]:
        """For programs."""
        return asdict(self)


def judge(night: Night) -> Verdict:
    """Count, and look for what should not be there."""
    world = night.world
    bills = [lane.bill for lane in world.lanes]
    paid, victims = world.paid(), Counter(night.kills)
    return Verdict(
        lanes=len(bills),
        kills=len(night.kills),
        victims={name: victims[name] for name in striking.WEIGHTS if victims[name]},
        reboots=victims[striking.REBOOT],
        why_no_reboots=world.why_no_boot,
        parked=len(night.parked()),
        merged=_merged(world),
        expected=len(bills),
        seen=paid.total(),
        lost=sum(not paid[bill] for bill in bills),
        repeated=sum(max(0, times - 1) for times in paid.values()),
        asked=len(night.asked),
        continued=_continued(world),
        seconds=round(night.seconds(), 1),
        problems=[*night.problems, *_left(world)],
    )


def _merged(world: World) -> int:
    """The lanes whose work is on the base branch, each once."""
    subjects = Counter(world.git("log", "--format=%s", "main").splitlines())
    return sum(
        subjects[f"feat({lane.phase}-{lane.name}): {PROMPT.format(name=lane.bill)}"] == 1
        and world.git("show", f"main:{lane.bill}.txt") == lane.bill
        for lane in world.lanes
        if os.path.lexists(os.path.join(world.repo, f"{lane.bill}.txt"))
    )


def _continued(world: World) -> int:
    """How often an agent went on where another was cut off."""
    told = world.call("events", "--kind", "effect.settled", "-n", "0", "--json")
    lines = told.stdout.splitlines() if told.returncode == 0 else []
    return sum(json.loads(line)["payload"]["by"] == "session" for line in lines)


def _left(world: World) -> list[str]:
    """What is still there and should not be."""
    asked = {
        "ps": "Nothing is running and nothing in doubt.\n",
        "reap": "Nothing was running.\n",
        "resume": "Nothing was left in the middle.\n",
    }
    found = [f"`standfast {word}` says: {said}" for word, wanted in asked.items()
             if (said := world.call(word).stdout) != wanted]  # fmt: skip
    alive = programs.surrounded_by(world.mark)
    found += [f"still alive: process {pid}" for pid in alive]
    if (branches := world.git("branch", "--format=%(refname:short)")) != "main":
        found.append(f"branches are left: {branches}")
    if (trees := world.git("worktree", "list")).count("\n"):
        found.append(f"worktrees are left: {trees}")
    if changed := world.git("status", "--porcelain"):
        found.append(f"the work tree is not clean: {changed}")
    checked = world.call("journal", "verify")
    return found + ([] if checked.returncode == 0 else [f"the journal: {checked.stdout}"])
