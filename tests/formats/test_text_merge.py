"""Two edits at once, in one: what does not meet is all there, what meets is nobody's to guess."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from standfast.formats.text_merge import MOST_LINES, merge

LINES = st.lists(st.sampled_from("abcdef"), max_size=12)


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "merged"),
    [
        ("abc", "abc", "abc", "abc"),
        ("abc", "Xabc", "abcY", "XabcY"),
        ("abc", "abcX", "abcY", "abcXY"),
        ("abc", "aXc", "abc", "aXc"),
        ("abc", "aXc", "aXc", "aXc"),
        ("abc", "aXc", "aYc", None),
        ("abc", "ac", "aXc", None),
        ("abc", "ac", "ac", "ac"),
        ("abcde", "Xbcde", "abcdX", "XbcdX"),
        ("", "a", "b", "ab"),
        ("abc", "", "abcX", "X"),
    ],
)
def test_merge(base: str, ours: str, theirs: str, merged: str | None) -> None:
    found = merge(list(base), list(ours), list(theirs))

    assert (None if found is None else "".join(found)) == merged


@given(base=LINES, edited=LINES)
def test_one_edit_alone_is_itself(base: list[str], edited: list[str]) -> None:
    assert merge(base, edited, base) == edited
    assert merge(base, base, edited) == edited
    assert merge(base, edited, edited) == edited


@given(base=LINES, head=LINES, tail=LINES)
def test_edits_at_both_ends_are_both_there(
    base: list[str], head: list[str], tail: list[str]
) -> None:
    body = ["1", *base, "2"]

    assert merge(body, [*head, *body], [*body, *tail]) == [*head, *body, *tail]


def test_text_that_would_take_too_long_is_not_merged() -> None:
    assert merge(["a"] * (MOST_LINES + 1), [], []) is None
