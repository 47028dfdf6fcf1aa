"""`standfast logs`: what a run or a lane said, and what it says from now on."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from standfast import clock, disk
from standfast.app import faces
from standfast.errors.base import WrongUsage
from standfast.errors.lanes import RunUnknown
from standfast.protocols.resumption.rules.staleness import SECOND_US, seconds
from standfast.runs import run_locks
from standfast.runs.lanes import lane_watch
from standfast.runs.lanes.lane_context import is_taken
from standfast.runs.records import lane_records, run_log
from standfast.surfaces.cli import answer_streams
from standfast.surfaces.cli.screen import json_line, warn
from standfast.text import one_line, printable

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Mapping

    from standfast.formats.document_limits import Value
    from standfast.plans.lane_spec import Spec
    from standfast.surfaces.cli.command_context import Context
    from standfast.surfaces.cli.frame import Parser

_SHOWN = 200
_MOST = 4 * 1024 * 1024
_LOOK_AGAIN_S = 0.3


def configure(parser: Parser) -> None:
    """Which run or lane, and whether to go on."""
    parser.add_argument("name", nargs="?", help="a run, a lane, or RUN/PHASE/LANE (the last run)")
    parser.add_argument("-f", "--follow", action="store_true", help="go on as more is said")
    parser.add_argument("-n", type=int, default=_SHOWN, metavar="N", help="the last N lines (200)")


def run(context: Context, arguments: argparse.Namespace) -> int:
    """Print the log; of one lane also the last words of the command that it ran last."""
    if arguments.n < 1:
        raise WrongUsage("-n is a number of lines, from 1 on")
    context.heal()
    specs = _meant(context, arguments.name)
    log = _Log(context, specs)
    _print(context, log.entries()[-arguments.n :])
    if log.foreign:
        warn(f"lines in the log that are not Standfast's were passed over: {log.foreign}")
    if not arguments.follow:
        _print_last_words(context, specs)
    while arguments.follow and _goes_on(context, specs, log):
        answer_streams.go_on_if_heard()
        clock.pause(_LOOK_AGAIN_S)
    return 0


def _meant(context: Context, said: str | None) -> list[Spec]:
    """The lanes that a name means: those of a run, or one; of several runs the last one's."""
    every = lane_records.every(context.journal) if context.journal.exists else []
    if said is None:
        found = [spec for spec in every if spec.run_id == every[-1].run_id]
    else:
        found = [spec for spec in every if said == spec.run_id] or [
            spec for spec in every if said in _ways_to_say(spec)
        ][-1:]
    if not found:
        runs = ", ".join(dict.fromkeys(spec.run_id for spec in every)) or "none"
        name = f"`{one_line(said, 60)}`" if said else "anything yet"
        raise RunUnknown(f"there is no run or lane {name}; runs known here: {runs}")
    return found


def _ways_to_say(spec: Spec) -> tuple[str, ...]:
    run_id, phase, lane = spec.names
    return lane, f"{phase}/{lane}", f"{run_id}/{lane}", "/".join(spec.names)


class _Log:
    """A run's log, read from where it was read last."""

    def __init__(self, context: Context, specs: Iterable[Spec]) -> None:
        self._lanes = {(spec.phase, spec.lane) for spec in specs}
        root = faces.checkpoints_root(context.journal, context.place)
        folder = os.path.dirname(faces.CHECKPOINTS_FILE)
        run_id = next(iter(specs)).run_id
        self._run_id = run_id
        self._path = os.path.join(root, folder, f"{run_id}.jsonl")
        self._key = run_log.key(context.place.folder)
        self._offset = 0
        self._seen: set[Value] = set()
        self.foreign = 0  # lines of others

    def entries(self) -> list[dict[str, Value]]:
        """What is new in it, whole lines only, about these lanes."""
        try:
            fd = disk.open_regular(self._path)
        except OSError:
            return []
        try:
            size = os.fstat(fd).st_size
            known = self._offset if self._offset <= size else 0  # else it was cut short
            start = max(known, size - _MOST)
            data = os.pread(fd, _MOST, start)
        finally:
            os.close(fd)
        whole = data[: data.rfind(b"\n") + 1]
        self._offset = start + len(whole)
        found = run_log.read_tail(whole, _MOST, self._key)
        self.foreign += found.foreign
        return [run_log.unproved(each) for each in found.entries if self._is_meant(each)]

    def _is_meant(self, entry: Mapping[str, Value]) -> bool:
        """Whether it is about these lanes; one that stands there again is none of ours."""
        if run_log.missing_in(entry) or entry["run_id"] != self._run_id:
            return False
        is_new = entry[run_log.PROOF] not in self._seen
        self._seen.add(entry[run_log.PROOF])
        return is_new and (entry["phase"], entry["lane"]) in self._lanes


def _print(context: Context, entries: Iterable[Mapping[str, Value]]) -> None:
    for entry in entries:
        if context.json:
            print(json_line(dict(entry)), flush=True)
            continue
        said = str(entry.get("notes") or entry.get("cmd") or "").splitlines()
        mark = "" if entry["status"] == "ok" else f"[{entry['status']}] "
        task = "" if entry["task"] == "-" else f" {entry['task']}"
        words = f"{mark}{said[0] if said else ''}"
        where = f"{entry['phase']}/{entry['lane']}"
        line = f"{_local(entry['ts'])}  {where}  {entry['event']}{task}  {words}"
        print(printable(line).rstrip(), flush=True)


def _local(stamp: object) -> str:
    """As `events` has it; a line that somebody else wrote may have no time at all."""
    second = seconds(stamp)
    return str(stamp) if second is None else clock.local_minute(second * SECOND_US)


def _print_last_words(context: Context, specs: list[Spec]) -> None:
    if len(specs) != 1 or context.json:
        return
    words = lane_watch.last_words(context.journal, specs[0])
    if words:
        shown = printable(words, keep_newlines=True)  # it may speak to the terminal
        quoted = "\n".join(f"| {line}" for line in shown.split("\n"))  # none passes for ours
        print(f"--- the end of what it said last\n{quoted}", flush=True)


def _goes_on(context: Context, specs: list[Spec], log: _Log) -> bool:
    """Whether more may come: somebody takes the run on, or has just stopped doing so."""
    goes_on = run_locks.is_taken(context.journal, run_locks.RUNS, specs[0].run_id) or any(
        is_taken(context.journal, spec.names) for spec in specs
    )
    _print(context, log.entries())
    return goes_on
