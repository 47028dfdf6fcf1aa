"""Bugs that a power cut under a lane must show."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

from harness.faults import torn_attacks
from harness.faults.cuts import landing_scenes, lane_scenes, torn_scenes
from standfast import filesystems
from standfast.effects.folder import Folder
from standfast.git import adding, armour, contents, durable
from standfast.run import cleaning, landing, moving, restoring

if TYPE_CHECKING:
    from collections.abc import Callable

    from harness.faults.cuts.lane_scenes import Scene
    from standfast.effects.folder import Order
    from standfast.git import Git

_LONG_S = 0.5
ENOUGH_CUTS = 16  # within which each of these must show, under these scenes


class Bug(NamedTuple):
    """What is planted, and under which scenes it shows."""

    plant: Callable[[], None]
    scenes: tuple[Scene, ...]


def no_refs() -> None:
    """Neither commits nor the refs that lead to them are synced, an agent's or ours."""
    armour.DURABLE = {}
    durable._sync = _nothing  # noqa: SLF001  # a bug is planted
    _no_filesystem()
    _forget()


def no_files() -> None:
    """Nothing in a work tree is synced: neither an agent's work, nor a merge, nor a rollback."""
    contents.sync_files = _nothing
    _no_filesystem()
    _forget()


def no_checkout() -> None:
    """A lane is called started whose files are on no disk, and what is torn is taken for work."""
    adding.filesystems = SimpleNamespace(sync=lambda _: False)  # type: ignore[assignment, attr-defined]  # a bug is planted
    adding._sync_files = _nothing  # noqa: SLF001  # a bug is planted
    restoring.restore = _nothing


def no_look() -> None:
    """A lane that was being brought up to date is taken for whole, though its files are torn."""
    slowly()
    landing.is_moving = lambda lane: lane is None
    cleaning.clean = _nothing


def slowly() -> None:
    """Time passes between what git writes and the sync of it: by itself that does no harm."""
    real = moving.sync

    def sync(tree: Git, commit: str) -> None:
        time.sleep(_LONG_S)
        real(tree, commit)

    moving.sync = sync


def _no_filesystem() -> None:
    """A whole filesystem is called synced that is not."""
    filesystems.sync = lambda _path: True  # type: ignore[assignment]  # a name of its own


def _forget() -> None:
    """The supervisor is a program of its own: it is told less."""
    real = Folder.write_order

    def write_order(folder: Folder, order: Order) -> None:
        real(folder, order._replace(durable=(), git=()))

    Folder.write_order = write_order  # type: ignore[method-assign, assignment]  # a bug


def _nothing(*_: Any, **__: Any) -> None:  # noqa: ANN401  # whatever it is called with
    """Do nothing."""


_LANE = tuple(scene for scene in lane_scenes.SCENES if scene.name in {"merge", "rollback"})
_AGENT = tuple(scene for scene in lane_scenes.SCENES if scene.name == "agent")
CANARIES: dict[str, Bug] = {
    "a lane's commits are not synced": Bug(no_refs, _LANE),
    "a lane's files are not synced": Bug(no_files, _LANE),
    "a lane's checkout is not synced": Bug(no_checkout, _AGENT),
    "put back by torn attributes": Bug(torn_attacks.by_torn_attributes, (torn_scenes.ATTRIBUTES,)),
    "torn under a move": Bug(no_look, (landing_scenes.LANDING,)),
    "what a setup did is put back": Bug(torn_attacks.forgetful, (torn_scenes.EMPTIED,)),
}
