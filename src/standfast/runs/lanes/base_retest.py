"""Testing what will land, where the base moved since the lane's tests: before any branch moves.

Each run is an effect under a number of its own, found again after a death like the tests before it.
It takes place in the lane's worktree, which holds what will land; the base alone is tested in a
place of its own (baseline.py), so that nothing of the lane is moved for that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast.effects.rules import is_killed
from standfast.git.snapshot import tree_of
from standfast.protocols.checkpoints.rules import checkpoint as cp
from standfast.runs import baseline
from standfast.runs.lanes import clean_worktree, worktree_setup
from standfast.runs.lanes.failures import Failure, failed
from standfast.runs.lanes.lane_commands import check
from standfast.runs.lanes.lane_context import leave, log, recording, step
from standfast.runs.lanes.lane_start import see_to_the_dead, see_to_worktree
from standfast.runs.lanes.pre_pr import block
from standfast.runs.records import lane_records as told
from standfast.runs.rules import lane_steps, prompt, retest_rules
from standfast.runs.rules.lane_steps import BEGUN, BLOCKED, FAILED, OK, RETEST, SETUP, Do, Next
from standfast.runs.rules.retest_rules import ALONE, FIRST, Landing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from standfast.effects.effect_folder import Folder
    from standfast.effects.rules import Ended
    from standfast.runs.lanes.lane_context import Work
    from standfast.runs.rules.lane_steps import Standing, Step

_REMEDIES = {
    ALONE: "Mend the base branch, then resume the lane.",
}
_LOOK = "Look at the end of its log, see to what is named, then resume the lane."


def passes(work: Work, base: str, head: str) -> bool:
    """Test what will land until it is known whether it may; False where something else is due."""
    if not retest_rules.is_wanted(work.spec):
        return True
    found = _landing(work, base, head)
    while True:
        facts = retest_rules.due(work.standing(), found)
        if facts is None:
            return True
        _begin(work, facts)
        if not finish(work):
            return False


def is_begun(lane: Standing) -> bool:
    """Whether a run was begun of which nobody has told yet how it ended."""
    return RETEST in lane.steps and lane.steps[RETEST].state == BEGUN


def finish(work: Work) -> bool:
    """Let the run that was begun come to its end; False where something else is due before it."""
    lane = work.standing()
    begun = lane.steps[RETEST]
    if begun.facts["which"] == ALONE:
        error, ended = baseline.alone(work, begun.facts["base"]), None
    else:
        if not _is_ready(work, lane, begun):
            return False
        ended = _tested(work, lane, begun)
        error = None if ended is None or ended.is_ok else _words(work, ended)
        if ended is not None and is_killed(ended):
            said = f"its tests were {lane_steps.KILLED}: {error}"
            _stop(work, begun, {**begun.facts, "error": said})
    return _follow(work, lane, begun, error, ended)


def _landing(work: Work, base: str, head: str) -> Landing:
    lane, git = work.standing(), work.git
    tested = git.resolve(str(lane.marks[cp.TESTED].record.get("head_sha") or head))
    return Landing(base, head, tree_of(git, head), tree_of(git, tested) if tested else "")


def _begin(work: Work, facts: Mapping[str, str]) -> None:
    number = told.last_number(work.journal, work.spec, RETEST) + 1
    with recording(work) as tx:
        step(work, tx, RETEST, number, BEGUN, facts)
    which = "" if facts["which"] == FIRST else f", {facts['which']}"
    where = f"{facts['head'][:12]} on {work.spec.base} {facts['base'][:12]}{which}"
    log(work, "retest_start", notes=where)


def _is_ready(work: Work, lane: Standing, begun: Step) -> bool:
    """The worktree is there; before a repetition it is prepared anew, as the base may ask it."""
    if not see_to_worktree(work, lane):
        return False
    see_to_the_dead(work, lane, RETEST, begun.number)
    if not work.spec.is_prepared or begun.facts["which"] == FIRST:
        return True
    setup = lane.steps.get(SETUP)
    if setup is not None and setup.state == OK and setup.seq > begun.seq:
        return True
    worktree_setup.prepare(work, lane, Next(Do.PREPARE_TREE, step=SETUP))
    return work.standing().steps[SETUP].state == OK


def _tested(work: Work, lane: Standing, begun: Step) -> Ended | None:
    """Run them on exactly what would land: whatever ran there before has left nothing to see."""
    said = {"STANDFAST_HEAD": begun.facts["head"]}

    def ready(_: Folder) -> None:
        clean_worktree.clean(work, lane)

    ended = check(work, RETEST, begun.number, work.spec.test, said, ready)
    if ended is not None and ended.how == "cancelled":
        leave(work, RETEST, begun.number, {"error": _words(work, ended)})
    return ended


def _words(work: Work, ended: Ended) -> str:
    return prompt.how_it_ended(work.spec.test, ended)


def _follow(
    work: Work, lane: Standing, begun: Step, error: str | None, ended: Ended | None
) -> bool:
    """Tell how it ended; whether the next run, or the merge, may follow."""
    verdict = retest_rules.after(work.spec, begun.facts, error)
    if verdict.state == BLOCKED:
        _stop(work, begun, verdict.facts)
    words = verdict.facts.get("flaky") or error
    status = None if ended is None else ended.status
    log(work, "retest_done", "error" if error else "ok", exit_code=status, notes=words)
    if verdict.state != FAILED:
        with recording(work) as tx:
            step(work, tx, RETEST, begun.number, verdict.state, verdict.facts)
        return True
    said = {"head_sha": begun.facts["head"], "target_branch": work.spec.base,
            "notes": verdict.facts["error"]}  # fmt: skip
    failure = Failure(RETEST, begun.number, verdict.facts, cp.PRE_PR, said, ended)
    log(work, "lane_blocked", "error", notes=failure.error)
    failed(work, lane, work.spec.tasks[-1], failure)
    return False


def _stop(work: Work, begun: Step, facts: Mapping[str, str]) -> None:
    with recording(work) as tx:
        step(work, tx, RETEST, begun.number, BLOCKED, facts)
    remedy = _REMEDIES.get(facts["which"], _LOOK)
    block(work, facts["head"], facts["error"], event="lane_blocked", remedy=remedy)
