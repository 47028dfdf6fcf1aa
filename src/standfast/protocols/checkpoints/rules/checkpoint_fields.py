"""The fields of a checkpoint: what each holds, how it is checked, and the published schema.

Those of the protocol come first; then those that an exact rollback needs and the protocol lacks.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from standfast.errors.base import BadCheckpoint
from standfast.protocols.checkpoints.rules import checkpoint
from standfast.protocols.checkpoints.rules.checkpoint import HINTS, ID, KEY, STAGES, STATUSES
from standfast.text import is_hidden, one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from standfast.formats.document_limits import Value
    from standfast.protocols.checkpoints.rules.checkpoint import Record

_TIME = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z"
_SHA = r"(?:[0-9a-f]{40}|[0-9a-f]{64})"
_BRANCH = r"(?!-)[^\x00-\x20\x7f~^:?*\[\\]+"
_NAME = r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
_ABSOLUTE = r"/[^\x00]*"
_CP = r"CP-[0-9]{3,9}"

TEXT, WHOLE, TEXTS = "text", "a whole number", "a list of texts"


class Field(NamedTuple):
    """One field: its kind, the pattern of its text where it has one, and what it says."""

    name: str
    kind: str
    says: str
    pattern: str = ""
    one_of: tuple[str, ...] = ()
    least: int | None = None
    required: bool = False  # in a record that we write


FIELDS: tuple[Field, ...] = (
    Field("run_id", TEXT, "The run; it never changes.", _NAME, required=True),
    Field("phase", TEXT, "The phase, such as `P1`.", _NAME, required=True),
    Field("lane", TEXT, "The lane, such as `SL-1`; `-` for a whole phase.", f"-|{_NAME}",
          required=True),
    Field("stage", TEXT, "Where in the lane it was written.", one_of=STAGES, required=True),
    Field("status", TEXT, "How things stood there.", one_of=STATUSES, required=True),
    Field("base_branch", TEXT, "The branch that the run integrates into.", _BRANCH, required=True),
    Field("worktree_path", TEXT, "The lane's worktree, absolute.", _ABSOLUTE, required=True),
    Field("log_path", TEXT, "The run log (JSON lines), absolute.", _ABSOLUTE, required=True),
    Field("timestamp", TEXT, "When it was written: UTC, whole seconds. Order is the order in the"
          " file, not this.", _TIME, required=True),
    Field("notes", TEXT, "Anything else, such as the last command.", required=True),
    Field("resume_hint", TEXT, "A shell command that resumes.", required=True),
    Field("rollback_hint", TEXT, "A shell command that rolls back and keeps everything.",
          required=True),
    Field("retry_attempt", WHOLE, "Which retry this is, from 1.", least=1),
    Field("max_retries", WHOLE, "How many retries the lane has.", least=0),
    Field("failure_context", TEXTS, "What the attempts before said: `Attempt 1: …`."),
    Field("id", TEXT, "Standfast's number of this write, `CP-001`; leave it as it is.", _CP),
    Field("branch", TEXT, "The lane's own branch.", _BRANCH),
    Field("base_sha", TEXT, "The commit that the lane started from.", _SHA),
    Field("head_sha", TEXT, "The lane branch's commit at this moment.", _SHA),
    Field("commits", TEXTS, "The lane's commits, oldest first.", _SHA),
    Field("target_branch", TEXT, "The branch that the merge or PR goes to.", _BRANCH),
    Field("test_command", TEXT, "The test command that was run."),
    Field("exit_code", WHOLE, "How that command, or `last_command`, ended."),
    Field("last_command", TEXT, "The last command that was tried."),
)  # fmt: skip
_TOLD = ("last_command", "test_command", "exit_code", "head_sha", "commits", "target_branch")
BY_NAME: Mapping[str, Field] = {field.name: field for field in FIELDS}
MADE = (ID, *HINTS)  # by us, when a record is written
GIVEN = tuple(field for field in FIELDS if field.name not in MADE)


def check(record: Record) -> None:
    """Hold a record that we are about to write to every rule; BadCheckpoint names the field."""
    checkpoint.key(record)
    checkpoint.status(record)
    for field in GIVEN:
        if field.required and field.name not in record:
            raise BadCheckpoint(f"`{field.name}` is missing")
    for name, value in record.items():
        refuse_kind(name, value)
        _refuse_pattern(name, value)
    retry, most = record.get("retry_attempt"), record.get("max_retries")
    if isinstance(retry, int) and isinstance(most, int) and retry > most:
        raise BadCheckpoint(f"`retry_attempt` {retry} is more than `max_retries` {most}")


def in_order(record: Record) -> Record:
    """The same record, the fields that are known first and in the order of the table."""
    ours = {field.name: record[field.name] for field in FIELDS if field.name in record}
    return {**ours, **record}


def noted(record: Record) -> Record:
    """The same record, its `notes` telling commands, exit codes and commits to people as well."""
    notes = str(record.get("notes") or "")
    told = [(name, record[name]) for name in _TOLD if record.get(name) not in (None, [])]
    lacking = [
        f"{name}: {' '.join(map(str, value)) if isinstance(value, list) else value}"
        for name, value in told
        if str(value) not in notes or isinstance(value, list)
    ]
    return {**record, "notes": "; ".join([*([notes] if notes else []), *lacking])}


def refuse_kind(name: str, value: Value) -> None:
    """What is known by name must be of its kind; null says nothing; the rest may be anything."""
    field = BY_NAME.get(name)
    if field is None or (value is None and name not in (*KEY, "status", ID)):
        return
    if not _KINDS[field.kind](value):
        raise BadCheckpoint(f"`{name}` must be {field.kind}")
    if name == ID and not re.fullmatch(_CP, str(value)):
        raise BadCheckpoint("`id` is Standfast's own number: leave it as it was, or out")


def _is_whole(value: Value) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _are_texts(value: Value) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


_KINDS = {TEXT: lambda value: isinstance(value, str), WHOLE: _is_whole, TEXTS: _are_texts}


def _refuse_pattern(name: str, value: Value) -> None:
    field = BY_NAME.get(name)
    if field is None:
        return
    for text in value if isinstance(value, list) else [value]:
        if field.pattern and not re.fullmatch(field.pattern, str(text)):
            raise BadCheckpoint(f"`{name}` may not be `{one_line(str(text), 60)}`: {field.says}")
        if field.pattern == _ABSOLUTE and any(map(is_hidden, str(text))):
            raise BadCheckpoint(f"`{name}` holds a control or invisible character")
    if field.least is not None and isinstance(value, int) and value < field.least:
        raise BadCheckpoint(f"`{name}` is at least {field.least}")


def schema() -> dict[str, object]:
    """The file as JSON Schema: what is read; `$defs/written` is what we write ourselves."""
    read_needs = [*KEY, "status"]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "checkpoints.json",
        "description": "Checkpoints of lanes, oldest write first, one record for each run_id,"
        " phase, lane and stage. Fields that are not listed are kept.",
        "type": "array",
        "items": {"$ref": "#/$defs/record"},
        "$defs": {
            "record": {
                "description": "What is read, whoever wrote it.",
                "type": "object",
                "properties": {field.name: _property(field, strict=False) for field in FIELDS},
                "required": read_needs,
            },
            "written": {
                "description": "What Standfast writes for `standfast checkpoint write`.",
                "type": "object",
                "properties": {field.name: _property(field, strict=True) for field in FIELDS},
                "required": [ID, *(field.name for field in FIELDS if field.required)],
            },
        },
    }


def _property(field: Field, *, strict: bool) -> dict[str, object]:
    firm = strict or field.name in (*KEY, "status", ID)
    kind = {TEXT: "string", WHOLE: "integer", TEXTS: "array"}[field.kind]
    said: dict[str, object] = {"description": field.says, "type": kind if firm else [kind, "null"]}
    pattern = {"pattern": f"^(?:{field.pattern})$"} if field.pattern and firm else {}
    if field.kind == TEXTS:
        said["items"] = {"type": "string", **pattern}
    else:
        said |= pattern
    if field.one_of:
        said["enum"] = list(field.one_of)
    if field.least is not None and strict:
        said["minimum"] = field.least
    return said
