"""Plans in our own form: YAML in which only `lanes` is required. Pure.

The keys stand here, the values are looked at by yaml_page.py, and plan_schema.py says the same to
editors. Every mistake is a finding with its line; no plan is read by half.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from standfast import ids
from standfast.errors.base import StandfastError, WrongUsage
from standfast.formats.yaml_text import read_yaml
from standfast.plans import lane_spec
from standfast.plans.checks.owned_patterns import pattern
from standfast.plans.findings import Finding, quoted
from standfast.plans.model import (
    BUILDER,
    FIRST_PHASE,
    KEEP_GOING,
    MOST_LANES_AT_ONCE,
    ONLY_TASK,
    STOP,
    Gate,
    Lane,
    Limits,
    Phase,
    Plan,
    Task,
)
from standfast.plans.readers.yaml_page import Page

if TYPE_CHECKING:
    from standfast.formats.yaml_text import Path

LIMIT = 2 * 1024 * 1024
MOST_AT_ONCE = 100
MOST_ITERATIONS = 20
MOST_USD = 1_000_000

PLAN = (
    *("run", "base", "runner", "merge", "on_failure", "limits", "setup", "copy", "test"),
    *("retest", "pr", "pr_probe", "retries", "time", "phases", "lanes"),
)
LIMITS = ("lanes", "time", "cost_usd")
PHASE = ("name", "gates", "lanes")
GATE = ("role", "pass", "iterations", "runner", "prompt")
LANE = (
    *("after", "task", "tasks", "owns", "runner", "test", "setup"),
    *("merge", "retries", "time"),
)
TASK = ("prompt", "prompt_file", "after", "role", "runner", "outputs")


def read(data: bytes, name: str, *, run: str) -> tuple[Plan | None, list[Finding]]:
    """The plan, and what is wrong with it; *run* is its name if it says none."""
    twice: list[tuple[int, str]] = []
    try:
        document = read_yaml(data, name=name, limit=LIMIT, twice=twice)
    except StandfastError as error:
        return None, [Finding(error.line or 1, error.problem, error.remedy)]
    page = Page(document)
    page.findings += [Finding(line, problem) for line, problem in twice]
    if document.value is None:
        page.wrong((), "the plan is empty", "Write `lanes:` with a lane and what it is to do.")
        return None, page.findings
    return _plan(page, run), page.findings


def _plan(page: Page, run: str) -> Plan | None:
    page.mapping((), PLAN)
    if not page.is_mapping(()):
        return None
    if page.has(("run",)):
        run = page.checked(("run",), page.text(("run",)), ids.name, "the run")
    return Plan(
        run=run,
        phases=_phases(page),
        base=_base(page),
        runner=page.text(("runner",)),
        merge=page.choice(("merge",), lane_spec.MERGES, lane_spec.FF),
        retest=page.choice(("retest",), lane_spec.RETESTS, lane_spec.ALWAYS),
        on_failure=page.choice(("on_failure",), (KEEP_GOING, STOP), KEEP_GOING),
        limits=_limits(page),
        setup=page.text(("setup",), may_be_empty=True),
        copy=_paths(page, ("copy",), "the file to copy"),
        test=page.text(("test",), may_be_empty=True),
        pr=page.text(("pr",)),
        pr_probe=page.text(("pr_probe",)),
        retries=page.whole(("retries",), 0, lane_spec.MOST_RETRIES) or 0,
        time_s=page.time(("time",)),
        said=_said(page, (), ("runner", "setup", "test", "pr", "pr_probe", "copy")),
    )


def _base(page: Page) -> str:
    found = page.text(("base",))
    try:
        lane_spec.refuse_branch(found or "none")
    except WrongUsage as error:
        page.wrong(("base",), error.problem, error.remedy)
    return found


def _limits(page: Page) -> Limits:
    at: Path = ("limits",)
    if not page.has(at):
        return Limits()
    page.mapping(at, LIMITS)
    cost = page.number((*at, "cost_usd"), 0, MOST_USD)
    return Limits(
        lanes=page.whole((*at, "lanes"), 1, MOST_AT_ONCE) or MOST_LANES_AT_ONCE,
        time_s=page.time((*at, "time")),
        cost_usd=None if cost is None else Decimal(str(cost)),
    )


def _phases(page: Page) -> tuple[Phase, ...]:
    """The phases that are named, or the one that holds the lanes of a plan without any."""
    if page.has(("phases",)) and page.has(("lanes",)):
        page.wrong(("lanes",), "`lanes` stands beside `phases`", "Put the lanes into a phase.")
    if page.has(("lanes",)):
        return (Phase(FIRST_PHASE, _lanes(page, ("lanes",)), line=page.line(("lanes",))),)
    if not page.has(("phases",)):
        page.wrong((), "there are no `lanes`", "Write `lanes:` with a lane and what it is to do.")
        return ()
    found = page.mapping(("phases",))
    if not found and page.get(("phases",)) == {}:
        page.wrong(("phases",), "there is no phase", "Name one, with its `lanes`.")
    return tuple(_phase(page, ("phases", name)) for name in found)


def _phase(page: Page, at: Path) -> Phase:
    name = page.name(at, "the phase")
    page.mapping(at, PHASE)
    gates = page.mapping((*at, "gates")) if page.has((*at, "gates")) else {}
    if not page.has((*at, "lanes")) and page.is_mapping(at):
        page.wrong(at, f"the phase {quoted(at[-1])} has no `lanes`")
    return Phase(
        name,
        _lanes(page, (*at, "lanes")),
        title=page.text((*at, "name")),
        gates=tuple(_gate(page, (*at, "gates", each)) for each in gates),
        line=page.line(at),
    )


def _gate(page: Page, at: Path) -> Gate:
    name = page.name(at, "the gate")
    page.mapping(at, GATE)
    if page.is_mapping(at) and not page.has((*at, "role")):
        page.wrong(at, f"the gate {quoted(at[-1])} has no `role`", "Name who gives the scores.")
    least = page.number((*at, "pass"), 0, 1)
    return Gate(
        name,
        role=_role(page, (*at, "role")),
        least=Gate._field_defaults["least"] if least is None else Decimal(str(least)),
        iterations=page.whole((*at, "iterations"), 1, MOST_ITERATIONS)
        or Gate._field_defaults["iterations"],
        runner=page.text((*at, "runner")),
        prompt=page.text((*at, "prompt")),
        line=page.line(at),
        said=_said(page, at, ("runner", "prompt")),
    )


def _lanes(page: Page, at: Path) -> tuple[Lane, ...]:
    if not page.has(at):
        return ()
    found = page.mapping(at)
    if page.get(at) == {}:
        page.wrong(at, "there is no lane", "Name one, and say what it is to do.")
    return tuple(_lane(page, (*at, name)) for name in found)


def _lane(page: Page, at: Path) -> Lane:
    name = page.name(at, "the lane")
    if isinstance(page.get(at), str):
        only = Task(ONLY_TASK, prompt=page.text(at), line=page.line(at))
        return Lane(name, (only,), line=page.line(at))
    page.mapping(at, LANE)
    owns = page.texts((*at, "owns"))
    after, said = _after(page, at)
    said |= {f"owns {each}": page.line(where) for each, where in owns}
    return Lane(
        name,
        _tasks(page, at),
        after=after,
        owns=tuple(page.checked(where, each, pattern, "the pattern") for each, where in owns),
        runner=page.text((*at, "runner")),
        test=page.optional((*at, "test")),
        setup=page.optional((*at, "setup")),
        merge=page.choice((*at, "merge"), lane_spec.MERGES, ""),
        retries=page.whole((*at, "retries"), 0, lane_spec.MOST_RETRIES),
        time_s=page.time((*at, "time")),
        line=page.line(at),
        said={**said, **_said(page, at, ("runner", "test", "setup"))},
    )


def _tasks(page: Page, at: Path) -> tuple[Task, ...]:
    one, many = (*at, "task"), (*at, "tasks")
    if page.has(one) and page.has(many):
        page.wrong(one, "`task` stands beside `tasks`", "Put it among the tasks.")
    if page.has(one):
        return (Task(ONLY_TASK, prompt=page.text(one), line=page.line(one)),)
    if not page.has(many):
        if page.is_mapping(at):
            page.wrong(at, f"the lane {quoted(at[-1])} has no `task`", "Say what it is to do.")
        return ()
    found = page.mapping(many)
    if page.get(many) == {}:
        page.wrong(many, "there is no task", "Name one, with its `prompt`.")
    return tuple(_task(page, (*many, name)) for name in found)


def _task(page: Page, at: Path) -> Task:
    name = page.name(at, "the task")
    if isinstance(page.get(at), str):
        return Task(name, prompt=page.text(at), line=page.line(at))
    page.mapping(at, TASK)
    if page.is_mapping(at) and page.has((*at, "prompt")) == page.has((*at, "prompt_file")):
        page.wrong(at, f"the task {quoted(at[-1])} needs either `prompt` or `prompt_file`")
    after, said = _after(page, at)
    return Task(
        name,
        prompt=page.text((*at, "prompt")),
        prompt_file=_path(page, (*at, "prompt_file")),
        after=after,
        role=_role(page, (*at, "role")) or BUILDER,
        runner=page.text((*at, "runner")),
        outputs=_outputs(page, (*at, "outputs")),
        line=page.line(at),
        said={**said, **_said(page, at, ("runner", "prompt", "prompt_file"))},
    )


def _role(page: Page, at: Path) -> str:
    found = page.text(at)
    return page.checked(at, found, ids.name, "the role") if found else ""


def _outputs(page: Page, at: Path) -> dict[str, str]:
    """The files that must be written, and how much each matters."""
    if not page.has(at):
        return {}
    tiers = tuple(lane_spec.TIERS)
    return {
        page.name((*at, each), "the output"): page.choice((*at, each), tiers, "critical")
        for each in page.mapping(at)
    }


def _after(page: Page, at: Path) -> tuple[tuple[str, ...], dict[str, int]]:
    """What it waits for, each once, and in which line it was said."""
    said: dict[str, int] = {}
    for each, where in page.texts((*at, "after")):
        if f"after {each}" in said:
            page.wrong(where, f"{quoted(each)} stands twice in `after`")
        elif not each.strip():
            page.wrong(where, "a name is empty")
        said.setdefault(f"after {each}", page.line(where))
    return tuple(key.removeprefix("after ") for key in said), said


def _path(page: Page, at: Path) -> str:
    found = page.text(at)
    return page.checked(at, found, ids.relative_path, "the file") if found else ""


def _paths(page: Page, at: Path, what: str) -> tuple[str, ...]:
    found = page.texts(at)
    return tuple(page.checked(where, each, ids.relative_path, what) for each, where in found)


def _said(page: Page, at: Path, parts: tuple[str, ...]) -> dict[str, int]:
    return {part: page.line((*at, part)) for part in parts if page.has((*at, part))}
