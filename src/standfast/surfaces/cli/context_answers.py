"""How `standfast context` says what came of it: to people, to machines, in the states file."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from standfast.errors.base import StandfastError
from standfast.protocols.context.files import role_places, states_env
from standfast.protocols.context.records import lifecycle_records
from standfast.protocols.context.rules import lifecycle
from standfast.surfaces.cli.context_findings import absent, of_role, told
from standfast.surfaces.cli.screen import json_line
from standfast.text import printable

if TYPE_CHECKING:
    from standfast.protocols.context.files.role_files import Seen
    from standfast.protocols.context.records.lifecycle_records import Here
    from standfast.surfaces.cli.command_context import Context

_NUMBERS = {state: number for number, state in lifecycle.STATES.items()}


def here(context: Context) -> Here:
    """The checkout whose lifecycles are meant."""
    return role_places.here(context.journal, context.place)


def facts(role: str, state: str | None, **more: object) -> dict[str, object]:
    """Who, and where in the cycle: what every answer for machines begins with."""
    number = _NUMBERS[state] if state is not None else None
    return {"role": role, "state": state, "state_id": number, **more}


def findings(seen: Seen) -> dict[str, object]:
    """What the check said of the file, for machines."""
    return of_role(seen).as_dict()


def checked(context: Context, seen: Seen, *, is_named: bool = True) -> list[str]:
    """The same for people, one item a finding; a file that is not there has only its absence.

    A role that nobody named comes from the environment, and that may be that of another time.
    """
    if seen.data is None:
        stale = "" if is_named else " (HIVEMIND_ROLE may be stale)"
        return [f"{seen.file} does not exist{stale}. {absent(seen.role).remedy}"]
    if seen.fault is not None:
        return [printable(f"{seen.fault.where or seen.file}: {seen.fault.problem}")]
    return [told(context.screen, of_role(seen))]


def stays(context: Context, seen: Seen) -> list[str]:
    """Where a role is that could not be saved, and what a valid file lacks for it."""
    now = lifecycle_records.of(context.journal, seen.role, here(context))
    words = f"{seen.role} is not saved"
    if seen.stops and not seen.errors:
        lines = ", ".join(str(each.line) for each in seen.stops)
        words += f": fill in line{'s' if len(seen.stops) > 1 else ''} {lines} of {seen.file} first"
    return [f"{words}; it stays {now.state}" if now else words]


def refuse(context: Context, role: str | None, why: list[str], seen: Seen | None = None) -> int:
    """A check that failed, or nobody to speak of: said, with the status that says so."""
    if context.json:
        found = findings(seen) if seen is not None else {}
        print(json_line({"role": role, "ok": False, "problems": why, **found}))
    else:
        print("\n".join(why), file=sys.stderr)
    return 1


def say(context: Context, known: dict[str, object], *lines: str) -> None:
    """One object for machines, lines for people."""
    if context.json:
        print(json_line(known), flush=True)
    else:
        print("\n".join(lines), flush=True)


def show_states(context: Context, role: str) -> None:
    """After the acknowledgement: the states file, and whatever else waits."""
    settings = context.config
    try:
        at = here(context)
        own = states_env.default(context.journal, settings.config_home, at)
        root = states_env.home(context.journal, own, settings.config_path, at)
        outcome = states_env.keep(context.journal, role, root, at)
        if outcome is not None and outcome.refused is not None:
            context.trouble.append(outcome.refused)
    except StandfastError as error:
        context.trouble.append(error)
    context.heal()
    tell_trouble(context)


def tell_trouble(context: Context) -> None:
    """What could not be done by the way."""
    told = dict.fromkeys(f"but {t.where}: {t.problem}. {t.remedy}" for t in context.trouble)
    for line in told:
        print(printable(line), file=sys.stderr)
