"""What a session's start tells beside its payload: its process, branch, role, where it comes from.

Hook path.
"""

from __future__ import annotations

import os

from standfast import disk, ids
from standfast.clients.claude.hook_facts import MAIN
from standfast.clients.hooks.checkout import Checkout
from standfast.errors.base import BadName
from standfast.journal import session_process

TYPE_CHECKING = False
if TYPE_CHECKING:
    from standfast.clients.claude.derived_facts import Ask
    from standfast.clients.claude.hook_facts import Fact
    from standfast.clients.hooks.hook_call import Call

_OF_PROCESS = """
    SELECT session FROM sessions WHERE process = ?1 AND session <> ?2 ORDER BY woke DESC LIMIT 1"""
# The client keeps the transcripts of one directory together, and goes on with its newest.
_BESIDE = """
    SELECT session FROM sessions WHERE session <> ?1 AND (?2 = '' OR ended = ?2)
      AND substr(transcript, 1, length(?3)) = ?3
      AND instr(substr(transcript, length(?3) + 1), '/') = 0
    ORDER BY woke DESC LIMIT 1"""
_KNOWN = "SELECT session FROM sessions WHERE session = ?1 AND session <> ?2"


def complete(fact: Fact, call: Call, ask: Ask) -> None:
    """Add what only this moment can tell."""
    pid = call.environ.get("CLAUDE_PID") or call.pid
    process, branch = session_process.mark(pid), Checkout(call.cwd).branch()
    parent = _parent(str(fact.fields.get("source")), process, call, ask)
    told = {"client": MAIN, "process": process, "branch": branch, "parent": parent,
            "role": _role(call)}  # fmt: skip
    fact.fields.update({name: value for name, value in told.items() if value is not None})
    _name_session_to_commands(call)


def _role(call: Call) -> str | None:
    """Whose session it is, so that no other role's context file is written from it."""
    named = call.environ.get("HIVEMIND_ROLE")
    try:
        return ids.role(named) if named else None
    except BadName:
        return None


def _parent(source: str, process: str | None, call: Call, ask: Ask) -> str | None:
    """The session before /clear, or the one that was forked; the payload names neither."""
    if source not in {"clear", "fork"}:
        return None
    found = ask(_OF_PROCESS, (process or "", call.session))
    if not found:
        found = _beside(call, ask, "clear") if source == "clear" else _named(process, call, ask)
    return str(found[0][0]) if found else None


def _named(process: str | None, call: Call, ask: Ask) -> list[tuple[object, ...]]:
    """A client that forks was told what: `--resume ID`, or `--continue` for the newest."""
    arguments = session_process.arguments(process) if process else []
    for argument in arguments:
        if found := ask(_KNOWN, (argument.removeprefix("--resume="), call.session)):
            return found
    continues = "--continue" in arguments or "-c" in arguments
    return _beside(call, ask, "") if continues else []


def _beside(call: Call, ask: Ask, ended: str) -> list[tuple[object, ...]]:
    (path,) = call.payload.ask(["?1->>'transcript_path'"])
    folder = os.path.dirname(str(path or ""))
    return ask(_BESIDE, (call.session, ended, f"{folder}/")) if folder else []


def _name_session_to_commands(call: Call) -> None:
    """Commands of the model know their session; older versions do not tell them by themselves."""
    file = call.environ.get("CLAUDE_ENV_FILE")
    if file and "CLAUDE_CODE_SESSION_ID" not in call.environ:
        try:
            fd = disk.open_regular(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        except OSError:
            return
        try:
            os.write(fd, f"export STANDFAST_SESSION={call.session}\n".encode())
        except OSError:
            pass  # a full disk there is no reason to lose the fact here
        finally:
            os.close(fd)
