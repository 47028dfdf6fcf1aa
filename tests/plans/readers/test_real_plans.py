"""Plans in the forms in which people and models really write them, read as a person reads them.

What each file below fixtures/plans means is held in readings.json, checked against the file: whom
a lane waits for, what tests it, and all that was assumed, with its line.
"""

import json
from pathlib import Path

import pytest

from conftest import Cli
from places import TESTS
from plan_samples import plan_of, told
from standfast.plans.readers import plan_words, test_commands

pytestmark = pytest.mark.req("RUN-01")

PLANS = TESTS / "fixtures" / "plans"
READINGS = json.loads((PLANS / "readings.json").read_text(encoding="utf-8"))


def _data(name: str) -> bytes:
    return (PLANS / name).read_bytes()


def test_every_plan_has_a_reading() -> None:
    assert sorted(READINGS) == sorted(each.name for each in PLANS.glob("*.md"))


@pytest.mark.parametrize("name", sorted(READINGS))
def test_plan_is_told_line_by_line(name: str) -> None:
    assert told(_data(name), name) == READINGS[name]["said"]


@pytest.mark.req("RUN-03")
@pytest.mark.parametrize("name", [name for name, each in READINGS.items() if each["lanes"]])
def test_lanes_wait_and_are_tested_as_a_person_reads_it(name: str) -> None:
    lanes = {lane.name: lane for _, lane in plan_of(_data(name), name).lanes()}

    assert {
        each: {"after": list(lane.after), "test": lane.test} for each, lane in lanes.items()
    } == READINGS[name]["lanes"]


def test_prompt_of_a_row_has_its_criterion_files_and_test() -> None:
    lanes = {lane.name: lane for _, lane in plan_of(_data("phase-ledger.md"), "p.md").lanes()}
    prompt = lanes["SL-STORE"].tasks[1].prompt

    assert "Files in scope: `src/store.py`, `migrations/001.sql`" in prompt
    assert "Acceptance criteria: Balances are never negative" in prompt
    assert "It is tested by:\n- pytest tests/test_store.py" in prompt
    assert "The phase is done when:\n- [ ] Every transfer balances" in prompt


def test_files_of_tests_are_owned() -> None:
    lanes = {lane.name: lane for _, lane in plan_of(_data("phase-ledger.md"), "p.md").lanes()}

    assert lanes["SL-STORE"].owns == ("src/store.py", "migrations/**", "tests/test_store.py")


def test_index_below_a_heading_of_its_level_is_over() -> None:
    """The sections between index and lanes have headings, tables and code of their own."""
    plan = plan_of(_data("phase-notebook.md"), "p.md")

    assert [lane.name for _, lane in plan.lanes()] == ["SL-1", "SL-2", "SL-3", "SL-4"]
    assert plan.test == "pnpm -r test"


def test_real_plan_is_checked_from_outside(cli: Cli, repo: Path) -> None:
    (repo / "ledger.md").write_bytes(_data("phase-ledger.md"))

    done = cli("plan", "check", "ledger.md", cwd=repo)

    assert done.stdout == "ledger.md: good, 1 phase, 3 waves, 4 lanes\n"


def _needs(said: str, *, parallel: str = "yes", more: str = "") -> list[str]:
    """What is said of a plan whose lane SL-B depends on these words."""
    text = f"""# P3: X
## A. Lane Index & Dependencies
- SL-A
  - Depends on: none
- SL-B
  - Depends on: {said}
  - Parallel-safe: {parallel}
- SL-C
  - Depends on: none
## B. Swim Lanes
### SL-A -- Data model
Scope: a
Interfaces Provided: IF-0-P3-A
### SL-B -- Screen
Scope: b
Interfaces Provided: IF-0-P3-B
### SL-C -- Words
Scope: c
{more}"""
    found = [each for each in told(text, "p.md") if "no table of tasks" not in each]
    if any("(warning)" not in each for each in found):
        return found
    lanes = {lane.name: lane for _, lane in plan_of(text, "p.md").lanes()}
    return [" ".join(lanes["SL-B"].after), *found]


