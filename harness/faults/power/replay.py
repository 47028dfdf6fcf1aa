"""Power-loss replay: what was done is played again up to every call, and the power goes there.

A script is done once under the shim, which writes every call down. Then, for each call, states
that a power cut could leave are rebuilt on the real disk, and recovery has to find everything
that had been acknowledged until then. Equal states with equal acknowledgements are tried once.
`script@call#number/seed` names a state: it is drawn from these alone. To see one script again:

    python -m harness.faults.power.replay --seed 7 --states 300 "notes in a row"
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING

from harness.faults import shim
from harness.faults.power.canaries import CANARIES
from harness.faults.power.replayed import Counted
from harness.faults.power.scripts import SCRIPTS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

FULL = 106_000  # states to be drawn; of equal ones one is tried, and 100,000 are promised
SLICE = 1_000
_CANARY = 150
_MEMORY = "/dev/shm"  # a sync costs nothing there: what survives one is the model's business


def run(
    folder: str,
    seed: int,
    budget: int | None,
    tell: Callable[[str], None],
    *,
    plant: str | None = None,
    names: Sequence[str] = tuple(SCRIPTS),
) -> Counted:
    """Replay scripts on every core; *plant* names a bug for the processes that do the acts."""
    job = {"folder": folder, "seed": seed, "states": budget or FULL, "plant": plant}
    command = [sys.executable, "-m", "harness.faults.power.crew"]
    environment = shim.environment(shim.build(folder))
    with subprocess.Popen(
        command, env=environment, encoding="utf-8", stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as crew:
        assert crew.stdin is not None
        assert crew.stdout is not None
        json.dump({**job, "names": list(names)}, crew.stdin)
        crew.stdin.close()
        for line in map(json.loads, crew.stdout):
            if "counted" in line:
                return Counted(**line["counted"])
            tell(line["told"])
    raise RuntimeError("the replay failed: see what it said above")


def caught(folder: str, seed: int, name: str) -> str | None:
    """How a planted bug showed, in the way in which it must; None if nothing was found."""
    canary = CANARIES[name]
    found = run(folder, seed, _CANARY, lambda _: None, plant=name, names=[canary.script])
    return next((each for each in found.findings if each.startswith(canary.shows)), None)


def workplace() -> tempfile.TemporaryDirectory[str]:
    """A folder to work in, in memory where there is such a place."""
    memory = _MEMORY if os.access(_MEMORY, os.W_OK) else None
    return tempfile.TemporaryDirectory(prefix="standfast-replay-", dir=memory)


def main(arguments: Sequence[str]) -> int:
    """Replay some scripts, or all, and print what was counted; 1 where a promise was broken."""
    parser = argparse.ArgumentParser(prog="replay", description=str(__doc__).partition("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--states", type=int, default=FULL)
    parser.add_argument("--plant", choices=CANARIES, help="a bug that must be found")
    parser.add_argument("scripts", nargs="*", metavar="SCRIPT")
    chosen = parser.parse_args(arguments)
    names = chosen.scripts or tuple(SCRIPTS)
    with workplace() as folder:
        count = run(folder, chosen.seed, chosen.states, print, plant=chosen.plant, names=names)
    print(json.dumps(count._asdict(), indent=2))
    return 1 if count.bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
