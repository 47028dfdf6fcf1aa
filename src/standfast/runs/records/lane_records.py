"""Lanes in the journal: what each is to do, and the newest word about each of its steps.

What a lane is to do is a cell, and so is each step; the checkpoints beside them are the protocol's
own records. Both are written in one transaction, so that neither is ever ahead of the other.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from standfast.errors.base import NothingFound
from standfast.errors.lanes import NothingToStart
from standfast.journal import id_file, questions
from standfast.journal.author import Author
from standfast.plans import lane_spec
from standfast.protocols.checkpoints.records import checkpoint_records as recorded
from standfast.protocols.checkpoints.rules import checkpoint as cp
from standfast.runs.records import rollback_records
from standfast.runs.rules import lane_steps
from standfast.runs.rules.lane_steps import Mark, Standing, Step
from standfast.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from standfast.journal.store import Journal
    from standfast.journal.transaction import Writing
    from standfast.plans.lane_spec import Spec

SPECIFIED, STEP = "lane.specified", "lane.step"
# Lanes whose last word is not that they were put away: all the others are done for good.
_OPEN = """
SELECT value FROM cells AS lane WHERE key >= 'lane:' AND key < 'lane;' AND NOT EXISTS (
  SELECT 1 FROM cells AS gone WHERE gone.key = 'lane.step:' || substr(lane.key, 6) || '/' || ?
  AND NOT EXISTS (
    SELECT 1 FROM cells AS later WHERE +later.seq > gone.seq AND (
      later.key = 'rollback:' || substr(lane.key, 6)
      OR later.key BETWEEN 'lane.step:' || substr(lane.key, 6) || '/'
                       AND 'lane.step:' || substr(lane.key, 6) || '0'
      OR later.key BETWEEN 'checkpoint:' || substr(lane.key, 6) || '/'
                       AND 'checkpoint:' || substr(lane.key, 6) || '0')))
