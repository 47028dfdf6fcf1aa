"""`python -m bench [--quick]`: fill, measure, and leave a table, a picture and figures."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from bench import hooks, picture, report, runs
from bench.arms import JournalArm, JsonArray, JsonLines, RawSqlite
from bench.checkpoints import LangGraph, LangGraphFull
from bench.measure import TURN, TURNS, Cell, measure_appends, measure_reads
from bench.records import DECISIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bench.arms import Arm

BUILD = Path(__file__).resolve().parents[1] / "build"
SETTLING = 1_100  # a WAL grows until its first checkpoint; syncing a growing file costs more
ARRAY_TURN = 4
ARRAY_SIZES = (1_000, 10_000)  # beyond, a few appends would take more time than all the rest
FULL = (1_000, 100_000, 1_000_000)
ROUNDS = 20
QUICK = (1_000, 20_000)

ARMS: dict[str, Callable[[str], Arm]] = {
    report.JOURNAL: JournalArm,
    report.RAW: RawSqlite,
    report.LINES: JsonLines,
    report.LANGGRAPH: LangGraph,
    report.LANGGRAPH_FULL: LangGraphFull,
    report.ARRAY: JsonArray,
}


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, half a minute")
    quick = parser.parse_args().quick
    say = _progress()
    with scratch() as folder:
        cells = list(filled(folder, QUICK if quick else FULL, 2 if quick else ROUNDS, say))
        measure_appends(cells, 2 if quick else ROUNDS, say)
        measure_reads(cells, say)
        for cell in cells:
            cell.arm.close()
        called = hooks.measure(folder, quick=quick, say=say)
        taken_on = runs.measure(folder / "runs", quick=quick, say=say)
    say("drawing")
    report.show(cells)
    hooks.show(called)
    runs.show(taken_on)
    picture.draw(cells, BUILD / "bench.png")
    report.keep(cells, BUILD / "bench.json", part="journal_quick" if quick else "journal")
    for name, figures in (("hooks", called), ("runs", taken_on)):
        part = f"{name}_quick" if quick else name
        report.keep_part(part, figures, BUILD / "bench.json", headline={})
    print(f"\n{BUILD / 'bench.png'}\n{BUILD / 'bench.json'}")
    return 0


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder on the disk that the repository is on, gone afterwards whatever happens."""
    BUILD.mkdir(exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="bench-", dir=BUILD))
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


def filled(
    folder: Path, sizes: tuple[int, ...], rounds: int, say: Callable[[str], None]
) -> Iterator[Cell]:
    """Every arm at every size, filled so far that it is reached halfway through, and settled."""
    for name, arm_in in ARMS.items():
        array = name == report.ARRAY
        turn, settling = (ARRAY_TURN, 0) if array else (TURN, SETTLING)
        for size in ARRAY_SIZES if array else sizes:
            say(f"filling {name} to {size:,}")
            arm = arm_in(tempfile.mkdtemp(dir=folder))
            arm.fill(max(DECISIONS, size - settling - rounds * TURNS * turn // 2))
            for _ in range(settling):
                arm.append()
            yield Cell(name=name, size=size, arm=arm, turn=turn)


def _progress() -> Callable[[str], None]:
    started = monotonic()

    def say(what: str) -> None:
        print(f"[{monotonic() - started:4.0f} s] {what}", file=sys.stderr, flush=True)

    return say


if __name__ == "__main__":
    sys.exit(main())
