"""Tables of tasks, titles and remarks of phase plans, as hurried people write them."""

import pytest

from plan_samples import plan_of, told

pytestmark = pytest.mark.req("RUN-01")


@pytest.mark.parametrize(
    "heads",
    [
        "Task | Type | Depends | Files | Tests Owned | Test Cmd | Acceptance criteria",
        "ID | Kind | Deps | Files in scope | Test Files | Command | Done when",
        "Task ID | Task Type | Blocked by | Paths | Owned tests | Run | Accept",
        "Task Id | Type | After | File(s) | Tests owned files | Verification | Acceptance",
        "T-ID | Type | Needs | Scope | Test file(s) | How to test | Criteria",
    ],
)
def test_columns_are_known_by_their_words(heads: str) -> None:
    text = f"""# P1: X
## Swim Lanes
### SL-A -- One
**Owned Files**: `a.py`

| {heads} |
|---|---|---|---|---|---|---|
| A2 | impl | A1 | `a.py` | - | - | works |
| A1 | test | - | - | `t.py` | `pytest t.py` | red |
"""
    lane = next(lane for _, lane in plan_of(text, "p.md").lanes())

    assert not told(text, "p.md")
    assert (lane.owns, lane.test) == (("a.py", "t.py"), "pytest t.py")
    assert [(task.name, task.after, task.done) for task in lane.tasks] == [
        ("A1", (), "red"),
        ("A2", ("A1",), "works"),
    ]


def test_test_that_an_item_names_is_that_of_the_lane() -> None:
    text = """# P1: X
## Swim Lanes
### SL-A -- One
**Tasks**
- A.1 (test): write `t.py`. Run `pytest t.py`
- A.2 (impl): see `src/x.py`

## Test Execution Plan
`pytest`
"""
    lane = next(lane for _, lane in plan_of(text, "p.md").lanes())

    assert lane.test == "pytest t.py"
    assert "A.2 (impl): see `src/x.py`" in lane.tasks[0].prompt
    assert "5: (warning) `pytest t.py` is taken for its test" in told(text, "p.md")


@pytest.mark.parametrize(
    ("head", "phase"),
    [
        ("# 🚀 Phase 3 — CSV import", "P3"),
        ("# ✨ P4: CSV", "P4"),
        ("# P7 Migration", "P7"),
        ("# Phase 2a Migration of users", "P2a"),
        ("---\nphase: P6\ntitle: x\n---\n\n# Mobile offline mode", "P6"),
        ("---\ntitle: x\nphase: 7\n---\n# Mobile", "P7"),
        ('---\nphase: "Phase 8"\n---\n# Mobile: offline', "P8"),
        ("---\nphase: P6\n---\n# Phase 3: Mobile", "P3"),
    ],
)
def test_phase_is_that_of_title_or_head(head: str, phase: str) -> None:
    text = f"{head}\n## Swim Lanes\n### SL-A -- One\nScope: a\n"

    assert plan_of(text, "p.md").phases[0].name == phase
    assert not any("Its phase is called" in each for each in told(text, "p.md"))


def test_lane_that_is_put_behind_one_that_runs_alone_is_named() -> None:
    text = """# P1: X
## Lane Index
- SL-A
  - Parallel-safe: no
- SL-B
  - Depends on: none
- SL-C
  - Depends on: SL-A
## Swim Lanes
### SL-A -- One
Scope: a
### SL-B -- Two
Scope: b
### SL-C -- Three
Scope: c
"""

    assert "4: (warning) `SL-A` runs beside no other: SL-B waits for it" in told(text, "p.md")
