"""A person who edits the face of the journal, in every way that people have.

Every line that they write holds words that nobody said before, so it can be followed: into the
journal, once, or into a file that is still there. Words are only gone when they took them away.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from harness.model.truth import Broken
from standfast.decisions import status_md
from standfast.faces import displaced_files, drafts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from harness.model.world import World

_HEADING = b"## Decisions\n"
BROKEN = b"broken"


class Editor:
    """Somebody with an editor, and what they wrote that is not in the journal yet."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.face = status_md.face(
            name="status", root=world.folder, relative=status_md.FILE, in_git=False
        )
        self.said: dict[str, str] = {}  # first word → all words of every line they ever wrote
        self.waiting: set[str] = set()  # the first words of those that must not vanish
        self._replaces: dict[str, tuple[str, str]] = {}  # first word → the id and words before
        self.published: list[bytes] = []
        self.whole: set[bytes | None] = {None}  # what the file may be: never half of something
        self._open: int | None = None  # the file that is open in an editor
        self._opened = 0  # how much was published before
        self._rested: bytes | None = None  # what nobody has written to for a while

    # What they do to the file.

    def add(self) -> None:
        """A line at the end."""
        self._save(self._with(b"- %s\n" % self._say()))

    def add_unfinished(self) -> None:
        """A line whose end is still to come."""
        self._save(self._with(b"- %s" % self._say()))

    def amend(self) -> None:
        """Other words for one of the lines, now and then above a copy of the line as it was."""
        lines, number = self._line()
        if number is None:
            return
        _, identity, before = lines[number].decode().split(" ", maxsplit=2)
        again = [lines[number]] if not self.world.choose(4) else []
        words = self._say()
        self._replaces[first_of(words.decode())] = identity, before.rstrip("\n")
        lines[number : number + 1] = [b"- %s %s\n" % (identity.encode(), words), *again]
        self._save(b"".join(lines))

    def remove(self) -> None:
        """One line less."""
        lines, number = self._line()
        if number is not None:
            del lines[number]
            self._save(b"".join(lines))

    def retype(self) -> None:
        """Words that are a decision already, as one more line."""
        known = sorted(self.world.truth.ever)
        if known:
            words = known[self.world.choose(len(known))]
            self._save(self._with(b"- %s\n" % words.encode()))

    def spoil(self) -> None:
        """A line that cannot be read."""
        self._save(self._with(BROKEN + b"\n"))

    def mend(self) -> None:
        """The lines that cannot be read are taken out."""
        lines = (self._bytes() or b"").splitlines(keepends=True)
        self._save(b"".join(line for line in lines if not line.startswith(BROKEN)) or _HEADING)

    def rewind(self) -> None:
        """`git stash` brings the file of another day."""
        if self.published:
            self._save(self.published[self.world.choose(len(self.published))])

    def delete(self) -> None:
        """No file any more."""
        if self._bytes() is not None:
            os.unlink(self.face.path)
            self._close()
        self.whole.add(None)
        self._withdraw()

    def rest(self) -> None:
        """Time goes by, and nobody writes."""
        for path in self._files():
            os.utime(path, (1, 1))
        self._rested = self._bytes()

    def open(self) -> None:
        """The file as it is now stays open in an editor, wherever it is moved to."""
        self._close()
        if self._bytes() is not None:
            self._open, self._opened = os.open(self.face.path, os.O_RDWR), len(self.published)

    def type(self) -> None:
        """The editor saves into what it has open; a file displaced long ago it has closed."""
        if self._open is None:
            return
        if len(self.published) - self._opened >= displaced_files.WATCHED:
            self._close()
            return
        data = os.pread(self._open, 1 << 20, 0)
        line = b"- %s\n" % self._say()
        os.pwrite(self._open, line if data.endswith(b"\n") else b"\n" + line, len(data))
        self.whole.add(os.pread(self._open, 1 << 20, 0))

    def _say(self) -> bytes:
        words = self.world.words()
        first = first_of(words)
        self.said[first] = words
        self.waiting.add(first)
        return words.encode()

    def _bytes(self) -> bytes | None:
        try:
            with open(self.face.path, "rb") as file:
                return file.read()
        except FileNotFoundError:
            return None

    def _with(self, line: bytes) -> bytes:
        data = self._bytes() or _HEADING
        return data + (b"" if data.endswith(b"\n") else b"\n") + line

    def _line(self) -> tuple[list[bytes], int | None]:
        """The file's lines, and one of those with an id."""
        lines = (self._bytes() or b"").splitlines(keepends=True)
        entries = [n for n, line in enumerate(lines) if line.startswith(b"- RD-")]
        return lines, entries[self.world.choose(len(entries))] if entries else None

    def _save(self, data: bytes) -> None:
        """In place, as some editors do, or by a new file with the old name, as others do."""
        self.whole.add(data)
        if self.world.choose(2):
            self._close()  # the file that was open has no name any more
            with open(f"{self.face.path}~", "wb") as file:
                file.write(data)
            os.rename(f"{self.face.path}~", self.face.path)
        else:
            with open(self.face.path, "wb") as file:
                file.write(data)
        self._withdraw()

    def _close(self) -> None:
        if self._open is not None:
            os.close(self._open)
            self._open = None

    def _withdraw(self) -> None:
        """What they took out of the file themselves is no loss, unless we hold it elsewhere."""
        self.waiting &= self._held()

    # What must be so.

    def check(self) -> None:
        """The file is whole, and everybody's words are somewhere."""
        if self._bytes() not in self.whole:
            raise Broken(f"the face is nobody's: {self._bytes()!r:.2000}")
        lost = self.waiting - self._held()
        if lost:
            raise Broken(f"the person's words are gone: {sorted(lost)}")
        self.waiting -= {word for word in self.waiting if self.said[word] in self.world.truth.ever}

    def _held(self, files: Iterable[bytes] | None = None) -> set[str]:
        """Those of the person's words that are in the journal or in one of the files."""
        recorded = {row[0] for row in self.world.handles[0].query("SELECT text FROM wordings")}
        there = b"\n".join(self._all_bytes() if files is None else files)
        return {
            word for word in self.waiting if self.said[word] in recorded or word.encode() in there
        }

    def _files(self) -> Iterable[str]:
        yield self.face.path if self._bytes() is not None else os.devnull
        for name in (drafts.DRAFTS, drafts.KEPT):
            folder = os.path.join(self.world.folder, name)
            if os.path.isdir(folder):
                yield from (os.path.join(folder, file) for file in os.listdir(folder))

    def _all_bytes(self) -> Iterable[bytes]:
        for path in self._files():
            with open(path, "rb") as file:
                yield file.read()

    def close(self) -> None:
        """Put the editor away."""
        self._close()


def first_of(words: str) -> str:
    """The word that a line can be followed by."""
    return words.split(" ", maxsplit=1)[0]
