"""The steps a YAML parser takes through a text, as plain values that name their line.

The one place that knows PyYAML. Everything the parser can raise leaves here as BadDocument, and
what no document may hold at all (tags, a second document, control characters) is refused here.
"""

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from standfast.errors import BadDocument
from standfast.protocol.documents import line_at
from standfast.protocol.text import one_line

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


class Step(NamedTuple):
    """One step: *text* of a scalar, *anchor* of whatever has or uses one."""

    kind: Kind
    line: int
    text: str = ""
    anchor: str | None = None
    is_plain: bool = False


def steps(text: str, *, name: str) -> Iterator[Step]:
    """Yield the steps through the one document of *text*: none at all if it is empty."""
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
            _check(event, documents, name=name, line=line)
            step = _step(event, line)
            if step is not None:
                yield step
    except yaml.YAMLError as error:
        raise _explained(error, text, name=name, line=line) from error
    except _ACCIDENTS as error:
        problem = f"not YAML: {one_line(str(error), 200)}"
        raise BadDocument(problem, file=name, line=line) from error


def _check(event: "yaml.Event", documents: int, *, name: str, line: int) -> None:
    if documents > 1:
        raise BadDocument("a second document begins; only one is read", file=name, line=line)
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
