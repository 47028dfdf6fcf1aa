"""What Standfast says back to Claude Code: a brief where one is owed, a line, mostly nothing.

An ordinary call gets no word, so an ordinary session costs no tokens. The person is told in
one line whenever the agent is. Hook path.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from standfast.clients.hooks.hook_call import Call
    from standfast.journal.transaction import Writing

UNOWNED_DAYS = 7

_BEFORE_CLEAR = """
    SELECT before.session FROM sessions JOIN sessions AS before ON before.session = sessions.parent
    WHERE sessions.session = ? AND before.forgotten = 0"""


def answer(call: Call, actor: str, wake: tuple[int, str] | None, tx: Writing) -> tuple[str, int]:
    """The JSON to print, or nothing, and the wake-up whose brief is in it."""
    if wake is not None:
        from standfast.brief import delivery  # most calls are owed nothing

        author, shown = call.author(actor), lambda: _shown(call)
        text = delivery.give(tx, author, wake, call.payload.write, shown, call.place.root)
        if call.role is not None:
            text = _with_role(call, tx, text)
        return _json(call, text, _briefed(text)), wake[0]
    line = _line(call, tx) if call.event == "SessionStart" else ""
    if not line:
        return "", 0
    told = call.payload.write({"characters": len(line), "text": line})
    tx.append("line.given", told, call.author(actor))
    return _json(call, line, line.removeprefix("standfast: ")), 0


def _briefed(text: str) -> str:
    from standfast.brief.brief_text import length

    return f"briefed the agent in {length(text):,} characters"


def _with_role(call: Call, tx: Writing, text: str) -> str:
    """The client's cap is for all that is printed, escapes and all."""
    from standfast.brief.brief_text import length
    from standfast.clients.claude import role_moves

    return role_moves.after_compaction(
        call, tx, text, lambda whole: length(_json(call, whole, _briefed(whole)))
    )


def _shown(call: Call) -> bytes:
    """What the model still sees of the conversation; after a compaction nothing of before."""
    from standfast.clients.claude import transcript

    source, path = call.payload.ask(["?1->>'source'", "?1->>'transcript_path'"])
    if source == "compact" or path is None:
        return b""
    return transcript.since_compaction(str(path))


def _line(call: Call, tx: Writing) -> str:
    """After /clear and at a fresh start: one line at most, saying how to get the rest."""
    (source,) = call.payload.ask(["?1->>'source'"])
    if source == "clear":
        before = tx.execute(_BEFORE_CLEAR, (call.session,))
        name = str(before[0][0])[:8] if before else ""
        kept = f"what was done before /clear is kept; to see it: standfast brief {name}"
        return f"standfast: {kept}" if name else ""
    if source == "startup":
        return _unowned(call, tx)
    return ""


def _unowned(call: Call, tx: Writing) -> str:
    from standfast import clock
    from standfast.brief.facts import open_sessions
    from standfast.journal import session_process

    oldest = clock.now_us() - UNOWNED_DAYS * 86_400 * clock.MICROSECONDS
    for session, process, last in open_sessions(tx.execute):
        if session != call.session and last > oldest and session_process.is_gone(process):
            return (
                f"standfast: session {session[:8]} stopped at {clock.local_minute(last)} with work"
                f" in flight; to see it: standfast brief {session[:8]}"
            )
    return ""


def _json(call: Call, context: str, line: str) -> str:
    inner = call.payload.write({"hookEventName": call.event, "additionalContext": context})
    return call.payload.write(
        {"json:hookSpecificOutput": inner, "systemMessage": f"standfast: {line}"}
    )
