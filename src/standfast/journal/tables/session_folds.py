"""What the events of a coding agent's session do to the state: sessions, work, briefs.

`work` holds what was begun and how it ended: tool calls, subagents, tasks, edited files. A late
event (from a spool) adds what is missing and never undoes an end. A brief is *owed* from the
wake-up on, *given* when a hook has printed it, and *seen* when the same agent acts after that:
only a model that was shown something replies.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import apsw

    from standfast.journal.tables.folds import Fold, Row

    Ask = Callable[[str, tuple[str | int, ...]], list[tuple[object, ...]]]

_STARTED = """
    INSERT INTO sessions SELECT ?2, ?1 ->> 'client', ?1 ->> 'parent', ?3, ?1 ->> 'transcript',
      ?1 ->> 'process', ?1 ->> 'branch', ?4, ?4, ?1 ->> 'tokens', NULL,
      ?1 ->> 'source' IS 'compact', NULL, ?6, 0
    WHERE ?5 = ?1 ->> 'client'
    ON CONFLICT (session) DO UPDATE SET ended = iif(?6 < at, ended, NULL), at = max(at, ?6),
      woke = iif(?1 ->> 'source' = 'compact', woke, excluded.woke),
      compactions = compactions + excluded.compactions,
      transcript = ifnull(excluded.transcript, transcript),
      process = ifnull(excluded.process, process), branch = ifnull(excluded.branch, branch),
      tokens = ifnull(excluded.tokens, tokens)"""

_OWED = """
    INSERT INTO briefs SELECT ?1, ?2, ?3, ?4 ->> 'source', NULL, 0, 0, 0
    WHERE ?4 ->> 'source' IN ('compact', 'resume', 'fork')"""

# Whose session it is: the newest word counts, and what comes late is not the newest.
_IN_ROLE = """
    INSERT INTO cells SELECT 'role:' || ?2, ?1 -> 'role', ?3, ?4
    WHERE ?2 IS NOT NULL AND json_type(?1, '$.role') = 'text'
    ON CONFLICT (key) DO UPDATE SET value = excluded.value, at = excluded.at, seq = excluded.seq
    WHERE excluded.at >= cells.at"""

_OPENED = """
    INSERT INTO work SELECT ?2, ?5, ?1 ->> 'id', ?3, 'open', ifnull(?1 ->> 'words', ''), ?4, 0, ?6
    WHERE ?1 ->> 'id' IS NOT NULL
    ON CONFLICT (session, what, key) DO UPDATE SET begun = excluded.begun,
      words = iif(excluded.words = '', words, excluded.words)"""

_CLOSED = """
    INSERT INTO work SELECT ?2, ?5, ?1 ->> 'id', ?3, ?7, ifnull(?1 ->> 'words', ''), 0, ?4, ?6
    WHERE ?1 ->> 'id' IS NOT NULL
    ON CONFLICT (session, what, key) DO UPDATE SET state = excluded.state, ended = excluded.ended,
      at = excluded.at WHERE state IN ('open', 'background', 'left')"""

# The call that began a subagent has its label; it may end before or after the subagent does. One
# that waited for its subagent has seen the end of it.
_LABELLED = """
    INSERT INTO work SELECT ?2, 'agent', ?1 ->> 'agent', ?3, iif(?1 ->> 'running', 'open', 'done'),
      ifnull(?1 ->> 'words', ''), ?4, iif(?1 ->> 'running', 0, ?4), ?5
    WHERE ?1 ->> 'agent' IS NOT NULL
    ON CONFLICT (session, what, key) DO UPDATE SET words = excluded.words,
      ended = iif(state = 'open' OR state = 'silent' AND excluded.state = 'done',
                  excluded.ended, ended),
      state = iif(state = 'open' OR state = 'silent' AND excluded.state = 'done',
                  excluded.state, state)"""

_EDITED = """
    INSERT INTO work SELECT ?2, 'file', ?1 ->> 'file', ?3, 'edited', '', ?4, ?4, ?5
    WHERE ?1 ->> 'file' IS NOT NULL
    ON CONFLICT (session, what, key) DO UPDATE SET ended = max(ended, excluded.ended),
      at = max(at, excluded.at)"""

_NEW_TASKS = """
    INSERT OR IGNORE INTO work
    SELECT ?2, 'task', each.value ->> 'id', ?3, 'pending', '', ?4, ?4, ?5
    FROM json_each(?1, '$.tasks') AS each WHERE each.value ->> 'id' IS NOT NULL"""

_TOLD_TASKS = """
    UPDATE work SET state = ifnull(each.value ->> 'status', state),
      words = ifnull(each.value ->> 'words', words), ended = ?3, at = ?4
    FROM json_each(?1, '$.tasks') AS each
    WHERE work.session = ?2 AND work.what = 'task' AND work.key = each.value ->> 'id'
      AND work.at <= ?4 AND work.key IN (SELECT value ->> 'id' FROM json_each(?1, '$.tasks'))"""

_DROPPED_TASKS = """
    UPDATE work SET state = 'deleted', ended = ?3, at = ?4
    WHERE ?1 ->> 'whole' AND session = ?2 AND what = 'task' AND at <= ?4
      AND key NOT IN (SELECT value ->> 'id' FROM json_each(?1, '$.tasks'))"""

_MADE = """
    INSERT INTO work SELECT ?2, 'commit', ?1 ->> 'commit', ?3, 'made',
      ifnull(?1 ->> 'words', ''), ?4, ?4, ?5 WHERE ?1 ->> 'commit' IS NOT NULL
    ON CONFLICT (session, what, key) DO UPDATE SET state = 'made', ended = excluded.ended"""

_NO_LONGER_THERE = """
    UPDATE work SET state = 'gone', ended = ?3 WHERE session = ?2 AND what = 'commit'
      AND key IN (SELECT value FROM json_each(?1, ?4))"""

# What the client calls a command in the background, and which call began it.
_SHELL = """
    INSERT OR IGNORE INTO work
    SELECT ?2, 'shell', ?1 ->> 'background', ?3, 'background', ?1 ->> 'id', ?4, 0, ?5
    WHERE ?1 ->> 'background' IS NOT NULL AND ?1 ->> 'id' IS NOT NULL"""

# Such a command has ended once the client no longer lists it.
_GONE = """
    UPDATE work INDEXED BY work_by_state SET state = 'done', ended = ?3
    WHERE session = ?2 AND what = 'shell' AND state = 'background' AND at <= ?4
      AND key NOT IN (SELECT value FROM json_each(?1, '$.background') WHERE value IS NOT NULL)"""

_NO_LONGER_LISTED = """
    UPDATE work SET state = 'unseen', ended = ?2
    WHERE session = ?1 AND what = 'call' AND state = 'background' AND key IN (
      SELECT words FROM work AS shell INDEXED BY work_by_state WHERE shell.state = 'done'
        AND shell.what = 'shell' AND shell.session = ?1 AND shell.ended = ?2)"""

# A turn ends when all its calls are over: those that did not say so were refused or broken off.
# Not those of an earlier life of the client: nobody knows whether they took effect.
_LEFT = """
    UPDATE work INDEXED BY work_by_state SET state = 'left', ended = ?3
    WHERE session = ?1 AND agent = ?2 AND what = 'call' AND state = 'open' AND at <= ?4
      AND begun > ifnull((SELECT woke FROM sessions WHERE session = ?1), 0)"""

_SEEN = "UPDATE briefs SET seen = ?3 WHERE session = ?1 AND agent = ?2 AND given > 0 AND seen = 0"


def session_started(connection: apsw.Connection, event: Row) -> None:
    """A session began, or woke up: then a brief is owed to it."""
    seq, at, _, _, session, actor, subdir, _, _, payload, _ = event
    is_overtaken = _is_overtaken(connection, event)
    connection.execute(_STARTED, (payload, session, subdir, seq, actor, at))
    if not is_overtaken:
        connection.execute(_OWED, (seq, session, actor, payload))
    if '"role":' in payload:
        connection.execute(_IN_ROLE, (payload, session, at, seq))


def session_ended(connection: apsw.Connection, event: Row) -> None:
    """A session said goodbye; what is open in it stays open."""
    if not _is_overtaken(connection, event):
        _set(connection, f"ended = ifnull(?1 ->> 'reason', 'other'), at = {int(event[1])}", event)


def _is_overtaken(connection: apsw.Connection, event: Row) -> bool:
    """Whether a late event comes after a start or an end that happened since."""
    later = "SELECT 1 FROM sessions WHERE session = ? AND at > ?"
    return event[8] is not None and bool(connection.execute(later, (event[4], event[1])).fetchall())


def session_forgotten(connection: apsw.Connection, event: Row) -> None:
    """A person wants to hear no more of it: nothing brings it back."""
    sql = "UPDATE sessions SET forgotten = ?1 WHERE session = ?2 ->> 'session'"
    connection.execute(sql, (event[0], event[9]))


def compaction_begun(connection: apsw.Connection, event: Row) -> None:
    """How full the context was; a subagent's is not the session's, and not every begin succeeds.

    Who compacts by hand has stopped whatever was running.
    """
    if '"manual"' in event[9]:
        connection.execute(_LEFT, (event[4], event[5], event[0], event[1]))
    _set(
        connection,
        "tokens = ifnull(?1 ->> 'tokens', tokens), window = ifnull(?1 ->> 'window', window)",
        event,
        condition="client = ?3",
    )


def _set(
    connection: apsw.Connection, change: str, event: Row, *, condition: str = "?3 = ?3"
) -> None:
    sql = f"UPDATE sessions SET {change} WHERE session = ?2 AND {condition}"  # noqa: S608  # our own words
    connection.execute(sql, (event[9], event[4], event[5]))


def prompt_given(connection: apsw.Connection, event: Row) -> None:
    """The user speaks again: a call that has not come back by now was refused or stopped."""
    rows = connection.execute("SELECT client FROM sessions WHERE session = ?", (event[4],))
    for (client,) in rows.fetchall():
        connection.execute(_LEFT, (event[4], client, event[0], event[1]))


def hooks_switched_on(connection: apsw.Connection, event: Row) -> None:
    """Nobody was there to see how anything ended."""
    connection.execute(
        "UPDATE work INDEXED BY work_by_state SET state = 'left', ended = ?"
        " WHERE state IN ('open', 'background') AND what IN ('call', 'agent', 'shell')",
        (event[0],),
    )


def tool_started(connection: apsw.Connection, event: Row) -> None:
    """A call is in flight."""
    seq, at, _, _, session, actor, _, _, _, payload, _ = event
    connection.execute(_OPENED, (payload, session, actor, seq, "call", at))
    _see(connection, event)


def tool_ended(connection: apsw.Connection, event: Row) -> None:
    """A call came back; what it began may go on without it."""
    seq, at, _, _, session, actor, _, _, _, payload, _ = event
    _close(connection, event, "call", "background" if '"background":' in payload else "done")
    if '"background":' in payload:
        connection.execute(_SHELL, (payload, session, actor, seq, at))
    if '"agent":' in payload:
        connection.execute(_LABELLED, (payload, session, actor, seq, at))
    if '"file":' in payload:
        connection.execute(_EDITED, (payload, session, actor, seq, at))


def tool_failed(connection: apsw.Connection, event: Row) -> None:
    """A call came back with an error."""
    _close(connection, event, "call", "failed")


def agent_started(connection: apsw.Connection, event: Row) -> None:
    """A subagent is at work."""
    seq, at, _, _, session, actor, _, _, _, payload, _ = event
    connection.execute(_OPENED, (payload, session, actor, seq, "agent", at))


def agent_ended(connection: apsw.Connection, event: Row) -> None:
    """A subagent is over, and its calls with it; older clients do not tell its last words here."""
    _close(connection, event, "agent", "done" if '"text":' in event[9] else "silent")
    connection.execute(_LEFT, (event[4], event[5], event[0], event[1]))
    _see(connection, event)


def _close(connection: apsw.Connection, event: Row, what: str, state: str) -> None:
    seq, at, _, _, session, actor, _, _, _, payload, _ = event
    connection.execute(_CLOSED, (payload, session, actor, seq, what, at, state))


def tasks_told(connection: apsw.Connection, event: Row) -> None:
    """Some tasks of the client's own list, or the whole of it; the newest word counts."""
    seq, at, _, _, session, actor, _, _, _, payload, _ = event
    connection.execute(_NEW_TASKS, (payload, session, actor, seq, at))
    connection.execute(_TOLD_TASKS, (payload, session, seq, at))
    connection.execute(_DROPPED_TASKS, (payload, session, seq, at))


