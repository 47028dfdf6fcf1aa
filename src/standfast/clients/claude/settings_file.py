"""Where Claude Code's settings are, and how they are read and written: whole, or not at all.

The user's own file may be a link into a folder of dotfiles: the file behind it is written and
the link stays. A repository's file may not lead elsewhere: the repository is not trusted.
"""

from __future__ import annotations

import os
import stat
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

from standfast import disk, xdg
from standfast.errors.base import Conflict, DiskFailed, StandfastError, UnsafePath
from standfast.formats.document_limits import decode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

USER_NAME = "settings.json"
PROJECT_NAME = ".claude/settings.local.json"

_SIZE_LIMIT = 1024 * 1024
_TRIES = 3


class SettingsFile(NamedTuple):
    """A file by the name people know, and where it really is; *root* is a repository's."""

    shown: str
    real: str
    root: str | None = None

    @property
    def name(self) -> str:
        """The file in its folder."""
        return os.path.basename(self.real)

    @property
    def folder(self) -> str:
        """The folder that holds the file."""
        return os.path.dirname(self.real)


class Change(NamedTuple):
    """What a file held before and after; None is no file."""

    before: bytes | None
    after: bytes | None


def of_user(environ: Mapping[str, str]) -> SettingsFile:
    """The settings that hold in every repository."""
    path = os.path.join(xdg.base(environ, "CLAUDE_CONFIG_DIR", ".claude"), USER_NAME)
    return SettingsFile(path, os.path.realpath(path))


def of_project(root: str) -> SettingsFile:
    """One person's settings in one checkout: they name a path of this machine."""
    path = os.path.join(root, PROJECT_NAME)
    return SettingsFile(path, path, root)


def read(file: SettingsFile) -> bytes | None:
    """The bytes of the file; None if there is none."""
    try:
        with _open_folder(file) as folder:
            return _read_in(folder, file)
    except FileNotFoundError:
        return None


def text_of(data: bytes | None, file: SettingsFile) -> str | None:
    """The text of the bytes, each line end as it is."""
    if data is None:
        return None
    decode(data, name=file.shown, limit=_SIZE_LIMIT)
    return data.decode()


def change(file: SettingsFile, edit: Callable[[str | None], str | None]) -> Change:
    """Write what *edit* makes of the text; if somebody wrote meanwhile, edit theirs."""
    for _ in range(_TRIES):
        before = read(file)
        edited = edit(text_of(before, file))
        after = None if edited is None else edited.encode()
        if before == after:
            return Change(before, after)
        refuse_unwritable(file)
        if put(file, before, after):
            return Change(before, after)
    raise Conflict(
        "something else keeps writing these settings; nothing was changed",
        file=file.shown,
        remedy="See what writes there, then run the command again.",
    )


def sweep(file: SettingsFile, without_ours: Callable[[str | None], str | None]) -> None:
    """Take away drafts of a writer that was killed, if they hold nothing but what is there.

    Killed between two steps, a draft may be what stood there before: somebody's last words.
    """
    present = without_ours(text_of(read(file), file))
    with suppress(FileNotFoundError), _open_folder(file) as folder:
        for draft in disk.orphans(folder, file.name):
            with suppress(OSError, StandfastError):
                data = _read_in(folder, file._replace(real=os.path.join(file.folder, draft)))
                if without_ours(text_of(data, file)) == present:
                    disk.forget(draft, folder=folder)


def put(file: SettingsFile, before: bytes | None, after: bytes | None) -> bool:
    """Put *after* in the place of *before*; False if that is not what stands there."""
    try:
        with _open_folder(file, make=True) as folder:
            if after is None:
                return _take_away(folder, file, before)
            return _put_in(folder, file, before, after)
    except OSError as error:
        raise disk.disk_error(error, file.shown) from error


