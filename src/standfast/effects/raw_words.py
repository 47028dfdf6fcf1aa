"""What commands said, as they said it: it goes with the record of their end, and stays away.

A file that was removed may be there again after a power cut, when nobody speaks of its command any
more. So whoever begins or goes on with anything looks at all of them.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from standfast.effects.effect_folder import ERR, EXIT, FOLDER, OUT, Folder
from standfast.errors.base import JournalGone, NothingFound
from standfast.journal.agents_at_work import name_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from standfast.journal.store import Journal

_OVER = """
    SELECT key FROM cells WHERE key >= 'effect.ended:' AND key < 'effect.ended;'
    UNION ALL
    SELECT key FROM cells WHERE key >= 'effect.settled:' AND key < 'effect.settled;'"""


def sweep(journal: Journal) -> None:
    """Remove the raw words of commands whose end is recorded."""
    left = list(_left(journal))
    over = {each.id for each in left if os.path.lexists(each.at(EXIT))}
    if len(over) < len(left):
        over |= _over(journal)
    for folder in left:
        if folder.id in over:
            folder.clear(OUT, ERR)


def _left(journal: Journal) -> Iterator[Folder]:
    """Folders that hold raw words; a link leads to what is not ours."""
    top = os.path.join(journal.folder, FOLDER)
    if os.path.islink(top) or not os.path.isdir(top):
        return
    with os.scandir(top) as found:
        for entry in found:
            folder = Folder.at_path(entry.path)
            if entry.is_dir(follow_symlinks=False) and any(
                os.path.lexists(folder.at(name)) for name in (OUT, ERR)
            ):
                yield folder


def _over(journal: Journal) -> set[str]:
    """The folders of commands that the journal knows the end of."""
    try:
        rows = journal.query(_OVER)
    except (NothingFound, JournalGone):
        return set()
    return {name_of(str(key).partition(":")[2]) for (key,) in rows}
