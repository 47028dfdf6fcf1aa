"""What this process syncs while it does something, by the names that the system knows them by."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def synced() -> Iterator[list[Path]]:
    seen: list[Path] = []
    real = os.fsync

    def note(fd: int) -> None:
        seen.append(Path(f"/proc/self/fd/{fd}").readlink())
        real(fd)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", note)
        yield seen
