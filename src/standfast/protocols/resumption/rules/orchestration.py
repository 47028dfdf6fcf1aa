"""What stands around the resumption section in its file, as far as it can be told. Pure.

Files of this kind are written by people and models, each a little otherwise: whatever cannot be
read is not known, and never an error.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from standfast.errors.base import StandfastError
from standfast.formats import stated_times
from standfast.formats.yaml_text import read_yaml
from standfast.protocols.resumption.rules import plain_values
from standfast.protocols.resumption.rules.migration.section_migration import OVER, Around
from standfast.protocols.resumption.rules.section_schema import LONGEST_LINE
from standfast.protocols.resumption.rules.staleness import UNKNOWN
from standfast.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

KEY = "resumption"
_KEY = re.compile(r"^([A-Za-z_][A-Za-z0-9_-]*)[ \t]*:", re.MULTILINE)
_WORK = ("workflow", "orchestration", "project", "pipeline")
_STATUS = ("status", "workflow_status")
_UNDER_WAY, _OVER = "ACTIVE", "COMPLETE"
_NONE = {"", "none", "null", "n/a", "-"}  # how people write that there is none yet
_LONGEST_NUMBER = 6


class _Phase(NamedTuple):
    number: int | None
    name: str = ""


def latest_id(text: str) -> str | None:
    """`checkpoints.latest_id`, if the file has one: in whatever form it is written."""
    found = _mapping(_part(text, "checkpoints")).get("latest_id")
    is_told = isinstance(found, (str, int)) and not isinstance(found, bool)
    name = one_line(str(found), LONGEST_LINE) if is_told else ""
    return name if name.lower() not in _NONE else None


def around(text: str, updated_at: str, file: str) -> Around:
    """What the rest of the file says of phase, status, checkpoints and gates."""
    phase = _phase(_part(text, "pipelines"))
    status = _workflow_status(text)
    stated = _stated(text, updated_at)
    return Around(
        updated_at=stated or UNKNOWN,
        file=file,
        current_phase=phase.number,
        current_phase_name=phase.name,
        workflow_status=status,
        last_checkpoint=latest_id(text),
        gates=() if status in OVER else tuple(dict.fromkeys(_gates(_part(text, "quality_gates")))),
        **({"updated_by": "the newest time that the file states"} if stated else {}),
    )


def _stated(text: str, written: str) -> str | None:
    """The time that the file gives itself, not after it was written: a checkout writes it anew."""
    limit = stated_times.first(written)
    found = stated_times.newest(text, limit.when if limit else None)
    return stated_times.rfc3339(found.when) if found else None


def _workflow_status(text: str) -> str | None:
    """The first status of the whole work that can be read, wherever files have it."""
    parts = (_mapping(_part(text, key)) for key in _WORK)
    said = (part.get(key) for part in parts for key in _STATUS)
    beside = (_part(text, key) for key in _STATUS)
    return next(filter(None, map(plain_values.status, (*said, *beside))), None)


def _part(text: str, key: str) -> Any:  # noqa: ANN401  # anything that YAML can say
    """The value of one key of the top level, read without the rest of the file."""
    starts = [(found.start(), found[1]) for found in _KEY.finditer(text)]
    for at, (start, name) in enumerate(starts):
        if name == key:
            end = starts[at + 1][0] if at + 1 < len(starts) else len(text)
            try:
                return _mapping(read_yaml(text[start:end], name=key).value).get(key)
            except StandfastError:  # an alias to elsewhere, or no YAML at all
                return None
    return None


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _phase(pipelines: object) -> _Phase:
    """The furthest phase that any pipeline is in."""
    every = pipelines if isinstance(pipelines, list) else _mapping(pipelines).values()
    found = [_phase_of(each) for each in map(_mapping, every)]
    return max(found, default=_Phase(None), key=lambda phase: phase.number or 0)


def _phase_of(pipeline: dict[str, Any]) -> _Phase:
    given = plain_values.phase(pipeline.get("current_phase"))
    listed = pipeline.get("phases")
    phases = [
        (_Phase(_number(each.get("id", each.get("number")), at), _name(each)), _status(each))
        for at, each in enumerate(map(_mapping, listed if isinstance(listed, list) else ()), 1)
    ]
    if given.number is not None:
        names = [phase.name for phase, _ in phases if phase.number == given.number]
        return _Phase(given.number, names[0] if names else given.name)
    started = [phase for phase, status in phases if status in {_UNDER_WAY, _OVER}]
    running = [phase for phase, status in phases if status == _UNDER_WAY]
    return (running or started[-1:] or [_Phase(None)])[0]


def _number(value: object, default: int = 0) -> int:
    """A phase's number, as a number or at the end of a name such as `phase-2`."""
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        return default
    digits = re.search(r"([0-9]+)\s*$", str(value))
    return int(digits[1]) if digits and len(digits[1]) <= _LONGEST_NUMBER else default


def _name(phase: dict[str, Any]) -> str:
    name = phase.get("name")
    return one_line(name, LONGEST_LINE) if isinstance(name, str) else ""


def _status(entry: dict[str, Any]) -> str | None:
    return plain_values.status(entry.get("status"))


def _gates(gates: object) -> Iterator[str]:
    """The ids of gates that have not passed: a list of entries, or a mapping of ids."""
    named = _mapping(gates).items()
    listed = [(_mapping(each).get("id"), each) for each in gates] if isinstance(gates, list) else []
    for name, entry in (*named, *listed):
        is_gate = isinstance(name, str) and isinstance(entry, dict) and name.strip()
        if is_gate and _status(entry) != _OVER:
            yield one_line(str(name), LONGEST_LINE)
