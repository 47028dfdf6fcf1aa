"""A usage limit parks a lane until its time: nothing failed, no retry is used, nothing is lost."""

import re
import subprocess
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lane_library as library
from fake_client import Client
from lane_runs import Lane, build
from standfast import clock
from standfast.errors.lanes import LaneFailed, LaneParked
from standfast.plans.lane_spec import Gate, Spec
from standfast.runs.rules import parking
from standfast.runs.rules.lane_steps import PARKED
from standfast.runs.rules.parking import LONGEST_US, MOST_PARKS, SLACK_US, is_due

SECOND = clock.MICROSECONDS
HOUR = 3600 * SECOND
GATE = Gate("quality", "critic", Decimal("0.9"))


class Time:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = clock.now_us()

    def in_seconds(self, ahead: int) -> int:
        return self.now // SECOND + ahead


@pytest.fixture
def time(monkeypatch: pytest.MonkeyPatch) -> Time:
    made = Time()
    monkeypatch.setattr(clock, "now_us", lambda: made.now)
    return made


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Client:
    made = Client(tmp_path)
    monkeypatch.setenv("LEDGER", str(made.ledger))
    return made


@pytest.fixture
def lane(world: Path, tmp_path: Path, client: Client) -> Lane:
    return build(tmp_path)


@pytest.fixture
def spec(lane: Lane, client: Client) -> Spec:
    return library.spec(lane, runner="claude", runners={"claude": client.runner()})


@pytest.mark.req("RUN-06")
def test_lane_waits_until_the_limit_ends_and_goes_on_in_its_session(
    lane: Lane, client: Client, spec: Spec, time: Time
) -> None:
    until = time.in_seconds(3600)
    client.does(f"limit {until}", "well")

    with pytest.raises(LaneParked, match="usage limit") as stopped:
        library.take_on(lane, spec)
    assert stopped.value.until_us == until * SECOND
    for asked in (False, True):
        with pytest.raises(LaneParked):
            library.take_on(lane, spec, asked=asked)
    assert len(client.calls()) == 1
    stands = library.standing(lane, spec)
    assert (stands.steps["task-one"].state, stands.retries, stands.failures) == (PARKED, 0, [])
    time.now = until * SECOND

    done = library.take_on(lane, spec)

    (_, session), (how, gone_on) = client.calls()
    assert (how, gone_on) == ("resumed", session)
    assert "was cut off" in client.prompt(2)
    assert (done.steps["task-one"].number, done.retries) == (2, 0)
    assert lane.show("main", "half.txt") == "half"


@pytest.mark.req("RUN-06")
def test_waiting_outlives_the_process_and_has_a_status_of_its_own(
    lane: Lane, client: Client, spec: Spec
) -> None:
    client.does(f"limit {clock.now_us() // SECOND + 3600}")

    done = [
        subprocess.run(library.argv(lane, spec), capture_output=True, encoding="utf-8", check=False)
        for _ in range(2)
    ]

    assert [each.returncode for each in done] == [LaneParked.exit_status] * 2
    assert "SF509" in done[1].stderr
    assert len(client.calls()) == 1


@pytest.mark.req("RUN-06")
def test_command_line_tells_of_a_lane_that_waits(lane: Lane, client: Client, spec: Spec) -> None:
    client.does(f"limit {clock.now_us() // SECOND + 3600}")
    with pytest.raises(LaneParked):
        library.take_on(lane, spec)

    status, unknown = lane.standfast("status"), lane.resume()  # nobody began it by a command
    (mark,) = re.findall(r"--trust ([0-9a-f]{64})", unknown.stderr)
    resumed = lane.resume("--trust", mark)

    assert "PARKED" in status.stdout
    assert "usage limit" in status.stdout
    assert resumed.returncode == LaneParked.exit_status
    assert "parked until" in resumed.stderr