def commit_seen(connection: apsw.Connection, event: Row) -> None:
    """A commit stands; those that it replaces do not."""
    seq, at, _, _, session, actor, _, _, _, payload, _ = event
    connection.execute(_NO_LONGER_THERE, (payload, session, seq, "$.replaces"))
    connection.execute(_MADE, (payload, session, actor, seq, at))


def commit_gone(connection: apsw.Connection, event: Row) -> None:
    """Commits were taken back."""
    connection.execute(_NO_LONGER_THERE, (event[9], event[4], event[0], "$.commits"))


def turn_ended(connection: apsw.Connection, event: Row) -> None:
    """The model has answered, and the client lists what still runs in the background."""
    seq, at, _, _, session, actor, _, _, _, payload, _ = event
    connection.execute(_LEFT, (session, actor, seq, at))
    if '"background":' in payload:
        connection.execute(_GONE, (payload, session, seq, at))
        connection.execute(_NO_LONGER_LISTED, (session, seq))
    _see(connection, event)


def _see(connection: apsw.Connection, event: Row) -> None:
    if event[8] is None:  # what comes from a spool may be older than the brief
        connection.execute(_SEEN, (event[4], event[5], event[0]))


def brief_given(connection: apsw.Connection, event: Row) -> None:
    """A hook has printed the brief that was owed; every older one is void."""
    connection.execute(
        "UPDATE briefs SET given = ?2, nonce = ?1 ->> 'nonce', characters = ?1 ->> 'characters'"
        " WHERE owed = ?1 ->> 'owed'",
        (event[9], event[0]),
    )


