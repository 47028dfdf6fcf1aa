"""Everything that writes is failed at its calls: nothing acknowledged is lost, no file is half.

This is a slice of `make faults`, another with every seed that a person gives; here it is fixed.
"""

import tempfile
from collections.abc import Iterator

import pytest

from harness.faults import acts, canaries, crew, shim, sweep, world
from harness.faults.shim import Fault, Kind
from harness.faults.sweep import Trial
from standfast.surfaces.cli import frame
from standfast.surfaces.cli.frame import Command

needs_compiler = pytest.mark.skipif(
    shim.compiler() is None, reason="there is no C compiler here: the shim cannot be built"
)


@pytest.fixture
def quick() -> Iterator[str]:
    """Give a folder in memory where there is one: a thousand trials need no real syncs."""
    with tempfile.TemporaryDirectory(
        dir=world.quick_folder(), ignore_cleanup_errors=True
    ) as folder:
        yield folder


@pytest.mark.req("REL-09")
def test_every_command_and_every_hook_is_in_the_sweep() -> None:
    assert acts.missing() == []


@pytest.mark.req("REL-09")
def test_command_that_nobody_tries_is_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    new = ("More", (Command("brand-new", "writes something"),))
    monkeypatch.setattr(frame, "GROUPS", (*frame.GROUPS, new))
    monkeypatch.setattr(acts, "_ways", lambda name: [name])

    assert "brand-new" in acts.missing()


@pytest.mark.req("REL-09")
def test_hook_and_action_that_nobody_tries_are_missed() -> None:
    some = [act for act in acts.ACTS.values() if act.covers not in {"hook:Stop", "journal export"}]

    assert acts.missing(some) == ["journal export", "hook:Stop"]


@pytest.mark.prove  # alone: it has a crew of its own, as large as the machine
@needs_compiler
@pytest.mark.req("REL-01", "REL-03")
def test_slice_of_the_sweep_finds_nothing(quick: str) -> None:
    thin, twice = crew.SLICE

    swept = crew.sweep(quick, 7, thin=thin, twice=twice, tell=lambda _: None)

    assert swept.findings == []
    assert swept.injected > 450


@pytest.mark.sweep
@needs_compiler
@pytest.mark.req("REL-07")
@pytest.mark.parametrize("name", [canary.name for canary in canaries.SWEPT])
def test_planted_bug_is_caught_by_the_sweep(quick: str, name: str) -> None:
    assert crew.catch(quick, name) is not None


def test_trial_and_its_name_are_the_same() -> None:
    trial = Trial("journal:odd", (Fault(Kind.TORN, 12), Fault(Kind.KILL_BEFORE, 3)))

    assert sweep.parse(str(trial)) == trial
