"""Running a lane from the command line: what is asked for, who is told, and how it ended."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from standfast import clock, ids
from standfast.app import faces
from standfast.errors.base import StandfastError, WrongUsage
from standfast.errors.lanes import LaneBlocked, LaneChanged
from standfast.formats import durations
from standfast.git.command import Git
from standfast.plans import lane_spec
from standfast.plans.lane_spec import Spec, Task
from standfast.protocols.checkpoints.records import checkpoint_records as recorded
from standfast.protocols.checkpoints.rules import checkpoint_hints as hinted
from standfast.redaction.redactor import redact
from standfast.runs import stale_section
from standfast.runs.records import lane_records as told
from standfast.runs.records import run_records
from standfast.surfaces.cli import grounds, lane_workers, persons, trust_question
from standfast.surfaces.cli import stage_arguments as shown
from standfast.surfaces.cli.screen import speak, warn
from standfast.text import printable

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from standfast.runs.lanes.lane_context import Work
    from standfast.surfaces.cli.command_context import Context
    from standfast.surfaces.cli.frame import Parser

    Names = tuple[str, str, str]

_LINES = ("runner", "test", "pr", "pr_probe")
_GIVEN = (*_LINES, "retries", "base", "branch", "merge", "retest", "time_s")


def configure(parser: Parser) -> None:
    """The options of `lane run`."""
    group = parser.add_argument_group("for `run`")
    group.add_argument("--runner", metavar="LINE", help="the agent: a shell line, given the prompt")
    group.add_argument("--task", metavar="FILE", action="append", default=[],
                       help="what it is to do; repeat it for several tasks in turn")  # fmt: skip
    group.add_argument("--test", metavar="LINE", help="the tests: a shell line")
    group.add_argument("--retries", type=int, metavar="N", help="how often to try again (0)")
    group.add_argument("--base", metavar="BRANCH", help="where it starts and goes to (this one)")
    group.add_argument("--branch", help="the lane's own branch (lane/PHASE/LANE)")
    group.add_argument("--merge", choices=lane_spec.MERGES, help="how it gets there (ff)")
    group.add_argument("--retest", choices=lane_spec.RETESTS,
                       help="whether it is tested again on a base that moved (always)")  # fmt: skip
    group.add_argument("--pr", metavar="LINE", help="makes a pull request, instead of `gh`")
    group.add_argument("--pr-probe", metavar="LINE", help="ends 0 if it is there, 1 if not")
    group.add_argument("--output", metavar="FILE[=optional]", action="append", default=[],
                       help="a file that the last task must write; repeat it")  # fmt: skip
    group.add_argument("--time", dest="time_s", type=seconds, metavar="90m",
                       help="for each command (2h)")  # fmt: skip


def seconds(said: str) -> float:
    """A time such as `90s`, `45m`, `2h` or plain seconds."""
    found = durations.seconds(said)
    if found is None:
        raise WrongUsage(f"`{said}` is no time such as 90s, 45m or 2h")
    return found


def new_id(phase: str, lane: str) -> str:
    """The id of a run that was given none."""
    stamp = clock.rfc3339(clock.now_us())
    return ids.run_id(
        f"{phase}-{lane}-{stamp[:10].replace('-', '')}-{stamp[11:19].replace(':', '')}"
    )


def wanted(context: Context, names: Names, arguments: argparse.Namespace) -> Spec:
    """What the lane is to do: as it was begun, if it was, else as the command line says."""
    known = told.find(context.journal, names)
    if known is None:
        return _new(context, names, arguments)
    said = {name: getattr(arguments, name) for name in _GIVEN}
    given = {name: value for name, value in said.items() if value is not None}
    if arguments.task:
        given["tasks"] = _tasks(context, arguments.task)
    if arguments.output:
        given["outputs"] = outputs(arguments.output)
    differ = lane_spec.differences(known, known._replace(**given))
    if differ:
        raise LaneChanged(f"{'/'.join(names)} was begun with another {', '.join(differ)}")
    return known


def _new(context: Context, names: Names, arguments: argparse.Namespace) -> Spec:
    if recorded.current(context.journal, *names):
        raise LaneChanged(f"the checkpoints of {'/'.join(names)} are another tool's")
    if not arguments.runner or not arguments.task:
        raise WrongUsage("a new lane needs --runner and --task")
    if (arguments.pr or arguments.pr_probe) and arguments.merge != lane_spec.PR:
        raise WrongUsage("--pr and --pr-probe are for --merge pr")
    base = arguments.base or Git(directory=Path(context.place.root)).branch()
    if base is None:
        raise LaneBlocked("no branch is checked out here",
                          remedy="Name one with `--base`, or check one out.")  # fmt: skip
    root = _root(context)
    said = {name: getattr(arguments, name) for name in _GIVEN if getattr(arguments, name)}
    for name in _LINES:
        if redact(said.get(name, "")) != said.get(name, ""):
            raise WrongUsage(f"--{name.replace('_', '-')} holds what looks like a secret: give it"
                             " to the command by the environment")  # fmt: skip
    made = {"base": base, "branch": lane_spec.branch(*names[1:]), **said}
    return lane_spec.check(
        Spec(
            *names,
            worktree=lane_spec.worktree(root, *names),
            tasks=_tasks(context, arguments.task),
            outputs=outputs(arguments.output),
            **made,
        )
    )


def _tasks(context: Context, paths: list[str]) -> tuple[Task, ...]:
    """The tasks; what looks like a secret in them is left out, for the agent as for the journal."""
    made = []
    for path in paths:
        name = os.path.splitext(os.path.basename(path))[0]
        text = shown.read(context, path).decode("utf-8", "replace")
        kept = redact(text)
        if kept != text:
            warn(f"task {name} holds what looks like a secret: it is done without")
        made.append(Task(ids.name(name, what="task"), kept))
    return tuple(made)


def outputs(said: list[str]) -> dict[str, str]:
    """The files that a task must write, and how much each matters."""
    made = {}
    for each in said:
        name, _, tier = each.partition("=")
        if tier not in ("", *lane_spec.TIERS):
            raise WrongUsage(f"an output is critical or optional, not `{tier}`")
        made[ids.name(name, what="output")] = tier or "critical"
    return made


def take_on(context: Context, spec: Spec, given: Sequence[str] = (), told_before: str = "") -> None:
    """Take the lane as far as it goes; whatever stops it, where it stands is told."""
    from standfast.runs.lanes import lane_loop

    grounds.refuse_elsewhere(context, spec.run_id, [spec.names[1:]])
    context.may_write()
    if told.find(context.journal, spec.names) is None:
        trust_question.began(context, [spec], given)
    push_to = trust_question.see_to(context, [spec], given)
    stale_section.refuse_stale(context.journal, context.place.root, context.config.session)
    since = _go_on(context, spec.run_id)

    def is_stopped() -> bool:
        word = run_records.word(context.journal, spec.run_id)
        return word.state == run_records.STOPPED and word.seq > since

    try:
        work = _work(context, spec)._replace(is_stopped=is_stopped, push_to=push_to)
        lane_loop.run(work, asked=True)
    except StandfastError:
        _say_how_to_go_on(context, spec, told_before)
        raise
    except KeyboardInterrupt:
        _say_how_to_go_on(context, spec, told_before)
        _tell(context, "stopped; a command that runs goes on: resume waits for it, reap ends it")
        for words in lane_workers.left(context):
            _tell(context, words)
        raise


def accept_base(context: Context, spec: Spec) -> None:
    """A person says that the base is as it should be, whatever the run knew of it."""
    from standfast.runs.lanes import base_history
    from standfast.runs.lanes.lane_start import base_commit

    persons.refuse_agents(context)
    context.may_write()
    work = _work(context, spec)
    base_history.accept(work, base_commit(work.git, spec.base))


def accept_settings(context: Context, spec: Spec) -> None:
    """A person says that the settings which all worktrees share are as they should be."""
    from standfast.runs.lanes import shared_settings

    persons.refuse_agents(context)
    context.may_write()
    shared_settings.accept(_work(context, spec))


def _go_on(context: Context, run_id: str) -> int:
    """What was stopped is named, and goes on again; where the words end that were told before.

    A lane of a plan goes on by itself: its run stays as it is.
    """
    word = run_records.word(context.journal, run_id)
    if word.state != run_records.GOING and run_records.find(context.journal, run_id) is None:
        with context.journal.writing() as tx:
            run_records.tell(tx, run_id, run_records.GOING, lane_workers.author(context))
    return word.seq


def _work(context: Context, spec: Spec) -> Work:
    made = lane_workers.worker(
        context,
        lambda _, words: _tell(context, words),
        lambda: context.heal(checkpoints=True),
        run_id=spec.run_id,
    )
    return made(context.journal, spec)


def _root(context: Context) -> str:
    """The main checkout's root, wherever this is called from."""
    return context.place.main_root


def _tell(context: Context, words: str) -> None:
    if not context.json:
        stamp = clock.local_second(clock.now_us())
        speak(f"{stamp} {printable(words)}", sys.stderr)


def _say_how_to_go_on(context: Context, spec: Spec, told_before: str) -> None:
    """The whole prompt; after one that was told before, only what is another now."""
    last = recorded.latest(context.journal, *spec.names)
    if last is None or context.json:
        return
    root = faces.checkpoints_root(context.journal, context.place)
    relative = context.config.checkpoints_file or faces.CHECKPOINTS_FILE
    words = hinted.prompt(last.key, last.status, os.path.join(root, relative), root)
    known = told_before.splitlines()
    news = [line for line in words.splitlines() if line not in known]
    if news:
        speak("\n".join(news), sys.stdout)