def brief_missed(connection: apsw.Connection, event: Row) -> None:
    """Nobody was there any more to print it for: it is owed again."""
    connection.execute(
        "UPDATE briefs SET given = 0, nonce = NULL, characters = 0 WHERE owed = ?1 ->> 'owed'",
        (event[9],),
    )


SESSION_FOLDS: Mapping[str, Fold] = {
    "session.started": session_started,
    "session.ended": session_ended,
    "session.forgotten": session_forgotten,
    "compaction.begun": compaction_begun,
    "prompt": prompt_given,
    "hooks.on": hooks_switched_on,
    "tool.started": tool_started,
    "tool.ended": tool_ended,
    "tool.failed": tool_failed,
    "agent.started": agent_started,
    "agent.ended": agent_ended,
    "tasks.told": tasks_told,
    "commit.seen": commit_seen,
    "commit.gone": commit_gone,
    "turn.ended": turn_ended,
    "brief.given": brief_given,
    "brief.missed": brief_missed,
}


# A wake-up that nobody was briefed for, unless a later one was.
_OWED_BRIEF = """
    SELECT owed, why FROM briefs WHERE session = ?1 AND agent = ?2 AND given = 0 AND seen = 0
      AND owed > (SELECT ifnull(max(owed), 0) FROM briefs
                  WHERE session = ?1 AND agent = ?2 AND given > 0)
      AND NOT EXISTS (SELECT 1 FROM sessions WHERE session = ?1 AND forgotten > 0)
    ORDER BY owed DESC LIMIT 1"""


def owed_brief(ask: Ask, session: str, agent: str) -> tuple[int, str] | None:
    """The wake-up that a brief is owed for, and what woke the agent."""
    rows = ask(_OWED_BRIEF, (session, agent))
    return (int(str(rows[0][0])), str(rows[0][1])) if rows else None
