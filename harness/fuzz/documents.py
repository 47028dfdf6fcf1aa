"""Targets in `protocol/`: documents, names and text from anybody."""

from __future__ import annotations

import json
import os

from harness.fuzz.target import Target, answered, must, taken, text_of
from standfast import ids
from standfast.errors.base import BadName
from standfast.formats import json_edits, json_spans
from standfast.formats.document_limits import decode
from standfast.formats.json_text import read_json, write_json
from standfast.formats.yaml_text import read_yaml
from standfast.text import bounded, is_hidden, one_line, printable

_LINE_ENDS = (b"\n", b"\r", b"\xc2\x85", b"\xe2\x80\xa8", b"\xe2\x80\xa9")  # YAML's own


@answered
def _json(data: bytes) -> None:
    value = read_json(data, name="a.json")
    with taken():
        must(read_json(write_json(value), name="b.json") == value, "it reads back as another value")
    must(json.loads(decode(data, name="")) == value, "the library reads another value")


@answered
def _yaml(data: bytes) -> None:
    document = read_yaml(data, name="a.yaml")
    with taken():
        written = write_json(document.value)
        must(read_json(written, name="b.json") == document.value, "it reads back as another value")
    must(read_yaml(written, name="c.yaml").value == document.value, "its JSON is other YAML")
    lines = (
        sum(data.count(end) for end in _LINE_ENDS) + 2
    )  # an empty value may stand after the last
    must(all(1 <= line <= lines for line in document.lines.values()), "a line that is not there")


@answered
def _spans(data: bytes) -> None:
    text = text_of(data)
    root = json_spans.read(text, name="a.json")
    must(0 <= root.start < root.end <= len(text), "a span outside of the text")
    with taken():
        again = json_spans.read(text[root.start : root.end], name="b.json")
    must(again.value == root.value, "the span of the value holds another value")
    try:
        strict = json.loads(text.removeprefix(json_spans.BOM))
    except (ValueError, RecursionError):
        return
    must(strict == root.value, "the library reads another value")


@answered
def _edits(data: bytes) -> None:
    text = text_of(data)
    root = json_spans.read(text, name="a.json")
    if root.kind not in {"{", "["}:
        return
    item = '"standfast": 1' if root.kind == "{" else "1"
    step = "standfast" if root.kind == "{" else len(root.items)
    if root.at((step,)) is not None:
        return
    with taken():
        longer = json_edits.append(text, (), lambda _: item)
        found = json_spans.read(longer, name="b.json").at((step,))
        must(found is not None and found.value == 1, "what was put in is not there")
        other = json_edits.replace(longer, (step,), "22")
        must(json_edits.replace(other, (step,), "1") == longer, "replacing changed another place")
        must(json_edits.remove(longer, (step,)) == text, "what was put in did not come out again")


_CHECKS = (ids.session_id, ids.run_id, ids.role, ids.lane, ids.slug)


def _ids(data: bytes) -> None:
    text = text_of(data)
    for check in _CHECKS:
        try:
            must(str(check(text)) == text, "a name was changed")
            must(os.path.basename(text) == text and text not in {".", ".."}, "a name is a path")
        except BadName:
            pass
    try:
        found = ids.parse_id(text)
        must(ids.parse_id(ids.format_id(*found)) == found, "an id does not come back")
    except BadName:
        pass
    try:
        path = ids.relative_path(text, what="path")
        must(not os.path.isabs(path) and ".." not in path.split("/"), "a path leads outside")
        must(ids.relative_path(path, what="path") == path, "a path is not what it is taken for")
    except BadName:
        pass


def _text(data: bytes) -> None:
    text = text_of(data)
    shown = printable(text)
    must(not any(map(is_hidden, set(shown))), "something is hidden")
    must(printable(shown) == shown, "what can be seen was changed")
    kept = printable(text, keep_newlines=True)
    must(not any(map(is_hidden, set(kept) - {"\n", "\t"})), "something is hidden in lines")
    for limit in (0, 1, 7, 40, 300):
        must(len(one_line(text, limit)) <= limit, "a line is longer than its limit")
        must("\n" not in one_line(text, limit), "a line is two")
        must(len(bounded(text, limit)) <= limit or len(text) <= limit, "a text is too long")


@answered
def _decoded(data: bytes) -> None:
    text = decode(data, name="a.md", limit=100_000)
    must("\0" not in text, "NUL came through")
    must(text.count("\n") == data.count(b"\n"), "a line more or less")
    if not text.startswith(json_spans.BOM) and "\r\n" not in text:  # as a second one of each does
        must(decode(text, name="b.md") == text, "text is read otherwise than its bytes")


_JSON = (
    b'{"kind":"decision.noted","run":null,"text":"caf\xc3\xa9","list":[1,2.5e3,-0]}',
    b'[true,false,null,"\\ud83d\\ude00","\\u00e9",""]',
    b"[" * 64 + b"]" * 64,
    b"-0.0",
    b'{"a":1e999,\n"a":1,"\\ud800":"\\ud800"}',
)
_SETTINGS = (
    b'{\n  // ours\n  "model": "x",\n  "hooks": {\n    "Stop": [],\n  },\n}\n',
    b'{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}',
    b'\xef\xbb\xbf{\r\n\t"a": [1, /* two */ 2, ],\r\n\t"b": {}\r\n}\r\n',
    b"[]",
    b"{ }",
    b"[\n  1, // one\n  2\n]",
    b'{"a": 1 /* last */\n}',
    b'{\n  "a": 1 // last\n}\n',
)
_YAML = (
    b"# ours\nstatus_file: docs/status.md\nlock_timeout_s: 0.5\n",
    b"model:\n  - to: main\n    text: |\n      two\n      lines\nsteps: [{prompt: hi}]\n",
    b"a: &x [1, 2]\nb: *x\nc: {d: *x, e: 'f', \"g\\n\": ~}\n",
    b"- 0o17\n- 0x1f\n- 1_000\n- .inf\n- 2026-01-02\n- on\n- !!str 1\n- >-\n  folded\n  text\n",
    b"%YAML 1.2\n---\na: 1\n...\n",
    b"a:\n\t- 1\n",
)

TARGETS = (
    Target("json", "a value that reads back the same, or our error", _json, _JSON),
    Target("yaml", "a value that JSON can hold too, or our error", _yaml, _YAML),
    Target("json-spans", "spans that hold their values, or our error", _spans, _SETTINGS + _JSON),
    Target("json-edits", "put in and taken out leaves every byte", _edits, _SETTINGS),
    Target(
        "ids",
        "a name as it stands, which is no path, or our error",
        _ids,
        (b"lane-1", b"RD-001", b"docs/a/status.md", b"s-1.x_y", b"CON", b"git~1", b"RD-1000000"),
    ),
    Target(
        "text",
        "nothing hidden, nothing over its limit",
        _text,
        (
            b"plain words",
            b"\x1b[31mred\x1b[0m\r\n\ttab",
            "e\u0301 👩\u200d💻 \u202eabc".encode(),
            b"a" * 400,
        ),
    ),
    Target(
        "decode",
        "UTF-8 without NUL, line for line, or our error",
        _decoded,
        (b"a\r\nb\n", b"\xef\xbb\xbfx"),
    ),
)
