"""Kill -9 between any two facts of a lane with setup, limits and gates: all of it happens once."""

import subprocess
from decimal import Decimal
from pathlib import Path

import pytest

import lane_library as library
from fake_client import Client, judges
from lane_kills import facts, killed_after
from lane_runs import Lane, build
from standfast import clock
from standfast.plans.lane_spec import Gate, Spec
from standfast.runs.rules import lane_steps

HOUR_S = 3600


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Client:
    made = Client(tmp_path)
    monkeypatch.setenv("LEDGER", str(made.ledger))
    until = clock.now_us() // clock.MICROSECONDS + HOUR_S
    critic_waits = f"init; result true 'usage limit reached|{until + 2 * HOUR_S}' 0.125; exit 1"
    made.does(f"limit {until}", "well", judges("0.5"), "well", critic_waits, judges("1"))
    return made


@pytest.fixture
def lane(world: Path, tmp_path: Path, client: Client) -> Lane:
    made = build(tmp_path)
    (made.repo / "key.log").write_text("key\n", encoding="utf-8")
    return made


@pytest.fixture
def spec(lane: Lane, client: Client) -> Spec:
    return library.spec(
        lane,
        runner="claude",
        runners={"claude": client.runner()},
        setup='echo setup >> "$LEDGER.rest"; echo dep > dep.log',
        copy=("key.log",),
        test='cat key.log dep.log > /dev/null && echo tests >> "$LEDGER.rest"',
        gates=(Gate("quality", "critic", Decimal("0.9")),),
        merge="no-ff",
    )


def assert_done_once(lane: Lane, client: Client) -> None:
    """Each call of the client, the setup and the tests, in turn and once."""
    assert [how for how, _ in client.calls()] == ["new", "resumed", "new", "new", "new", "resumed"]
    assert client.rest() == ["setup", "tests", "tests"]
    assert lane.show("main", "made.txt") == "2\n4"
    assert lane.git("rev-list", "--count", "main") == "4"  # two commits of work, and the merge
    assert lane.git("status", "--porcelain") == ""
    assert not lane.tree.exists()


@pytest.mark.sweep
@pytest.mark.req("RUN-04", "RUN-06", "RUN-09", "EFF-01")
def test_lane_killed_after_each_of_its_facts_is_prepared_parked_judged_and_landed_once(
    lane: Lane, client: Client, spec: Spec, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each life is killed when it has told a fact or two; those that park get more time.

    How it lands is tried in the same way by test_lane_kills.
    """
    argv, kills, parked = library.argv(lane, spec), 0, 0
    while lane_steps.REBASE not in library.standing(lane, spec).steps:
        if killed_after(lane, argv, facts(lane) + 1 + kills % 2):
            kills += 1
            continue
        states = {each.state for each in library.standing(lane, spec).steps.values()}
        assert lane_steps.PARKED in states
        parked += 1
        monkeypatch.setenv("LANE_AHEAD_S", str(2 * parked * HOUR_S))

    last = subprocess.run(argv, capture_output=True, encoding="utf-8", check=False)

    assert last.returncode == 0, last.stderr
    assert_done_once(lane, client)
    assert kills >= 20
    assert parked == 2
