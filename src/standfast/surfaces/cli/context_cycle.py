"""`standfast context save`, `recover` and `lifecycle.*`: a role's way through a compaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from standfast import clock, ids
from standfast.errors.base import BadName, IllegalMove, WrongUsage
from standfast.protocols.context.files import context_files, role_files, states_env
from standfast.protocols.context.records import lifecycle_records
from standfast.protocols.context.rules import lifecycle, recovery_steps
from standfast.surfaces.cli import context_answers as told
from standfast.surfaces.cli.context_findings import minute
from standfast.text import printable

if TYPE_CHECKING:
    import argparse

    from standfast.protocols.context.files.role_files import Seen
    from standfast.protocols.context.records.lifecycle_records import Lifecycle
    from standfast.surfaces.cli.command_context import Context

_NO_ROLE = "no role: name one, or set HIVEMIND_ROLE"


class _Role(NamedTuple):
    """Who is meant, and whether only the environment says so: that can be stale."""

    name: str
    is_named: bool


def _role(context: Context, arguments: argparse.Namespace) -> _Role | None:
    if len(arguments.names) > 1:
        raise WrongUsage(f"one role at most, not {len(arguments.names)}")
    if arguments.names:
        return _Role(ids.role(arguments.names[0]), is_named=True)
    if context.config.role is None:
        return None
    try:
        return _Role(ids.role(context.config.role), is_named=False)
    except BadName as error:
        raise BadName(f"HIVEMIND_ROLE: {error.problem}") from error


def _look(context: Context, role: str) -> Seen:
    return role_files.look(
        context.place.root,
        role,
        architecture=context.config.architecture_doc,
        today=minute(),
    )


# The lifecycle.


def lifecycle_init(context: Context, arguments: argparse.Namespace) -> int:
    """Begin a lifecycle in `active`; one that there is stays as it is."""
    role = _role(context, arguments)
    if role is None:
        return told.refuse(context, None, [_NO_ROLE])
    here = told.here(context)
    _refuse_taken(context, role.name)
    context.may_write()
    with context.journal.writing() as tx:
        began = lifecycle_records.begin(tx, role.name, arguments.action, context.author, here)
    found = began or lifecycle_records.of(context.journal, role.name, told.here(context))
    state = found.state if found else lifecycle.ACTIVE
    words = "begins" if began else "has a lifecycle already;"
    told.say(
        context,
        told.facts(role.name, state, began=began is not None),
        f"{role.name} {words} {state}",
    )
    told.show_states(context, role.name)
    return 0


def _refuse_taken(context: Context, role: str) -> None:
    """Under a CONFIG_PATH that is set all worktrees share a folder: a role there is the first's."""
    if context.config.config_path:
        states_env.refuse_taken(
            context.journal, role, context.config.config_path, told.here(context)
        )


def lifecycle_save(context: Context, arguments: argparse.Namespace) -> int:
    """Check the context file; if it will do, the role is saved, else it is where it was."""
    role = _role(context, arguments)
    if role is None:
        return told.refuse(context, None, [_NO_ROLE])
    _refuse_out_of_cycle(context, role.name)
    seen = _look(context, role.name)
    way = _save(context, seen, arguments.action)
    if not seen.passes:
        why = told.checked(context, seen, is_named=role.is_named)
        return told.refuse(context, role.name, [*why, *told.stays(context, seen)], seen)
    facts = {**told.facts(role.name, lifecycle.SAVED), "moves": list(way), **told.findings(seen)}
    passed = " → ".join(way)
    told.say(
        context,
        facts,
        *told.checked(context, seen),
        f"{role.name} is saved ({passed}): {seen.file}",
    )
    told.show_states(context, role.name)
    return 0


save = lifecycle_save


def _refuse_out_of_cycle(context: Context, role: str) -> None:
    """Before anything is looked at: whoever compacts or recovers has nothing to save yet."""
    now = lifecycle_records.of(context.journal, role, told.here(context))
    if now is None or now.state in {lifecycle.ACTIVE, lifecycle.SAVING, lifecycle.SAVED}:
        return
    try:
        lifecycle.check(now.state, lifecycle.SAVING, role)
    except IllegalMove as error:
        remedy = f"`standfast context recover {role}` makes it active again; then save."
        raise IllegalMove(error.problem, remedy=remedy) from error


def _save(context: Context, seen: Seen, by: str) -> tuple[str, ...]:
    """Durable, kept, and only then called saved; a save that fails is recorded too."""
    here = told.here(context)
    if lifecycle_records.of(context.journal, seen.role, here) is None:
        _refuse_taken(context, seen.role)
    context.may_write()
    author = context.author
    if seen.passes and seen.data is not None:
        role_files.make_durable(context.place.root, seen)
        context_files.adopt(context.journal, seen.role, seen.data, author)
    elif lifecycle_records.of(context.journal, seen.role, told.here(context)) is None:
        return ()
    with context.journal.writing() as tx:
        lifecycle_records.begin(tx, seen.role, by, author, here)
        return lifecycle_records.save(tx, seen.role, by, author, here, passes=seen.passes)


def lifecycle_status(context: Context, arguments: argparse.Namespace) -> int:
    """Where one role is, or every role."""
    names = [ids.role(name) for name in arguments.names]
    context.heal()  # an edit of a states file is a move
    found = lifecycle_records.every(context.journal, told.here(context))
    if names:
        found = [each for each in found if each.role in names]
        unknown = [name for name in names if name not in {each.role for each in found}]
        if unknown:
            return told.refuse(context, unknown[0], [f"{unknown[0]} has no lifecycle here"])
    facts = [_status(context, each) for each in found]
    rows = [[each.role, each.state, str(f["since"]), _file(f)]
            for each, f in zip(found, facts, strict=True)]  # fmt: skip
    table = context.screen.table(rows) if rows else "No role has a lifecycle here."
    told.say(context, {"roles": facts}, table)
    told.tell_trouble(context)
    return 0


