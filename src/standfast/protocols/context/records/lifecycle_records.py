"""Lifecycles of roles: every single move is an event, made by whoever holds the transaction.

Where a role is stands in the cell `lifecycle:<machine>`, folded from its moves; in a linked
worktree in `lifecycle:<machine>/<worktree>`, because its context file is another one too. A move is
checked and recorded in one transaction, so of many who want the same one only one gets it.

Older versions had one lifecycle for all worktrees. The worktree whose context file it speaks of
takes it on with the next move there; until then it reads it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from standfast.errors.base import BadName, NothingFound, RoleTaken
from standfast.protocols.context.rules import lifecycle
from standfast.redaction.redactor import redact

if TYPE_CHECKING:
    from collections.abc import Callable

    from standfast.journal.author import Author
    from standfast.journal.store import Journal
    from standfast.journal.transaction import Writing

    Ask = Callable[[str, tuple[str | int, ...]], list[tuple[object, ...]]]

_PREFIX = "lifecycle:"
_ALL = "SELECT key, value, seq, at FROM cells WHERE key >= 'lifecycle:' AND key < 'lifecycle;'"


class Here(NamedTuple):
    """The checkout that is meant, and whether a lifecycle that names none is that of its role."""

    worktree: str = ""  # the mark of a linked one
    owns: Callable[[str], bool] = lambda _: True


MAIN = Here()


class Lifecycle(NamedTuple):
    """Where one role is."""

    machine: str
    role: str
    state: str
    before: str | None  # the state before this one
    seq: int  # of the move that led here
    at: int
    worktree: str | None = ""  # None: of the time when there was one for all


def every(journal: Journal, here: Here = MAIN) -> list[Lifecycle]:
    """All of a checkout, by the name of their machines; none where nothing was ever recorded."""
    return _every(journal.query, here) if journal.exists else []


def _every(ask: Ask, here: Here) -> list[Lifecycle]:
    found = list(map(_lifecycle, ask(_ALL, ())))
    own = {each.machine: each for each in found if each.worktree == here.worktree}
    shared = {each.machine: each for each in found if each.worktree is None}
    taken = {name: each for name, each in shared.items() if name not in own}
    whole = {**{name: each for name, each in taken.items() if here.owns(each.role)}, **own}
    return [whole[name] for name in sorted(whole)]


def of(journal: Journal, role: str, here: Here = MAIN) -> Lifecycle | None:
    """A role's lifecycle, if it has one; RoleTaken if its machine is another role's."""
    return find(journal.query, role, here) if journal.exists else None


def find(ask: Ask, role: str, here: Here = MAIN) -> Lifecycle | None:
    """The same, asked of an open transaction."""
    machine = lifecycle.machine_name(role)
    found = next((each for each in _every(ask, here) if each.machine == machine), None)
    if found is not None and found.role != role:
        raise RoleTaken(f"the machine `{machine}` is that of role `{found.role}`, not `{role}`")
    return found


def begin(tx: Writing, role: str, by: str, author: Author, here: Here = MAIN) -> Lifecycle | None:
    """Give a role its machine, in state active; None if it has one already."""
    if redact(role) != role:
        raise BadName("the role looks like a secret", remedy="Give it another name.")
    if find(tx.execute, role, here) is not None:
        return None
    _refuse_shared_variable(tx, role, here)
    return _record(tx, role, None, lifecycle.ACTIVE, by, author, here)


def _refuse_shared_variable(tx: Writing, role: str, here: Here) -> None:
    """`a.b` and `a_dot_b` have machines of their own, and would have one variable in a shell."""
    variable = lifecycle.variable(role)
    for found in _every(tx.execute, here):
        if lifecycle.variable(found.role) == variable:
            raise RoleTaken(
                f"the shell variable `{variable}` is that of role `{found.role}`, not `{role}`"
            )


def move(
    tx: Writing, role: str, after: str, by: str, author: Author, here: Here = MAIN
) -> Lifecycle:
    """Make one move, if it is legal from where the role is now."""
    now = _present(tx, role, here)
    lifecycle.check(now.state, after, role)
    return _record(tx, role, now, after, by, author, here)


def walk(
    tx: Writing, role: str, after: str, by: str, author: Author, here: Here = MAIN
) -> tuple[str, ...]:
    """Go there by legal moves, each one recorded; the states passed through."""
    way = lifecycle.path(_present(tx, role, here).state, after)
    for state in way:
        move(tx, role, state, by, author, here)
    return way


def save(
    tx: Writing, role: str, by: str, author: Author, here: Here = MAIN, *, passes: bool
) -> tuple[str, ...]:
    """Through saving to saved, or back to where the save began; the states passed through.

    Who is found in saving is there because somebody else died on the way: it goes on from there.
    """
    now = _present(tx, role, here)
    before = now.before or lifecycle.ACTIVE if now.state == lifecycle.SAVING else now.state
    end = lifecycle.SAVED if passes else before
    way = (end,) if now.state == lifecycle.SAVING else (lifecycle.SAVING, end)
    for state in way:
        move(tx, role, state, by, author, here)
    return way


def _present(tx: Writing, role: str, here: Here) -> Lifecycle:
    found = find(tx.execute, role, here)
    if found is None:
        raise NothingFound(
            f"role `{role}` has no lifecycle here",
            remedy="See `standfast context lifecycle.status`; `lifecycle.init` begins one.",
        )
    return found


def _record(
    tx: Writing,
    role: str,
    now: Lifecycle | None,
    after: str,
    by: str,
    author: Author,
    here: Here,
) -> Lifecycle:
    machine, before = lifecycle.machine_name(role), now.state if now else None
    payload: dict[str, object] = {"machine": machine, "role": role, "from": before, "to": after}
    payload |= {"by": by, "worktree": here.worktree}
    if now is not None and now.worktree is None:
        payload["taken"] = True  # from here on it is this checkout's alone
    seq = tx.append("lifecycle.moved", payload, author)
    return Lifecycle(machine, role, after, before, seq, 0, here.worktree)


def _lifecycle(row: tuple[object, ...]) -> Lifecycle:
    key, value, seq, at = row
    found = json.loads(str(value))
    worktree = found.get("worktree")
    return Lifecycle(
        machine=str(key).removeprefix(_PREFIX).partition("/")[0],
        role=str(found["role"]),
        state=str(found["state"]),
        before=found["before"],
        seq=int(str(seq)),
        at=int(str(at)),
        worktree=None if worktree is None else str(worktree),
    )
