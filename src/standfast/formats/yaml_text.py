"""YAML from outside, read strictly: values are built here, step by step.

Scalars follow the YAML 1.2 core rules, so `no`, `on`, `2026-01-01` and `12:30` stay text.
Refused, each with its line: merge keys, keys that are not text or stand twice, `.inf` and
`.nan`, anchors set twice, and aliases that would blow the value up.
"""

import math
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import NoReturn

from standfast.errors.base import BadDocument, TooLarge
from standfast.formats.document_limits import DEEPEST, LIMIT, LONGEST_NUMBER, Value, decode
from standfast.formats.yaml_events import Kind, Step, steps
from standfast.text import one_line

Path = tuple[str | int, ...]

MOST_NODES = 100_000

_WORDS: Mapping[str, Value] = (
    dict.fromkeys(("", "~", "null", "Null", "NULL"), None)
    | dict.fromkeys(("true", "True", "TRUE"), True)
    | dict.fromkeys(("false", "False", "FALSE"), False)
)
# Each takes its text in one pass, so that a long one costs no more than its length.
_DECIMAL = re.compile(r"[-+]?(?:\.[0-9]++|[0-9]++(?:\.[0-9]*+)?)(?:[eE][-+]?[0-9]++)?")
_OTHER_NUMBER = re.compile(r"0o[0-7]++|0x[0-9a-fA-F]++|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A value, the line of each of its keys and items by path, and what was written unquoted."""

    value: Value
    lines: Mapping[Path, int]
    plain: Collection[Path] = frozenset()

    def at(self, path: Path) -> Value:
        """The value at *path*; None where nothing stands."""
        value = self.value
        for key in path:
            if isinstance(value, dict) and isinstance(key, str):
                value = value.get(key)
            elif isinstance(value, list) and isinstance(key, int):
                value = value[key]
            else:
                return None
        return value

    def line_of(self, path: Path) -> int:
        """Find the line of *path*, or of the nearest thing around it that stands in the text."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Anchored:
    """A finished value that aliases may repeat, and what each repetition adds."""

    value: Value
    nodes: int
    characters: int
    height: int


def read_yaml(
    data: bytes | str,
    *,
    name: str,
    limit: int = LIMIT,
    twice: list[tuple[int, str]] | None = None,
    any_keys: bool = False,
) -> Document:
    """Read one YAML document, or say what is wrong with it in which line.

    Who gives a list for keys that stand *twice* finds line and problem of each in it, and the first
    value in the document: all that is wrong with a file can then be told at once. With *any_keys*
    a number or a word of YAML that is a key is taken as the text that it is written as.
    """
    text = decode(data, name=name, limit=limit)
    builder = _Builder(steps(text, name=name), name=name, limit=limit, twice=twice)
    builder.any_keys = any_keys
    return Document(value=builder.value(), lines=builder.lines, plain=builder.plain)


class _Builder:
    """Builds the value of some steps and counts what it would be with every alias written out."""

    def __init__(
        self,
        source: Iterator[Step],
        *,
        name: str,
        limit: int,
        twice: list[tuple[int, str]] | None = None,
    ) -> None:
        self.lines: dict[Path, int] = {}
        self.plain: set[Path] = set()
        self.any_keys = False
        self._source = source
        self._name = name
        self._limit = limit
        self._twice = twice
        self._nodes = 0
        self._characters = 0
        self._deepest = 0
        self._anchor_lines: dict[str, int] = {}
        self._anchored: dict[str, _Anchored] = {}

    def value(self) -> Value:
        """Build the whole value: None if there are no steps."""
        first = next(self._source, None)
        if first is None:
            return None
        value = self._node(first, (), 0)
        next(self._source, None)  # to the end: what follows the document may be wrong as well
        return _unshared(value) if self._anchored else value

    def _node(self, step: Step, path: Path, depth: int) -> Value:
        self.lines.setdefault(path, step.line)  # a key's own line is there already
        if step.is_plain:
            self.plain.add(path)
        if step.kind is Kind.ALIAS:
            return self._repeat(step, depth)
        if step.anchor is None:
            return self._content(step, path, depth)
        return self._anchor(step, step.anchor, path, depth)

    def _anchor(self, step: Step, anchor: str, path: Path, depth: int) -> Value:
        if anchor in self._anchor_lines:
            first = self._anchor_lines[anchor]
            self._refuse(
                f"the anchor `&{_short(anchor)}` is set twice; first in line {first}", step
            )
        self._anchor_lines[anchor] = step.line
        nodes, characters, deepest = self._nodes, self._characters, self._deepest
        self._deepest = depth
        value = self._content(step, path, depth)
        self._anchored[anchor] = _Anchored(
            value=value,
            nodes=self._nodes - nodes,
            characters=self._characters - characters,
            height=self._deepest - depth,
        )
        self._deepest = max(self._deepest, deepest)
        return value

    def _repeat(self, step: Step, depth: int) -> Value:
        anchor = step.anchor or ""
        known = self._anchored.get(anchor)
        if known is None:
            is_open = anchor in self._anchor_lines
            fault = "stands inside what it names" if is_open else "names no anchor before it"
            self._refuse(f"the alias `*{_short(anchor)}` {fault}", step)
        self._count(step, known.nodes, known.characters, depth + known.height)
        return known.value

    def _content(self, step: Step, path: Path, depth: int) -> Value:
        if step.kind is Kind.SCALAR:
            self._count(step, 1, len(step.text), depth)
            return self._scalar(step)
        self._count(step, 1, 0, depth + 1)
        build = self._list if step.kind is Kind.LIST else self._mapping
        return build(path, depth + 1)

    def _list(self, path: Path, depth: int) -> Value:
        items: list[Value] = []
        while (step := next(self._source)).kind is not Kind.END:
            items.append(self._node(step, (*path, len(items)), depth))
        return items

    def _mapping(self, path: Path, depth: int) -> Value:
        members: dict[str, Value] = {}
        while (step := next(self._source)).kind is not Kind.END:
            key = self._key(step)
            here = (*path, key)
            if key in members:
                self._repeated(step, key, self.lines[here])
                self._node(next(self._source), (*path, -step.line), depth)  # passed over
                continue
            self.lines[here] = step.line
            members[key] = self._node(next(self._source), here, depth)
        return members

    def _repeated(self, step: Step, key: str, first: int) -> None:
        problem = f"the key `{_short(key)}` stands twice; first in line {first}"
        if self._twice is None:
            self._refuse(problem, step)
        self._twice.append((step.line, problem))

    def _key(self, step: Step) -> str:
        if step.kind is not Kind.SCALAR or step.anchor is not None:
            self._refuse("a key must be plain text: no list, mapping, anchor or alias", step)
        self._count(step, 1, len(step.text), 0)
        if step.is_plain and step.text == "<<":
            self._refuse("merge keys (`<<`) are not read; write the keys out", step)
        key = self._scalar(step)
        if not isinstance(key, str):
            if self.any_keys:
                return step.text
            self._refuse(f"the key `{_short(step.text)}` is not text; put it in quotes", step)
        return key

    def _scalar(self, step: Step) -> Value:
        if not step.is_plain:
            return self._encodable(step)
        if step.text in _WORDS:
            return _WORDS[step.text]
        if _DECIMAL.fullmatch(step.text) or _OTHER_NUMBER.fullmatch(step.text):
            return self._number(step)
        return step.text

    def _encodable(self, step: Step) -> str:
        try:
            step.text.encode()
        except UnicodeEncodeError:
            self._refuse("half of a surrogate pair is no character", step)
        return step.text

    def _number(self, step: Step) -> int | float:
        if len(step.text) > LONGEST_NUMBER:
            problem = f"a number of {len(step.text)} characters; at most {LONGEST_NUMBER} are read"
            self._refuse(problem, step)
        number = _number(step.text)
        if not math.isfinite(number):
            self._refuse(f"`{step.text}` is no finite number; put it in quotes", step)
        return number

    def _count(self, step: Step, nodes: int, characters: int, deepest: int) -> None:
        """Add what the value grows by, before anything of it is built."""
        self._nodes += nodes
        self._characters += characters
        self._deepest = max(self._deepest, deepest)
        if deepest > DEEPEST:
            self._refuse(f"nested deeper than {DEEPEST} levels", step)
        if self._nodes > MOST_NODES:
            self._refuse_size(f"more than {MOST_NODES} values, aliases written out", step)
        if self._characters > self._limit:
            self._refuse_size(f"more than {self._limit} characters, aliases written out", step)

    def _refuse(self, problem: str, step: Step) -> NoReturn:
        raise BadDocument(problem, file=self._name, line=step.line)

    def _refuse_size(self, problem: str, step: Step) -> NoReturn:
        raise TooLarge(problem, file=self._name, line=step.line)


def _number(text: str) -> int | float:
    if text.startswith(("0o", "0x")):
        return int(text, 0)
    if _OTHER_NUMBER.fullmatch(text):
        return math.inf
    return int(text) if text.lstrip("-+").isdecimal() else float(text)


def _unshared(value: Value) -> Value:
    """Copy *value* so that what an alias repeats can be changed in one place alone."""
    if isinstance(value, list):
        return [_unshared(each) for each in value]
    if isinstance(value, dict):
        return {key: _unshared(each) for key, each in value.items()}
    return value


def _short(text: str) -> str:
    return one_line(text, 60)
