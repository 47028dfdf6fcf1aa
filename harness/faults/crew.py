"""The processes of the sweep: one for each core, with the shim loaded and a share of the work."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
from typing import TYPE_CHECKING

from harness.faults import shim

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Tell = Callable[[str], None]


# What `make test` tries: one trial in so many, and so many of each act that hit its recovery.
SLICE = (40, 2)


class Swept:
    """What a sweep tried, and what it found, each finding with its trial."""

    def __init__(self) -> None:
        self.injected = 0
        self.findings: list[str] = []


def sweep(
    folder: str, seed: int, *, thin: int, twice: int, tell: Tell, acts: Sequence[str] = ()
) -> Swept:
    """Try every call of every act; *thin* leaves one in so many, *twice* adds repeated faults."""
    cores = len(os.sched_getaffinity(0))
    what = {"job": "sweep", "seed": seed, "thin": thin, "twice": twice, "acts": list(acts)}
    shares = [{**what, "share": share, "of": cores} for share in range(cores)]
    swept = Swept()
    for line in run(folder, shares):
        swept.injected += 1
        swept.findings += [f"{found} [{line['trial']}]" for found in line["findings"]]
        if swept.injected % 500 == 0:
            tell(f"sweep: {swept.injected:,} faults, {len(swept.findings)} findings")
    return swept


def catch(folder: str, canary: str) -> str | None:
    """The trial that found a planted bug, and what it found."""
    for line in run(folder, [{"job": "canary", "name": canary}]):
        return f"{line['findings'][0]} [{line['trial']}]"
    return None


def run(folder: str, jobs: Sequence[dict[str, object]]) -> Iterator[dict[str, list[str]]]:
    """Do the jobs side by side; every line that one tells, as it comes."""
    library = shim.build(folder)
    workers = [
        _start(library, {**job, "folder": os.path.join(folder, f"share-{number}")})
        for number, job in enumerate(jobs)
    ]
    try:
        yield from _lines(workers)
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()
            assert worker.stdout is not None
            worker.stdout.close()


def _start(library: str, job: dict[str, object]) -> subprocess.Popen[bytes]:
    worker = subprocess.Popen(
        [sys.executable, "-m", "harness.faults.worker"],
        env=shim.environment(library),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert worker.stdin is not None
    worker.stdin.write(json.dumps(job).encode())
    worker.stdin.close()
    return worker


def _lines(workers: Sequence[subprocess.Popen[bytes]]) -> Iterator[dict[str, list[str]]]:
    with selectors.DefaultSelector() as selector:
        unread: dict[subprocess.Popen[bytes], bytes] = {}
        for worker in workers:
            assert worker.stdout is not None
            selector.register(worker.stdout, selectors.EVENT_READ, worker)
        while selector.get_map():
            for key, _ in selector.select():
                worker = key.data
                data = os.read(key.fd, 1 << 16)
                *whole, unread[worker] = (unread.get(worker, b"") + data).split(b"\n")
                yield from map(json.loads, whole)
                if not data:
                    selector.unregister(key.fileobj)
                    if worker.wait() != 0:
                        raise RuntimeError("a worker of the sweep failed: see what it said above")
