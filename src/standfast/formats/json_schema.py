"""The part of JSON Schema (draft 2020-12) that our schemas use, followed to findings for people.

Every finding has a path, the line it stands in, and a remedy. A keyword that is not known here is
a mistake in our own schema and raises, so that no published rule goes unchecked.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from standfast.text import one_line

if TYPE_CHECKING:
    from standfast.formats.yaml_text import Path

Schema = dict[str, Any]
_Check = Callable[[object, Schema, "Path"], "Iterator[Fault]"]

_SHOWN = 60
_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "null": (type(None),),
    "integer": (int,),
    "number": (int, float),
}
_WORDS = {"object": "a mapping", "array": "a list", "string": "text", "boolean": "true or false"}
_WORDS |= {"null": "null", "integer": "a whole number", "number": "a number"}


class Finding(NamedTuple):
    """One thing that is wrong: where, what, and how to mend it."""

    path: Path
    line: int
    problem: str
    remedy: str

    @property
    def at(self) -> str:
        """The path as people write it: `decision_log[2].id`."""
        return shown(self.path)

    def __str__(self) -> str:
        return f"line {self.line}: `{self.at}` {self.problem}. {self.remedy}"


class Fault(NamedTuple):
    """A finding before its line is known."""

    path: Path
    problem: str
    remedy: str


def shown(path: Path) -> str:
    """A path as people write it."""
    return "".join(_part(part, first=at == 0) for at, part in enumerate(path)) or "the section"


def _part(part: str | int, *, first: bool) -> str:
    if isinstance(part, int):
        return f"[{part}]"
    return one_line(part, _SHOWN) if first else f".{one_line(part, _SHOWN)}"


def line_of(lines: Mapping[Path, int], path: Path) -> int:
    """The line of *path*, or of the nearest thing around it that has one."""
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path, 1)


def check(value: object, schema: Schema, path: Path = ()) -> Iterator[Fault]:
    """Everything in which *value* breaks *schema*; what is of the wrong type is not looked into."""
    kinds = schema.get("type", list(_TYPES))
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if not any(_is(value, kind) for kind in kinds):
        wanted = " or ".join(_WORDS[kind] for kind in kinds)
        yield Fault(path, f"is {_kind(value)}, not {wanted}", _retype(value, kinds))
        return
    for keyword in schema:
        yield from _KEYWORDS[keyword](value, schema, path)


def _is(value: object, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, _TYPES[kind])


def _kind(value: object) -> str:
    found = next((kind for kind in _TYPES if _is(value, kind)), None)
    return _WORDS[found] if found else f"a {type(value).__name__}"


def _retype(value: object, kinds: list[str]) -> str:
    """A scalar that should be text was most often meant as text, and lacks its quotes."""
    if "string" in kinds and value is not None and not isinstance(value, (dict, list)):
        return "Put the value in quotes."
    return f"Write {' or '.join(_WORDS[kind] for kind in kinds)} there."


def _nothing(_value: object, _schema: Schema, _path: Path) -> Iterator[Fault]:
    yield from ()


def _required(value: object, schema: Schema, path: Path) -> Iterator[Fault]:
    for key in schema["required"]:
        if isinstance(value, dict) and key not in value:
            yield Fault((*path, key), "is missing", "Add the key.")


def _properties(value: object, schema: Schema, path: Path) -> Iterator[Fault]:
    for key, member in schema["properties"].items():
        if isinstance(value, dict) and key in value:
            yield from check(value[key], member, (*path, key))


def _others(value: object, schema: Schema, path: Path) -> Iterator[Fault]:
    known, others = schema.get("properties", {}), schema["additionalProperties"]
    for key, member in value.items() if isinstance(value, dict) else ():
        if key not in known and others is False:
            keys = ", ".join(known)
            yield Fault((*path, key), "is not a key that v2.0 knows", f"There are {keys}.")
        elif key not in known:
            yield from check(member, others, (*path, key))


def _items(value: object, schema: Schema, path: Path) -> Iterator[Fault]:
    for at, item in enumerate(value if isinstance(value, list) else ()):
        yield from check(item, schema["items"], (*path, at))


def _any_of(value: object, schema: Schema, path: Path) -> Iterator[Fault]:
    """The faults by the alternative of the value's own type: the one that was meant."""
    meant = [each for each in schema["anyOf"] if _is(value, each["type"])]
    faults = [list(check(value, each, path)) for each in meant]
    if not meant:
        wanted = " or ".join(_WORDS[each["type"]] for each in schema["anyOf"])
        yield Fault(path, f"is {_kind(value)}, not {wanted}", f"Write {wanted} there.")
    elif all(faults):
        yield from faults[0]


def _one_of(value: object, schema: Schema, path: Path) -> Iterator[Fault]:
    """Alternatives that say which keys are needed: one of them, and no two."""
    faults = [list(check(value, each, path)) for each in schema["oneOf"]]
    fitting = sum(not each for each in faults)
    if fitting != 1:
        keys = " or ".join(key for each in schema["oneOf"] for key in each["required"])
        yield Fault(path, f"needs {'only one' if fitting else 'one'} of {keys}", "Write one.")


def _property_names(value: object, schema: Schema, path: Path) -> Iterator[Fault]:
    for key in value if isinstance(value, dict) else ():
        yield from check(key, schema["propertyNames"], (*path, key))


def _enum(value: object, schema: Schema, path: Path) -> Iterator[Fault]:
    if value not in schema["enum"]:
        problem = f"is `{one_line(str(value), _SHOWN)}`, which it cannot be"
        yield Fault(path, problem, f"Write one of {', '.join(schema['enum'])}.")


def _pattern(value: object, schema: Schema, path: Path) -> Iterator[Fault]:
    if isinstance(value, str) and re.fullmatch(schema["pattern"], value) is None:
        wanted = schema.get("description", f"of the form `{schema['pattern']}`")
        yield Fault(path, f"is `{one_line(value, _SHOWN)}`", f"It must be {wanted}.")


def _bound(keyword: str, holds: Callable[[Any, Any], bool], words: str) -> _Check:
    def check_bound(value: object, schema: Schema, path: Path) -> Iterator[Fault]:
        bound = schema[keyword]
        if value is not None and not holds(value, bound):
            yield Fault(path, f"is {words} {bound}", f"Write a value that is not {words} {bound}.")

    return check_bound


_KEYWORDS: Mapping[str, _Check] = {
    **dict.fromkeys(("type", "description", "title", "$schema"), _nothing),
    "required": _required,
    "properties": _properties,
    "additionalProperties": _others,
    "items": _items,
    "anyOf": _any_of,
    "oneOf": _one_of,
    "propertyNames": _property_names,
    "enum": _enum,
    "pattern": _pattern,
    "minimum": _bound("minimum", operator.ge, "below"),
    "maximum": _bound("maximum", operator.le, "above"),
    "exclusiveMinimum": _bound("exclusiveMinimum", operator.gt, "not above"),
    "minProperties": _bound("minProperties", lambda value, least: len(value) >= least, "under"),
    "minItems": _bound("minItems", lambda value, least: len(value) >= least, "shorter than"),
    "minLength": _bound("minLength", lambda value, least: len(value) >= least, "shorter than"),
}
