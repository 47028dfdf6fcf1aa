"""Recovering from one state of the disk, in this process, and judging what is there.

As the next command would: heal, look, go on writing, verify. Every so often the next command
itself is called, in a process of its own.
"""

from __future__ import annotations

import os
import signal
import zlib
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from harness.faults import judge, perform, worlds
from harness.faults.judge import Finding
from harness.faults.look import Seen, litter, look
from standfast import xdg
from standfast.errors.base import StandfastError
from standfast.journal import journal_file
from standfast.journal.fallback import spool
from standfast.journal.tables import decision_records
from standfast.journal.verification import verify
from standfast.surfaces.cli.command_context import Context
from standfast.surfaces.cli.screen import Screen

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType
    from typing import BinaryIO

    from harness.faults.act import Act
    from harness.faults.power.scripts import Script
    from harness.faults.world import World

_DEADLINE_S = 60.0


class Expected(NamedTuple):
    """What a state is measured against: the world before, and how far the script had come."""

    before: Seen
    begun: int  # steps
    told: tuple[bool, ...]  # for each step, whether its success was told


def recover(world: World, script: Script, expected: Expected) -> list[Finding]:
    """Everything that is wrong, in this process, which lives in *world*."""
    signal.signal(signal.SIGALRM, _give_up)
    signal.setitimer(signal.ITIMER_REAL, _DEADLINE_S)
    try:
        return list(_recovered(world, script, expected))
    except TimeoutError:
        return [Finding("wedged", "it did not end")]
    except StandfastError as error:
        return [Finding("wedged", f"{error.code} {error}")]
    except Exception as error:  # noqa: BLE001  # told as what it is: a bug
        return [Finding("wrong", f"a bug: {type(error).__name__}: {error}")]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _give_up(_signal: int, _frame: FrameType | None) -> None:
    raise TimeoutError


def by_command(world: World, script: Script) -> list[Finding]:
    """What a user would see: the next command, in a process of its own."""
    _known_here(world)
    if script.is_repair:
        perform.command(world, *script.steps[0].recovery)
    answer = perform.command(world, "status", "--json")
    if answer.status != 0:
        return [Finding("wedged", f"status: {answer.status} {(answer.err or answer.out)[-300:]}")]
    if judge.needs(script.steps[0], answer, answered=False):
        return [Finding("wedged", f"status needs somebody: {answer.out[-300:]}")]
    return []


def _known_here(world: World) -> None:
    """A state lies elsewhere than where the power failed, and nobody moved it: it is the user's."""
    folder = os.path.dirname(journal_file.registered(xdg.state_home(os.environ), "x"))
    if os.path.isdir(folder):
        for name in os.listdir(folder):
            os.truncate(os.path.join(folder, name), 0)
    path = os.path.join(world.folder, spool.FILE)
    if os.path.isfile(path):
        with open(path, "r+b") as file:
            for slot in range(1, spool.SLOTS):
                _keep_here(file, slot * spool.SLOT_BYTES, journal_file.mark_of(world.folder))


def _keep_here(file: BinaryIO, start: int, mark: str) -> None:
    """A whole slot has the mark of the folder that it lies in; a half one stays as it is."""
    file.seek(start)
    header = file.read(16)
    body = file.read(int.from_bytes(header[8:12], "big"))
    if not header.strip(b"\0") or zlib.crc32(body) != int.from_bytes(header[12:16], "big"):
        return
    fields = body.split(b"\n")
    fields[2] = fields[2].partition(b" ")[0] + b" " + mark.encode()
    body = b"\n".join(fields)
    size, said = len(body).to_bytes(4, "big"), zlib.crc32(body).to_bytes(4, "big")
    file.seek(start)
    file.write(header[:8] + size + said + body)


def _recovered(world: World, script: Script, expected: Expected) -> Iterator[Finding]:
    _known_here(world)
    if script.is_repair:
        perform.command(world, *script.steps[0].recovery)
    context = _context()
    try:
        context.heal(writes=True)  # as the next command that writes: it ends a publish cut short
        for trouble in context.trouble:
            yield Finding("wedged", f"{trouble.code} {trouble}")
        seen = look(context.journal)
        yield from _facts(world, script, expected, seen)
        if context.journal.exists:
            with context.journal.writing() as tx:  # and it goes on from here
                decision_records.note(tx, "and on it goes")
            context.journal.mirror()
            for problem in verify(context.journal).problems:
                yield Finding("wrong", problem)
    finally:
        context.close()
    if expected.begun and litter(world):  # whoever does it again takes that away
        script.steps[expected.begun - 1].perform(world)
    for name in litter(world):
        yield Finding("half", f"{name} was left behind")


def _context() -> Context:
    """As the command line makes one; nothing is printed on its screen."""
    screen = Screen(color=False, width=80)
    return Context(directory=".", environ=os.environ, flags=[], screen=screen, json=True)


def _facts(world: World, script: Script, expected: Expected, seen: Seen) -> Iterator[Finding]:
    before = judge.Before(expected.before, {}, {})
    yield from judge.base(script.steps[0], seen, before)
    yield from _new(script, expected, seen)
    if seen.number("stray.refused") > expected.before.number("stray.refused"):
        yield Finding("half", "something in the spool or the inbox does not check")
    gaps = seen.gaps - expected.before.gaps
    if gaps != worlds.gaps(script.world) and not script.is_repair:  # that tells what it doubts
        yield Finding("wrong", f"lost calls are told of {gaps} times")
    latest = expected.begun - 1
    if latest >= 0 and expected.told[latest] and not _holds(script.steps[latest], world, seen):
        yield Finding("lost", f"{script.steps[latest].name} was told as done, and is not")


def _holds(act: Act, world: World, seen: Seen) -> bool:
    try:
        return act.holds is None or act.holds(world, seen)
    except FileNotFoundError:
        return False


def _new(script: Script, expected: Expected, seen: Seen) -> Iterator[Finding]:
    """Each step's own fact: as often as its success was told, no oftener than it was begun."""
    acts = {act.name: act for act in script.steps}
    begun = Counter(act.name for act in script.steps[: expected.begun])
    told = Counter(act.name for act, done in zip(script.steps, expected.told, strict=True) if done)
    for name, act in acts.items():
        if act.new is None:
            continue
        new = act.new(seen) - act.new(expected.before)
        if new > begun[name]:
            yield Finding("wrong", f"{name}: its fact is there {new} times")
        if new < told[name]:
            yield Finding("lost", f"{name} was acknowledged, and nothing knows of it")
