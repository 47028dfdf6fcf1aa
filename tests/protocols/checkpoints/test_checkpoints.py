"""The rules of checkpoints: what follows what, what a record holds, what can be pasted."""

import itertools
import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from places import ROOT
from standfast.errors.base import BadCheckpoint, BadDocument, MoveRefused, StandfastError
from standfast.protocols.checkpoints.rules import checkpoint as rules
from standfast.protocols.checkpoints.rules import checkpoint_fields as fields
from standfast.protocols.checkpoints.rules import checkpoint_hints as hinted
from standfast.protocols.checkpoints.rules import checkpoints_text as text
from standfast.surfaces.cli import frame

EXAMPLE = """[
  {
    "run_id": "P1-SL-AUTH-20251227",
    "phase": "P1",
    "lane": "SL-AUTH",
    "stage": "retry_attempt",
    "status": "retrying",
    "retry_attempt": 2,
    "max_retries": 3,
    "failure_context": ["Attempt 1: TypeError: undefined is not a function", "Test failed"],
    "timestamp": "2025-12-27T10:30:00Z"
  }
]"""
SHA = "0123456789abcdef" * 2 + "01234567"
WHOLE: rules.Record = {
    "run_id": "P1-20260102",
    "phase": "P1",
    "lane": "SL-1",
    "stage": "pre_pr",
    "status": "ready",
    "base_branch": "main",
    "worktree_path": "/work/trees/P1/SL-1",
    "log_path": "/work/logs/P1.jsonl",
    "timestamp": "2026-01-02T03:04:05Z",
    "notes": "",
    "retry_attempt": 1,
    "max_retries": 2,
    "failure_context": ["Attempt 1: it broke"],
    "branch": "lane/P1/SL-1",
    "base_sha": SHA,
    "head_sha": SHA,
    "commits": [SHA],
    "target_branch": "main",
    "test_command": "make test",
    "exit_code": -15,
    "last_command": "git push",
}
KEY = rules.key(WHOLE)
# The row of the protocol, written out by hand: stage → status → what may follow it.
STUCK = {"failed", "blocked"}
LEGAL = {
    "before_lane_start": dict.fromkeys(
        (None, "ready", "failed", "blocked", "rolled_back"), {"ready"} | STUCK
    ),
    "after_lane_start": dict.fromkeys(
        (None, "in_progress", "failed", "blocked", "rolled_back"), {"in_progress"} | STUCK
    ),
    "after_lane_tests": dict.fromkeys(
        (None, "complete", "failed", "blocked", "rolled_back"), {"complete"} | STUCK
    ),
    "pre_pr": {
        None: {"ready"} | STUCK,
        "ready": {"ready", "complete"} | STUCK,
        "complete": {"complete"},
        **dict.fromkeys(("failed", "blocked", "rolled_back"), {"ready"} | STUCK),
    },
    "retry_attempt": {
        None: {"retrying", "blocked"},
        **dict.fromkeys(("retrying", "failed", "blocked", "rolled_back"), {"retrying"} | STUCK),
    },
}


# Moves.


@pytest.mark.req("CKP-13")
@pytest.mark.parametrize(
    ("stage", "before", "after"),
    [
        (stage, before, after)
        for stage, moves in LEGAL.items()
        for before, after in itertools.product(moves, rules.STATUSES)
    ],
)
def test_exactly_these_statuses_follow(stage: str, before: str | None, after: str) -> None:
    legal = LEGAL[stage][before] | ({"rolled_back"} if before is not None else set())
    if after in legal:
        rules.refuse_move(stage, before, after)
        return

    with pytest.raises(MoveRefused) as refused:
        rules.refuse_move(stage, before, after)

    assert f"not `{after}`" in refused.value.problem
    assert all(name in refused.value.problem for name in legal), "it names the moves that are legal"


@pytest.mark.req("CKP-13")
def test_status_of_another_tool_that_a_stage_has_not_can_be_left_by_beginning_anew() -> None:
    rules.refuse_move("after_lane_start", "complete", "in_progress")

    with pytest.raises(MoveRefused):
        rules.refuse_move("after_lane_start", "complete", "ready")


# What a record holds.


@pytest.mark.req("CKP-02")
def test_whole_record_may_be_written() -> None:
    fields.check(WHOLE)


