"""Whose files are whose in phase plans, and lanes however they are headed: none is lost."""

import pytest

from plan_samples import plan_of, told
from standfast.plans.readers.phase import owned_files

pytestmark = [pytest.mark.req("RUN-01"), pytest.mark.req("RUN-03")]


@pytest.mark.parametrize(
    "said",
    ["`a/**` (except `a/gen/`)", "a/** except a/gen", "`a/**`, not `a/gen`", "`a/**` minus `a/gen`",
     "`a/**` but `a/gen` is of SL-B", "`a/**` (read-only: `b`)", "`a/**` and !a/gen",
     "src/* (all but src/gen)", "everything in a/ except gen", "`a/**` (SL-B: `a/gen`)",
     "`a/**`, without `a/gen`", "`a/**` (must not touch `b`)", "`a/**`; imports `b/types.ts`",
     "`a/**` (shared with SL-B)"],
)  # fmt: skip
def test_exception_is_never_owned(said: str) -> None:
    assert [each.is_error for each in owned_files.of_cell(said, 1).told] == [True]


@pytest.mark.parametrize(
    ("said", "files"),
    [
        ("`a.py` (new), `b.py`", ["a.py", "b.py"]),
        ("`a.py` (+ `a.test.py`)", ["a.py", "a.test.py"]),
        ("`a`, `b` (incl. `b/gen`)", ["a", "b", "b/gen"]),
        ("`a.ts` (new, does not exist yet)", ["a.ts"]),
        ("src/reads/x.py, tests/no/one", ["src/reads/x.py", "tests/no/one"]),
        ("shared", ["shared"]),
        ("(none)", []),
    ],
)
def test_files_are_owned_as_they_stand(said: str, files: list[str]) -> None:
    owned = owned_files.of_cell(said, 1)

    assert ([each for _, each in owned.files], owned.told) == (files, [])


def test_folder_in_words_is_read_and_told() -> None:
    owned = owned_files.of_cell("everything under b/", 4)

    assert owned.files == [(4, "b/")]
    assert str(owned.told[0]) == "`everything under b/` is taken for `b/`"


@pytest.mark.parametrize(
    "heading",
    ["SL-A -- Alpha", "SL-A · Alpha", "3.1 SL-A — Alpha", "🗄️ SL-A: Alpha", "1. SL-A | Alpha",
     "[SL-A] Alpha", "A. SL-A: Alpha", "Lane SL-A: Alpha", "3.1. Lane SL-A → Alpha", "SL-A / Alpha",
     "✅ 2) SL-A • Alpha", "**SL-A** - Alpha", "SL-A, Alpha"],
)  # fmt: skip
def test_lane_is_a_lane_however_it_is_headed(heading: str) -> None:
    text = f"# P1: X\n## Swim Lanes\n### SL-0 -- Zero\nDo it.\n### {heading}\nDo that.\n"

    lanes = [(lane.name, lane.tasks[0].prompt.split("\n")[0])
             for _, lane in plan_of(text, "p.md").lanes()]  # fmt: skip
    assert lanes == [("SL-0", "Zero"), ("SL-A", "Alpha")]


@pytest.mark.parametrize("first", ["", "### SL-0 -- Zero\nDo it.\n"])
@pytest.mark.parametrize(
    "block",
    ["### Alpha (SL-A)\nDo that.", "### Alpha\n| Task ID | Type |\n|---|---|\n| T1 | impl |"],
)
def test_lane_that_cannot_be_named_is_refused_and_goes_into_no_other(
    first: str, block: str
) -> None:
    text = f"# P1: X\n## Swim Lanes\n{first}{block}\n### SL-9 -- Nine\nDo it.\n"

    assert any("is no lane" in each and "(warning)" not in each for each in told(text, "p.md"))


INDEX = """\
# P1: X
## Lane Index
| Lane | Depends On | {head} |
|---|---|---|
| SL-A | - | {cell} |
| SL-B | SL-A | - |
## Swim Lanes
### SL-A -- Alpha
{more}Do a.
### SL-B -- Beta
- Verify: `make b`
"""


@pytest.mark.parametrize("head", ["Owned Files", "Files", "Owns", "Paths", "File ownership"])
def test_files_of_the_index_are_owned(head: str) -> None:
    text = INDEX.format(head=head, cell="`a/**`, `b.py`", more="")

    lanes = {lane.name: lane for _, lane in plan_of(text, "p.md").lanes()}
    assert (lanes["SL-A"].owns, lanes["SL-B"].owns) == (("a/**", "b.py"), ())
    assert not any("is not read" in each for each in told(text, "p.md"))


@pytest.mark.parametrize("head", ["Tests", "Test Command", "Verify"])
def test_tests_of_the_index_are_run(head: str) -> None:
    text = INDEX.format(head=head, cell="`make a`", more="")

    assert [lane.test for _, lane in plan_of(text, "p.md").lanes()] == ["make a", "make b"]


def test_lane_speaks_for_itself_and_the_difference_is_told() -> None:
    text = INDEX.format(head="Owned Files", cell="`a/**`", more="- Owned files: `c/**`\n")

    assert next(lane.owns for _, lane in plan_of(text, "p.md").lanes()) == ("c/**",)
    assert "5: (warning) `Owned Files` of `SL-A` is said otherwise in line 9" in told(text, "p.md")


def test_order_in_the_title_of_a_lane_is_read() -> None:
    text = "# P1: X\n## Swim Lanes\n### SL-A -- One\nDo.\n### SL-B -- Two (after SL-A)\nDo.\n"

    assert [lane.after for _, lane in plan_of(text, "p.md").lanes()] == [(), ("SL-A",)]


@pytest.mark.parametrize(
    ("said", "is_error"),
    [("none, SL-A first", True), ("none, can run with SL-A", False), ("no, only IF-0-P1-A", True)],
)
def test_lane_beside_none_is_never_passed_over(said: str, *, is_error: bool) -> None:
    lanes = "### SL-A -- One\nDo.\n### SL-B -- Two\n"
    found = told(f"# P1: X\n## Swim Lanes\n{lanes}- Depends on: {said}\nDo.\n", "p.md")

    assert [("(warning)" not in each) for each in found if each.startswith("6:")] == [is_error]
