"""Which live documents concern those who work in a checkout: one rule for all who ask. Hook path.

Those that are at home there. Where none is, those whose file is there too, as a copy that git
brought into another worktree: whoever works there works by the document, which is judged by what
the journal has of it and never by the copy.
"""

from __future__ import annotations

import os

from standfast.protocols.resumption.rules.workflow_id import workflow_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Ask = Callable[[str, tuple[str | int, ...]], list[tuple[object, ...]]]
    Known = tuple[str, str, str | None, int | None]  # file, home, updated_at, start of the phase

_EVERY = """
    SELECT ifnull(value ->> 'file', substr(key, 12)), here(value ->> 'root'),
      value ->> '$.section.recovery_state.updated_at', value ->> 'phase_at',
      substr(key, 12), value ->> 'workflow', seq
    FROM cells WHERE key >= 'resumption:' AND key < 'resumption;'"""
_LIVE = f"""{_EVERY}
      AND value ->> '$.section.recovery_state.workflow_status' IN ('ACTIVE', 'PAUSED')"""
_DECIDED = """
    SELECT json_group_array(each.value) FROM cells, json_each(cells.value, '$.decided') AS each
    WHERE cells.key >= 'resumption:' AND cells.key < 'resumption;'
      AND instr(?, char(10) || substr(cells.key, 12) || char(10))"""
_HOME = """
    SELECT here(value ->> 'root') FROM cells WHERE key >= 'resumption:' AND key < 'resumption;'
      AND (key = 'resumption:' || ?1 OR value ->> 'file' = ?1) ORDER BY seq DESC LIMIT 1"""
_LONGEST = 1 << 20  # of what is read of a file to find its workflow


def documents(ask: Ask, root: str) -> list[Known]:
    """The live documents that concern who works in the checkout *root*."""
    return [each[:4] for each in _concerning(ask, root)]  # type: ignore[misc]  # as selected


def listed(ask: Ask, root: str) -> str:
    """Their names, each between line ends, which no name of a file holds: for SQL's `instr`."""
    return "".join(f"\n{each[4]}\n" for each in _concerning(ask, root))


def names(ask: Ask, root: str) -> list[str]:
    """Their names."""
    return [str(each[4]) for each in _concerning(ask, root)]


def decided_elsewhere(ask: Ask, root: str) -> str:
    """The journal's ids of what documents decided whose file leads another workflow here now.

    As a JSON list: for SQL's `json_each`.
    """
    every = ask(_EVERY, ())
    gone = [each for each in every if each[1] == root and not _is_there(each, every)]
    listed = "".join(f"\n{each[4]}\n" for each in gone)
    return str(ask(_DECIDED, (listed,))[0][0])


def _concerning(ask: Ask, root: str) -> list[tuple[object, ...]]:
    live = ask(_LIVE, ())
    at_home = [each for each in live if each[1] == root and _is_there(each, live)]
    if at_home:
        return at_home
    return [each for each in live if each[1] != root and _is_copied(root, each)]


def _is_there(each: tuple[object, ...], live: list[tuple[object, ...]]) -> bool:
    """Whether its file leads its workflow: a branch may bring another one to the same path."""
    said = _workflow(str(each[1]), str(each[0]))
    if said is None:  # no file, or one that names none: the one that was last seen there
        same = [one for one in live if one[:2] == each[:2]]
        return each[6] == max(int(str(one[6])) for one in same)
    return each[5] in (None, said)


def _is_copied(root: str, each: tuple[object, ...]) -> bool:
    if not os.path.lexists(os.path.join(root, str(each[0]))):
        return False
    return each[5] is None or _workflow(root, str(each[0])) in (None, each[5])


def _workflow(root: str, file: str) -> str | None:
    """The workflow that a file leads, as far as it can be told."""
    try:
        with open(os.path.join(root, file), "rb") as found:
            text = found.read(_LONGEST).decode("utf-8", "replace")
    except OSError:
        return None
    return workflow_id(text)


def home(ask: Ask, file: str) -> str | None:
    """Where a file's section is kept, if it is a document's; also of one that is over."""
    rows = ask(_HOME, (file,))
    return str(rows[0][0]) if rows else None
