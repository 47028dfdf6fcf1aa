"""What a hook call means beside what was already recorded: who acts, what else is to be told.

Looks at the journal, the checkout and the transcript; `hook_facts` reads the payload itself.
Hook path.
"""

from __future__ import annotations

from standfast.clients.claude.hook_facts import DELEGATES, MAIN, Fact
from standfast.clients.hooks.checkout import Checkout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from standfast.clients.hooks.hook_call import Call

    Ask = Callable[[str, tuple[str | int, ...]], list[tuple[object, ...]]]

_OF_THE_MAIN = frozenset({"UserPromptSubmit", "Stop", "SubagentStart", "SessionEnd"})

_COMPACTS = frozenset({"PreCompact", "SessionStart"})
SOME_SUBAGENT = "subagent"

# While a call waits for its subagent, everything that happens is the subagent's doing.
_WAITED_FOR = """
    SELECT agent.key FROM work AS agent JOIN events ON events.seq = agent.begun
    JOIN work AS call ON call.session = agent.session AND call.what = 'call'
      AND call.key = events.payload ->> 'call'
    WHERE agent.session = ? AND agent.what = 'agent' AND agent.state = 'open'
      AND call.state = 'open'"""

_UNCLAIMED_CALL = """
    SELECT call.key, call.words FROM work AS call INDEXED BY work_by_state
    JOIN events ON events.seq = call.begun
    WHERE call.session = ?1 AND call.what = 'call' AND call.state = 'open'
      AND events.payload ->> 'tool' IN ('Agent', 'Task')
      AND ifnull(events.payload ->> 'type', ?2) = ?2
      AND NOT EXISTS (SELECT 1 FROM work AS agent JOIN events AS began ON began.seq = agent.begun
        WHERE agent.session = ?1 AND agent.what = 'agent' AND began.payload ->> 'call' = call.key)
    ORDER BY call.begun LIMIT 1"""


# Calls whose end was not looked after: still running, in the background, or told by a spool.
# Of those that ended only the newest can be such: how many are looked at is bounded.
_UNLOOKED = """
    SELECT min(CAST(began.payload ->> 'log' AS INTEGER)), group_concat(words, ' ') FROM (
      SELECT begun, ended, words FROM work INDEXED BY work_by_state
      WHERE state IN ('open', 'background') AND what = 'call' AND session = ?1 AND agent = ?2
      UNION ALL
      SELECT begun, ended, words FROM work INDEXED BY work_by_state
      WHERE state IN ('done', 'failed') AND what = 'call' AND session = ?1 AND agent = ?2
        AND ended > (SELECT max(seq) - 60 FROM events)) AS ran
    JOIN events AS began ON began.seq = ran.begun
    LEFT JOIN events AS over ON over.seq = ran.ended
    WHERE began.payload ->> 'checkout' = ?3 AND over.payload ->> 'log' IS NULL"""

_NEWEST = """
    SELECT kind, actor FROM events WHERE stream = ?
      AND kind NOT IN ('lifecycle.moved', 'context.adopted', 'file.kept', 'compaction.checkpoint')
    ORDER BY seq DESC LIMIT 1"""


def actor(call: Call, ask: Ask) -> str:
    """Who acts: the subagent that the client names, the one that is waited for, or the main."""
    if call.agent is not None:
        return call.agent
    tells_agents = "CLAUDE_CODE_SESSION_ID" in call.environ
    if tells_agents or call.event in _OF_THE_MAIN or call.tool in DELEGATES:
        return MAIN
    waited_for = ask(_WAITED_FOR, (call.session,))
    if len(waited_for) == 1:
        return str(waited_for[0][0])
    # Several are waited for: a compaction is one of theirs, whose cannot be told.
    return SOME_SUBAGENT if waited_for and call.event in _COMPACTS else MAIN


def complete(found: list[Fact], call: Call, ask: Ask) -> list[Fact]:
    """The facts with what only this moment can add; those that are no work of the session go."""
    return [fact for each in found for fact in _complete(each, call, ask)]


def _complete(fact: Fact, call: Call, ask: Ask) -> list[Fact]:
    how = _COMPLETERS.get(fact.kind)
    return [fact] if how is None else how(fact, call, ask)


def _session_started(fact: Fact, call: Call, ask: Ask) -> list[Fact]:
    from standfast.clients.claude import session_start  # once or twice in a session

    session_start.complete(fact, call, ask)
    return [fact]


