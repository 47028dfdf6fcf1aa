"""No document from outside can do more than be read or be refused, with its file and line."""

import json
import random
from collections.abc import Callable

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from standfast.errors.base import BadDocument, StandfastError, TooLarge
from standfast.formats.document_limits import Value, decode
from standfast.formats.json_text import read_json, write_json
from standfast.formats.yaml_text import Document, read_yaml

pytestmark = pytest.mark.req("SEC-02")

NAME = "plan.txt"
MUTANTS = 2500

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(10**99) + 1, 10**99)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(alphabet=st.characters(exclude_categories=["Cs"]))
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner),
)
# Digits are left out of these texts: YAML 1.1, which PyYAML writes, reads other numbers from them.
# Line ends of other alphabets too: what PyYAML writes with them it reads back changed.
WORDS = st.text(
    alphabet=st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp", "Nd", "Nl", "No"]),
    max_size=30,
)
ORDINARY = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats(-1e9, 1e9) | WORDS,
    lambda inner: st.lists(inner) | st.dictionaries(WORDS, inner),
)

PLAN = """\
# a plan
test: npm test
limits: {lanes: 4, time: 45m, cost_usd: 20}
shared: &shared
  - one
  - "two\\tthree"
lanes:
  schema: Add the users table.
  api:
    after: schema
    task: |
      Build login.
        Indented.
    notes: >-
      folded
      text
    retries: 2
    ratio: 0.92
    copy: *shared
  'docs':
    owns: [docs/**, 'a: b']
    runner:
"""
RECORDS = """\
[
  {"run_id": "P1-SL-AUTH-20251227", "lane": "-", "retries": 2, "sha": null},
  {"text": "caf\\u00e9 \\ud83d\\ude80 \\"quoted\\"\\n", "score": 0.92e-1, "done": true},
  {"nested": [[[{"a": {"b": []}}]]], "big": -12345678901234567890}
]
"""


