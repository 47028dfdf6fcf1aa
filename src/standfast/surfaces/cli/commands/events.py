"""`standfast events`: what was recorded, filtered, or followed as it comes in."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from standfast import clock, ids
from standfast.errors.base import NothingFound, WrongUsage
from standfast.journal import questions
from standfast.surfaces.cli import answer_streams
from standfast.surfaces.cli.screen import json_line

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from standfast.journal.questions import Event, Filter
    from standfast.surfaces.cli.command_context import Context

_LOOK_EVERY_S = 0.2


def configure(parser: argparse.ArgumentParser) -> None:
    """Which events, and how many."""
    parser.add_argument("--kind", help="this kind and the kinds below it: `decision`")
    parser.add_argument("--run", help="of this run")
    parser.add_argument("--session", help="of this session")
    parser.add_argument("--actor", help="by this actor")
    parser.add_argument("--dir", help="recorded in this subdirectory")
    parser.add_argument("--after", type=int, default=0, help="only after this sequence number")
    parser.add_argument("-n", "--last", type=int, default=20, help="the newest N (20); 0 for all")
    parser.add_argument("-f", "--follow", action="store_true", help="go on as events come in")


def run(context: Context, arguments: argparse.Namespace) -> int:
    """Print matching events; `--json` is one object a line."""
    wanted = _filter(arguments)
    context.heal()
    try:
        _tell_dropped(context, arguments)
        last = _print(context, _chosen(context, wanted, arguments.last))
        seen = max(last, questions.last_seq(context.journal))
    except NothingFound:
        if not arguments.follow:
            raise
        seen = 0
    while arguments.follow:
        answer_streams.go_on_if_heard()  # who follows through a pipe waits for each line
        clock.pause(_LOOK_EVERY_S)
        seen = _follow(context, wanted, seen)
    return 0


def _tell_dropped(context: Context, arguments: argparse.Namespace) -> None:
    """Who asks for all of them hears that they are not all; lines of JSON stay lines of JSON."""
    ((first,),) = context.journal.query("SELECT ifnull(min(seq), 1) FROM events")
    if arguments.last == 0 and arguments.after < first - 1:
        words = f"events 1 to {first - 1:,} were dropped on purpose: they were too old or too much"
        print(words, file=sys.stderr, flush=True)


def _filter(arguments: argparse.Namespace) -> Filter:
    if arguments.last < 0 or arguments.after < 0:
        raise WrongUsage("counts and sequence numbers are not negative")
    for name in ("kind", "run", "session", "actor"):
        value = getattr(arguments, name)
        if value is not None:
            ids.name(value, what=f"--{name}")
    return questions.Filter(
        after=min(arguments.after, 2**62),
        kind=arguments.kind,
        run=arguments.run,
        session=arguments.session,
        actor=arguments.actor,
        subdir=ids.relative_path(arguments.dir, what="--dir") if arguments.dir else None,
    )


def _chosen(context: Context, wanted: Filter, last: int) -> Iterable[Event]:
    if last == 0:
        return questions.events(context.journal, wanted)
    return questions.last_events(context.journal, wanted, min(last, 2**62))


def _follow(context: Context, wanted: Filter, seen: int) -> int:
    try:
        newest = questions.last_seq(context.journal)
    except NothingFound:
        return seen
    if newest > seen:
        _print(context, questions.events(context.journal, wanted._replace(after=seen)))
    return newest


def _print(context: Context, found: Iterable[Event]) -> int:
    seq = 0
    for event in found:
        seq = event.seq
        if context.json:
            print(json_line(event.as_dict()))
        else:
            print(context.screen.table([_row(event)], ("dim", "dim", "", "strong")))
    return seq


def _row(event: Event) -> tuple[str, ...]:
    stream = event.run or event.session or "-"
    return (
        f"{event.seq:>6}",
        clock.local_minute(event.at),
        f"{stream:<10} {event.actor:<8}",
        f"{event.kind:<18}",
        _said(event),
    )


def _said(event: Event) -> str:
    """The payload in short: an id and its words as people say them, else the JSON."""
    payload = event.as_dict()["payload"]
    if isinstance(payload, dict) and set(payload) == {"id", "text"}:
        return f"{payload['id']} {payload['text']}"
    return event.payload
