"""The process of a replay that has the shim loaded: a worker for each core, one script at a time.

Takes one job as JSON on stdin, tells on stdout, a line of JSON each: what is done, at last the
counters. Rows come last, and take what single acts left of the budget.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
from multiprocessing.connection import wait
from typing import TYPE_CHECKING

from harness.faults.power.canaries import CANARIES
from harness.faults.power.recording import record
from harness.faults.power.replayed import Counted, replay
from harness.faults.power.scripts import ROWS, SCRIPTS
from harness.faults.shim import Shim
from harness.faults.worlds import Shelf

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from multiprocessing.connection import Connection

_ROW_WEIGHT = 6  # a row of acts has far more states than one act


def main() -> int:
    """Do the job: folder, seed, states, names, and the name of a bug to plant or nothing."""
    job = json.load(sys.stdin)
    plant = CANARIES[job["plant"]].plant if job["plant"] else lambda: None
    folders = [os.path.join(job["folder"], str(n)) for n in range(_cores())]
    workers = [_worker(folder, job["seed"], plant) for folder in folders]
    counted = _deal(workers, job["names"], job["states"])
    _tell({"counted": counted._asdict()})
    return 0


def _deal(workers: Sequence[Connection], names: Sequence[str], left: int) -> Counted:
    """Give each worker that has nothing to do the next script, and its share of what is left."""
    rows = [row.name for row in ROWS if row.name in names]
    waiting = [*(name for name in names if name not in rows), *rows]
    promised: dict[Connection, int] = {}
    count = Counted()
    while waiting or promised:
        for worker in workers:
            if waiting and worker not in promised:
                promised[worker] = _share(waiting, left)
                left -= promised[worker]
                worker.send((waiting.pop(0), promised[worker]))
        done = wait(list(promised))
        for worker in [worker for worker in workers if worker in done]:
            name, found = worker.recv()
            left += promised.pop(worker) - found.replayed
            count = count.plus(found)
            _tell({"told": f"{name}: {found.replayed:,} states, {count.replayed:,} in all"})
            for finding in found.findings:
                _tell({"told": finding})
    return count


def _cores() -> int:
    return len(os.sched_getaffinity(0))


def _share(waiting: Sequence[str], left: int) -> int:
    """How many states the first of those that wait may try."""
    weights = [_ROW_WEIGHT if len(SCRIPTS[name].steps) > 1 else 1 for name in waiting]
    return max(1, -(-left * weights[0] // sum(weights)))


def _worker(folder: str, seed: int, plant: Callable[[], None]) -> Connection:
    """A process with worlds and a shim of its own, that takes the name of one script at a time."""
    context = multiprocessing.get_context("fork")
    ours, its = context.Pipe()
    context.Process(target=_work, args=(its, folder, seed, plant), daemon=True).start()
    its.close()
    return ours


def _work(tasks: Connection, folder: str, seed: int, plant: Callable[[], None]) -> None:
    shim, shelf = Shim(), Shelf(folder)
    while (task := tasks.recv()) is not None:
        name, budget = task
        try:
            found = replay(record(shim, shelf, SCRIPTS[name], plant), seed, budget)
        except AssertionError as error:
            found = Counted(wrong=1, findings=(f"wrong {error} [{name}]",))
        tasks.send((name, found))


def _tell(line: dict[str, object]) -> None:
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    sys.exit(main())
