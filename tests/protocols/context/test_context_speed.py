"""Looking at ten times as many context files costs ten times as much, and not more."""

from pathlib import Path

import pytest

import ratios
from attacks import call
from context_samples import VALID, WRONG


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


def validate(repo: Path) -> None:
    answer = call("-C", str(repo), "context", "validate.all")
    assert answer.status == 1
    assert answer.out.endswith(" passed\n")


@pytest.mark.ratio
@pytest.mark.prove
@pytest.mark.req("CTX-07")
def test_thousand_files_cost_ten_times_what_a_hundred_do(world: Path, tmp_path: Path) -> None:
    few, many = filled(tmp_path, 100), filled(tmp_path, 1_000)

    ratio = ratios.summed(ratios.computed, lambda: validate(many), lambda: validate(few))

    assert ratio <= 1.5 * 10