@pytest.mark.req("RUN-06")
def test_limit_without_an_end_is_tried_again_later_and_later(
    lane: Lane, client: Client, spec: Spec, time: Time
) -> None:
    client.does(*["limit_untold"] * 6, "well")
    waits = []
    for _ in range(6):
        with pytest.raises(LaneParked) as stopped:
            library.take_on(lane, spec)
        assert stopped.value.until_us is not None
        waits.append((stopped.value.until_us - time.now) // (60 * SECOND))
        time.now = stopped.value.until_us

    library.take_on(lane, spec)

    assert waits == [5, 10, 20, 40, 60, 60]
    assert [how for how, _ in client.calls()] == ["new", *["resumed"] * 6]


@pytest.mark.req("RUN-06")
def test_limit_that_no_waiting_takes_away_needs_a_person_in_the_end(
    lane: Lane, client: Client, spec: Spec, time: Time
) -> None:
    """An account without credit says the same as one that is asked too often."""
    client.does(*["limit_untold"] * (MOST_PARKS + 1), "well")
    for _ in range(MOST_PARKS):
        with pytest.raises(LaneParked) as stopped:
            library.take_on(lane, spec)
        assert stopped.value.until_us is not None
        time.now = stopped.value.until_us
    with pytest.raises(LaneFailed, match=f"{MOST_PARKS + 1} times in a row"):
        library.take_on(lane, spec)
    time.now += 7 * 24 * HOUR
    with pytest.raises(LaneFailed):
        library.take_on(lane, spec)
    assert len(client.calls()) == MOST_PARKS + 1

    done = library.take_on(lane, spec, asked=True)

    assert done.retries == 0
    assert lane.show("main", "made.txt") == str(MOST_PARKS + 2)


@pytest.mark.sweep
@pytest.mark.req("RUN-06")
def test_limit_that_tells_its_end_is_waited_for_however_often(
    lane: Lane, client: Client, spec: Spec, time: Time
) -> None:
    ends = [time.in_seconds(3600 * hour) for hour in range(1, MOST_PARKS + 3)]
    client.does(*[f"limit {end}" for end in ends], "well")
    for end in ends:
        with pytest.raises(LaneParked) as stopped:
            library.take_on(lane, spec)
        assert stopped.value.until_us == end * SECOND
        time.now = end * SECOND
    library.take_on(lane, spec)


@pytest.mark.req("RUN-06")
def test_failure_after_a_limit_counts_as_a_failure_and_begins_anew(
    lane: Lane, client: Client, time: Time
) -> None:
    spec = library.spec(lane, runner="claude", runners={"claude": client.runner()}, retries=1)
    client.does(f"limit {time.in_seconds(60)}", "fails", "well")
    with pytest.raises(LaneParked):
        library.take_on(lane, spec)
    time.now += 60 * SECOND

    done = library.take_on(lane, spec)

    assert [how for how, _ in client.calls()] == ["new", "resumed", "new"]
    assert done.retries == 1


@pytest.mark.req("RUN-06")
def test_clock_that_was_set_back_makes_nobody_wait_for_ever(
    lane: Lane, client: Client, spec: Spec, time: Time
) -> None:
    client.does(f"limit {time.in_seconds(3600)}", "well")
    with pytest.raises(LaneParked):
        library.take_on(lane, spec)
    time.now -= 365 * 24 * HOUR

    library.take_on(lane, spec)

    assert len(client.calls()) == 2


@pytest.mark.req("RUN-06", "RUN-04")
def test_critic_that_meets_a_limit_parks_the_lane_and_goes_on(
    lane: Lane, client: Client, time: Time
) -> None:
    scores = ", ".join(f'\\"{name}\\": 1' for name in (
        "completeness", "internal_consistency", "methodological_rigor", "evidence",
        "actionability", "traceability"))  # fmt: skip
    writes = (
        f'printf "\\`\\`\\`json\\n{{{scores}}}\\n\\`\\`\\`\\nGood.\\n<!-- AGENT_COMPLETE -->\\n"'
        ' > "$STANDFAST_OUTPUTS/quality-scores.md"; init; result false done 0.1'
    )
    limit = f"init; result true 'usage limit reached|{time.in_seconds(60)}' 0.1; exit 1"
    client.does("well", limit, writes)
    spec = library.spec(lane, runner="claude", runners={"claude": client.runner()}, gates=(GATE,))
    with pytest.raises(LaneParked):
        library.take_on(lane, spec)
    with pytest.raises(LaneParked):
        library.take_on(lane, spec, asked=True)
    time.now += 60 * SECOND

    done = library.take_on(lane, spec)

    assert [how for how, _ in client.calls()] == ["new", "new", "resumed"]
    assert done.steps["gate-quality"].facts["iteration"] == "1"


@pytest.mark.req("RUN-10")
def test_limit_of_the_run_begins_no_agent_and_ends_none(
    lane: Lane, client: Client, spec: Spec
) -> None:
    client.does("well")
    with pytest.raises(LaneParked, match="cost limit") as stopped:
        library.take_on(lane, spec, may_begin=lambda: "the cost limit of the run is reached")
    assert stopped.value.until_us is None
    assert not client.ledger.exists()

    library.take_on(lane, spec)

    assert len(client.calls()) == 1


@pytest.mark.req("RUN-10")
def test_limit_of_the_run_also_holds_a_retry_that_was_only_counted(
    lane: Lane, client: Client
) -> None:
    spec = library.spec(lane, runner="claude", runners={"claude": client.runner()}, retries=1)
    client.does("fails", "fails")

    def may_begin() -> str:
        return "enough" if client.ledger.exists() else ""

    with pytest.raises(LaneParked, match="enough"):
        library.take_on(lane, spec, may_begin=may_begin)
    assert len(client.calls()) == 1
    with pytest.raises(LaneFailed):
        library.take_on(lane, spec)
    assert len(client.calls()) == 2


# Pure.


@given(
    now=st.integers(0, 4 * 10**15),
    told=st.integers(0, 4 * 10**9),
    parks=st.integers(0, 10**6),
    later=st.integers(-(4 * 10**15), 4 * 10**15),
)
def test_nobody_waits_longer_than_was_meant_whatever_the_clock_does(
    now: int, told: int, parks: int, later: int
) -> None:
    said = parking.facts({"limit": "x", "limit_until_s": told}, now, {"parks": str(parks)})
    until = int(said["until"])

    assert now < until <= now + LONGEST_US
    assert is_due(said, until)
    assert not is_due(said, now)
    if not is_due(said, later):
        assert 0 < until - later <= until - now + SLACK_US


@pytest.mark.parametrize("said", [{}, {"until": "x"}, {"until": "-5", "at": "²"}])
def test_facts_that_nobody_can_read_hold_nobody_up(said: dict[str, str]) -> None:
    assert is_due(said, 1)


def test_run_after_a_limit_knows_its_session_and_how_often_it_waited() -> None:
    said = parking.facts({"limit": "x", "session": "s"}, 5, {"parks": "2"})

    assert parking.carried(said) == {"parks": "3", "session": "s"}


def test_limit_whose_end_is_past_is_believed_once() -> None:
    """Whoever writes it down may have been dead until now; a client that tells it again is off."""
    past = {"limit": "x", "limit_until_s": 5}
    first = parking.facts(past, 1000 * SECOND)
    second = parking.facts(past, 1000 * SECOND, parking.carried(first))

    assert int(first["until"]) == 1010 * SECOND
    assert int(second["until"]) == 1600 * SECOND
