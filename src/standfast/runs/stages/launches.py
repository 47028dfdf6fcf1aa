"""Launching the agents of a stage: each counted before it begins, none beside itself.

The order, once, for each: its lock taken → what is on disk looked at again → what will be
written over is kept and the launch journalled → the agent begins, with the lock in its hands.
The lock goes with the last process of the agent, so whoever comes after a crash can tell that an
agent is still at work, and waits for it instead of beginning another.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from standfast import clock, disk
from standfast.effects import stage_agents
from standfast.errors.base import NoLaunchLeft, StandfastError
from standfast.journal import locks, overwritten_files
from standfast.journal.agents_at_work import name_of
from standfast.processes.programs import uninterrupted
from standfast.processes.running_program import end_all, new_mark
from standfast.protocols.outputs.files import stage_outputs as files
from standfast.protocols.outputs.records import launch_records as recorded
from standfast.protocols.outputs.rules import whole_output
from standfast.redaction.redactor import redact

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from standfast.journal.author import Author
    from standfast.journal.store import Journal
    from standfast.journal.transaction import Writing
    from standfast.processes.running_program import Running
    from standfast.protocols.outputs.files.stage_outputs import Wanted
    from standfast.protocols.outputs.rules.persistence_gate import Output

_KEPT = "kept"
_LOOK_AGAIN_S = 0.02
_TAIL = 2_000


class Launch(NamedTuple):
    """What a runner is told: who is to write which file, with which prompt."""

    role: str
    path: str
    prompt: str
    stage: str
    attempt: int
    lock: int  # to be kept open by the agent
    mark: str = ""  # what its whole tree has in its environment


class Agents(NamedTuple):
    """How agents are begun, how many at once and for how long, and who they are."""

    begin: Callable[[Launch], Running]
    parallel: int
    time_s: float
    name: str = ""  # another agent would make another output


class Job(NamedTuple):
    """One output that is to be made, and from what."""

    output: Output
    prompt: str
    inputs: str
    granted: bool = False  # asked for by a person although it is valid


def launch_all(
    journal: Journal,
    stage: str,
    jobs: Sequence[Job],
    agents: Agents,
    author: Author,
    tell: Callable[[str], None],
) -> None:
    """Launch what is still to be made, a few at a time, and see each to its end."""
    running: dict[str, tuple[Running, Job, float]] = {}
    waiting = list(jobs)
    try:
        while waiting or running:
            while waiting and len(running) < agents.parallel:
                job = waiting.pop(0)
                told = _intend(journal, stage, job, agents, author, tell)
                if told is not None:
                    _begin(agents, told, job, running)
                    tell(f"launched  {job.output.name}")
            _see_to_end(journal, running, author, tell)
    finally:
        end_all([agent for agent, *_ in running.values()])


def _intend(
    journal: Journal,
    stage: str,
    job: Job,
    agents: Agents,
    author: Author,
    tell: Callable[[str], None],
) -> Launch | None:
    """What an agent is to be begun with; None if there is nothing to do for it any more."""
    lock = _lock(journal, job.output.path, agents.time_s, tell)
    attempt = None
    try:
        attempt = _journal_intent(journal, stage, job, author)
    finally:
        if attempt is None:
            os.close(lock)
    if attempt is None:
        return None
    mark = new_mark()
    stage_agents.write(lock, stage_agents.Facts(mark, stage, job.output.role, job.output.path))
    return Launch(
        mark=mark,
        role=job.output.role,
        path=job.output.path,
        prompt=job.prompt,
        stage=stage,
        attempt=attempt,
        lock=lock,
    )


def _begin(
    agents: Agents, told: Launch, job: Job, running: dict[str, tuple[Running, Job, float]]
) -> None:
    """Begin one agent: whoever is interrupted then knows of it, and ends it."""
    try:
        with uninterrupted():
            until = clock.monotonic_ns() / 1e9 + agents.time_s
            running[told.path] = (agents.begin(told), job, until)
    finally:
        os.close(told.lock)


def wait_until_idle(
    journal: Journal, path: str, wait_s: float, tell: Callable[[str], None]
) -> None:
    """Wait until no agent is at work on this output.

    It may be another process's, or one that outlived the process that began it.
    """
    os.close(_lock(journal, path, wait_s, tell))


def at_work(journal: Journal, path: str) -> str:
    """Who is at work on this output: an agent of ours, or a subagent of a client."""
    if not is_idle(journal, path):
        return "an agent of `stage run`"
    session = recorded.busy_session(journal, path)
    return f"a subagent of session {session[:8]}" if session else ""


def is_idle(journal: Journal, path: str) -> bool:
    """Whether no process of an agent has this output's lock."""
    return not locks.is_held(_lock_file(journal, path))


def _lock_file(journal: Journal, path: str) -> str:
    folder = os.path.join(journal.folder, stage_agents.FOLDER)
    return os.path.join(folder, f"{name_of(path)}.lock")


