"""Look: the live resumption sections that concern a checkout. Every read is bounded.

Fields are taken out of a section by SQLite: a hook cannot afford to import the protocol. Where
there is no section, one question is asked. Hook path.
"""

from __future__ import annotations

from standfast.brief.plan_summary import NOT_DONE, PASS, Plan
from standfast.protocols.resumption.rules import staleness

TYPE_CHECKING = False
if TYPE_CHECKING:
    from standfast.brief.facts import Ask


MOST = 3  # documents of one checkout
_LONGEST = 4_000  # characters of any one text: no brief holds more of it
_STATE = "value ->> '$.section.recovery_state."
_HISTORY = "'$.section.quality_trajectory.score_history'"

_LIVE = f"""
    FROM cells WHERE key >= 'resumption:' AND key < 'resumption;'
      AND (?4 OR {_STATE}workflow_status' IN ('ACTIVE', 'PAUSED'))"""

# Asked first: the other question takes SQLite longer to understand than to answer.
_ANY = "SELECT 1 FROM cells WHERE key >= 'resumption:' AND key < 'resumption;' LIMIT 1"
_PLANS = f"""
    SELECT ifnull(value ->> 'file', substr(key, 12)), here(value ->> '$.root'),
      {_STATE}workflow_status',
      substr({_STATE}current_phase_name', 1, ?2), substr({_STATE}current_activity', 1, ?2),
      substr({_STATE}next_step', 1, ?2), {_STATE}updated_at',
      {_STATE}last_checkpoint',
      substr(value ->> '$.section.quality_trajectory.current_gate', 1, ?2),
      substr(value ->> '$.section.quality_trajectory.lowest_dimension', 1, ?2),
      substr(value ->> '$.section.defect_summary.last_gate_primary_defect', 1, ?2),
      {_STATE}current_phase', value ->> '$.phase_at',
      (SELECT count(*) FROM json_each(cells.value, '$.section.compaction_events.events') AS each
        WHERE NOT ifnull(each.value ->> '$.acknowledged', 0)),
      count(*) OVER (),
      substr(value ->> '$.pending.gate', 1, ?2), value ->> '$.pending.iteration',
      (SELECT count(*) FROM json_each(cells.value, '$.pending.scores')), substr(key, 12)
    {_LIVE} AND (?1 = '' OR instr(?1, char(10) || substr(key, 12) || char(10)))
    ORDER BY {_STATE}workflow_status', at DESC, key LIMIT ?3"""  # noqa: S608  # our own words

# Of several gates the one that is worked at comes first.
_GATES = f"""
    SELECT substr(each.key, 1, ?2), json_array_length(each.value), each.value ->> '$[#-1]',
      (SELECT count(*) FROM json_each(each.value) AS one WHERE one.value < {PASS})
    FROM cells, json_each(cells.value, {_HISTORY}) AS each
    WHERE cells.key = 'resumption:' || ?1 AND json_array_length(each.value) > 0
    ORDER BY each.key IS cells.value ->> '$.section.quality_trajectory.current_gate' DESC,
      each.id DESC LIMIT ?3"""  # noqa: S608  # our own words

_IS_FOREIGN = """cells.value ->> '$.foreign' IS NOT NULL AND EXISTS (
      SELECT 1 FROM json_each(cells.value, '$.foreign') AS label WHERE label.value = {})"""
_FOREIGN_EVENT = _IS_FOREIGN.format("'compaction_events.' || (each.value ->> '$.id')")

# What the repository wrote of a section, without its lists of agents and compactions.
_FOREIGN = """
    SELECT each.value FROM cells, json_each(cells.value, '$.foreign') AS each
    WHERE cells.key = 'resumption:' || ?1 AND each.value NOT GLOB 'agent_summaries.*'
      AND each.value NOT GLOB 'compaction_events.*'"""

# The iteration that a compaction cut in this phase, however many came since, if it did not end.
_CUT = f"""
    SELECT substr(each.value ->> '$.active_gate', 1, ?2), each.value ->> '$.active_gate_iteration'
    FROM cells, json_each(cells.value, '$.section.compaction_events.events') AS each
    WHERE cells.key = 'resumption:' || ?1
      AND each.value ->> '$.active_phase' IS cells.{_STATE}current_phase'
      AND each.value ->> '$.active_gate_iteration' > ifnull(
        (SELECT json_array_length(past.value) FROM json_each(cells.value, {_HISTORY}) AS past
         WHERE past.key = each.value ->> '$.active_gate'), 0)
      AND NOT ({_FOREIGN_EVENT})
    ORDER BY each.id DESC LIMIT ?3"""  # noqa: S608  # our own words

