"""A section of somebody's YAML file is written anew: it reads back, and no byte beside it changes.

The files are generated in three parts (yaml_documents.py), so which bytes are outside is known
without asking the code; that what is outside still means the same, PyYAML says.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import yaml
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from yaml import CSafeLoader

from standfast.errors.base import BadDocument, NoPlace, SharedAnchor, StandfastError, TooLarge
from standfast.formats.document_limits import Value
from standfast.formats.yaml_sections import Span, find, replace
from standfast.formats.yaml_writer import write
from standfast.protocols.resumption.rules.section_check import validate
from yaml_documents import BOM, KEY, VALUES, Made, block_documents, flow_documents

NAME = "ORCHESTRATION.yaml"
PARSERS = pytest.mark.parametrize("parser", ["libyaml", "python"])
NEW: Value = {"recovery_state": {"current_phase": 2}, "files_to_read": ["PLAN.md"]}
BLOCK = write({KEY: NEW})
MANY = settings(deadline=None, max_examples=120, suppress_health_check=[HealthCheck.too_slow])


@contextmanager
def running(parser: str) -> Iterator[None]:
    """PyYAML as it is, or as it is where libyaml was not compiled in."""
    with pytest.MonkeyPatch.context() as patch:
        if parser == "python":
            patch.delattr(yaml, "CSafeLoader")
        yield


def put(text: str, value: Value) -> str:
    return replace(text, KEY, write({KEY: value}), NAME)


def section_of(text: str) -> Span:
    found = find(text, KEY, NAME)
    assert found is not None
    return found


def others(text: str) -> object:
    """What PyYAML reads beside the section."""
    value = yaml.load(text, Loader=CSafeLoader) or {}
    return {key: each for key, each in value.items() if key != KEY}


def check_kept(made: Made, changed: str, value: Value) -> None:
    assert changed.startswith(made.before)
    assert changed.endswith(made.after)
    assert others(changed) == others(made.text)
    found = section_of(changed)
    assert repr(found.value) == repr(value)
    assert put(changed, value) == changed
    if made.section:
        assert found.start == len(made.before)
        left = changed[found.end : len(changed) - len(made.after)]  # of sub-sections that went
        assert all(line.strip()[:1] in ("", "#") for line in left.splitlines())


# Any document.


@pytest.mark.req("RES-01")
@PARSERS
@MANY
@given(made=block_documents(), value=VALUES, again=VALUES)
def test_no_byte_outside_of_the_section_changes(
    parser: str, made: Made, value: Value, again: Value
) -> None:
    assume(is_yaml(made.text))
    with running(parser):
        changed = put(made.text, value)
        check_kept(made, changed, value)
        check_kept(made, put(changed, again), again)


@pytest.mark.req("RES-01")
@PARSERS
@MANY
@given(made=flow_documents(), value=VALUES, again=VALUES)
def test_no_byte_outside_of_the_section_changes_in_braces(
    parser: str, made: Made, value: Value, again: Value
) -> None:
    assume(is_yaml(made.text))
    with running(parser):
        changed = put(made.text, value)
        twice = put(changed, again)
    for each, said in ((changed, value), (twice, again)):
        if made.section:
            check_kept(made, each, said)
        else:
            found = section_of(each)
            left = each[: found.start].rstrip(", ") + each[found.end :]
            assert left.replace(" ", "") == made.text.replace(" ", "")
            assert others(each) == others(made.text)
            assert repr(found.value) == repr(said)


@pytest.mark.sweep
@pytest.mark.req("RES-01")
@settings(deadline=None, max_examples=5, suppress_health_check=list(HealthCheck))
@given(made=block_documents(sizes=(10_000, 100_000, 500_000)), value=VALUES)
def test_no_byte_outside_of_the_section_changes_in_a_large_file(made: Made, value: Value) -> None:
    check_kept(made, put(made.text, value), value)


@pytest.mark.req("RES-01")
@MANY
@given(block_documents(has_section=st.just(False)), VALUES)
def test_missing_section_comes_last_in_the_files_own_way(made: Made, value: Value) -> None:
    assume(is_yaml(made.text))
    body, mark, tail = made.text.partition("...")
    lines = write({KEY: value}, made.indent).replace("\n", made.line_end)
    if body.removeprefix(BOM) and not body.endswith("\n"):
        lines = made.line_end + lines.removesuffix(made.line_end)

    assert put(made.text, value) == body + lines + mark + tail


@PARSERS
@MANY
@given(made=block_documents())
def test_section_that_is_found_is_the_one_that_stands_there(parser: str, made: Made) -> None:
    assume(is_yaml(made.text))
    with running(parser):
        found = find(made.text, KEY, NAME)

    whole = yaml.load(made.text, Loader=CSafeLoader)
    assert (found is not None) is bool(made.section)
    if found is not None:
        assert made.text[found.start : found.end] == made.section
        assert found.value == whole[KEY]
        assert found.line == made.before.count("\n") + 1
        assert all(line >= found.line for line in found.lines.values())


@settings(deadline=None)
@given(st.text() | st.text("resumption:{}[]-?#&*|>!%'\" \n\r\t\u2028").map(lambda t: f"{KEY}:{t}"))
@example("\u2028resumption: 1\x85a: 2")
def test_any_text_is_taken_or_refused_with_its_line(text: str) -> None:
    try:
        changed = put(text, NEW)
    except BadDocument as error:
        check_says_where(error, text)
    else:
        assert section_of(changed).value == NEW


def check_says_where(error: StandfastError, text: str) -> None:
    assert error.file == NAME
    assert error.line is not None
    assert 1 <= error.line <= len(text.splitlines()) + 1


def is_yaml(text: str) -> bool:
    """Whether both parsers take it: the one in Python has no tabs before comments."""
    try:
        for loader in (CSafeLoader, yaml.SafeLoader):
            list(yaml.parse(text, Loader=loader))
    except yaml.YAMLError:
        return False
    return True


# Examples that a reader can see.


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("", "KEY\n"),
        ("# said\n", "# said\nKEY\n"),
        ("---\n", "---\nKEY\n"),
        ("---", "---\nKEY"),
        ("a: 1\n", "a: 1\nKEY\n"),
        ("a: 1", "a: 1\nKEY"),
        ("a: 1\r\nb: 2", "a: 1\r\nb: 2\r\nKEY"),
        ("a: 1\n...\n# end\n", "a: 1\nKEY\n...\n# end\n"),
        ("a: |+\n  x\n\n", "a: |+\n  x\n\nKEY\n"),
        ("  a: 1\n  # b\n", "  a: 1\n  # b\n  KEY\n"),
        ("resumption:", "KEY"),
        ("resumption:\n- a\n-", "KEY"),
        ("a: 1\x85resumption: 2\u2028b: 3\r", "a: 1\x85KEY\nb: 3\r"),
        ("resumption: |+\n  x\n\n\na: 1\n", "KEY\na: 1\n"),
        ("resumption: |\n  x\n\n\na: 1\n", "KEY\n\n\na: 1\n"),
        ("resumption:\n  - 1\n  # in\n\n# a\na: 1", "KEY\n  # in\n\n# a\na: 1"),
        ("# a\n\n# mine\nresumption: 1\nb: 2\n", "# a\n\n# mine\nKEY\nb: 2\n"),
        (BOM + "resumption: x\r\na: 1\r\n", BOM + "KEY\r\na: 1\r\n"),
        ("? [a]\n: {b: c}\n", "? [a]\n: {b: c}\nKEY\n"),
        ("a: !mine {b: 1}\n<<: {c: 2}\n", "a: !mine {b: 1}\n<<: {c: 2}\nKEY\n"),
        ("{}", '{"resumption": "new"}'),
        ("{a: 1}", '{a: 1, "resumption": "new"}'),
        ("{a: }", '{a: , "resumption": "new"}'),
        ("{a: 1, # b\n}\n", '{a: 1, "resumption": "new", # b\n}\n'),
        ("&all {}", '&all {"resumption": "new"}'),
        ('{"resumption":1,"b":[]}', '{"resumption": "new","b":[]}'),
    ],
)
def test_section_stands_where_it_should(text: str, changed: str) -> None:
    assert put(text, "new") == changed.replace("KEY", "resumption: new")


def test_comment_on_the_line_of_the_key_stays() -> None:
    assert put("resumption: ~ # soon\n", [1]) == "resumption:  # soon\n  - 1\n"
    assert put("resumption: [ # soon\n 2]\n", [1]) == "resumption:  # soon\n  - 1\n"


def test_section_that_says_the_same_is_left_as_it_is() -> None:
    text = "resumption: {'b': 0x1, # one\n  a: [~]}\n"

    assert put(text, {"b": 1, "a": [None]}) == text
    assert put(text, {"b": True, "a": [None]}) != text
    assert put(text, {"b": 1.0, "a": [None]}) != text
    assert put(text, {"a": [None], "b": 1}) != text


def test_section_knows_the_lines_of_what_it_holds() -> None:
    text = "# top\na: 1\n\nresumption:\n  x:\n    - 1\n    - y: 2\n"

    found = section_of(text)

    assert found.line == 4
    x = (KEY, "x")
    assert found.lines == {(): 4, (KEY,): 4, x: 5, (*x, 0): 6, (*x, 1): 7, (*x, 1, "y"): 7}
    assert set(found.plain) == {(*x, 0), (*x, 1, "y")}


@pytest.mark.req("RES-01")
def test_section_is_judged_at_its_lines_in_the_file() -> None:
    state = "  recovery_state:\n    updated_at: 2026-01-01T00:00:00Z\n"
    found = section_of(f"# top\na: 1\n\nresumption:\n{state}")

    faults = validate(found.value, found.lines, plain=found.plain)

    path = ("recovery_state", "updated_at")
    assert [fault.line for fault in faults if fault.path == path] == [6]
    quoted = section_of(put("", found.value))
    assert path not in {each.path for each in validate(quoted.value, plain=quoted.plain)}


def test_aliases_outside_may_multiply_as_they_like() -> None:
    rows = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    rows += [f"{n}: &{n} [{', '.join([f'*{b}'] * 9)}]" for b, n in zip("abcdef", "bcdefg")]  # noqa: B905  # the last has no next
    bomb = "\n".join(rows)

    assert put(bomb + "\n", NEW) == f"{bomb}\n{BLOCK}"
    with pytest.raises(TooLarge):
        find(f"resumption:\n  {bomb.replace(chr(10), chr(10) + '  ')}\n", KEY, NAME)


# Refused.


REFUSED = (
    ("a: 1\n---\nb: 2\n", BadDocument, 2, "second document"),
    ("a: 1\n...\n---\n", BadDocument, 3, "second document"),
    ("a: 1\nb: 2\na: 3\n", BadDocument, 3, "key `a` stands twice; first in line 1"),
    ("resumption: 1\n'resumption': 2\n", BadDocument, 2, "stands twice"),
    ("{resumption: 1,\nresumption: 2}", BadDocument, 2, "stands twice"),
    ("resumption:\n  a: 1\n  a: 2\n", BadDocument, 3, "key `a` stands twice"),
    ("a: 1\nresumption:\n  b: .inf\n", BadDocument, 3, "finite"),
    ("a: 1\nresumption: !mine {}\n", BadDocument, 2, "tags"),
    ("a: 1\nresumption:\n  <<: {b: 1}\n", BadDocument, 3, "merge"),
    ("a: 'x\n", BadDocument, 1, "YAML"),
    ("a:\n\tb: 1\n", BadDocument, 2, "tab"),
    ("a: 1\n b: 2\n", BadDocument, 2, "YAML"),
    ("a: [1\n", BadDocument, None, "YAML"),
    ("a: 1\nb: \x07\n", BadDocument, 2, "x07"),
    ("a: 1\nb: \ud800\n", BadDocument, 2, "UTF-8"),
    ("a: 1\nb: \0\n", BadDocument, 2, "NUL"),
    (BOM + BOM + "a: 1\n", BadDocument, 1, "byte order mark"),
    ("a: " + "[" * 64 + "]" * 64, BadDocument, 1, "64 levels"),
    ("- " * 100_000, BadDocument, 1, "64 levels"),
    ("{a: " * 100_000, BadDocument, 1, "64 levels"),
    ("a: &x 1\nresumption:\n  b: *x\n", SharedAnchor, 3, "`*x` names an anchor outside of"),
    ("resumption:\n  b: &x 1\nc: *x\n", SharedAnchor, 3, "`*x` names an anchor inside"),
    ("resumption: &x {}\nc: {d: *x}\n", SharedAnchor, 2, "inside"),
    ("a: &x 1\nresumption: &x 2\nc: *x\n", SharedAnchor, 3, "inside"),
    ("{a: &x 1, resumption: *x}", SharedAnchor, 1, "outside of"),
    ("- a\n- b\n", NoPlace, 1, "not a mapping"),
    ("# said\nwords\n", NoPlace, 2, "not a mapping"),
    ("~\n", NoPlace, 1, "not a mapping"),
    ("a: 1\n? resumption\n: 2\n", NoPlace, 2, "does not begin its line"),
    ("a: 1\n&x resumption: 2\n", BadDocument, 2, "a key must be"),
    ("a: 1\nb: |\n  x", NoPlace, 2, "without a line end"),
    ("a: 1\nb: >+\n  x", NoPlace, 2, "without a line end"),
)


@PARSERS
@pytest.mark.parametrize(("text", "cause", "line", "word"), REFUSED, ids=range(len(REFUSED)))
def test_file_is_refused_with_its_line_and_reason(
    parser: str, text: str, cause: type[StandfastError], line: int | None, word: str
) -> None:
    with running(parser), pytest.raises(cause) as refused:
        put(text, NEW)

    assert type(refused.value) is cause
    assert refused.value.file == NAME
    assert line in (None, refused.value.line)
    assert word in refused.value.problem
    assert len(refused.value.problem) < 300


def test_file_over_the_limit_is_refused_before_and_after() -> None:
    with pytest.raises(TooLarge):
        find("#" * (4 * 1024 * 1024 + 1), KEY, NAME)
    with pytest.raises(TooLarge):
        put("#" * (4 * 1024 * 1024 - 5) + "\n", NEW)


@pytest.mark.parametrize("block", ["", "a: 1\n", "{resumption: 1}", "- resumption\n"])
def test_new_section_must_be_one(block: str) -> None:
    with pytest.raises(NoPlace):
        replace("a: 1\n", KEY, block, NAME)


def test_new_section_may_not_take_an_anchor_from_what_is_outside() -> None:
    with pytest.raises(NoPlace, match="around it"):
        replace("a: &x 1\nresumption: 1\nb: *x\n", KEY, "resumption: &x 2\n", NAME)
