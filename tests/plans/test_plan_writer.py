"""Whatever a plan says, written in our own form it reads back the same."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plan_samples import plan_of
from standfast.formats import durations
from standfast.plans import plan_writer
from standfast.plans.model import Gate, Lane, Limits, Phase, Plan, Task

pytestmark = pytest.mark.req("RUN-01")

TEXTS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=40
).filter(lambda text: bool(text.strip()))  # fmt: skip
TIMES = st.none() | st.integers(1, 604_800).map(float) | st.just(1.5)
RUNNERS = st.sampled_from(["", "claude", "codex", "shell"])
ROLES = st.sampled_from(["builder", "critic", "reviewer"])
TIERS = ["critical", "optional"]
MERGES = st.sampled_from(["ff", "no-ff", "pr", "none"])
NAMES = st.lists(
    st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_-]{0,8}", fullmatch=True).filter(
        lambda name: name.lower() not in {"con", "prn", "aux", "nul"}
        and not name.lower().startswith(("com", "lpt"))
    ),
    min_size=1, max_size=4, unique_by=str.lower,
)  # fmt: skip


@st.composite
def tasks(draw: Any) -> tuple[Task, ...]:
    made: list[Task] = []
    for name in draw(NAMES):
        after = draw(st.lists(st.sampled_from([each.name for each in made]), unique=True)) if made \
            else []  # fmt: skip
        text = {"prompt": draw(TEXTS)} if draw(st.booleans()) else {"prompt_file": "prompts/a.md"}
        outputs = draw(
            st.dictionaries(st.sampled_from(["a.md", "b.md"]), st.sampled_from(TIERS))
        )  # fmt: skip
        made.append(Task(name, after=tuple(after), role=draw(ROLES), runner=draw(RUNNERS),
                         outputs=outputs, **text))  # fmt: skip
    return tuple(made)


@st.composite
def lanes(draw: Any, phase: str, before: list[str]) -> tuple[Lane, ...]:
    made: list[Lane] = []
    for name in draw(NAMES):
        known = [*before, *(each.name for each in made), *(f"{phase}/{each.name}" for each in made)]
        after = draw(st.lists(st.sampled_from(known), unique=True)) if known else []
        only = (Task("task", prompt=draw(TEXTS)),)
        made.append(
            Lane(
                name,
                only if draw(st.booleans()) else draw(tasks()),
                after=tuple(after),
                owns=draw(st.sampled_from([(), (f"src/{name}/**",), (f"{name}/*.py", name)])),
                runner=draw(RUNNERS),
                test=draw(st.none() | st.just("") | TEXTS),
                setup=draw(st.none() | st.just("") | TEXTS),
                merge=draw(st.just("") | MERGES),
                retries=draw(st.none() | st.integers(0, 20)),
                time_s=draw(TIMES),
            )
        )
    return tuple(made)


@st.composite
def plans(draw: Any) -> Plan:
    phases: list[Phase] = []
    before: list[str] = []
    for name in draw(st.just(["P1"]) | NAMES):
        gates = draw(
            st.just(())
            | st.builds(
                Gate, st.just("QG-1"), ROLES, st.sampled_from([Decimal("0.92"), Decimal(1)]),
                st.integers(1, 20), RUNNERS, st.just("") | TEXTS,
            ).map(lambda gate: (gate,))
        )  # fmt: skip
        phase = Phase(name, draw(lanes(name, before)), title=draw(st.just("") | TEXTS), gates=gates)
        before += [f"{name}/{lane.name}" for lane in phase.lanes]
        phases.append(phase)
    return Plan(
        "some-run",
        tuple(phases),
        base=draw(st.sampled_from(["", "main", "feature/ü"])),
        runner=draw(RUNNERS),
        merge=draw(MERGES),
        on_failure=draw(st.sampled_from(["keep-going", "stop"])),
        limits=Limits(draw(st.integers(1, 100)), draw(TIMES),
                      draw(st.none() | st.decimals(0, 1000, places=2))),
        setup=draw(st.just("") | TEXTS),
        copy=draw(st.sampled_from([(), (".env",), ("a b", "c/d")])),
        test=draw(st.just("") | TEXTS),
        pr=draw(st.just("") | TEXTS),
        retries=draw(st.integers(0, 20)),
        time_s=draw(TIMES),
    )  # fmt: skip


def without_lines(plan: Plan) -> Plan:
    """A plan that does not know where it stood."""
    phases = tuple(
        phase._replace(
            line=0,
            gates=tuple(gate._replace(line=0, said={}) for gate in phase.gates),
            lanes=tuple(
                lane._replace(
                    line=0,
                    said={},
                    tasks=tuple(task._replace(line=0, said={}) for task in lane.tasks),
                )
                for lane in phase.lanes
            ),
        )
        for phase in plan.phases
    )
    return plan._replace(phases=phases, said={})


@given(plans())
def test_plan_that_was_written_reads_back_the_same(plan: Plan) -> None:
    assert without_lines(plan_of(plan_writer.write(plan).encode())) == plan


@given(st.integers(1, 604_800).map(float))
def test_time_that_was_written_reads_back_the_same(length_s: float) -> None:
    assert durations.seconds(durations.shown(length_s)) == length_s
