"""Many processes write one journal in every way there is; some are killed, some are stopped."""

from pathlib import Path

import pytest

from harness.faults.storm import canaries as planted
from harness.faults.storm import writers
from harness.faults.storm.spooling import Spooling
from harness.storm import FAIR, Storm


@pytest.mark.prove
@pytest.mark.req("REL-04")
def test_thirty_two_writers_with_kills_keep_every_promise(tmp_path: Path) -> None:
    told: list[str] = []

    counted = writers.run(str(tmp_path), 7, 32, 6, 1, told.append)

    assert counted.findings == []
    assert counted.kills >= 5
    assert counted.busy == 0
    assert counted.fairness < FAIR
    assert counted.taken_over > 1
    assert counted.spooled > 60
    assert counted.facts > 32


@pytest.mark.prove
@pytest.mark.req("REL-04")
def test_writers_who_are_left_alone_keep_every_promise(tmp_path: Path) -> None:
    counted = writers.run(str(tmp_path), 7, 16, 1.5, None, lambda _: None)

    assert counted.findings == []
    assert counted.kills == 0


@pytest.mark.prove
@pytest.mark.req("REL-04")
@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("no lock", "wrong "),
        ("no lock at the spool", "lost "),
        ("no fence", "void token"),
        ("a lock without a queue", "wedged "),
    ],
)
def test_planted_bugs_are_caught(tmp_path: Path, name: str, told: str) -> None:
    plant = planted.CANARIES[name]

    for seed in range(3, 11):  # what goes wrong by chance does so in a while
        folder = str(tmp_path / f"{seed}")
        counted = writers.run(folder, seed, 24, 1.5, None, lambda _: None, plant=plant)
        if any(told in finding for finding in counted.findings):
            break

    assert any(told in finding for finding in counted.findings), counted
    assert len(planted.CANARIES) == 4


def test_lease_that_changes_hands_is_counted_by_the_order_of_commits(tmp_path: Path) -> None:
    storm = Storm(
        folder=str(tmp_path / "standfast"), writers=4, each=50, kills=0, roles=("leased",)
    )

    counted = storm.run()

    assert (counted.acknowledged, counted.lost, counted.stale) == (200, 0, 0)
    assert counted.taken_over >= 4


@pytest.mark.req("REL-04")
def test_spool_that_is_too_small_for_all_tells_how_many_found_no_room(tmp_path: Path) -> None:
    spooling = Spooling(str(tmp_path / "standfast"), lambda: None)

    assert [spooling.round(number) for number in range(3)] == [[], [], []]
    assert spooling.kept == 3 * 63
