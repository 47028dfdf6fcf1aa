"""One run as `status RUN` shows it: every lane, wave by wave, and what a person is to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast.runs import run_locks
from standfast.runs.records import run_records
from standfast.runs.rules.schedule import Outcome
from standfast.surfaces.cli import run_list, unfinished_runs
from standfast.surfaces.cli.run_rows import HEAD, rows
from standfast.surfaces.cli.screen import json_line

if TYPE_CHECKING:
    from standfast.surfaces.cli.command_context import Context


def show(context: Context, run_id: str) -> int:
    """Print it; nothing is changed."""
    run = unfinished_runs.find(context, run_id)
    lanes = run_list.look(context, run)
    found = list(rows(context.journal, run, lanes))
    word, state = run_records.word(context.journal, run_id), run_list.stands(context, run, lanes)
    is_taken = run_locks.is_taken(context.journal, run_locks.RUNS, run_id)
    taken_by = run_locks.holders(context.journal, run_locks.RUNS, run_id) if is_taken else []
    if context.json:
        seen = not is_taken and state in list(Outcome)  # else nobody saw its end
        print(json_line({"run_id": run_id, "state": word.state,
                         "outcome": state.replace(" ", "_") if seen else None,
                         "processes": taken_by, "base": run.base, "plan": run.file,
                         "lanes": [row.as_dict() for row in found]}))  # fmt: skip
        return 0
    if is_taken:
        state = f"taken on by {f'process {taken_by[0]}' if taken_by else 'a process'}"
    elif word.state == run_records.FORGOTTEN:
        state += ", and forgotten"
    print(f"{run_id}: {state}, into {run.base}" + (f", from {run.file}" if run.file else ""))
    print(context.screen.table([HEAD, *(row.cells() for row in found)], ("dim", "strong")))
    return 0
