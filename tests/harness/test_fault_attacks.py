"""Attacks from outside do no harm, and do it where the one thing that holds them is taken away."""

from pathlib import Path

import pytest

from harness.faults import attacks


@pytest.mark.sweep(7)
@pytest.mark.req("REL-07")
@pytest.mark.req("REL-10", "SEC-09", "SEC-10", "RUN-17", "PLAT-03")
@pytest.mark.parametrize("name", attacks.ATTACKS)
def test_attack_is_held_and_its_bug_is_caught(tmp_path: Path, name: str) -> None:
    held = attacks.run(str(tmp_path / "held"), names=(name,))
    caught = attacks.run(str(tmp_path / "bug"), names=(name,), plant=attacks.ATTACKS[name].bug)

    assert held == []
    assert caught, "the harness does not see the harm"
