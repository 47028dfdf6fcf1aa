"""Look: what the journal knows of one session that its agent must know. Every read is bounded.

Only the session's own lineage: itself and what it was forked from, up to the fork. Hook path:
values are plain tuples, because a hook cannot afford to import more.
"""

from __future__ import annotations

from standfast.brief import live_plans, open_outputs
from standfast.journal.tables.schema import TOLD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from standfast.brief.open_outputs import Output
    from standfast.brief.plan_summary import Plan

    Ask = Callable[[str, tuple[str | int, ...]], list[tuple[object, ...]]]
    Lineage = list[tuple[str, int]]  # sessions with the last event of each that counts

_NEWEST = 1 << 62
_HOUR_US = 3_600_000_000
_MOST_COUNTED = 10_000

_PROMPTS = f"""
    SELECT at, CAST(ifnull(payload ->> 'text', '') AS TEXT) FROM events INDEXED BY events_told
    WHERE kind = 'prompt' AND session = ? AND seq <= ? AND {TOLD}
    ORDER BY seq {{order}} LIMIT ?"""  # noqa: S608  # our own words

_NEWEST_OF = f"""
    SELECT ifnull(max(seq), 0) FROM events INDEXED BY events_told
    WHERE kind = ? AND session = ? AND {TOLD}"""  # noqa: S608  # our own words

_COUNT_PROMPTS = f"""
    SELECT count(*) FROM events INDEXED BY events_told
    WHERE kind = 'prompt' AND session = ? AND seq <= ? AND {TOLD} LIMIT ?"""  # noqa: S608  # our own words

_MISSING = f"""
    SELECT kind, payload ->> 'facts', at FROM events INDEXED BY events_told
    WHERE kind IN ('gap', 'hooks.off') AND session IS NULL AND {TOLD}
      AND seq > ifnull((SELECT began FROM sessions WHERE session = ?), 0)
    ORDER BY seq DESC LIMIT 20"""  # noqa: S608  # our own words

# A command of ours, and nothing else on the same line, is no work to tell of.
_IS_OURS = "(work.words GLOB 'standfast *' AND work.words NOT GLOB '*[;&|\n]*')"

# The event may have been dropped since; what it began has its own time.
_IN_FLIGHT = f"""
    SELECT work.what, work.words, ifnull(events.at, work.at), work.begun,
      CAST(events.payload ->> 'tool' AS TEXT), work.state
    FROM work INDEXED BY work_by_state
    LEFT JOIN events ON events.seq = iif(work.begun > 0, work.begun, work.ended)
    WHERE work.state IN ('open', 'background') AND work.what IN ('call', 'agent')
      AND work.session = ? AND work.begun <= ? AND work.agent = ?
      AND NOT {_IS_OURS} ORDER BY work.begun DESC LIMIT ?"""  # noqa: S608  # our own words

# What a call recorded itself, a decision or a commit, is told in its own place. Of the newest
# calls those that ran a command count; how many are looked at is bounded.
_RESULTS = f"""
    SELECT * FROM (
      SELECT events.at, work.words, work.state, events.payload ->> 'status',
        CAST(coalesce(events.payload ->> 'error', events.payload ->> 'text',
          events.payload ->> 'out', '') AS TEXT),
        work.ended, iif(work.what = 'agent', 'subagent', began.payload ->> 'tool') AS name
      FROM work INDEXED BY work_by_state JOIN events ON events.seq = work.ended
      LEFT JOIN events AS began ON began.seq = iif(work.begun > 0, work.begun, work.ended)
      WHERE work.state = ? AND work.what = ? AND work.session = ? AND work.ended <= ?
        AND work.agent = ? AND NOT {_IS_OURS} AND NOT (work.state = 'done' AND EXISTS (
          SELECT 1 FROM events AS next
          WHERE next.seq = work.ended + 1 AND next.kind = 'commit.seen'))
      ORDER BY work.ended DESC LIMIT 100)
    WHERE name IN ('Bash', 'subagent') LIMIT ?"""  # noqa: S608  # our own words

_COMMITS = """
    SELECT substr(key, 1, 7), words, ended FROM work INDEXED BY work_by_state
    WHERE state = 'made' AND what = 'commit' AND session = ? AND ended <= ? AND agent = ?
    ORDER BY ended DESC LIMIT ?"""

