"""Kill -9 between any two facts of a lane: it goes on, nothing is lost, nothing is done twice."""

from pathlib import Path

import pytest

from lane_kills import MOST_FACTS, killed_after
from lane_runs import LANE, Lane, build
from standfast.protocols.checkpoints.rules import checkpoint as cp

# Fails the first time, moves the base the second time, and tells of every run.
AGENT = """echo "agent $STANDFAST_ATTEMPT" >> "$LEDGER"
test "$STANDFAST_ATTEMPT" = 2 || exit 1
echo made > made.txt
cd "$MAIN" && echo other > other.txt && git add other.txt && git commit -qm other
"""


@pytest.fixture
def lane(world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lane:
    made = build(tmp_path)
    monkeypatch.setenv("LEDGER", str(tmp_path / "ledger"))
    monkeypatch.setenv("MAIN", str(made.repo))
    return made


def begin(lane: Lane) -> list[str]:
    words = ("--retries", "1", "--test", 'echo tests >> "$LEDGER"', "--merge", "no-ff")
    return lane.argv("run", *LANE, "--runner", AGENT, "--task", lane.task("one"), *words)


def assert_done_once(lane: Lane, ledger: Path) -> None:
    done = ledger.read_text(encoding="utf-8").splitlines()
    assert done == ["agent 1", "agent 2", "tests", "tests"]  # the base moved: once more as it lands
    subjects = lane.git("log", "--first-parent", "--format=%s", "main").splitlines()
    assert subjects[1:] == ["other", "first"]
    assert subjects[0].startswith("Merge lane SL-1 of P1")
    assert lane.git("rev-list", "--count", "main") == "4"
    assert lane.show("main", "made.txt") == "made"
    assert lane.git("status", "--porcelain") == ""
    assert not lane.tree.exists()
    assert lane.records()[cp.PRE_PR]["status"] == cp.COMPLETE


@pytest.mark.sweep
@pytest.mark.req("CKP-11", "CKP-04", "EFF-01")
def test_lane_killed_after_each_of_its_facts_in_turn_is_done_once(
    lane: Lane, tmp_path: Path
) -> None:
    """One life after another, each killed one fact later than the one before: every gap is hit."""
    argv, kills = begin(lane), 0
    for count in range(1, MOST_FACTS):
        if not killed_after(lane, argv, count):
            break
        kills += 1

    done = lane.resume()

    assert done.returncode == 0, done.stderr
    assert_done_once(lane, tmp_path / "ledger")
    assert kills >= 12


@pytest.mark.sweep(3)
@pytest.mark.req("CKP-11", "EFF-01")
@pytest.mark.parametrize("count", [2, 11, 19])
def test_lane_killed_once_anywhere_is_done_by_one_resume(
    lane: Lane, tmp_path: Path, count: int
) -> None:
    assert killed_after(lane, begin(lane), count)

    done = lane.resume()

    assert done.returncode == 0, done.stderr
    assert_done_once(lane, tmp_path / "ledger")
