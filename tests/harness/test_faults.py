"""`make faults` counts what it tries, tells what it finds, and fails when a planted bug gets by."""

import json
from pathlib import Path

import pytest

from harness.faults import __main__ as faults
from harness.faults import parts, tally
from harness.faults.parts import Part, Run
from harness.faults.tally import Tally

KEYS = {
    *("commit", "seed", "injected", "replayed", "cuts", "writers", "flips"),
    *("lost", "half", "wedged", "wrong", "canaries"),
}


def run(path: Path, *arguments: str) -> tuple[int, dict[str, object]]:
    status = faults.main([*arguments, "--seed", "5", "--result", str(path / "faults.json")])
    return status, json.loads((path / "faults.json").read_text(encoding="utf-8"))


@pytest.mark.req("REL-01")
def test_run_of_one_part_leaves_its_counters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, counted = run(tmp_path, "--slice", "--only", "model")

    assert status == 0
    assert set(counted) >= KEYS
    assert (counted["seed"], counted["lost"], counted["wrong"]) == (5, 0, 0)
    assert "seed 5" in capsys.readouterr().out


def finds(run: Run) -> dict[str, object]:
    run.tally.injected += 3
    run.tally.find(["lost a decision [note:torn@12]", "half a file"])
    return {"injected": 3}


@pytest.mark.req("REL-07")
def test_findings_and_missed_canaries_fail_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = Part("finds", finds, lambda run: run.canary("no fsync", []))
    lazy = Part("skips", finds, cannot=lambda: "there is no compiler")
    monkeypatch.setattr(parts, "PARTS", {"broken": broken, "lazy": lazy})

    status, counted = run(tmp_path)

    told = capsys.readouterr().out
    assert status == 1
    assert (counted["lost"], counted["half"], counted["injected"]) == (1, 1, 3)
    assert counted["canaries"] == {"planted": 1, "caught": 0}
    assert counted["skipped"] == {"lazy": "there is no compiler"}
    assert "FOUND  lost a decision [note:torn@12]" in told
    assert "`no fsync` was not caught" in told


def test_tally_is_clean_only_without_findings_and_with_every_canary() -> None:
    clean, found, missed = Tally("c", 1), Tally("c", 1), Tally("c", 1)
    found.find(["wrong answer"])
    missed.canary("no lock", caught=False)
    clean.canary("no lock", caught=True)

    assert (clean.is_clean, found.is_clean, missed.is_clean) == (True, False, False)
    assert tally.KINDS == ("lost", "half", "wedged", "wrong")


def test_every_part_names_what_it_does_and_the_planted_bugs_differ() -> None:
    assert all(part.says for part in parts.PARTS.values())
    assert set(parts.PARTS) == {
        *("sweep", "power", "cuts", "lanes", "runs", "storm", "saves", "flips", "around"),
        *("planted", "attacks", "model"),
    }
