"""However often a plan names whom its tasks wait for, it is read in time, or refused by name."""

from collections.abc import Callable

import pytest

import ratios
from standfast.plans.findings import Finding, errors
from standfast.plans.readers import plan_reader

Plan = Callable[[int], bytes]


def team(words: Callable[[int, int], str], keys: str = "") -> Plan:
    """A team plan of so many tasks, each with what *words* says of those above it."""

    def of(tasks: int) -> bytes:
        said = (f"### {at}. T{at}\n- **{words(at, tasks)}\n{keys}" for at in range(1, tasks))
        return f"# P\n## Step by Step Tasks\n{''.join(said)}".encode()

    return of


def phase(tasks: int) -> bytes:
    lanes = (
        f"### SL-{at}: L\n- **Depends on**: {', '.join(f'SL-{of}' for of in range(1, at))}\n"
        f"- **Files owned**: `f{at}`\n"
        for at in range(1, tasks)
    )
    return f"# Phase P1: x\n## Swim Lanes\n{''.join(lanes)}".encode()


def above(mark: str) -> Callable[[int, int], str]:
    return lambda at, _: f"Depends On**: {', '.join(f'{mark}{of}' for of in range(1, at))}"


def read(data: bytes) -> list[Finding]:
    return plan_reader.read(data, "m.md")[1]


@pytest.mark.ratio
@pytest.mark.prove
@pytest.mark.parametrize(
    "plan",
    [
        team(above("")),
        team(above("x")),
        team(above(""), "- **Parallel**: false\n"),
        team(lambda at, last: f"Blocks**: {at}-{last - 1}"),
        phase,
    ],
    ids=["numbers", "nobody", "alone", "blocks", "lanes"],
)
def test_plan_of_twice_the_tasks_costs_no_more_than_twice_its_names_do(plan: Plan) -> None:
    """Each task names all above it: twice the tasks are four times the names."""
    few, many = plan(120), plan(240)

    times = ratios.summed(ratios.computed, lambda: read(many), lambda: read(few), turns=5)

    assert times < 5.5


@pytest.mark.req("SEC-01")
@pytest.mark.parametrize(
    "plan",
    [
        team(lambda at, _: f"Depends On**: {', '.join(['1-99'] * at)}"),
        team(lambda at, _: f"Depends On**: {', '.join(['all other tasks'] * at)}"),
        team(lambda at, _: f"Blocks**: {', '.join(['1-99'] * at)}"),
        lambda tasks: phase(tasks).replace(b"SL-1,", b"SL-1 to SL-99, " * 20),
    ],
    ids=["ranges", "all", "blocks", "lanes"],
)
def test_plan_is_refused_with_its_line_when_it_names_too_many(plan: Plan) -> None:
    (told,) = errors(read(plan(100)))

    assert "100,000" in told.problem
    assert told.line > 1


def test_words_that_stand_for_hundreds_of_tasks_are_told_in_short() -> None:
    plan = team(lambda at, _: "Depends On**: " + ("all previous tasks" if at > 1 else "none"))

    assert max(len(each.problem) for each in read(plan(300))) < 800
