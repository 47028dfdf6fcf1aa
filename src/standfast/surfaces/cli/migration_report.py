"""What a migration of a section did, or would do, as people and programs are told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from standfast.formats.yaml_lost_comments import lost
from standfast.protocols.resumption.rules.section_schema import VERSION
from standfast.text import one_line, printable

if TYPE_CHECKING:
    from standfast.protocols.resumption.files.section_file import Found
    from standfast.protocols.resumption.rules.migration.section_migration import Note
    from standfast.surfaces.cli.screen import Screen

_DIGITS = 12  # of the digest by which a file is asked for
_COMMENT = 80


class Told(NamedTuple):
    """A section, the file with it as v2.0, and where the file as it was is kept, if it is."""

    found: Found
    after: bytes
    kept: str | None

    @property
    def comments(self) -> list[tuple[int, str]]:
        """The comments that stood in lines that changed: line and words."""
        return lost(self.found.data.decode("utf-8"), self.after.decode("utf-8"))

    def as_dict(self) -> dict[str, Any]:
        """For `--json`."""
        moved = self.found.readable
        removed = [self._fact(note) for note in moved.removed]
        comments = [{"line": line, "path": "", "words": words} for line, words in self.comments]
        return {
            "file": self.found.file,
            "migrated": self.kept is not None,
            "notes": [self._fact(note) for note in moved.notes if not note.is_removed],
            "removed": removed + comments,
            "kept": self.kept,
            "resumption": moved.section,
        }

    def _fact(self, note: Note) -> dict[str, Any]:
        path = ".".join(map(str, note.path))
        return {"line": self.found.line_of(note.path), "path": path, "words": note.words}

    def words(self, screen: Screen) -> str:
        """For people: each thing with its line."""
        notes, found = self.found.readable.notes, self.found
        done = "Migrated" if self.kept else "Would migrate"
        lines = [f"{done} {printable(found.file)} from {found.kind} to v{VERSION}"]
        lines += [self._line(note) for note in notes if not note.is_removed]
        gone = [self._line(note) for note in notes if note.is_removed]
        gone += [f"  line {line}: the comment `{one_line(words, _COMMENT)}`"
                 for line, words in self.comments]  # fmt: skip
        if gone:
            where = f"see `{self._command}`" if self.kept else "the journal will keep it"
            lines += [screen.paint(f"Removed from the file: {where}", "strong"), *gone]
        elif self.kept:
            lines.append(f"The file as it was: `{self._command}`")
        return "\n".join(lines)

    @property
    def _command(self) -> str:
        return f"standfast journal kept {(self.kept or '')[:_DIGITS]}"

    def _line(self, note: Note) -> str:
        return f"  line {self.found.line_of(note.path)}: {printable(str(note))}"
