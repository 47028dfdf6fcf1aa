"""`make matrix`: lanes killed anywhere and resumed, by Standfast and by its peers, and counted."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from typing import TYPE_CHECKING, Any

from rich.console import Console

from harness import figures
from harness.matrix import arms, report
from harness.matrix.campaign import Campaign
from standfast import clock

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.matrix.arms import Arm

KEPT = os.path.join("build", "matrix.json")
KILLS, PEER_KILLS = 200, 60
_ALL: dict[str, Arm] = {arm.name: arm for arm in (arms.STANDFAST, *arms.PEERS, arms.BARE)}
_WIDTH = 100  # of the table
_USUAL = [arm.name for arm in (arms.STANDFAST, *arms.PEERS)]


def main(argv: Sequence[str] | None = None) -> int:
    """Try each arm, show the figures, keep them; 1 if Standfast did what may not be."""
    options = _options(argv)
    console = Console()
    console.width = max(_WIDTH, console.width)
    told: dict[str, Any] = {"commit": figures.commit(), "seed": options.seed, "arms": {}}
    for name in options.arm or _USUAL:
        kills = options.kills if name == arms.STANDFAST.name else options.peer_kills
        told["arms"][name] = _try(_ALL[name], kills, options.seed, console)
        figures.keep(told, options.out)
    for name, arm in told["arms"].items():
        console.rule(f"{name}: kills by where they struck")
        for line in report.histogram(arm["places"]):
            console.print(line, markup=False, highlight=False, soft_wrap=True)
    console.print(report.table(told["arms"]))
    findings = report.findings(told["arms"])
    for each in findings:
        console.print(each, style="red", markup=False)
    console.print(f"Seed {options.seed}. Figures: {options.out}", highlight=False)
    return 1 if findings else 0


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make matrix ARGS=…", description=__doc__)
    parser.add_argument("--kills", type=int, default=KILLS, help="of Standfast's lanes")
    parser.add_argument("--peer-kills", type=int, default=PEER_KILLS, help="of each peer's")
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(2), "big"))
    parser.add_argument("--arm", action="append", choices=tuple(_ALL), help="only this one")
    parser.add_argument("--out", default=KEPT)
    return parser.parse_args(argv)


def _try(arm: Arm, kills: int, seed: int, console: Console) -> dict[str, Any]:
    began = clock.monotonic_ns()

    def watch(now: Campaign) -> None:
        said = f"{arm.name}: {now.struck} of {kills} kills, {len(now.told)} lanes"
        console.print(said, end="\r" if console.is_terminal else "\n", highlight=False)

    with tempfile.TemporaryDirectory(prefix="standfast-matrix-") as folder:
        done = Campaign(arm, folder, kills, seed, watch).run()
    seconds = round((clock.monotonic_ns() - began) / 1e9, 1)
    return {**report.figures(done), "seconds": seconds}


if __name__ == "__main__":
    sys.exit(main())