_EDITED = """
    SELECT key FROM work INDEXED BY work_by_state
    WHERE state = 'edited' AND what = 'file' AND session = ? AND ended <= ?
      AND agent = ? ORDER BY ended DESC LIMIT ?"""

_TASKS = """
    SELECT key, words, state FROM work INDEXED BY work_by_state
    WHERE state IN ('in_progress', 'pending') AND what = 'task'
      AND session = ? AND begun <= ? ORDER BY state, begun, key LIMIT ?"""

_DECISIONS = """
    SELECT id, text, actor, at, origin FROM decisions
    WHERE (session IS NULL OR session = ?{}) AND actor <> 'repository'
      AND id NOT IN (SELECT value FROM json_each(?))
    ORDER BY number DESC LIMIT ?"""
_DOCUMENTS = "SELECT count(*) FROM cells WHERE key >= 'resumption:' AND key < 'resumption;'"
# What a repository says binds nobody: it is told apart.
_FOREIGN = """
    SELECT id, text, actor, at, origin, count(*) OVER () FROM decisions
    WHERE actor = 'repository' ORDER BY number DESC LIMIT ?"""
_OR_BEFORE_THE_FORK = """
    OR (session = ? AND (seq <= ? OR at <= (SELECT at FROM events WHERE events.seq = ?)))"""

_OTHERS = """
    SELECT count(*) FROM sessions WHERE session NOT IN ({}) AND ended IS NULL AND forgotten = 0
      AND (SELECT at FROM events WHERE stream = 'session:' || sessions.session
           ORDER BY seq DESC LIMIT 1) > ?"""

_UPTO = """
    SELECT ifnull((SELECT at FROM events WHERE stream = 'session:' || ?1
      ORDER BY seq DESC LIMIT 1), (SELECT at FROM sessions WHERE session = ?1))"""
_ASKED_OF_AGENT = """
    SELECT began.payload ->> 'words', call.payload ->> 'prompt', began.at FROM work
    JOIN events AS began ON began.seq = work.begun
    LEFT JOIN work AS its ON its.session = work.session AND its.what = 'call'
      AND its.key = began.payload ->> 'call'
    LEFT JOIN events AS call ON call.seq = its.begun
    WHERE work.session = ? AND work.what = 'agent' AND work.key = ?"""


class Facts:
    """What is known, newest first in every list."""

    __slots__ = (
        *("session", "client", "agent", "why", "branch", "woke", "parent", "upto", "prompts"),
        *("first_prompt", "in_flight", "results", "commits", "edited", "tasks", "decisions"),
        *("others", "label", "asked", "is_answered", "all_prompts", "all_decisions", "missing"),
        *("open_outputs", "plans", "plans_elsewhere", "unapplied", "foreign", "all_foreign"),
    )

    session: str
    client: str
    agent: str
    why: str
    branch: str | None
    woke: int
    parent: str | None
    upto: int
    prompts: list[tuple[int, str]]
    first_prompt: tuple[int, str] | None
    in_flight: list[tuple[str, str, int, int, str, str]]
    results: list[tuple[int, str, str, int | None, str, int, str]]
    commits: list[tuple[str, str, int]]
    edited: list[str]
    tasks: list[tuple[str, str, str]]
    decisions: list[tuple[str, str, str, int, str | None]]
    others: int
    label: str
    asked: str
    is_answered: bool  # the newest prompt
    all_prompts: int
    all_decisions: int
    missing: list[tuple[str, int | None, int]]  # gaps and times when hooks were off
    open_outputs: list[Output]
    plans: list[Plan]  # the resumption sections that lead it
    plans_elsewhere: list[tuple[str, str]]  # files of those by which another session is at work
    unapplied: dict[str, tuple[str, str]]  # decisions that wait: for which phases, the id there
    foreign: list[tuple[str, str, str, int, str | None]]  # decisions of the repository's
    all_foreign: int

    def __init__(self) -> None:
        self.open_outputs = []
        self.plans = []
        self.plans_elsewhere = []
        self.unapplied = {}
        self.foreign = []
        self.all_foreign = 0

    @property
    def is_subagent(self) -> bool:
        """Whether the brief is for a subagent and not for the session itself."""
        return self.agent != self.client


