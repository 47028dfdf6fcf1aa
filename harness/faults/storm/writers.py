"""Many processes write one journal, in every way there is, and some are killed with -9.

Plain facts, facts with ids, facts that go by the spool, writes under a lease that others take over
while its holder is stopped, and a face that all of them publish. Nothing that was acknowledged is
lost, nobody is told that the journal is busy, nobody starves, and nobody writes under a void token.
The folder should be on a disk: where a sync costs nothing, turns are as fair as the scheduler.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from harness.faults.storm.spooling import Spooling
from harness.storm import FAIR, Storm
from harness.writer import ROLES
from standfast.errors.base import StandfastError

if TYPE_CHECKING:
    from collections.abc import Callable

    from harness.storm_count import Counted as Storms

_ROUND_S = 5.0  # one round at the spool for so many seconds of storm
_TELL_EVERY = 5_000


class Counted(NamedTuple):
    """What came of it; times are told, and promised nowhere."""

    facts: int
    kills: int
    busy: int
    taken_over: int  # how often a lease found a new holder
    spooled: int  # facts that were kept while somebody sat on the journal
    fairness: float
    p50_ms: float
    p99_ms: float
    slowest_ms: float
    findings: list[str]


def run(
    folder: str,
    seed: int,
    writers: int,
    seconds: float,
    kills_every_s: float | None,
    tell: Callable[[str], None],
    *,
    plant: Callable[[], None] = lambda: None,
) -> Counted:
    """A storm of so many seconds, then rounds at the spool."""
    storm = Storm(
        folder=os.path.join(folder, "storm"),
        writers=writers,
        seconds=seconds,
        kills_every_s=kills_every_s,
        seed=seed,
        roles=tuple(ROLES),
        plant=plant,
        watch=_teller(tell),
    )
    spooling = Spooling(os.path.join(folder, "spooling"), plant)
    findings: list[str] = []
    for number in range(1 + int(seconds / _ROUND_S)):
        findings += spooling.round(number)
    try:
        counted = storm.run()
    except StandfastError as error:
        damaged = f"wrong the journal cannot be read afterwards: {error.problem}"
        done = (storm.acknowledged, storm.killed, storm.busy, 0, spooling.kept)
        return Counted(*done, storm.fairness, 0, 0, 0, [*findings, damaged])
    findings += [f"{words} (seed {seed})" for words in broken(counted)]
    return Counted(
        facts=counted.acknowledged,
        kills=counted.kills,
        busy=counted.busy,
        taken_over=counted.taken_over,
        spooled=spooling.kept,
        fairness=counted.fairness,
        p50_ms=counted.p50_ms,
        p99_ms=counted.p99_ms,
        slowest_ms=counted.slowest_ms,
        findings=findings,
    )


def broken(counted: Storms) -> list[str]:
    """Which promises a storm found broken."""
    found = (
        (counted.lost, f"lost {counted.lost} acknowledged facts"),
        (counted.repeated, f"wrong {counted.repeated} facts are there twice"),
        (counted.id_gaps, "wrong ids have gaps"),
        (counted.stale, f"wrong {counted.stale} facts were written under a void token"),
        (counted.busy, f"wedged {counted.busy} times somebody was told to come again"),
        (counted.fairness >= FAIR, f"wedged one wrote {counted.fairness:.1f} facts for another's"),
    )
    return [words for wrong, words in found if wrong] + [
        f"wrong {problem}" for problem in counted.problems
    ]


def _teller(tell: Callable[[str], None]) -> Callable[[Storm], None]:
    told = 0

    def watch(storm: Storm) -> None:
        nonlocal told
        if storm.acknowledged >= told + _TELL_EVERY:
            told = storm.acknowledged
            tell(f"{told:,} facts acknowledged, {storm.killed} kills")

    return watch
