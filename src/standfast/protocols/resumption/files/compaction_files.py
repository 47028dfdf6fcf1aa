"""The file of each compaction: what its event says, where a person and an agent can read it."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from standfast import disk
from standfast.protocols.resumption.records.compactions import path

if TYPE_CHECKING:
    from standfast.journal.store import Journal

_KEPT = 20  # of the newest: older files that somebody took away stay away
_NEWEST = "SELECT value FROM cells WHERE key >= 'cx:' AND key < 'cx;' ORDER BY seq DESC LIMIT ?"


def keep(journal: Journal) -> None:
    """Write the files that are not there: a hook that was killed has left the event alone."""
    for (text,) in journal.query(_NEWEST, (_KEPT,)):
        value = json.loads(text)
        where = path(journal.folder, value["id"])
        if not os.path.lexists(where):
            disk.make_folder(os.path.dirname(where))
            disk.replace(where, json.dumps(value, ensure_ascii=False, indent=2).encode() + b"\n")
