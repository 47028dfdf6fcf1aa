"""A checkpoint file becomes one event, once, in order of number; the newest speaks for all."""

import itertools

import pytest

from resumption_samples import FIRST, LATER, PLAN, compaction
from standfast.protocols.resumption.rules.hook_checkpoints import (
    Checkpoint,
    acknowledge,
    in_order,
    merge,
    number_of,
    unacknowledged,
)
from standfast.protocols.resumption.rules.section_check import validate
from standfast.protocols.resumption.rules.triggers import Compaction
from standfast.protocols.resumption.rules.update_matrix import begin


def checkpoint(number: int) -> Checkpoint:
    told = compaction().compaction_events
    assert isinstance(told, Compaction)
    return Checkpoint(f"cx-{number:03d}-checkpoint.json", told._replace(active_phase=number))


@pytest.mark.parametrize(
    ("file", "number"),
    [
        ("cx-001-checkpoint.json", 1),
        ("cx-1000-checkpoint.json", 1000),
        ("cx-999.json", 999),
        (".claude/checkpoints/CX-012.json", 12),
        ("cx-7", 7),
        ("cp-001.json", None),
        ("cx-.json", None),
        ("cx-one.json", None),
        ("cx-\u0661.json", None),
        ("cx-1234567890.json", None),
        ("", None),
    ],
)
def test_number_of_a_checkpoint_file(file: str, number: int | None) -> None:
    assert number_of(file) == number


@pytest.mark.req("RES-08")
def test_order_is_that_of_numbers() -> None:
    files = [checkpoint(number) for number in (1000, 2, 999, 10)]
    stray = Checkpoint("notes.json", files[0].compaction)

    assert [each.file for each in in_order([*files, stray])] == [
        *("cx-002-checkpoint.json", "cx-010-checkpoint.json"),
        *("cx-999-checkpoint.json", "cx-1000-checkpoint.json"),
    ]


@pytest.mark.req("RES-06", "RES-08")
@pytest.mark.parametrize("found", list(itertools.permutations((998, 999, 1000))))
def test_newest_wins_and_all_are_acknowledged_when_it_is_told(found: tuple[int, ...]) -> None:
    before = begin(FIRST, [PLAN])
    merged = merge(before, map(checkpoint, found), LATER)

    events = merged.after.section["compaction_events"]["events"]
    assert merged.newest == checkpoint(1000)
    assert [(each["id"], each["checkpoint_file"], each["acknowledged"]) for each in events] == [
        ("CX-001", "cx-998-checkpoint.json", False),
        ("CX-002", "cx-999-checkpoint.json", False),
        ("CX-003", "cx-1000-checkpoint.json", False),
    ]
    assert merged.after.section["recovery_state"] == LATER._asdict()
    assert unacknowledged(merged.after) == ["CX-001", "CX-002", "CX-003"]
    told = acknowledge(merged.after, LATER)
    assert unacknowledged(told) == []
    assert told.section["compaction_events"]["count"] == 3
    assert validate(told.section) == []


@pytest.mark.req("RES-06")
def test_file_is_merged_once_however_often_it_is_found() -> None:
    once = merge(begin(FIRST, [PLAN]), [checkpoint(1)], LATER)
    told = acknowledge(once.after, LATER)
    again = merge(told, [checkpoint(2), checkpoint(1), checkpoint(1)], LATER)

    assert again.after.section["compaction_events"]["count"] == 2
    assert unacknowledged(again.after) == ["CX-002"]
    assert again.newest == checkpoint(2)


def test_nothing_found_changes_nothing() -> None:
    before = begin(FIRST, [PLAN])

    assert merge(before, [], LATER) == (before, None)
