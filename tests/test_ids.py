"""A name or path that is accepted stays inside its folder, on every filesystem."""

import posixpath
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from standfast import ids
from standfast.errors.base import BadName
from standfast.text import is_hidden

pytestmark = pytest.mark.req("SEC-01")

NEARLY_NAMES = st.text(alphabet="aZ9._-/\\~ \0\n:%é", max_size=70)


@pytest.mark.parametrize(
    "text",
    [
        "P1-SL-AUTH-20251227",
        "P1-SL-AUTH-20251227-101500",
        "3a155a2d-ea01-48a3-ae3c-faa92d30735f",
        "aalice-ab5843da800ed3d4",
        "ses_01HZX",
        "oosh-expert",
        "oosh.expert",
        "oosh_expert",
        "builder-2-retry",
        "260203-01-auth",
        "7Q4K",
        "QG-1",
        "a",
        "x" * 64,
        "console",
        "com10",
        "locked",
        "a.lock.md",
    ],
)
def test_names_that_the_protocols_use_pass(text: str) -> None:
    assert ids.name(text, what="role") == text


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        ("x" * 65, "longer than 64"),
        ("a/b", "only ASCII"),
        ("a\\b", "only ASCII"),
        ("a b", "only ASCII"),
        ("a\0", "only ASCII"),
        ("a\n", "only ASCII"),
        ("é", "only ASCII"),
        ("٣", "only ASCII"),
        ("\u212aelvin", "only ASCII"),
        (".hidden", "start with"),
        ("-rf", "start with"),
        ("_x", "start with"),
        ("..", "start with"),
        ("a..b", "`..`"),
        ("a.", "end in `.`"),
        ("a.lock", ".lock"),
        ("a.LOCK", ".lock"),
        ("CON", "device"),
        ("nul", "device"),
        ("Aux.md", "device"),
        ("lpt9.tar.gz", "device"),
        ("com1", "device"),
        (7, "text, not int"),
        (None, "text, not NoneType"),
    ],
)
def test_other_names_are_refused_with_the_reason(text: object, why: str) -> None:
    with pytest.raises(BadName) as refused:
        ids.name(text, what="role")

    assert why in refused.value.problem
    assert refused.value.problem.startswith("role ")


def test_refusal_shows_a_hostile_name_harmlessly() -> None:
    with pytest.raises(BadName) as refused:
        ids.name("\x1b[2J\u202e" + "x" * 5000, what="role")

    assert refused.value.problem.isprintable()
    assert len(refused.value.problem) < 200


@pytest.mark.parametrize(
    ("check", "what"),
    [
        (ids.session_id, "session id"),
        (ids.run_id, "run id"),
        (ids.role, "role"),
        (ids.lane, "lane"),
        (ids.slug, "slug"),
    ],
)
def test_each_kind_of_name_passes_good_ones_and_names_itself_on_bad_ones(
    check: Callable[[object], str], what: str
) -> None:
    with pytest.raises(BadName) as refused:
        check("../x")

    assert refused.value.problem.startswith(f"{what} ")
    assert check("SL-API") == "SL-API"


def test_only_a_lane_may_be_a_dash() -> None:
    assert ids.lane("-") == "-"
    with pytest.raises(BadName):
        ids.role("-")


@given(NEARLY_NAMES)
@example("a..b")
def test_accepted_name_is_one_component_that_stays_in_its_folder(text: str) -> None:
    try:
        name = ids.name(text, what="role")
    except BadName:
        return

    assert posixpath.normpath(f"/folder/{name}") == f"/folder/{name}"
    assert not set(name) & set("/\\:~ %\0\n")
    assert name.isascii()


@pytest.mark.parametrize(
    ("prefix", "number", "text"),
    [("RD", 7, "RD-007"), ("RD", 1000, "RD-1000"), ("cx", 0, "cx-000"), ("QG2", 12, "QG2-012")],
)
def test_sequence_ids_are_written_and_read_back(prefix: str, number: int, text: str) -> None:
    assert ids.format_id(prefix, number) == text
    assert ids.parse_id(text) == (prefix, number)


def test_sequence_ids_sort_by_number() -> None:
    shuffled = ["cx-1000", "cx-002", "cx-999", "cx-10", "QG-1"]

    assert sorted(shuffled, key=ids.parse_id) == ["QG-1", "cx-002", "cx-10", "cx-999", "cx-1000"]


@pytest.mark.parametrize(
    "text",
    ["RD", "RD-", "-7", "7-7", "RD-7a", "RD-٣", "RD--7", "RD-1234567890", "A.B-7", "RD 7", "", 7],
)
def test_other_sequence_ids_are_refused(text: object) -> None:
    with pytest.raises(BadName):
        ids.parse_id(text)


@pytest.mark.parametrize(("prefix", "number"), [("RD", -1), ("R/D", 1), ("", 1), ("RD", 10**9)])
def test_sequence_ids_that_could_not_be_read_back_are_not_written(prefix: str, number: int) -> None:
    with pytest.raises(BadName):
        ids.format_id(prefix, number)


@pytest.mark.parametrize(
    "text",
    [
        "a",
        "docs/auth.md",
        "session/agents/oosh-expert.context.md",
        ".claude/ai-dev-kit/run-logs/checkpoints.json",
        ".cwf/projects/260203-01-título con espacio/plan.md",
        ".gitignore",
        ".github/x",
        "git/x",
        "a.git/x",
        "..a/b..",
        "/".join(["d" * 254] * 4),
    ],
)
def test_relative_paths_inside_the_folder_pass(text: str) -> None:
    assert ids.relative_path(text, what="output") == text


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        ("/etc/passwd", "absolute"),
        ("a/../b", "component"),
        ("..", "component"),
        ("./a", "component"),
        ("a//b", "component"),
        ("a/", "component"),
        ("a\\b", "backslash"),
        ("a\0b", "control"),
        ("a\nb", "control"),
        ("a\x7fb", "control"),
        ("a\u202eb", "control"),
        ("a\udce9", "control"),
        ("x" * 256, "255 bytes"),
        ("é" * 128, "255 bytes"),
        ("/".join(["d" * 200] * 6)[:1025], "1024 bytes"),
        (".git", "git directory"),
        (".git/hooks/pre-commit", "git directory"),
        ("sub/.GiT/config", "git directory"),
        (".git /config", "git directory"),
        (".git./config", "git directory"),
        (".git . ./config", "git directory"),
        ("GIT~1/config", "git directory"),
        (".git::$INDEX_ALLOCATION/config", "git directory"),
        (".g\u200cit/config", "git directory"),
        (7, "text, not int"),
    ],
)
def test_other_paths_are_refused_with_the_reason(text: object, why: str) -> None:
    with pytest.raises(BadName) as refused:
        ids.relative_path(text, what="output")

    assert why in refused.value.problem
    assert refused.value.problem.startswith("output ")
    assert not any(map(is_hidden, refused.value.problem))


@given(
    st.lists(
        st.one_of(st.sampled_from(["..", ".", "", "a", ".git", "é"]), NEARLY_NAMES), max_size=6
    ).map("/".join)
)
def test_accepted_path_stays_under_its_folder_and_out_of_git(text: str) -> None:
    try:
        path = ids.relative_path(text, what="output")
    except BadName:
        return

    assert posixpath.normpath(posixpath.join("/folder", path)) == f"/folder/{path}"
    assert ".git" not in path.lower().split("/")
    assert len(path.encode()) <= 1024
