"""Lifecycles of roles: every single move is an event, made by whoever holds the transaction.

Where a role is stands in the cell `lifecycle:<machine>`, folded from its moves. A move is checked
and recorded in one transaction, so of many who want the same one only one gets it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from standfast.errors import BadName, NothingFound, RoleTaken
from standfast.protocol import lifecycle
from standfast.redact import redact

if TYPE_CHECKING:
    from collections.abc import Callable

    from standfast.journal.author import Author
    from standfast.journal.store import Journal
    from standfast.journal.writing import Writing

    Ask = Callable[[str, tuple[str | int, ...]], list[tuple[object, ...]]]

_PREFIX = "lifecycle:"
_ALL = "SELECT key, value, seq, at FROM cells WHERE key >= 'lifecycle:' AND key < 'lifecycle;'"


class Lifecycle(NamedTuple):
    """Where one role is."""

    machine: str
    role: str
    state: str
    before: str | None  # the state before this one
    seq: int  # of the move that led here
    at: int


def every(journal: Journal) -> list[Lifecycle]:
    """All of them, by the name of their machines; none where nothing was ever recorded."""
    return list(map(_lifecycle, journal.query(_ALL))) if journal.exists else []


def of(journal: Journal, role: str) -> Lifecycle | None:
    """A role's lifecycle, if it has one; RoleTaken if its machine is another role's."""
    return find(journal.query, role) if journal.exists else None


def find(ask: Ask, role: str) -> Lifecycle | None:
    """The same, asked of an open transaction."""
    machine = lifecycle.machine_name(role)
    rows = ask(f"{_ALL} AND key = ?", (_PREFIX + machine,))
    if not rows:
        return None
    found = _lifecycle(rows[0])
    if found.role != role:
        raise RoleTaken(f"the machine `{machine}` is that of role `{found.role}`, not `{role}`")
    return found


def begin(tx: Writing, role: str, by: str, author: Author) -> Lifecycle | None:
    """Give a role its machine, in state active; None if it has one already."""
    if redact(role) != role:
        raise BadName("the role looks like a secret", remedy="Give it another name.")
    if find(tx.execute, role) is not None:
        return None
    _refuse_shared_variable(tx, role)
    return _record(tx, role, None, lifecycle.ACTIVE, by, author)


def _refuse_shared_variable(tx: Writing, role: str) -> None:
    """`a.b` and `a_dot_b` have machines of their own, and would have one variable in a shell."""
    variable = lifecycle.variable(role)
    for found in map(_lifecycle, tx.execute(_ALL, ())):
        if lifecycle.variable(found.role) == variable:
            raise RoleTaken(
                f"the shell variable `{variable}` is that of role `{found.role}`, not `{role}`"
            )


def move(tx: Writing, role: str, after: str, by: str, author: Author) -> Lifecycle:
    """Make one move, if it is legal from where the role is now."""
    now = _present(tx, role)
    lifecycle.check(now.state, after, role)
    return _record(tx, role, now.state, after, by, author)


def walk(tx: Writing, role: str, after: str, by: str, author: Author) -> tuple[str, ...]:
    """Go there by legal moves, each one recorded; the states passed through."""
    way = lifecycle.path(_present(tx, role).state, after)
    for state in way:
        move(tx, role, state, by, author)
    return way


def save(tx: Writing, role: str, by: str, author: Author, *, passes: bool) -> tuple[str, ...]:
    """Through saving to saved, or back to where the save began; the states passed through.

    Who is found in saving is there because somebody else died on the way: it goes on from there.
    """
    now = _present(tx, role)
    before = now.before or lifecycle.ACTIVE if now.state == lifecycle.SAVING else now.state
    end = lifecycle.SAVED if passes else before
    way = (end,) if now.state == lifecycle.SAVING else (lifecycle.SAVING, end)
    for state in way:
        move(tx, role, state, by, author)
    return way


def _present(tx: Writing, role: str) -> Lifecycle:
    found = find(tx.execute, role)
    if found is None:
        raise NothingFound(
            f"role `{role}` has no lifecycle here",
            remedy="See `standfast context lifecycle.status`; `lifecycle.init` begins one.",
        )
    return found


def _record(
    tx: Writing, role: str, before: str | None, after: str, by: str, author: Author
) -> Lifecycle:
    machine = lifecycle.machine_name(role)
    payload = {"machine": machine, "role": role, "from": before, "to": after, "by": by}
    seq = tx.append("lifecycle.moved", payload, author)
    return Lifecycle(machine, role, after, before, seq, 0)


def _lifecycle(row: tuple[object, ...]) -> Lifecycle:
    key, value, seq, at = row
    found = json.loads(str(value))
    return Lifecycle(
        machine=str(key).removeprefix(_PREFIX),
        role=str(found["role"]),
        state=str(found["state"]),
        before=found["before"],
        seq=int(str(seq)),
        at=int(str(at)),
    )
