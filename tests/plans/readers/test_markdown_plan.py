"""Twenty Markdown plans as people and models write them: read, or refused with line and reason."""

import pytest

from places import TESTS
from plan_samples import plan_of, told
from standfast.plans.checks import exclusive_lanes, lane_waves
from standfast.plans.model import Lane, Phase, Plan, Task
from standfast.plans.readers import plan_reader

pytestmark = pytest.mark.req("RUN-01")

PLANS = TESTS / "fixtures" / "markdown_plans"
ONE_TASK = "(warning) the lane `{}` has no table of tasks"
NAME_RULE = "may hold only ASCII letters, digits, `.`, `_` and `-`"

# What is said of each plan, and its waves; a plan that is refused has none.
SAID: dict[str, tuple[list[str], list[str]]] = {
    "team-01-as-meant.md": (
        ["53: (warning) the model `opus` is not asked for"],
        ["P1: create-schema", "P2: build-api", "P2: validate-all"],
    ),
    "team-02-bullets-and-bold.md": ([], ["P1: merge-forms", "P1: style-it", "P1: check-it"]),
    "team-03-crlf-and-bom.md": (
        ["13: `second` waits for `P2/first`, which is in a later phase"],
        [],
    ),
    "team-04-headings-in-fences.md": ([], ["P1: readme", "P1: check"]),
    "team-05-headings-at-wrong-levels.md": (
        [
            "4: (warning) words before the first task are not read",
            "20: (warning) `Phase two` is no task: it has no Task ID",
        ],
        ["P1: parse", "P1: print", "P1: both"],
    ),
    "team-06-no-ids.md": (
        [
            "5: (warning) the task has no Task ID; it is called `set-up-the-database`",
            "9: (warning) the task has no Task ID; it is called `add-the-api-v2`",
            "12: (warning) `Estimate` is not a key of a task",
            "14: the lane `add-the-api-v2` is there twice; first in line 9",
            "16: (warning) the task has no Task ID; it is called `add-the-api-v2`",
        ],
        [],
    ),
    "team-07-ring-and-strangers.md": (
        [
            ("8: the lane `task-a` waits for `task-c`, which waits for `task-b`, which waits for"
            " `task-a`"),
            "13: `task-b` waits for `task-x`, and there is no such lane",
            "14: `Retries` is `lots`, not a number from 0 to 20",
            "20: `Spawn Wave` is `soon`, not a number from 1 to 1000",
            "22: the lane `task-c` is there twice; first in line 16",
            f"28: the Task ID `../../etc` {NAME_RULE}",
        ],
        [],
    ),
    "team-08-waves-from-the-team.md": (
        [
            "26: (warning) there is no team member `dora`",
            "27: (warning) `web wizard` is no Agent Type that is known",
            "42: (warning) `nothing-of-ours` is neither a task nor a teammate who has one",
        ],
        ["P1: schema", "P2: api", "P3: docs site"],
    ),
    "team-09-not-parallel.md": (
        [
            "1: (warning) the head of the file, down to line 3, is not read",
            ("16: (warning) `two` runs beside no other: it waits for one, and three, four wait"
            " for it"),
            "22: (warning) `Validate` names no command: `the numbers must add up`",
            "31: (warning) `Run the tests by hand.` has no command",
        ],
        ["P1: one", "P1: two", "P1: three four"],
    ),
    "team-10-no-end-of-a-fence.md": (
        [
            "8: `Task ID` stands twice in this task; first in line 7",
            "10: a code fence is never closed: nothing after this line is read",
        ],
        [],
    ),
    "phase-01-as-meant.md": ([], ["P1: SL-DB", "P1: SL-API"]),
    "phase-02-table-as-index.md": (
        [
            "7: (warning) the column `Owner` of the index is not read",
            "11: (warning) Parallel-safe is `perhaps`, which is taken for no",
            "45: (warning) the task type `polish` is not known; it is done by a builder",
        ],
        ["P2: SL-IDX", "P2: SL-QRY", "P2: SL-UI"],
    ),
    "phase-03-crlf-and-bom.md": ([], ["P3: SL-1"]),
    "phase-04-headings-in-fences.md": ([], ["P4: SL-1"]),
    "phase-05-headings-at-wrong-levels.md": (
        [f"21: {ONE_TASK.format('SL-2')}"],
        ["P5: SL-1", "P5: SL-2"],
    ),
    "phase-06-index-without-lanes.md": (
        [
            "5: `Depends on` stands before any lane",
            "7: `SL-1` waits for `SL-7`, and there is no such lane",
            "8: (warning) `SL-1` blocks `SL-2`, which does not say that it depends on it",
            "10: the index names the lane `SL-3`, which has no section",
            "11: (warning) `SL-1 -- Once more` is not read",
            "12: (warning) `The order was agreed on Monday.` is not read",
            "22: (warning) the lane `SL-2` is not in the index",
            f"22: {ONE_TASK.format('SL-2')}",
        ],
        [],
    ),
    "phase-07-broken-tables.md": (
        [
            "5: a table stands here before any lane",
            "11: the table has two columns `depends on`",
            "17: the table has no column `Task ID`",
            "23: (warning) the table has no line of dashes below its head",
            "25: the row has 5 cells, and the table 3 columns",
            "26: the Task ID `` is empty",
            f"27: the Task ID `T 4` {NAME_RULE}",
            "27: `T 4` waits for `T9`: the lane has no such task",
        ],
        [],
    ),
    "phase-08-same-files.md": (
        [
            f"17: {ONE_TASK.format('SL-1')}",
            f"20: {ONE_TASK.format('SL-2')}",
            ("22: the file `../outside` has the component `..`, so it does not say plainly where it"
            " leads"),
            ("22: `SL-2` owns `src/two/*.py`, and `SL-1`, which can run at the same time, owns"
            " `src/**` (line 19)"),
            f"23: {ONE_TASK.format('SL-3')}",
            "25: (warning) `all files of the third module` is taken for the name of a file",
        ],
        [],
    ),
    "phase-09-ring.md": (
        [
            "6: the lane `SL-A` waits for `SL-C`, which waits for `SL-B`, which waits for `SL-A`",
            f"14: {ONE_TASK.format('SL-A')}",
            f"16: {ONE_TASK.format('SL-B')}",
            "18: `Retries` is `99`, not a number from 0 to 20",
            f"19: {ONE_TASK.format('SL-C')}",
            f"21: {ONE_TASK.format('SL-C')}",
            "21: the lane `SL-C` is there twice; first in line 19",
            "23: (warning) the lane `SL-D` is not in the index",
            "23: the lane `SL-D` has no tasks",
        ],
        [],
    ),
    "phase-10-not-parallel.md": (
        [
            "6: (warning) `SL-2` runs beside no other: it waits for SL-1, and SL-3 waits for it",
            "7: (warning) `SL-3` blocks `SL-4`, which does not say that it depends on it",
            f"11: {ONE_TASK.format('SL-1')}",
            f"13: {ONE_TASK.format('SL-2')}",
            f"15: {ONE_TASK.format('SL-3')}",
            "17: (warning) the lane `SL-4` is not in the index",
            "19: (warning) the column `Risk` is not known",
            "21: (warning) a task here depends on one of `SL-1`",
        ],
        ["Release: SL-1", "Release: SL-2", "Release: SL-3", "Release: SL-4"],
    ),
}  # fmt: skip


