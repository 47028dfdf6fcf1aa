"""What we write as YAML is read as the same value by us, by YAML 1.1 and by YAML 1.2."""

import json
import math
from collections.abc import Callable

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from standfast.errors.base import BadDocument
from standfast.formats.document_limits import Value
from standfast.formats.yaml_text import read_yaml
from standfast.formats.yaml_writer import write, write_flow

# Words that one version of YAML or the other takes for something else than text.
TRAPS = [
    *(
        "",
        " ",
        "~",
        "null",
        "Null",
        "nULL",
        "y",
        "Y",
        "n",
        "yes",
        "No",
        "ON",
        "off",
        "True",
        "fALSE",
    ),
    *("0", "007", "0o17", "0x1F", "0b1", "1_000", "+1", "-1", "1.5", ".5", "5.", "1e3", "1.0e+3"),
    *("12:30", "12:30:45", "190:20:30", "190:20:30.15", "2026-01-01", "2026-01-01T10:00:00Z"),
    *(".inf", "-.INF", ".nan", "<<", "=", "- a", "-", "--", "---", "...", "? a", "?", ": a", ":"),
    *(
        "a: b",
        "a:",
        "a #b",
        "#a",
        "&a",
        "*a",
        "!a",
        "!!str",
        "|",
        ">",
        "%a",
        "@a",
        "`a",
        "'a",
        '"a',
    ),
    *("[a]", "{a}", "a]", "a, b", ",", "a ", " a", "a\tb", "a\n", "\na", "a\r\nb", "a\\b", "a\\"),
    *("\x00", "\x07", "\x7f", "\x85", "\xa0", "\u2028", "\u2029", "\ufeff", "\ufffe", "\U0001f600"),
    *("\u202eabc", "\U000e0041", "\U0001fffe", "é", "a" * 5_000, "CP-001", "docs/a.md", "a.b-c d"),
]
TEXTS = st.sampled_from(TRAPS) | st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
KEYS = TEXTS.filter(lambda text: len(json.dumps(text)) < 900)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(10**99) + 1, 10**100 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


def ours(text: str) -> object:
    return read_yaml(text, name="").value


def yaml_1_2(text: str) -> object:
    return YAML(typ="safe", pure=True).load(text)


READERS: dict[str, Callable[[str], object]] = {
    "ours": ours,
    "YAML 1.1": yaml.safe_load,
    "libyaml": lambda text: yaml.load(text, Loader=yaml.CSafeLoader),
    "YAML 1.2": yaml_1_2,
}


@pytest.mark.req("RES-01")
@settings(deadline=None)
@given(VALUES, st.integers(0, 5))
def test_block_reads_back_as_the_value_to_every_reader(value: Value, indent: int) -> None:
    text = write({"key": value}, indent)

    for name, read in READERS.items():
        assert repr(read(text)) == repr({"key": value}), name


@settings(deadline=None)
@given(VALUES)
def test_line_reads_back_as_the_value_to_every_reader(value: Value) -> None:
    text = write_flow([value])

    assert "\n" not in text
    for name, read in READERS.items():
        assert repr(read(text)) == repr([value]), name


@pytest.mark.parametrize("text", TRAPS, ids=range(len(TRAPS)))
def test_text_stays_text_as_value_key_and_item(text: str) -> None:
    value: Value = {"a": text, "b": [text, [text]]}
    value |= {text: 1} if len(text) < 900 else {}  # type: ignore[operator]

    for name, read in READERS.items():
        assert repr(read(write(value))) == repr(value), name


@pytest.mark.parametrize("number", [1e22, 1e16, -1e-7, 5e-324, 1.7976931348623157e308, -0.0, 100.0])
def test_float_is_a_float_to_every_reader(number: float) -> None:
    for name, read in READERS.items():
        assert repr(read(write([number]))) == repr([number]), name


def test_nothing_that_hides_itself_is_written_as_it_is() -> None:
    written = write(["a\u202eb\u200b\U000e0041\x1b[31m\xad\x85\u2028"])

    assert written == r'- "a\u202eb\u200b\U000e0041\u001b[31m\u00ad\u0085\u2028"' + "\n"


def test_what_people_read_is_bare_and_in_steps_of_two() -> None:
    value: Value = {
        "recovery_state": {"last_checkpoint": "CP-001", "current_phase": 2, "fill": 0.5},
        "files_to_read": ["PLAN.md", {"path": "docs/a b.md", "sections": ["one"]}],
        "decision_log": [],
        "agent_summaries": {"auditor": "PASS. No blockers."},
        "nested": [[1, [2]], {}],
    }

    assert write(value, 2) == (
        "  recovery_state:\n"
        "    last_checkpoint: CP-001\n"
        "    current_phase: 2\n"
        "    fill: 0.5\n"
        "  files_to_read:\n"
        "    - PLAN.md\n"
        "    - path: docs/a b.md\n"
        "      sections:\n"
        "        - one\n"
        "  decision_log: []\n"
        "  agent_summaries:\n"
        '    auditor: "PASS. No blockers."\n'
        "  nested:\n"
        "    - - 1\n"
        "      - - 2\n"
        "    - {}\n"
    )


def nested(levels: int) -> Value:
    value: Value = 1
    for _ in range(levels):
        value = [value]
    return value


UNWRITABLE: dict[str, object] = {
    "nan": math.nan,
    "infinity": -math.inf,
    "surrogate": ["\ud800"],
    "surrogate in a key": {"\ud800": 1},
    "digits": 10**100,
    "digits and a sign": -(10**99),
    "very many digits": 10**5_000,
    "deep": nested(65),
    "very deep": nested(5_000),
    "long key": {"k" * 1_001: 1},
    "number as key": {1: 2},
    "object": {"a": object()},
    "bytes": {"a": b"x"},
}


@pytest.mark.parametrize("put", [write, write_flow])
@pytest.mark.parametrize("name", UNWRITABLE)
def test_value_that_could_not_be_read_back_is_not_written(
    put: Callable[[object], str], name: str
) -> None:
    with pytest.raises(BadDocument):
        put(UNWRITABLE[name])


@pytest.mark.parametrize(
    "value",
    [nested(64), {"k" * 990: 1}, 10**100 - 1, -(10**99) + 1],
    ids=["deep", "long key", "digits", "digits and a sign"],
)
def test_value_at_the_limit_is_written_and_read_back(value: Value) -> None:
    assert ours(write(value)) == value
    assert ours(write_flow(value)) == value
