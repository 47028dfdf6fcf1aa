"""What is in the journal after a storm, against what was promised in it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.writer import KIND, LEASE
from standfast.decisions import status_md
from standfast.faces import publish
from standfast.journal import questions
from standfast.journal.fallback import strays
from standfast.journal.store import Journal
from standfast.journal.verification import verify

if TYPE_CHECKING:
    from collections.abc import Iterable

    from harness.storm import Storm
    from standfast.journal.questions import Event


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """The count, and how long it took."""

    acknowledged: int
    recorded: int
    lost: int
    repeated: int
    id_gaps: int
    kills: int
    fairness: float  # most over fewest facts of the writers that were never killed
    problems: list[str]
    busy: int  # how often somebody was told that the journal is busy
    stale: int  # facts under a token that was void when they were written
    taken_over: int
    p50_ms: float  # from asking for an append to its answer
    p99_ms: float
    slowest_ms: float


def count(storm: Storm) -> Counted:
    """Take in what waits in the spool, then read everything."""
    journal = Journal(storm.folder)
    strays.merge(journal, [])
    events = list(questions.events(journal, questions.Filter()))
    recorded: dict[tuple[str | None, int], int] = {}
    ids: list[int] = []
    for event in events:
        if event.kind == KIND:
            fact = json.loads(event.payload)
            key = (event.session, fact["number"])
            recorded[key] = recorded.get(key, 0) + 1
            if "id" in fact:
                ids.append(int(fact["id"].partition("-")[2]))
    problems = [*storm.failures, *_faces(journal, storm), *verify(journal).problems]
    journal.close()
    promised = [(one.name, n) for one in storm.crew for n in range(1, one.acknowledged + 1)]
    latencies = sorted(took for one in storm.crew if one.role == "plain" for took in one.latencies)
    stale, taken = _leases(events)
    return Counted(
        acknowledged=len(promised),
        recorded=len(recorded),
        lost=sum(1 for fact in promised if fact not in recorded),
        repeated=_repeated(recorded, storm),
        id_gaps=0 if ids == list(range(1, len(ids) + 1)) else 1,
        kills=storm.killed,
        fairness=storm.fairness,
        problems=problems,
        busy=storm.busy,
        stale=stale,
        taken_over=taken,
        p50_ms=_at(latencies, 0.5),
        p99_ms=_at(latencies, 0.99),
        slowest_ms=_at(latencies, 1.0),
    )


def _repeated(recorded: dict[tuple[str | None, int], int], storm: Storm) -> int:
    """What the journal itself has twice.

    A fact in flight when its writer was killed is written again by its next life: that is the
    writer's doing, once per kill at most.
    """
    again = dict.fromkeys((one.name for one in storm.crew), 0)
    for (name, _), times in recorded.items():
        again[str(name)] = again.get(str(name), 0) + times - 1
    allowed = {one.name: one.lives - 1 for one in storm.crew if one.mortal}
    return sum(max(0, times - allowed.get(name, 0)) for name, times in again.items())


def _leases(events: Iterable[Event]) -> tuple[int, int]:
    """In the order of commits: who wrote under a token when a newer one was out already."""
    newest = stale = taken = 0
    for event in events:
        fact = json.loads(event.payload) if event.kind in {KIND, "lease.taken"} else {}
        if event.kind == "lease.taken" and fact["name"] == LEASE:
            taken += 1
            stale += fact["token"] != newest + 1
            newest = fact["token"]
        elif "token" in fact:
            stale += fact["token"] != newest
    return stale, taken


def _faces(journal: Journal, storm: Storm) -> list[str]:
    """Once more: whoever was killed may have left the last word to the next who publishes."""
    if "published" not in storm.roles:
        return []
    face = status_md.face(
        name=status_md.NAME, root=journal.folder, relative=status_md.FILE, in_git=False
    )
    publish.keep(journal, face)
    with open(face.path, "rb") as file:
        shown = file.read()
    right = status_md.render(questions.decisions(journal))
    wrong = [] if shown == right else ["the face does not show what the journal says"]
    return wrong + [
        f"event {event.seq} takes our own face for an edit: {event.payload}"
        for event in questions.events(journal, questions.Filter(kind="decision"))
        if event.origin and event.origin.startswith(status_md.FILE)  # nobody edits it in a storm
    ]


def _at(latencies: list[int], share: float) -> float:
    """Milliseconds that so large a share of all took at most."""
    if not latencies:
        return 0.0
    return latencies[min(len(latencies) - 1, int(share * len(latencies)))] / 1000
