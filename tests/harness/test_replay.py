"""After a power cut at any call of any act everything acknowledged is there, and work goes on.

And the replay would see it: bugs that only a power cut shows are planted, and all of them found.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.faults import shim
from harness.faults.acts import ACTS
from harness.faults.power import disk_log, recording, replay, scripts
from harness.faults.power.canaries import CANARIES

pytestmark = pytest.mark.skipif(shim.compiler() is None, reason="there is no C compiler here")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[str]:
    """In memory where there is such a place: the model says what a sync is worth."""
    with replay.workplace() as made:
        yield made


@pytest.mark.prove  # alone: it has a crew of its own
@pytest.mark.req("REL-01", "REL-02")
def test_power_cuts_in_every_act_lose_nothing(folder: str) -> None:
    told: list[str] = []

    counted = replay.run(folder, 1, replay.SLICE, told.append)

    assert counted.findings == []
    assert counted.bad == 0
    assert counted.replayed == replay.SLICE
    assert sorted(line.partition(":")[0] for line in told) == sorted(scripts.SCRIPTS)


@pytest.mark.sweep
@pytest.mark.req("REL-02")
@pytest.mark.parametrize("name", CANARIES)
def test_bug_that_only_a_power_cut_shows_is_found(folder: str, name: str) -> None:
    assert replay.caught(folder, 1, name) is not None


def test_call_that_the_shim_did_not_see_is_noticed(tmp_path: Path) -> None:
    root = os.path.realpath(tmp_path)
    before = disk_log.Disk(root).now()
    (tmp_path / "from nowhere").write_bytes(b"x")

    with pytest.raises(AssertionError, match="from nowhere"):
        recording._check_log(before, root)


def test_every_act_is_in_a_script_of_its_own() -> None:
    others = {"stage run", "lane rollback"}  # by which other programs write too
    unseen = {name for name, act in ACTS.items() if act.covers in others}

    assert {name for name in ACTS if name not in scripts.SCRIPTS} == unseen
    assert all(scripts.SCRIPTS[name].steps == (ACTS[name],) for name in ACTS if name not in unseen)


def test_command_prints_the_counters(capsys: pytest.CaptureFixture[str]) -> None:
    status = replay.main(["--seed", "3", "--states", "5", "Stop"])

    assert status == 0
    assert '"replayed": 5' in capsys.readouterr().out
