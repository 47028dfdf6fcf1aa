"""A context file while it is being changed: its own lines stay as they are, to the byte. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from standfast.formats.markdown import BOM
from standfast.protocols.context.rules.context_document import parse

if TYPE_CHECKING:
    from standfast.protocols.context.rules.context_document import Document


class Draft(NamedTuple):
    """The lines, each with its CR if it has one; new ones get one where the first has."""

    lines: list[str]
    cr: str
    bom: str

    @classmethod
    def of(cls, text: str) -> Draft:
        """Begin with a text; its last line gets an end if it has none."""
        lines = text.removeprefix(BOM).split("\n")
        cr = "\r" if len(lines) > 1 and lines[0].endswith("\r") else ""
        last = lines.pop()
        if last:
            lines.append(last if last.endswith("\r") else last + cr)
        return cls(lines, cr, BOM if text.startswith(BOM) else "")

    def text(self) -> str:
        """The whole file."""
        return self.bom + "".join(f"{line}\n" for line in self.lines)

    def parsed(self) -> Document:
        """What it says now; a second byte order mark is part of the text."""
        return parse(BOM + "".join(f"{line}\n" for line in self.lines))

    def put(self, at: int, *lines: str) -> None:
        """New lines below line *at*."""
        self.lines[at:at] = [line + self.cr for line in lines]

    def append(self, heading: str, *lines: str) -> None:
        """A new section at the end."""
        gap = [""] if self.lines and self.lines[-1].strip() else []
        self.put(len(self.lines), *gap, f"## {heading}", "", *lines)

    def close_fence(self) -> None:
        """What follows a fence that nothing closes would all be code."""
        fence = self.parsed().outline.open_fence
        if fence is not None:
            self.put(len(self.lines), fence)
