"""`standfast stop`: end a run and what it has running; it stays stopped until it is named again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast import clock, ids
from standfast.errors.lanes import StillRunning
from standfast.journal.author import Author
from standfast.runs import run_locks
from standfast.runs.records import run_records
from standfast.surfaces.cli import grounds, unfinished_runs
from standfast.surfaces.cli.screen import json_line
from standfast.wait_notice import HELP, Wait, named

if TYPE_CHECKING:
    import argparse

    from standfast.runs.records.run_records import Run
    from standfast.surfaces.cli.command_context import Context
    from standfast.surfaces.cli.frame import Parser

_OVER = (run_records.DONE, run_records.FORGOTTEN)  # none of its commands runs
_PATIENCE_S = 30.0
_LOOK_AGAIN_S = 0.05
_END_AGAIN_NS = 1_000_000_000


def configure(parser: Parser) -> None:
    """Which run."""
    parser.add_argument("run", help="the run")
    parser.epilog = (
        "Exits 0 when it is stopped, or nothing is left to stop; 92 when a process of it lives on;"
        " 109 when it is the original's, of which this is a copy; 112 when there is no such run."
        " The call that took the run on exits 117, whatever failed in it before."
    )


def run(context: Context, arguments: argparse.Namespace) -> int:
    """Say so in the journal first: whoever takes it on sees that and ends; then end the rest."""
    context.heal()
    found = unfinished_runs.find(context, ids.run_id(arguments.run))
    if run_records.word(context.journal, found.run_id).state not in _OVER:
        grounds.refuse_elsewhere(context, found.run_id, found.names)
    context.may_write()
    with context.journal.writing() as tx:
        word = run_records.word(context.journal, found.run_id)
        state = word.state
        if state not in (*_OVER, run_records.STOPPED):
            facts = run_records.as_it_stood(context.journal, found, word)
            run_records.tell(tx, found.run_id, run_records.STOPPED, Author(context.who), **facts)
    if state in _OVER:
        words = f"{found.run_id} is {state}: there is nothing to stop."
        print(json_line({"stopped": None, "state": state}) if context.json else words)
        return 0
    left = _end(context, found)
    if left:
        raise StillRunning(f"run {found.run_id} is stopped, but process {left} lives on")
    words = f"Stopped: {found.run_id}. `standfast resume {found.run_id}` goes on with it."
    print(json_line({"stopped": found.run_id}) if context.json else words)
    return 0


def _end(context: Context, run: Run) -> str:
    """End its commands and wait for the one who takes it on, within reason; who is left.

    Whoever is in the middle of a baseline sees the end of that, and only then the journal.
    """
    began = ended = clock.monotonic_ns()
    told = Wait(lambda: f"run {run.run_id} to stop: {_named(context, run)}; {HELP}")
    while _taken(context, run):
        now = clock.monotonic_ns()
        if now - began > _PATIENCE_S * 1e9:
            break
        if now - ended > _END_AGAIN_NS:
            run_locks.end_commands(context.journal, run.run_id)
            ended = clock.monotonic_ns()
        told.look()
        clock.pause(_LOOK_AGAIN_S)
    ended_not = map(str, run_locks.end_commands(context.journal, run.run_id))
    return ", ".join([*_taken(context, run), *ended_not])


def _taken(context: Context, run: Run) -> list[str]:
    """Who takes the run on; lanes that were begun one by one have somebody each."""
    found = _held(context, run)
    return [] if found is None else [run_locks.who(context.journal, *found)]


def _held(context: Context, run: Run) -> tuple[str, ...] | None:
    own = (run_locks.RUNS, run.run_id)
    every = [own, *((run_locks.LANES, run.run_id, *name) for name in run.names)]
    return next((each for each in every if run_locks.is_taken(context.journal, *each)), None)


def _named(context: Context, run: Run) -> str:
    found = _held(context, run)
    return named([] if found is None else run_locks.holders(context.journal, *found))
