"""States are drawn from every call, never twice, and the same ones for the same seed."""

import pytest

from harness.faults.look import Seen
from harness.faults.power.disk_model import ROOT, SECTOR, Change, Moment, Write
from harness.faults.power.recording import Point, Recording
from harness.faults.power.recovery import Expected
from harness.faults.power.scripts import SCRIPTS
from harness.faults.power.states import draw, states
from harness.faults.world import World

pytestmark = pytest.mark.req("REL-02")
NOTHING = Seen({}, [], 0)


def point(nth: int, told: int, *changes: Change) -> Point:
    moment = Moment({7: bytes(SECTOR * 4)}, {(ROOT, "f"): 7}, {7: changes}, ())
    return Point(nth, moment, Expected(NOTHING, 1, (bool(told),)))


WRITES = tuple(Write(n + 1, n * SECTOR, bytes([n + 1]) * SECTOR) for n in range(4))


def recording(*points: Point) -> Recording:
    return Recording(SCRIPTS["note"], World("/nowhere/world", "/nowhere/tmp"), list(points), {}, {})


def test_every_mixture_of_four_sectors_is_found_and_none_of_them_twice() -> None:
    found: set[bytes | None] = set()
    for seed in range(5):
        drawn = [s.tree["f"] for s in states(recording(point(1, 0, *WRITES)), seed, budget=100)]
        assert len(set(drawn)) == len(drawn)
        found |= set(drawn)

    assert len(found) == 16


def test_equal_state_is_another_one_when_more_was_acknowledged() -> None:
    both = recording(point(1, 0, *WRITES[:1]), point(2, 1, *WRITES[:1]))

    drawn = {(state.point.nth, state.tree["f"]) for state in states(both, seed=1, budget=100)}

    assert len(drawn) == 4


def test_equal_state_with_equal_acknowledgements_is_tried_once() -> None:
    both = recording(point(1, 0, *WRITES[:1]), point(2, 0, *WRITES[:1]))

    assert len(list(states(both, seed=1, budget=100))) == 2


def test_budget_is_spread_over_all_calls() -> None:
    many = recording(*(point(n, 0, Write(1, 0, bytes([n]) * SECTOR)) for n in range(1, 31)))

    drawn = list(states(many, seed=1, budget=31))

    assert len(drawn) == 31
    assert {state.tree["f"] for state in drawn} >= {
        bytes([n]) * SECTOR + bytes(3 * SECTOR) for n in range(1, 31)
    }


def test_state_is_drawn_again_by_its_name() -> None:
    one = recording(point(0, 0, *WRITES))
    drawn = list(states(one, seed=5, budget=10))

    again = [draw(one, state.point.nth, state.number, 5) for state in drawn]

    assert again == drawn
    assert [s.tree for s in states(one, seed=6, budget=10)] != [s.tree for s in drawn]
