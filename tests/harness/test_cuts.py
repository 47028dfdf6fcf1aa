"""Power is cut for real, and nothing that was acknowledged is lost; without syncs it would be.

Each round is a real ext4 or xfs on a loop device, shut down under writers at work. Where that
cannot be done, the reason is told, and the replay of logged calls stands in.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.faults import loops
from harness.faults.cuts import canaries as bugs
from harness.faults.cuts import cuts

pytestmark = pytest.mark.prove

PATIENCE_S = 30


@pytest.fixture
def folder() -> Iterator[str]:
    """Give a folder in memory where there is one: the cut is what matters, not the platter."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory, ignore_cleanup_errors=True) as found:
        yield found


def cut(
    folder: str, filesystem: str, number: int, plant: Callable[[], None] | None = None
) -> cuts.Counted:
    counted = cuts.run(
        folder, 20, number, filesystem, lambda _: None,
        plant=plant or (lambda: None), until_found=plant is not None,
    )  # fmt: skip
    if counted.skipped is not None:
        pytest.skip(f"no power is cut on {filesystem}: {counted.skipped}")
    return counted


@pytest.mark.req("REL-02")
@pytest.mark.parametrize("filesystem", cuts.FILESYSTEMS)
def test_no_cut_loses_what_was_acknowledged(folder: str, filesystem: str) -> None:
    counted = cut(folder, filesystem, 20)

    assert counted.findings == []
    assert counted.cuts == 20
    assert counted.acknowledged > 0


@pytest.mark.req("REL-07")
@pytest.mark.parametrize("bug", bugs.CANARIES)
@pytest.mark.parametrize("filesystem", cuts.FILESYSTEMS)
def test_a_few_cuts_catch_a_journal_that_does_not_sync(
    folder: str, filesystem: str, bug: str
) -> None:
    counted = cut(folder, filesystem, bugs.ENOUGH_CUTS, bugs.CANARIES[bug])

    assert [each for each in counted.findings if not each.startswith("wedged the harness")]


def test_a_harness_that_is_killed_leaves_no_device_behind(folder: str) -> None:
    why = loops.lacking(folder, "ext4")
    if why is not None:
        pytest.skip(why)
    script = (
        "import sys; from harness.faults.cuts import cuts;"
        "cuts.run(sys.argv[1], 1, 1000, 'ext4', lambda line: print(line, flush=True))"
    )
    with subprocess.Popen([sys.executable, "-c", script, folder], stdout=subprocess.PIPE) as run:
        assert run.stdout is not None
        run.stdout.readline()  # a cut was made
        assert devices(folder)
        run.kill()

    until = time.monotonic() + PATIENCE_S
    while devices(folder) and time.monotonic() < until:
        os.sched_yield()
    assert devices(folder) == []
    assert folder not in Path("/proc/self/mountinfo").read_text(encoding="utf-8")


def devices(folder: str) -> list[str]:
    """The loop devices whose image lies in *folder*."""
    backing = Path("/sys/block").glob("loop*/loop/backing_file")
    return [str(path) for path in backing if folder in path.read_text(encoding="utf-8")]


def test_whoever_may_not_cut_is_told_why(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)

    counted = cuts.run(folder, 1, 5, "ext4", lambda _: None)

    assert counted == (0, 0, [], "only root may cut the power of a filesystem")