ORDER BY seq
"""
# The newest base that a lane of the run began with; the newest commit that a merge of ours made.
_BEGUN_AT = """
SELECT value ->> 'base_sha' FROM cells WHERE key >= ? AND key < ? AND key LIKE '%/before_lane_start'
AND value ->> 'base_sha' > '' AND value ->> 'base_branch' = ? AND seq > ? ORDER BY seq DESC LIMIT 1
"""
_MERGED_AS = """
SELECT merge.value ->> '$.facts.new' FROM cells AS merge JOIN cells AS landed
ON landed.key = 'checkpoint:' || substr(merge.key, 11, length(merge.key) - 16) || '/pre_pr'
WHERE merge.key >= 'lane.step:' AND merge.key < 'lane.step;' AND merge.key LIKE '%/merge'
AND merge.value ->> '$.facts.base' = ? AND merge.seq > ? AND landed.seq > merge.seq
AND landed.value ->> 'status' = 'complete' ORDER BY merge.seq DESC LIMIT 1
"""
# Every base that a lane of the run began with; every commit that merges of ours moved a base to.
_BEGINNINGS = """
SELECT value ->> 'base_sha' FROM cells WHERE key >= ? AND key < ? AND key LIKE '%/before_lane_start'
AND value ->> 'base_branch' = ?
"""
_MERGES = """
SELECT value ->> '$.facts.new' FROM cells WHERE key >= 'lane.step:' AND key < 'lane.step;'
AND key LIKE '%/merge' AND value ->> '$.facts.base' = ?
"""
_ACCEPTED = """
SELECT value ->> '$.facts.base', seq FROM cells WHERE key >= ? AND key < ? AND key LIKE '%/base'
AND value ->> '$.facts.branch' = ? ORDER BY seq DESC LIMIT 1
"""
_SETTINGS = """
SELECT key, value ->> '$.facts' FROM cells WHERE key >= ? AND key < ? AND key LIKE ? ORDER BY seq
"""
_FIRST = "SELECT min(seq) FROM cells WHERE key >= ? AND key < ?"


def specify(tx: Writing, spec: Spec, author: Author) -> None:
    """Record what a lane is to do; nothing of one that is new can have been done before."""
    name = "/".join(spec.names)
    if not tx.execute("SELECT 1 FROM cells WHERE key = ?", (f"lane:{name}",)):
        refuse_done(tx, name)
    tx.append(SPECIFIED, spec.as_dict(), _of_run(author, spec))


def refuse_done(tx: Writing, name: str) -> None:
    """A journal that came from elsewhere may tell of commands of a run or lane nobody has begun."""
    for kind in ("intended", "ended", "settled", "asked"):
        first = f"effect.{kind}:lane/{name}"
        rows = tx.execute(
            "SELECT 1 FROM cells WHERE key >= ? AND key < ? LIMIT 1", (f"{first}/", f"{first}0")
        )  # `0` follows `/`
        if rows:
            raise NothingToStart(
                f"the journal tells of commands of {printable(name)}, which nobody has begun",
                remedy="It came with the directory: look at `standfast events`. Choose another"
                " name with `--run-id`.",
            )


def tell(
    tx: Writing,
    spec: Spec,
    step: str,
    number: int,
    state: str,
    author: Author,
    facts: Mapping[str, str] | None = None,
) -> None:
    """Record that a step is begun, or how it ended."""
    names = {"run_id": spec.run_id, "phase": spec.phase, "lane": spec.lane}
    told = {**names, "step": step, "n": number, "state": state, "facts": dict(facts or {})}
    tx.append(STEP, told, _of_run(author, spec))


def _of_run(author: Author, spec: Spec) -> Author:
    return Author(author.actor, run=spec.run_id, session=author.session, subdir=author.subdir)


def find(journal: Journal, names: Sequence[str]) -> Spec | None:
    """What a lane (run, phase, lane) is to do, if it is one of ours."""
    try:
        found = questions.cell(journal, f"lane:{'/'.join(names)}")
    except NothingFound:
        return None
    return None if found is None else _spec(journal, found[0])


def every(journal: Journal) -> list[Spec]:
    """Every lane of ours, the newest last."""
    rows = journal.query(
        "SELECT value FROM cells WHERE key >= 'lane:' AND key < 'lane;' ORDER BY seq"
    )
    return [_spec(journal, json.loads(str(row[0]))) for row in rows]


def _spec(journal: Journal, said: Mapping[str, Any]) -> Spec:
    """A lane as it was told; its repository may have been moved since."""
    spec = lane_spec.read(said)
    return spec._replace(worktree=id_file.here(journal, spec.worktree))


def original_of(journal: Journal, run_id: str, names: Iterable[Sequence[str]]) -> str | None:
    """Where the repository is that a run, or any of its lanes, was begun in, if this is a copy."""
    cells = [f"run:{run_id}", *(f"lane:{'/'.join((run_id, *name))}" for name in names)]
    found = (id_file.original_of(journal, cell) for cell in cells)
    return next((path for path in found if path is not None), None)


def of_run(journal: Journal, run_id: str) -> list[Spec]:
    """Every lane of one run."""
    try:
        rows = journal.query(
            "SELECT value FROM cells WHERE key >= ? AND key < ? ORDER BY seq",
            (f"lane:{run_id}/", f"lane:{run_id}0"),  # `0` follows `/`
        )
    except NothingFound:
        return []
    return [_spec(journal, json.loads(str(row[0]))) for row in rows]


def unfinished(journal: Journal) -> list[Spec]:
    """Every lane that may not be done; those that are cost next to nothing, however many."""
    rows = journal.query(_OPEN, (lane_steps.RETIRE,))
    return [_spec(journal, json.loads(str(row[0]))) for row in rows]


def standing(journal: Journal, spec: Spec) -> Standing:
    """How a lane stands; what a rollback undid is left out."""
    kept = recorded.own(journal, *spec.names)
    marks = {
        each.key.stage: Mark(each.status, each.seq, each.at, each.record)
        for each in kept
        if each.status != cp.ROLLED_BACK
    }
    return Standing(spec, marks, _steps(journal, spec))


def _steps(journal: Journal, spec: Spec) -> dict[str, Step]:
    prefix = f"lane.step:{'/'.join(spec.names)}/"
    try:
        rows = journal.query(
            "SELECT key, value, seq FROM cells WHERE key >= ? AND key < ?",
            (prefix, f"{prefix[:-1]}0"),  # `0` follows `/`
        )
    except NothingFound:
        return {}
    undone = _undone(journal, spec)
    found = {}
    for key, value, seq in rows:
        name, said = str(key).removeprefix(prefix), json.loads(str(value))
        if undone is not None and lane_steps.is_void(name, int(seq), *undone):
            continue
        found[name] = Step(int(said["n"]), str(said["state"]), int(seq), said["facts"])
    return found


def _undone(journal: Journal, spec: Spec) -> tuple[str, int] | None:
    """The stage that the last rollback went to, and when that was told."""
    told = rollback_records.last(journal, *spec.names)
    if told is None:
        return None
    cell = questions.cell(journal, f"rollback:{'/'.join(spec.names)}")
    return None if cell is None else (told.to_stage, cell[1])


def last_number(journal: Journal, spec: Spec, step: str) -> int:
    """How often a step was begun so far, rolled back or not: a number is used once."""
    found = questions.cell(journal, f"lane.step:{'/'.join(spec.names)}/{step}")
    return 0 if found is None else int(str(found[0]["n"]))


def last_seq(journal: Journal, names: Sequence[str]) -> int:
    """The newest word about a lane, or all of a run, of steps and of stages."""
    lane = "/".join(names)
    found = journal.query(
        "SELECT max(seq) FROM cells WHERE (key >= ? AND key < ?) OR (key >= ? AND key < ?)",
        (f"lane.step:{lane}/", f"lane.step:{lane}0", f"checkpoint:{lane}/", f"checkpoint:{lane}0"),
    )
    return int(found[0][0] or 0)


def known_bases(journal: Journal, spec: Spec) -> list[str]:
    """Commits that the base of a lane must hold: what its run began with, and merges since.

    A person's word that the base is as it should be counts for all that was before it. A run
    of which no lane has begun knows none: what was merged before may have been taken back.
    """
    run = f"checkpoint:{spec.run_id}"
    accepted, seq = _word_of_person(journal, spec)
    begun = journal.query(_BEGUN_AT, (f"{run}/", f"{run}0", spec.base, seq))
    first = journal.query(_FIRST, (f"{run}/", f"{run}0"))
    began = first[0][0]
    since = None if began is None else max(seq, int(began))  # nothing is after None
    merged = journal.query(_MERGED_AS, (spec.base, since))
    rows = [*begun, *merged, (accepted,)]
    return [str(row[0]) for row in rows if row[0]]


def beginnings(journal: Journal, spec: Spec) -> set[str]:
    """The commits of its base that lanes of this run began with."""
    run = f"checkpoint:{spec.run_id}"
    rows = journal.query(_BEGINNINGS, (f"{run}/", f"{run}0", spec.base))
    return {str(row[0]) for row in rows if row[0]}


def moved_to(journal: Journal, spec: Spec) -> set[str]:
    """Where merges of ours, and a person's word, have the base of a lane."""
    rows = [*journal.query(_MERGES, (spec.base,)), (accepted(journal, spec),)]
    return {str(row[0]) for row in rows if row[0]}


def settings(journal: Journal, run_id: str) -> dict[tuple[str, ...], Mapping[str, str]]:
    """What the lanes of a run have noted of the settings they share, rolled back or not."""
    prefix = f"lane.step:{run_id}/"
    try:
        rows = journal.query(_SETTINGS, (prefix, f"{prefix[:-1]}0", f"%/{lane_steps.CONFIG}"))
    except NothingFound:
        return {}
    return {
        tuple(str(key).removeprefix("lane.step:").split("/")[:3]): json.loads(str(facts))
        for key, facts in rows
    }


def accepted(journal: Journal, spec: Spec) -> str:
    """The base that a person has called as it should be, if one has."""
    return _word_of_person(journal, spec)[0]


def _word_of_person(journal: Journal, spec: Spec) -> tuple[str, int]:
    run = f"lane.step:{spec.run_id}"
    found = journal.query(_ACCEPTED, (f"{run}/", f"{run}0", spec.base))
    return (str(found[0][0]), int(found[0][1])) if found else ("", 0)