def _put_in(folder: int, file: SettingsFile, before: bytes | None, after: bytes) -> bool:
    draft = disk.draft_name(file.name)
    mode = disk.FILE_MODE if file.root is None else disk.tree_mode()
    made = disk.create_locked(draft, after, mode=mode, folder=folder)
    try:
        if before is None:
            os.link(draft, file.name, src_dir_fd=folder, dst_dir_fd=folder)
        else:
            _dress(draft, file.name, folder)
            if not _exchange(folder, draft, file, before):
                return False
    except FileExistsError:
        return False
    finally:
        disk.forget(draft, folder=folder)
        os.close(made)
    disk.sync_folder(file.folder)
    return True


def _exchange(folder: int, draft: str, file: SettingsFile, before: bytes) -> bool:
    """Put the draft in place; an edit that came at the last instant is found, and put back."""
    if _read_in(folder, file) != before:
        return False
    if not disk.swap(folder, draft, folder, file.name):
        os.rename(draft, file.name, src_dir_fd=folder, dst_dir_fd=folder)
        return True
    displaced = _read_in(folder, file._replace(real=os.path.join(file.folder, draft)))
    if displaced in (before, None):  # None: another of us has seen that it holds nothing new
        return True
    disk.swap(folder, draft, folder, file.name)
    return False


def _take_away(folder: int, file: SettingsFile, before: bytes | None) -> bool:
    if _read_in(folder, file) != before:
        return False
    disk.forget(file.name, folder=folder)
    disk.sync_folder(file.folder)
    if file.root is not None:  # a folder that held nothing else says nothing in a checkout
        with suppress(OSError):
            os.rmdir(file.folder)
    return True


def _dress(draft: str, name: str, folder: int) -> None:
    """Give the draft the owner, mode and attributes of the file that it replaces."""
    old, new = disk.open_regular(name, folder=folder), disk.open_regular(draft, folder=folder)
    try:
        found, made = os.fstat(old), os.fstat(new)
        if (found.st_uid, found.st_gid) != (made.st_uid, made.st_gid):
            os.fchown(new, found.st_uid, found.st_gid)
        os.fchmod(new, stat.S_IMODE(found.st_mode))
        _copy_attributes(old, new)
        disk.sync_fd(new)
    finally:
        os.close(old)
        os.close(new)


def _copy_attributes(old: int, new: int) -> None:
    if sys.platform == "linux":  # access lists are among them
        for name in os.listxattr(old):
            with suppress(OSError):
                os.setxattr(new, name, os.getxattr(old, name))


@contextmanager
def _open_folder(file: SettingsFile, *, make: bool = False) -> Iterator[int]:
    if make and file.root is not None:
        disk.make_folders_beneath(file.root, PROJECT_NAME)
    elif make:
        disk.make_folder(file.folder)
    if file.root is not None:
        folder = disk.open_folder_beneath(file.root, PROJECT_NAME)
    else:
        folder = os.open(file.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield folder
    finally:
        os.close(folder)


def _read_in(folder: int, file: SettingsFile) -> bytes | None:
    try:
        return disk.read_regular(file.name, limit=_SIZE_LIMIT, folder=folder)
    except FileNotFoundError:
        return None
    except UnsafePath as error:
        raise UnsafePath(error.problem, file=file.shown) from error


def refuse_unwritable(file: SettingsFile) -> None:
    """Say beforehand what would stand in the way."""
    if not os.path.isdir(file.folder) and file.shown != file.real and os.path.islink(file.shown):
        raise UnsafePath(
            "this link leads into a folder that does not exist",
            file=file.shown,
            remedy=f"Make the folder {file.folder}, or look where the link should lead.",
        )
    with suppress(FileNotFoundError):
        _refuse_read_only(file, os.lstat(file.real))


def _refuse_read_only(file: SettingsFile, found: os.stat_result) -> None:
    mine = os.geteuid() in {0, found.st_uid}
    if mine and found.st_mode & stat.S_IWUSR:
        return
    problem = "the file is read-only" if mine else "the file belongs to another user"
    raise DiskFailed(
        f"{problem}; nothing was changed",
        file=file.shown,
        remedy="Make it writable if it is yours to change, then run the command again.",
    )
