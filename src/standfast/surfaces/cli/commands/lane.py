"""`standfast lane`: run one lane to its merge, resume it, and go back without losing anything."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from standfast import ids
from standfast.app import faces
from standfast.errors.base import NoCheckpoint, NotARepository, WrongUsage
from standfast.protocols.checkpoints.records import checkpoint_records as recorded
from standfast.protocols.checkpoints.rules import checkpoint as rules
from standfast.protocols.checkpoints.rules import checkpoint_hints as hinted
from standfast.runs.records import lane_records, rollback_records, run_records
from standfast.runs.rules import lane_view
from standfast.surfaces.cli import checkpoint_table as shown
from standfast.surfaces.cli import grounds, lane_runs, troubles, trust_question
from standfast.surfaces.cli.screen import json_line, speak
from standfast.text import printable

if TYPE_CHECKING:
    import argparse

    from standfast.plans.lane_spec import Spec
    from standfast.protocols.checkpoints.records.checkpoint_records import Kept
    from standfast.runs.lanes.lane_rollback import Done
    from standfast.runs.records.run_records import Run
    from standfast.runs.rules.lane_view import Lane
    from standfast.surfaces.cli.command_context import Context
    from standfast.surfaces.cli.frame import Parser

_FLAGS = {"--resume": "resume", "--rollback": "rollback"}


def rewrite(words: list[str]) -> list[str]:
    """The protocol says `--resume` and `--rollback`; here they are what to do, instead of `run`."""
    said = [word for word in words if word in _FLAGS]
    if said and "run" in words:
        words = [word for word in words if word != "run"]
    return [_FLAGS.get(word, word) for word in words]


def configure(parser: Parser) -> None:
    """What to do with which lane."""
    parser.add_argument("action", choices=tuple(_ACTIONS), help="what to do")
    parser.add_argument("--run-id", help="the run; `run` makes one up if need be")
    parser.add_argument("--phase", required=True, help="the phase, such as P1")
    parser.add_argument("--lane", default=ids.NO_LANE, help="the lane; `-` for a whole phase")
    parser.add_argument("--to", choices=rules.STAGES, help="for `rollback`: the stage to go to")
    trust_question.configure(parser)
    parser.add_argument("--base-rewritten", action="store_true",
                        help="for `resume`: a person rewrote the base branch, and it is well so"
                        )  # fmt: skip
    parser.add_argument("--settings-changed", action="store_true",
                        help="for `resume`: a person changed git's settings here, and it is well so"
                        )  # fmt: skip
    lane_runs.configure(parser)


def run(context: Context, arguments: argparse.Namespace) -> int:
    """Do it, and say what stands in the way of the files."""
    phase, lane = ids.name(arguments.phase, what="phase"), ids.lane(arguments.lane)
    if arguments.run_id is None and arguments.action != "run":
        raise WrongUsage(f"`lane {arguments.action}` needs --run-id")
    if arguments.to is not None and arguments.action != "rollback":
        raise WrongUsage("--to is for `lane rollback`")
    is_word = arguments.base_rewritten or arguments.settings_changed
    if is_word and (arguments.action != "resume" or lane == ids.NO_LANE):
        raise WrongUsage("--base-rewritten and --settings-changed are for `lane resume` of a lane")
    names = (ids.run_id(arguments.run_id or lane_runs.new_id(phase, lane)), phase, lane)
    if not context.place.in_git:
        raise NotARepository("lanes are branches: this is no git repository")
    grounds.stand(context)
    context.heal(writes=True)  # what others wrote into the file counts
    whole = run_records.find(context.journal, names[0]) if lane == ids.NO_LANE else None
    if whole is not None and any(name == phase for name, *_ in whole.phases):
        status = _of_phase(context, whole, names, arguments)
    else:
        status = _ACTIONS[arguments.action](context, names, arguments)
    troubles.tell(context)
    return status


def _records(context: Context, names: tuple[str, str, str]) -> list[Kept]:
    found = recorded.current(context.journal, *names)
    if not found:
        lane = "/".join(names)
        raise NoCheckpoint(f"there is no checkpoint of {lane}{shown.known(context.journal)}")
    return found


def _of_phase(
    context: Context, whole: Run, names: tuple[str, str, str], arguments: argparse.Namespace
) -> int:
    """A phase of a plan goes on, or back, with all its lanes."""
    from standfast.surfaces.cli import run_calls as going
    from standfast.surfaces.cli import run_rollback

    phase = names[1]
    if arguments.action != "rollback":
        return going.take_on(context, [whole], phase=phase, given=arguments.trust)
    wanted = [name for name in whole.names if name[0] == phase]
    status = run_rollback.roll_back(context, whole, wanted, arguments.to, arguments.trust)
    if not context.json:
        print(_prompt(context, _records(context, names)[-1]), flush=True)
    return status


def _run(context: Context, names: tuple[str, str, str], arguments: argparse.Namespace) -> int:
    """Begin a lane, or go on with it."""
    return _take_on(context, lane_runs.wanted(context, names, arguments), arguments)


def _take_on(
    context: Context, spec: Spec, arguments: argparse.Namespace, told_before: str = ""
) -> int:
    lane_runs.take_on(context, spec, arguments.trust, told_before)
    last = _records(context, spec.names)[-1]
    context.heal(checkpoints=True)
    if context.json:
        print(json_line({**_whole(context, last), "worktree": spec.worktree}))
    else:
        print(f"Done: {'/'.join(spec.names)}, {last.record.get('notes')}")
    return 0


def _resume(context: Context, names: tuple[str, str, str], arguments: argparse.Namespace) -> int:
    """Say where it is, then go on; a lane that others work on is told of, and left alone."""
    spec = lane_records.find(context.journal, names)
    if spec is None:
        return _explain(context, names)
    if arguments.base_rewritten:
        lane_runs.accept_base(context, spec)
    if arguments.settings_changed:
        lane_runs.accept_settings(context, spec)
    prompt = _prompt(context, _records(context, names)[-1])
    if not context.json:
        speak(prompt, sys.stdout)
    return _take_on(context, spec, arguments, prompt)


def _explain(context: Context, names: tuple[str, str, str]) -> int:
    """Where it is, what is there and what is gone, and what to do; nothing is changed."""
    from standfast.runs.lanes import lane_look as looking

    kept = _records(context, names)
    records = [each.record for each in kept]
    lane = looking.look(_root(context), names, records)
    start, done = lane_view.starts_from(records), lane_view.done(records)
    found = lane_view.findings(lane, records)
    if _is_cut_short(context, names):
        found.insert(0, "A rollback of this lane was cut short: call it again, it goes on.")
    prompt = _prompt(context, kept[-1])
    if context.json:
        print(json_line({**_whole(context, kept[-1]), "from": start, "done": done,
                         "found": found, "world": _as_dict(lane), "prompt": prompt,
                         "from_repository": shown.foreign(kept)}))  # fmt: skip
        return 0
    print(prompt)
    if any(each.is_foreign for each in kept):
        print(shown.FOREIGN)
    print(f"Resume starts from: {start}; done before it: {', '.join(done) or 'nothing'}")
    print("\n".join(found))
    _print_backups(lane.backups)
    return 0


def _is_cut_short(context: Context, names: tuple[str, str, str]) -> bool:
    last = rollback_records.last(context.journal, *names)
    return last is not None and not last.is_done


def _print_backups(refs: tuple[str, ...]) -> None:
    for ref in refs:
        print(f"Kept by a rollback: {printable(ref)}")


def _rollback(context: Context, names: tuple[str, str, str], arguments: argparse.Namespace) -> int:
    """Keep everything, go back, and tell where everything is."""
    from standfast.runs.lanes import lane_rollback

    last = _records(context, names)[-1]
    grounds.refuse_elsewhere(context, names[0], [names[1:]])
    context.may_write()
    trust_question.see_to_command(context, "/".join(("lane", *names)), arguments.trust)
    author = context.author
    log = lane_view.text(last.record, "log_path")
    spare = {_face_path(context), *([log] if log else [])}
    asked = lane_rollback.Asked(*names, to=arguments.to)

    done = lane_rollback.roll_back(
        context.journal,
        _root(context),
        asked,
        author,
        spare,
        context.config.worktree_roots,
        lambda found: trust_question.see_to_records(context, found, arguments.trust),
    )
    now = _records(context, names)[-1]
    context.heal(checkpoints=True)
    if context.json:
        print(json_line({**_whole(context, now), **_outcome(done)}))
    else:
        print("\n".join([*_said(done), "", _prompt(context, now)]))
    return 0


def _said(done: Done) -> list[str]:
    where = f"{done.aim.stage}, {done.aim.sha[:12]}"
    if done.told is None:
        return [f"Nothing to do: the lane is at {where} and nothing else is there."]
    told = [f"Rolled back to {where}."]
    if not done.told.backups:
        told.append("Nothing had to be kept: that commit has all that was there.")
    told += [
        f"Kept: {printable(ref)} (see `git show {printable(ref)}`)" for ref in done.told.backups
    ]
    told += [f"Left, as it changed meanwhile: {printable(name)}" for name in done.left]
    if done.told.marks:
        told.append(f"Marked rolled_back: {', '.join(done.told.marks)}")
    return told


def _outcome(done: Done) -> dict[str, object]:
    return {
        "moved": done.moved,
        "to_stage": done.aim.stage,
        "target": done.aim.sha,
        "backup": done.told.backup if done.told else None,
        "backups": list(done.told.backups) if done.told else [],
        "marked": list(done.told.marks) if done.told else [],
        "left": list(done.left),
    }


def _as_dict(lane: Lane) -> dict[str, object]:
    said = lane._asdict()
    return {**said, "worktree": lane.worktree._asdict(), "commits": sorted(lane.commits)}


def _whole(context: Context, kept: Kept) -> dict[str, object]:
    made = hinted.hints(kept.key, _root(context))
    record = {**kept.record, **dict(zip(rules.HINTS, made, strict=True))}
    return {"checkpoint": record, "path": _face_path(context)}


def _prompt(context: Context, kept: Kept) -> str:
    return hinted.prompt(kept.key, kept.status, _face_path(context), _root(context))


def _root(context: Context) -> str:
    return faces.checkpoints_root(context.journal, context.place)


def _face_path(context: Context) -> str:
    relative = context.config.checkpoints_file or faces.CHECKPOINTS_FILE
    return os.path.join(_root(context), relative)


_ACTIONS = {"run": _run, "resume": _resume, "rollback": _rollback}
