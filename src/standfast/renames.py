"""Renames that lose nothing: two names exchanged in one step, and a name that must be free."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_IS_MAC = sys.platform == "darwin"
_EXCHANGE = 2  # RENAME_EXCHANGE on Linux, RENAME_SWAP on macOS
_ONLY_NEW = 4 if _IS_MAC else 1  # RENAME_EXCL, RENAME_NOREPLACE
_UNKNOWN = {errno.EINVAL, errno.ENOSYS, errno.ENOTSUP}


def exchange(first_folder: int, first: str, second_folder: int, second: str) -> bool:
    """Exchange two names in open folders in one step; False where the system cannot."""
    return _rename(first_folder, first, second_folder, second, _EXCHANGE)


def move_new(from_folder: int, name: str, to_folder: int, new: str) -> bool:
    """Give a file another name that nothing has; False where something has it."""
    try:
        if not _rename(from_folder, name, to_folder, new, _ONLY_NEW):
            os.link(name, new, src_dir_fd=from_folder, dst_dir_fd=to_folder, follow_symlinks=False)
            os.unlink(name, dir_fd=from_folder)
    except FileExistsError:
        return False
    return True


def _rename(first_folder: int, first: str, second_folder: int, second: str, how: int) -> bool:
    rename = _system_call()
    if rename is None:
        return False
    if rename(first_folder, os.fsencode(first), second_folder, os.fsencode(second), how) == 0:
        return True
    code = ctypes.get_errno()
    if code in _UNKNOWN:
        return False
    raise OSError(code, os.strerror(code), second)


@cache
def _system_call() -> Callable[[int, bytes, int, bytes, int], int] | None:
    libc = ctypes.CDLL(None, use_errno=True)
    return getattr(libc, "renameatx_np" if _IS_MAC else "renameat2", None)