def _tool_started(fact: Fact, call: Call, ask: Ask) -> list[Fact]:
    tool = fact.fields.get("tool")
    if tool == "Bash":
        checkout = Checkout(call.cwd)
        fact.fields["log"] = checkout.log_size()
        fact.fields["checkout"] = checkout.id
    elif call.declared:
        from standfast.clients.claude import subagent_outputs  # of many prompts few declare one

        return [fact, *subagent_outputs.launched(fact, call, ask)]
    return [fact]


def _tool_ended(fact: Fact, call: Call, ask: Ask) -> list[Fact]:
    if fact.kind == "tool.failed":
        _, is_status, status = str(fact.fields.get("error", "")).partition("Exit code ")
        digits = status.split("\n", 1)[0].strip()
        if is_status and digits.isascii() and digits.isdigit():
            fact.fields["status"] = int(digits[:3])
    if call.declared:
        from standfast.clients.claude import subagent_outputs

        subagent_outputs.told_late(call, ask)
    if fact.fields.get("tool") != "Bash" or "background" in fact.fields:
        return [fact]  # what goes on in the background is looked after when the turn ends
    return [fact, *_commits(fact, call, ask)]


def _turn_ended(fact: Fact, call: Call, ask: Ask) -> list[Fact]:
    """A command in the background may have committed since anybody looked."""
    running = "SELECT 1 FROM work WHERE state = 'background' AND what = 'call' AND session = ?"
    return [fact, *(_commits(fact, call, ask) if ask(running, (call.session,)) else [])]


def _commits(fact: Fact, call: Call, ask: Ask) -> list[Fact]:
    checkout = Checkout(call.cwd)
    ((since, words),) = ask(_UNLOOKED, (call.session, fact.actor, checkout.id)) or [(None, "")]
    if since is None:
        return []
    if checkout.log_size() <= int(str(since)):
        fact.fields["log"] = int(str(since))
        return []
    from standfast.clients.claude import session_commits  # of many commands few commit

    return session_commits.facts(fact, call, ask, checkout, int(str(since)), str(words))


def _tasks_told(fact: Fact, _call: Call, _ask: Ask) -> list[Fact]:
    """A subagent's whole list is its own, not the session's."""
    return [] if "whole" in fact.fields and fact.actor != MAIN else [fact]


def _agent_started(fact: Fact, call: Call, ask: Ask) -> list[Fact]:
    """The client also starts subagents of its own accord; those were asked for by no call."""
    fact.actor = MAIN
    began = ask(_UNCLAIMED_CALL, (call.session, str(fact.fields.get("type", ""))))
    if not began:
        return []
    fact.fields["call"], fact.fields["words"] = str(began[0][0]), str(began[0][1])
    return [fact]


def _agent_ended(fact: Fact, call: Call, ask: Ask) -> list[Fact]:
    """A compaction ends as a subagent too: only those that are known to have begun count.

    Where no journal answers it is kept as it is told.
    """
    known = "SELECT EXISTS (SELECT 1 FROM work WHERE session = ? AND what = 'agent' AND key = ?)"
    is_unknown = ask(known, (call.session, str(fact.fields.get("id")))) == [(0,)]
    over = [] if is_unknown else [fact]
    if not call.outputs:
        return over
    from standfast.clients.claude import (
        subagent_outputs,  # of many subagents few were told to leave any
    )

    return subagent_outputs.ended(over, call, ask)


def _compaction_begun(fact: Fact, call: Call, ask: Ask) -> list[Fact]:
    """Where a role's checkout has our hook beside the user's, both tell of the one compaction."""
    has_role = call.role is not None
    if has_role and ask(_NEWEST, (f"session:{call.session}",)) == [(fact.kind, fact.actor)]:
        return []
    from standfast.clients.claude import transcript

    (path,) = call.payload.ask(["?1->>'transcript_path'"])
    tokens = transcript.tokens(transcript.tail(None if path is None else str(path)))
    if tokens is not None:
        fact.fields["tokens"] = tokens
        fact.fields["window"] = transcript.window(call.environ)
    return [fact]


_COMPLETERS: dict[str, Callable[[Fact, Call, Ask], list[Fact]]] = {
    "session.started": _session_started,
    "tool.started": _tool_started,
    "tool.ended": _tool_ended,
    "tool.failed": _tool_ended,
    "agent.started": _agent_started,
    "agent.ended": _agent_ended,
    "compaction.begun": _compaction_begun,
    "tasks.told": _tasks_told,
    "turn.ended": _turn_ended,
}
