"""An agent with a role, before and after a compaction: its lifecycle moves with the client.

Before: the context file is checked; if it will do, the role is saved and compacts, if not, that is
said and stops nobody. After: the role recovers, and is told how. Loaded only where HIVEMIND_ROLE
is set. A role that cannot be looked at never costs the fact that the hook is called for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from standfast import clock, config, disk, ids
from standfast.brief import delivery, role_brief
from standfast.clients.claude.hook_facts import MAIN
from standfast.errors.base import BadName, StandfastError
from standfast.protocols.context.files import context_files, role_files, role_places, states_env
from standfast.protocols.context.records import lifecycle_records
from standfast.protocols.context.rules.lifecycle import (
    ACTIVE,
    COMPACTING,
    RECOVERING,
    SAVED,
    SAVING,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from standfast.clients.hooks.hook_call import Call
    from standfast.journal.store import Journal
    from standfast.journal.transaction import Writing
    from standfast.protocols.context.files.role_files import Seen
    from standfast.protocols.context.records.lifecycle_records import Here, Lifecycle


_CHECKED = 256 * 1024  # characters: a longer file would take a hook's whole time


class Look(NamedTuple):
    """What was seen before the transaction; without *seen* the name itself was no role."""

    name: str
    seen: Seen | None
    default: str
    chosen: str | None


def look(call: Call) -> Look | None:
    """The role's files, if this call is about a compaction; whose it is, is asked later."""
    (source,) = call.payload.ask(["?1->>'source'"])
    if call.event == "SessionStart" and source != "compact":
        return None
    settings = config.load_if_readable(call.place.root, call.environ)
    where = settings.config_home, settings.config_path
    try:
        name = ids.role(settings.role)
    except BadName as error:
        return Look(error.problem, None, *where)
    today = clock.rfc3339(call.began)
    seen = role_files.look(
        call.place.root,
        name,
        architecture=settings.architecture_doc,
        today=today,
        upto=_CHECKED if call.event == "PreCompact" else 0,
    )
    if call.event == "PreCompact" and seen.passes:
        role_files.make_durable(call.place.root, seen)
    return Look(name, seen, *where)


def before_compaction(call: Call, tx: Writing) -> str:
    """Move, and say what a summary should know: the client takes this as instructions for it."""
    found = call.role
    if found is None:
        return ""
    if found.seen is None:
        return f"Standfast: HIVEMIND_ROLE is no role: {found.name}. Nothing was checked.\n"
    try:
        return _before(call, found.seen, tx)
    except StandfastError as error:
        return f"Standfast: role {found.name} was not marked saved: {error.problem}.\n"


def _before(call: Call, seen: Seen, tx: Writing) -> str:
    author = call.author(MAIN)
    here = role_places.here(tx.journal, call.place)
    now = lifecycle_records.find(tx.execute, seen.role, here)
    if now is None and seen.data is None:
        return (
            f"Standfast: HIVEMIND_ROLE names {seen.role}, which has neither a context file nor a"
            " lifecycle here: skipped.\n"
        )
    if not seen.passes:
        if now is not None and now.state in {SAVED, SAVING}:
            lifecycle_records.move(tx, seen.role, ACTIVE, call.event, author, here)
        return (
            f"Standfast: the context of role {seen.role} is NOT saved: {_why(seen)}. Keep the"
            " role's goal, its finished and its open work in the summary.\n"
        )
    _compact(now, seen, tx, call, here)
    return (
        f"This agent has the role {seen.role}; its context is saved in {seen.file}, to be read"
        " after the compaction.\n"
    )


def _compact(now: Lifecycle | None, seen: Seen, tx: Writing, call: Call, here: Here) -> None:
    """By saving and saved to compacting; who is there already has a second hook, or tries again."""
    author = call.author(MAIN)
    if now is None:
        lifecycle_records.begin(tx, seen.role, call.event, author, here)
    lifecycle_records.walk(tx, seen.role, COMPACTING, call.event, author, here)


def _why(seen: Seen) -> str:
    """In our own words alone: a model follows what stands here."""
    if seen.data is None:
        return f"{seen.file} does not exist"
    if seen.fault is not None:
        return f"{seen.file} cannot be read"
    rules = ", ".join(dict.fromkeys(finding.rule for finding in seen.stops))
    return f"{seen.file} breaks {rules}"


def after_compaction(call: Call, tx: Writing, brief: str, size: Callable[[str], int]) -> str:
    """The brief, and beside it the role that recovers now."""
    found = call.role
    if found is None or found.seen is None:
        return brief
    try:
        state = _recover(call, found.seen, tx)
    except StandfastError:
        return brief  # a machine of another role: `context recover` will say so
    if state is None and found.seen.data is None:
        return brief  # stale: nothing here knows of such a role
    mark = delivery.make_nonce(tx.execute)
    return role_brief.beside(brief, found.seen, state or "not begun", mark, size)


def _recover(call: Call, seen: Seen, tx: Writing) -> str | None:
    """Compacting becomes recovering; so does saved, where the hook before was not heard."""
    here = role_places.here(tx.journal, call.place)
    now = lifecycle_records.find(tx.execute, seen.role, here)
    if now is None or now.state not in {SAVED, COMPACTING}:
        return None if now is None else now.state
    lifecycle_records.walk(tx, seen.role, RECOVERING, call.event, call.author(MAIN), here)
    return RECOVERING


def tidy(call: Call, journal: Journal) -> None:
    """After the answer: the file's words are kept, and the states file says where the role is."""
    found = call.role
    if found is None or found.seen is None:
        return
    seen = found.seen
    if call.event == "PreCompact" and seen.passes and seen.data is not None:
        context_files.adopt(journal, seen.role, seen.data, call.author(MAIN))
    here = role_places.here(journal, call.place)
    if lifecycle_records.of(journal, seen.role, here) is not None:
        own = states_env.default(journal, found.default, here)
        root = states_env.home(journal, own, found.chosen, here)
        try:
            states_env.keep(journal, seen.role, root, here)
        except OSError as error:
            raise disk.disk_error(error, root) from error
