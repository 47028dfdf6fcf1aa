"""Indexes of phase plans that stand anywhere, under whatever heading: none is passed over."""

import pytest

from plan_samples import plan_of, told

pytestmark = [pytest.mark.req("RUN-01"), pytest.mark.req("RUN-03")]

LISTED = """\
SL-A -- One
  Depends on: none
  Blocks: SL-B
SL-B -- Two
  Depends on: SL-A
SL-C -- Three
  Depends on: SL-B"""
BULLETS = LISTED.replace("SL-A --", "- SL-A --").replace("SL-B --", "- SL-B --")
FENCED = f"```\n{LISTED}\n```"
TABLE = """\
| Lane | Title | Depends on | Parallel-safe |
|---|---|---|---|
| SL-A | One | none | yes |
| SL-B | Two | SL-A | yes |
| SL-C | Three | SL-B | yes |"""
LANES = """\
### SL-A -- One
Scope: a
### SL-B -- Two
Scope: b
### SL-C -- Three
Scope: c
"""
CHAIN = {"SL-A": (), "SL-B": ("SL-A",), "SL-C": ("SL-B",)}


def _after(text: str) -> dict[str, tuple[str, ...]]:
    return {lane.name: lane.after for _, lane in plan_of(text, "p.md").lanes()}


@pytest.mark.parametrize(
    "heading",
    [
        "Swim Lanes — Lane Index & Dependencies",
        "B. Swim Lanes — Lane Index & Dependencies",
        "Lanes & Dependencies",
        "Lane index/dependencies",
        "Lane Index — Dependencies",
        "Swim Lane Index & Dependencies",
        "Lane Overview",
        "Swim Lane Overview",
        "Index of lanes",
        "Dependencies",
        "Dependency graph",
        "Lane Index, Dependencies & Parallelism",
        "Lanes and dependencies",
        "Who does what when",
        "3) Sequencing (draft)",
        "Overview",
        "Execution Notes",
    ],
)
@pytest.mark.parametrize("index", [LISTED, BULLETS, FENCED, TABLE])
def test_index_is_read_under_any_heading(heading: str, index: str) -> None:
    assert _after(f"# P1: X\n## {heading}\n\n{index}\n\n## Swim Lanes\n{LANES}") == CHAIN


@pytest.mark.parametrize("index", [LISTED, BULLETS, FENCED, TABLE])
@pytest.mark.parametrize("head", ["", "**Lane Index & Dependencies**\n\n", "As agreed:\n\n"])
def test_index_is_read_right_below_swim_lanes(index: str, head: str) -> None:
    assert _after(f"# P1: X\n## D. Swim Lanes\n\n{head}{index}\n\n{LANES}") == CHAIN


@pytest.mark.parametrize("index", [LISTED, TABLE])
@pytest.mark.parametrize(
    "heading",
    ["### Lane Index & Dependencies", "#### Lane Index & Dependencies", "#### Order", "### Deps"],
)
def test_index_is_read_below_a_heading_of_swim_lanes(index: str, heading: str) -> None:
    assert _after(f"# P1: X\n## D. Swim Lanes\n\n{heading}\n\n{index}\n\n{LANES}") == CHAIN


def test_index_is_read_below_the_title_and_after_the_lanes() -> None:
    assert _after(f"# P1: X\n{LISTED}\n## Swim Lanes\n{LANES}") == CHAIN
    assert _after(f"# P1: X\n## Swim Lanes\n{LANES}\n## What waits\n{TABLE}\n") == CHAIN
    assert _after(f"# P1: X\n## Swim Lanes\n{LANES}### Order of it\n{LISTED}\n") == CHAIN


def test_index_with_headings_of_its_own_is_read_under_any() -> None:
    listed = (
        "### SL-A\nDepends on: none\n### SL-B\n- Depends on: SL-A\n### SL-C\n- Depends on: SL-B\n"
    )

    assert _after(f"# P1: X\n## Order\n{listed}## Swim Lanes\n{LANES}") == CHAIN


