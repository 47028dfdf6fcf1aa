"""Tests and setups that a signal from outside ends: no failure of the agent's."""

from pathlib import Path

import pytest

import lane_library as library
from lane_runs import WRITES, Lane, build
from standfast.effects.rules import Ended, is_killed
from standfast.errors import lanes
from standfast.errors.lanes import LaneBlocked, LaneFailed
from standfast.protocols.checkpoints.rules import checkpoint as cp


@pytest.fixture
def lane(world: Path, tmp_path: Path) -> Lane:
    return build(tmp_path)


def killed(tmp_path: Path, times: int, how: str) -> str:
    """A command that is killed so often."""
    count = f"$(cat {tmp_path}/ledger | wc -l)"
    return f"echo run >> {tmp_path}/ledger; test {count} -gt {times} || {how}"


def runs(tmp_path: Path, name: str = "ledger") -> int:
    return len((tmp_path / name).read_text(encoding="utf-8").splitlines())


@pytest.mark.req("RUN-04")
@pytest.mark.parametrize("how", ["kill -KILL $$", "sh -c 'kill -KILL $$' || exit $?"])
def test_tests_that_are_killed_run_once_more_and_use_no_retry(
    lane: Lane, tmp_path: Path, how: str
) -> None:
    runner = f"echo run >> {tmp_path}/agents; {WRITES}"

    done = lane.run(runner, "--test", killed(tmp_path, 1, how), "--retries", "1")

    assert done.returncode == 0, done.stderr
    assert (runs(tmp_path), runs(tmp_path, "agents")) == (2, 1)
    assert cp.RETRY not in lane.records()


@pytest.mark.req("RUN-04")
def test_tests_that_are_killed_twice_need_a_person_who_resumes(lane: Lane, tmp_path: Path) -> None:
    done = lane.run(WRITES, "--test", killed(tmp_path, 2, "kill -KILL $$"), "--retries", "1")

    assert done.returncode == lanes.LaneBlocked.exit_status
    assert "its tests were killed twice from outside" in done.stderr
    assert cp.RETRY not in lane.records()
    assert lane.resume().returncode == 0
    assert runs(tmp_path) == 3


@pytest.mark.req("RUN-17")
def test_killed_retest_is_not_taken_for_red(lane: Lane, tmp_path: Path) -> None:
    moves = f"cd '{lane.repo}' && echo b > b && git add b && git commit -qm other"
    test = f"test ! -e b || {{ {killed(tmp_path, 1, 'kill -KILL $$')}; }}"

    done = lane.run(f"{WRITES}; {moves}", "--test", test)

    assert done.returncode == 0, done.stderr
    assert runs(tmp_path) == 2
    assert "flaky" not in done.stdout


@pytest.mark.req("RUN-04")
def test_setup_that_is_killed_runs_once_more_and_then_needs_a_person(
    lane: Lane, tmp_path: Path
) -> None:
    spec = library.spec(lane, setup=killed(tmp_path, 2, "kill -KILL $$"))

    with pytest.raises(LaneBlocked, match="its setup was killed twice from outside"):
        library.take_on(lane, spec)
    assert runs(tmp_path) == 2
    library.take_on(lane, spec, asked=True)
    assert lane.show("main", "made.txt") == "made"


def test_setup_that_fails_by_itself_has_failed(lane: Lane) -> None:
    with pytest.raises(LaneFailed):
        library.take_on(lane, library.spec(lane, setup="exit 3"))


@pytest.mark.parametrize(
    ("how", "status", "expected"),
    [
        ("signal", -9, True),
        ("signal", -15, True),
        ("signal", -11, False),  # its own fault
        ("signal", -6, False),
        ("exited", 137, True),
        ("exited", 139, False),
        ("exited", 1, False),
        ("timeout", -9, False),
        ("cancelled", -15, False),
    ],
)
def test_only_signals_from_outside_say_nothing_of_the_work(
    how: str, status: int, *, expected: bool
) -> None:
    assert is_killed(Ended(how, status)) is expected
