"""`standfast stage run`: launch what a stage lacks, look again, and apply the gate."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from standfast import clock
from standfast.errors.base import WrongUsage
from standfast.processes.programs import find_program
from standfast.processes.running_program import Running
from standfast.protocols.outputs.rules.stages import LIGHT
from standfast.runs import stale_section
from standfast.runs.stages import stage_loop
from standfast.runs.stages.launches import Agents, Launch
from standfast.surfaces.cli import grounds, stage_arguments, stage_picture
from standfast.surfaces.cli.screen import speak
from standfast.text import printable

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from standfast.protocols.outputs.files.stage_outputs import Wanted
    from standfast.surfaces.cli.command_context import Context

_MOST_AT_ONCE = 64
_LONGEST_S = 7 * 86_400


def configure(parser: argparse.ArgumentParser) -> None:
    """Which stage, what each agent is asked, and which program is an agent."""
    parser.add_argument("action", choices=("run",), help="the four steps, from wherever it stands")
    stage_arguments.configure(parser)
    task = parser.add_mutually_exclusive_group(required=True)
    task.add_argument("--task", metavar="FILE", help="what every agent is asked")
    task.add_argument("--tasks", metavar="DIR", help="what each is asked: DIR/ROLE.md")
    parser.add_argument("--role", action="append", default=[], help="only this one (repeat it)")
    parser.add_argument("--input", action="append", default=[], metavar="FILE",
                        help="what the outputs are made from, besides the task")  # fmt: skip
    parser.add_argument("--stale", action="store_true", help="make stale outputs anew as well")
    parser.add_argument("--parallel", type=int, default=4, help="agents at once (4)")
    parser.add_argument("--time", type=float, default=3600, help="seconds for each agent (3600)")
    parser.add_argument("runner", nargs="+", metavar="RUNNER",
                        help="after `--`: an agent's program; the prompt is its stdin")  # fmt: skip


def run(context: Context, arguments: argparse.Namespace) -> int:
    """Take the stage through its gate; begun again after any crash it goes on where it was."""
    if not 0 < arguments.parallel <= _MOST_AT_ONCE or not 0 < arguments.time <= _LONGEST_S:
        raise WrongUsage(f"--parallel goes up to {_MOST_AT_ONCE}, --time up to {_LONGEST_S:,}")
    wanted = stage_arguments.wanted(context, arguments)
    tasks = _tasks(context, wanted, arguments)
    find_program(arguments.runner[0], context.environ.get("PATH"))  # before anything is counted
    grounds.refuse_absence(context)
    context.may_write()
    stale_section.refuse_stale(context.journal, context.place.root, context.config.session)
    found, gate = stage_loop.run(
        context.journal,
        wanted._replace(next=tuple(tasks)),
        tasks,
        _agents(context, arguments),
        stage_arguments.author(context),
        inputs=[stage_arguments.read(context, path) for path in arguments.input],
        stale_too=arguments.stale,
        tell=lambda words: _tell(context, words),
    )
    status = stage_picture.show_gate(context, wanted, found, gate, judged=True)
    context.heal()
    return status


def _tell(context: Context, words: str) -> None:
    if not context.json:
        speak(f"{clock.local_second(clock.now_us())} {printable(words)}", sys.stderr)


def _agents(context: Context, arguments: argparse.Namespace) -> Agents:
    begin = _beginner(context, arguments.runner)
    return Agents(begin, arguments.parallel, arguments.time, name="\0".join(arguments.runner))


def _tasks(context: Context, wanted: Wanted, arguments: argparse.Namespace) -> dict[str, str]:
    """What each role is asked; a role without a task is refused before anything begins."""
    every = () if arguments.mode == LIGHT else tuple(wanted.stage.tiers)
    roles = [stage_arguments.role_of(wanted.stage, each) for each in arguments.role] or every
    if not roles:
        raise WrongUsage(f"nothing is to be launched in `{wanted.stage.name}`: name some --role")
    if arguments.task is not None:
        return dict.fromkeys(roles, _text(context, arguments.task))
    return {role: _text(context, os.path.join(arguments.tasks, f"{role}.md")) for role in roles}


def _text(context: Context, path: str) -> str:
    return stage_arguments.read(context, path).decode("utf-8", "replace")


def _beginner(context: Context, runner: list[str]) -> Callable[[Launch], Running]:
    root, environ = context.place.root, dict(context.environ)

    def begin(launch: Launch) -> Running:
        told = {
            "STANDFAST_STAGE": launch.stage,
            "STANDFAST_ROLE": launch.role,
            "STANDFAST_OUTPUT": launch.path,
            "STANDFAST_ATTEMPT": str(launch.attempt),
        }
        return Running.begin(
            runner,
            cwd=root,
            env={**environ, **told},
            stdin=launch.prompt.encode("utf-8", "surrogatepass"),
            keep_open=[launch.lock],
            mark=launch.mark,
        )

    return begin
