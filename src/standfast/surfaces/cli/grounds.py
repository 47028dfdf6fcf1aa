"""Whether this is a place to begin or go on with anything: its journal is whole, and its own."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from standfast.errors.lanes import RunElsewhere
from standfast.git import moved_worktrees
from standfast.journal import id_file
from standfast.journal.id_file import home_of
from standfast.runs.records import lane_records
from standfast.surfaces.cli import persons

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from standfast.runs.leftovers import Leftovers
    from standfast.surfaces.cli.command_context import Context

ABANDONED, MENDED = "journal.abandoned", "journal.mended"


def refuse_absence(context: Context) -> None:
    """What a journal that is gone knew may still be running, or be done: nothing is begun on it."""
    lost = absent(context)
    if lost:
        raise id_file.absent(context.place.folder, lost)


def stand(context: Context) -> None:
    """Before anything is begun, gone on with or taken back."""
    refuse_absence(context)
    _remove_raw_words(context)
    known = context.journal.identity
    if known.was:
        is_copy = known.original is not None
        moved_worktrees.mend(home_of(context.place.folder), known.was, is_copy=is_copy)


def _remove_raw_words(context: Context) -> None:
    """A power cut may have brought some back of commands that nobody speaks of any more."""
    if os.path.isdir(os.path.join(context.journal.folder, "effects")):
        from standfast.effects import raw_words

        raw_words.sweep(context.journal)


def refuse_elsewhere(context: Context, run_id: str, names: Iterable[Sequence[str]]) -> None:
    """What a copy brought along is the original's: its worktrees are there."""
    where = lane_records.original_of(context.journal, run_id, names)
    if where is not None:
        raise RunElsewhere(f"{run_id} was begun in {where}, of which this is a copy", file=where)


def absent(context: Context) -> tuple[str, ...]:
    """The ids of journals that were here and are gone, as long as nobody has seen to it."""
    return id_file.lost(context.journal)


def abandon(context: Context) -> tuple[str, ...]:
    """A person says that it was meant: what was lost is no damage any more. Nothing is removed."""
    persons.refuse_agents(context)
    return _acknowledge(context, ABANDONED)


def mend(context: Context) -> tuple[str, ...]:
    """A repair has told what is left of it."""
    return _acknowledge(context, MENDED)


def _acknowledge(context: Context, kind: str) -> tuple[str, ...]:
    lost = absent(context)
    if lost:
        author = context.author
        context.journal.abandon()  # opened to be read: whoever made it may not have finished
        context.journal.make()
        id_file.acknowledge(context.journal, kind, author)
    return lost


def leftovers(context: Context) -> Leftovers:
    """What runs left in git that this journal knows nothing of."""
    from standfast.runs import leftovers

    return leftovers.look(context.journal, context.place.root if context.place.in_git else None)
