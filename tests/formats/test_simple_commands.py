"""What a command line runs, if it can be told."""

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from standfast.formats.simple_commands import simple_commands


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("standfast status", [["standfast", "status"]]),
        (" cd sub && standfast note 'a; b' \n", [["cd", "sub"], ["standfast", "note", "a; b"]]),
        ('a "b (c) && d; e"f', [["a", "b (c) && d; ef"]]),
        ("a \\\n  b\\ c ''", [["a", "b c", ""]]),
        ("a 'two\nlines'", [["a", "two\nlines"]]),
    ],
)
def test_commands_one_after_the_other_are_told(line: str, words: list[list[str]]) -> None:
    assert simple_commands(line) == words


@pytest.mark.parametrize(
    "line",
    [
        *("a; b", "a | b", "a || b", "a & b", "a &", "a > f", "a < f", "(a)", "a\nb", "a `b`"),
        *(
            "a $(b)",
            'a "$(b)"',
            'a "`b`"',
            "a 'b",
            'a "b',
            "a \\",
            "&& a",
            "a &&",
            "",
            " ",
            "{a,b}",
        ),
        *("a &&& b", "a $B", "a # b", "*/a"),
    ],
)
def test_nothing_is_said_of_more_than_that(line: str) -> None:
    assert simple_commands(line) is None


@settings(max_examples=400, deadline=None)
@given(st.text(st.sampled_from("ab '\"\\&;|$`\n\t<>()#"), max_size=12))
def test_a_shell_sees_the_same_words(line: str) -> None:
    found = simple_commands(line)
    if found is None or len(found) > 1:
        return
    script = f"set -- {line}\nprintf '%s\\0' \"$@\""
    ran = subprocess.run(["/bin/sh", "-c", script], capture_output=True, check=True)

    assert ran.stdout == "".join(f"{word}\0" for word in found[0]).encode()
