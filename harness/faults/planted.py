"""A value of the environment, looked for on the disk, whoever of those who knew it was killed.

Who asks for a command, its two supervisors and the command itself all know the environment. Any of
them is killed at any moment; after that, and after the next one who asks, no file may hold it.
"""

from __future__ import annotations

import os
import random
import signal
import tempfile
from typing import TYPE_CHECKING, NamedTuple

from standfast import clock
from standfast.effects import door
from standfast.effects.effect_folder import SUP, Folder, Order
from standfast.journal.author import USER
from standfast.journal.store import Journal
from standfast.processes import programs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NAME = "PLANTED_VALUE"
_SCRIPT = "echo said; sleep 0.05"
_LONGEST_S = 0.4  # about as long as a command takes from its order to its record
_LOOK_AGAIN_S = 0.005


class Counted(NamedTuple):
    """What was tried, and where the value was found."""

    kills: int
    findings: list[str]


def environment_written() -> None:
    """The order stands on the disk as it is, with every value of the environment."""
    Order.noted = Order.whole  # type: ignore[method-assign]  # a bug


CANARIES: dict[str, Callable[[], None]] = {"environment written": environment_written}


def run(
    folder: str,
    seed: int,
    kills: int,
    *,
    plant: Callable[[], None] = lambda: None,
    until_found: bool = False,
) -> Counted:
    """Kill somebody at a moment drawn by lot, as often as wanted; look everywhere each time."""
    dice, findings = random.Random(seed), list[str]()
    for number in range(1, kills + 1):
        place = tempfile.mkdtemp(dir=folder)
        findings += (f"{words} [planted, seed {seed}]" for words in _trial(place, dice, plant))
        if findings and until_found:
            return Counted(number, findings)
    return Counted(kills, findings)


def _trial(place: str, dice: random.Random, plant: Callable[[], None]) -> Iterator[str]:
    value = f"{dice.getrandbits(128):032x}"
    caller = _ask(place, value, plant)
    clock.pause(dice.uniform(0, _LONGEST_S))
    effect = Folder(os.path.join(place, "journal"), "planted")
    knowing = sorted({caller, *programs.lock_holders(effect.at(SUP)), *effect.strays()})
    struck = dice.sample(knowing, dice.randint(1, len(knowing)))
    for pid in struck:
        _kill(pid)
    yield from _found(place, value, f"{len(struck)} of {len(knowing)} were killed")
    os.waitpid(caller, 0)
    again = _ask(place, value, plant)
    os.waitpid(again, 0)
    while effect.is_alive():
        clock.pause(_LOOK_AGAIN_S)
    yield from _found(place, value, "another one asked")


def _ask(place: str, value: str, plant: Callable[[], None]) -> int:
    """A process that has the value in its environment, and asks for the command."""
    pid = os.fork()
    if pid:
        return pid
    try:
        os.environ |= {NAME: value, "TMPDIR": place, "XDG_STATE_HOME": place}
        plant()
        order = Order("planted", ("sh", "-c", _SCRIPT), place, dict(os.environ), 30.0)
        door.run(Journal(os.path.join(place, "journal")), order, USER)
    finally:
        os._exit(0)


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass  # it had ended by itself


def _found(place: str, value: str, when: str) -> Iterator[str]:
    """Every file that holds the value."""
    for top, _, names in os.walk(place):
        for path in (os.path.join(top, name) for name in names):
            if value.encode() in _bytes(path):
                yield f"wrong the environment stands in {os.path.relpath(path, place)} after {when}"


def _bytes(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return b""  # it went meanwhile
