"""Whatever happens in whatever order, the journal and its face keep their promises.

Hypothesis draws the steps and makes a failure small; a seed draws many more of them, faster. The
rules that are checked after every step stand in `harness.model`.
"""

from typing import ClassVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from harness.model.run import OPERATIONS, Model, run_model

PROMISES = pytest.mark.req("REL-01", "REL-03", "REL-08")


class Machine(RuleBasedStateMachine):
    """Any step at any time, each with choices of its own."""

    weighted: ClassVar[list[str]] = [
        name for name, weight in OPERATIONS.items() for _ in range(weight)
    ]

    def __init__(self) -> None:
        super().__init__()
        self.draw: st.DataObject | None = None
        self.model = Model(self.choose)

    def choose(self, below: int) -> int:
        if self.draw is None:  # the end of a life chooses nothing
            return 0
        return self.draw.draw(st.integers(0, below - 1))

    @rule(name=st.sampled_from(weighted), data=st.data())
    def step(self, name: str, data: st.DataObject) -> None:
        self.draw = data
        self.model.step(name)

    def teardown(self) -> None:
        self.draw = None
        try:
            self.model.close()
        finally:
            self.model.forget()


@PROMISES
def test_promises_are_kept_through_any_steps_that_hypothesis_finds() -> None:
    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=40,
            stateful_step_count=40,
            derandomize=True,
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


@pytest.mark.sweep(4)
@PROMISES
@pytest.mark.parametrize("seed", range(4))
def test_promises_are_kept_through_thousands_of_steps(seed: int) -> None:
    assert run_model(seed, 1_500) == 1_500