@pytest.fixture(params=["libyaml", "python"])
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run the test with PyYAML as it is, and as it is where libyaml was not compiled in."""
    if request.param == "python":
        monkeypatch.delattr(yaml, "CSafeLoader")
    return str(request.param)


def refusal(read: Callable[..., object], data: bytes | str) -> StandfastError:
    with pytest.raises((BadDocument, TooLarge)) as refused:
        read(data, name=NAME)
    return refused.value


def value_of(text: bytes | str) -> Value:
    return read_yaml(text, name=NAME).value


# Bytes


def test_decode_drops_the_byte_order_mark_and_accepts_crlf() -> None:
    assert decode(b"\xef\xbb\xbfa\r\nb\r\n", name=NAME) == "a\nb\n"


@pytest.mark.parametrize(
    ("data", "line", "word"),
    [
        (b"a\nb\0c", 2, "NUL"),
        (b"\0", 1, "NUL"),
        (b"a\r\n\r\n\xff", 3, "UTF-8"),
        (b"a\n\xc3", 2, "UTF-8"),
        (b"\xed\xa0\x80", 1, "UTF-8"),
        ("a\n\ud800", 2, "UTF-8"),
        (b"a\x00\xff", 1, "NUL"),
    ],
)
def test_decode_refuses_what_is_no_text_with_the_line(
    data: bytes | str, line: int, word: str
) -> None:
    error = refusal(decode, data)

    assert (type(error), error.file, error.line) == (BadDocument, NAME, line)
    assert word in error.problem


@pytest.mark.parametrize("read", [decode, read_json, read_yaml])
def test_more_bytes_than_the_limit_are_refused_and_as_many_are_read(
    read: Callable[..., object],
) -> None:
    read(b'"aaaa"', name=NAME, limit=6)
    with pytest.raises(TooLarge) as refused:
        read('"aaé"', name=NAME, limit=5)

    assert refused.value.file == NAME
    assert "at most 5" in refused.value.problem


# JSON


@given(VALUES)
def test_json_written_reads_back_the_same(value: Value) -> None:
    text = write_json(value)

    back = read_json(text.encode(), name=NAME)

    assert back == value
    assert write_json(back) == text


def test_json_is_written_compactly_in_the_order_given() -> None:
    assert write_json({"b": [1, "é"], "a": None}) == '{"b":[1,"é"],"a":null}'


def nested(levels: int) -> Value:
    value: Value = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("inf"),
        ["\ud800"],
        10**101,
        10**5000,
        nested(65),
        nested(100_000),
        {"a": object()},
    ],
    ids=["nan", "inf", "surrogate", "digits", "more digits", "deep", "very deep", "object"],
)
def test_json_that_could_not_be_read_back_is_not_written(value: Value) -> None:
    with pytest.raises(BadDocument):
        write_json(value)


@pytest.mark.parametrize(
    ("text", "line", "word"),
    [
        ("", 1, "JSON"),
        ("[1,\n2,\n]", 3, "JSON"),
        ("[1]\n[2]", 2, "Extra data"),
        ('{"a": 1,\n"b": {},\n"a": 2}', 3, "key `a` stands twice; first in line 1"),
        ('[{"a": 1},\n{"x": {"a": 1, "b": [",", "a"], \n"\\u0061": 2}}]', 3, "key `a`"),
        ('{"a\u202e": 1, "a\u202e": 2}', 1, r"a\u202e"),
        ("[1,\nNaN]", 2, "NaN"),
        ("[\n\n-Infinity]", 3, "-Infinity"),
        ("Infinity", 1, "Infinity"),
        ("[1,\n1e999]", 2, "too large"),
        ('["1e999",\n-1E+400]', 2, "too large"),
        ("[1,\n" + "1" * 101 + "]", 2, "101 characters"),
        ("[1,\n0." + "1" * 200 + "]", 2, "202 characters"),
        ('["a",\n"\\ud800"]', 2, "surrogate"),
        ('{"a": 1,\n"\\udc00": 1}', 2, "surrogate"),
        ('["\\ud83d\\ude00",\n"\\ude00\\ud83d"]', 2, "surrogate"),
        ('["\\ud800",\n"\\q"', 1, "surrogate"),
        ('["\\q\\ud800"]', 1, "JSON"),
        ('{"\\q": 1,\n"a": "\\ud83d\\ude00"}', 1, "JSON"),
        ('["a\nb"]', 1, "control character"),
        ("[" * 64 + "\n[", 2, "64 levels"),
        ('[{"\\"]}":\n' * 32 + "[", 33, "64 levels"),
        ("--" * 60, 1, "characters"),
        ('["\\ud83d\\ude00", -]', 1, "JSON"),
        ('["\\ud83d\\ude00"]]]', 1, "Extra data"),
        ("\ufeff\ufeff1", 1, "JSON"),
    ],
)
def test_bad_json_is_refused_with_its_line_and_reason(text: str, line: int, word: str) -> None:
    error = refusal(read_json, text)

    assert (type(error), error.file, error.line) == (BadDocument, NAME, line)
    assert word in error.problem


@pytest.mark.parametrize(
    "text",
    [
        "[" * 64 + "]" * 64,
        '["' + "[" * 100 + '"]',
        "[" + "[]," * 100 + "1]",
        '{"a": {"a": 1}, "b": [{"a": 1}, {"a": 2}]}',
        '["\\ud83d\\ude00", "\\\\ud800", "NaN", "' + "1" * 200 + '"]',
        "1" * 100,
        b'\xef\xbb\xbf{\r\n"a": 1}\r\n',
        '{"": 0}',
    ],
)
def test_json_that_only_looks_bad_is_read(text: str | bytes) -> None:
    plain = text.decode("utf-8-sig") if isinstance(text, bytes) else text

    assert read_json(text, name=NAME) == json.loads(plain)


# YAML


@given(ORDINARY)
def test_yaml_agrees_with_pyyaml_on_ordinary_documents(value: Value) -> None:
    text = yaml.safe_dump(value, allow_unicode=True)

    assert value_of(text) == value == yaml.safe_load(text)


def test_yaml_agrees_with_pyyaml_on_a_plan(parser: str) -> None:
    assert value_of(PLAN) == yaml.safe_load(PLAN)
    assert value_of("\ufeff" + PLAN.replace("\n", "\r\n")) == yaml.safe_load(PLAN)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("# only a comment\n", None),
        ("---\n", None),
        ("--- a\n...\n", "a"),
        ("%YAML 1.2\n---\na", "a"),
        ("[~, null, Null, NULL, nULL, '', 'null']", [None, None, None, None, "nULL", "", "null"]),
        ("[true, True, TRUE, tRUE]", [True, True, True, "tRUE"]),
        ("[false, False, FALSE]", [False, False, False]),
        ("[no, NO, yes, on, off, y, n]", ["no", "NO", "yes", "on", "off", "y", "n"]),
        ("[2026-01-01, 12:30, 12:30:45]", ["2026-01-01", "12:30", "12:30:45"]),
        ("[1, -1, +1, 007, 0]", [1, -1, 1, 7, 0]),
        ("[0x1F, 0o17, -0x1F, 0b1, 1_000]", [31, 15, "-0x1F", "0b1", "1_000"]),
        ("[1.5, .5, 5., -1e3, 1E-2, +1.5]", [1.5, 0.5, 5.0, -1000.0, 0.01, 1.5]),
        ("[., 1.2.3, 1e, e1, ٣]", [".", "1.2.3", "1e", "e1", "٣"]),
        ("['1', \"true\", '.inf', '~']", ["1", "true", ".inf", "~"]),
        ("on: 1\nno: 2\n'1': 3\n", {"on": 1, "no": 2, "1": 3}),
        ("'<<': {a: 1}", {"<<": {"a": 1}}),
        ("a: <<", {"a": "<<"}),
        ("a: &x [1]\nb: *x\nc: [*x, *x]", {"a": [1], "b": [1], "c": [[1], [1]]}),
        ("? a\n: b", {"a": "b"}),
        ("a: {b: 1}\nc: {b: 1}", {"a": {"b": 1}, "c": {"b": 1}}),
    ],
)
def test_yaml_scalars_and_structures_follow_the_core_rules(
    text: str, value: Value, parser: str
) -> None:
    found = value_of(text)

    assert repr(found) == repr(value)


@pytest.mark.parametrize(
    ("text", "line", "word"),
    [
        ("a: 1\nb: !!str x", 2, "tags"),
        ("a: !x {b: 1}", 1, "tags"),
        ("a:\n  - !!python/object/apply:os.system [x]", 2, "tags"),
        ("! a", 1, "tags"),
        ("%TAG ! tag:example,2000:\n---\na", 1, "tags"),
        ("a: &x {b: 1}\nc:\n  <<: *x", 3, "merge"),
        ("a: 1\nb: 2\na: 3", 3, "key `a` stands twice; first in line 1"),
        ("a:\n  b: {c: 1,\n    'c': 2}", 3, "key `c` stands twice; first in line 2"),
        ("a: 1\n1: x", 2, "key `1` is not text"),
        ("true: x", 1, "key `true` is not text"),
        ("~: x", 1, "not text"),
        ("? [a]\n: b", 1, "a key must be"),
        ("a: &x b\n*x : 1", 2, "a key must be"),
        ("&x a: 1", 1, "a key must be"),
        ("a: 1\n---\nb: 2", 2, "second document"),
        ("a: 1\n...\n---\n", 3, "second document"),
        ("a:\n\tb: 1", 2, "tab"),
        ("a:\n  b: 1\n\tc: 2", 3, "tab"),
        ("a: |\n  x\n\ty", 3, "tab"),
        ("a: 1\nb: .inf", 2, "finite"),
        ("[-.INF]", 1, "finite"),
        ("a:\n  .nan", 2, "finite"),
        ("a: 1\nb: 12e5678", 2, "quotes"),
        ("a: 1\nb: " + "1" * 101, 2, "101 characters"),
        ("0x" + "f" * 99, 1, "101 characters"),
        ("a: 1." + "1" * 200, 1, "202 characters"),
        ("a: 1\nb: *x", 2, "`*x` names no anchor"),
        ("a: &x\n  - *x", 2, "`*x` stands inside"),
        ("- &x 1\n- &x 2", 2, "`&x` is set twice; first in line 1"),
        ("é: 1\na: \x07", 2, "x07"),
        ('a: 1\nb: "\\ud800"', 2, ""),
        ('a: 1\nb: "\\UFFFFFFFF"', 2, ""),
        ("a: [1,\n  2", 2, "YAML"),
        ("a: 1\n b: 2", 2, "YAML"),
        ("a: 'x", 1, "YAML"),
        ("[" * 65 + "]" * 65, 1, "64 levels"),
        ("a: &x " + "[" * 40 + "]" * 40 + "\nb: " + "[" * 30 + "*x" + "]" * 30, 2, "64 levels"),
        ("a: &x [&y [[]]]\nb: " + "[" * 61 + "*x" + "]" * 61, 2, "64 levels"),
        ("a: &x [[[[]]], &y []]\nb: " + "[" * 61 + "*x" + "]" * 61, 2, "64 levels"),
    ],
)
def test_bad_yaml_is_refused_with_its_line_and_reason(
    text: str, line: int, word: str, parser: str
) -> None:
    error = refusal(read_yaml, text)

    assert (type(error), error.file, error.line) == (BadDocument, NAME, line)
    assert word in error.problem


def test_yaml_is_read_up_to_the_deepest_level_with_aliases_too() -> None:
    plain = value_of("[" * 64 + "]" * 64)
    aliased = value_of("a: &x " + "[" * 33 + "]" * 33 + "\nb: " + "[" * 30 + "*x" + "]" * 30)
    beside = value_of(f"- {'[' * 60}{']' * 60}\n- &x [1]\n- [[[[[*x]]]]]")

    assert plain == json.loads("[" * 64 + "]" * 64)
    assert isinstance(aliased, dict)
    assert isinstance(beside, list)


def test_yaml_aliases_give_values_that_can_be_changed_alone() -> None:
    value = value_of("a: &x {n: [1]}\nb: *x\n")
    assert isinstance(value, dict)

    value["a"]["n"].append(2)  # type: ignore[index,call-overload,union-attr]

    assert value == {"a": {"n": [1, 2]}, "b": {"n": [1]}}


def test_yaml_document_knows_what_was_written_without_quotes() -> None:
    document = read_yaml("a: 1\nb: '1'\nc: [x, \"y\"]\nd: |\n  z\n", name=NAME)

    assert document.plain == {("a",), ("c", 0)}
    assert Document(value=None, lines={}).plain == frozenset()


def test_yaml_document_knows_the_line_of_every_key_and_item() -> None:
    text = "# plan\nlanes:\n  api:\n    task: |\n      x\n    after:\n      - a\n      - b: 1\n"

    document = read_yaml(text + "end: {k: v}\n", name=NAME)

    assert document.lines == {
        (): 2,
        ("lanes",): 2,
        ("lanes", "api"): 3,
        ("lanes", "api", "task"): 4,
        ("lanes", "api", "after"): 6,
        ("lanes", "api", "after", 0): 7,
        ("lanes", "api", "after", 1): 8,
        ("lanes", "api", "after", 1, "b"): 8,
        ("end",): 9,
        ("end", "k"): 9,
    }


def test_yaml_document_gives_the_nearest_line_for_what_is_not_written_there() -> None:
    document = read_yaml("a: &x {n: 1}\n\nb: *x\n", name=NAME)

    assert document.line_of(("b", "n")) == 3
    assert document.line_of(("zzz", "n")) == 1
    assert Document(value=None, lines={}).line_of(("a",)) == 1


# Bombs


def alias_bomb() -> str:
    """Nine values, repeated nine times, eight times over."""
    rows = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    for before, name in zip("abcdefgh", "bcdefghi", strict=True):
        rows.append(f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]")
    return "\n".join(rows)


def test_alias_bomb_is_refused_at_the_line_where_it_grows_too_large(parser: str) -> None:
    bomb = alias_bomb()

    error = refusal(read_yaml, bomb)

    assert len(bomb) < 500
    assert (type(error), error.line) == (TooLarge, 6)
    assert "100000 values" in error.problem


def test_alias_bomb_of_text_is_refused_although_it_has_few_values() -> None:
    error = refusal(read_yaml, f"a: &a {'x' * 10**6}\nb: [{'*a, ' * 1000}]")

    assert (type(error), error.line) == (TooLarge, 2)
    assert "characters" in error.problem


def test_as_many_values_as_allowed_are_read_and_one_more_is_not() -> None:
    most = "[" + "1," * 99_999 + "]"

    assert len(value_of(most)) == 99_999  # type: ignore[arg-type]
    assert "100000 values" in refusal(read_yaml, f"[1,{most[1:]}").problem


@pytest.mark.parametrize(
    ("read", "text", "word"),
    [
        (read_json, "[" * 100_000, "64 levels"),
        (read_json, "[" * 100_000 + "]" * 100_000, "64 levels"),
        (read_json, '{"a":' * 100_000, "64 levels"),
        (read_json, "1" * 10**6, "1000000 characters"),
        (read_json, '["\\ud800' + '\\"' * 10**6, "JSON"),
        (read_json, "[" * 65 + '"' + '\\"' * 10**6, "64 levels"),
        (read_json, '"' + '\\"[' * 10**6, "JSON"),
        (read_yaml, "- " * 100_000, "64 levels"),
        (read_yaml, "[" * 100_000, "64 levels"),
        (read_yaml, "{a: " * 100_000, "64 levels"),
        (read_yaml, "[\n" * 100_000, "64 levels"),
        (read_yaml, "? " * 100_000, "a key must be"),
        (read_yaml, "".join(" " * depth + "a:\n" for depth in range(1000)), "64 levels"),
        (read_yaml, "1" * 10**6, "1000000 characters"),
        (read_yaml, "&a " * 10**6, "YAML"),
        (read_yaml, "- &a x\n" * 430_000, "set twice"),
        (read_yaml, "".join(f"- &a{n} x\n" for n in range(200_000)), "100000 values"),
        (read_yaml, "k" * 10**6 + ": 1", "YAML"),
    ],
    ids=[
        "json lists",
        "json closed lists",
        "json objects",
        "json digits",
        "json escapes after a surrogate",
        "json escapes in depth",
        "json brackets in an open string",
        "yaml lists",
        "yaml flow lists",
        "yaml flow mappings",
        "yaml flow lists on lines",
        "yaml keys of keys",
        "yaml indentation",
        "yaml digits",
        "yaml anchors in a row",
        "yaml one anchor again and again",
        "yaml many anchors",
        "yaml long simple key",
    ],
)
def test_bomb_is_refused_for_what_it_is(read: Callable[..., object], text: str, word: str) -> None:
    error = refusal(read, text)

    assert error.file == NAME
    assert error.line is not None
    assert word in error.problem
    assert len(error.problem) < 300


def test_key_of_a_megabyte_is_read_and_shown_short_when_it_stands_twice() -> None:
    key = "k" * 10**6

    assert read_json(f'{{"{key}": 1}}', name=NAME) == {key: 1}
    assert value_of(f"? {key}\n: 1\n") == {key: 1}
    assert len(refusal(read_json, f'{{"{key}": 1, "{key}": 2}}').problem) < 200
    assert len(refusal(read_yaml, f"? {key}\n: 1\n? {key}\n: 1\n").problem) < 200


# Mutations

PIECES = [
    *b"[]{}:,\"\\'#&*!|>%@`-?\n\t \r\0",
    *[b"\xff", b"\xe2\x80\xae", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xc2\x85", b"\x07"],
    *[b"\\ud800", b"NaN", b"1e999", b".inf", b"<<: ", b"*shared", b"&shared ", b"!!str ", b"---\n"],
    *[b'"a": 1, "a": 2', b"? ", b"[" * 70, b"\\UFFFFFFFF", b"%YAML 9\n", b"1" * 120, b"- - - "],
]


def mutated(source: bytes, chance: random.Random) -> bytes:
    """Change *source* in one to four places."""
    data = bytearray(source)
    for _ in range(chance.randint(1, 4)):
        place, end = sorted(chance.choices(range(len(data) + 1), k=2))
        piece = chance.choice(PIECES)
        piece = bytes([piece]) if isinstance(piece, int) else piece
        match chance.randrange(6):
            case 0:
                data[place:place] = piece
            case 1:
                data[place : place + 1] = piece
            case 2:
                del data[place : place + chance.randint(1, 8)]
            case 3:
                data[place:place] = data[place : min(end, place + 60)]
            case 4 if chance.random() < 0.2:
                del data[place:]
            case _:
                data[place : place + 1] = bytes([chance.randrange(256)])
    return bytes(data)


def check_says_where(error: StandfastError, data: bytes) -> None:
    lines = len(data.decode("utf-8", "replace").splitlines())
    assert error.file == NAME, data
    assert error.line is not None, data
    assert 1 <= error.line <= lines + 1, data


def outcomes(read: Callable[..., object], source: str, *, count: int) -> tuple[int, int]:
    """Read mutants; count those taken and those refused, and check that each refusal says where."""
    chance = random.Random(20260101)
    taken = refused = 0
    for _ in range(count):
        data = mutated(source.encode(), chance)
        try:
            value = read(data, name=NAME)
        except (BadDocument, TooLarge) as error:
            check_says_where(error, data)
            refused += 1
        else:
            plain = value.value if isinstance(value, Document) else value
            assert read_json(write_json(plain), name=NAME) == plain, data  # type: ignore[arg-type]
            taken += 1
    return taken, refused


def test_mutated_json_is_read_or_refused_with_its_line() -> None:
    taken, refused = outcomes(read_json, RECORDS, count=MUTANTS)

    assert taken > 50
    assert refused > 1000


def test_mutated_yaml_is_read_or_refused_with_its_line(parser: str) -> None:
    taken, refused = outcomes(read_yaml, PLAN, count=MUTANTS)

    assert taken > 50
    assert refused > 500


@given(st.binary() | st.text().map(str.encode))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    for read in (read_json, read_yaml):
        try:
            read(data, name=NAME)
        except (BadDocument, TooLarge) as error:
            check_says_where(error, data)
