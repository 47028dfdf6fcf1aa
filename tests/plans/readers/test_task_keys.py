"""Keys of tasks in team plans as people call them: what orders or tests a task is never lost."""

import pytest

from plan_samples import plan_of, told

pytestmark = [pytest.mark.req("RUN-01"), pytest.mark.req("RUN-03")]


def _plan(*more: str) -> str:
    names = ("one", "two", "three")
    tasks = [f"### {at}. {name.title()}\n- **Task ID**: {name}\n- do it\n"
             for at, name in enumerate(names, 1)]  # fmt: skip
    return "# P\n## Step by Step Tasks\n" + "".join(tasks) + "\n".join(more) + "\n"


def _last(*more: str) -> tuple[tuple[str, ...], str | None]:
    lane = {lane.name: lane for _, lane in plan_of(_plan(*more), "p.md").lanes()}["three"]
    return lane.after, lane.test


@pytest.mark.parametrize(
    "key",
    ["Depends", "depends on", "Dependency", "Deps", "Blocked By", "Blocked on", "After", "Needs",
     "Requires", "Waits for", "Prerequisites", "Start after", "Depends on tasks", "Blockers",
     "Predecessors", "**Depends**", "**Runs after**"],
)  # fmt: skip
@pytest.mark.parametrize("value", ["1", "one", "Task 1", "`one`", "One", "#1"])
def test_whom_a_task_waits_for_is_read_by_any_name(key: str, value: str) -> None:
    assert _last(f"- {key}: {value}")[0] == ("one",)


@pytest.mark.parametrize("value", ["1-2", "1 to 2", "one-two", "one to two", "1, 2", "one & two"])
def test_several_tasks_are_named_in_any_way(value: str) -> None:
    assert _last(f"- Depends: {value}")[0] == ("one", "two")


@pytest.mark.parametrize("key", ["Blocks", "Unblocks", "**Needed by**", "Required by"])
def test_task_that_is_blocked_waits(key: str) -> None:
    text = _plan().replace("### 2.", f"- {key}: 3\n### 2.")

    assert [lane.after for _, lane in plan_of(text, "p.md").lanes()] == [(), (), ("one",)]


@pytest.mark.parametrize("key", ["Needs migration", "Dependent things", "Blocks the road", "After"])
def test_key_that_could_order_tasks_and_cannot_be_read_is_an_error(key: str) -> None:
    assert any(
        said.startswith("12: ") and "(warning)" not in said
        for said in told(_plan(f"- {key}: the big one"), "p.md")
    )


@pytest.mark.parametrize("key", ["Requirements", "Blockquote style", "Needle", "Aftermath"])
def test_key_that_only_begins_alike_is_a_word_of_the_task(key: str) -> None:
    assert _last(f"- {key}: the big one") == ((), None)


@pytest.mark.parametrize(
    "line",
    ["- How to test: `pytest b`", "- Testing: `pytest b`", "  - Verify by running `pytest b`",
     "- Verify with `pytest b`", "- **Test plan**: `pytest b`", "- Test cmd: pytest b",
     "- Test by running `pytest b`", "- How to verify: pytest b", "Check: `pytest b`",
     "- **How to test**: `pytest b`", "- Verification steps: `pytest b`"],
)  # fmt: skip
def test_test_of_a_task_is_read_by_any_name(line: str) -> None:
    assert _last(line) == ((), "pytest b")
    assert _last("- Depends: 1", line) == (("one",), "pytest b")


@pytest.mark.parametrize(
    "line",
    ["- do it, then `pytest b` must pass", "- finish with `npm run test:unit`", "`go test ./...`",
     "- run `cargo test`", "- Quality: `make check`"],
)  # fmt: skip
def test_line_with_a_test_that_is_not_read_is_told(line: str) -> None:
    tested = _plan(line).replace("- do it", "- Verify: `pytest a`\n- do it", 1)

    said, alone = told(tested, "p.md"), told(_plan(line), "p.md")

    assert any(each.startswith("13: (warning)") and "names a test" in each for each in said)
    assert any(each.startswith("12: ") and "names a test" in each for each in alone)
    assert not any("(warning)" in each for each in alone)  # nothing would be tested


def test_task_is_named_by_its_heading() -> None:
    text = """\
        # i18n
        ## Tasks
        ### T1: Extract
        Depends on: —
        Test: `npm run a`
        ### T2 — Load
        Depends on: -
        ### T3 - Words
        Depends on: T1
        ### T4. All
        Depends on: T1-T3
        ## Spawn waves
        | Wave | Teammates | Tasks |
        |---|---|---|
        | 1 | x | T1, T2 |
        | 2 | y | T3 |
        | 3 | z | T4 |
        """
    lanes = [(lane.name, lane.after, lane.test) for _, lane in plan_of(text, "p.md").lanes()]

    assert lanes == [
        ("T1", (), "npm run a"),
        ("T2", (), None),
        ("T3", ("P1/T1",), None),
        ("T4", ("P1/T1", "P1/T2", "P2/T3"), None),
    ]


def test_tasks_that_are_items_below_waves() -> None:
    text = """\
        # Logging
        ## Wave 1
        - [ ] **L1** Logger (owner: anna) - `pkg/log.go`
          - Verify: `go test ./log`
        - [ ] **L2** Middleware
        ## Wave 2 (after wave 1)
        - [ ] **L3** Replace (owner: bo) - depends on L1
          - Verify: `go vet ./...`
        ## Done when
        * nothing is left
        """
    plan = plan_of(text, "p.md")

    assert [(phase.name, lane.name, lane.after, lane.test) for phase, lane in plan.lanes()] == [
        ("P1", "L1", (), "go test ./log"),
        ("P1", "L2", (), None),
        ("P2", "L3", ("P1/L1",), "go vet ./..."),
    ]


def test_tasks_that_are_rows_of_a_table() -> None:
    text = """\
        # Logging
        ## Step by Step Tasks
        | ID | Task | Depends on | Assigned to | Test |
        |---|---|---|---|---|
        | L1 | Logger | - | anna | `go test ./log` |
        | L2 | Middleware | L1 | bo | - |
        """

    assert [(lane.name, lane.after, lane.test) for _, lane in plan_of(text, "p.md").lanes()] == [
        ("L1", (), "go test ./log"),
        ("L2", ("L1",), None),
    ]


def test_table_that_sums_up_tasks_makes_no_others() -> None:
    summary = "| Task | Owner |\n|---|---|\n| One | anna |\n"
    text = _plan().replace("### 1.", f"{summary}### 1.")

    assert [lane.name for _, lane in plan_of(text, "p.md").lanes()] == ["one", "two", "three"]


@pytest.mark.parametrize(
    "key", ["Owner", "Assignee", "**Assigned To**", "Owned by", "Teammate", "Responsible"]
)
def test_who_does_a_task_is_read_by_any_name(key: str) -> None:
    text = (
        "# P\n## Team Members\n| Name | Role |\n|---|---|\n| ann | builder |\n| qa | Validator |\n"
        "## Spawn Waves\n- Wave 1: ann\n- Wave 2: qa\n## Tasks\n"
        f"### 1. Make\n- Task ID: make\n- {key}: ann\n### 2. See\n- Task ID: see\n- {key}: qa\n"
    )

    plan = plan_of(text, "p.md")

    lanes = {lane.name: (phase.name, lane.tasks[0].role) for phase, lane in plan.lanes()}
    assert lanes == {"make": ("P1", "builder"), "see": ("P2", "validator")}
    assert told(text, "p.md") == []
