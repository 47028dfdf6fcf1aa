"""What two clones and two branches agree on: a slice of it here, 2,000 steps in `make prove`."""

import os
from pathlib import Path

import pytest

from two_clones import live

LIVES = int(os.environ.get("STANDFAST_CLONE_LIVES", "3"))
STEPS = 40
LONG, MANY = 100, 20


@pytest.mark.sweep(3)
@pytest.mark.req("RES-24", "RES-01", "RES-08")
@pytest.mark.parametrize("seed", range(1, LIVES + 1))
def test_two_clones_lose_nothing_and_agree(tmp_path: Path, seed: int) -> None:
    assert live(tmp_path, seed, STEPS) == STEPS


@pytest.mark.sweep
@pytest.mark.req("RES-24", "RES-01", "RES-08")
@pytest.mark.parametrize("seed", range(1001, 1001 + MANY))
def test_two_clones_lose_nothing_in_two_thousand_steps(tmp_path: Path, seed: int) -> None:
    assert live(tmp_path, seed, LONG) == LONG
