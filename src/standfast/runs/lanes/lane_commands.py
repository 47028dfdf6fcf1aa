"""A command of a lane: the number of its run, the key of its effect, and what surrounds it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast import filesystems
from standfast.effects.effect_folder import Order
from standfast.effects.rules import is_killed
from standfast.effects.settlement import Effect
from standfast.git.armour import without_repository
from standfast.runs.lanes.lane_context import log, recording, see_to, step
from standfast.runs.records import lane_records as told
from standfast.runs.rules import lane_steps, prompt

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from standfast.effects.effect_folder import Folder
    from standfast.effects.rules import Ended
    from standfast.runs.lanes.lane_context import Work
    from standfast.runs.rules.lane_steps import Standing

_AGAIN = "-again"


def begin(
    work: Work,
    lane: Standing,
    name: str,
    event: str,
    task: str = "-",
    facts: Mapping[str, str] | None = None,
) -> int:
    """The number of the run that is due: of the one that is begun, or of a new one."""
    known = lane.steps.get(name)
    if known is not None and known.state == lane_steps.BEGUN:
        return known.number
    number = told.last_number(work.journal, work.spec, name) + 1
    with recording(work) as tx:
        step(work, tx, name, number, lane_steps.BEGUN, facts)
    log(work, event, task=task)
    return number


def key(work: Work, name: str, number: int) -> str:
    """What the effect of a step goes by."""
    return f"lane/{'/'.join(work.spec.names)}/{name}/{number}"


def keys(work: Work, name: str, number: int) -> tuple[str, ...]:
    """What the effects of one run go by: itself, and its repetition where that was killed."""
    return key(work, name, number), key(work, f"{name}{_AGAIN}", number)


def order(
    work: Work,
    name: str,
    number: int,
    argv: Sequence[str],
    said: Mapping[str, str],
    stdin: str = "",
) -> Order:
    """A command of the lane, run in its worktree."""
    spec, tree = work.spec, work.tree
    about = {
        "STANDFAST_RUN_ID": spec.run_id,
        "STANDFAST_PHASE": spec.phase,
        "STANDFAST_LANE": spec.lane,
        "STANDFAST_WORKTREE": spec.worktree,
        "PWD": spec.worktree,  # there are clients that believe it more than the folder they are in
    }
    if spec.port_base:
        about["STANDFAST_PORT_BASE"] = str(spec.port_base)
    return Order(
        key=key(work, name, number),
        argv=tuple(argv),
        cwd=spec.worktree,
        env={**without_repository(work.environ), **about, **said},
        timeout_s=spec.time_s,
        durable=(spec.worktree,),
        git=(str(tree.git_directory()), str(tree.common_directory())),
        stdin=stdin,
        mount=filesystems.mounted(spec.worktree),
    )


def check(
    work: Work,
    name: str,
    number: int,
    line: str,
    said: Mapping[str, str] | None = None,
    ready: Callable[[Folder], None] = lambda _: None,
) -> Ended | None:
    """Run tests or a setup, which may be run again; None where only a look at the world knows.

    A signal from outside, as of a system without memory left, says nothing of the work: then it is
    run once more, as another effect of the same number. *ready* is called before each.
    """
    ended = _checked(work, name, number, line, said or {}, ready)
    if ended is None or not is_killed(ended):
        return ended
    log(work, f"{name}_killed", "error", cmd=line,
        notes=f"{prompt.how_it_ended(line, ended)}: once more")  # fmt: skip
    return _checked(work, f"{name}{_AGAIN}", number, line, said or {}, ready)


def _checked(
    work: Work,
    name: str,
    number: int,
    line: str,
    said: Mapping[str, str],
    ready: Callable[[Folder], None],
) -> Ended | None:
    made = order(work, name, number, ("sh", "-c", line), said)
    kind = "setup" if name.startswith(lane_steps.SETUP) else "tests"
    return see_to(work, Effect(made, kind, repeatable=True, ready=ready))
