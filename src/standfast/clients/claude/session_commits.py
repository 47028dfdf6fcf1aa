"""Commits that came to be while this session's commands ran, as facts for its journal.

HEAD's log is everybody's: another session, or a person, may have committed in the same checkout.
Lines count from where the oldest command began that nobody has looked after yet, and only if
this command commits by its own words or nobody else is at work there. Hook path.
"""

from __future__ import annotations

from standfast import clock
from standfast.clients.claude.hook_facts import Fact
from standfast.clients.hooks import commits
from standfast.redaction.redactor import redact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from standfast.clients.claude.derived_facts import Ask
    from standfast.clients.hooks.checkout import Checkout
    from standfast.clients.hooks.hook_call import Call

_HOUR_US = 3_600 * clock.MICROSECONDS
_MOST = 50
_LONGEST_SUBJECT = 200

_OTHERS_AT_WORK = """
    SELECT 1 FROM work INDEXED BY work_by_state JOIN events ON events.seq = work.begun
    JOIN sessions ON sessions.session = work.session
    WHERE work.state = 'open' AND work.what = 'call' AND work.session <> ?1
      AND sessions.ended IS NULL AND events.payload ->> 'checkout' = ?2 AND events.at > ?3
    LIMIT 1"""

_TOLD = """
    SELECT work.key, events.payload ->> 'parent', work.words FROM work INDEXED BY work_by_state
    JOIN events ON events.seq = work.ended
    WHERE work.state = 'made' AND work.what = 'commit' AND work.session = ?1 AND work.agent = ?2
    ORDER BY work.ended DESC LIMIT ?3"""

_IS_ANOTHERS = """
    SELECT 1 FROM work INDEXED BY work_by_state
    WHERE state = 'made' AND what = 'commit' AND session <> ?1 AND key = ?2 LIMIT 1"""


def facts(
    looked: Fact, call: Call, ask: Ask, checkout: Checkout, since: int, words: str
) -> list[Fact]:
    """What HEAD's log has gained, told once; the fact that made us look says how far we did."""
    if not _is_ours(words, checkout, call, ask):
        return []
    looked.fields["log"] = checkout.log_size()
    told = [
        (str(commit), str(parent or ""), str(subject))
        for commit, parent, subject in ask(_TOLD, (call.session, looked.actor, _MOST))
    ]
    moves = checkout.moves_since(since)
    for move in moves:
        move.subject = redact(move.subject)[:_LONGEST_SUBJECT]
    made, gone = commits.read(moves, told)
    found = [_seen(each, looked.actor) for each in made if not _is_anothers(each, call, ask)]
    if gone:
        found.append(Fact("commit.gone", {"json:commits": _json(gone)}, looked.actor))
    return found


def _is_ours(words: str, checkout: Checkout, call: Call, ask: Ask) -> bool:
    if any(verb in words for verb in commits.VERBS):
        return True
    lately = clock.now_us() - _HOUR_US
    return not ask(_OTHERS_AT_WORK, (call.session, checkout.id, lately))


def _is_anothers(seen: commits.Seen, call: Call, ask: Ask) -> bool:
    return bool(ask(_IS_ANOTHERS, (call.session, seen.commit)))


def _seen(seen: commits.Seen, actor: str) -> Fact:
    fields: dict[str, str | int] = {"commit": seen.commit, "parent": seen.parent}
    if seen.replaces:
        fields["json:replaces"] = _json(seen.replaces)
    return Fact("commit.seen", {**fields, "words": seen.subject}, actor)


def _json(hashes: list[str]) -> str:
    """Hashes need no escapes."""
    return "[" + ",".join(f'"{each}"' for each in hashes) + "]"