@pytest.mark.req("CKP-02", "CKP-12")
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("run_id", "../x"),
        ("run_id", "a b"),
        ("phase", "P1;rm"),
        ("lane", "--"),
        ("lane", ""),
        ("stage", "after_lane_end"),
        ("status", "done"),
        ("base_branch", "-x"),
        ("base_branch", "a b"),
        ("worktree_path", "relative/path"),
        ("log_path", "log.jsonl"),
        ("log_path", "/a\nb"),
        ("timestamp", "2026-01-02T03:04:05+01:00"),
        ("timestamp", "2026-01-02T03:04:05.123Z"),
        ("notes", 5),
        ("retry_attempt", 0),
        ("retry_attempt", True),
        ("retry_attempt", 3),
        ("max_retries", -1),
        ("failure_context", "one text"),
        ("failure_context", [1]),
        ("head_sha", "abc"),
        ("commits", [SHA, "HEAD"]),
        ("exit_code", "2"),
    ],
)
def test_record_with_a_bad_field_is_not_written(field: str, value: rules.Record) -> None:
    with pytest.raises(StandfastError) as refused:
        fields.check({**WHOLE, field: value})

    assert field.split("_", maxsplit=1)[0] in refused.value.problem


@pytest.mark.req("CKP-02")
@pytest.mark.parametrize("field", [field.name for field in fields.GIVEN if field.required])
def test_record_without_a_field_of_the_protocol_is_not_written(field: str) -> None:
    with pytest.raises(StandfastError):
        fields.check({name: value for name, value in WHOLE.items() if name != field})


def test_record_of_a_phase_has_the_lane_dash() -> None:
    fields.check({**WHOLE, "lane": "-"})
    assert rules.key({**WHOLE, "lane": "-"}).lane == "-"


# The file.


@pytest.mark.req("CKP-02")
def test_example_of_the_protocol_is_read() -> None:
    (entry,) = text.read(EXAMPLE.encode(), "c.json")

    assert str(entry.key) == "P1-SL-AUTH-20251227/P1/SL-AUTH/retry_attempt"
    assert entry.record == json.loads(EXAMPLE)[0]
    assert entry.line == 2


@pytest.mark.req("CKP-02")
def test_unknown_fields_and_nulls_are_read_and_kept() -> None:
    record = {**json.loads(EXAMPLE)[0], "more": {"a": [1, None]}, "worktree_path": None}

    (entry,) = text.read(json.dumps([record]).encode(), "c.json")

    assert entry.record == record


def record_lines(**other: object) -> str:
    """A record over several lines, the stage in line 6 and the status in line 7."""
    return json.dumps([{**json.loads(EXAMPLE)[0], **other}], indent=2)


@pytest.mark.req("CKP-01", "CKP-02")
@pytest.mark.parametrize(
    ("data", "line", "words"),
    [
        (b"", 1, "not JSON"),
        (b"{}", 1, "not an array"),
        (b'"x"', 1, "not an array"),
        (b"[\n1]", 2, "a record is an object"),
        (b"[\n{}\n]", 2, "a record without `run_id`"),
        (EXAMPLE.encode()[:200], 10, "not JSON"),
        (EXAMPLE.encode()[:-1], 13, "not JSON"),
        (EXAMPLE.replace('"phase": "P1"', '"run_id": "x"').encode(), 4, "stands twice"),
        (EXAMPLE.replace("\n]", f",\n{EXAMPLE[1:-1]}]").encode(), 14, "a second record of"),
        (record_lines(stage="pre_merge").encode(), 6, "there is no stage `pre_merge`"),
        (record_lines(status="done").encode(), 7, "there is no status `done`"),
        (record_lines(status=None).encode(), 7, "`status` must be text"),
        (record_lines(lane="a/b").encode(), 5, "lane `a/b`"),
        (record_lines(run_id="-x").encode(), 3, "run id `-x`"),
        (record_lines(notes=["a"]).encode(), 15, "`notes` must be text"),
        (record_lines(id=7).encode(), 15, "`id` must be text"),
        (record_lines(id="7").encode(), 15, "`id` is Standfast's own number"),
        (b"[\n\0]", 2, "NUL"),
        (b"[" * 100, 1, "nested deeper"),
    ],
)
def test_file_that_cannot_be_read_is_refused_with_its_line(
    data: bytes, line: int, words: str
) -> None:
    with pytest.raises(BadDocument) as refused:
        text.read(data, "c.json")

    assert words in refused.value.problem
    assert (refused.value.file, refused.value.line) == ("c.json", line)


words = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)
names = st.from_regex(r"[a-z][a-z0-9_-]{0,8}", fullmatch=True).filter(
    lambda name: name not in {"con", "prn", "aux", "nul"} and name[:3] not in {"com", "lpt"}
)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=5,
)
others = st.dictionaries(names.map(lambda name: f"x-{name}"), values, max_size=3)


@st.composite
def records(draw: st.DrawFn) -> rules.Record:
    return {
        "run_id": draw(names),
        "phase": draw(names),
        "lane": draw(names | st.just("-")),
        "stage": draw(st.sampled_from(rules.STAGES)),
        "status": draw(st.sampled_from(rules.STATUSES)),
        "notes": draw(words),
        **draw(others),
    }


@pytest.mark.req("CKP-01", "CKP-02")
@given(st.lists(records(), max_size=5, unique_by=lambda record: tuple(rules.key(record))))
def test_what_is_written_reads_back_the_same_in_order(found: list[rules.Record]) -> None:
    newest_first = [
        text.line(json.dumps(record), rules.key(record), "/a b") for record in reversed(found)
    ]

    data = text.write(newest_first)

    assert [entry.record for entry in text.read(data, "c.json")] == found
    assert isinstance(json.loads(data), list)
    assert data.count(b"\n") == (len(found) + 2 if found else 1), "one record a line"


@pytest.mark.req("CKP-01")
def test_file_of_no_records_is_an_empty_array() -> None:
    assert text.write([]) == b"[]\n"
    assert text.read(b"[]", "c.json") == ()


def test_file_shows_the_newest_where_all_are_too_much_to_read_back() -> None:
    lines = [json.dumps({"run_id": f"r{number}", "pad": "x" * 100}) for number in range(100)]

    data = text.write(lines, limit=5_000)

    shown = [record["run_id"] for record in json.loads(data)]
    assert 4_800 < len(data) <= 5_000
    assert shown == [f"r{number}" for number in reversed(range(len(shown)))]


# The schema.


def faults(schema: dict[str, object], value: object, root: dict[str, object]) -> list[str]:
    """What a schema of the few words that ours uses says against a value."""
    if "$ref" in schema:
        for part in str(schema["$ref"]).removeprefix("#/").split("/"):
            root = root[part]  # type: ignore[assignment]
        return faults(root, value, root)
    kinds = {"string": str, "integer": int, "array": list, "object": dict, "null": type(None)}
    said = schema.get("type", [])
    wanted = tuple(kinds[name] for name in ([said] if isinstance(said, str) else said))
    found = [] if isinstance(value, wanted) and not isinstance(value, bool) else [f"{value!r} type"]
    if "enum" in schema and value not in schema["enum"]:  # type: ignore[operator]
        found.append(f"{value!r} enum")
    if isinstance(value, str) and not re.search(str(schema.get("pattern", "")), value):
        found.append(f"{value!r} pattern")
    if isinstance(value, int) and value < schema.get("minimum", value):  # type: ignore[operator]
        found.append(f"{value!r} minimum")
    if isinstance(value, list):
        found += [each for item in value for each in faults(schema["items"], item, root)]  # type: ignore[arg-type]
    if isinstance(value, dict):
        found += [f"{name} missing" for name in schema.get("required", []) if name not in value]  # type: ignore[attr-defined]
        known = schema.get("properties", {})
        found += [
            each
            for name in value
            if name in known  # type: ignore[operator]
            for each in faults(known[name], value[name], root)  # type: ignore[index]
        ]
    return found


@pytest.mark.req("CKP-02")
def test_published_schema_takes_what_we_take_and_what_we_write() -> None:
    page = ROOT / "docs" / "reference" / "checkpoints.schema.json"
    schema = json.loads(page.read_text(encoding="utf-8"))
    ours = json.loads(text.write([text.line(json.dumps({"id": "CP-001", **WHOLE}), KEY, "/r")]))

    assert faults(schema, json.loads(EXAMPLE), schema) == []
    assert faults(schema, ours, schema) == []
    assert faults({"$ref": "#/$defs/written"}, ours[0], schema) == []
    assert faults(schema, {}, schema) != []
    for broken in ({"stage": "x"}, {"status": "x"}, {"lane": "a b"}):
        assert faults(schema, [{**ours[0], **broken}], schema) != [], broken
    for broken in ({"timestamp": "now"}, {"log_path": "x"}, {"retry_attempt": 0}):
        assert faults({"$ref": "#/$defs/written"}, {**ours[0], **broken}, schema) != [], broken
    assert set(ours[0]) == {field.name for field in fields.FIELDS}, "every field was tried"