def gather(
    ask: Ask,
    session: str,
    agent: str,
    why: str,
    *,
    most: int,
    root: str | None = None,
    now: int | None = None,
) -> Facts:
    """Everything for one brief, at most *most* of each kind; plans: those that concern *root*."""
    found = Facts()
    found.session, found.agent, found.why = session, agent, why
    rows = ask("SELECT client, branch, woke, parent FROM sessions WHERE session = ?", (session,))
    client, branch, woke, parent = rows[0] if rows else (agent, None, 0, None)
    found.client, found.woke = str(client), int(str(woke))
    found.branch = None if branch is None else str(branch)
    found.parent = None if parent is None else str(parent)
    lineage = _lineage(ask, session)
    ((upto,),) = ask(_UPTO, (session,))
    found.upto = int(str(upto or 0))
    hidden = _of_other_workflows(ask, root) if root else "[]"
    _gather_words(ask, found, lineage, most, hidden)
    _gather_work(ask, found, lineage, most)
    if root and not found.is_subagent:
        found.open_outputs = open_outputs.gather(ask, root, session, most=most)
        found.plans = live_plans.gather(ask, root, session, now or found.upto, most=most)
        _leave_to_others(ask, found, lineage)
        _add_unapplied(found)
    return found


def _leave_to_others(ask: Ask, found: Facts, lineage: Lineage) -> None:
    """A plan leads this session unless another one is at work by it."""
    names, since = [name for name, _ in lineage], found.upto - _HOUR_US
    for plan in found.plans if found.others else []:
        leader = live_plans.led_elsewhere(ask, plan, names, since)
        if leader is not None:
            found.plans_elsewhere.append((plan.file, leader))
    theirs = [file for file, _ in found.plans_elsewhere]
    found.plans = [plan for plan in found.plans if plan.file not in theirs]


def _add_unapplied(found: Facts) -> None:
    """A decision of a plan that waits for its phase binds too, whoever made it; told once."""
    known = {row[0] for row in found.decisions}
    theirs = "repository"
    waiting = {row[0]: row for plan in found.plans for row in plan.unapplied if row[2] != theirs}
    found.unapplied = {key: row[5:] for key, row in waiting.items()}
    added = [row[:5] for key, row in waiting.items() if key not in known]
    found.all_decisions += len(added)
    every = [*found.decisions, *added]
    found.decisions = sorted(every, key=lambda row: (len(row[0]), row[0]), reverse=True)


def _lineage(ask: Ask, session: str) -> Lineage:
    """The session and what it was forked from, each up to where the fork began.

    Where the event of its start was dropped, only a fork names a parent that did not end in it.
    """
    found = [(session, _NEWEST)]
    forked = (
        "SELECT sessions.parent, sessions.began FROM sessions LEFT JOIN events"
        " ON events.seq = sessions.began WHERE sessions.session = ?"
        " AND ifnull(events.payload ->> 'source', iif(events.seq IS NULL AND 'clear' IS NOT"
        " (SELECT ended FROM sessions AS its WHERE its.session = sessions.parent), 'fork', ''))"
        " = 'fork' AND sessions.parent IS NOT NULL AND NOT EXISTS"
        " (SELECT 1 FROM sessions AS its WHERE its.session = sessions.parent AND its.forgotten > 0)"
    )
    while len(found) < 8 and (rows := ask(forked, (found[-1][0],))):  # noqa: PLR2004  # enough
        found.append((str(rows[0][0]), int(str(rows[0][1]))))
    return found


def _of_other_workflows(ask: Ask, root: str) -> str:
    """Decisions of documents whose file leads another workflow here now: they bind there."""
    if int(str(ask(_DOCUMENTS, ())[0][0])) < 2:  # noqa: PLR2004  # then there is no other
        return "[]"
    from standfast.protocols.resumption.records import live_documents  # few repositories have any

    return live_documents.decided_elsewhere(ask, root)


