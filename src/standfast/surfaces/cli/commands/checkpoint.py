"""`standfast checkpoint`: how far each lane of a run is, written so that it can be resumed."""

from __future__ import annotations

import os
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

from standfast import clock, disk, ids, scratch_folder
from standfast.app import faces
from standfast.clients.hooks.checkout import Checkout
from standfast.effects import ancestry
from standfast.errors.base import NoCheckpoint, PersonOnly, StandfastError, WrongUsage
from standfast.journal.id_file import home_of
from standfast.journal.journal_file import ID
from standfast.journal.store import Journal
from standfast.protocols.checkpoints.records import checkpoint_records as recorded
from standfast.protocols.checkpoints.rules import checkpoint as rules
from standfast.protocols.checkpoints.rules import checkpoint_fields as fields
from standfast.protocols.checkpoints.rules import checkpoint_hints as hinted
from standfast.protocols.resumption.records.followers import follow
from standfast.runs.records import lane_records, run_log, run_records
from standfast.surfaces.cli import checkpoint_table as shown
from standfast.surfaces.cli import troubles
from standfast.surfaces.cli.screen import json_line
from standfast.text import printable

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from standfast.protocols.checkpoints.records.checkpoint_records import Kept
    from standfast.protocols.checkpoints.rules.checkpoint import Record
    from standfast.surfaces.cli.command_context import Context
    from standfast.surfaces.cli.frame import Parser

_CARRIED = ("base_branch", "worktree_path", "log_path", "branch", "base_sha")
_NEEDED = ("run_id", "phase", "stage", "status")
_PATHS = ("worktree_path", "log_path")
_LOGGED = 5
_OPTIONS = tuple(field for field in fields.GIVEN if field.name != "timestamp")


def configure(parser: Parser) -> None:
    """What to do, and every field of a record that a caller may give."""
    parser.add_argument("action", choices=tuple(_ACTIONS), help="what to do")
    parser.add_argument("id", nargs="?", help="for `show`: the number of a write, such as CP-007")
    for field in _OPTIONS:
        said = field.says if field.kind != fields.TEXTS else f"{field.says} Repeat it."
        parser.add_argument(
            f"--{field.name.replace('_', '-')}",
            action="append" if field.kind == fields.TEXTS else "store",
            type=int if field.kind == fields.WHOLE else str,
            choices=field.one_of or None,
            help=said,
        )


def run(context: Context, arguments: argparse.Namespace) -> int:
    """Do it; then bring the file up to date, and say what stands in its way."""
    if arguments.id is not None and arguments.action != "show":
        raise WrongUsage("only `show` takes the number of a write")
    with _seen(context) if arguments.action in _READ else nullcontext():
        status = _ACTIONS[arguments.action](context, arguments)
    troubles.tell(context)
    return status


@contextmanager
def _seen(context: Context) -> Iterator[None]:
    """Who only reads sees a file that was here before any journal, in one that goes at once."""
    context.heal()
    journal = context.journal
    is_first = not journal.exists and not os.path.lexists(f"{journal.folder}{ID}")
    if not (is_first and context.has_checkpoints()):
        yield
        return
    with scratch_folder.folder() as above:
        context.journal = Journal(os.path.join(above, "journal"))
        try:
            context.take_checkpoints()
            yield
        finally:
            context.journal.close()
            context.journal = journal


def _write(context: Context, arguments: argparse.Namespace) -> int:
    """Record it, tell its number, then let the file show it."""
    said = {field.name: getattr(arguments, field.name) for field in _OPTIONS}
    given: Record = {name: value for name, value in said.items() if value is not None}
    given.setdefault("lane", ids.NO_LANE)
    lacking = [f"--{name.replace('_', '-')}" for name in _NEEDED if name not in given]
    if lacking:
        raise WrongUsage(f"a checkpoint needs {', '.join(lacking)}")
    key = rules.key(given)
    _refuse_its_agent(context, key)
    context.may_write()
    context.take_checkpoints()  # those that are there came before
    face = faces.checkpoints_face(context.journal, context.place, context.config.checkpoints_file)
    author = context.author
    with context.journal.writing() as tx:
        record = _complete(context, given, key, face.root)
        fields.check(record)
        number = recorded.upsert(tx, record, author)
        follow(tx, author)
        faces.claim(tx, context.journal, face)  # if we die now, the next command writes the file
    if context.json:
        print(json_line({"id": number, "path": face.path, "record": record}), flush=True)
    else:
        print(f"Recorded {number}: {key} {record['status']}", flush=True)
    context.heal(checkpoints=True)  # after the acknowledgement: it undoes nothing
    return 0


def _refuse_its_agent(context: Context, key: rules.Key) -> None:
    """How far a lane is that Standfast runs, Standfast says: an agent could rewrite its past."""
    if not context.journal.exists or not ancestry.is_an_agents():
        return
    is_ours = run_records.find(context.journal, key.run_id) or lane_records.find(
        context.journal, key[:3]
    )
    if is_ours is not None:
        raise PersonOnly(
            f"an agent of Standfast tells how far {'/'.join(key[:3])} is, which Standfast runs",
            remedy="Nothing is to be told: what the lane has done is looked at.",
        )


