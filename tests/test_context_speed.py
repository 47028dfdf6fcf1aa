"""Looking at ten times as many context files costs ten times as much, and not more."""

import statistics
from pathlib import Path
from time import perf_counter

import pytest

from attacks import call
from context_samples import VALID, WRONG

ROUNDS = 5
ATTEMPTS = 8


def filled(root: Path, count: int) -> Path:
    folder = root / str(count) / "session" / "agents"
    folder.mkdir(parents=True)
    (root / str(count) / ".git").mkdir()
    for number in range(count):
        text = VALID if number % 3 else WRONG["Completed This Session"]
        role = f"role-{number:04d}"
        path = folder / f"{role}.context.md"
        path.write_text(text.replace("oosh-expert", role), encoding="utf-8")
    return root / str(count)


def seconds(repo: Path) -> float:
    began = perf_counter()
    answer = call("-C", str(repo), "context", "validate.all")
    took = perf_counter() - began
    assert answer.status == 1
    assert answer.out.endswith(" passed\n")
    return took


@pytest.mark.ratio
@pytest.mark.prove
@pytest.mark.req("CTX-07")
def test_thousand_files_cost_ten_times_what_a_hundred_do(world: Path, tmp_path: Path) -> None:
    few, many = filled(tmp_path, 100), filled(tmp_path, 1_000)
    ratios = []
    for _ in range(ATTEMPTS):
        rounds = [(seconds(few), seconds(many)) for _ in range(ROUNDS)]
        ratios.append(statistics.median(large / small for small, large in rounds))
        if ratios[-1] <= 15:
            break

    assert min(ratios) <= 1.5 * 10, ratios
