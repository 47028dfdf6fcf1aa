"""What `run`, `resume`, `rollback`, `stop` and `logs` write, once each, as acts.

What happens on the way of a run is tried by kills, by the demo and by the matrix.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from harness.faults import perform
from harness.faults.act import Act, command
from harness.faults.run_worlds import MARK, RUN
from standfast.plans import trust

if TYPE_CHECKING:
    from harness.faults.look import Seen
    from harness.faults.world import World


def _stopped(seen: Seen) -> int:
    return sum(
        kind == "run.told" and '"state":"stopped"' in payload for kind, _, payload in seen.events
    )


def _run(world: World) -> int:
    return perform.call("run", os.path.join(world.home, "plan.yaml"))


def _mark(world: World) -> str:
    with open(os.path.join(world.home, MARK), encoding="ascii") as file:
        return file.read()


def _trust(world: World) -> int:
    """A person says that what somebody else began may be gone on with."""
    return perform.call("resume", RUN, "--trust", _mark(world))


def _is_trusted(world: World, _seen: Seen) -> bool:
    home = os.path.join(world.home, ".local", "state")
    folder = os.path.realpath(world.folder)
    return _mark(world) in trust.vouched(home, folder, f"run/{RUN}")


RUNS: tuple[Act, ...] = (
    Act("run", "run", "a run that is done", _run, dear=True),
    Act("resume", "resume", "a run that is done", command("resume"), dear=True),
    Act("roll-back-run", "rollback", "a run that waits", command("rollback", RUN), dear=True),
    Act("trust-run", "resume", "a run of somebody else", _trust, holds=_is_trusted,
        dear=True),
    Act("stop", "stop", "a run that waits", command("stop", RUN), new=_stopped),
    Act("logs", "logs", "a run that is done", command("logs", RUN)),
)  # fmt: skip
