"""The resumption section, v2.0, as data: the JSON Schema that is published and that is checked by.

One truth: docs/reference/resumption.schema.json is this value, and section_check.py follows it.
What a schema cannot say (ids that are no other's, a count that counts, real dates) stands there.
A project may have keys of its own in every mapping: they are its facts, and stay where they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from standfast.protocols.resumption.rules.quality_gates import WEIGHTS

if TYPE_CHECKING:
    from standfast.formats.json_schema import Schema

Section = dict[str, Any]  # of the shape that is described here

VERSION = "2.0"
STATUSES = ("ACTIVE", "PAUSED", "COMPLETE", "FAILED", "CANCELLED")
COMPACTION_TRIGGERS = ("auto", "manual")
DECISION, COMPACTION, CHECKPOINT = "RD", "CX", "CP"
V1_FIELDS = (
    *("last_checkpoint", "current_state", "next_step"),
    *("files_to_read", "cross_session_portable", "ephemeral_references"),
)
LONGEST_LINE = 500  # of what the section tells in one line

_TEXT: Schema = {"type": "string"}
_TEXTS: Schema = {"type": "array", "items": {"type": "string"}}
_GATE: Schema = {"type": ["string", "null"], "description": "null between gates"}
_OF_GATE: Schema = {
    "type": ["integer", "null"],
    "minimum": 1,
    "description": "null between gates, and between two iterations of one",
}
_ITERATION: Schema = {"type": ["integer", "null"], "minimum": 1}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_SHARE: Schema = {"type": ["number", "null"], "minimum": 0, "maximum": 1}
_TIME: Schema = {
    "type": "string",
    "description": "RFC 3339 with whole seconds, in quotes",
    "pattern": ("^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(Z|[+-][0-9]{2}:[0-9]{2})$"),
}


def _object(required: dict[str, Schema], optional: dict[str, Schema] | None = None) -> Schema:
    """A mapping with these keys, beside whatever a project keeps there."""
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
    }


def _id(prefix: str) -> Schema:
    return {"type": "string", "pattern": f"^{prefix}-[0-9]{{3,9}}$"}


_RECOVERY_STATE = _object(
    {
        "last_checkpoint": {
            "type": ["string", "null"],
            "minLength": 1,
            "description": "the file's `checkpoints.latest_id`, as it is",
        },
        "current_phase": {
            "type": ["integer", "null"],
            "minimum": 0,
            "description": "null when unknown",
        },
        "current_phase_name": _TEXT,
        "workflow_status": {"type": "string", "enum": list(STATUSES)},
        "current_activity": _TEXT,
        "next_step": _TEXT,
        "context_fill_at_update": {**_SHARE, "description": "null when unknown"},
        "updated_at": _TIME,
    },
    {
        "cross_session_portable": {"type": "boolean"},
        "ephemeral_references": {"type": "boolean"},
    },
)
_FILE = _object(
    {
        "path": {"type": "string", "minLength": 1},
        "priority": {"type": "integer", "minimum": 1},
        "purpose": _TEXT,
    },
    {"sections": _TEXTS},
)
_QUALITY_TRAJECTORY = _object(
    {
        "gates_completed": _TEXTS,
        "gates_remaining": _TEXTS,
        "current_gate": _GATE,
        "current_gate_iteration": _OF_GATE,
        "score_history": {
            "type": "object",
            "additionalProperties": {
                "type": "array",
                "items": {"type": "number", "minimum": 0, "maximum": 1},
            },
        },
        "lowest_dimension": {
            "type": ["string", "null"],
            "description": f"over all gate results; ours are {', '.join(WEIGHTS)}",
        },
        "total_iterations_used": _COUNT,
    }
)
_DEFECT_SUMMARY = _object(
    {
        "total_defects_found": _COUNT,
        "total_defects_resolved": _COUNT,
        "unresolved_defects": _TEXTS,
        "recurring_patterns": {
            "type": "array",
            "items": _object(
                {"pattern": _TEXT, "gates_affected": _TEXTS},
                {"resolution": {"type": ["string", "null"]}},
            ),
        },
        "last_gate_primary_defect": {"type": ["string", "null"]},
    }
)
_DECISION = _object(
    {"id": _id(DECISION), "decision": _TEXT, "rationale": _TEXT},
    {
        "gate": _GATE,
        "iteration": _ITERATION,
        "affects_phases": {"type": "array", "items": _COUNT},
        "applied": {"type": "boolean"},
        "was": {**_TEXT, "description": "its id before: in another list, or in another form"},
    },
)
_COMPACTION = _object(
    {
        "id": _id(COMPACTION),
        "timestamp": _TIME,
        "trigger": {"type": "string", "enum": list(COMPACTION_TRIGGERS)},
        "estimated_fill_before": {**_SHARE, "description": "null when unknown"},
    },
    {
        "active_phase": {"type": ["integer", "null"], "minimum": 0},
        "active_gate": _GATE,
        "active_gate_iteration": _ITERATION,
        "checkpoint_file": {"type": ["string", "null"]},
        "acknowledged": {"type": "boolean"},
    },
)

SECTION: Schema = _object(
    {
        "recovery_state": _RECOVERY_STATE,
        "files_to_read": {
            "type": "array",
            "minItems": 1,
            "items": {"anyOf": [{"type": "string", "minLength": 1}, _FILE]},
        },
        "quality_trajectory": _QUALITY_TRAJECTORY,
        "defect_summary": _DEFECT_SUMMARY,
        "decision_log": {"type": "array", "items": _DECISION},
        "agent_summaries": {
            "type": "object",
            "additionalProperties": {"type": "string", "minLength": 1, "pattern": "^[^\\r\\n]*$"},
        },
        "compaction_events": _object(
            {"count": _COUNT, "events": {"type": "array", "items": _COMPACTION}}
        ),
    }
)
SUB_SECTIONS: tuple[str, ...] = tuple(SECTION["required"])

PUBLISHED: Schema = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "The resumption section of ORCHESTRATION.yaml, v2.0",
    **SECTION,
}
