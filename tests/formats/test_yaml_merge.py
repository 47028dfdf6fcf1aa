"""An update of a section leaves what says the same as it stands, and the comments between."""

import pytest

from standfast.formats.document_limits import Value
from standfast.formats.yaml_sections import replace
from standfast.formats.yaml_writer import write

KEY = "resumption"
TEXT = """\
a: 1
resumption:  # living
    # where we are
    recovery_state:  # hand-written
        current_phase: 2   # of four
        next_step: 'go on'

    # what to read
    files_to_read: [PLAN.md,   # first
                    NOTES.md]
    # nothing yet
    decision_log: []
    # the end

# b
b: 2
"""
HAS: dict[str, Value] = {
    "recovery_state": {"current_phase": 2, "next_step": "go on"},
    "files_to_read": ["PLAN.md", "NOTES.md"],
    "decision_log": [],
}


def put(value: Value, text: str = TEXT) -> str:
    return replace(text, KEY, write({KEY: value}), "a.yaml")


@pytest.mark.req("RES-01")
def test_one_sub_section_changes_and_every_other_line_stays() -> None:
    changed = put({**HAS, "decision_log": [{"id": "RD-001"}]})

    assert changed == TEXT.replace("decision_log: []", "decision_log:\n      - id: RD-001")


@pytest.mark.req("RES-01")
def test_comments_in_what_changes_stay_where_they_spoke_of_something() -> None:
    changed = put({**HAS, "recovery_state": {"current_phase": 3}})

    assert changed == TEXT.replace(
        "        current_phase: 2   # of four\n        next_step: 'go on'\n",
        "      current_phase: 3   # of four\n",
    )


LIST = """\
resumption:
  log:  # what binds
    # asked twice
    - id: RD-001  # settled
      words: "a # b"
      applied: false
    - id: RD-002
      words: two
      # wait for Ann
      applied: false  # until May
  files: [a.md, b.md]  # short
"""


@pytest.mark.req("RES-01")
def test_comments_in_lists_stay_with_their_entries() -> None:
    log: list[Value] = [
        {"id": "RD-001", "words": "a # b", "applied": True},
        {"id": "RD-002", "words": "two", "applied": True},
        {"id": "RD-003", "words": "three", "applied": False},
    ]
    changed = put({"log": log, "files": ["a.md", "c.md"]}, LIST)

    for line in (
        "  log:  # what binds\n    # asked twice\n    - id: RD-001  # settled\n",
        "      # wait for Ann\n      applied: true  # until May\n    - id: RD-003\n",
        "  # short\n",
    ):
        assert line in changed, changed


@pytest.mark.req("RES-01")
def test_comment_on_what_is_gone_stands_below() -> None:
    changed = put({"log": [], "files": ["a.md"]}, LIST)

    for words in ("what binds", "asked twice", "settled", "wait for Ann", "until May", "short"):
        assert changed.count(f"# {words}\n") == 1, changed


def test_new_sub_section_comes_behind_what_it_follows() -> None:
    first = put({"zero": 0, **HAS})
    last = put({**HAS, "last": 9})
    between = put({"recovery_state": HAS["recovery_state"], "x": 1, **HAS})

    assert first == TEXT.replace("    # where we are\n", "    zero: 0\n    # where we are\n")
    assert last == TEXT.replace("log: []\n", "log: []\n    last: 9\n")
    assert between == TEXT.replace("'go on'\n", "'go on'\n    x: 1\n")


def test_comment_above_a_sub_section_that_goes_stays() -> None:
    changed = put({key: HAS[key] for key in ("recovery_state", "decision_log")})

    gone = "    files_to_read: [PLAN.md,   # first\n                    NOTES.md]\n"
    assert changed == TEXT.replace(gone, "")


def test_section_of_very_many_lines_is_changed_in_one_of_them() -> None:
    lines = "".join(f"  k{number}: {number}  # said\n" for number in range(20_000))
    value: dict[str, Value] = {f"k{number}": number for number in range(20_000)}

    changed = put({**value, "k9": "nine", "new": 1}, f"resumption:\n{lines}a: 1\n")

    lines = lines.replace("k9: 9  # said\n", "k9: nine  # said\n")
    assert changed == f"resumption:\n{lines}  new: 1\na: 1\n"


def test_other_order_is_written_anew_with_the_comment_on_the_key() -> None:
    changed = put(dict(reversed(HAS.items())))

    anew = write({KEY: dict(reversed(HAS.items()))}).replace(f"{KEY}:", f"{KEY}:  # living", 1)
    assert changed == f"a: 1\n{anew}    # the end\n\n# b\nb: 2\n"


@pytest.mark.parametrize(
    ("text", "value", "changed"),
    [
        # an anchor that another sub-section uses may not go
        (
            "resumption:\n  a: &x 1\n  b: *x\n",
            {"a": 2, "b": 1},
            "resumption:\n  a: 2\n  b: 1\n",
        ),
        # a text block must not swallow the comment behind a line that goes
        (
            "resumption:\n  a: |\n    x\n  b: 1\n    # far in\nc: 1\n",
            {"a": "x\n"},
            'resumption:\n  a: "x\\n"\n    # far in\nc: 1\n',
        ),
        # nor win a line end by what comes behind it
        (
            "resumption:\n  a: |\n    x",
            {"a": "x", "b": 1},
            "resumption:\n  a: x\n  b: 1",
        ),
        # a last line without its end is not glued to what comes behind it
        (
            "resumption:\n  # one\n  a: 1\n  # two\n  b: 2",
            {"a": 1, "b": 2, "c": 3},
            "resumption:\n  # one\n  a: 1\n  # two\n  b: 2\n  c: 3",
        ),
        # one space, and CRLF
        (
            "resumption:\r\n a: 1 # one\r\n b:\r\n - x\r\n",
            {"a": 1, "b": ["w", {"z": 1}]},
            "resumption:\r\n a: 1 # one\r\n b:\r\n   - w\r\n   - z: 1\r\n",
        ),
    ],
)
def test_what_cannot_stay_is_written_anew(text: str, value: Value, changed: str) -> None:
    assert put(value, text) == changed
