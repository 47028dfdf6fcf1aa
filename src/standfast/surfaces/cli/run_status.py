"""One run as `status RUN` shows it: every lane, wave by wave, and what a person is to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast.journal import runs
from standfast.protocol.schedule import Outcome
from standfast.run import taking
from standfast.surfaces.cli import run_resuming, runs_listed
from standfast.surfaces.cli.run_rows import HEAD, rows
from standfast.surfaces.cli.screen import json_line

if TYPE_CHECKING:
    from standfast.surfaces.cli.context import Context


def show(context: Context, run_id: str) -> int:
    """Print it; nothing is changed."""
    run = run_resuming.find(context, run_id)
    lanes = runs_listed.look(context, run)
    found = list(rows(context.journal, run, lanes))
    word, state = runs.word(context.journal, run_id), runs_listed.stands(context, run, lanes)
    is_taken = taking.is_taken(context.journal, taking.RUNS, run_id)
    taken_by = taking.holders(context.journal, taking.RUNS, run_id) if is_taken else []
    if context.json:
        seen = not is_taken and state in list(Outcome)  # else nobody saw its end
        print(json_line({"run_id": run_id, "state": word.state,
                         "outcome": state.replace(" ", "_") if seen else None,
                         "processes": taken_by, "base": run.base, "plan": run.file,
                         "lanes": [row.as_dict() for row in found]}))  # fmt: skip
        return 0
    if is_taken:
        state = f"taken on by {f'process {taken_by[0]}' if taken_by else 'a process'}"
    elif word.state == runs.FORGOTTEN:
        state += ", and forgotten"
    print(f"{run_id}: {state}, into {run.base}" + (f", from {run.file}" if run.file else ""))
    print(context.screen.table([HEAD, *(row.cells() for row in found)], ("dim", "strong")))
    return 0
