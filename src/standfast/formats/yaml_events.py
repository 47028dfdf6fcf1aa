"""The steps a YAML parser takes through a text, as plain values that name their line.

The one place that knows PyYAML. Everything the parser can raise leaves here as BadDocument, and
what no document may hold at all (a second document, control characters) is refused here. `steps`
are for building values, and refuse tags; `places` are for changing a text, and take what a person
may write.
"""

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from standfast.errors.base import BadDocument
from standfast.formats.document_limits import DEEPEST, line_at
from standfast.text import one_line

if TYPE_CHECKING:
    import yaml

# Looked for here because the two parsers count the place of such a character differently.
_NO_YAML = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

# What else the parser written in Python lets escape on broken input.
_ACCIDENTS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)


class Kind(StrEnum):
    """What a step begins, ends or is."""

    SCALAR = "scalar"
    LIST = "list"
    MAPPING = "mapping"
    END = "end"
    ALIAS = "alias"


_KINDS = {
    "ScalarEvent": Kind.SCALAR,
    "SequenceStartEvent": Kind.LIST,
    "MappingStartEvent": Kind.MAPPING,
    "SequenceEndEvent": Kind.END,
    "MappingEndEvent": Kind.END,
    "DocumentEndEvent": Kind.END,
    "AliasEvent": Kind.ALIAS,
}
SAYS = 4  # fields of a place
_DEEPER = {Kind.LIST: 1, Kind.MAPPING: 1, Kind.END: -1}


class _Mark(Protocol):
    index: int


class _Marked(Protocol):
    """What an event of PyYAML may have; which of it there is, its class says."""

    start_mark: _Mark
    end_mark: _Mark
    value: str
    anchor: str | None
    tag: str | None
    style: str | None
    flow_style: bool


class Step(NamedTuple):
    """One step: *text* of a scalar, *anchor* of whatever has or uses one."""

    kind: Kind
    line: int
    text: str = ""
    anchor: str | None = None
    is_plain: bool = False


class Place(NamedTuple):
    """One step with where it stands; *style* is `{` of a flow collection, or a scalar's mark.

    What it says comes first: `place[:SAYS]`.
    """

    kind: Kind
    text: str
    anchor: str | None
    tag: str | None
    style: str
    line: int
    start: int
    end: int


def steps(text: str, *, name: str) -> Iterator[Step]:
    """Yield the steps through the one document of *text*: none at all if it is empty."""
    for event, line in _events(text, name=name):
        _refuse_tags(event, name=name, line=line)
        step = _step(event, line)
        if step is not None:
            yield step


def places(text: str, *, name: str) -> list[Place]:
    """List the steps through the one document with their offsets; the last is the document's end.

    *text* has no byte order mark: the two parsers count it differently.
    """
    found: list[Place] = []
    depth = 0
    for event, line in _events(text, name=name):
        kind = _KINDS.get(event.__class__.__name__)
        if kind is None:
            continue
        found.append(_place(event, kind, line))
        if kind is Kind.SCALAR or kind is Kind.ALIAS:
            continue
        depth += _DEEPER[kind]
        if depth > DEEPEST:
            raise BadDocument(f"nested deeper than {DEEPEST} levels", file=name, line=line)
    return found


def _events(text: str, *, name: str) -> Iterator[tuple[Any, int]]:
    import yaml  # late: only commands that read YAML pay for it

    odd = _NO_YAML.search(text)
    if odd is not None:
        line = line_at(text, odd.start())
        raise BadDocument(f"the character {odd[0]!a} may not stand in YAML", file=name, line=line)
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    line = 1
    documents = 0
    try:
        for event in yaml.parse(text, Loader=loader):
            line = event.start_mark.line + 1
            documents += isinstance(event, yaml.DocumentStartEvent)
            if documents > 1:
                problem = "a second document begins; only one is read"
                raise BadDocument(problem, file=name, line=line)
            yield event, line
    except yaml.YAMLError as error:
        raise _explained(error, text, name=name, line=line) from error
    except _ACCIDENTS as error:
        problem = f"not YAML: {one_line(str(error), 200)}"
        raise BadDocument(problem, file=name, line=line) from error


def _refuse_tags(event: "yaml.Event", *, name: str, line: int) -> None:
    if getattr(event, "tags", None) or getattr(event, "tag", None) is not None:
        raise BadDocument("tags (`!…`) are not read", file=name, line=line)


def _step(event: "yaml.Event", line: int) -> Step | None:
    import yaml

    match event:
        case yaml.ScalarEvent():
            return Step(Kind.SCALAR, line, event.value, event.anchor, event.implicit[0])
        case yaml.SequenceStartEvent():
            return Step(Kind.LIST, line, anchor=event.anchor)
        case yaml.MappingStartEvent():
            return Step(Kind.MAPPING, line, anchor=event.anchor)
        case yaml.CollectionEndEvent():
            return Step(Kind.END, line)
        case yaml.AliasEvent():
            return Step(Kind.ALIAS, line, anchor=event.anchor)
    return None


def _place(event: _Marked, kind: Kind, line: int) -> Place:
    """Straight to what a kind of event has: a file has tens of thousands."""
    start, end = event.start_mark.index, event.end_mark.index
    if kind is Kind.SCALAR:
        style = event.style or ""
        return Place(kind, event.value, event.anchor, event.tag, style, line, start, end)
    if kind is Kind.END:
        return Place(kind, "", None, None, "", line, start, end)
    if kind is Kind.ALIAS:
        return Place(kind, "", event.anchor, None, "", line, start, end)
    style = "{" if event.flow_style else ""
    return Place(kind, "", event.anchor, event.tag, style, line, start, end)


def _explained(error: "yaml.YAMLError", text: str, *, name: str, line: int) -> BadDocument:
    mark = getattr(error, "problem_mark", None)
    # libyaml counts one line too many at the end of a text without a last line end.
    line = line if mark is None else min(mark.line, len(text.splitlines()) - 1) + 1
    problem = f"not YAML: {one_line(str(getattr(error, 'problem', None) or error), 200)}"
    if _is_indented_with_tab(text, line):
        problem = "the line is indented with a tab; YAML takes only spaces"
    return BadDocument(problem, file=name, line=line)


def _is_indented_with_tab(text: str, line: int) -> bool:
    there = text.split("\n", line)[line - 1 : line]
    return any("\t" in each[: len(each) - len(each.lstrip())] for each in there)
