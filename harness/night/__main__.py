"""`make night`: a run of real Claude Code and Codex, killed at random moments, and counted."""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
from itertools import zip_longest
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from harness import figures
from harness.night import world
from harness.night.campaign import Night
from harness.rig.rig_error import RigError
from standfast.testing.apart import leave_person_alone, temporary_folder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.night.judge import Verdict
    from harness.night.world import Lane

KEPT = os.path.join("build", "night.json")
KILLS, PHASES, LANES, PARKED = 50, 3, 4, 5
INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Go through a night, show the figures, keep them; 1 if anything was lost or done twice."""
    options = _options(argv)
    for ending in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, signal.default_int_handler)
    leave_person_alone()
    console = Console(soft_wrap=True, highlight=False, markup=False)
    lanes = world.lanes(options.phases, options.lanes)
    try:
        with (
            temporary_folder() as folder,
            Night(
                folder,
                lanes,
                kills=options.kills,
                seed=options.seed,
                limited=limited(lanes, options.seed, options.parked),
                tell=console.print,
            ) as night,
        ):
            found = night.run()
            if not found.is_well:
                console.print(night.last_words())
    except KeyboardInterrupt:
        return INTERRUPTED
    except RigError as error:
        console.print(f"The clients could not be tried: {error}")
        return 1
    console.print(table(found))
    for problem in found.problems:
        console.print(problem, style="red")
    figures.keep({"commit": figures.commit(), "seed": options.seed, **found.as_dict()}, options.out)
    console.print(f"Seed {options.seed}. Figures: {options.out}")
    return 0 if found.is_well else 1


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make night ARGS=…", description=__doc__)
    parser.add_argument("--kills", type=int, default=KILLS)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(2), "big"))
    parser.add_argument("--phases", type=int, default=PHASES)
    parser.add_argument("--lanes", type=int, default=LANES, help="in each phase")
    parser.add_argument("--parked", type=int, default=PARKED, help="lanes that meet a usage limit")
    parser.add_argument("--out", default=KEPT)
    return parser.parse_args(argv)


def limited(lanes: Sequence[Lane], seed: int, most: int) -> list[str]:
    """Which lanes meet a usage limit, once each: of both clients, Claude Code's first.

    Codex tells only the minute in which a limit ends, and waits longer.
    """
    chance = random.Random(seed)
    own = [[lane.bill for lane in lanes if lane.client == name] for name in world.CLIENTS]
    for bills in own:
        chance.shuffle(bills)
    return [bill for both in zip_longest(*own) for bill in both if bill][:most]


def table(found: Verdict) -> Table:
    """The figures, for people."""
    made = Table("", "", box=None, show_header=False, padding=(0, 2, 0, 0))
    rows: list[tuple[object, str]] = [(found.kills, "kills with -9")]
    rows += [(f"{times}", f"  {name}") for name, times in found.victims.items()]
    rows += [(found.reboots, f"reboots {found.why_no_reboots and f'({found.why_no_reboots})'}")]
    rows += [(found.parked, "lanes parked at a limit"), (found.continued, "sessions gone on with")]
    rows += [(found.expected, "effects expected"), (found.seen, "effects seen")]
    rows += [(found.lost, "lost"), (found.repeated, "repeated"), (found.asked, "asked")]
    rows += [(found.merged, f"lanes merged of {found.lanes}"), (found.seconds, "seconds")]
    for figure, words in rows:
        made.add_row(str(figure).rjust(6), words)
    return made


if __name__ == "__main__":
    sys.exit(main())
