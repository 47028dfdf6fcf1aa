"""A YAML document that is asked for one thing at a time, and names the line of what is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast.errors.base import BadDocument

if TYPE_CHECKING:
    from typing import NoReturn

    from standfast.formats.document_limits import Value
    from standfast.formats.yaml_text import Document, Path


class Page:
    """A document that was read, and its name."""

    def __init__(self, document: Document, name: str) -> None:
        self._document = document
        self._name = name

    def refuse(self, at: Path, problem: str) -> NoReturn:
        """Say what is wrong at *at*."""
        raise BadDocument(problem, file=self._name, line=self._document.line_of(at))

    def get(self, at: Path) -> Value:
        """The value at *at*, or None."""
        return self._document.at(at)

    def has(self, at: Path) -> bool:
        """Does anything stand at *at*."""
        return self.get(at) is not None

    def only(self, at: Path, *known: str) -> None:
        """Refuse keys that are not *known*."""
        for key in self.mapping(at):
            if key not in known:
                self.refuse((*at, key), f"`{key}` is not known here: {', '.join(known)}")

    def mapping(self, at: Path) -> dict[str, Value]:
        """The mapping at *at*."""
        value = self.get(at)
        if not isinstance(value, dict):
            self.refuse(at, "a mapping is needed here")
        return value

    def indexes(self, at: Path) -> range:
        """The positions of the list at *at*, none if it is not there."""
        value = self.get(at)
        if value is None:
            return range(0)
        if not isinstance(value, list):
            self.refuse(at, "a list is needed here")
        return range(len(value))

    def text(self, at: Path) -> str:
        """The text at *at*, empty if it is not there."""
        value = self.get(at)
        if value is not None and not isinstance(value, str):
            self.refuse(at, "text is needed here")
        return value or ""

    def texts(self, at: Path) -> tuple[str, ...]:
        """The list of texts at *at*."""
        return tuple(self.text((*at, n)) for n in self.indexes(at))

    def number(self, at: Path, otherwise: int) -> int:
        """The whole number at *at*."""
        value = otherwise if self.get(at) is None else self.get(at)
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            self.refuse(at, "a whole number is needed here")
        return value

    def flag(self, at: Path) -> bool:
        """True only if *at* says so."""
        value = self.get(at)
        if value is not None and not isinstance(value, bool):
            self.refuse(at, "true or false is needed here")
        return bool(value)
