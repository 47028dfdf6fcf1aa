"""`standfast gate` from outside."""

import json
from pathlib import Path

import pytest

from conftest import Cli
from resumption_files import section
from standfast.protocols.resumption.rules.quality_gates import WEIGHTS
from standfast.surfaces.cli.bars import bar, curve, ruler
from standfast.surfaces.cli.gate_picture import Standing, drawn
from standfast.surfaces.cli.screen import Screen

FAILING = json.dumps(dict.fromkeys(WEIGHTS, 0.5))


def scores(value: str) -> list[str]:
    return [f"{name}={value}" for name in WEIGHTS]


def test_scores_are_kept_until_all_are_in(repo: Path, cli: Cli) -> None:
    first = cli("gate", "record", "QG-1", "completeness=0.95", "evidence=0.8", cwd=repo)

    assert first.returncode == 0, first.stderr
    assert first.stdout.endswith(
        "Kept; still missing: internal_consistency, methodological_rigor, actionability,"
        " traceability\n"
    )
    assert section(repo)["quality_trajectory"]["total_iterations_used"] == 0

    done = cli("gate", "record", "QG-1", "internal-consistency=0.9", "methodological_rigor=0.88",
               "actionability=0.7", "traceability=1", "--found", "2", "--json",
               cwd=repo)  # fmt: skip

    told = json.loads(done.stdout)
    assert (told["verdict"], told["score"], told["missing"]) == ("REVISE", 0.871, [])
    assert section(repo)["quality_trajectory"]["score_history"] == {"QG-1": [0.871]}
    assert section(repo)["defect_summary"]["total_defects_found"] == 2


@pytest.mark.req("RES-07")
def test_gate_that_passes_is_no_longer_remaining(repo: Path, cli: Cli) -> None:
    done = cli("gate", "record", "QG-1", *scores("0.92"), cwd=repo)

    assert "0.92  PASS" in done.stdout
    found = section(repo)["quality_trajectory"]
    assert (found["gates_completed"], found["gates_remaining"]) == (["QG-1"], [])
    again = cli("gate", "record", "QG-1", "evidence=1", cwd=repo)
    assert (again.returncode, "has passed already" in again.stderr) == (1, True)


@pytest.mark.req("RES-07", "RES-16")
def test_three_failing_iterations_ask_for_a_person(repo: Path, cli: Cli) -> None:
    for _ in range(2):
        done = cli("gate", "record", "QG-1", "--from", "-", cwd=repo, input=FAILING)
        assert "ask a person" not in done.stdout

    done = cli("gate", "record", "QG-1", "--from", "-", cwd=repo, input=FAILING)

    assert done.returncode == 0
    assert "3 iterations have failed, 3 are the most: ask a person." in done.stdout
    assert "1: 0.5 REJECTED, 2: 0.5 REJECTED, 3: 0.5 REJECTED" in done.stdout
    shown = cli("gate", "show", "QG-1", cwd=repo).stdout
    assert shown == done.stdout.removesuffix("Recorded T3\n")
    machine = json.loads(cli("gate", "show", "--json", cwd=repo).stdout)["gates"][0]
    assert (machine["escalates"], machine["history"]) == (True, [0.5, 0.5, 0.5])


@pytest.mark.parametrize("words", [("--found", "2"), ("--next-step", "x"), ("--rationale", "x")])
def test_what_an_iteration_says_waits_for_its_last_score(
    repo: Path, cli: Cli, words: tuple[str, ...]
) -> None:
    done = cli("gate", "record", "QG-1", "evidence=0.8", *words, cwd=repo)

    assert done.returncode == 2
    assert f"{words[0]} goes with the last scores; still missing: completeness" in done.stderr
    assert cli("gate", "show", cwd=repo).returncode == 13  # nothing was recorded


@pytest.mark.parametrize(
    ("words", "says", "status"),
    [
        ((), "name the gate before its scores", 2),
        (("evidence=0.8",), "name the gate before its scores", 2),
        (("QG-1",), "give at least one score", 2),
        (("QG-1", "beauty=1"), "there is no dimension `beauty`", 1),
        (("QG-1", "evidence=1", "evidence=1"), "`evidence` is scored twice", 2),
        (("QG-1", "evidence=1.1"), "not a number from 0 to 1", 1),
        (("QG-1", "evidence"), "is not DIMENSION=SCORE", 2),
        (("\x1b[2J", "evidence=1"), "no name that can be seen", 2),
    ],
)
def test_wrong_call_is_refused(
    repo: Path, cli: Cli, words: tuple[str, ...], says: str, status: int
) -> None:
    done = cli("gate", "record", *words, cwd=repo)

    assert (done.returncode, done.stdout) == (status, "")
    assert says in done.stderr


def test_gate_that_is_not_there_names_those_that_are(repo: Path, cli: Cli) -> None:
    cli("gate", "record", "QG-1", "evidence=1", cwd=repo)

    done = cli("gate", "show", "QG-9", cwd=repo)

    assert done.returncode == 13
    assert "There are: QG-1." in done.stderr


def test_chart_in_a_terminal_and_in_a_pipe() -> None:
    found = Standing("QG-1", 1, {}, (0.93,), passed=True)

    terminal = drawn(Screen(color=True, width=90, draws=True), found)
    pipe = drawn(Screen(color=False, width=10_000), found)

    assert "█" in terminal
    assert "\x1b[32mPASS" in terminal
    assert pipe.isascii()


def test_bars_are_as_long_as_their_shares() -> None:
    assert bar(0.5, 10, draws=False) == "#####....."
    assert bar(1, 4, draws=True) == "████"
    assert bar(0.125, 4, draws=True) == "▌   "
    assert ruler((), 4, draws=True) == "────"
    assert curve((0.1, 0.5, 0.99), draws=True) == "▁▁█"
    assert curve((0.1,), draws=False) == ""


@pytest.mark.req("RES-05", "RES-08")
def test_compaction_names_the_gate_whose_scores_were_coming_in(repo: Path, cli: Cli) -> None:
    cli("resumption", "trigger", "T1", "--phase", "1", cwd=repo)
    cli("gate", "record", "QG-5", "completeness=.9", cwd=repo)
    cli("resumption", "trigger", "T5", "--compaction", "auto", cwd=repo)
    (event,) = section(repo)["compaction_events"]["events"]

    assert (event["active_gate"], event["active_gate_iteration"]) == ("QG-5", 1)