def _gather_words(ask: Ask, found: Facts, lineage: Lineage, most: int, hidden: str) -> None:
    found.prompts, found.first_prompt, found.label, found.asked = [], None, "", ""
    if found.is_subagent:
        rows = ask(_ASKED_OF_AGENT, (found.session, found.agent))
        label, asked, _ = rows[0] if rows else ("", "", 0)
        found.label, found.asked = str(label or ""), str(asked or "")
    else:
        found.prompts = _each(ask, _PROMPTS.format(order="DESC"), lineage, (), most)
        first = _each(ask, _PROMPTS.format(order="ASC"), lineage[-1:], (), 1)
        found.first_prompt = first[0] if first else None
    asked_at, answered_at = (
        ask(_NEWEST_OF, (kind, found.session))[0][0] for kind in ("prompt", "turn.ended")
    )
    found.is_answered = int(str(answered_at)) >= int(str(asked_at))
    found.all_prompts = sum(row[0] for row in _each(ask, _COUNT_PROMPTS, lineage, (), most))
    found.missing = ask(_MISSING, (found.session,))  # type: ignore[assignment]  # as selected
    names = [name for name, _ in lineage]
    marks = ",".join("?" * len(names))
    decided = _DECISIONS.format(_OR_BEFORE_THE_FORK * (len(lineage) - 1))
    before = [value for name, fork in lineage[1:] for value in (name, fork, fork)]
    found.decisions = ask(decided, (found.session, *before, hidden, most))  # type: ignore[assignment]  # as selected
    counted = f"SELECT count(*) FROM ({decided})"  # noqa: S608  # our own words
    ((found.all_decisions,),) = ask(counted, (found.session, *before, hidden, _MOST_COUNTED))  # type: ignore[assignment]  # a count
    rows = ask(_FOREIGN, (most,))
    found.foreign = [row[:5] for row in rows]  # type: ignore[misc]  # as selected
    found.all_foreign = int(str(rows[0][5])) if rows else 0
    since = found.upto - _HOUR_US
    ((found.others,),) = ask(_OTHERS.format(marks), (*names, since))  # type: ignore[assignment]  # a count


def _gather_work(ask: Ask, found: Facts, lineage: Lineage, most: int) -> None:
    mine = (found.agent,)
    found.in_flight = _each(ask, _IN_FLIGHT, lineage, mine, 2 * most)  # subagents and their calls
    results = [
        row
        for state, what in (
            ("done", "call"),
            ("failed", "call"),
            ("unseen", "call"),
            ("left", "call"),
            ("done", "agent"),
            ("silent", "agent"),
        )
        for row in _each(ask, _RESULTS, lineage, mine, most, before=(state, what))
    ]
    found.results = sorted(results, key=lambda row: -row[5])[:most]
    found.commits = _each(ask, _COMMITS, lineage, mine, most)
    edited = _each(ask, _EDITED, lineage, mine, most)
    found.edited = [path for (path,) in edited]
    found.tasks = [] if found.is_subagent else _each(ask, _TASKS, lineage, (), most)


def _each(
    ask: Ask,
    sql: str,
    lineage: Lineage,
    after: tuple[str | int, ...],
    most: int,
    *,
    before: tuple[str, ...] = (),
) -> list[tuple]:  # type: ignore[type-arg]  # rows as each query selects them
    """The rows of every session of the lineage, its own first."""
    rows: list[tuple[object, ...]] = []
    for session, upto in lineage:
        rows += ask(sql, (*before, session, upto, *after, most))
    return rows[:most]


def open_sessions(ask: Ask) -> Iterator[tuple[str, str | None, int]]:
    """Sessions that did not say goodbye and still have something in flight."""
    rows = ask(
        "SELECT session, process,"
        " (SELECT at FROM events WHERE stream = 'session:' || sessions.session"
        " ORDER BY seq DESC LIMIT 1) AS last FROM sessions WHERE ended IS NULL AND forgotten = 0"
        " AND EXISTS (SELECT 1 FROM work WHERE work.state IN ('open', 'background', 'in_progress')"
        "   AND work.what IN ('call', 'agent', 'task') AND work.session = sessions.session)"
        " ORDER BY last DESC LIMIT 20",
        (),
    )
    for session, process, last in rows:
        yield str(session), None if process is None else str(process), int(str(last or 0))
