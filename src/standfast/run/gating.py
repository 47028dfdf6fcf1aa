"""Quality gates of a lane: an agent in a role judges what passed the tests, and gives scores.

Below what is asked, its findings go to the lane's last task, then the tests and the gate follow
again. A critic only looks: whatever it changed is kept under a ref, taken out of the worktree, and
its run has failed. So nothing of it is committed as the lane's work, and no byte is lost.
"""

from __future__ import annotations

import hashlib
import json
import os
from typing import TYPE_CHECKING, NamedTuple

from standfast import disk
from standfast.errors import StandfastError
from standfast.files import outputs as files
from standfast.git import ignored
from standfast.journal import lane_steps as told
from standfast.protocol import checkpoints as cp
from standfast.protocol import gate_scores, lane_prompt, outputs, runners, spending
from standfast.protocol.effects import Probe
from standfast.protocol.lane_spec import Gate
from standfast.protocol.lane_steps import BEGUN, OK, REVISE, TOLD_AS, of_gate
from standfast.protocol.parking import number
from standfast.protocol.quality_gates import weigh
from standfast.protocol.text import a_few
from standfast.run import agents, moving, parking
from standfast.run.commands import key
from standfast.run.landing import is_new
from standfast.run.starting import see_to_the_dead, see_to_worktree
from standfast.run.trying import amiss, failed
from standfast.run.working import checkpoint, log, recording, step

if TYPE_CHECKING:
    from collections.abc import Mapping

    from standfast.journal.writing import Writing
    from standfast.protocol.effects import Ended
    from standfast.protocol.gate_scores import Judged
    from standfast.protocol.lane_steps import Next, Standing
    from standfast.run.working import Work

LONGEST_FINDINGS = 8_000


class _Run(NamedTuple):
    """One run of a critic."""

    gate: Gate
    number: int
    facts: Mapping[str, str]

    @property
    def failing(self) -> int:
        """How many iterations were below what is asked."""
        return number(self.facts, "failing")

    @property
    def known(self) -> dict[str, str]:
        """What the gate is known by, once it has been told."""
        return {TOLD_AS: self.facts[TOLD_AS]} if TOLD_AS in self.facts else {}


def judge(work: Work, lane: Standing, following: Next) -> None:
    """One run of the critic, and what follows from its scores."""
    gate = following.task
    assert isinstance(gate, Gate)  # noqa: S101  # for the type: decide names one
    if not see_to_worktree(work, lane):
        return
    if not parking.is_begun(work, lane, gate) and is_new(work, lane):
        return
    parking.refuse_more(work, lane, gate)
    run = _begin(work, lane, gate)
    see_to_the_dead(work, lane, gate.step, key(work, gate.step, run.number))
    ended = _critic(work, lane, run)
    if ended is not None and parking.is_limited(ended):
        parking.park(work, work.standing(), gate, run.number, ended)
        return
    if parking.begun_anew(work, work.standing(), gate, run.number, ended):
        return
    error = None if ended is None or ended.is_ok else _how(work, gate, ended)
    error = _changed(work, run) or error or amiss(work)
    judged = None
    if error is None:
        try:
            judged = _read(work, run)
        except StandfastError as wrong:
            error = wrong.problem
    if judged is None:
        _critic_failed(work, lane, run, str(error), ended)
    else:
        _follow(work, run, judged, ended)


def _how(work: Work, gate: Gate, ended: Ended) -> str:
    return lane_prompt.how_it_ended(agents.name_of(work, gate), ended)


def _begin(work: Work, lane: Standing, gate: Gate) -> _Run:
    """The run that is due; how the worktree was is told before the critic can change anything."""
    known = lane.steps.get(gate.step)
    facts = dict(known.facts) if known is not None else {}
    if known is not None and parking.is_begun(work, lane, gate):
        return _Run(gate, known.number, facts)
    anew = {parking.ANEW: facts[parking.ANEW]} if parking.is_anew(lane, gate) else {}
    said = {
        **parking.waited(lane, gate),
        **of_gate(facts),
        **anew,  # or the next session that is gone would be the first again
        "head": str(work.tree.head()),
        "before": _state(work),
    }
    is_due = known is not None and known.state == BEGUN
    count = told.last_number(work.journal, work.spec, gate.step) + (not is_due)
    if not is_due or said != facts:
        with recording(work) as tx:
            step(work, tx, gate.step, count, BEGUN, said)
        log(work, "gate_start", task=gate.name)
    return _Run(gate, count, said)


# The critic.


def _folder(work: Work, run: _Run) -> str:
    return os.path.join(f"{work.spec.worktree}.outputs", f"{run.gate.step}-{run.number}")


def path_of(work: Work, run: _Run) -> str:
    """The file that it must write."""
    return os.path.join(_folder(work, run), f"{run.gate.name}-scores.md")