_TO_COME = f"""
    SELECT substr(each.value, 1, ?2)
    FROM cells, json_each(cells.value, '$.section.quality_trajectory.gates_remaining') AS each
    WHERE cells.key = 'resumption:' || ?1 AND NOT EXISTS (
      SELECT 1 FROM json_each(cells.value, {_HISTORY}) AS past WHERE past.key = each.value)
    ORDER BY each.id LIMIT ?3"""  # noqa: S608  # our own words

# A file is a bare path, or one with a priority; a bare one has its place for a priority.
_FILES = """
    SELECT substr(iif(each.type = 'object', each.value ->> '$.path', each.value), 1, ?2),
      iif(each.type = 'object', substr(ifnull((SELECT group_concat(part.value, '; ')
        FROM json_each(each.value, '$.sections') AS part), ''), 1, ?2), ''),
      iif(each.type = 'object', substr(each.value ->> '$.purpose', 1, ?2), ''),
      count(*) OVER ()
    FROM cells, json_each(cells.value, '$.section.files_to_read') AS each
    WHERE cells.key = 'resumption:' || ?1
    ORDER BY iif(each.type = 'object', each.value ->> '$.priority', each.key + 1), each.id
    LIMIT ?3"""

_DEFECTS = """
    SELECT substr(each.value, 1, ?2), count(*) OVER ()
    FROM cells, json_each(cells.value, '$.section.defect_summary.unresolved_defects') AS each
    WHERE cells.key = 'resumption:' || ?1 ORDER BY each.id LIMIT ?3"""

# The word that a summary begins with says how it went; only who did it need not be sent again.
_STATUS = "upper(ltrim(substr(each.value, 1, 40), ' *_`[('))"
_FAILED = " OR ".join(f"{_STATUS} GLOB '{word}*'" for word in NOT_DONE)
_FOREIGN_AGENT = _IS_FOREIGN.format("'agent_summaries.' || each.key")
_AGENTS = f"""
    SELECT substr(each.key, 1, ?2), substr(each.value, 1, ?2), count(*) OVER ()
    FROM cells, json_each(cells.value, '$.section.agent_summaries') AS each
    WHERE cells.key = 'resumption:' || ?1
      AND iif({_FOREIGN_AGENT}, 2, ({_FAILED})) = ?4
    ORDER BY each.id DESC LIMIT ?3"""  # noqa: S608  # our own words

# Those of the plan itself: one that was only noted binds always, and is never applied.
_UNAPPLIED = """
    SELECT decisions.id, substr(decisions.text, 1, ?2), decisions.actor, decisions.at,
      decisions.origin, substr(ifnull((SELECT group_concat(phase.value, ', ')
        FROM json_each(each.value, '$.affects_phases') AS phase), ''), 1, 24),
      ifnull(each.value ->> '$.id', '')
    FROM cells, json_each(cells.value, '$.section.decision_log') AS each
    JOIN decisions ON decisions.id = cells.value ->> ('$.decided[' || each.key || ']')
    WHERE cells.key = 'resumption:' || ?1 AND NOT ifnull(each.value ->> '$.applied', 0)
      AND (each.value ->> '$.gate' IS NOT NULL
        OR json_array_length(each.value, '$.affects_phases') > 0)
    ORDER BY each.id DESC LIMIT ?3"""

# While it recovers from a compaction a section says only that; what was done before is recorded.
RECOVERING = "compaction-recovery"
_BEFORE = f"""
    SELECT substr(each.value ->> '$.recovery_state.current_activity', 1, ?2) AS activity
    FROM cells, json_each(cells.value, '$.documents') AS each
    WHERE cells.key >= 'cx:' AND cells.key < 'cx;' AND each.key = ?1
      AND activity <> '{RECOVERING}'
    ORDER BY cells.seq DESC LIMIT ?3"""  # noqa: S608  # our own words

# Who moved it on last. Decisions and compactions come from anybody. Far back it does not matter.
_LEADER = """
    SELECT session FROM (
      SELECT session, kind, payload FROM events ORDER BY seq DESC LIMIT 2000)
    WHERE kind IN ('resumption.begun', 'resumption.triggered', 'gate.scored')
      AND payload ->> 'file' = ?
      AND ifnull(payload ->> '$.trigger.trigger', 'T1') IN ('T1', 'T2', 'T3', 'T4') LIMIT 1"""
_IS_AT_WORK = """
    SELECT 1 FROM sessions WHERE session = ? AND ended IS NULL AND forgotten = 0
      AND (SELECT at FROM events WHERE stream = 'session:' || sessions.session
           ORDER BY seq DESC LIMIT 1) > ?"""


