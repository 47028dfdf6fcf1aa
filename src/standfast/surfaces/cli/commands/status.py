"""`standfast status`: what needs you, what was decided, how much is recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast import clock, ids
from standfast.errors.base import NothingFound
from standfast.journal import questions
from standfast.journal.fallback import inbox
from standfast.surfaces.cli import status_lists
from standfast.surfaces.cli.screen import json_line
from standfast.text import printable

if TYPE_CHECKING:
    import argparse

    from standfast.errors.base import StandfastError
    from standfast.journal.questions import Decision, Event
    from standfast.surfaces.cli.command_context import Context

_SHOWN = 10


def configure(parser: argparse.ArgumentParser) -> None:
    """A monorepo shows one of its parts."""
    parser.add_argument("run", nargs="?", help="one run, lane by lane")
    parser.add_argument("--dir", default="", help="only what was recorded in this subdirectory")
    parser.add_argument(
        "--all", action="store_true", help="every decision and session, not only the newest"
    )


def run(context: Context, arguments: argparse.Namespace) -> int:
    """Look, heal what can be healed, and tell."""
    subdir = ids.relative_path(arguments.dir.rstrip("/"), what="--dir") if arguments.dir else ""
    context.heal()
    if arguments.run is not None:
        from standfast.surfaces.cli import run_status

        return run_status.show(context, ids.run_id(arguments.run))
    try:
        known = status_lists.gather(context, subdir, everything=arguments.all)
        found = questions.decisions(context.journal, subdir=subdir)
        last = questions.last_events(context.journal, questions.Filter(subdir=subdir or None), 1)
        count = questions.last_seq(context.journal)
    except NothingFound:
        known, found, last, count = status_lists.Known(), [], [], 0
    if context.json:
        facts = _facts(context, status_lists.needs(context, known), found, last, count)
        print(json_line({**facts, **status_lists.as_dict(context, known)}))
    else:
        shown = found if arguments.all else found[-_SHOWN:]
        told = status_lists.rows(context, known)
        print(_text(context, told, shown, len(found) - len(shown), last, count))
    return 0


def _facts(
    context: Context,
    needs: list[dict[str, object]],
    found: list[Decision],
    last: list[Event],
    count: int,
) -> dict[str, object]:
    return {
        "journal": context.place.folder,
        "events": count,
        "last_event_at": clock.rfc3339(last[0].at) if last else None,
        "not_yet_taken": [
            {"file": each.file, "says": each.words}
            for each in context.waiting
            if each.is_news and not each.refused
        ],
        "needs_you": [*(trouble.as_dict() for trouble in context.trouble), *needs],
        "decisions": [
            {
                "id": d.id,
                "text": d.text,
                "by": d.actor,
                "binds": d.binds,
                "subdir": d.subdir,
                "origin": d.origin,
                "at": clock.rfc3339(d.at),
            }
            for d in found
        ],
    }


def _text(
    context: Context,
    told: list[str],
    shown: list[Decision],
    hidden: int,
    last: list[Event],
    count: int,
) -> str:
    screen = context.screen
    troubles = [_trouble(context, trouble) for trouble in context.trouble]
    parts = [*troubles, _waiting(context), *told]
    if not count:
        parts.append('Nothing recorded here yet. Record a decision: standfast note "…"')
        return "\n".join(part for part in parts if part)
    older = [("DECIDED", "", "", f"{hidden} older: standfast status --all")] if hidden else []
    rows = [(_title(d), d.id, f"{d.actor} {clock.local_minute(d.at)}", _words(d)) for d in shown]
    parts.append(screen.table([*older, *rows], ("good", "strong", "dim")))
    newest = f"{last[0].kind} {clock.local_minute(last[0].at)}" if last else "nothing in this part"
    where = context.short(context.place.folder)
    parts.append(
        screen.table([("RECORDED", f"{count:,} events", f"last {newest}, in {where}")], ("dim",))
    )
    return "\n".join(part for part in parts if part)


def _waiting(context: Context) -> str:
    """What stands in files and is not taken in yet; whose words they are, nobody has judged."""
    news = [each for each in context.waiting if each.is_news and not each.refused]
    rows = [("NOT YET TAKEN", each.file, f"«{each.words}»") for each in news]
    return context.screen.table(rows, ("strong", "strong")) if rows else ""


def _trouble(context: Context, trouble: StandfastError) -> str:
    """What is wrong and, whole and on a line of its own, what to do."""
    row = ("NEEDS YOU", context.short(trouble.where), trouble.problem)
    remedy = printable(trouble.remedy)
    return f"{context.screen.table([row], ('bad', 'strong'))}\n           {remedy}"


def _title(decision: Decision) -> str:
    return "DECIDED" if decision.binds else "NOT BOUND"


def _words(decision: Decision) -> str:
    confirm = "" if decision.binds else f"to make it bind: standfast note --confirm {decision.id}"
    unverified = "unverified" if decision.origin == inbox.ORIGIN else ""
    marks = [decision.subdir, unverified, confirm]
    said = ", ".join(mark for mark in marks if mark)
    return f"{decision.text}  ({said})" if said else decision.text
