"""Flips: one byte of a journal's files is another, tens of thousands of times.

Disks and memory do that. The journal then answers as before, or names the damage; it is never
wrong, and what it names a repair mends. The flips are drawn from a seed and tried in forked
processes, which a crash or a hang takes along, and nothing else.
"""

from __future__ import annotations

import os
import random
import select
import signal
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from harness.faults.flips import flip_shapes
from harness.faults.flips.flip_bench import Bench
from harness.faults.flips.flip_mending import the_repair
from harness.faults.flips.flip_places import HELD, Map
from harness.faults.flips.flip_trial import MENDED, NAMED, RIGHT, WRONG, Flip, Outcome, parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from harness.faults.flips.flip_mending import Repair

BATCH = 512
DEADLINE_S = 60.0  # for one flip
ALL = (*flip_shapes.SHAPES, HELD)
_SHARE, _LARGE_SHARE = 16, 1  # a large journal takes long to read


class Counted(NamedTuple):
    """What became of all flips."""

    flips: int
    right: int
    named: int
    mended: int
    wrong: int
    findings: list[str]


def run(
    folder: str,
    seed: int,
    flips: int,
    tell: Callable[[str], None],
    *,
    plant: Callable[[], None] = lambda: None,
    shapes: Sequence[str] = ALL,
) -> Counted:
    """Try so many flips, in every shape; of what is named some is repaired."""
    tally = Tally(seed)
    repair = the_repair()
    for shape in shapes:
        kept = os.path.join(folder, shape)
        keep(shape, kept)
        places = Map(shape, flip_shapes.files(kept))
        dice = random.Random(f"{seed} {shape}")
        drawn = [places.draw(dice) for _ in range(share(shape, shapes, flips))]
        for start in range(0, len(drawn), BATCH):
            batch = drawn[start : start + BATCH]
            stage = os.path.join(folder, "stage")
            for flip, outcome in tried(batch, kept, stage, plant=plant, repair=repair):
                tally.add(flip, outcome, places)
        tell(f"{shape}: {tally.how.total():,} flips so far, {tally.how[WRONG]:,} wrong")
    return tally.counted()


def again(folder: str, text: str) -> Outcome:
    """Try the flip of a finding once more, by its name, with a repair of what it damages."""
    flip = parse(text)
    kept = os.path.join(folder, flip.shape)
    keep(flip.shape, kept)
    ((_, outcome),) = tried([flip], kept, os.path.join(folder, "stage"), repair=the_repair())
    return outcome


def share(shape: str, shapes: Sequence[str], flips: int) -> int:
    """How many of all flips one shape gets, rounded up: together they are no fewer than asked."""
    shares = {name: _LARGE_SHARE if name == "large" else _SHARE for name in shapes}
    return -(-flips * shares[shape] // sum(shares.values()))


def keep(shape: str, kept: str) -> None:
    """Made in a process of its own: this one must never have had the files open."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            flip_shapes.make("hooked" if shape == HELD else shape, kept)
            status = 0
        finally:
            os._exit(status)
    _, ended = os.waitpid(pid, 0)
    assert ended == 0, f"the shape {shape} cannot be made"


def tried(
    batch: Sequence[Flip],
    kept: str,
    stage: str,
    *,
    plant: Callable[[], None] = lambda: None,
    repair: Repair | None = None,
) -> Iterator[tuple[Flip, Outcome]]:
    """Try some flips in a process of their own; where it dies, another goes on behind that one."""
    done = 0
    while done < len(batch):
        lines, pid = _forked(batch[done:], kept, stage, plant, repair)
        for words in _said(lines):
            how, _, rest = words.partition(" ")
            yield batch[done], Outcome(how, rest)
            done += 1
        os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        if done < len(batch):
            died = os.waitstatus_to_exitcode(status)
            yield batch[done], Outcome(WRONG, f"the process hung or died: {died}")
            done += 1


def _forked(
    batch: Sequence[Flip],
    kept: str,
    stage: str,
    plant: Callable[[], None],
    repair: Repair | None,
) -> tuple[int, int]:
    heard, said = os.pipe()
    pid = os.fork()
    if pid:
        os.close(said)
        return heard, pid
    try:
        bench = Bench(kept, stage, repair)
        plant()
        if batch[0].shape == HELD:
            bench.hold()
        for flip in batch:
            how, words = bench.trial(flip)
            os.write(said, f"{how} {words[:1000]}".replace("\n", " ").encode() + b"\n")
    finally:
        os._exit(1)


def _said(fd: int) -> Iterator[str]:
    """Line by line, as long as they come."""
    watch = select.poll()
    watch.register(fd, select.POLLIN)
    rest = b""
    while watch.poll(DEADLINE_S * 1000) and (data := os.read(fd, 1 << 16)):
        *lines, rest = (rest + data).split(b"\n")
        yield from (line.decode("utf-8", "replace") for line in lines)
    os.close(fd)


class Tally:
    """Outcomes, and one example for each place where a flip gives a wrong answer."""

    def __init__(self, seed: int) -> None:
        self.how: Counter[str] = Counter()
        self._seed = seed
        self._ways: Counter[str] = Counter()
        self._examples: dict[str, str] = {}

    def add(self, flip: Flip, outcome: Outcome, places: Map) -> None:
        """Count one."""
        self.how[outcome.how] += 1
        if outcome.how == WRONG:
            way = f"{flip.shape}, {places.where(flip)}, {flip.asked}"
            self._ways[way] += 1
            self._examples.setdefault(way, f"{flip}: {outcome.words}")

    def counted(self) -> Counted:
        """Everything, for the report."""
        findings = [
            f"wrong {way}: {times} times, as {self._examples[way]} (seed {self._seed})"
            for way, times in self._ways.items()
        ]
        how = self.how
        numbers = (how.total(), how[RIGHT], how[NAMED] + how[MENDED], how[MENDED], how[WRONG])
        return Counted(*numbers, findings)
