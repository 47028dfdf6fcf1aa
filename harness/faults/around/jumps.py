"""The clock jumps by years, forwards and backwards: order never goes by it.

`python -m harness.faults.around.jumps FOLDER SEED part|all` runs under the shim, which
moves the clock that people set for every process below it; a line of JSON for each trial.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from typing import TYPE_CHECKING

from harness.faults import perform, shim, worlds
from harness.faults.around.bench import Setting, seen_in
from harness.faults.around.conditions import Trial
from harness.faults.shim import Shim
from standfast.errors.base import FencedOut
from standfast.journal.author import Author
from standfast.journal.fallback import spool

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from harness.faults.world import World

_YEAR_S = 365 * 86_400
_JUMPS = (-30 * _YEAR_S, 30 * _YEAR_S)
_STEPS = 24
_SPOOLED = 3  # in a row: their order is found only when they are merged


def lacking(_folder: str) -> str | None:
    """Why the clock cannot be moved here."""
    return None if shim.compiler() else "no C compiler, and only a library moves the clock"


def trials(setting: Setting) -> Iterator[Trial]:
    """What the process under the shim tells; no bug can be planted in it."""
    library = shim.build(setting.folder)
    seed = setting.dice.randrange(1 << 30)
    how = "part" if setting.is_part else "all"
    command = [sys.executable, "-m", __name__, setting.folder, str(seed), how]
    with subprocess.Popen(
        command, env=shim.environment(library), stdout=subprocess.PIPE, encoding="utf-8"
    ) as process:
        assert process.stdout is not None
        try:
            for line in process.stdout:
                yield Trial(*json.loads(line))
        except GeneratorExit:  # no more is wanted
            process.kill()
            raise
    if process.returncode != 0:
        yield Trial("jumps", f"seed {seed}", [f"wedged it ended with {process.returncode}"])


def _everything(setting: Setting, clock: Shim) -> Iterator[Trial]:
    yield Trial("a day of work", "many jumps", _a_day(setting, clock))
    bench = setting.bench()
    for act in setting.acts():
        bench.before(act)
        for seconds in _JUMPS:
            world = bench.fresh(act)
            clock.jump(seconds)
            answer = bench.perform(act, world)
            clock.jump(0)
            found = bench.judged(act, world, answer)
            yield Trial(act.name, f"{seconds // _YEAR_S:+d} years", found)


def _a_day(setting: Setting, clock: Shim) -> list[str]:
    """One thing after another, each at some other time: order is the order of doing."""
    world = worlds.make("begun", os.path.join(setting.folder, "day"))
    deeds = []
    for step in range(_STEPS):
        clock.jump(setting.dice.randint(*_JUMPS))
        deed = _spool if step % 6 < _SPOOLED else setting.dice.choice([_note, _hook, _edit])
        deed(world, f"step-{step:02}")
        deeds.append((deed, f"step-{step:02}"))
    clock.jump(setting.dice.randint(*_JUMPS))
    _note(world, "the last")
    newest = perform.command(world, "events", "-n", "1", "--json").out
    clock.jump(0)
    perform.command(world, "status")
    found = list(_in_order(world, deeds))
    if "the last" not in newest:
        found.append(f"wrong the newest is told as {newest[-300:]}")
    return found + _fenced(world, clock)


def _note(world: World, word: str) -> None:
    perform.command(world, "note", word)


def _hook(world: World, word: str) -> None:
    fields = {"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": word}
    perform.hook(world, worlds.payload(world, "PreToolUse", fields))


def _spool(world: World, word: str) -> None:
    author = Author("claude", session=worlds.SESSION)
    perform.apart(world, lambda: not spool.keep(world.folder, "tool.started", {"id": word}, author))


def _edit(world: World, word: str) -> None:
    with open(os.path.join(world.folder, "status.md"), "a", encoding="utf-8") as file:
        file.write(f"- {word}\n")
    perform.command(world, "status")


def _in_order(world: World, deeds: Sequence[tuple[object, str]]) -> Iterator[str]:
    """Each once; what was spooled comes later than what was not, but neither is shuffled."""
    texts = [text for _, _, text in seen_in(world).events]
    at = {word: [n for n, text in enumerate(texts) if word in text] for _, word in deeds}
    for word, places in at.items():
        if len(places) != 1:
            yield f"{'wrong' if places else 'lost'} {word} is there {len(places)} times"
    for spooled in (True, False):
        places = [at[word][0] for deed, word in deeds if (deed is _spool) == spooled and at[word]]
        if places != sorted(places):
            which = "spooled" if spooled else "recorded"
            yield f"wrong what was {which} is not in the order of doing: {places}"
    numbers = [int(key.removeprefix("RD-")) for key in seen_in(world).decisions]
    if numbers != list(range(1, len(numbers) + 1)):
        yield f"wrong ids with gaps: {numbers}"


def _fenced(world: World, clock: Shim) -> list[str]:
    """Who took a lease later has it, whatever the clock said."""
    journal = worlds.journal(world)
    tokens = []
    for seconds in reversed(_JUMPS):
        clock.jump(seconds)
        with journal.writing() as tx:
            tokens.append(tx.take("lane", "somebody"))
    clock.jump(0)
    try:
        with journal.writing() as tx:
            tx.fence("lane", tokens[0])
    except FencedOut:
        return []
    finally:
        journal.close()
    return ["wrong an old holder of a lease is let in"]


if __name__ == "__main__":
    folder, seed, how = sys.argv[1:]
    here = Setting(folder, random.Random(seed), lambda: None, is_part=how == "part")
    for trial in _everything(here, Shim()):
        print(json.dumps(trial), flush=True)
