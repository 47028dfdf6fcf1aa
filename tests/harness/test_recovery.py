"""The judge of a replay knows lost from not yet told, and twice from once."""

import pytest

from harness.faults.look import Seen
from harness.faults.power import recovery
from harness.faults.power.recovery import Expected
from harness.faults.power.scripts import SCRIPTS, Script

pytestmark = pytest.mark.req("REL-02")
NOTES = SCRIPTS["notes in a row"]
NOTHING = Seen({}, [], 0)


def noted(*words: str) -> Seen:
    return Seen({f"RD-{n}": f"the {word} of several" for n, word in enumerate(words)}, [], 0)


def kinds(script: Script, begun: int, told: int, seen: Seen) -> list[str]:
    expected = Expected(NOTHING, begun, tuple(n < told for n in range(len(script.steps))))
    return [finding.what for finding in recovery._new(script, expected, seen)]


def test_what_was_told_must_be_there() -> None:
    assert kinds(NOTES, 2, 2, noted("first", "second")) == []
    assert kinds(NOTES, 2, 2, noted("second")) == ["lost"]


def test_what_was_not_told_yet_may_be_there_or_not() -> None:
    assert kinds(NOTES, 2, 1, noted("first")) == []
    assert kinds(NOTES, 2, 1, noted("first", "second")) == []


def test_what_was_not_even_begun_must_not_be_there() -> None:
    assert kinds(NOTES, 1, 1, noted("first", "second")) == ["wrong"]


def test_what_is_there_twice_is_wrong() -> None:
    assert kinds(NOTES, 1, 1, noted("first", "first")) == ["wrong"]