def test_every_plan_is_spoken_of() -> None:
    assert sorted(SAID) == sorted(path.name for path in PLANS.iterdir())
    assert len(SAID) == 20


@pytest.mark.req("RUN-03")
@pytest.mark.parametrize("name", sorted(SAID))
def test_plan_is_read_or_refused_with_line_and_reason(name: str) -> None:
    says, waves = SAID[name]
    data = (PLANS / name).read_bytes()
    plan, _ = plan_reader.read(data, name)

    assert told(data, name) == says
    assert [f"{each.phase}: {' '.join(each.lanes)}" for each in _waves(plan)] == waves


def _waves(plan: Plan | None) -> list[lane_waves.Wave]:
    return [] if plan is None else lane_waves.waves(plan)


def _lanes(name: str) -> dict[str, Lane]:
    plan = plan_of((PLANS / name).read_bytes(), name)
    return {lane.name: lane for _, lane in plan.lanes()}


# What becomes of a team plan.


def test_task_of_a_team_plan_becomes_a_lane() -> None:
    lanes = _lanes("team-01-as-meant.md")
    schema, api = lanes["create-schema"], lanes["build-api"]
    plan = plan_of((PLANS / "team-01-as-meant.md").read_bytes(), "team-01-as-meant.md")

    assert schema.tasks[0].prompt == (
        "Create the schema\n\n"
        "You are builder-1.\ndatabase work\n\n"
        "What all of this is for: Users can log in.\n\n"
        "Read first:\n- src/db.ts\n- docs/auth.md\n\n"
        "- Add the users table\n- Add the sessions table\n\n"
        "- **Verify**: `npm run migrate`\n- **Expected**: ok\n\n"
        "All of this is done when:\n- works"
    )
    assert (api.after, api.test) == (("P1/create-schema",), "npm test -- api")
    assert (lanes["validate-all"].tasks[0].role, schema.test) == ("validator", "npm run migrate")
    assert (plan.kind, plan.test) == ("team", "set -e\nnpm run lint\nnpm test")
    assert [phase.title for phase in plan.phases] == ["Wave 1", "Wave 2"]


