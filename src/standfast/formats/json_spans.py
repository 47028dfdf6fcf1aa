"""JSON as people write it in settings, read with the place of every value.

Comments and trailing commas are taken, as editors and clients take them. What is read is never
written back: the spans are for changing one place of a text and leaving every other byte alone
(json_edits.py).
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from standfast.errors.base import BadDocument
from standfast.formats.document_limits import DEEPEST, LONGEST_NUMBER, line_at
from standfast.text import one_line

if TYPE_CHECKING:
    from standfast.formats.document_limits import Value

Path = tuple[str | int, ...]

BOM = "\ufeff"
_GAP_BEGINS = frozenset(" \t\r\n/")
_SPACE = re.compile(r"[ \t\r\n]+")
_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_STRING = re.compile(r'"[^"\\\r\n]*(?:\\.[^"\\\r\n]*)*"')
_WORD = re.compile(r"[A-Za-z0-9.+-]+")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_CONSTANTS: dict[str, Value] = {"true": True, "false": False, "null": None}


class Gap(NamedTuple):
    """The space and comments before a place: where the last solid thing ends, and its kind."""

    start: int
    end: int
    line_comment: bool = False  # what follows must begin with a new line

    @property
    def has_comment(self) -> bool:
        """Whether somebody said something there."""
        return self.end > self.start


class Node(NamedTuple):
    """A value; of an object or array also its items and the gap before its closing bracket."""

    start: int
    end: int
    kind: str
    scalar: Value
    items: tuple[Item, ...]
    last: Gap

    def at(self, path: Path) -> Node | None:
        """The value at *path*, if there is one."""
        if not path:
            return self
        step = path[0]
        if isinstance(step, int):
            return self.items[step].value.at(path[1:]) if step < len(self.items) else None
        found = next((item.value for item in self.items if item.key == step), None)
        return None if found is None else found.at(path[1:])

    @property
    def value(self) -> Value:
        """What it says; of a key that stands twice, the last."""
        if self.kind == "{":
            return {str(item.key): item.value.value for item in self.items}
        return [item.value.value for item in self.items] if self.kind == "[" else self.scalar


class Item(NamedTuple):
    """One value in a container, with its key, the gap before it and the comma behind it."""

    key: str | None
    start: int
    value: Node
    before: Gap
    comma: int | None


def read(text: str, *, name: str) -> Node:
    """Read one value, or say what is wrong with it in which line and column."""
    return _Reader(text, name).document()


class _Reader:
    def __init__(self, text: str, name: str) -> None:
        self.text = text
        self.name = name
        self.at = len(BOM) if text.startswith(BOM) else 0
        self.depth = 0

    def document(self) -> Node:
        self.gap()
        node = self.value()
        self.gap()
        if self.at < len(self.text):
            self.refuse("more text after the end")
        return node

    def gap(self) -> Gap:
        """Go past space and comments."""
        gap = Gap(self.at, self.at)
        while self.text[self.at : self.at + 1] in _GAP_BEGINS:
            if found := _SPACE.match(self.text, self.at):
                self.at = found.end()
            elif found := _COMMENT.match(self.text, self.at):
                self.at = found.end()
                gap = Gap(gap.start, self.at, found[0].startswith("//"))
            else:
                self.refuse("a comment without an end")
        return gap

    def value(self) -> Node:
        first = self.text[self.at : self.at + 1]
        if first in ("{", "["):
            return self.container(first)
        start = self.at
        scalar = self.string() if first == '"' else self.word()
        return Node(start, self.at, "", scalar, (), Gap(self.at, self.at))

    def container(self, kind: str) -> Node:
        start = self.at
        self.depth += 1
        if self.depth > DEEPEST:
            self.refuse(f"nested deeper than {DEEPEST} levels")
        self.at += 1
        items: list[Item] = []
        gap = self.gap()
        while not self.took("]" if kind == "[" else "}"):
            if items and items[-1].comma is None:
                self.refuse("a comma is missing")
            items.append(self.item(kind, gap))
            gap = self.gap()
        self.depth -= 1
        return Node(start, self.at, kind, None, tuple(items), gap)

    def item(self, kind: str, before: Gap) -> Item:
        start = self.at
        key = self.key() if kind == "{" else None
        value = self.value()
        end = self.at
        self.gap()
        if self.took(","):
            return Item(key, start, value, before, self.at - 1)
        self.at = end  # the gap belongs to what comes next
        return Item(key, start, value, before, None)

    def key(self) -> str:
        if not self.text.startswith('"', self.at):
            self.refuse("a key in double quotes is expected")
        key = self.string()
        self.gap()
        if not self.took(":"):
            self.refuse("a colon is missing")
        self.gap()
        return key

    def took(self, character: str) -> bool:
        if not self.text.startswith(character, self.at):
            return False
        self.at += 1
        return True

    def string(self) -> str:
        found = _STRING.match(self.text, self.at)
        if found is None:
            self.refuse("a string without an end")
        try:
            said = json.loads(found[0])
            said.encode()
        except ValueError:  # UnicodeEncodeError too
            self.refuse("a string that JSON does not know")
        self.at = found.end()
        return str(said)

    def word(self) -> Value:
        found = _WORD.match(self.text, self.at)
        word = found[0] if found else ""
        if word not in _CONSTANTS and not (len(word) <= LONGEST_NUMBER and _NUMBER.fullmatch(word)):
            seen = one_line(word or self.text[self.at : self.at + 1], 20)
            self.refuse(f"a value is expected, not `{seen}`" if seen else "the text ends too early")
        self.at += len(word)
        return _CONSTANTS[word] if word in _CONSTANTS else json.loads(word)

    def refuse(self, problem: str) -> NoReturn:
        line = line_at(self.text, self.at)
        column = self.at - self.text.rfind("\n", 0, self.at)
        raise BadDocument(f"not JSON: {problem} (column {column})", file=self.name, line=line)
