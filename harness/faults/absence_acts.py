"""Acts around a journal that was taken away, and the id that tells of it."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from harness.faults import perform
from harness.faults.act import WORD, Act, command, decided
from standfast.journal import id_file

if TYPE_CHECKING:
    from harness.faults.look import Seen
    from harness.faults.world import World

_ABANDON = ("journal", "abandon")


def taken_away(world: World) -> None:
    """Something was noted, and somebody deleted the journal."""
    perform.command(world, "note", "what nobody will know")
    shutil.rmtree(world.folder)


def noted_since(world: World) -> None:
    """And something was noted since, in a new one."""
    taken_away(world)
    perform.command(world, "note", "what is known since")


def has_id(world: World, _seen: Seen) -> bool:
    """Whoever was told that a fact is kept can be told that it was taken away."""
    known = id_file.read(world.folder)
    return known is not None and bool(known.name)


def _is_told(world: World, seen: Seen) -> bool:
    """The new journal begins with what is gone."""
    return has_id(world, seen) and seen.events[0][0] == "gap"


def _is_seen_to(world: World, seen: Seen) -> bool:
    known = id_file.read(world.folder)
    return _is_told(world, seen) and known is not None and not known.lost


ABSENCES: tuple[Act, ...] = (
    Act("note-gone", "note", "taken away", command("note", WORD),
        new=decided, holds=_is_told, recovery=_ABANDON),
    Act("abandon", "journal abandon", "noted since", command(*_ABANDON),
        holds=_is_seen_to, recovery=_ABANDON),
    Act("abandon-gone", "journal abandon", "taken away", command(*_ABANDON),
        holds=_is_seen_to, recovery=_ABANDON),
    Act("repair-gone", "journal repair", "taken away", command("journal", "repair"),
        holds=_is_seen_to, recovery=("journal", "repair")),
)  # fmt: skip