def _complete(context: Context, given: Record, key: rules.Key, root: str) -> Record:
    """What the caller left out: as the lane's last record has it, else as it is here."""
    before = recorded.latest_own(context.journal, key.run_id, key.phase, key.lane)
    kept: Record = {}
    if before is not None:
        kept = {name: before.record[name] for name in _CARRIED if name in before.record}
    here: Record = {
        "worktree_path": context.place.root,
        "log_path": os.path.join(root, os.path.dirname(faces.CHECKPOINTS_FILE),
                                 f"{key.run_id}.jsonl"),
        "notes": "",
    }  # fmt: skip
    branch = Checkout(root).branch()
    if branch is not None:
        here["base_branch"] = branch
    for name in _PATHS:
        if name in given:
            base = os.path.realpath(context.directory)
            given[name] = os.path.normpath(os.path.join(base, str(given[name])))
    stamp = {"timestamp": clock.rfc3339(clock.now_us())}
    return fields.in_order(fields.noted({**here, **kept, **given, **stamp}))


def _list(context: Context, arguments: argparse.Namespace) -> int:
    """Every current record that fits, oldest write first."""
    found = _matching(context, arguments)
    if context.json:
        path = _face_path(context)
        print(json_line({"path": path, "checkpoints": [kept.record for kept in found],
                         "from_repository": shown.foreign(found)}))  # fmt: skip
    else:
        print(shown.rows(context.screen, found) or "No checkpoints yet.")
    return 0


def _matching(context: Context, arguments: argparse.Namespace) -> list[Kept]:
    found = recorded.current(context.journal, arguments.run_id, arguments.phase, arguments.lane)
    return [
        kept
        for kept in found
        if arguments.stage in (None, kept.key.stage) and arguments.status in (None, kept.status)
    ]


def _latest(context: Context, arguments: argparse.Namespace) -> int:
    """The record that was written last."""
    kept = _newest(context, arguments)
    print(json_line(kept.record) if context.json else shown.rows(context.screen, [kept]))
    return 0


def _newest(context: Context, arguments: argparse.Namespace) -> Kept:
    found = _matching(context, arguments)
    if not found:
        raise NoCheckpoint(f"there is no such checkpoint{shown.known(context.journal)}")
    return found[-1]


def _show(context: Context, arguments: argparse.Namespace) -> int:
    """One record, what came before it, the end of its log, and what to do next."""
    kept = _by_id(context, arguments.id) if arguments.id else _newest(context, arguments)
    before = [
        each for each in recorded.history(context.journal, kept.key.run_id) if each.key == kept.key
    ]
    log = _log(context, kept)
    root, path = _root(context), _face_path(context)
    prompt = hinted.prompt(kept.key, kept.status, path, root)
    made = hinted.hints(kept.key, root)
    whole: Record = {**kept.record, **dict(zip(rules.HINTS, made, strict=True))}
    if context.json:
        history = [each.record for each in before]
        print(json_line({"checkpoint": whole, "history": history, "log": log.entries,
                         "torn": log.torn, "path": path, "prompt": prompt,
                         "from_repository": kept.is_foreign}))  # fmt: skip
    else:
        told = shown.whole(context.screen, whole, before, log, is_foreign=kept.is_foreign)
        print(told)
        print(f"\n{prompt}")
    return 0


def _by_id(context: Context, said: str) -> Kept:
    """A write by its number, also one that another has followed."""
    number = ids.name(said, what="id")
    now = (kept for kept in recorded.current(context.journal) if kept.id == number)
    found = next(now, None) or recorded.find(context.journal, number)
    if found is None:
        raise NoCheckpoint(f"there is no {number}{shown.known(context.journal)}")
    return found


def _log(context: Context, kept: Kept) -> run_log.Tail:
    """The end of the log that the record names; one that cannot be read is told, not fatal."""
    path = kept.record.get("log_path")
    if not isinstance(path, str) or not os.path.isabs(path):
        return run_log.Tail()
    try:
        is_ours = lane_records.find(context.journal, kept.key[:3]) is not None
        key = run_log.key(context.place.folder) if is_ours else None
        found = run_log.tail_beneath(_allowed(context), path, _LOGGED, key)
        return found._replace(entries=tuple(map(run_log.unproved, found.entries)))
    except StandfastError as error:
        context.trouble.append(error)
        return run_log.Tail()


def _allowed(context: Context) -> tuple[str, ...]:
    """Where a log may lie that a record names: anybody may have written the record."""
    place = context.place
    return (_root(context), place.root, *([home_of(place.folder)] if place.in_git else []))


def _root(context: Context) -> str:
    return faces.checkpoints_root(context.journal, context.place)


def _face_path(context: Context) -> str:
    relative = context.config.checkpoints_file or faces.CHECKPOINTS_FILE
    return os.path.join(_root(context), relative)


def _keep(context: Context, _arguments: argparse.Namespace) -> int:
    """Bring the file up to date: a large run has that done by a process of its own."""
    path = _face_path(context)
    before = disk.identity(path)
    context.heal(checkpoints=True)
    is_new = disk.identity(path) != before  # a file is never rewritten, but replaced
    file = context.config.checkpoints_file or faces.CHECKPOINTS_FILE
    if context.json:
        print(json_line({"file": file, "kept": is_new}))
    elif context.trouble:
        return 0
    elif before is None and not is_new:
        print(f"No checkpoints yet, and no {printable(file)}")
    else:
        print(f"Kept {printable(file)}" if is_new else f"In place: {printable(file)}")
    return 0


_ACTIONS = {"keep": _keep, "write": _write, "list": _list, "show": _show, "latest": _latest}
_READ = ("list", "show", "latest")
