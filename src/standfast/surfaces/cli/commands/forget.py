"""`standfast forget`: a session or a run is never listed or injected again; its events stay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast import ids
from standfast.brief import sessions
from standfast.effects import orphans
from standfast.errors.lanes import RunBusy
from standfast.journal.author import Author
from standfast.runs import run_locks
from standfast.runs.lanes.lane_context import is_taken
from standfast.runs.records import run_records
from standfast.surfaces.cli import unfinished_runs
from standfast.surfaces.cli.screen import json_line

if TYPE_CHECKING:
    import argparse

    from standfast.runs.records.run_records import Run
    from standfast.surfaces.cli.command_context import Context


def configure(parser: argparse.ArgumentParser) -> None:
    """What to forget."""
    parser.add_argument("session", metavar="SESSION", help="a session, or how its id begins; a run")


def run(context: Context, arguments: argparse.Namespace) -> int:
    """Leave a tombstone that no hook and no file undoes."""
    context.may_write()
    found = unfinished_runs.known(context, arguments.session)
    if found is not None:
        return _forget_run(context, found)
    meant = sessions.find(context.journal.query, ids.session_id(arguments.session))
    was = bool(meant.forgotten)
    if not was:
        context.journal.append("session.forgotten", {"session": meant.session}, context.author)
    what, stays = f"session {meant.session[:8]}", "What it recorded stays in the journal."
    return _tell(context, meant.session, what, stays, was=was)


def _tell(context: Context, name: str, what: str, stays: str, *, was: bool) -> int:
    """Whoever forgets twice hears that once was enough."""
    words = f"Nothing to do: {what} was forgotten before." if was else f"Forgotten: {what}. {stays}"
    print(json_line({"forgotten": name, "was_forgotten": was}) if context.json else words)
    context.heal()
    return 0


def _forget_run(context: Context, run: Run) -> int:
    """Its branches, worktrees and records stay as they are; one that goes on is not forgotten."""
    run_id = run.run_id
    with run_locks.taken(context.journal, run_locks.RUNS, run_id):
        for name in run.names:
            if is_taken(context.journal, (run_id, *name)):
                raise RunBusy(f"lane {'/'.join(name)} of {run_id} is being worked on")
        left = run_locks.commands(context.journal, run_id)
        if any(each.state != orphans.IN_DOUBT for each in left):
            raise RunBusy(f"a command of {run_id} still runs, which nobody would hear of any more")
        with context.journal.writing() as tx:
            word = run_records.word(context.journal, run_id)
            was = word.state == run_records.FORGOTTEN
            if not was:
                facts = run_records.as_it_stood(context.journal, run, word)
                facts["before"] = word.state
                run_records.tell(tx, run_id, run_records.FORGOTTEN, Author(context.who), **facts)
    stays = "Its branches, worktrees and records stay."
    return _tell(context, run_id, f"run {run_id}", stays, was=was)
