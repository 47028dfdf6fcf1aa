"""One file of a worktree, held against what a commit has at its place, however large it is."""

from __future__ import annotations

import hashlib
import io
import os
import stat
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from standfast import disk
from standfast.errors.base import GitFailed, StandfastError

if TYPE_CHECKING:
    from standfast.git.command import Git

_SHA1 = 40
_CHUNK = 1 << 20


class Held(NamedTuple):
    """A regular file, or what a link says."""

    top: str
    name: str
    link: bytes | None = None

    def open(self) -> BinaryIO:
        """Its bytes; no link is followed on the way."""
        if self.link is not None:
            return io.BytesIO(self.link)
        return os.fdopen(disk.open_beneath(self.top, self.name), "rb")

    def blob(self, like: str) -> str:
        """The object that it is, in a repository that names objects *like* this."""
        with self.open() as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(0)
            made = hashlib.new("sha1" if len(like) == _SHA1 else "sha256", b"blob %d\0" % size)
            while chunk := file.read(_CHUNK):
                made.update(chunk)
        return made.hexdigest()

    def is_empty(self) -> bool:
        """Whether it is a file without a byte."""
        try:
            return self.link is None and os.lstat(os.path.join(self.top, self.name)).st_size == 0
        except OSError:
            return False

    def against(self, whole: Held | None) -> bool | None:
        """True: the same as another file; False: the beginning of it; None: something else."""
        if whole is None:
            return None
        with self.open() as mine, whole.open() as its:
            while chunk := mine.read(_CHUNK):
                if chunk != its.read(len(chunk)):
                    return None
            return not its.read(1)

    def lacks_pages(self, whole: Held, page: int) -> bool:
        """Whether it is another file, or its first pages, with zeros in the place of some."""
        with self.open() as mine, whole.open() as its:
            size = 0
            while chunk := mine.read(page):
                other = its.read(len(chunk))
                if len(other) < len(chunk) or (chunk != other and chunk.strip(b"\0")):
                    return False
                size += len(chunk)
            return size % page == 0 or not its.read(1)

    def begins(self, git: Git, spoken: str) -> bool:
        """Whether it is what a commit has at a path, all of it or only the beginning."""
        return any(each is not None for each in self._compared(git, spoken))

    def is_all(self, git: Git, spoken: str) -> bool:
        """Whether it is all of what a commit has at a path."""
        return any(each is True for each in self._compared(git, spoken))

    def _compared(self, git: Git, spoken: str) -> list[bool | None]:
        """With it as it is kept, and as a checkout writes it: with other ends of lines."""
        return [self._compare(git, how, spoken) for how in ("blob", "--filters")]

    def _compare(self, git: Git, how: str, spoken: str) -> bool | None:
        """True: the same; False: the beginning of it; None: something else, or nothing there."""
        rest = 0
        with self.open() as file:

            def take(chunk: bytes) -> None:
                nonlocal rest
                mine = file.read(len(chunk))
                if mine != chunk[: len(mine)]:
                    raise _OtherBytes
                rest += len(chunk) - len(mine)

            try:
                git.stream(take, "cat-file", how, spoken)
            except (_OtherBytes, GitFailed):
                return None
            return None if file.read(1) else rest == 0


class _OtherBytes(Exception):
    """The two differ: nothing more need be read."""


def look(top: str, name: str) -> Held | None:
    """What stands at a path of a worktree; None where it is neither a file nor a link."""
    try:
        folder = disk.open_folder_beneath(top, name)
    except (OSError, StandfastError):
        return None
    try:
        last = os.path.basename(name)
        kind = os.stat(last, dir_fd=folder, follow_symlinks=False).st_mode
        if stat.S_ISLNK(kind):
            return Held(top, name, os.fsencode(os.readlink(last, dir_fd=folder)))
        return Held(top, name) if stat.S_ISREG(kind) else None
    except OSError:
        return None
    finally:
        os.close(folder)
