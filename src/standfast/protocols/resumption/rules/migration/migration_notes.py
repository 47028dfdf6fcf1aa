"""What became of each thing in a section that was read in another form than it stands in. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from standfast.formats.json_schema import shown
from standfast.protocols.resumption.rules.plain_values import spoken
from standfast.text import one_line

if TYPE_CHECKING:
    from standfast.formats.yaml_text import Path

_SHOWN = 80
_KINDS = {str: "text", int: "a number", float: "a number", bool: "a yes or no", list: "a list",
          dict: "a mapping", type(None): "nothing"}  # fmt: skip


class Note(NamedTuple):
    """One thing that was read otherwise, or is not in the section any more."""

    path: Path  # where it stands in what was read
    words: str
    is_removed: bool = False
    is_unsaid: bool = False  # filled in from elsewhere

    def __str__(self) -> str:
        return f"`{shown(self.path)}` {self.words}" if self.path else self.words


class Notes(list[Note]):
    """All of them, while a section is read."""

    def read(self, path: Path, was: object, now: object, why: str = "") -> None:
        """It stood there in another form; *why* it was read so, where that is a guess."""
        read = f"`{_short(now)}`" if _short(now) != _short(was) else f"{_KINDS[type(now)]}"
        words = f"was `{_short(was)}`: read as {read}{f', {why}' if why else ''}"
        self.append(Note(path, words))

    def assumed(self, path: Path, words: str) -> None:
        """It was not there, or said too little."""
        self.append(Note(path, words))

    def unsaid(self, path: Path, now: str) -> None:
        """Nobody said it there."""
        self.append(Note(path, f"was not said: {now}", is_unsaid=True))

    def moved(self, path: Path, to: str) -> None:
        """It has another place now."""
        self.append(Note(path, f"is now `{to}`"))

    def removed(self, path: Path, was: object) -> None:
        """There is no place for it: what it was is kept elsewhere, as a whole."""
        self.append(Note(path, f"was `{_short(was)}`", is_removed=True))


def _short(value: object) -> str:
    return one_line("null" if value is None else spoken(value), _SHOWN)
