"""Two patterns that fit one path always overlap, whatever else is told too often."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from standfast.errors.base import BadName, TooLarge
from standfast.plans.checks import owned_patterns
from standfast.plans.checks.owned_patterns import Work

pytestmark = pytest.mark.req("RUN-03")

NAMES = st.text(alphabet="ab", min_size=1, max_size=3)
WILD_NAMES = st.lists(
    st.sampled_from(["a", "b", "*", "?", "[ab]", "[!a]", "{a,bb}"]), min_size=1, max_size=4
).map("".join)
PATTERNS = st.lists(WILD_NAMES | st.just("**"), min_size=1, max_size=4).map("/".join)
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)


def meet(one: str, other: str) -> bool:
    """Whether any shape of one pattern meets any of the other."""
    return any(
        owned_patterns.overlap(first, second, Work())
        for first in owned_patterns.shapes(one)
        for second in owned_patterns.shapes(other)
    )


def fits(pattern: str, path: str) -> bool:
    """The meaning of a pattern, said a second time, by regular expressions."""
    words = {"**": "(?:.+)?", "*": "[^/]*", "?": "[^/]", "{a,bb}": "(?:a|bb)", "[!a]": "[^a/]"}
    found = []
    for name in pattern.split("/"):
        pieces = re.findall(r"\*\*|\*|\?|\[[^]]*\]|\{[^}]*\}|.", name)
        found.append("".join(words.get(piece, piece) for piece in pieces))
    whole = "/".join(found)
    # `**` is any number of names, none as well, so a slash beside it may be missing.
    whole = whole.replace("/(?:.+)?", "(?:/.+)?").replace("(?:.+)?/", "(?:.+/)?")
    below = "" if re.search(r"[*?\[]", pattern.rpartition("/")[2]) else "(?:/.*)?"
    return re.fullmatch(whole + below, path) is not None


@given(PATTERNS, PATTERNS, PATHS)
@example("a/**", "**/b", "a/b")
@example("**/*b", "a*/**", "ab")
def test_patterns_that_fit_one_path_overlap(one: str, other: str, path: str) -> None:
    if fits(one, path) and fits(other, path):
        assert meet(one, other)
        assert meet(other, one)


@given(PATTERNS, PATTERNS, PATHS)
def test_path_that_fits_a_pattern_is_not_outside(one: str, other: str, path: str) -> None:
    if fits(one, path):
        assert owned_patterns.outside([path], [other, one]) == []
    if not meet(one, path):
        assert owned_patterns.outside([path], [one]) == [path]


def test_paths_that_would_take_too_long_are_spared() -> None:
    patterns = [f"{'*a' * 40}{number}" for number in range(64)]
    found = owned_patterns.outside(["a" * 200] * 64, patterns)
    assert 0 < len(found) < 64


@pytest.mark.parametrize(
    ("one", "other", "together"),
    [
        ("src/auth/**", "src/auth/login.py", True),
        ("src/auth/**", "src/author/login.py", False),
        ("src/auth/*.py", "src/auth/login.py", True),
        ("src/auth/*.py", "src/auth/views/login.py", False),
        ("src/auth/*.py", "src/auth/*.ts", False),
        ("src/auth", "src/auth/login.py", True),
        ("src/auth/", "src/auth", True),
        ("src/*", "src/auth/login.py", False),
        ("**/*.md", "docs/**", True),
        ("**/*.md", "docs/*.rst", False),
        ("migrations/**", "migrations", True),
        ("**", "anything/at/all", True),
        ("*", "README.md", True),
        ("src/**/test_*.py", "src/a/b/*_x.py", True),
        ("src/{auth,users}/**", "src/users/x", True),
        ("src/{auth,users}/**", "src/roles/x", False),
        ("SRC/Auth/**", "src/auth/x", True),
        ("a?c", "abc", True),
        ("a?c", "abbc", False),
        ("a[xy]c", "axc", True),
        ("a[xy]c", "azc", False),
        ("a[x-z]c", "ayc", True),
        ("src/**.py", "src/a/b.py", True),
        ("cafe\u0301/**", "caf\u00e9/x", True),
    ],
)
def test_overlap(one: str, other: str, *, together: bool) -> None:
    checked = [owned_patterns.pattern(each, what="the pattern") for each in (one, other)]

    assert meet(checked[0], checked[1]) is together
    assert meet(checked[1], checked[0]) is together


@pytest.mark.req("SEC-01")
@pytest.mark.parametrize(
    "text",
    ["", "/etc/*", "../x", "a/../b", "a//b", "!src", "a\\b", "{a,}", "{/etc,a}", "a/{..,b}",
     "x" * 2000, "{a,b}" * 10, ".git/**", "a\nb", 5],
)  # fmt: skip
def test_what_is_no_pattern_is_refused(text: object) -> None:
    with pytest.raises(BadName):
        owned_patterns.pattern(text, what="the pattern")


def test_comparing_ends() -> None:
    long = owned_patterns.shapes("*a" * 400)[0]

    with pytest.raises(TooLarge):
        for _ in range(1_000):
            owned_patterns.overlap(long, long, work := Work(100_000))
            work.use(100_000)
