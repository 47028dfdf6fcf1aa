"""Runs in the journal: what each is to do, and the newest word about it.

A run is told in one transaction with all its lanes, so that whoever resumes it needs no plan file.
Its lanes are lanes like any other (runs/records/lane_records.py); here is what holds them together.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from standfast.errors.base import NothingFound
from standfast.journal import questions
from standfast.runs.records import lane_records
from standfast.runs.rules.schedule import Graph, State, named

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from standfast.journal.author import Author
    from standfast.journal.store import Journal
    from standfast.journal.transaction import Writing
    from standfast.plans.lane_spec import Spec

PLANNED, TOLD = "run.planned", "run.told"
GOING, STOPPED, DONE, FORGOTTEN = "going", "stopped", "done", "forgotten"
# What its lanes came to in a call, where no step of theirs may say so: the facts of its last word.
WHYS = {State.NEEDS: "needs", State.PARKED: "parked", State.FAILED: "failed",
        State.ENDED: "ended"}  # fmt: skip


class Run(NamedTuple):
    """A run as it was planned."""

    run_id: str
    file: str  # the plan, as it was named
    digest: str
    base: str
    phases: tuple[tuple[str, str, tuple[tuple[str, tuple[str, ...]], ...]], ...]
    at_once: int
    stops_at_failure: bool
    time_s: float | None
    cost_usd: str
    is_plan: bool = True  # else lanes that were begun one by one: none waits for another
    at: int = 0  # µs

    @property
    def graph(self) -> Graph:
        """Which lane waits for which."""
        known = set(self.names)  # one phase by itself waits for none of the others
        after = {
            (phase, lane): [name for each in before if (name := named(phase, each)) in known]
            for phase, _, lanes in self.phases
            for lane, before in lanes
        }
        phases = [[(phase, lane) for lane, _ in lanes] for phase, _, lanes in self.phases]
        return Graph(phases if self.is_plan else [self.names], after)

    @property
    def names(self) -> list[tuple[str, str]]:
        """Phase and lane of each of its lanes, in the plan's order."""
        return [(phase, lane) for phase, _, lanes in self.phases for lane, _ in lanes]


class Word(NamedTuple):
    """The newest word about a run."""

    state: str = GOING
    facts: Mapping[str, Any] = {}
    seq: int = 0

    @property
    def stood(self) -> str:
        """Its state, or that of a run that was forgotten since."""
        return str(self.facts.get("before", self.state))


def plan(tx: Writing, run: Run, specs: Iterable[Spec], author: Author) -> None:
    """Record a run and what each of its lanes is to do."""
    lane_records.refuse_done(tx, run.run_id)
    told = run._asdict()
    del told["at"]
    tx.append(PLANNED, told, author.in_run(run.run_id))
    for spec in specs:
        lane_records.specify(tx, spec, author)


def tell(tx: Writing, run_id: str, state: str, author: Author, **facts: object) -> None:
    """Record how a run stands."""
    tx.append(TOLD, {"run_id": run_id, "state": state, "facts": facts}, author.in_run(run_id))


def as_it_stood(journal: Journal, run: Run, word: Word) -> dict[str, Any]:
    """The facts of a run that is stopped or forgotten after its end: they hold as they did.

    What was said of a lane that something became of since does not: it would look newer than that.
    """
    still = ["/".join(name) for name in run.names
             if lane_records.last_seq(journal, (run.run_id, *name)) <= word.seq]  # fmt: skip
    said = {key: word.facts.get(key, {}) for key in WHYS.values()}
    whys = {key: {name: each[name] for name in still if name in each} for key, each in said.items()}
    return {**word.facts, **whys}


def find(journal: Journal, run_id: str) -> Run | None:
    """A run that was planned."""
    try:
        rows = journal.query("SELECT value, at FROM cells WHERE key = ?", (f"run:{run_id}",))
    except NothingFound:
        return None
    return _read(*rows[0]) if rows else None


def every(journal: Journal) -> list[Run]:
    """Every run that was planned and is not forgotten, the newest last."""
    rows = journal.query(
        "SELECT value, at FROM cells WHERE key >= 'run:' AND key < 'run;' ORDER BY seq"
    )
    found = [_read(*row) for row in rows]
    return [run for run in found if word(journal, run.run_id).state != FORGOTTEN]


def forgotten(journal: Journal) -> set[str]:
    """The runs that nobody wants to hear of."""
    rows = journal.query(
        "SELECT substr(key, 10) FROM cells WHERE key >= 'run.told:' AND key < 'run.told;'"
        " AND value ->> 'state' = ?",
        (FORGOTTEN,),
    )
    return {str(row[0]) for row in rows}


def word(journal: Journal, run_id: str) -> Word:
    """The newest word about a run."""
    try:
        found = questions.cell(journal, f"run.told:{run_id}")
    except NothingFound:
        found = None
    if found is None:
        return Word()
    said: Mapping[str, Any] = found[0]
    return Word(str(said["state"]), said["facts"], found[1])


def _read(value: object, at: object) -> Run:
    said = json.loads(str(value))
    phases = tuple(
        (phase, title, tuple((lane, tuple(after)) for lane, after in lanes))
        for phase, title, lanes in said["phases"]
    )
    known = {name: said[name] for name in Run._fields if name in said}
    return Run(**{**known, "phases": phases, "at": int(str(at))})
