"""What is done before the power goes: every act alone, and some of them one after the other.

One act leaves little in the air. Several in a row meet each other's: a write-ahead log that starts
over after a checkpoint, a mirror that grows, a spool that is filled and emptied, a face that is
published again and again.
"""

from __future__ import annotations

import fcntl
import os
from typing import TYPE_CHECKING, NamedTuple

from harness.faults import perform, worlds
from harness.faults.act import NEXT, Act
from harness.faults.acts import ACTS
from standfast.clients.claude.samples import SAMPLES

if TYPE_CHECKING:
    from harness.faults.look import Seen
    from harness.faults.world import World


class Script(NamedTuple):
    """Acts in a row, in the world of the first."""

    name: str
    steps: tuple[Act, ...]

    @property
    def world(self) -> str:
        """Where it begins."""
        return self.steps[0].world

    @property
    def is_repair(self) -> bool:
        """Whether it takes more than the next command to go on after it."""
        return self.steps[0].recovery != NEXT


_LONG = "and then look at every single one of the tests that failed; " * 60


def _note(word: str) -> Act:
    """One more decision, told from the others by its word."""
    text = f"the {word} of several"

    def count(seen: Seen) -> int:
        return sum(found == text for found in seen.decisions.values())

    return Act(f"note {word}", "note", "begun", lambda _: perform.call("note", text), new=count)


def _spooled(event: str) -> Act:
    """A hook that finds the journal taken, and keeps its fact in the spool, over many sectors."""
    hook = ACTS[event]
    fields = {**SAMPLES[event], "prompt": _LONG}

    def serve(world: World) -> int:
        lock = os.open(os.path.join(world.folder, "writer.lock"), os.O_RDWR)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            return perform.serve()
        finally:
            os.close(lock)

    return hook._replace(
        name=f"{event}, spooled",
        world="begun",
        do=serve,
        given=lambda world: worlds.payload(world, event, fields),
    )


def _row(name: str, *steps: Act | str) -> Script:
    return Script(name, tuple(ACTS[step] if isinstance(step, str) else step for step in steps))


_NOTES = tuple(map(_note, ("first", "second", "third", "fourth")))

ROWS: tuple[Script, ...] = (
    _row("notes in a row", *_NOTES[:3], "status", _NOTES[3]),
    _row("a first day", "first-note", "SessionStart-fresh", _NOTES[0], "status", _NOTES[1]),
    _row(
        "a session",
        *("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse"),
        *("PreCompact", "PostToolUseFailure", _NOTES[0], "Stop", "SessionEnd", _NOTES[1]),
    ),
    _row("two checkpoints", "PostCompact", _NOTES[0], "PreCompact", _NOTES[1], "SessionEnd"),
    _row("one is spooled", _spooled("UserPromptSubmit")),
    _row("spooled", _spooled("UserPromptSubmit"), _spooled("Stop"), "status", _NOTES[0]),
    _row("spooled, then a start", _spooled("UserPromptSubmit"), "SessionStart", _NOTES[0]),
    _row("much that waits", "PostToolUse-waiting", _NOTES[0], "SessionStart", "status"),
    _row("off and on", "off", "on", _NOTES[0], "forget"),
)

# Agents and git are other programs: what they write the shim does not see.
_SEEN = [act for act in ACTS.values() if act.covers not in {"stage run", "lane rollback"}]

SCRIPTS: dict[str, Script] = {
    script.name: script for script in (*ROWS, *(Script(act.name, (act,)) for act in _SEEN))
}
