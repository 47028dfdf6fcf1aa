"""Bugs that a power cut under a lane must show."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

from harness.faults import torn_attacks
from harness.faults.cuts import landing_scenes, lane_scenes, torn_scenes
from standfast import filesystems
from standfast.effects.effect_folder import Folder
from standfast.git import armour, durable_files, new_worktree, worktree_contents
from standfast.runs.lanes import branch_reset, clean_worktree, merge_step, torn_restore

if TYPE_CHECKING:
    from collections.abc import Callable

    from harness.faults.cuts.lane_scenes import Scene
    from standfast.effects.effect_folder import Order
    from standfast.git.command import Git

_LONG_S = 0.5
ENOUGH_CUTS = 16  # within which each of these must show, under these scenes


class Bug(NamedTuple):
    """What is planted, and under which scenes it shows."""

    plant: Callable[[], None]
    scenes: tuple[Scene, ...]


def no_refs() -> None:
    """Neither commits nor the refs that lead to them are synced, an agent's or ours."""
    armour.DURABLE = {}
    durable_files._sync = _nothing  # noqa: SLF001  # a bug is planted
    _no_filesystem()
    _forget()


def no_files() -> None:
    """Nothing in a work tree is synced: neither an agent's work, nor a merge, nor a rollback."""
    worktree_contents.sync_files = _nothing
    _no_filesystem()
    _forget()


def no_checkout() -> None:
    """A lane is called started whose files are on no disk, and what is torn is taken for work."""
    new_worktree.filesystems = SimpleNamespace(sync=lambda _: False)  # type: ignore[assignment, attr-defined]  # a bug is planted
    new_worktree._sync_files = _nothing  # noqa: SLF001  # a bug is planted
    torn_restore.restore = _nothing


def no_look() -> None:
    """A lane that was being brought up to date is taken for whole, though its files are torn."""
    slowly()
    merge_step.is_moving = lambda lane: lane is None
    clean_worktree.clean = _nothing


def slowly() -> None:
    """Time passes between what git writes and the sync of it: by itself that does no harm."""
    real = branch_reset.sync

    def sync(tree: Git, commit: str) -> None:
        time.sleep(_LONG_S)
        real(tree, commit)

    branch_reset.sync = sync


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
