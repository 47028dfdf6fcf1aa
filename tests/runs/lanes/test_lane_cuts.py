"""Power is cut for real under a lane, and nothing that a checkpoint speaks of is lost.

A slice of `make faults`: a lane that starts, works, merges or is rolled back, on a real filesystem
on a loop device. Where that cannot be done, the reason is told.
"""

import os
import tempfile
from collections.abc import Iterator

import pytest

from harness.faults.cuts import lane_canaries, lane_cuts, lane_scenes, run_scenes

pytestmark = pytest.mark.prove


@pytest.fixture
def folder() -> Iterator[str]:
    """Give a folder in memory where there is one: the cut is what matters, not the platter."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory, ignore_cleanup_errors=True) as found:
        yield found


@pytest.mark.req("CKP-04", "CKP-05", "EFF-01")
def test_no_cut_under_a_lane_loses_what_its_checkpoints_say(folder: str) -> None:
    counted = lane_cuts.run(folder, 6, len(lane_scenes.SCENES), "ext4", lambda _: None)
    if counted.skipped is not None:
        pytest.skip(f"no power is cut: {counted.skipped}")

    assert counted.findings == []
    assert counted.acknowledged > 0


@pytest.mark.req("REL-02", "REL-10")
def test_no_cut_under_a_run_changes_a_file_that_nobody_changed(folder: str) -> None:
    scenes = run_scenes.RUN_SCENES
    counted = lane_cuts.run(folder, 6, len(scenes), "ext4", lambda _: None, scenes=scenes)
    if counted.skipped is not None:
        pytest.skip(f"no power is cut: {counted.skipped}")

    assert counted.findings == []


@pytest.mark.req("REL-07")
@pytest.mark.parametrize("bug", lane_canaries.CANARIES)
def test_a_few_cuts_catch_a_lane_that_does_not_sync(folder: str, bug: str) -> None:
    counted = lane_cuts.run(
        folder, 6, lane_canaries.ENOUGH_CUTS, "ext4", lambda _: None,
        plant=lane_canaries.CANARIES[bug].plant, scenes=lane_canaries.CANARIES[bug].scenes,
        until_found=True,
    )  # fmt: skip
    if counted.skipped is not None:
        pytest.skip(f"no power is cut: {counted.skipped}")

    assert [each for each in counted.findings if not each.startswith("wedged the harness")]
