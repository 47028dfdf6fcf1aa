"""Waves and numbers in team plans: nobody is begun beside those that come first, or is left out."""

import pytest

from plan_samples import plan_of, told

pytestmark = [pytest.mark.req("RUN-01"), pytest.mark.req("RUN-03")]

A, B = "- **Task ID**: one\n", "- **Task ID**: two\n"


def _order(body: str) -> list[tuple[str, str, tuple[str, ...]]]:
    """The phase, name and needs of each lane."""
    text = f"# X\n## Step by Step Tasks\n{body}"
    return [(phase.name, lane.name, lane.after) for phase, lane in plan_of(text, "p.md").lanes()]


def _waves(body: str) -> list[str]:
    """The lanes, each behind its wave."""
    return [f"{phase} {name}" for phase, name, _ in _order(body)]


def _said(body: str) -> list[str]:
    return told(f"# X\n## Step by Step Tasks\n{body}", "p.md")


def _errors(body: str) -> list[str]:
    return [each for each in _said(body) if "(warning)" not in each]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("### Wave 1\n#### 1. One\n", "### Wave 2\n#### 2. Two\n"),
        ("### Wave 1\n#### A. One\n", "### Wave 2\n#### B. Two\n"),
        ("### Wave 1 (parallel)\n### 1. One\n", "### Wave 2 — then\n### 2. Two\n"),
        ("### Wave 1: groundwork\n#### One\n", "### Wave 2: the rest\n#### Two\n"),
        ("### Phase 1: Base\n#### 1.1 One\n", "### Phase 2: Rest\n#### 2.1 Two\n"),
        ("### A. Wave one\n#### 1. One\n", "### B. Wave two\n#### 2. Two\n"),
        ("### Wave I\n#### 1. One\n", "### Wave II\n#### 2. Two\n"),
        ("### 🌊 Wave 1\n#### 1. One\n", "### 🌊 Wave 2\n#### 2. Two\n"),
        ("### 1. One (Wave 1)\n", "### 2. Two (Wave 2)\n"),
        ("### 1. One — Wave 1\n", "### 2. Two — Wave 2\n"),
        ("### 1. One [wave 1]\n", "### 2. Two [wave 2]\n"),
        ("### 1. One (W1)\n", "### 2. Two (W2)\n"),
        ("### Wave 1: One\n", "### Wave 2: Two\n"),
        ("### Wave 1\n", "### Wave 2\n"),
        ("**Wave 1**\n### 1. One\n", "**Wave 2:**\n### 2. Two\n"),
        ("Wave 1:\n\n### 1. One\n", "Wave 2:\n\n### 2. Two\n"),
        ("## Wave 1\n### 1. One\n", "## Wave 2\n### 2. Two\n"),
        ("### Milestone 1\n#### 1. One\n", "### Milestone 2\n#### 2. Two\n"),
    ],
)
def test_wave_of_a_task_is_read_wherever_it_is_said(first: str, second: str) -> None:
    assert _waves(first + A + second + B) == ["P1 one", "P2 two"]


def test_title_goes_without_the_wave() -> None:
    plan = plan_of(f"# X\n## Step by Step Tasks\n### 2. Worker (Wave 2)\n{A}", "p.md")

    assert plan.phases[0].lanes[0].tasks[0].prompt.split("\n")[0] == "Worker"


def test_wave_without_a_heading_for_the_tasks() -> None:
    text = f"# X\n## Wave 1\n### 1. One\n{A}## Wave 2\n### 2. Two\n{B}## Done when\n- all is well\n"

    plan = plan_of(text, "p.md")

    assert [(phase.name, lane.name) for phase, lane in plan.lanes()] == [
        ("P1", "one"),
        ("P2", "two"),
    ]


