"""A hook is a guest: it answers within its time whatever the disk does, and never blocks.

A forked child does the work, with the client's pipes closed; this process only waits, and
leaves when the time is up. On a frozen filesystem neither an alarm nor a thread could: a
process that waits for such a disk cannot even be killed. The child goes on alone and records
what it was given as soon as the disk answers.
"""

from __future__ import annotations

import os
import select
import sys
import time

TOOL_S = 0.18  # the client is promised 250 ms: the rest is starting up
WAKE_S = 1.8  # and 2 s where a brief is made
ANSWER = b"="  # the child is done; what follows is for the client
WAKES = ("SessionStart", "PreCompact", "PostCompact", "SessionEnd")  # the client has time for these
UNHURRIED = (*WAKES, "SubagentStop")  # and here: a subagent that is gone cannot be held

_FAILED = 75
_OUTPUT_LIMIT = 64 * 1024
_HEAD = 64 * 1024


def main(pid: str) -> int:
    """Serve one hook call; 0 unless the fact could be kept nowhere in time."""
    began = time.monotonic()
    _fill_closed_streams()
    head = _first_words(began + TOOL_S)
    _load()
    mine, its = os.pipe()
    if os.fork() == 0:
        os._exit(_child(pid, head, mine, its))
    os.close(its)
    answer = _wait(mine, began + (WAKE_S if _has_time(head) else TOOL_S))
    if answer is None:
        return 0  # the child goes on: it is late, not lost
    if not answer.startswith(ANSWER):
        return _FAILED
    try:
        os.write(1, answer[1:])
    except OSError:
        pass  # a client that is gone wants no answer
    return 0


def _fill_closed_streams() -> None:
    """A pipe of ours must not take the place of a stream that the client closed."""
    while (spare := os.open(os.devnull, os.O_RDWR)) <= 2:  # noqa: PLR2004  # the last stream
        pass
    os.close(spare)


def _first_words(until: float) -> bytes:
    """How the payload begins: enough to tell how long the client will wait."""
    return os.read(0, _HEAD) if _is_ready(0, until) else b""


def _is_ready(fd: int, until: float) -> bool:
    """Whether there is something to read, or the end, before the time is up."""
    watch = select.poll()  # select itself refuses the high numbers that a client may leave us
    watch.register(fd, select.POLLIN)
    return bool(watch.poll(max(0.0, until - time.monotonic()) * 1000))


def _has_time(head: bytes) -> bool:
    """Whether this call has the longer time: the client's own key comes before any tool's."""
    _, _, rest = head.partition(b'"hook_event_name"')
    event = rest.lstrip(b': "').partition(b'"')[0]
    if event in {b"PreToolUse", b"PostToolUse"}:  # who launches an output is told only in time
        tool = rest.partition(b'"tool_name"')[2].lstrip(b': "').partition(b'"')[0]
        return tool in {b"Agent", b"Task"} and b"<!--" in rest
    return event.decode("ascii", "replace") in UNHURRIED


def _wait(pipe: int, until: float) -> bytes | None:
    """What the child says until it closes the pipe; None when the time is up."""
    said = b""
    while _is_ready(pipe, until):
        part = os.read(pipe, _OUTPUT_LIMIT)
        if not part:
            return said
        said += part
    os.close(pipe)  # at once: from now on the child can tell that nobody listens
    return said or None  # an answer is written in one piece


def _child(pid: str, head: bytes, parents: int, answer: int) -> int:
    os.close(parents)
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (1, 2):
        os.dup2(null, stream)
    try:
        from standfast.clients.hooks.hook_call import serve

        serve(pid, os.environ, answer, head)
    except BaseException as error:  # noqa: BLE001  # a guest does not complain; a mark tells
        return _leave_mark(error, answer)
    return 0


def _leave_mark(error: BaseException, answer: int) -> int:
    """Tell of a failure here: parent and launcher may be gone, who would tell otherwise."""
    try:
        from standfast.journal.fallback import lost_calls

        project = os.environ.get("CLAUDE_PROJECT_DIR") or os.environ.get("PWD") or os.sep
        if lost_calls.mark(os.environ, project, f"the hook failed: {type(error).__name__}"):
            os.write(answer, ANSWER)
    except BaseException:  # noqa: BLE001  # the package itself is gone: the launcher tells
        return _FAILED
    return 0


def _load() -> None:
    """What the child will need: loaded before the fork no page of it has to be copied.

    apsw is spared the whole of `collections`: it only wants classes that are there already. Who
    imports `collections.abc` from C is given `collections` first.
    """
    stand_ins = [name for name in ("collections", "collections.abc") if name not in sys.modules]
    for name in stand_ins:
        sys.modules[name] = sys.modules["_collections_abc"]
    import apsw  # noqa: F401  # for whoever imports it next

    for name in stand_ins:
        del sys.modules[name]
    from standfast.clients.hooks import hook_call  # noqa: F401  # as above
    from standfast.journal import transaction  # noqa: F401  # as above
