"""Bugs that a power cut under a lane must show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from standfast.effects.folder import Folder
from standfast.git import armour, contents, durable
from standfast.run import rollback
from standfast.testing.faults.cuts import lane_scenes

if TYPE_CHECKING:
    from collections.abc import Callable

    from standfast.effects.folder import Order

ENOUGH_CUTS = 16  # within which each of these must show, under these scenes
SCENES = tuple(scene for scene in lane_scenes.SCENES if scene.name in {"merge", "rollback"})


def no_refs() -> None:
    """Neither commits nor the refs that lead to them are synced, an agent's or ours."""
    armour.DURABLE = {}
    durable._sync = _nothing  # noqa: SLF001  # a bug is planted
    _forget("git")


def no_files() -> None:
    """Nothing in a work tree is synced: neither an agent's work, nor a merge, nor a rollback."""
    contents.sync_files = _nothing
    rollback._sync = _nothing  # noqa: SLF001  # a bug is planted
    _forget("durable")


def _forget(what: str) -> None:
    """The supervisor is a program of its own: it is told less."""
    real = Folder.write_order

    def write_order(folder: Folder, order: Order) -> None:
        real(folder, order._replace(**{what: ()}))  # type: ignore[arg-type]  # both are tuples

    Folder.write_order = write_order  # type: ignore[method-assign, assignment]  # a bug


def _nothing(*_: Any, **__: Any) -> None:  # noqa: ANN401  # whatever it is called with
    """Sync nothing."""


CANARIES: dict[str, Callable[[], None]] = {
    "a lane's commits are not synced": no_refs,
    "a lane's files are not synced": no_files,
}
