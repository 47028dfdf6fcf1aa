"""Commands whose end nobody saw, as `status` lists them: nothing goes on until a person speaks."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

from standfast import clock
from standfast.redaction.redactor import redact
from standfast.text import one_line

if TYPE_CHECKING:
    from standfast.effects.orphans import Left
    from standfast.surfaces.cli.command_context import Context

_WORDS = 60
HINT = "Look whether it took effect, then say so: `settle` with its key, and `done` or `again`."


def gather(context: Context) -> tuple[Left, ...]:
    """Those in doubt; a repository where nothing was ever run is not asked at all."""
    if not os.path.isdir(os.path.join(context.journal.folder, "effects")):
        return ()
    from standfast.effects import orphans

    return tuple(each for each in orphans.every(context.journal) if each.state == orphans.IN_DOUBT)


def rows(context: Context, found: tuple[Left, ...]) -> str:
    """What needs you: the key, what it was, since when; and once, what to do about it."""
    if not found:
        return ""
    listed = [("NEEDS YOU", each.key, words(each)) for each in found]
    return f"{context.screen.table(listed, ('bad', 'strong'))}\n           {HINT}"


def needs(found: tuple[Left, ...]) -> list[dict[str, object]]:
    """The same for `status --json`, beside what else needs a person."""
    return [
        {"code": None, "problem": f"`{each.key}`: {words(each)}", "file": None, "line": None}
        for each in found
    ]


def words(left: Left) -> str:
    """What it was and since when; agents read `status` too."""
    said = one_line(redact(shlex.join(left.argv)), _WORDS)
    return f"nobody saw how it ended, begun {clock.local_minute(left.since)}: {said}"