ITEMS = """\
### Wave 1 — groundwork (parallel)
1. **Queue table** (queue-dev)
   - Task ID: queue-table
   - Verify: `make a`
2. **Mail templates**
   - write to `app/mail/`
### Wave 2
3. **Worker loop**, one a host
   - Depends on: 1
4. `load-check`: fifty a second (after 3)
"""


def test_items_below_a_wave_are_tasks_each() -> None:
    lanes = plan_of(f"# X\n## Step by Step Tasks\n{ITEMS}", "p.md").lanes()

    made = [(phase.name, lane.name, lane.after, lane.test) for phase, lane in lanes]
    assert made == [
        ("P1", "queue-table", (), "make a"),
        ("P1", "mail-templates", (), None),
        ("P2", "worker-loop", ("P1/queue-table",), None),
        ("P2", "load-check", ("worker-loop",), None),
    ]


def test_item_is_told_with_what_stands_below_it() -> None:
    lanes = plan_of(f"# X\n## Step by Step Tasks\n{ITEMS}", "p.md").lanes()

    prompts = [lane.tasks[0].prompt for _, lane in lanes]
    assert prompts[1] == "Mail templates\n\n- write to `app/mail/`"
    assert "one a host" in prompts[2]


@pytest.mark.parametrize(
    "items",
    ["1. One\n2. Two\n", "- one\n- two\n", "- [ ] **One**\n- [ ] **Two**\n",
     "- `one`: a\n- `two`: b\n", "* one: do it\n* two: do it\n", "- Goal: a start\n- one\n- two\n",
     "| ID | Task |\n|---|---|\n| one | One |\n| two | Two |\n"],
)  # fmt: skip
@pytest.mark.parametrize("head", ["### Wave 1\n", "Wave 1:\n", "**Wave 1**\n"])
def test_items_of_any_form_are_tasks(head: str, items: str) -> None:
    assert _waves(f"{head}{items}") == ["P1 one", "P1 two"]


def test_list_of_tasks_with_ids_needs_no_waves() -> None:
    body = "1. **First**\n   - Task ID: one\n2. **Second**\n   - Task ID: two\n   - Depends On: 1\n"

    assert _order(body) == [("P1", "one", ()), ("P1", "two", ("one",))]


NUMBERED = "#### 1.1 One\n" + A + "#### 1.2 Two\n" + B + "#### 2.1 Three\n- **Task ID**: three\n"


@pytest.mark.parametrize(
    ("said", "after"),
    [
        ("1.1, 1.2", ("one", "two")),
        ("1.2", ("two",)),
        ("Task 1.1 and 1.2", ("one", "two")),
        ("1.1-1.2", ("one", "two")),
        ("#1.1 to 1.2", ("one", "two")),
        ("1", ("one", "two")),
        ("nothing, can go with 1.1", ()),
        ("none (1.2 is independent)", ()),
        ("nothing", ()),
    ],
)
def test_numbers_of_several_parts_are_whole(said: str, after: tuple[str, ...]) -> None:
    assert _order(f"{NUMBERED}- **Depends On**: {said}\n")[2] == ("P1", "three", after)


def test_letters_are_numbers_too() -> None:
    assert _order(f"### A. One\n{A}### B. Two\n{B}- Depends On: A\n")[1][2] == ("one",)


@pytest.mark.parametrize("said", ["Wave 1", "wave 1", "all of 1.1, 1.2", "1.3", "1 but not 1.2"])
def test_what_leads_nowhere_is_refused(said: str) -> None:
    assert _errors(f"{NUMBERED}- **Depends On**: {said}\n")


def test_whole_wave_can_be_waited_for() -> None:
    body = f"### Wave 1\n#### One\n{A}#### Two\n{B}### Wave 2\n#### Three\n- Task ID: three\n"

    assert _order(f"{body}- Depends On: Wave 1\n")[2][2] == ("P1/one", "P1/two")