# Hints.

HARD = [
    "/plain/path",
    "/with space/and'quote",
    '/double"quote/$HOME/`id`',
    "/back\\slash\\\\two/",
    "/\\'/'\\",
    "/bang!!/#hash/~/*?[a]{b,c}",
    "/semi;colon&and|pipe>out<in",
    "/ümläut/日本/(paren)",
    "/new\nline",
]


@pytest.mark.req("CKP-07")
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_hints_work_when_pasted(shell: str, tmp_path: Path) -> None:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed here")
    told = tmp_path / "standfast"
    told.write_text('#!/bin/sh\nfor each; do printf "%s\\0" "$each"; done\n', encoding="utf-8")
    told.chmod(0o755)
    environ = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}

    for root in HARD:
        for hint in (*hinted.hints(KEY, root), hinted.to_the_start(KEY, root)):
            done = subprocess.run(
                [program, "-c", hint], env=environ, capture_output=True, check=True, cwd=tmp_path
            )
            got = done.stdout.decode().split("\0")[:-1]
            assert ["standfast", *got] == shlex.split(hint)
            assert got[got.index("--run-id") + 1 :: 2] == [
                word for word in (KEY.run_id, KEY.phase, KEY.lane, "before_lane_start")
                if word in got
            ]  # fmt: skip
            if "\n" not in root:
                assert got[:2] == ["-C", root]


@pytest.mark.req("CKP-07")
@given(st.text(max_size=30))
def test_quoted_word_is_that_word(word: str) -> None:
    assert shlex.split(hinted.quote(word)) == [word]


@pytest.mark.req("CKP-07", "CKP-12", "CKP-15")
@pytest.mark.parametrize("lane", ["SL-1", "-"])
def test_hint_is_a_complete_command(lane: str) -> None:
    key = KEY._replace(lane=lane)
    names = ["--run-id", key.run_id, "--phase", "P1", "--lane", lane]

    resume, rollback = map(shlex.split, hinted.hints(key, "/r"))

    assert resume == ["standfast", "-C", "/r", "lane", "resume", *names]
    assert rollback == ["standfast", "-C", "/r", "lane", "rollback", *names]
    if "lane" in [command.name for command in frame.commands()]:
        parser, _ = frame.load("lane")
        for words in (resume, rollback, shlex.split(hinted.to_the_start(key, "/r"))):
            parser.parse_args(words[4:])


@pytest.mark.req("CKP-06", "CKP-15")
@pytest.mark.parametrize("stage", rules.STAGES)
@pytest.mark.parametrize("status", rules.STATUSES)
def test_prompt_says_where_it_is_what_comes_next_and_how_to_go_back(
    stage: str, status: str
) -> None:
    key = KEY._replace(stage=stage)

    said = hinted.prompt(key, status, "/r/checkpoints.json", "/r").splitlines()

    assert said[0].startswith(f"Current stage: {stage} ({status})")
    assert said[1] == "Checkpoint: /r/checkpoints.json"
    assert said[2].startswith("Next: ")
    assert len(said[2]) > len("Next: something")
    assert f"  Resume: {hinted.hints(key, '/r').resume}" in said
    assert f"  Roll back to before_lane_start: {hinted.to_the_start(key, '/r')}" in said
    assert hinted.to_the_start(key, "/r").endswith(" --to before_lane_start")


def test_stage_that_failed_is_never_told_as_done() -> None:
    for stage in rules.STAGES:
        said = hinted.next_action(stage, "failed")
        assert "passed" not in said
        assert "done" not in said


def test_unknown_word_of_the_protocol_names_the_known_ones() -> None:
    with pytest.raises(BadCheckpoint) as refused:
        rules.known("done", rules.STATUSES, "status")

    assert all(name in refused.value.problem for name in rules.STATUSES)
