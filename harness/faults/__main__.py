"""`make faults`: everything that could lose our data, tried; the counters in build/faults.json.

`--slice` is what `make test` runs, `--only PART` one part, `--act NAME` all trials of one act,
`--trial ID` one trial of the sweep, as a finding names it. The same `--seed` tries the same.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from typing import TYPE_CHECKING

from harness import figures
from harness.faults import crew, parts, tally, world
from harness.faults.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Sequence

RESULT = os.path.join("build", "faults.json")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the parts that are wanted, tell what they found, and leave the counters."""
    options = _options(argv)
    folder = tempfile.mkdtemp(prefix="standfast-faults-", dir=world.quick_folder())
    try:
        if options.trial is not None:
            return _one(folder, options.trial)
        if options.act:
            return _acts(folder, options.act, options.seed)
        counted = Tally(figures.commit() or "unknown", options.seed)
        for name, part in parts.PARTS.items():
            if options.only in {None, name}:
                _run(name, part, parts.Run(folder, options.seed, counted, _tell, options.slice))
                tally.write(counted, options.result)  # what a run that is ended early has done
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    tally.write(counted, options.result)
    print(summary(counted))
    return 0 if counted.is_clean else 1


def _options(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="faults", description=__doc__)
    parser.add_argument("--slice", action="store_true", help="a few minutes of it")
    parser.add_argument("--only", choices=tuple(parts.PARTS))
    parser.add_argument("--trial", help="one trial of the sweep: note:torn@12")
    parser.add_argument("--act", action="append", help="all trials of one act: note")
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(2), "big"))
    parser.add_argument("--result", default=RESULT)
    return parser.parse_args(argv)


def _run(name: str, part: parts.Part, run: parts.Run) -> None:
    began = time.monotonic()
    skip = part.cannot()
    if skip is not None:
        run.tally.skipped[name] = skip
        _tell(f"{name}: skipped, {skip}")
        return
    _tell(f"{name}: {part.says}")
    figures = part.run(run)
    part.canaries(run)
    seconds = round(time.monotonic() - began, 1)
    run.tally.parts[name] = {**figures, "seconds": seconds}
    _tell(f"{name}: {', '.join(f'{key} {value}' for key, value in figures.items())}, {seconds} s")


def _one(folder: str, trial: str) -> int:
    for line in crew.run(folder, [{"job": "trial", "trial": trial}]):
        print("\n".join(line["findings"]) or "nothing was found")
        return 1 if line["findings"] else 0
    return 2


def _acts(folder: str, acts: list[str], seed: int) -> int:
    swept = crew.sweep(folder, seed, thin=1, twice=30, tell=_tell, acts=acts)
    print("\n".join([*swept.findings, f"{swept.injected:,} faults in {', '.join(acts)}"]))
    return 1 if swept.findings else 0


def _tell(line: str) -> None:
    print(line, flush=True)


def summary(counted: Tally) -> str:
    """The counters for people, the findings first."""
    lines = [f"FOUND  {finding}" for finding in counted.findings[:50]]
    lines += [f"MISSED the planted bug `{name}` was not caught" for name in counted.missed]
    tried = ("injected", "replayed", "cuts", "writers", "flips")
    lines.append("  ".join(f"{name} {getattr(counted, name):,}" for name in tried))
    lines.append("  ".join(f"{kind} {getattr(counted, kind)}" for kind in tally.KINDS))
    planted, caught = counted.canaries.planted, counted.canaries.caught
    lines.append(f"canaries: {caught} of {planted} caught; seed {counted.seed}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
