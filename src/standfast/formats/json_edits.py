r"""Changing one place of a JSON text: every other byte stays, and what was put in comes out again.

`remove` undoes `append` to the byte, without any memory of its own. One thing could not be seen
afterwards: whether a container that holds nothing else was there before. So the space before
the closing bracket tells: a container that was there and empty gets an empty line there, or a
blank if it is on one line, in front of the space that it had.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from standfast.errors.base import BadDocument
from standfast.formats.json_spans import BOM, read

if TYPE_CHECKING:
    from collections.abc import Callable

    from standfast.formats.json_spans import Item, Node, Path

_BLANKS = " \t"
USUAL_UNIT = "  "


class Line(NamedTuple):
    """How a new line of the text begins: its line end, its indentation, one step deeper."""

    end: str
    indent: str
    unit: str

    def deeper(self) -> Line:
        """The lines inside a container that stands on this one."""
        return self._replace(indent=self.indent + self.unit)

    def __str__(self) -> str:
        return self.end + self.indent


def append(text: str, path: Path, render: Callable[[Line | None], str]) -> str:
    """Put an item at the end of the container at *path*; *render* is told its line, if any."""
    root = read(text, name="")
    node = _container(root, path)
    unit = _unit(text, root)
    if not node.items:
        return _fill(text, node, render, unit, is_root=not path)
    last, gap = node.items[-1], node.last
    line = None
    if _has_own_line(text, node) or gap.line_comment:
        line = _line(text, last.start, unit)
    item = f"{line or ' '}{render(line)}"
    if last.comma is not None:
        return f"{text[: gap.end]}{item},{text[gap.end :]}"
    end = last.value.end
    return f"{text[:end]},{text[end : gap.end]}{item}{text[gap.end :]}"


def replace(text: str, path: Path, item: str) -> str:
    """Put *item* in the place of the value at *path*."""
    node = read(text, name="").at(path)
    if node is None:
        raise KeyError(path)
    return text[: node.start] + item + text[node.end :]


def remove(text: str, path: Path) -> str:
    """Take an item out, and the containers that came with it and hold nothing else."""
    root = read(text, name="")
    while path:
        *above, step = path
        node = _container(root, tuple(above))
        if len(node.items) > 1:
            return _without(text, node, _index(node, step))
        if not _came_along(text, node) or (node is root and not _is_alone(text, root)):
            return _emptied(text, node)
        path = tuple(above)
    return text[: root.start] + text[root.end :]


def is_blank(text: str) -> bool:
    """Whether a text holds nothing at all."""
    return not text.removeprefix(BOM).strip(" \t\r\n")


def new_line(text: str) -> str:
    """The line end of the text: its first one."""
    first = text.find("\n")
    return "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"


def _fill(
    text: str, node: Node, render: Callable[[Line | None], str], unit: str, *, is_root: bool
) -> str:
    """The first item of a container that somebody left empty; objects get lines if any are."""
    gap = node.last
    outer = _line(text, node.start, unit)
    spread = node.kind == "{" and (is_root or "\n" in text[: node.start])
    line = outer.deeper() if spread or gap.line_comment else None
    lead = str(line or (" " if gap.has_comment else ""))
    mark = f"{outer.end}{outer}" if spread else " "
    return f"{text[: gap.end]}{lead}{render(line)}{mark}{text[gap.end :]}"


def _came_along(text: str, node: Node) -> bool:
    """Whether a container was made for its only item."""
    said = node.last.has_comment or node.items[0].before.has_comment
    return not said and _space_before(text, node) is None


def _is_alone(text: str, node: Node) -> bool:
    return is_blank(text[: node.start] + text[node.end :])


def _space_before(text: str, node: Node) -> str | None:
    """The space that a container had before its only item came, if it was there then."""
    outer = _line(text, node.start)
    space = text[_behind(node.items[0]) : node.end - 1]
    if space.startswith(" "):
        return space[1:]
    if not space.startswith(("\n\n", "\r\n\r\n")):
        return None
    mark = f"{outer.end}{outer}"
    return space[len(mark) :] if space.startswith(mark) else ""  # somebody moved its line


def _emptied(text: str, node: Node) -> str:
    item = node.items[0]
    if node.last.has_comment:  # somebody wrote behind it: their lines stay as they are
        return text[: item.start] + text[_behind(item) :]
    space = _space_before(text, node) or ""
    if item.before.line_comment and space.lstrip(" \t")[:1] not in ("\r", "\n"):
        space = str(_line(text, node.start))  # or the comment would swallow the end
    return text[: item.before.end] + space + text[node.end - 1 :]


def _without(text: str, node: Node, index: int) -> str:
    item = node.items[index]
    start, end = item.before.end, _behind(item)
    if item.before.line_comment and text[end:].lstrip(_BLANKS)[:1] not in ("\r", "\n"):
        start = item.start  # or the comment would swallow what follows
    if item.comma is not None:
        return text[:start] + text[end:]
    comma = node.items[index - 1].comma
    if comma is None:
        raise BadDocument("a comma is missing")
    return text[:comma] + text[comma + 1 : start] + text[end:]


def _behind(item: Item) -> int:
    return item.value.end if item.comma is None else item.comma + 1


def _container(root: Node, path: Path) -> Node:
    node = root.at(path)
    if node is None or not node.kind:
        raise KeyError(path)
    return node


def _index(node: Node, step: str | int) -> int:
    if isinstance(step, int):
        return step
    return next(i for i, item in enumerate(node.items) if item.key == step)


def _has_own_line(text: str, node: Node) -> bool:
    """Whether the last item does not share its line with what is before it."""
    before = node.items[-2].comma if len(node.items) > 1 else node.start
    return "\n" in text[before : node.items[-1].start]


def _line(text: str, position: int, unit: str = "") -> Line:
    """How the line that *position* stands in begins."""
    start = text.rfind("\n", 0, position) + 1
    indent = text[start:position]
    indent = indent[: len(indent) - len(indent.lstrip(_BLANKS))]
    return Line(new_line(text), indent, unit)


def _unit(text: str, root: Node) -> str:
    """One step of the file's indentation: that of its first line inside."""
    if not root.items or "\n" not in text[root.start : root.items[0].start]:
        return USUAL_UNIT
    return _line(text, root.items[0].start).indent.removeprefix(_line(text, root.start).indent)
