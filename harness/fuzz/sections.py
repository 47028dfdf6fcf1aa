"""Targets for YAML that we write: values of our own, and sections in the files of others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import yaml

from harness.fuzz.target import Target, answered, must, taken, text_of
from standfast.errors.base import StandfastError
from standfast.formats.json_text import read_json
from standfast.formats.yaml_sections import find, replace
from standfast.formats.yaml_text import read_yaml
from standfast.formats.yaml_writer import write, write_flow

if TYPE_CHECKING:
    from standfast.formats.document_limits import Value
    from standfast.formats.yaml_sections import Span

KEY = "resumption"
_NEW: dict[str, Value] = {
    "recovery_state": {"current_phase": 2, "next_step": "no: wait # for it"},
    "files_to_read": ["PLAN.md", {"path": "a b.md", "priority": 1}],
    "agent_summaries": {},
}
_BLOCK = write({KEY: _NEW})


@answered
def _sections(data: bytes) -> None:
    text = text_of(data)
    found = find(text, KEY, "a.yaml")
    changed = replace(text, KEY, _BLOCK, "a.yaml")
    with taken():
        again = find(changed, KEY, "b.yaml")
        must(again is not None and again.value == _NEW, "it reads back as another value")
        must(replace(changed, KEY, _BLOCK, "b.yaml") == changed, "a second time changes it")
    must(_is_kept(text, changed, found), "a byte outside of the section changed")
    before, after = _others(text), _others(changed)
    must(before is None or before == after, "what is beside the section is read otherwise")


def _is_kept(text: str, changed: str, found: Span | None) -> bool:
    if found is not None:
        return changed.startswith(text[: found.start]) and changed.endswith(text[found.end :])
    same = next((at for at, each in enumerate(text) if each != changed[at]), len(text))
    return changed.endswith(text[same:])


def _others(text: str) -> str | None:
    """What the library reads beside the section, written out: NaN is not equal to itself."""
    try:
        value = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return None
    if value is None:
        return "{}"
    if not isinstance(value, dict):
        return None
    return repr({key: each for key, each in value.items() if key != KEY})


@answered
def _written(data: bytes) -> None:
    value = _value_of(data)
    block, flow = write({"a": value}), write_flow([value])
    with taken():
        must(write(read_yaml(block, name="b").value) == block, "it reads back as another value")
        must(read_json(write_flow(value), name="c") == value or "\\U" in flow, "it is no JSON")
    must(repr(yaml.safe_load(block)) == repr({"a": value}), "the library reads another value")
    must(repr(yaml.safe_load(flow)) == repr([value]), "the library reads another value on a line")


def _value_of(data: bytes) -> Value:
    try:
        return read_yaml(data, name="a.yaml").value
    except StandfastError:
        return text_of(data)


_ORCHESTRATION = b"""\
# top
schema: '1'
# ours
resumption:  # living
  # one
  recovery_state:
    a: 1 # x
  # two
  files_to_read: []
  # end
# other
metrics: {a: [1, 2]}
"""
_FILES = (
    _ORCHESTRATION,
    b"\xef\xbb\xbfa: &x [1]\r\nresumption: null # soon\r\n\r\nb: *x\r\n...\r\n# end\r\n",
    b"---\na: |+\n  text\n\nresumption: |\n  text\n\n \nb: >-\n  more",
    b"{a: 1, resumption: {b: 2}, # c\n c: 'x', }\n",
    b"  a: !!str 1\n  <<: {b: 2}\n  ? c\n  : d\n  resumption:\n    - 1\n    -\n\t# tab\n",
    b"a: &x 1\nresumption: {b: *x}\nc: &x 2\n",
    b"a: 1\n# end",
    b"{}",
    b"",
)

TARGETS = (
    Target("yaml-sections", "a section anew and no byte beside it", _sections, _FILES),
    Target(
        "yaml-writing",
        "YAML that reads back as the value, to us and to others",
        _written,
        (
            b"a: [1, -2.5e300, 1e-7, null, true, 'no', \"on\", '0o7', '1:30', '~', '<<', '=']\n",
            b'- "\\u2028 \\x07 \\ufeff"\n- {}\n- - []\n  - x: {y: z}\n    "": " a"\n',
            b"2026-01-01: 'a: b #c'\n",
            b"- word\n- two words\n- '- a'\n- '! b'\n- \"a\\tb\"\n",
        ),
    ),
)