def _critic(work: Work, lane: Standing, run: _Run) -> Ended | None:
    path = path_of(work, run)
    disk.make_folders_beneath(work.root, os.path.relpath(path, work.root))
    text = lane_prompt.gate_prompt(work.spec, run.gate, path, run.facts.get("error", ""))
    runner = work.spec.runner_of(run.gate)
    if runner is not None and runners.takes_script(runner):
        text = run.gate.prompt
    said = {**agents.surroundings(lane, run.gate), "STANDFAST_OUTPUTS": _folder(work, run)}
    session = run.facts.get("session", "")
    given = agents.Run(work, run.gate, run.number, text, said, session, is_cut_off=bool(session))

    def probe() -> Probe:
        try:
            _read(work, run)
        except StandfastError:
            return Probe.UNKNOWN
        return Probe.DONE

    return agents.perform(given, probe)


def _read(work: Work, run: _Run) -> Judged:
    """The scores, from a file that is whole."""
    name = f"{run.gate.name}-scores.md"
    fault = files.look(_folder(work, run), name).fault
    if fault is not None:
        raise StandfastError(outputs.wrong(path_of(work, run), fault))
    data = disk.read_beneath(_folder(work, run), name, limit=outputs.LIMIT)
    return gate_scores.read(data.decode("utf-8", "replace"), name=name)


# What it changed.


def _state(work: Work) -> str:
    """A word that is another one when a file in the worktree is, or what is committed."""
    tree = work.tree
    shown = tree.read("status", "--porcelain", "-z", "--no-renames", "--untracked-files=all")
    rows = [row for row in os.fsdecode(shown).split("\0") if row and row[3:] not in work.spare]
    top = work.spec.worktree
    facts = [(row, ignored.look(os.path.join(top, row[3:]))) for row in rows]
    return hashlib.sha256(json.dumps([tree.head(), facts]).encode()).hexdigest()


def _changed(work: Work, run: _Run) -> str | None:
    """Take out of the worktree what the critic changed there, and say so."""
    if amiss(work) is not None or _state(work) == run.facts["before"]:
        return None
    kept = moving.set_aside(work, run.facts["head"])
    if kept is None:
        return None
    return (
        f"it is to judge, not to change the worktree: {a_few(kept.names) or 'commits'}"
        f" (taken out again, and kept as {kept.ref})"
    )


# What follows.


def _critic_failed(work: Work, lane: Standing, run: _Run, error: str, ended: Ended | None) -> None:
    gate, words = run.gate, f"gate {run.gate.name}: {error}"
    status = ended.status if ended else None
    log(work, "gate_failed", "error", gate.name, cmd=agents.name_of(work, gate), exit_code=status,
        notes=words)  # fmt: skip
    spent = spending.facts(ended._asdict()) if ended else {}
    kept = {"failing": str(run.failing), **run.known}
    failed(
        work, lane, gate, (gate.step, run.number, {"error": words, **kept, **spent}), cp.PRE_PR,
        {"last_command": agents.name_of(work, gate), "exit_code": status, "notes": words,
         "head_sha": run.facts["head"], "target_branch": work.spec.base},
        may_retry=ended is None or ended.how != "cancelled",
    )  # fmt: skip


def _follow(work: Work, run: _Run, judged: Judged, ended: Ended | None) -> None:
    """Pass it, or send it back, or ask a person."""
    gate, score, iteration = run.gate, weigh(judged.scores), run.failing + 1
    about = {
        "score": str(score),
        "scores": json.dumps({name: str(each) for name, each in judged.scores.items()}),
        "iteration": str(iteration),
        "head": run.facts["head"],
        **(spending.facts(ended._asdict()) if ended else {}),
    }
    if score >= gate.least:
        about["failing"] = str(run.failing)
        with recording(work) as tx:
            told_as = _tell(work, tx, run, judged)
            step(work, tx, gate.step, run.number, OK, {**about, **told_as})
        log(work, "gate_done", task=gate.name, notes=f"{score} in iteration {iteration}")
        return
    findings = judged.findings[:LONGEST_FINDINGS]
    about |= {"failing": str(iteration), "weakest": judged.weakest, "findings": findings,
              "file": path_of(work, run)}  # fmt: skip
    _send_back(work, run, judged, about, is_last=iteration >= gate.iterations)


def _tell(work: Work, tx: Writing, run: _Run, judged: Judged) -> dict[str, str]:
    """Tell the run of an iteration; gives what the gate is known by, for the ones after it."""
    known = work.gated(tx, run.gate, run.facts.get(TOLD_AS, ""), judged.scores)
    return {TOLD_AS: known} if known else {}


def _send_back(
    work: Work, run: _Run, judged: Judged, about: Mapping[str, str], *, is_last: bool
) -> None:
    gate, last = run.gate, work.spec.tasks[-1]
    asked = (
        f"gate {gate.name}: {about['score']}, {gate.least} is asked; weakest: {judged.weakest},"
        f" in iteration {about['iteration']} of {gate.iterations}"
    )
    with recording(work) as tx:
        told_as = _tell(work, tx, run, judged)
        step(work, tx, gate.step, run.number, REVISE, {**about, **told_as})
        if is_last:
            checkpoint(work, tx, cp.PRE_PR, cp.BLOCKED, head_sha=about["head"], notes=asked,
                       target_branch=work.spec.base)  # fmt: skip
        else:
            count = told.last_number(work.journal, work.spec, last.step) + 1
            step(work, tx, last.step, count, BEGUN)
    log(work, "gate_failed", "blocked" if is_last else "ok", gate.name, notes=asked)
