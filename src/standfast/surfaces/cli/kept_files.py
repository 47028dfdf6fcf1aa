"""`standfast journal kept`: what stood in files before something was written over them."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from standfast import clock
from standfast.errors.base import NothingFound
from standfast.journal import overwritten_files
from standfast.surfaces.cli.screen import json_line

if TYPE_CHECKING:
    from standfast.surfaces.cli.command_context import Context

_SHORT = 12
_QUERY = """
    SELECT at, payload ->> 'digest', payload ->> 'path', payload ->> 'why', payload ->> 'moved'
    FROM events WHERE kind = ? AND ifnull(payload ->> 'part', 1) = 1 ORDER BY seq"""


def kept(context: Context, digest: str | None) -> int:
    """List what was kept, newest last; or print one of them, as it was."""
    rows = context.journal.query(_QUERY, (overwritten_files.KIND,))
    if digest is not None:
        return _print_one(context, digest, [str(row[1]) for row in rows if row[1]])
    if context.json:
        names = ("at", "digest", "path", "why", "moved_to")
        found = [dict(zip(names, row, strict=True)) for row in rows]
        print(json_line([{**each, "at": clock.rfc3339(each["at"])} for each in found]))
    elif rows:
        table = [
            (clock.local_minute(at), (name or "")[:_SHORT] or "-", why or f"moved to {moved}", path)
            for at, name, path, why, moved in rows
        ]
        print(context.screen.table(table, ("dim", "strong", "dim")))
    else:
        print("Nothing was written over yet.")
    return 0


def _print_one(context: Context, digest: str, known: list[str]) -> int:
    found = sorted({name for name in known if name.startswith(digest)})
    data = overwritten_files.kept(context.journal, found[0]) if len(found) == 1 else None
    if data is None:
        what = "several begin" if len(found) > 1 else "none begins"
        raise NothingFound(f"of what was kept {what} with `{digest}`: `journal kept` lists them")
    if context.json:
        text = data.decode("utf-8", "replace")
        print(json.dumps({"digest": found[0], "text": text}, ensure_ascii=False))
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
    return 0