@pytest.mark.req("RUN-03")
@pytest.mark.parametrize(
    ("said", "after", "assumes"),
    [
        ("(none - foundation lane)", "", False),
        ("None (Phase 4 depends on this)", "", False),
        ("none yet", "", False),
        ("(none)", "", False),
        ("- ", "", False),
        ("(Phase 2)", "", True),
        ("Phase 2, SL-A", "SL-A", True),
        ("P2/SL-Q", "", True),
        ("IF-1-P2-USERS", "", True),
        ("IF-XP-AUTH", "", True),
        ("no (depends on SL-A)", "SL-A", True),
        ("IF-0-P3-A", "SL-A", False),
        ("`IF-0-P3-A` (SL-A)", "SL-A", False),
        ("SL-A (IF-0-P3-A), SL-C", "SL-A SL-C", False),
        ("SL-A and SL-C", "SL-A SL-C", False),
        ("sl-a; SL-C merged", "SL-A SL-C", False),
        ("Data model", "SL-A", True),
        ("the words lane", "SL-C", True),
        ("Lane A", "SL-A", True),
        ("all other lanes", "SL-A SL-C", True),
        ("all previous lanes", "SL-A", True),
        ("all lanes except SL-C", "SL-A", True),
        ("both", "SL-A SL-C", True),
        ("SL-A, can run beside SL-C", "SL-A", True),
        ("[SL-A, SL-C]", "SL-A SL-C", False),
        ("SL-A.T1", "SL-A", False),
        ("SL-A, sign-off by legal", "SL-A", True),
    ],
)
def test_words_after_depends_on_mean_what_they_say(said: str, after: str, *, assumes: bool) -> None:
    first, *warnings = _needs(said)

    assert (first, bool(warnings)) == (after, assumes)


@pytest.mark.req("RUN-03")
@pytest.mark.parametrize(
    ("said", "says"),
    [
        ("IF-0-P3-ZZZ", "6: `SL-B` waits for `IF-0-P3-ZZZ`, which no lane provides"),
        ("IF-0-P3-B", "6: the lane `SL-B` waits for `SL-B`"),
        ("SL-Z", "6: `SL-B` waits for `SL-Z`, and there is no such lane"),
        ("Phase 4", "6: `SL-B` waits for `Phase 4`, which comes after this phase"),
        ("the data modle", "6: `SL-B` waits for `the data modle`, and there is no such lane"),
    ],
)
def test_what_leads_nowhere_is_an_error_with_its_line(said: str, says: str) -> None:
    assert says in _needs(said)


@pytest.mark.req("RUN-03")
def test_lane_that_is_not_safe_because_of_another_waits_for_it() -> None:
    assert _needs("none", parallel="no (depends on SL-C)")[0].split()[0] == "SL-C"


@pytest.mark.req("RUN-03")
def test_gate_that_is_only_consumed_orders_a_lane_nobody_ordered() -> None:
    text = """\
        # P3: X
        ## Swim Lanes
        ### SL-A -- One
        Scope: a
        **Interfaces Provided**: IF-0-P3-A
        ### SL-B -- Two
        Scope: b
        **Interfaces Consumed**: IF-0-P3-A
        """

    assert [lane.after for _, lane in plan_of(text, "p.md").lanes()] == [(), ("SL-A",)]
    assert (
        "8: (warning) `SL-B` consumes `IF-0-P3-A` of `SL-A`, and is taken to depend on it"
        in told(text, "p.md")
    )


def test_index_of_which_nothing_is_read_is_an_error() -> None:
    index = "## Lane Index & Dependencies\nEverything as discussed.\n"
    text = f"# P1: X\n{index}## Swim Lanes\n### SL-A -- One\nScope: a\n"

    assert "2: nothing of the index could be read" in told(text, "p.md")


