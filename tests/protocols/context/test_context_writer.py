"""What is known is written around what is there by hand, of which no line is ever lost."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from context_samples import NOW, ROLE, VALID, WRONG, lines_of
from standfast.protocols.context.rules.context_checks import required_findings, validate
from standfast.protocols.context.rules.context_migration import STUBS
from standfast.protocols.context.rules.context_writer import NOTHING, Known, compose

LATER = "2026-02-03T13:30Z"
KNOWN = Known(
    completed=[("the parser reads it", "c2c326f"), ("ask the user", None)],
    pending=["mend the tests (in progress)", "In flight since x: Bash make"],
    files=["src/a.py", "b`c"],
)
STUB_LINES = {line for stub in STUBS.values() for line in stub}


def written(text: str | None, known: Known = KNOWN, now: str = NOW) -> str:
    return compose(text, role=ROLE, now=now, known=known)


def by_hand(text: str) -> Counter[str]:
    """The lines that somebody wrote: not ours, not the date, which is told anew."""
    return Counter(
        line
        for line in lines_of(text)
        if line.strip()
        and not line.startswith(("**Updated**", "<!-- standfast:", "<!-- /standfast:"))
        and line not in STUB_LINES
    )


@pytest.mark.req("CTX-14")
def test_file_is_written_from_nothing() -> None:
    text = written(None)

    assert validate(text, role=ROLE, today=NOW) == ()
    assert "1. the parser reads it (DONE — commit c2c326f)\n2. ask the user (DONE)\n" in text
    assert "\n- mend the tests (in progress)\n- In flight since x: Bash make\n" in text
    assert "\n- `src/a.py`\n- b`c\n" in text
    assert f"**Updated**: {NOW}\n**Role**: {ROLE}\n" in text
    assert written(text, now=LATER) == text


@pytest.mark.req("CTX-14")
def test_nothing_known_is_a_valid_file_too() -> None:
    text = written(None, Known())

    assert validate(text, role=ROLE, today=NOW) == ()
    assert text.count(NOTHING) == 3
    assert written("  \n", Known()) == text


@pytest.mark.req("CTX-14")
def test_lines_by_hand_stay_and_only_our_own_are_replaced() -> None:
    first = written(VALID)
    by_me = first.replace("- remove the flag", "- remove the flag\n- and another thing")
    newer = Known(completed=[("all of it", "abcdef0")], pending=["sleep"], files=[])

    second = written(by_me, newer, LATER)

    assert not by_hand(VALID) - by_hand(first)
    assert not by_hand(VALID) - by_hand(second)
    assert "- and another thing" in second
    assert "mend the tests" in first
    assert "mend the tests" not in second
    assert "1. all of it (DONE — commit abcdef0)" in second
    assert f"**Updated**: {LATER}" in second
    assert validate(second, role=ROLE, today=LATER) == ()


@pytest.mark.req("CTX-14")
def test_writing_twice_gives_the_same_bytes() -> None:
    for text in (None, VALID, *WRONG.values()):
        once = written(text)
        assert written(once, now=LATER) == once


@pytest.mark.req("CTX-14")
def test_date_is_told_anew_when_it_is_old() -> None:
    once = written(VALID)

    assert "**Updated**: 2026-02-09T13:00Z\n" in written(once, now="2026-02-09T13:00Z")


@pytest.mark.req("CTX-14")
def test_remark_behind_the_date_stays() -> None:
    text = VALID.replace("12:15Z", "12:15Z (after task 9)")

    assert f"**Updated**: {NOW} (after task 9)\n" in written(text)


@pytest.mark.req("CTX-14")
def test_line_that_somebody_wrote_into_our_part_is_kept() -> None:
    once = written(VALID)
    inside = once.replace("tests (in progress)\n", "tests (in progress)\n- MINE\n")

    again = written(inside, Known(pending=["sleep"]), LATER)

    assert "- MINE\n" in again
    assert again.index("- MINE") < again.index("<!-- standfast:pending")
    assert written(again, Known(pending=["sleep"]), LATER) == again


@pytest.mark.req("CTX-14")
def test_comment_that_lost_its_other_half_ends_nothing() -> None:
    half = written(VALID).replace("<!-- /standfast:pending -->\n", "")

    again = written(half, Known(pending=["sleep"]), LATER)

    assert "- mend the tests (in progress)" in again  # nobody knows whose it is
    assert "\n- sleep\n<!-- /standfast:pending -->" in again
    assert not by_hand(VALID) - by_hand(again)


@pytest.mark.req("CTX-14")
def test_stub_goes_when_there_is_something_to_say() -> None:
    text = written("# Notes\nmine\n")

    assert "to fill in: what is open" not in text
    assert "to fill in: the paths" not in text
    assert "\nmine\n" in text


@pytest.mark.req("CTX-14")
def test_words_from_outside_stay_on_their_line() -> None:
    evil = "```\n## Recovery Steps\n<!-- /standfast:pending --> <!-- \x1b[31m"

    text = written(VALID, Known(completed=[(evil, None)], pending=[evil, ""], files=[evil]))

    assert not required_findings(text, role=ROLE, today=NOW)
    assert text.count("\n## Recovery Steps\n") == 1
    assert "\x1b" not in text
    assert written(text, Known(completed=[(evil, None)], pending=[evil, ""], files=[evil])) == text


@pytest.mark.req("CTX-14")
def test_heading_that_leaves_our_part_ends_a_section_only_once() -> None:
    """What was in the span of one section leaves another one empty, which is then written too."""
    text = (
        "## Completed Work\n<!-- standfast:pending 0123456789ab x -->\n# A heading\n"
        "<!-- /standfast:pending -->\n"
    )

    once = written(text, Known())

    assert written(once, Known(), LATER) == once


WORDS = st.text(max_size=20) | st.sampled_from(["```", "~~~", "<!-- x", "## Pending", "1. x"])
KNOWNS = st.builds(
    Known,
    completed=st.lists(st.tuples(WORDS, st.none() | st.just("abc1234")), max_size=3),
    pending=st.lists(WORDS, max_size=3),
    files=st.lists(WORDS, max_size=3),
)
MARKS = st.sampled_from(
    [
        *("<!-- standfast:pending 0123456789ab x -->", "<!-- /standfast:pending -->"),
        *("<!-- standfast:completed 0123456789ab x -->", "<!-- /standfast:completed -->"),
    ]
)
LINES = st.sampled_from(sorted({line for text in WRONG.values() for line in text.split("\n")}))
TEXTS = st.lists(LINES | MARKS | st.text(max_size=8), max_size=14).flatmap(
    lambda lines: st.sampled_from(["\n", "\r\n"]).map(lambda end: end.join(lines))
)


@pytest.mark.req("CTX-14")
@settings(max_examples=300, deadline=None)
@given(TEXTS, KNOWNS, KNOWNS)
def test_any_file_is_valid_afterwards_with_every_line_by_hand(
    text: str, known: Known, newer: Known
) -> None:
    first = written(text, known)
    second = written(first, newer)

    for after in (first, second):
        assert not required_findings(after, role=ROLE, today=NOW)
        assert not by_hand(text) - by_hand(after)
    assert written(first, known, LATER) == first
