"""Whatever text is printed, it cannot act on a terminal, hide, or grow beyond its bound."""

import subprocess
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from standfast.text import a_few, bounded, is_hidden, one_line, printable

ANY_TEXT = st.text(
    alphabet=st.one_of(
        st.characters(),
        st.characters(categories=["Cs", "Cc", "Cf", "Zl", "Zp", "Mn"]),
        st.sampled_from("\n\r\t \u202e\u200de\u0301\U0001f3fd"),
    )
)
DIRECTING = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, with ä and 漢", "plain, with ä and 漢"),
        ("\x1b[2J", r"\x1b[2J"),
        ("a\u202eb", r"a\u202eb"),
        ("a\u2066b\u2069", r"a\u2066b\u2069"),
        ("a\u2028b\u2029c", r"a\u2028b\u2029c"),
        ("a\r\nb\tc", r"a\r\nb\tc"),
        ("\x7f\x9b", r"\x7f\x9b"),
        ("caf\udce9", r"caf\udce9"),
        ("\U000e0041", r"\U000e0041"),
        ("\ufeff", r"\ufeff"),
        ("👩\u200d🚀", "👩\u200d🚀"),
        ("a\u3000b\xa0c", "a\u3000b\xa0c"),
    ],
)
def test_printable_shows_what_would_act_or_hide(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_printable_keeps_lines_and_tabs_but_no_other_control_when_asked() -> None:
    text = "one\r\n\ttwo\rover\x1b[1m\n"

    shown = printable(text, keep_newlines=True)

    assert shown == "one\n\ttwo\\rover\\x1b[1m\n"


def test_every_control_separator_surrogate_and_direction_character_is_hidden() -> None:
    every = map(chr, range(0x110000))

    seen = [
        each
        for each in every
        if unicodedata.category(each) in {"Cc", "Cs", "Zl", "Zp"}
        or unicodedata.bidirectional(each) in DIRECTING
        if not is_hidden(each)
    ]

    assert seen == []


def test_no_letter_number_or_mark_of_the_basic_plane_is_hidden() -> None:
    every = map(chr, range(0x10000))

    lost = [each for each in every if unicodedata.category(each)[0] in "LNMPS" and is_hidden(each)]

    assert lost == []


@given(ANY_TEXT, st.booleans())
def test_printable_is_clean_encodable_and_stable_for_any_text(text: str, keep: bool) -> None:  # noqa: FBT001
    shown = printable(text, keep_newlines=keep)

    assert not [each for each in shown if is_hidden(each) and not (keep and each in "\n\t")]
    assert shown.encode().decode() == shown
    assert printable(shown, keep_newlines=keep) == shown


@pytest.mark.parametrize(
    ("text", "limit", "line"),
    [
        ("  a \n\n b\u2028c\t ", 20, "a b c"),
        ("abcdef", 6, "abcdef"),
        ("abcdefg", 6, "abcde…"),
        ("abc defg", 5, "abc…"),
        ("abc", 1, "…"),
        ("abc", 0, ""),
        ("abc", -3, ""),
        ("xe\u0301\u0302yz", 4, "x…"),
        ("a👩\u200d🚀b", 4, "a…"),
        ("a👍\U0001f3fdbc", 3, "a…"),
        ("a\x1b[0mb", 80, r"a\x1b[0mb"),
    ],
)
def test_one_line_folds_and_cuts_between_whole_characters(text: str, limit: int, line: str) -> None:
    assert one_line(text, limit) == line


def test_one_line_cuts_anyway_when_marks_have_no_end() -> None:
    line = one_line("ae" + "\u0301" * 1000, 100)

    assert len(line) == 100


@given(ANY_TEXT, st.integers(-1, 40))
def test_one_line_is_one_bounded_line_for_any_text(text: str, limit: int) -> None:
    line = one_line(text, limit)

    assert len(line) <= max(limit, 0)
    assert not any(map(is_hidden, line))
    assert len(line.splitlines()) <= 1


def test_bounded_keeps_head_and_tail_and_says_how_much_was_cut() -> None:
    text = "H" * 500 + "T" * 500

    short = bounded(text, 129)

    head, note, tail = short.split("\n")
    assert (set(head), set(tail)) == ({"H"}, {"T"})
    assert note == f"[… {1000 - len(head) - len(tail)} characters cut …]"
    assert abs(len(head) - len(tail)) <= 1
    assert 120 < len(short) <= 129


@pytest.mark.parametrize(
    ("limit", "short"), [(1000, "a" * 1000), (5, "aaaa…"), (1, "…"), (0, ""), (-1, "")]
)
def test_bounded_stays_within_limits_too_small_for_a_note(limit: int, short: str) -> None:
    assert bounded("a" * 1000, limit) == short


def test_bounded_tears_no_mark_from_its_letter() -> None:
    pairs = "e\u0301" * 500

    cuts = [bounded(pairs, limit).split("\n") for limit in range(60, 70)]

    assert all(head.endswith("e\u0301") and tail.startswith("e") for head, _, tail in cuts)
    assert all(f" {1000 - len(head) - len(tail)} " in note for head, note, tail in cuts)


@given(ANY_TEXT, st.integers(-1, 60))
def test_bounded_never_exceeds_its_limit_for_any_text(text: str, limit: int) -> None:
    short = bounded(text, limit)

    assert len(short) <= max(limit, 0)
    assert short == text or len(text) > limit


@pytest.mark.parametrize("module", ["text", "ids"])
def test_hook_modules_import_nothing_heavy(module: str) -> None:
    program = (
        "import sys, standfast.errors.base\n"
        "for heavy in 're json typing dataclasses pathlib subprocess unicodedata'.split():\n"
        "    sys.modules[heavy] = None\n"
        f"import standfast.{module}\n"
    )

    ended = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True)

    assert (ended.returncode, ended.stderr) == (0, b"")


def test_a_few_names_are_told_and_the_others_counted() -> None:
    assert (a_few([]), a_few(("a\nb", "c"))) == ("", r"a\nb, c")
    assert a_few(list("abcde")) == "a, b, c, d, e"
    assert a_few(list("abcdefg")) == "a, b, c, d, e and 2 more"
