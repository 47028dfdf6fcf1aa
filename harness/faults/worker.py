"""A process of the sweep, with the shim loaded: takes one job on stdin, tells each trial on stdout.

`{"job": "sweep", "seed": 1, "share": 0, "of": 2, "thin": 11, "twice": 5}` tries its share of all
trials; `thin` leaves one in so many, another with every seed. `{"job": "canary", "name": "…"}`
plants a bug and tries until it is found. `{"job": "trial", "trial": "note:torn@12"}` is one trial.
"""

from __future__ import annotations

import json
import random
import sys
from itertools import chain
from typing import TYPE_CHECKING, Any

from harness.faults import perform, sweep
from harness.faults.acts import ACTS
from harness.faults.canaries import SWEPT
from harness.faults.shim import Shim

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from harness.faults.sweep import Sweep, Trial

_DEAR = 8  # so many times fewer trials of an act that starts many processes


def main() -> int:
    """Do the job."""
    perform.load_everything()
    job: dict[str, Any] = json.load(sys.stdin)
    trier = sweep.Sweep(Shim(), job.pop("folder"))
    match job.pop("job"):
        case "canary":
            _catch(trier, job["name"])
        case "trial":
            _try(trier, [sweep.parse(job["trial"])])
        case _:
            _try(trier, _share(trier, **job))
    return 0


def _share(
    trier: Sweep, *, seed: int, share: int, of: int, thin: int, twice: int, acts: Sequence[str]
) -> Iterator[Trial]:
    """This process's part of all trials: the same for the same seed.

    A slice has a few trials of each act, and making its world costs as much as they do: there each
    act is tried by one process alone.
    """
    wanted = [ACTS[name] for name in acts] or ACTS.values()
    is_slice = thin > 1
    for position, act in enumerate(wanted):
        if is_slice and position % of != share:
            continue
        dice = random.Random(f"{seed} {act.name}")
        step = thin * (_DEAR if act.dear and is_slice else 1)
        once = trier.trials(act)[(seed + position) % step :: step]
        more = trier.repeated(act, dice, 0 if act.dear else twice)
        trials = list(chain(once, more))
        yield from trials if is_slice else trials[share::of]


def _try(trier: Sweep, trials: Iterable[Trial]) -> None:
    for trial in trials:
        found = trier.run(trial)
        _tell({"trial": str(trial), "findings": [" ".join(each) for each in found]})


def _catch(trier: Sweep, name: str) -> None:
    canary = next(each for each in SWEPT if each.name == name)
    trials = [trial for act in canary.acts for trial in trier.trials(ACTS[act])]
    random.Random(name).shuffle(trials)  # most bugs show late, and in many trials
    perform.PLANTED.append(canary.plant)
    for trial in trials:
        found = trier.run(trial)
        if found:
            _tell({"trial": str(trial), "findings": [" ".join(each) for each in found]})
            return


def _tell(line: dict[str, object]) -> None:
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    sys.exit(main())