def test_keys_are_known_however_they_are_marked() -> None:
    lanes = _lanes("team-02-bullets-and-bold.md")
    style = lanes["style-it"].tasks[0]

    assert style.role == "designer"
    assert "Read first:\n- src/checkout.tsx\n- src/theme.css\n" in style.prompt
    assert style.prompt.endswith("+ Make it look right\n  on small screens too")
    assert lanes["check-it"].after == ("merge-forms", "style-it")
    assert lanes["check-it"].test == ""


def test_commands_of_fences_are_taken_without_their_prompts() -> None:
    lanes = _lanes("team-04-headings-in-fences.md")

    assert lanes["check"].test == "set -e\nnpm run lint:md\nnpm run spell"
    assert "### 9. Not a task" in lanes["readme"].tasks[0].prompt


def test_task_outside_its_section_is_not_lost() -> None:
    text = """\
        ## Step by Step Tasks
        ### 1. One
        - **Task ID**: one
        ## Notes
        ### 2. Two
        - **Task ID**: two
        """

    assert told(text, "p.md") == ["5: `2. Two` does not stand under Step by Step Tasks"]


# What becomes of a phase plan.


def test_rows_of_a_swim_lane_become_its_tasks_in_turn() -> None:
    lanes = _lanes("phase-02-table-as-index.md")
    index = lanes["SL-IDX"]

    assert [(task.name, task.role) for task in index.tasks] == [
        ("IDX-1", "builder"),
        ("IDX-2", "builder"),
        ("IDX-3", "validator"),
    ]
    assert index.owns == ("src/index/**", "test/index/*.py")
    assert index.test == "set -e\npytest test/index\nmake bench\nmake lint"
    assert (index.retries, lanes["SL-QRY"].retries) == (None, 3)
    assert lanes["SL-UI"].after == ("SL-IDX", "SL-QRY")
    plan = plan_of((PLANS / "phase-02-table-as-index.md").read_bytes(), "p.md")
    assert (plan.kind, plan.retries, plan.phases[0].title) == ("phase", 1, "Search")


def test_prompt_of_a_row_has_the_lane_around_it() -> None:
    (first, _) = _lanes("phase-01-as-meant.md")["SL-DB"].tasks

    assert first.prompt == (
        "Task T1 of lane SL-DB: Schema\n\n"
        "Task type: test\nFiles in scope: test/db.py\nAcceptance criteria: test fails\n\n"
        "It is tested by:\n- pytest test/db.py | tee x\n\n"
        "- **Scope**: tables\n- **Interfaces provided**: IF-0-P1-SCHEMA\n"
        "- **Interfaces consumed**: (none)\n\n"
        "Change only these files: migrations/**\n\n"
        "The phase is done when:\n- all green"
    )


def test_pipe_in_a_cell_may_be_escaped_or_in_backticks() -> None:
    assert _lanes("phase-04-headings-in-fences.md")["SL-1"].test == 'grep "a|b" out'
    assert "pytest test/db.py | tee x" in (_lanes("phase-01-as-meant.md")["SL-DB"].test or "")


def test_lane_outside_its_section_is_not_lost() -> None:
    text = """\
        # P1: X
        ## Swim Lanes
        ### SL-1 -- One
        Do one.
        ## Test Execution Plan
        ### SL-2 -- Two
        Do two.
        """

    assert "6: `SL-2 -- Two` does not stand under Swim Lanes" in told(text, "p.md")