@pytest.mark.parametrize(
    ("heading", "phase", "title"),
    [
        ("P1: Foundation", "P1", "Foundation"),
        ("Phase 1: Foundation", "P1", "Foundation"),
        ("Phase P1 - Foundation", "P1", "Foundation"),
        ("Phase Plan: P1 — Core", "P1", "Core"),
        ("P1 Plan: Core", "P1", "Core"),
        ("Implementation Plan: P2 - Search", "P2", "Search"),
        ("Release", "Release", ""),
    ],
)
def test_phase_is_named_as_its_heading_says(heading: str, phase: str, title: str) -> None:
    made = plan_of(f"# {heading}\n## Swim Lanes\n### SL-A -- One\nScope: a\n", "p.md").phases[0]

    assert (made.name, made.title) == (phase, title)


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("pytest tests/x.py -q", ["pytest tests/x.py -q"]),
        ("$ npm test", ["npm test"]),
        ("run npm test and check the output", ["npm test"]),
        ("CI=1 npm test", ["CI=1 npm test"]),
        ("make test", ["make test"]),
        ("go test ./... passes", ["go test ./..."]),
        ("./scripts/check.sh --all", ["./scripts/check.sh --all"]),
        ("`npm test` and `npm run lint`", ["npm test", "npm run lint"]),
        ("`ours --check` passes", ["ours --check"]),
        ("run `pytest` and look at `src/x.py`", ["pytest"]),
        ("make sure that it works", []),
        ("test that a login works", []),
        ("go through every page", []),
        ("the page loads", []),
        ("`GET /health` returns a body", []),
        ("`users` table exists", []),
        ("pytest is green", ["pytest"]),
        ("see above", []),
    ],
)
def test_command_is_told_from_words(text: str, commands: list[str]) -> None:
    assert test_commands.of_text(text)[0] == commands


def test_script_ends_with_the_first_that_fails_whatever_joins_it() -> None:
    script = plan_words.script(["a && b", "! c", "d"])

    assert script == "set -e\na && b || exit\n! c || exit\nd"


def test_hidden_text_is_neither_read_nor_passed_over_in_silence() -> None:
    text = """\
        # P1: X
        ## Swim Lanes
        ### SL-A -- One
        Scope: a
        <!--
        ### SL-B -- Two
        Scope: b
        -->
        """

    assert [lane.name for _, lane in plan_of(text, "p.md").lanes()] == ["SL-A"]
    assert "5: (warning) a comment, down to line 8, is not read" in told(text, "p.md")
    assert "5: a comment is never closed: nothing after this line is read" in told(
        text.replace("-->", ""), "p.md"
    )


HEADS = (
    "## Lane Index\n- SL-1 ",
    "## Lane Index\n- SL-1\n  - Depends on: ",
    "## Lane Index\n- SL-1\n  - Parallel-safe: ",
    "# ",
    "## Lane Index\nWave 1 ",
    "## Step by Step Tasks\n### 1. x\n- Verify: ",
    "## Step by Step Tasks\n### 1. x\n- Depends On: ",
    "## Swim Lanes\n### SL-1 -- x\nrun ",
    "---\nphase: ",
    "---\n",
    "## Tasks\n### T1: x\n- Needs: ",
    "## Wave 1\n- **T1** ",
    "## Step by Step Tasks\n### 1. x\n- Verify by ",
    "## Swim Lanes\n### SL-1 -- x\n| Task ID | Test Command |\n|---|---|\n| T | ",
)


@pytest.mark.sweep(4)
@pytest.mark.req("SEC-02")
@pytest.mark.parametrize("head", HEADS)
def test_long_line_takes_no_longer_than_its_length(head: str) -> None:
    """Each of these would take minutes if a line were looked at once for each of its characters."""
    for piece in (
        " ",
        "* ",
        "(",
        "-",
        "->",
        "—",
        "..",
        "SL-1 ",
        "all ",
        "`",
        "<!--",
        "|",
        "1.",
        "; ",
    ):
        text = f"{head}{piece * (60_000 // len(piece))}x\n## Swim Lanes\n### SL-1 -- x\nScope: x\n"
        assert told(text, "p.md") is not None
