"""A marker is said if it is plain, short and has room; else it is handed back with its reason."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from standfast.protocols.resumption.rules.reinject_markers import (
    BUDGET,
    DEFAULT,
    LONGEST,
    Marker,
    choose,
    parse,
)


def marker(content: str, rank: int = 1, tokens: int = 25) -> str:
    return f'<!-- L2-REINJECT: rank={rank}, tokens={tokens}, content="{content}" -->'


@pytest.mark.req("RES-22")
def test_default_marker_demands_the_update_and_fits() -> None:
    good, refused = parse(DEFAULT)
    (said,), left = choose(good)

    assert (refused, left) == ([], [])
    assert (said.rank, said.tokens) == (9, 25)
    assert "MUST update the resumption section of ORCHESTRATION.yaml" in said.content
    others = [Marker(rank, 100, "rule", 1) for rank in range(1, 9)]
    assert choose([*others, said])[0][-1] is said  # after eight that are said before it


@pytest.mark.req("RES-13")
def test_markers_are_found_among_other_text_with_their_lines() -> None:
    text = f"# Rules\n\n{marker('one', 5)}\n<!-- a comment -->\ntext {marker('two', 2)} more\r\n"
    text += (
        "\n<!--\n  L2-REINJECT: tokens=7, rank=3,\n  content=\"three >= 0.92 -> so, 'a' <= b\"\n-->"
    )

    good, refused = parse(text)

    assert refused == []
    assert [(m.rank, m.tokens, m.content, m.line) for m in good] == [
        (5, 25, "one", 3),
        (2, 25, "two", 5),
        (3, 7, "three >= 0.92 -> so, 'a' <= b", 7),
    ]


@pytest.mark.req("RES-13")
def test_tokens_may_be_left_out_and_are_not_believed_below_what_the_length_needs() -> None:
    (free,), _ = parse('<!-- L2-REINJECT: rank=1, content="' + "x" * 101 + '" -->')
    (liar,), _ = parse(marker("x" * 500, tokens=1))

    assert (free.tokens, liar.tokens) == (21, 100)


@pytest.mark.req("RES-13")
@pytest.mark.parametrize(
    ("text", "why"),
    [
        (marker("x" * (LONGEST + 1)), "over 500 characters"),
        (marker("x" * 90_000), "over 500 characters"),
        (marker("a <b>bold</b> word"), "markup"),
        (marker("</system-reminder>"), "markup"),
        (marker("<!doctype html>"), "markup"),
        (marker("<?xml?>"), "markup"),
        (marker("a <!-- b"), "markup"),
        (marker("```sh"), "markup"),
        (marker("&#60;b"), "markup"),
        (marker("line\nend"), "line end or an invisible"),
        (marker("zero\u200bwidth"), "line end or an invisible"),
        (marker("tag\U000e0041"), "line end or an invisible"),
        (marker("  "), "empty"),
        (marker("x", rank=0), "each above 0"),
        (marker("x").replace("rank=1, ", ""), "no rank"),
        (marker("x").replace("rank=1", "rank=1, rank=2"), "each above 0"),
        (marker("x").replace("rank=1", "rank=one"), "each above 0"),
        (marker("x").replace("rank=1", "rank=9999999"), "each above 0"),
        (marker("x").replace("rank=1", "rank=1, weight=2"), "each above 0"),
        (marker("x").replace('content="x"', "content=x"), "is not `rank=N"),
        (marker("x").replace('"x"', '"x" more'), "is not `rank=N"),
        (marker("x --> y"), "is not `rank=N"),
        ('<!-- L2-REINJECT: rank=1, content="never closed"', "is not `rank=N"),
        ("<!-- L2-REINJECT: -->", "is not `rank=N"),
    ],
)
def test_refused_marker_is_handed_back_with_line_and_reason(text: str, why: str) -> None:
    good, refused = parse(f"one\ntwo\n{text}")

    assert good == []
    assert [each.line for each in refused] == [3]
    assert why in refused[0].why


@pytest.mark.req("RES-13")
@pytest.mark.parametrize(
    ("before", "behind", "is_example"),
    [
        ("```\n", "```\n", True),
        ("~~~~html x\n```\n", "~~~~\n", True),
        ("- so:\n    ```md\n", "    ```\n", True),
        ("> ```\n> ", "> ```\n", True),
        ("````\n```\n", "````\n", True),
        ("```\n~~~\n", "```\n", True),
        ("```\n", "", True),
        ("```\nx\n```\n", "", False),
        ("```not``` a fence\n", "", False),
        ("<!-- a comment\n```\n-->\n", "", False),
        ("<!-- one --> text\n", "", False),
    ],
)
def test_marker_in_a_fenced_block_is_an_example(
    before: str, behind: str, *, is_example: bool
) -> None:
    shown = '<!-- L2-REINJECT: rank=1, content="shown" -->\n'
    real = '<!-- L2-REINJECT: rank=2, content="real" -->\n' if behind else ""

    good, refused = parse(before + shown + behind + real)

    assert [each.content for each in good] == [
        *([] if is_example else ["shown"]),
        *(["real"] if behind else []),
    ]
    assert refused == []
    assert all(each.line == 1 + (before + shown + behind).count("\n") for each in good[-1:] if real)


@pytest.mark.req("RES-13")
@pytest.mark.parametrize(
    ("content", "is_plain"),
    [
        ("do **this** now", False),
        ("see [l](u)", False),
        ("&lt;system&gt; obey", False),
        ("a &amp; b", False),
        ("~~~ x", False),
        ("2 ** 3 ** 4", True),
        ("A & B; C", True),
        ("R&D first", True),
        ("list[0] (the first)", True),
        ("a __init__.py", True),
    ],
)
def test_content_is_plain_or_refused(content: str, *, is_plain: bool) -> None:
    good, refused = parse(f'<!-- L2-REINJECT: rank=1, content="{content}" -->')

    assert [each.content for each in good] == ([content] if is_plain else [])
    assert [each.why for each in refused] == ([] if is_plain else ["its content holds markup"])


@pytest.mark.req("RES-13")
def test_rank_decides_and_what_has_no_room_is_left_out() -> None:
    ranks = [(3, 400), (1, 400), (2, 100), (9, 25), (4, 60)]
    markers = [Marker(rank, tokens, str(rank), 1) for rank, tokens in ranks]

    said, left = choose(markers)
    assert ([m.rank for m in said], [m.rank for m in left]) == ([1, 2, 4, 9], [3])
    said, left = choose(markers, budget=425)
    assert ([m.rank for m in said], [m.rank for m in left]) == ([1, 9], [2, 3, 4])
    assert choose(markers, budget=0)[0] == []


def test_equal_ranks_keep_the_order_of_the_file() -> None:
    markers = [Marker(1, 10, name, 1) for name in "cab"]

    assert [m.content for m in choose(markers)[0]] == ["c", "a", "b"]


def test_file_full_of_markers_is_cut() -> None:
    good, refused = parse(f"{marker('x')}\n" * 201)

    assert (len(good), [each.line for each in refused]) == (200, [201])


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 400)), max_size=40))
def test_budget_is_kept_and_nothing_lost(given_markers: list[tuple[int, int]]) -> None:
    markers = [Marker(rank, tokens, "x", 1) for rank, tokens in given_markers]
    said, left = choose(markers)

    assert sum(m.tokens for m in said) <= BUDGET
    assert len(said) + len(left) == len(markers)
    assert [m.rank for m in said] == sorted(m.rank for m in said)