def gather(
    ask: Ask,
    root: str,
    session: str | None,
    now: int,
    *,
    most: int,
    documents: int = MOST,
    everywhere: bool = False,
    over: bool = False,
) -> list[Plan]:
    """The live sections that concern *root*, the active ones first.

    With *everywhere* also those that do not; to them it is nothing when this session began. With
    *over* those too that lead nobody any more.
    """
    if not ask(_ANY, ()):
        return []
    from standfast.protocols.resumption.records import (  # few repositories have any
        freshness,
        live_documents,
    )

    concerning = live_documents.listed(ask, root)
    if not (concerning or everywhere):
        return []
    rows = ask(_PLANS, ("" if everywhere else concerning, _LONGEST, documents, int(over)))
    began = freshness.session_start(ask, session) if rows else None
    found = []
    for row in rows:
        is_ours = f"\n{row[18]}\n" in concerning
        plan = _plan(ask, row, began if is_ours else None, now, most)
        plan.is_copy = is_ours and plan.root != root
        found.append(plan)
    return found


def led_elsewhere(ask: Ask, plan: Plan, lineage: list[str], since: int) -> str | None:
    """The other session that is at work by this plan, if there is one."""
    rows = ask(_LEADER, (plan.file,))
    leader = str(rows[0][0]) if rows and rows[0][0] is not None else None
    if leader is None or leader in lineage or not ask(_IS_AT_WORK, (leader, since)):
        return None
    return leader


def _plan(ask: Ask, row: tuple[object, ...], started: int | None, now: int, most: int) -> Plan:
    found = Plan()
    found.file, found.root, found.status, found.phase_name, *words = (str(x or "") for x in row[:7])
    found.activity, found.next_step, found.updated_at = words
    found.checkpoint, found.current_gate, found.lowest, found.primary = (
        None if value is None else str(value) for value in row[7:11]
    )
    found.phase = None if row[11] is None else int(str(row[11]))
    phase_at, found.unacknowledged, found.all_plans = (int(str(each or 0)) for each in row[12:15])
    found.name = str(row[18])
    found.unfinished = _unfinished(ask, found.name, *row[15:18])
    if found.activity == RECOVERING:
        before = ask(_BEFORE, (found.name, _LONGEST, 1))
        found.activity = str(before[0][0]) if before else found.activity
    judged = staleness.judge(
        found.updated_at,
        now_us=now,
        session_started_us=started,
        phase_started_us=phase_at,
    )
    found.level, found.reason = judged.level, judged.reason
    _gather_lists(ask, found, most)
    return found


def _unfinished(
    ask: Ask, file: str, gate: object, iteration: object, scores: object
) -> tuple[str, int, int | None] | None:
    """What is scored in part; else what a compaction cut, if it was not scored since."""
    if gate is not None:
        return str(gate), int(str(iteration)), int(str(scores))
    cut = ask(_CUT, (file, _LONGEST, 1))
    return (str(cut[0][0]), int(str(cut[0][1])), None) if cut else None


def _gather_lists(ask: Ask, found: Plan, most: int) -> None:
    bounds = (found.name, _LONGEST, most)
    gates: list[tuple] = ask(_GATES, bounds)  # type: ignore[type-arg]  # as selected
    found.gates = [(str(name), int(n), float(score), int(bad)) for name, n, score, bad in gates]
    found.to_come = [str(name) for (name,) in ask(_TO_COME, bounds)]
    files, defects = (ask(sql, bounds) for sql in (_FILES, _DEFECTS))
    agents, failed, foreign = (ask(_AGENTS, (*bounds, which)) for which in (0, 1, 2))
    found.files = [(str(path), str(parts or ""), str(why or "")) for path, parts, why, _ in files]
    found.defects = [str(text) for text, _ in defects]
    found.agents = [(str(name), str(line)) for name, line, _ in agents]
    found.failed = [(str(name), str(line)) for name, line, _ in failed]
    found.foreign_agents = [(str(name), str(line)) for name, line, _ in foreign]
    counted = (files, defects, agents, failed, foreign)
    found.all_files, found.all_defects, found.all_agents, found.all_failed, unsaid = (
        int(str(rows[0][-1])) if rows else 0 for rows in counted
    )
    found.all_foreign_agents = unsaid
    found.foreign = frozenset(str(name) for (name,) in ask(_FOREIGN, (found.name,)))
    found.unapplied = ask(_UNAPPLIED, bounds)  # type: ignore[assignment]  # as selected