def _status(context: Context, found: Lifecycle) -> dict[str, object]:
    here, settings = told.here(context), context.config
    own = states_env.default(context.journal, settings.config_home, here)
    root = states_env.home(context.journal, settings.config_path or own, here=here)
    file = states_env.shown(context.journal, found, root, here)
    return {
        **told.facts(found.role, found.state),
        "machine": found.machine,
        "before": found.before,
        "since": clock.rfc3339(found.at),
        "event": found.seq,
        "file": file.path if file and not file.is_foreign else None,
        "foreign_file": file.path if file and file.is_foreign else None,
    }


def _file(facts: dict[str, object]) -> str:
    if facts["foreign_file"]:
        return f"{facts['foreign_file']} (another repository's or worktree's: set CONFIG_PATH)"
    return str(facts["file"] or "")


def lifecycle_pre_compact(context: Context, arguments: argparse.Namespace) -> int:
    """Before a compaction, by hand: whether the role is saved, and if it can be, it is."""
    role = _role(context, arguments)
    if role is None:
        told.say(context, {"role": None, "skipped": True}, "HIVEMIND_ROLE is not set: skipped")
        return 0
    seen = _look(context, role.name)
    now = lifecycle_records.of(context.journal, role.name, told.here(context))
    if not seen.passes:
        why = told.checked(context, seen, is_named=role.is_named)
        return told.refuse(context, role.name, why, seen)
    if now is not None and now.state in {lifecycle.COMPACTING, lifecycle.RECOVERING}:
        words = f"{role.name} is {now.state}, not saved: standfast context recover {role.name}"
        return told.refuse(context, role.name, [words], seen)
    if now is None or now.state != lifecycle.SAVED:
        _save(context, seen, arguments.action)
        now = lifecycle_records.of(context.journal, role.name, told.here(context))
    state = now.state if now else lifecycle.SAVED
    words = f"{role.name} is {state}: {seen.file} will do"
    told.say(
        context,
        {**told.facts(role.name, state), **told.findings(seen)},
        *told.checked(context, seen),
        words,
    )
    told.show_states(context, role.name)
    return 0


def lifecycle_recover(context: Context, arguments: argparse.Namespace) -> int:
    """Make the role active again, from wherever it is."""
    role = _role(context, arguments)
    if role is None:
        return told.refuse(context, None, [_NO_ROLE])
    if lifecycle_records.of(context.journal, role.name, told.here(context)) is None:
        return told.refuse(context, role.name, [f"{role.name} has no lifecycle here"])
    way = _activate(context, role.name, arguments.action)
    words = f"{role.name} is active ({' → '.join(way)})" if way else f"{role.name} is active"
    told.say(context, {**told.facts(role.name, lifecycle.ACTIVE), "moves": list(way)}, words)
    told.show_states(context, role.name)
    return 0


def _activate(context: Context, role: str, by: str) -> tuple[str, ...]:
    context.may_write()
    with context.journal.writing() as tx:
        return lifecycle_records.walk(
            tx, role, lifecycle.ACTIVE, by, context.author, told.here(context)
        )


# Recovering.


def recover(context: Context, arguments: argparse.Namespace) -> int:
    """All that an agent needs to go on in its role, and the role becomes active."""
    role = _role(context, arguments)
    if role is None:
        return told.refuse(context, None, [_NO_ROLE])
    seen = _look(context, role.name)
    if seen.data is None:
        why = told.checked(context, seen, is_named=role.is_named)
        return told.refuse(context, role.name, why, seen)
    if seen.fault is not None:
        raise seen.fault
    has_one = lifecycle_records.of(context.journal, role.name, told.here(context)) is not None
    if not context.json:
        print("\n".join(_shown(seen)), flush=True)
    way = _activate(context, role.name, arguments.action) if has_one else ()
    now = f"; {role.name} is active" if has_one else ""
    facts = {**told.facts(role.name, lifecycle.ACTIVE if has_one else None), "moves": list(way)}
    told.say(context, {**facts, **_recovery(seen)}, f"That is all: go on with step 1{now}.")
    if has_one:
        told.show_states(context, role.name)
    return 0


def _shown(seen: Seen) -> list[str]:
    """The whole of it, the file last; what would act on a terminal is shown instead."""
    return [
        f"Recovery of {seen.role}",
        *recovery_steps.steps(),
        recovery_steps.document("SKILL.md", seen.skill, is_there=seen.skill not in seen.missing),
        recovery_steps.document(
            "Architecture", seen.architecture, is_there=seen.architecture not in seen.missing
        ),
        *([f"Its context file has problems: standfast context validate {seen.file}"]
          if seen.errors else []),
        f"----- {seen.file}",
        printable(seen.text, keep_newlines=True).removesuffix("\n"),
        f"----- end of {seen.file}",
    ]  # fmt: skip


def _recovery(seen: Seen) -> dict[str, object]:
    return {
        "file": seen.file,
        "checklist": list(recovery_steps.CHECKLIST),
        "skill": {"path": seen.skill, "found": seen.skill not in seen.missing},
        "architecture": {
            "path": seen.architecture,
            "found": seen.architecture not in seen.missing,
        },
        "context": seen.text,
    }