def _lock(journal: Journal, path: str, wait_s: float, tell: Callable[[str], None]) -> int:
    """Wait for whoever is at work on this output; past the time, say which processes those are."""
    at = _lock_file(journal, path)
    disk.make_folder(os.path.dirname(at))
    fd = locks.open_lock(at)
    if locks.try_lock(fd):
        return fd
    os.close(fd)
    tell(f"waiting   {os.path.basename(path)}  an agent is at work on it already")
    try:
        return locks.take_within(at, wait_s)
    except StandfastError as error:
        error.problem = f"an agent is still at work on {os.path.basename(path)}; {error.problem}"
        raise


def _journal_intent(journal: Journal, stage: str, job: Job, author: Author) -> int | None:
    """Count the launch and keep what it will write over, in one transaction."""
    path = job.output.path
    seen = files.look(*os.path.split(path))
    if seen.fault is None and not job.granted:
        return None  # somebody made it meanwhile
    aside = _aside(journal, path) if seen.fault == whole_output.TOO_LARGE else None
    with journal.writing() as tx:
        known = recorded.known(journal, path)
        if job.granted:
            recorded.grant(tx, path, "its inputs changed", author)
        elif known.launches >= whole_output.LAUNCHES + known.granted:
            return None  # another process used up what was left
        if seen.data:
            overwritten_files.keep(tx, path, seen.data, "an agent writes it anew", author)
        if aside is not None:
            tx.append(
                overwritten_files.KIND, {"path": path, "size": seen.size, "moved": aside}, author
            )
        recorded.launch(tx, path, stage, job.inputs, author)
    _clear(path, aside)
    return known.launches + 1


def _clear(path: str, aside: str | None) -> None:
    """An agent begins with no file: what it does not write cannot pass for its work.

    The old contents are in the journal; those too large for it are kept whole beside it.
    """
    if aside is None:
        disk.forget(path)
    else:
        os.rename(path, aside)
        disk.sync_folder(os.path.dirname(aside))
    disk.sync_folder(os.path.dirname(path))


def count(journal: Journal, wanted: Wanted, roles: Sequence[str], author: Author) -> list[Output]:
    """Count a launch that somebody else is about to make, of all these roles or of none.

    What stands in a file's place is kept: the agent will write over it.
    """
    every = {each.role: each for each in files.expected(journal, wanted._replace(next=(*roles,)))}
    for role in roles:
        _refuse_needless(journal, every[role])
    seen = {role: files.look(wanted.folder, every[role].name).data for role in roles}
    with journal.writing() as tx:
        return [
            _count(journal, tx, every[role], seen[role], wanted.stage.name, author)
            for role in roles
        ]


def _count(
    journal: Journal, tx: Writing, output: Output, data: bytes, stage: str, author: Author
) -> Output:
    known = recorded.known(journal, output.path)  # others count too
    if known.launches >= whole_output.LAUNCHES + known.granted:
        problem = f"{output.name} has been launched {known.launches} x: no launch is left"
        raise NoLaunchLeft(problem, file=output.path)
    if data:
        overwritten_files.keep(tx, output.path, data, "an agent writes it anew", author)
    recorded.launch(tx, output.path, stage, "", author)
    return output._replace(launches=known.launches + 1, granted=known.granted)


def _refuse_needless(journal: Journal, output: Output) -> None:
    if output.is_valid:
        problem = f"{output.name} is valid: there is nothing to launch"
        raise NoLaunchLeft(problem, file=output.path)
    if who := at_work(journal, output.path):
        raise NoLaunchLeft(f"{who} is at work on {output.name} already", file=output.path)


def _aside(journal: Journal, path: str) -> str:
    folder = os.path.join(journal.folder, _KEPT)
    disk.make_folder(folder)
    return os.path.join(folder, f"{os.path.basename(path)}.{os.urandom(6).hex()}")


def _see_to_end(
    journal: Journal,
    running: dict[str, tuple[Running, Job, float]],
    author: Author,
    tell: Callable[[str], None],
) -> None:
    """Take in those that ended, end those whose time is up, and wait a moment for the others."""
    for path, (agent, job, until) in list(running.items()):
        status = agent.status()
        late = clock.monotonic_ns() / 1e9 > until
        seen = files.look(*os.path.split(path)) if status is not None else None
        # One that forked and left may still be writing: its lock tells.
        is_over = seen is not None and (seen.fault is None or is_idle(journal, path))
        if not (is_over or late):
            continue
        words = redact(agent.last_words(_TAIL))
        del running[path]
        if is_over:
            agent.let_go()
        else:
            agent.end()
        seen = files.look(*os.path.split(path))
        ended = f"exit {status}" if is_over else "time is up"
        about = {"path": path, "ended": ended, "fault": seen.fault or "", "words": words}
        journal.append("output.ended", about, author)
        tell(f"ended     {job.output.name}  {ended}, {seen.fault or 'valid'}")
        if seen.fault is None:
            attempt = recorded.known(journal, path).launches
            made = job.output._replace(digest=seen.digest, size=seen.size, launches=attempt)
            files.receive(journal, made, author, job.inputs)
    if running:
        clock.pause(_LOOK_AGAIN_S)
