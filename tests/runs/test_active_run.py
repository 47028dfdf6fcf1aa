"""A run while it is taken on, with clocks that are moved by hand."""

import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Self

import pytest

import lane_library as library
from fake_client import Client
from lane_runs import Lane, build
from standfast import clock
from standfast.journal.author import USER
from standfast.journal.store import Journal
from standfast.plans.lane_spec import Spec
from standfast.runs.active_run import Around, Going
from standfast.runs.engines import local
from standfast.runs.engines.local import Engine
from standfast.runs.lanes.lane_context import Work
from standfast.runs.notification import Notifier
from standfast.runs.records import run_records
from standfast.runs.records.run_records import Run
from standfast.runs.rules.schedule import Name, State
from standfast.runs.section_updates import Documents

SECOND = clock.MICROSECONDS
DAY = 24 * 3600
NAME: Name = ("P1", "SL-1")


class Clocks:
    """The one on the wall, and the one that never jumps; both stand still until they are moved."""

    def __init__(self) -> None:
        self.wall_us = clock.now_us()
        self.passed_s = 0

    def monotonic_ns(self) -> int:
        return (self.passed_s + 1) * 10**9


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> Clocks:
    made = Clocks()
    monkeypatch.setattr(clock, "now_us", lambda: made.wall_us)
    monkeypatch.setattr(clock, "monotonic_ns", made.monotonic_ns)
    return made


@pytest.fixture
def lane(world: Path, tmp_path: Path) -> Lane:
    return build(tmp_path)


@pytest.fixture
def journal(lane: Lane) -> Iterator[Journal]:
    made = lane.journal()
    yield made
    made.close()


def going(lane: Lane, journal: Journal, *, time_s: float | None = None) -> Going:
    """A run of one lane, planned and looked at."""
    return begun(lane, journal, library.spec(lane), time_s)


def begun(lane: Lane, journal: Journal, spec: Spec, time_s: float | None = None) -> Going:
    run = Run("r1", "", "", "main", (("P1", "", (("SL-1", ()),)),), 4, False, time_s, "")
    with journal.writing() as tx:
        run_records.plan(tx, run, [spec], USER)

    def worker(journal: Journal, spec: Spec) -> Work:
        return library.work(lane, spec, journal)

    root = str(lane.repo)
    around = Around(root, Documents(root, "r1", USER, pytest.fail), Notifier(None, {}, USER))
    return Going(journal, run, worker, around)


@pytest.mark.req("RUN-10")
def test_clock_that_jumps_ends_no_run_whose_time_is_not_up(
    lane: Lane, journal: Journal, clocks: Clocks
) -> None:
    run = going(lane, journal, time_s=3600)
    clocks.wall_us += DAY * SECOND
    assert not run.rules().is_stopping
    clocks.passed_s += 3601
    assert run.rules().is_stopping


@pytest.mark.req("RUN-10")
def test_run_whose_time_is_up_is_not_told_to_pay_more(
    lane: Lane, journal: Journal, clocks: Clocks
) -> None:
    run = going(lane, journal, time_s=3600)
    clocks.passed_s += 3601
    assert run.rules().is_stopping

    found = run.take_on(NAME)

    assert found.state is State.PARKED
    assert "its time is up" in found.why
    assert "cost" not in found.remedy


@pytest.mark.req("RUN-06")
def test_clock_that_is_set_back_while_a_run_waits_makes_it_wait_no_longer(
    lane: Lane, journal: Journal, clocks: Clocks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = Client(tmp_path)
    monkeypatch.setenv("LEDGER", str(client.ledger))
    client.does(f"limit {clocks.wall_us // SECOND + 3600}", "well")
    run = begun(
        lane, journal, library.spec(lane, runner="claude", runners={"claude": client.runner()})
    )

    def by_the_way() -> None:
        """The clock is set right as soon as the lane waits; three looks are enough for anybody."""
        nonlocal looks
        if run.lanes[NAME].state is State.PARKED:
            looks += 1
            clocks.wall_us -= DAY * SECOND if looks == 1 else 0
            assert looks < 4, "it waits a day more"

    looks = 0
    Engine([run], by_the_way, lambda: None).run()

    assert run.is_done
    assert [how for how, _ in client.calls()] == ["new", "resumed"]


def lines() -> list[tuple[str, int]]:
    """Every line of the engine's own loop."""
    own = (Engine._go, Engine._begin, Engine._wait)
    return [
        (each.__name__, line)
        for each in own
        for line in sorted({line for *_, line in each.__code__.co_lines() if line})
        if line > each.__code__.co_firstlineno
    ]


class Interrupt:
    """Ctrl-C when a line is come to for the first time: signals are taken between any two."""

    def __init__(self, function: str, line: int) -> None:
        self._where = (local.__file__, function, line)
        self.came = False

    def __call__(self, frame: FrameType, event: str, _: object) -> Self | None:
        if frame.f_code.co_filename != local.__file__:
            return None
        if event == "line" and self._where[1:] == (frame.f_code.co_name, frame.f_lineno):
            self.came = True
            sys.settrace(None)
            raise KeyboardInterrupt
        return self


@pytest.mark.sweep(4)
@pytest.mark.req("RUN-05")
@pytest.mark.parametrize(("function", "line"), lines())
def test_interrupt_that_comes_anywhere_ends_a_run(
    lane: Lane, journal: Journal, function: str, line: int
) -> None:
    run, interrupt, looks = going(lane, journal), Interrupt(function, line), 0

    def by_the_way() -> None:
        nonlocal looks
        looks += interrupt.came
        assert looks < 20, "it waits for a lane that does not run"

    engine = Engine([run], by_the_way, lambda: None)
    sys.settrace(interrupt)
    try:
        engine.run()
    finally:
        sys.settrace(None)

    assert engine.was_interrupted or not interrupt.came
    assert run.lanes[NAME].state in (State.WAITING, State.ENDED, State.DONE)
