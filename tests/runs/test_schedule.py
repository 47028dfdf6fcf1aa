"""Which lanes begin next: pure, so that every rule can be seen alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from standfast.journal.payload import LIMIT, encode
from standfast.runs.rules.schedule import (
    Graph,
    Lane,
    Name,
    Outcome,
    Rules,
    State,
    decide,
    in_short,
    named,
    outcome,
)

A, B, C, D = ("P1", "a"), ("P1", "b"), ("P1", "c"), ("P2", "d")
DIAMOND = Graph([[A, B, C], [D]], {A: [], B: [A], C: [A], D: []})
EASY = Rules(4)


def lanes(**states: State) -> dict[Name, Lane]:
    every = {"a": A, "b": B, "c": C, "d": D}
    return {name: Lane(states.get(short, State.WAITING)) for short, name in every.items()}


@pytest.mark.req("RUN-03")
def test_lanes_begin_when_those_before_them_are_done() -> None:
    assert decide(DIAMOND, lanes(), EASY, 0).begin == (A,)
    assert decide(DIAMOND, lanes(a=State.RUNNING), EASY, 0).begin == ()
    assert decide(DIAMOND, lanes(a=State.DONE), EASY, 0).begin == (B, C)
    assert decide(DIAMOND, lanes(a=State.DONE, b=State.DONE), EASY, 0).begin == (C,)


@pytest.mark.req("RUN-03")
def test_a_phase_waits_for_the_one_before() -> None:
    two = {"a": State.DONE, "b": State.DONE}
    assert decide(DIAMOND, lanes(**two, c=State.RUNNING), EASY, 0).begin == ()
    assert decide(DIAMOND, lanes(**two, c=State.DONE), EASY, 0).begin == (D,)
    assert DIAMOND.waves() == {A: 1, B: 2, C: 2, D: 3}


@pytest.mark.req("RUN-03")
def test_no_more_at_once_than_was_said() -> None:
    graph = Graph([[A, B, C]], {A: [], B: [], C: []})
    found = {A: Lane(State.RUNNING), B: Lane(State.WAITING), C: Lane(State.WAITING)}
    assert decide(graph, found, Rules(2), 0).begin == (B,)
    assert decide(graph, found, Rules(1), 0).begin == ()


def test_failure_holds_back_only_those_that_wait_for_it() -> None:
    graph = Graph([[A, B, C], [D]], {A: [], B: [A], C: [], D: []})
    found = lanes(a=State.FAILED)
    following = decide(graph, found, EASY, 0)
    assert following.begin == (C,)
    assert graph.held(found) == {B: A, D: A}
    assert decide(graph, found, Rules(4, stops_at_failure=True), 0).is_over


def test_run_is_over_when_nothing_runs_and_nothing_will() -> None:
    assert not decide(DIAMOND, lanes(a=State.RUNNING), EASY, 0).is_over
    assert decide(DIAMOND, lanes(a=State.FAILED), EASY, 0).is_over
    done = dict.fromkeys("abcd", State.DONE)
    assert decide(DIAMOND, lanes(**done), EASY, 0).is_over


def test_stopping_begins_nothing_and_waits_for_what_runs() -> None:
    stopping = Rules(4, is_stopping=True)
    assert decide(DIAMOND, lanes(), stopping, 0) == ((), True)
    assert not decide(DIAMOND, lanes(a=State.RUNNING), stopping, 0).is_over


@pytest.mark.req("RUN-06")
def test_parked_lane_is_begun_again_when_its_time_has_come() -> None:
    found = {**lanes(), A: Lane(State.PARKED, until_us=100)}
    early, late = decide(DIAMOND, found, EASY, 99), decide(DIAMOND, found, EASY, 100)
    assert early == ((), False)
    assert late.begin == (A,)
    for_ever = {**lanes(), A: Lane(State.PARKED)}
    assert decide(DIAMOND, for_ever, EASY, 10**18).is_over, "only a person knows when"


@pytest.mark.req("RUN-11")
@pytest.mark.parametrize(
    ("states", "expected"),
    [
        (dict.fromkeys("abcd", State.DONE), Outcome.DONE),
        ({"a": State.NEEDS, "b": State.FAILED}, Outcome.NEEDS),
        ({"a": State.FAILED, "b": State.PARKED}, Outcome.FAILED),
        ({"a": State.PARKED}, Outcome.PARKED),
        ({"a": State.ENDED}, Outcome.STOPPED),
        ({"a": State.DONE}, Outcome.STOPPED),
    ],
)
def test_how_a_run_ended_is_said_by_its_worst_lane(
    states: dict[str, State], expected: Outcome
) -> None:
    assert outcome(lanes(**states)) is expected


@pytest.mark.req("CKP-12")
def test_one_phase_is_begun_alone_and_waits_for_no_other() -> None:
    alone = DIAMOND.only("P2")
    assert decide(alone, lanes(), EASY, 0).begin == (D,)
    assert decide(alone, lanes(a=State.FAILED, d=State.DONE), EASY, 0).is_over
    parked = {**lanes(d=State.DONE), A: Lane(State.PARKED, until_us=100)}
    assert decide(alone, parked, EASY, 0).is_over


def test_lane_of_another_phase_is_named_with_it() -> None:
    assert (named("P1", "a"), named("P2", "P1/a")) == (A, A)


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    names = [("P", str(number)) for number in range(draw(st.integers(1, 12)))]
    after = {
        name: draw(st.lists(st.sampled_from(names[:at]), unique=True, max_size=3)) if at else []
        for at, name in enumerate(names)
    }
    cut = draw(st.integers(0, len(names)))
    return Graph([names[:cut], names[cut:]], after)


@given(graphs(), st.integers(1, 4), st.data())
def test_every_lane_of_any_graph_is_begun_once_and_after_those_it_waits_for(
    graph: Graph, at_once: int, data: st.DataObject
) -> None:
    found = {name: Lane(State.WAITING) for name in graph.after}
    begun: list[Name] = []
    while not (following := decide(graph, found, Rules(at_once), 0)).is_over:
        for name in following.begin:
            assert all(found[each].state is State.DONE for each in graph.after[name])
            begun.append(name)
            found[name] = Lane(State.RUNNING)
        running = [name for name, lane in found.items() if lane.state is State.RUNNING]
        assert 0 < len(running) <= at_once
        found[data.draw(st.sampled_from(running))] = Lane(State.DONE)
    assert sorted(begun) == sorted(graph.after)
    assert outcome(found) is Outcome.DONE


@pytest.mark.parametrize("count", [0, 1, 100, 2000])
def test_why_lanes_stand_as_they_do_has_room_in_one_event(count: int) -> None:
    whys = {f"P1/lane-{number}": 'a "word"\n' * 9_000 for number in range(count)}

    short = in_short(whys)

    assert list(short) == list(whys)
    assert all("\n" not in line and line for line in short.values())
    assert len(encode({"needs": short, "parked": short})) < LIMIT


def test_phase_alone_waits_for_no_lane_of_another() -> None:
    first, second, third = ("P1", "a"), ("P2", "b"), ("P2", "c")
    graph = Graph([[first], [second, third]], {first: [], second: [first], third: [second]})

    assert graph.only("P2").after == {second: (), third: (second,)}