def test_number_of_two_tasks_is_refused_where_it_is_used() -> None:
    body = f"### Wave 1\n#### 1. One\n{A}### Wave 2\n#### 1. Two\n{B}"
    last = "### Wave 3\n#### 1. Three\n- Task ID: three\n- Depends On: 1\n"

    assert _errors(body) == []
    assert "12: `1` is the number of `one` and of `two` and of `three`" in _errors(body + last)


def test_order_in_a_title_is_read() -> None:
    assert _order(f"### 1. One\n{A}### 2. Two (after 1)\n{B}")[1][2] == ("one",)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (f"### Wave 1\n#### One\n{A}- Spawn Wave: 2\n", "says wave 2, and its heading"),
        (f"### Wave 1\n#### One (Wave 2)\n{A}", "says wave 2 in its title"),
        (f"### Wave 2\nParallel: false\n#### One\n{A}", "stands at the heading of a wave"),
        (f"### 1. Base\n#### 1.1 One\n{A}### 2. Rest\n#### 2.1 Two\n{B}", "nothing says whether"),
        (f"### 1. Base\nwrite it\n#### 1.1 One\n{A}", "has no Task ID, and tasks stand below it"),
    ],
)
def test_order_that_cannot_be_understood_is_refused(body: str, says: str) -> None:
    assert any(says in each for each in _errors(body))


def test_what_is_not_read_of_a_wave_is_told() -> None:
    body = f"### Wave 1\nThese are quick.\n#### 1. One\n{A}#### 2. The wave 2 chart\n{B}"

    assert _said(body) == [
        "4: (warning) words below `Wave 1` are not read",
        "7: (warning) the wave in `2. The wave 2 chart` is not read",
    ]


def test_heading_inside_a_task_is_no_wave() -> None:
    body = f"### 1. One\n{A}#### Phase 2\nand then the rest\n### 2. Two\n{B}"

    assert _waves(body) == ["P1 one", "P1 two"]


def test_sections_beside_the_tasks_are_none() -> None:
    text = f"# X\n## 3. Step by Step Tasks\n### 1. One\n{A}## 4. Rollout\nby hand\n"

    assert [lane.name for _, lane in plan_of(text, "p.md").lanes()] == ["one"]


def test_task_that_is_not_parallel_is_told_where_others_wait() -> None:
    body = f"### 1. One\n{A}- Parallel: false\n### 2. Two\n{B}"

    assert _said(body) == ["5: (warning) `one` runs beside no other: two waits for it"]


@pytest.mark.parametrize(
    "words",
    ["Wave 1 (parallel): 1\nWave 2: 2\n", "| Wave | Tasks |\n|---|---|\n| 1 | 1 |\n| 2 | 2 |\n"],
)
def test_waves_before_the_first_task_are_refused(words: str) -> None:
    found = _errors(f"{words}### 1. One\n{A}### 2. Two\n{B}")

    assert any("speaks of waves, and is not read here" in each for each in found)


@pytest.mark.parametrize("below", [f"#### 2. Two\n{B}", "1. Two\n2. Three\n"])
def test_wave_without_a_number_is_refused(below: str) -> None:
    found = _errors(f"### Wave 1\n#### 1. One\n{A}### Final wave\n{below}")

    assert "6: `Final wave` holds tasks, and says no number of a wave" in found


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("### Wave 1\n#### SL-A -- One\n", "### Wave 2\n#### SL-B -- Two\n"),
        ("### SL-A -- One (Wave 1)\n", "### SL-B -- Two (Wave 2)\n"),
        ("### SL-A -- One\n- Wave: 1\n", "### SL-B -- Two\n- Wave: 2\n"),
    ],
)
def test_lane_of_a_phase_plan_waits_for_the_wave_before(first: str, second: str) -> None:
    text = f"# P1: X\n## Swim Lanes\n{first}Do it.\n{second}Do that.\n"

    assert [lane.after for _, lane in plan_of(text, "p.md").lanes()] == [(), ("SL-A",)]
    assert any("is in wave 2: it waits for SL-A" in each for each in told(text, "p.md"))
