"""Targets for what other tools write of a run: checkpoints.json and the run log."""

from __future__ import annotations

import json
import os

from harness.fuzz.target import Target, answered, folder, must, taken, text_of
from standfast.app import faces
from standfast.errors.base import StandfastError
from standfast.faces import publish
from standfast.journal.store import Journal
from standfast.protocols.checkpoints.files import checkpoints_json
from standfast.protocols.checkpoints.records import checkpoint_records as recorded
from standfast.protocols.checkpoints.rules import (
    checkpoint,
    checkpoint_fields,
    checkpoint_hints,
    checkpoints_text,
)
from standfast.runs.records import run_log

_EXAMPLE = (
    b'[{"run_id": "P1-SL-AUTH-20251227", "phase": "P1", "lane": "SL-AUTH",'
    b' "stage": "retry_attempt", "status": "retrying", "retry_attempt": 2, "max_retries": 3,'
    b' "failure_context": ["Attempt 1: TypeError"], "timestamp": "2025-12-27T10:30:00Z"}]\n'
)
_TWO = (
    b'[\r\n  {"run_id": "r", "phase": "P1", "lane": "-", "stage": "pre_pr", "status": "ready",'
    b'\r\n   "more": {"a": [1, null]}, "notes": "caf\xc3\xa9", "worktree_path": null},\n'
    b'  {"run_id": "r", "phase": "P1", "lane": "-", "stage": "after_lane_tests",'
    b' "status": "failed", "exit_code": 2}]'
)
_OURS = (
    b'[\n{"id":"CP-007","run_id":"r","phase":"P1","lane":"SL-1","stage":"pre_pr","status":"ready",'
    b'"base_branch":"main","worktree_path":"/w","log_path":"/w/l.jsonl",'
    b'"timestamp":"2026-01-02T03:04:05Z","notes":"","commits":["' + b"a1" * 20 + b'"]}\n]\n'
)


@answered
def _file(data: bytes) -> None:
    for entry in checkpoints_text.read(data, "checkpoints.json"):
        with taken():
            checkpoint.key(entry.record)
            text = json.dumps(entry.record)
            line = checkpoints_text.line(text, entry.key, "/r")
            (again,) = checkpoints_text.read(f"[{line}]".encode(), "again")
            must(again.record == entry.record, "a record that reads back as another")
        checkpoint_fields.check(entry.record)  # what may be read may often not be written


def _face(data: bytes) -> None:
    """Whatever stands there: it is taken whole, or kept byte for byte and told."""
    at = folder("checkpoints")
    path = at.put(faces.CHECKPOINTS_FILE, data)
    journal = Journal(os.path.join(at.path, "journal"))
    with journal.writing() as tx:
        tx.append("fuzz", {})
    face = checkpoints_json.face(
        name=faces.CHECKPOINTS, root=at.path, relative=faces.CHECKPOINTS_FILE, in_git=False
    )
    outcome = publish.keep(journal, face)
    with open(path, "rb") as file:
        after = file.read()
    if outcome.refused is not None:
        must(outcome.refused.problem and outcome.refused.remedy, "refused without a word")
        must(after == data, "refused, and changed all the same")
    else:
        must(after == face.render(journal, None), "the file does not say what the journal says")
        for entry in checkpoints_text.read(data, "given"):
            every = recorded.history(journal, entry.key.run_id)
            now = recorded.current(journal, entry.key.run_id, entry.key.phase)
            must(entry.key in [kept.key for kept in now], "a record was lost")
            must(recorded.find(journal, every[-1].id) == every[-1], "a write without its number")
    journal.let_go()


@answered
def _log(data: bytes) -> None:
    whole = run_log.read_tail(data, 10_000)
    some = run_log.read_tail(data, 3)
    must(some.entries == whole.entries[-3:], "another end")
    torn = run_log.read_tail(data + b'\n{"event": "x', 10_000)
    must(torn.entries == whole.entries, "a torn line took others with it")
    at = folder("run-log")
    path = at.put("log.jsonl", data)
    entry = dict.fromkeys(run_log.NEEDED, "-") | {"status": "ok", "notes": text_of(data[:200])}
    try:
        run_log.append(path, entry)
    except StandfastError:
        return  # what is no text cannot be written
    after = run_log.tail(path, 1)
    must(after.entries and after.entries[0]["event"] == "-", "what was appended is not there")


def _quoted(data: bytes) -> None:
    import shlex

    text = text_of(data)
    must(shlex.split(checkpoint_hints.quote(text), posix=True) == [text], "another word")


TARGETS = (
    Target(
        "checkpoints",
        "records that read back the same, or our error with its line",
        _file,
        (_EXAMPLE, _TWO, _OURS, b"[]", b"{}", b"[1]"),
    ),
    Target(
        "checkpoints-face",
        "taken whole, or kept byte for byte and told",
        _face,
        (_EXAMPLE, _TWO, _OURS, b"[]", b'{"a": 1}'),
        inputs=150,
    ),
    Target(
        "run-log",
        "whole entries; a torn line costs itself only",
        _log,
        (b'{"event":"lane_start","status":"ok"}\n{"event":"x"}\n{"ev', b"\n\n", b"[1]\n"),
        inputs=600,
    ),
    Target(
        "quoted-word",
        "one word for a shell",
        _quoted,
        (b"/a b", b"it's", rb"a\\b\ ", b"-x", b""),
    ),
)
