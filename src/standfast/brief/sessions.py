"""The sessions of a repository, for people: what they do, and what became of their briefs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from standfast.errors.base import NothingFound, WrongUsage
from standfast.journal.tables.schema import TOLD

if TYPE_CHECKING:
    from standfast.brief.facts import Ask

_ROWS = """
    SELECT session, client, subdir, branch, process, tokens, window, compactions, ended, forgotten,
      transcript,
      ifnull((SELECT at FROM events WHERE stream = 'session:' || sessions.session
       ORDER BY seq DESC LIMIT 1), at) AS last,
      (SELECT payload ->> 'text' FROM events WHERE kind = 'prompt' AND {told}
       AND events.session = sessions.session ORDER BY seq DESC LIMIT 1),
      (SELECT count(*) FROM work WHERE state IN ('open', 'background')
       AND what IN ('call', 'agent') AND work.session = sessions.session),
      (SELECT nonce FROM briefs WHERE briefs.session = sessions.session AND given > 0
       ORDER BY owed DESC LIMIT 1),
      (SELECT seen > 0 FROM briefs WHERE briefs.session = sessions.session AND given > 0
       ORDER BY owed DESC LIMIT 1)
    FROM sessions WHERE {condition} ORDER BY last DESC LIMIT ?"""


_IN_A_ROLE = "SELECT substr(key, 6) FROM cells WHERE key >= 'role:' AND key < 'role;'"


class Session(NamedTuple):
    """One session as it stands in the journal."""

    session: str
    client: str
    subdir: str
    branch: str | None
    process: str | None
    tokens: int | None
    window: int | None
    compactions: int
    ended: str | None
    forgotten: int
    transcript: str | None
    last: int
    prompt: str | None
    in_flight: int
    nonce: str | None
    brief_seen: int | None

    @property
    def fill(self) -> int | None:
        """How full the context was when last seen, in percent."""
        if self.tokens is None:
            return None
        return round(100 * self.tokens / (self.window or 200_000))


def newest(ask: Ask, count: int) -> list[Session]:
    """The sessions last heard of, the newest first; forgotten ones are not among them."""
    rows = ask(_ROWS.format(condition="forgotten = 0", told=TOLD), (count,))
    return [Session._make(row) for row in rows]


def forgotten(ask: Ask, count: int) -> list[Session]:
    """Those that were forgotten, the one last heard of first."""
    rows = ask(_ROWS.format(condition="forgotten > 0", told=TOLD), (count,))
    return [Session._make(row) for row in rows]


def newest_in(ask: Ask, role: str) -> Session | None:
    """The session last heard of whose agent had this role."""
    condition = f"forgotten = 0 AND session IN ({_IN_A_ROLE} AND value ->> '$' = ?)"
    rows = ask(_ROWS.format(condition=condition, told=TOLD), (role, 1))
    return Session._make(rows[0]) if rows else None


def newest_in_no_role(ask: Ask) -> Session | None:
    """The session last heard of that is not known to be any role's."""
    condition = f"forgotten = 0 AND session NOT IN ({_IN_A_ROLE})"
    rows = ask(_ROWS.format(condition=condition, told=TOLD), (1,))
    return Session._make(rows[0]) if rows else None


def find(ask: Ask, name: str) -> Session:
    """The one session whose id begins with *name*."""
    rows = ask(_ROWS.format(condition="session = ?", told=TOLD), (name, 1))
    begins = _ROWS.format(condition="substr(session, 1, ?) = ?", told=TOLD)
    rows = rows or ask(begins, (len(name), name, 2))
    if not rows:
        raise NothingFound(f"there is no session `{name}` here")
    if len(rows) > 1:
        raise WrongUsage(f"several sessions begin with `{name}`: give more of its id")
    return Session._make(rows[0])


def injected_since(ask: Ask, at: int) -> int:
    """How many characters briefs and single lines have put into contexts since then."""
    briefs = ask(
        "SELECT ifnull(sum(characters), 0) FROM briefs JOIN events ON events.seq = briefs.given"
        " WHERE briefs.given > 0 AND events.at >= ?",
        (at,),
    )
    lines = ask(
        "SELECT ifnull(sum(payload ->> 'characters'), 0) FROM events INDEXED BY events_told"  # noqa: S608  # our own words
        f" WHERE kind = 'line.given' AND {TOLD} AND at >= ?",
        (at,),
    )
    return int(str(briefs[0][0])) + int(str(lines[0][0]))


def gaps_since(ask: Ask, at: int) -> list[tuple[int, str, int]]:
    """What could be kept nowhere: how many facts, why, and when that was told."""
    rows = ask(
        "SELECT CAST(payload ->> 'facts' AS INTEGER), payload ->> 'why', at FROM events"  # noqa: S608  # our own words
        f" WHERE kind = 'gap' AND {TOLD} AND at >= ? ORDER BY seq DESC LIMIT 5",
        (at,),
    )
    return [(int(str(facts or 1)), str(why), int(str(told))) for facts, why, told in rows]
