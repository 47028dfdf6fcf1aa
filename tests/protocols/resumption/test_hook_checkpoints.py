"""Checkpoint files are ordered by their numbers; what has none is no checkpoint of ours."""

import pytest

from resumption_samples import FIRST, LATER, PLAN, compaction
from standfast.protocols.resumption.rules.hook_checkpoints import (
    in_order,
    number_of,
    unacknowledged,
)
from standfast.protocols.resumption.rules.triggers import Acknowledged, CompactionEvent
from standfast.protocols.resumption.rules.update_matrix import apply, begin


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
    files = [f"cx-{number:03d}-checkpoint.json" for number in (1000, 2, 999, 10)]

    assert in_order([*files, "notes.json"]) == [
        *("cx-002-checkpoint.json", "cx-010-checkpoint.json"),
        *("cx-999-checkpoint.json", "cx-1000-checkpoint.json"),
    ]


@pytest.mark.req("RES-08")
def test_compaction_waits_until_it_is_acknowledged() -> None:
    twice = apply(apply(begin(FIRST, [PLAN]), compaction()), compaction())
    told = apply(twice, CompactionEvent(LATER, Acknowledged(("CX-001",))))

    assert unacknowledged(twice) == ["CX-001", "CX-002"]
    assert unacknowledged(told) == ["CX-002"]
