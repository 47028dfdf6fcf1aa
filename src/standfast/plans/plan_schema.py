"""Plans in our own form as a JSON Schema, for editors: docs/reference/plan.schema.json is this.

What a schema cannot say (names that lead nowhere, rings, files that overlap, times over a week) is
said by `standfast plan check` alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from standfast import ids
from standfast.formats import durations
from standfast.plans import lane_spec
from standfast.plans.model import KEEP_GOING, STOP
from standfast.plans.readers import yaml_plan

if TYPE_CHECKING:
    from standfast.formats.json_schema import Schema

_NAME_FORM = rf"^[A-Za-z0-9][A-Za-z0-9._-]{{0,{ids.LONGEST_NAME - 1}}}$"
_TEXT: Schema = {"type": "string", "pattern": r"^[\s\S]*\S[\s\S]*$"}  # not empty, nor blank
_COMMAND: Schema = {"type": "string", "description": "a shell line; empty is none"}
_NAME: Schema = {"type": "string", "pattern": _NAME_FORM}
_MERGE: Schema = {"type": "string", "enum": list(lane_spec.MERGES)}
_RETRIES: Schema = {"type": "integer", "minimum": 0, "maximum": lane_spec.MOST_RETRIES}


def _several(item: Schema, says: str) -> Schema:
    """One text, or a list of them."""
    return {"anyOf": [item, {"type": "array", "items": item}], "description": says}


def _object(properties: dict[str, Schema], required: tuple[str, ...] = ()) -> Schema:
    """A mapping with these keys and no others."""
    found: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**found, "required": list(required)} if required else found


def _named(value: Schema, least: int = 1) -> Schema:
    """A mapping of names that the author chooses."""
    names: dict[str, Any] = {"propertyNames": {"pattern": _NAME_FORM}, "minProperties": least}
    return {"type": "object", **names, "additionalProperties": value}


_TIME: Schema = {
    "anyOf": [
        {"type": "string", "pattern": rf"^(?=[0-9.]*[1-9]){durations.PATTERN}$"},
        {"type": "number", "exclusiveMinimum": 0, "maximum": durations.LONGEST_S},
    ],
    "description": "such as 90s, 45m or 2h; at most a week",
}
_AFTER = _several(_TEXT, "whom it waits for: a name, or several")
_OUTPUTS: Schema = {
    "type": "object",
    "propertyNames": {"pattern": _NAME_FORM},
    "additionalProperties": {"type": "string", "enum": list(lane_spec.TIERS)},
    "description": "files that it must write, and whether the lane can do without",
}
_TASK: Schema = {
    "anyOf": [
        {**_TEXT, "description": "the prompt"},
        {
            **_object(
                {
                    "prompt": _TEXT,
                    "prompt_file": {**_TEXT, "description": "below the repository's root"},
                    "after": _AFTER,
                    "role": _NAME,
                    "runner": _TEXT,
                    "outputs": _OUTPUTS,
                }
            ),
            "oneOf": [{"required": ["prompt"]}, {"required": ["prompt_file"]}],
        },
    ]
}
_LANE: Schema = {
    "anyOf": [
        {**_TEXT, "description": "its only task"},
        {
            **_object(
                {
                    "after": {**_AFTER, "description": "lanes of this phase, or PHASE/LANE"},
                    "task": _TEXT,
                    "tasks": _named(_TASK),
                    "owns": _several(_TEXT, "patterns of the files that are its own"),
                    "runner": _TEXT,
                    "test": _COMMAND,
                    "setup": _COMMAND,
                    "merge": _MERGE,
                    "retries": _RETRIES,
                    "time": {**_TIME, "description": "for each command"},
                }
            ),
            "oneOf": [{"required": ["task"]}, {"required": ["tasks"]}],
        },
    ]
}
_GATE = _object(
    {
        "role": _NAME,
        "pass": {"type": "number", "minimum": 0, "maximum": 1},
        "iterations": {"type": "integer", "minimum": 1, "maximum": yaml_plan.MOST_ITERATIONS},
        "runner": _TEXT,
        "prompt": _TEXT,
    },
    ("role",),
)
_PHASE = _object({"name": _TEXT, "gates": _named(_GATE, 0), "lanes": _named(_LANE)}, ("lanes",))
_LIMITS = _object(
    {
        "lanes": {"type": "integer", "minimum": 1, "maximum": yaml_plan.MOST_AT_ONCE},
        "time": {**_TIME, "description": "of the whole run"},
        "cost_usd": {"type": "number", "minimum": 0, "maximum": yaml_plan.MOST_USD},
    }
)

PLAN: Schema = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "A plan for `standfast run`",
    **_object(
        {
            "run": {**_NAME, "description": "the name of the run; the file's, if there is none"},
            "base": {**_TEXT, "description": "the branch that lanes start from and go to"},
            "runner": {**_TEXT, "description": "who runs the agents: claude, codex, …"},
            "merge": _MERGE,
            "on_failure": {"type": "string", "enum": [KEEP_GOING, STOP]},
            "limits": _LIMITS,
            "setup": {**_COMMAND, "description": "run once in each new worktree"},
            "copy": _several(_TEXT, "ignored files that every worktree needs"),
            "test": _COMMAND,
            "retest": {
                "type": "string",
                "enum": list(lane_spec.RETESTS),
                "description": "whether lanes are tested again on a base that moved (always)",
            },
            "pr": {**_TEXT, "description": "makes a pull request, instead of gh"},
            "pr_probe": {**_TEXT, "description": "ends with 0 if it is there, with 1 if not"},
            "retries": _RETRIES,
            "time": {**_TIME, "description": "for each command of a lane that names none"},
            "phases": _named(_PHASE),
            "lanes": _named(_LANE),
        }
    ),
    "oneOf": [{"required": ["lanes"]}, {"required": ["phases"]}],
}
