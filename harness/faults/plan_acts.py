"""What `plan` writes, once, as acts: only that a plan is trusted."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from harness.faults import worlds
from harness.faults.act import Act, command
from standfast.plans import plan_file, trust

if TYPE_CHECKING:
    from harness.faults.look import Seen
    from harness.faults.world import World


def _is_trusted(world: World, _seen: Seen) -> bool:
    loaded = plan_file.load(os.path.join(world.repo, worlds.PLAN_FILE), world.repo)
    home = os.path.join(world.home, ".local", "state")
    return trust.is_trusted(home, world.repo, loaded)


PLANS: tuple[Act, ...] = (
    Act("check-plan", "plan check", "planned", command("plan", "check", worlds.PLAN_FILE)),
    Act("show-plan", "plan show", "planned", command("plan", "show", worlds.PLAN_FILE)),
    Act("trust-plan", "plan trust", "planned",
        command("plan", "trust", worlds.PLAN_FILE, "--yes"), holds=_is_trusted),
)  # fmt: skip
