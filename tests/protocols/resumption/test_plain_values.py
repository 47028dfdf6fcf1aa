"""What hurried hands write for a number, a status, a phase or a time is read as people read it."""

from datetime import UTC
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from standfast.formats import stated_times
from standfast.formats.yaml_lost_comments import comments, lost
from standfast.protocols.resumption.rules import plain_values
from standfast.protocols.resumption.rules.migration.phase_prose import phase_in
from standfast.protocols.resumption.rules.migration.status_prose import COMPLETE, status_in
from standfast.protocols.resumption.rules.plain_values import Phase
from standfast.protocols.resumption.rules.staleness import seconds

pytestmark = pytest.mark.req("RES-25")


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("IN_PROGRESS", "ACTIVE"),
        ("in progress: two agents", "ACTIVE"),
        ("COMPLETED - all gates passed", "COMPLETE"),
        ("✅ Done.", "COMPLETE"),
        ("WORKFLOW_COMPLETE", "COMPLETE"),
        ("Complete (phase 5 of 5)", "COMPLETE"),
        ("blocked on user", "PAUSED"),
        ("not started", "PAUSED"),
        ("Canceled", "CANCELLED"),
        ("aborted", "FAILED"),
        ("done with phase 2", None),
        ("complete for phase 2", None),
        ("incomplete", None),
        ("PHASE_3_COMPLETE", None),
        ("", None),
        (7, None),
    ],
)
def test_status(said: object, read: str | None) -> None:
    assert plain_values.status(said) == read


@pytest.mark.parametrize(
    ("said", "read"),
    [
        (3, Phase(3)),
        (3.0, Phase(3)),
        ("Phase 3", Phase(3)),
        ("Phase 3: Adversarial review", Phase(3, "Adversarial review")),
        ("phase_3_synthesis", Phase(3, "synthesis")),
        ("P3", Phase(3)),
        ("2b", Phase(2)),
        ("3 of 5", Phase(3)),
        ({"id": "phase-2", "name": "audit"}, Phase(2, "audit")),
        ([3, 4], Phase(4)),
        ("COMPLETE", Phase(None, "COMPLETE")),
        (-1, Phase(None)),
        (True, Phase(None)),
        (None, Phase(None)),
    ],
)
def test_phase(said: object, read: Phase) -> None:
    assert plain_values.phase(said) == read


@pytest.mark.parametrize(
    ("said", "share", "score"),
    [
        (0.62, 0.62, 0.62),
        ("62%", 0.62, 0.62),
        (62, 0.62, 0.62),
        ("~0.6", 0.6, 0.6),
        ("4.6/5", 0.92, 0.92),
        ("0.94 PASS", 0.94, 0.94),
        (4.6, 0.046, None),
        ("-0.3", None, None),
        ("unknown", None, None),
        (None, None, None),
        (True, None, None),
    ],
)
def test_share_and_score(said: object, share: float | None, score: float | None) -> None:
    assert (plain_values.share(said), plain_values.score(said)) == (share, score)


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ("2026-02-19T08:00:00Z", "2026-02-19T08:00:00Z"),
        ("2026-02-19T08:00:00.123Z", "2026-02-19T08:00:00Z"),
        ("2026-02-19T08:00:00.5+0100", "2026-02-19T07:00:00Z"),
        ("2026-02-19 08:00", "2026-02-19T08:00:00Z"),
        ("2026-02-19", "2026-02-19T00:00:00Z"),
        ("19 Feb 2026 2:30 pm", "2026-02-19T14:30:00Z"),
        ("February 19th, 2026 at 14:30 UTC", "2026-02-19T14:30:00Z"),
        ("19.2.2026", "2026-02-19T00:00:00Z"),
        (1771581600, "2026-02-20T10:00:00Z"),
        ("02/19/2026", None),
        ("2026-02-30", None),
        ("soon", None),
        (3, None),
    ],
)
def test_time(said: object, read: str | None) -> None:
    assert plain_values.time(said) == read


@pytest.mark.parametrize(
    ("prose", "phase"),
    [
        ("Phase 2 is done, Phase 3 in progress", 3),
        ("Phase 3 complete. Ready for Phase 4.", 3),
        ("Phases 1-3 complete; Phase 4 is next", 3),
        ("Currently in Phase 4 of 6. Phase 3 complete.", 4),
        ("Phase 3 tournament", 3),
        ("phase_1 DONE -> phase_2 IN_PROGRESS", 2),
        ("Starting with phase 2", 2),
        ("Waits for phase 4", None),
        ("two agents are done", None),
    ],
)
def test_phase_in_prose(prose: str, phase: int | None) -> None:
    assert phase_in(prose) == phase


@pytest.mark.parametrize(
    ("prose", "over"),
    [
        ("WORKFLOW COMPLETE. All 5 phases done", True),
        ("All phases complete", True),
        ("Workflow is not complete", False),
        ("Once the workflow is complete, tell the user", False),
        ("Phase 2 complete", False),
    ],
)
def test_work_that_is_over(prose: str, *, over: bool) -> None:
    assert (status_in(prose) == COMPLETE) is over


@given(st.one_of(st.text(), st.integers(), st.floats(), st.none(), st.booleans(),
                 st.dictionaries(st.text(max_size=4), st.text(max_size=9)),
                 st.lists(st.text(max_size=9))))  # fmt: skip
def test_whatever_is_said_is_read_within_its_bounds_or_not_at_all(said: Any) -> None:
    share, time, phase = (read(said) for read in _READERS)

    assert share is None or 0 <= share <= 1
    assert time is None or seconds(time) is not None
    assert phase.number is None or phase.number >= 0
    assert plain_values.status(said) in {
        None,
        "ACTIVE",
        "PAUSED",
        "COMPLETE",
        "FAILED",
        "CANCELLED",
    }
    assert "\n" not in plain_values.spoken(said)


_READERS: Any = (plain_values.share, plain_values.time, plain_values.phase)


@given(st.datetimes(timezones=st.just(UTC)))
def test_time_that_we_write_is_read_as_itself(when: Any) -> None:
    written = stated_times.rfc3339(when)
    (only,) = stated_times.stated(f"- saved at {written}, by hand")

    assert stated_times.rfc3339(only.when) == written
    assert (only.is_day, only.has_zone) == (False, True)


def test_comments_are_told_from_values() -> None:
    text = "\ufeff# a\nb: c # d\ne: 'f # g'\nh: |\n  # i\nj: k#l\r\n# d\n"

    assert list(comments(text, "x")) == [(1, "# a"), (2, "# d"), (7, "# d")]
    assert lost(text, "# d\nb: c\n") == [(1, "# a"), (7, "# d")]
