"""A pull request: made once by the user's own command or by `gh`, and found if it was made.

A command that failed or whose end nobody saw is not simply run again: first it is asked whether
the request is there, in whatever state: a person may have merged it meanwhile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from standfast.effects.rules import Probe
from standfast.effects.settlement import Effect
from standfast.errors.base import GitFailed, StandfastError
from standfast.errors.lanes import LaneFailed
from standfast.git import outgoing_push
from standfast.git.armour import without_repository
from standfast.processes import programs
from standfast.protocols.checkpoints.rules import checkpoint as cp
from standfast.runs.lanes.lane_commands import order
from standfast.runs.lanes.lane_context import checkpoint, log, recording, see_to, step
from standfast.runs.lanes.pre_pr import complete, listed, ready
from standfast.runs.records import lane_records as told
from standfast.runs.rules import lane_steps, prompt

if TYPE_CHECKING:
    from standfast.runs.lanes.lane_context import Work
    from standfast.runs.rules.lane_steps import Standing

GH = (
    'gh pr create --head "$STANDFAST_BRANCH" --base "$STANDFAST_BASE" --title "$STANDFAST_TITLE"'
    ' --body "$STANDFAST_TITLE"'
)
GH_PROBE = (
    'found=$(gh pr list --head "$STANDFAST_BRANCH" --base "$STANDFAST_BASE" --state all'
    " --json headRefOid --jq '.[].headRefOid') || exit 2\n"
    'case "$found" in *"$STANDFAST_HEAD"*) exit 0 ;; esac\nexit 1'
)
_PROBE_S = 60.0
REMOTE = "origin"
_IS_THERE, _IS_NOT = 0, 1


def is_open(lane: Standing) -> bool:
    """Whether a request was begun and nobody knows yet how that ended."""
    known = lane.steps.get(lane_steps.PR)
    return known is not None and known.state == lane_steps.BEGUN


def request(work: Work, lane: Standing, base: str = "") -> None:
    """Make the request, unless it is there; the lane is done when it is.

    *base* is the commit that it was tested on; one that was begun is not begun anew.
    """
    number, head = _begin(work, lane, base)
    said = _about(work, head)
    if number > 1 and _probe(work, said) is Probe.DONE:
        complete(work, head, "the pull request was there already")
        return
    line = work.spec.pr or GH
    if not work.spec.pr:
        _push(work, lane, number, head)
        said |= work.git.environment()  # `gh` calls git where it stands
    made = order(work, lane_steps.PR, number, ("sh", "-c", line), said)
    effect = Effect(made, "pr", lambda: _probe(work, said))
    ended = see_to(work, effect)
    if ended is not None and not ended.is_ok:
        _fail(work, number, head, line, prompt.how_it_ended("the pull request", ended),
              ended.status)  # fmt: skip
    complete(work, head, f"pull request to {work.spec.base} made")
    log(work, "merge_done", cmd=line, notes=f"pull request of {head[:12]}")


def _begin(work: Work, lane: Standing, base: str) -> tuple[int, str]:
    """The number and the commit of the request that is due."""
    known = lane.steps.get(lane_steps.PR)
    if known is not None and known.state == lane_steps.BEGUN:
        return known.number, known.facts["head"]
    head = str(work.git.resolve(f"refs/heads/{work.spec.branch}"))
    number = told.last_number(work.journal, work.spec, lane_steps.PR) + 1
    commits = listed(work, base, head)
    with recording(work) as tx:
        ready(work, tx, head, base, commits)
        step(work, tx, lane_steps.PR, number, lane_steps.BEGUN, {"head": head})
    log(work, "merge_start", cmd=work.spec.pr or GH, notes=f"pull request of {head[:12]}")
    return number, head


def _about(work: Work, head: str) -> dict[str, str]:
    spec = work.spec
    return {
        "STANDFAST_BRANCH": spec.branch,
        "STANDFAST_BASE": spec.base,
        "STANDFAST_HEAD": head,
        "STANDFAST_TITLE": prompt.title(spec, spec.tasks[0]),
    }


def _probe(work: Work, said: dict[str, str]) -> Probe:
    """Ask whether the request is there; a command without such a question leaves it unknown."""
    line = work.spec.pr_probe or ("" if work.spec.pr else GH_PROBE)
    if not line:
        return Probe.UNKNOWN
    env = {**without_repository(work.environ), **said}
    if not work.spec.pr_probe:
        env |= work.git.environment()
    try:
        done = programs.run(("sh", "-c", line), cwd=work.root, env=env, timeout_s=_PROBE_S)
    except StandfastError:
        return Probe.UNKNOWN
    return {_IS_THERE: Probe.DONE, _IS_NOT: Probe.NOT_DONE}.get(done.status, Probe.UNKNOWN)


def _push(work: Work, lane: Standing, number: int, head: str) -> None:
    """Pushing the same commit twice is pushing it once: it needs no record of its own.

    What is there already may only be what an earlier request of this lane pushed.
    """
    ref = f"refs/heads/{work.spec.branch}"
    known = lane.steps.get(lane_steps.PR)
    before = known.facts.get("head", "") if known is not None else ""
    try:
        try:
            outgoing_push.push(work.git, REMOTE, head, ref, "", to=work.push_to)
        except GitFailed:
            if not before:
                raise
            outgoing_push.push(work.git, REMOTE, head, ref, before, to=work.push_to)
    except StandfastError as error:
        line = f"git push {REMOTE} {head}:{ref}"
        _fail(work, number, head, line, f"the branch could not be pushed: {error.problem}")


def _fail(
    work: Work, number: int, head: str, line: str, error: str, status: int | None = None
) -> NoReturn:
    with recording(work) as tx:
        step(work, tx, lane_steps.PR, number, lane_steps.FAILED, {"head": head, "error": error})
        checkpoint(work, tx, cp.PRE_PR, cp.FAILED, head_sha=head, target_branch=work.spec.base,
                   last_command=line, exit_code=status, notes=error)  # fmt: skip
    log(work, "lane_blocked", "error", cmd=line, exit_code=status, notes=error)
    raise LaneFailed(
        f"{'/'.join(work.spec.names)}: {error}",
        file=work.log_path,
        remedy="See to permissions and network, then resume the lane.",
    )