def test_index_of_the_heading_of_the_lanes_themselves() -> None:
    heading = "## Swim Lanes: Index and Dependencies"

    assert _after(f"# P1: X\n{heading}\n{LISTED}\n\n{LANES}") == CHAIN


def test_drawing_under_a_heading_that_says_so_is_read() -> None:
    drawn = "```mermaid\ngraph LR\nSL-A --> SL-B\nSL-B --> SL-C\n```"

    assert _after(f"# P1: X\n## Dependency graph\n{drawn}\n## Swim Lanes\n{LANES}") == CHAIN


def test_indexes_that_agree_are_one() -> None:
    drawn = "## Dependency graph\nSL-A -> SL-B -> SL-C\n"
    blocks = "## Notes\n| Lane | Blocks |\n|---|---|\n| SL-A | SL-B, SL-C |\n| SL-B | SL-C |\n"

    assert _after(f"# P1: X\n## Lane Index\n{LISTED}\n{drawn}## Swim Lanes\n{LANES}{blocks}") == (
        CHAIN | {"SL-C": ("SL-B", "SL-A")}
    )


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ("SL-B -> SL-A", "11: the lane `SL-A` waits for `SL-B`, which waits for `SL-A`"),
        (
            "- SL-A\n- SL-B\n  - Depends on: none",
            "13: `SL-B` waits for nobody here, and for SL-A in line 7",
        ),
        (
            "| Lane | Parallel-safe |\n|---|---|\n| SL-A | no |",
            "13: `SL-A` is said to be parallel-safe otherwise than in line 5",
        ),
    ],
)
def test_indexes_that_contradict_each_other_are_an_error(other: str, says: str) -> None:
    listed = LISTED.replace("Blocks: SL-B", "Parallel-safe: yes")
    text = f"# P1: X\n## Lane Index\n{listed}\n## Dependency graph\n{other}\n"

    assert says in told(f"{text}## Swim Lanes\n{LANES}", "p.md")


@pytest.mark.parametrize("heading", ["Swim Lanes — Lane Index & Dependencies", "Index of lanes"])
def test_index_by_another_name_that_says_nothing_is_an_error(heading: str) -> None:
    text = f"# P1: X\n## {heading}\nAs discussed.\n## Lanes\n{LANES}"

    assert "2: nothing of the index could be read" in told(text, "p.md")


def test_words_of_other_sections_are_no_index() -> None:
    text = f"""# P1: X
## Dependencies
- react 18
- SL-B is the one that needs care
## Risks
| ID | Risk | Depends on |
|---|---|---|
| R1 | late | vendor |
## Interface Freeze Gates
| Gate | Lane | Blocks |
|---|---|---|
| IF-0-P1-X | SL-A | SL-B, SL-C |
## Swim Lanes
{LANES}"""

    assert _after(text) == {"SL-A": (), "SL-B": (), "SL-C": ()}


def test_gates_table_does_not_become_an_index_of_its_own() -> None:
    assert (
        told("# P1: X\n## Swim Lanes\n| Lane | Size |\n|---|---|\n| SL-A | L |\n" + LANES, "p.md")[
            0
        ]
        == "3: a table stands here before any lane"
    )


@pytest.mark.parametrize(
    "said",
    ["(depends on: {})", "(depends on: {}) — in short", "(blocked by: {}; parallel: yes)",
     "(parallel-safe: yes, depends on: {})", "-- [x] (a part) (depends on: {})"],
)  # fmt: skip
def test_keys_in_parentheses_behind_a_lane_end_with_them(said: str) -> None:
    index = "\n".join(
        f"{at}. **{lane}** {said.format(after)}"
        for at, (lane, after) in enumerate([("SL-A", "none"), ("SL-B", "SL-A"), ("SL-C", "SL-B")])
    )
    text = f"# P1: One\n## Lane Index & Dependencies\n{index}\n## Swim Lanes\n{LANES}"

    assert _after(text) == CHAIN
