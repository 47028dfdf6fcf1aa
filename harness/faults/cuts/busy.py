"""Who is at work when the power goes: processes that do one thing after another and tell of it.

Each tells its harness, through a pipe that is on no disk, before and after everything it does:
`?word` is about to be, `!word` was acknowledged. A word is in one fact and nowhere else.
"""

from __future__ import annotations

import fcntl
import os
import signal
from functools import partial
from itertools import count
from typing import TYPE_CHECKING

from harness.faults import loops, perform, worlds
from standfast.clients.claude import settings_file
from standfast.clients.hooks.deadline import ANSWER
from standfast.journal.author import Author
from standfast.journal.fallback import spool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from harness.faults.world import World

SETTINGS = '{{"model": "some", "word": "{word}"}}\n'
_DECISION_FACE = "status.md"


def begin(
    world: World, name: str, kind: str, pipe: tuple[int, int], plant: Callable[[], None]
) -> int:
    """Fork a process that does one *kind* of work, under words that begin with *name*."""
    said, tell = pipe
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        loops.die_with(parent)
        os.close(said)  # else it would go on when nobody listens
        _work(world, name, kind, tell, plant)
    return pid


def kill(pid: int) -> None:
    """End such a process and everything that it began."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        os.kill(pid, signal.SIGKILL)  # it is so new that it has no group yet
    os.waitpid(pid, 0)


def _work(world: World, name: str, kind: str, tell: int, plant: Callable[[], None]) -> None:
    try:
        os.setsid()
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        null = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(null, stream)
        perform.own_streams()
        world.enter()
        plant()
        for word, done in KINDS[kind](world, name):
            os.write(tell, f"?{word}\n".encode())
            if not done():
                break
            os.write(tell, f"!{word}\n".encode())
    finally:
        os._exit(0)


_Work = tuple[str, "Callable[[], bool]"]


def _words(name: str) -> Iterator[str]:
    return (f"{name}-{number}" for number in count())


def _succeeds(*arguments: str) -> bool:
    return perform.call(*arguments) == 0


def _notes(_world: World, name: str) -> Iterator[_Work]:
    for word in _words(name):
        yield f"fact {word}", partial(_succeeds, "note", word)


def _hooks(world: World, name: str) -> Iterator[_Work]:
    for word in _words(name):
        fields = {"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": word}
        payload = worlds.payload(world, "PreToolUse", fields)
        yield f"fact {word}", partial(_call_hook, payload)


def _call_hook(payload: bytes) -> bool:
    """As the hook's own parent does; it also leaves when nobody answers, which promises nothing."""
    mine, its = os.pipe()
    if os.fork() == 0:
        status = 1
        try:
            os.close(mine)
            given = os.memfd_create("payload", 0)
            os.write(given, payload)
            os.lseek(given, 0, os.SEEK_SET)
            os.dup2(given, 0)
            from standfast.clients.hooks.hook_call import serve

            serve(str(os.getppid()), os.environ, its)
            status = 0
        finally:
            os._exit(status)
    os.close(its)
    try:
        return os.read(mine, 1) == ANSWER
    finally:
        os.close(mine)


def _spooled(world: World, name: str) -> Iterator[_Work]:
    author = Author("claude", session=worlds.SESSION)
    for word in _words(name):
        fact = {"id": word, "tool": "Bash"}
        yield f"fact {word}", partial(spool.keep, world.folder, "tool.started", fact, author)


def _holding(world: World, name: str) -> Iterator[_Work]:
    """Somebody sits on the journal: every hook has to go to the spool."""
    fd = os.open(os.path.join(world.folder, "writer.lock"), os.O_RDWR)
    fcntl.flock(fd, fcntl.LOCK_EX)
    yield from _hooks(world, name)


def _edits(world: World, name: str) -> Iterator[_Work]:
    """A person adds a line to a face, and asks for the status."""
    face = os.path.join(world.folder, _DECISION_FACE)
    for word in _words(name):
        yield f"fact {word}", partial(_edit, face, word)


def _edit(face: str, word: str) -> bool:
    with open(face, "a", encoding="utf-8") as file:
        file.write(f"- {word}\n")
    return _succeeds("status")


def _files(world: World, name: str) -> Iterator[_Work]:
    """Files that are replaced as a whole: the export, the switch, the client's settings."""
    for word in _words(name):
        export = os.path.join(world.root, "export.jsonl")
        yield "off", partial(_succeeds, "off")
        yield "export", partial(_export, export)  # takes a while before it syncs anything
        yield "on", partial(_succeeds, "on")
        yield f"settings {word}", partial(_set, word)


def _export(at: str) -> bool:
    if os.path.exists(at):
        os.unlink(at)
    return perform.call("journal", "export", "-o", at) == 0


def _set(word: str) -> bool:
    text = SETTINGS.format(word=word)
    settings_file.change(settings_file.of_user(os.environ), lambda _: text)
    return True


KINDS: dict[str, Callable[[World, str], Iterator[_Work]]] = {
    "notes": _notes,
    "hooks": _hooks,
    "spooled": _spooled,
    "holding": _holding,
    "edits": _edits,
    "files": _files,
}
