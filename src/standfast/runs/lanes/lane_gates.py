"""Quality gates of a lane: an agent in a role judges what passed the tests, and gives scores.

Below what is asked, its findings go to the lane's last task, then the tests and the gate follow
again. A critic only looks: whatever it changed is kept under a ref, taken out of the worktree, and
its run has failed. So nothing of it is committed as the lane's work, and no byte is lost.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from standfast.errors.base import StandfastError
from standfast.plans.lane_spec import Gate
from standfast.protocols.checkpoints.rules import checkpoint as cp
from standfast.protocols.resumption.rules.quality_gates import weigh
from standfast.runs.lanes import agent_calls, critic, pauses
from standfast.runs.lanes.agent_commits import amiss
from standfast.runs.lanes.critic import Run
from standfast.runs.lanes.failures import Failure, failed
from standfast.runs.lanes.lane_context import checkpoint, log, recording, step
from standfast.runs.lanes.lane_start import see_to_the_dead, see_to_worktree
from standfast.runs.lanes.lane_tests import is_new
from standfast.runs.records import lane_records as told
from standfast.runs.rules import spending
from standfast.runs.rules.lane_steps import BEGUN, OK, REVISE, TOLD_AS, of_gate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from standfast.effects.rules import Ended
    from standfast.formats.document_limits import Value
    from standfast.journal.transaction import Writing
    from standfast.protocols.resumption.rules.critic_scores import Judged
    from standfast.runs.lanes.lane_context import Work
    from standfast.runs.rules.lane_steps import Next, Standing

LONGEST_FINDINGS = 8_000


def judge(work: Work, lane: Standing, following: Next) -> None:
    """One run of the critic, and what follows from its scores."""
    gate = following.task
    assert isinstance(gate, Gate)  # noqa: S101  # for the type: decide names one
    if not see_to_worktree(work, lane):
        return
    if not pauses.is_begun(work, lane, gate) and is_new(work, lane):
        return
    pauses.refuse_more(work, lane, gate)
    run = _begin(work, lane, gate)
    see_to_the_dead(work, lane, gate.step, run.number)
    ended = critic.perform(work, lane, run)
    if pauses.is_put_off(work, work.standing(), gate, run.number, ended):
        return
    judged = _judged(work, run, ended)
    if isinstance(judged, str):
        _critic_failed(work, lane, run, judged, ended)
    else:
        _follow(work, run, judged, ended)


def _judged(work: Work, run: Run, ended: Ended | None) -> Judged | str:
    """What it says, or why that does not count."""
    error = (
        critic.changed(work, run) or agent_calls.failure_of(work, run.gate, ended) or amiss(work)
    )
    if error is not None:
        return error
    try:
        return critic.read(work, run)
    except StandfastError as wrong:
        return wrong.problem


def _begin(work: Work, lane: Standing, gate: Gate) -> Run:
    """The run that is due; how the worktree was is told before the critic can change anything."""
    known = lane.steps.get(gate.step)
    facts = dict(known.facts) if known is not None else {}
    if known is not None and pauses.is_begun(work, lane, gate):
        return Run(gate, known.number, facts)
    anew = {pauses.ANEW: facts[pauses.ANEW]} if pauses.is_anew(lane, gate) else {}
    said = {
        **pauses.waited(lane, gate),
        **of_gate(facts),
        **anew,  # or the next session that is gone would be the first again
        "head": str(work.tree.head()),
        "before": critic.state(work),
    }
    is_due = known is not None and known.state == BEGUN
    count = told.last_number(work.journal, work.spec, gate.step) + (not is_due)
    if not is_due or said != facts:
        with recording(work) as tx:
            step(work, tx, gate.step, count, BEGUN, said)
        log(work, "gate_start", task=gate.name)
    return Run(gate, count, said)


# What follows.


def _critic_failed(work: Work, lane: Standing, run: Run, error: str, ended: Ended | None) -> None:
    gate, words, name = (
        run.gate,
        f"gate {run.gate.name}: {error}",
        agent_calls.name_of(work, run.gate),
    )
    status = ended.status if ended else None
    log(work, "gate_failed", "error", gate.name, cmd=name, exit_code=status, notes=words)
    spent = spending.facts(ended._asdict()) if ended else {}
    facts = {"error": words, "failing": str(run.failing), **run.known, **spent}
    said: dict[str, Value] = {"last_command": name, "exit_code": status, "notes": words}
    said |= {"head_sha": run.facts["head"], "target_branch": work.spec.base}
    failed(work, lane, gate, Failure(gate.step, run.number, facts, cp.PRE_PR, said, ended))


def _follow(work: Work, run: Run, judged: Judged, ended: Ended | None) -> None:
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
              "file": critic.path_of(work, run)}  # fmt: skip
    _send_back(work, run, judged, about, is_last=iteration >= gate.iterations)


def _tell(work: Work, tx: Writing, run: Run, judged: Judged) -> dict[str, str]:
    """Tell the run of an iteration; gives what the gate is known by, for the ones after it."""
    known = work.gated(tx, run.gate, run.facts.get(TOLD_AS, ""), judged.scores)
    return {TOLD_AS: known} if known else {}


def _send_back(
    work: Work, run: Run, judged: Judged, about: Mapping[str, str], *, is_last: bool
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
