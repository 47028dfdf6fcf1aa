"""A bug that only changed bytes show: it must be caught every time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast.journal import database

if TYPE_CHECKING:
    from collections.abc import Callable


def no_page_checksums() -> None:
    """SQLite without the checksums: a page is believed as it is read."""
    database._CHECKSUMS = "unix"
    database._load_checksums = lambda: None


CANARIES: dict[str, Callable[[], None]] = {"no page checksums": no_page_checksums}
