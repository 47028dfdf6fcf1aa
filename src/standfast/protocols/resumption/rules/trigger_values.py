"""Triggers, and the state that they change, as plain values: for the journal, and from outside.

They are read by their own types, so what a trigger's row forbids cannot be said here either: a
key that its type does not have is refused by name.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin, get_type_hints

from standfast.errors.base import TriggerRefused
from standfast.formats.json_schema import shown
from standfast.protocols.resumption.rules.quality_gates import Result, read_score
from standfast.protocols.resumption.rules.triggers import TRIGGERS
from standfast.protocols.resumption.rules.update_matrix import Resumption, number_of
from standfast.text import one_line

if TYPE_CHECKING:
    from standfast.formats.document_limits import Value
    from standfast.formats.yaml_text import Path
    from standfast.protocols.resumption.rules.triggers import Trigger

_SCALARS = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}


def write_trigger(trigger: Trigger) -> dict[str, Value]:
    """A trigger as JSON can hold it, with its number."""
    return {"trigger": number_of(trigger), **_write(trigger)}


def read_trigger(value: object) -> Trigger:
    """The trigger that a value tells, or what in it cannot be said."""
    if not isinstance(value, Mapping) or value.get("trigger") not in TRIGGERS:
        raise TriggerRefused(f"`trigger` is none of {', '.join(TRIGGERS)}")
    rest = {key: member for key, member in value.items() if key != "trigger"}
    made: Trigger = _read(TRIGGERS[value["trigger"]], rest, ())
    return made


def write_state(state: Resumption) -> dict[str, Value]:
    """The section and the results behind it; the section is plain already."""
    return {"section": state.section, "results": [_write(each) for each in state.results]}


def read_state(value: Mapping[str, Any]) -> Resumption:
    """What `write_state` wrote."""
    results = _read(tuple[Result, ...], value["results"], ("results",))
    return Resumption(value["section"], results)


def _write(value: Any) -> Any:  # noqa: ANN401  # any part of a trigger
    if hasattr(value, "_asdict"):
        return {key: _write(member) for key, member in value._asdict().items()}
    if isinstance(value, Mapping):
        return {key: _write(member) for key, member in value.items()}
    if isinstance(value, tuple):
        return [_write(each) for each in value]
    return str(value) if isinstance(value, Decimal) else value


def _read(kind: Any, value: Any, path: Path) -> Any:  # noqa: ANN401  # whatever a type says
    origin, arguments = get_origin(kind), get_args(kind)
    if kind is Decimal:
        return read_score(value, shown(path))
    if origin in {Union, types.UnionType}:
        return _read_either(arguments, value, path)
    if origin is tuple:
        items = _of(list, value, "a list", path)
        return tuple(_read(arguments[0], each, (*path, at)) for at, each in enumerate(items))
    if origin is Mapping:
        members = _of(dict, value, "a mapping", path)
        return {key: _read(arguments[1], each, (*path, key)) for key, each in members.items()}
    return _read_part(kind, value, path) if hasattr(kind, "_fields") else _scalar(kind, value, path)


def _read_either(kinds: tuple[Any, ...], value: Any, path: Path) -> Any:  # noqa: ANN401
    """None where that may be; else the first type that takes it, or why the first does not."""
    if value is None and types.NoneType in kinds:
        return None
    refusals: list[TriggerRefused] = []
    for kind in (each for each in kinds if each is not types.NoneType):
        try:
            return _read(kind, value, path)
        except TriggerRefused as refusal:
            refusals.append(refusal)
    raise refusals[0]


def _read_part(kind: Any, value: Any, path: Path) -> Any:  # noqa: ANN401  # a NamedTuple's class
    members = _of(dict, value, "a mapping", path)
    hints = get_type_hints(kind)
    for key in members:
        if key not in hints:
            problem = f"`{shown((*path, key))}` cannot be said here"
            raise TriggerRefused(problem, remedy=f"There are {', '.join(hints)}.")
    for key in hints:
        if key not in members and key not in kind._field_defaults:
            raise TriggerRefused(f"`{shown((*path, key))}` is missing")
    return kind(**{key: _read(hints[key], each, (*path, key)) for key, each in members.items()})


def _scalar(kind: Any, value: Any, path: Path) -> Any:  # noqa: ANN401  # one of _SCALARS
    accepted = (int, float) if kind is float else (kind,)
    if type(value) not in accepted:
        raise TriggerRefused(f"`{shown(path)}` is not {_SCALARS[kind]}")
    return value


def _of(kind: type, value: Any, words: str, path: Path) -> Any:  # noqa: ANN401  # a list or a dict
    if not isinstance(value, kind):
        raise TriggerRefused(f"`{one_line(shown(path), 80)}` is not {words}")
    return value
