"""Kill -9 between any two facts of a lane that is red together: each run happens once."""

from decimal import Decimal
from pathlib import Path

import pytest

import lane_library as library
from fake_client import Client, judges
from lane_kills import killed_after
from lane_runs import LANE, Lane, build
from standfast.plans.lane_spec import Gate

# Moves the base the first time; told what is red together, it mends that.
AGENT = """echo "agent $STANDFAST_ATTEMPT" >> "$LEDGER"
echo made >> made.txt
case "$STANDFAST_FAILURE_CONTEXT" in
*"green alone, red on main"*) echo mended > mended.txt; exit ;;
esac
cd "$MAIN" && echo other > other.txt && git add other.txt && git commit -qm other
"""
# Red where both are there and nothing is mended; it tells on what it was run.
TEST = """if ! test -e made.txt; then echo base >> "$LEDGER"; exit 0; fi
if ! test -e other.txt; then echo alone >> "$LEDGER"; exit 0; fi
echo together >> "$LEDGER"; test -e mended.txt
"""
ONCE = ["agent 1", "alone", "together", "together", "base", "agent 2", "together"]
TESTED, MOST_FACTS = 15, 90  # what comes before is killed by test_lane_kills


@pytest.fixture
def lane(world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lane:
    made = build(tmp_path)
    monkeypatch.setenv("LEDGER", str(tmp_path / "ledger"))
    monkeypatch.setenv("MAIN", str(made.repo))
    return made


def begin(lane: Lane) -> list[str]:
    words = ("--retries", "1", "--test", TEST)
    return lane.argv("run", *LANE, "--runner", AGENT, "--task", lane.task("one"), *words)


@pytest.mark.sweep
@pytest.mark.req("RUN-17", "EFF-01", "CKP-11")
def test_lane_killed_after_each_fact_of_its_retests_runs_each_of_them_once(
    lane: Lane, tmp_path: Path
) -> None:
    argv, kills = begin(lane), 0
    for count in range(TESTED, MOST_FACTS):
        if not killed_after(lane, argv, count):
            break
        kills += 1

    done = lane.resume()

    assert done.returncode == 0, done.stderr
    assert (tmp_path / "ledger").read_text(encoding="utf-8").splitlines() == ONCE
    assert lane.show("main", "mended.txt") == "mended"
    assert lane.git("status", "--porcelain") == ""
    assert len(lane.git("worktree", "list").splitlines()) == 1
    assert lane.git("branch", "--list", "lane/*") == ""
    assert kills >= 15


@pytest.mark.req("RUN-17", "RUN-04")
def test_critic_is_not_paid_again_for_what_is_tested_again(
    lane: Lane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = Client(tmp_path)
    monkeypatch.setenv("LEDGER", str(client.ledger))
    moves = 'cd "$MAIN" && echo other > other.txt && git add other.txt && git commit -qm other'
    client.does("well", f"{judges('1')}; {moves}")
    spec = library.spec(
        lane,
        runner="claude",
        runners={"claude": client.runner()},
        test='echo tests >> "$LEDGER.rest"',
        gates=(Gate("quality", "critic", Decimal("0.9")),),
    )

    library.take_on(lane, spec)

    assert len(client.calls()) == 2
    assert client.rest() == ["tests", "tests"]
    assert lane.show("main", "other.txt") == "other"
