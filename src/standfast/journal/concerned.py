"""Which live documents concern those who work in a checkout: one rule for all who ask. Hook path.

Those that are at home there. Where none is, those whose file is there too, as a copy that git
brought into another worktree: whoever works there works by the document, which is judged by what
the journal has of it and never by the copy.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Ask = Callable[[str, tuple[str | int, ...]], list[tuple[object, ...]]]
    Known = tuple[str, str, str | None, int | None]  # file, home, updated_at, start of the phase

_LIVE = """
    SELECT substr(key, 12), value ->> 'root',
      value ->> '$.section.recovery_state.updated_at', value ->> 'phase_at'
    FROM cells WHERE key >= 'resumption:' AND key < 'resumption;'
      AND value ->> '$.section.recovery_state.workflow_status' IN ('ACTIVE', 'PAUSED')"""
_HOME = "SELECT value ->> 'root' FROM cells WHERE key = 'resumption:' || ?"


def documents(ask: Ask, root: str) -> list[Known]:
    """The live documents that concern who works in the checkout *root*."""
    live: list[Known] = ask(_LIVE, ())  # type: ignore[assignment]  # as selected
    at_home = [each for each in live if each[1] == root]
    return at_home or [each for each in live if os.path.lexists(os.path.join(root, each[0]))]


def listed(ask: Ask, root: str) -> str:
    """Their files, each between line ends, which no name of a file holds: for SQL's `instr`."""
    return "".join(f"\n{file}\n" for file, *_ in documents(ask, root))


def home(ask: Ask, file: str) -> str | None:
    """Where a file's section is kept, if it is a document's; also of one that is over."""
    rows = ask(_HOME, (file,))
    return str(rows[0][0]) if rows else None
