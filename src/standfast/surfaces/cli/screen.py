"""What people see: colour and columns in a terminal, plain lines in a pipe.

Written by hand because `status` must start within six bare interpreters, and importing a
terminal library alone takes as long; live displays, which run for a while, use rich.
"""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, NamedTuple, TextIO

from standfast.surfaces.cli.entry import silence
from standfast.text import is_hidden, one_line, printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from standfast.errors.base import StandfastError

_STYLES = {"bad": "1;31", "good": "32", "dim": "2", "strong": "1"}
_NARROW, _WIDE = 60, 200
_PIPE_WIDTH = 10_000
_LONGEST = 4_000  # characters of an error: nobody reads more, and a terminal's history is short


class Screen(NamedTuple):
    """A stream's abilities."""

    color: bool
    width: int
    draws: bool = False  # whether bars and curves can be drawn with more than ASCII

    @classmethod
    def for_stream(cls, stream: TextIO, environ: Mapping[str, str]) -> Screen:
        """Colour in a terminal unless NO_COLOR; a pipe gets whole lines."""
        terminal = stream.isatty()
        color = bool(environ.get("FORCE_COLOR")) or (terminal and not environ.get("NO_COLOR"))
        if not terminal:
            return cls(color, _PIPE_WIDTH)
        try:
            columns = os.get_terminal_size(stream.fileno()).columns
        except OSError:
            columns = 80
        draws = (stream.encoding or "").lower().replace("-", "") == "utf8"
        return cls(color, max(_NARROW, min(columns or 80, _WIDE)), draws)

    def paint(self, text: str, style: str) -> str:
        """Give text a style where styles can be seen."""
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if self.color and text else text

    def table(self, rows: Sequence[Sequence[str]], styles: Sequence[str] = ()) -> str:
        """Columns aligned, the last one cut to the width; every cell made safe to show."""
        safe = [[printable(cell) for cell in row] for row in rows]
        if not safe:
            return ""
        widths = [max(len(row[i]) for row in safe) for i in range(len(safe[0]) - 1)]
        room = max(20, self.width - sum(widths) - 2 * len(widths))
        lines = []
        for row in safe:
            cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
            cells.append(one_line(row[-1], room))
            lines.append("  ".join(self._style(cells, styles)).rstrip())
        return "\n".join(lines)

    def _style(self, cells: list[str], styles: Sequence[str]) -> list[str]:
        padded = [*styles, *([""] * len(cells))]
        return [
            self.paint(cell, style) if style else cell
            for cell, style in zip(cells, padded, strict=False)
        ]


def speak(words: str, stream: TextIO) -> None:
    """Say it to whoever listens: a reader that went away ends nothing that is being done."""
    try:
        print(words, file=stream, flush=True)
    except OSError:
        silence(stream.fileno())


def warn(words: str) -> None:
    """Say what a person should know, and that stops nothing."""
    speak(f"warning: {printable(words)}", sys.stderr)


def json_line(value: object) -> str:
    """One line of JSON that a terminal may be shown: hidden characters stay escapes."""
    text = json.dumps(value, ensure_ascii=False)
    if text.isprintable():
        return text
    return "".join(json.dumps(char)[1:-1] if is_hidden(char) else char for char in text)


def error_lines(error: StandfastError) -> str:
    """An error for people and models: code, problem, place, and where to look next."""
    problem = error.problem
    problem = one_line(problem, _LONGEST) if len(problem) > _LONGEST else printable(problem)
    lines = [f"error {error.code}: {problem}"]
    if error.where:
        lines.append(f"  in {printable(error.where)}")
    lines.append(f"  {printable(error.remedy)}")
    return "\n".join(lines)