@pytest.mark.req("RUN-03")
def test_lane_that_is_blocked_waits_even_if_it_does_not_say_so() -> None:
    lanes = _lanes("phase-10-not-parallel.md")

    assert lanes["SL-4"].after == ("SL-3", "SL-1")
    assert lanes["SL-3"].after == ("SL-2",)


@pytest.mark.req("RUN-03")
def test_lane_that_runs_alone_has_its_turn_from_top_to_bottom() -> None:
    lanes = tuple(
        Lane(name, (Task("task", "x"),), after=after)
        for name, after in (("a", ()), ("b", ("a",)), ("x", ("a",)), ("c", ("P1/b",)), ("y", ()))
    )

    made = exclusive_lanes.set_apart(Phase("P1", lanes), {"x", "y"})

    assert [(lane.name, lane.after) for lane in made.lanes] == [
        ("a", ()),
        ("b", ("a",)),
        ("x", ("a", "b")),
        ("c", ("P1/b", "x")),
        ("y", ("c",)),
    ]


# Which kind it is.


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("p.yml", "lanes: {a: x}", "yaml"),
        ("p.json", '{"lanes": {"a": "x"}}', "yaml"),
        ("PLAN", "# a plan\nlanes: {a: x}", "yaml"),
        ("PLAN", "# P1: x\n## Swim Lanes\n### SL-1 -- a\nDo it.", "phase"),
        ("PLAN.MD", "## Step by Step Tasks\n### 1. a\n- **Task ID**: a\n", "team"),
        ("p.md", "# x\n## Tasks\n### 1. a\n- **Task ID**: a\n", "team"),
        ("p.txt", "**Step by Step Tasks**\n### 1. a\n- **Task ID**: a\n", "team"),
    ],
)
def test_kind_is_found_from_extension_and_content(name: str, text: str, kind: str) -> None:
    assert plan_of(text, name).kind == kind


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "1: this is neither a team plan nor a phase plan"),
        ("## Tasks\n- [ ] buy milk\n", "1: this is neither a team plan nor a phase plan"),
        ("lanes: {a: x}", "1: this is neither a team plan nor a phase plan"),
        ("# x\n## Swim Lanes\n", "2: there are no lanes"),
        ("# x\n## Step by Step Tasks\n", "2: there are no tasks"),
    ],
)
def test_markdown_that_is_no_plan_is_refused(text: str, says: str) -> None:
    assert told(text, "p.md") == [says]


@pytest.mark.req("SEC-02")
@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"## Swim Lanes\n" + b"x" * 10_000_000, "1: 10000014 bytes; at most 2097152 are read"),
        (b"## Swim Lanes\n\0", "2: a NUL byte in the text"),
        (b"## Swim Lanes\n\xff", "2: not UTF-8 text"),
        (b"## Swim Lanes\n" + b"".join(b"### SL-%d\n" % n for n in range(2_001)),
         "1: 2,001 lanes; a plan has 2,000 at most"),
        (b"## Step by Step Tasks\n" + b"### 1. x\n" * 2_001,
         "1: 2,001 tasks; a plan has 2,000 at most"),
        (b"## Swim Lanes\n### SL-1\n| Task ID |\n|---|\n" + b"| T |\n" * 101,
         "2: 101 tasks; a lane has 100 at most"),
    ],
    ids=["10 MB", "NUL", "no UTF-8", "lanes", "tasks", "rows"],
)  # fmt: skip
def test_what_no_plan_may_be_is_refused_with_one_sentence(data: bytes, says: str) -> None:
    assert says in told(data, "p.md")


def test_long_rows_of_marks_take_no_longer_than_their_length() -> None:
    for piece in (b"**", b"| ", b"- **a**: ", b"(", b"### 1. x\n- **Depends On**: 1\n", b"`",
                  b"---", b"- SL-1; Depends on: SL-1\n"):  # fmt: skip
        for start in (b"## Swim Lanes\n### SL-1 -- x\n", b"## Step by Step Tasks\n### 1. x\n",
                      b"## Lane Index\n## Swim Lanes\n### SL-1\n"):  # fmt: skip
            assert told(start + piece * (200_000 // len(piece)), "p.md") is not None
