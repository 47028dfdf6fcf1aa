"""Current state as a fold over events: what each kind of event does to the state tables.

The state could be thrown away and folded again from the events. An event that was written
late (from a spool or an inbox) never replaces what is newer than itself.
"""

from __future__ import annotations

from standfast.journal.tables.schema import ANY_DOCUMENT
from standfast.journal.tables.session_folds import SESSION_FOLDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import apsw

    # seq, at, stream, run, session, actor, subdir, kind, origin, payload, hash
    Row = tuple[int, int, str, str | None, str | None, str, str, str, str | None, str, bytes]
    Fold = Callable[[apsw.Connection, Row], None]


DROPPED = "events.dropped"
ARRIVED = "journal.arrived"
SPOKEN = ("decisions", "cells")  # the tables with words that bind, or lead
_REPOSITORY = "repository"  # authorship says so; a hook loads none of it

# The highest number of each id prefix, as the events up to one of them tell it: the counters hold
# the same, because an id is given out and used by an event in one transaction. A repair tells of
# ids whose events are lost: they are not given out again.
NUMBERS = """
    SELECT substr(id, 1, instr(id, '-') - 1), max(CAST(substr(id, instr(id, '-') + 1) AS INTEGER))
    FROM (SELECT payload ->> 'id' AS id FROM events WHERE seq <= ?1 UNION ALL
          SELECT each.key || '-' || each.value FROM events, json_each(payload, '$.numbers') AS each
          WHERE kind = 'journal.repaired' AND seq <= ?1)
    WHERE id GLOB '[A-Z][A-Z]-[0-9]*'
    GROUP BY 1 ORDER BY 1"""


def decision_noted(connection: apsw.Connection, event: Row) -> None:
    """A decision binds from now on."""
    seq, at, _, run, session, actor, subdir, _, origin, payload, _ = event
    connection.execute(
        "INSERT INTO decisions SELECT ?1 ->> 'id', CAST(substr(?1 ->> 'id', 4) AS INTEGER),"
        " ?1 ->> 'text', ?2, ?3, ?4, ?5, ?6, ?7, ?8",
        (payload, actor, subdir, run, session, origin, at, seq),
    )
    _remember_wording(connection, payload)


def decision_amended(connection: apsw.Connection, event: Row) -> None:
    """Somebody gave a decision other words; the words before stay in its first event."""
    connection.execute(
        "UPDATE decisions SET text = ?1 ->> 'text', seq = ?2,"
        " actor = ifnull(?1 ->> 'by', actor) WHERE id = ?1 ->> 'id'",
        (event[9], event[0]),
    )
    _remember_wording(connection, event[9])


def decision_confirmed(connection: apsw.Connection, event: Row) -> None:
    """The user stands for what a repository says."""
    connection.execute(
        "UPDATE decisions SET actor = ?2, origin = NULL"
        " WHERE id = ?1 ->> 'id' AND actor = 'repository'",
        (event[9], event[5]),
    )


def journal_arrived(connection: apsw.Connection, event: Row) -> None:
    """It was written elsewhere, by whomever: what it says is the repository's until confirmed.

    All but the words that this user's own events, as they left them, are known to say.
    """
    connection.execute(
        "UPDATE decisions SET actor = ifnull((SELECT value FROM json_each(?1, '$.bound')"
        " WHERE key = decisions.id AND type = 'text'), 'repository')",
        (event[9],),
    )
    if connection.execute(ANY_DOCUMENT).fetchone():
        from standfast.journal.tables import document_folds

        document_folds.arrived(connection, event)


def _remember_wording(connection: apsw.Connection, payload: str) -> None:
    """Words that were once recorded are known for ever: an old copy of them is no new fact."""
    connection.execute(
        "INSERT OR IGNORE INTO wordings SELECT ?1 ->> 'text', ?1 ->> 'id'", (payload,)
    )


def _cell(key: str, value: str = "?1", *, late: str = "excluded.at > cells.at") -> Fold:
    """A fold that keeps the newest event in a cell; a late one does not overwrite a newer one.

    *key* and *value* are SQL in which `?1` is the payload and `?2` the kind of the event.
    """
    sql = f"""
        INSERT INTO cells SELECT {key}, {value}, ?3, ?4 WHERE {key} IS NOT NULL
        ON CONFLICT (key) DO UPDATE SET value = excluded.value, at = excluded.at, seq = excluded.seq
        WHERE ?5 IS NULL OR {late}"""  # our own words

    def fold(connection: apsw.Connection, event: Row) -> None:
        seq, at, *_, kind, origin, payload, _ = event
        connection.execute(sql, (payload, kind, at, seq, origin))

    return fold


def _ends(cell: str, fold: Fold) -> Fold:
    """A fold after which another cell of the same key has no more to say."""

    def both(connection: apsw.Connection, event: Row) -> None:
        fold(connection, event)
        connection.execute(
            "DELETE FROM cells WHERE key = ?1 || ':' || (?2 ->> 'key')", (cell, event[9])
        )

    return both


# Whoever reads a cell counts on an object in it.
_SET = "iif(json_type(?1, '$.value') = 'object', ?1 ->> 'key', NULL)"
_BY_PATH = "?2 || ':' || (?1 ->> 'path')"  # what was told of a file that an agent is to write
_BY_KEY = "?2 || ':' || (?1 ->> 'key')"  # what was told of an effect
_LANE = "(?1 ->> 'run_id') || '/' || (?1 ->> 'phase') || '/' || (?1 ->> 'lane')"
_BY_LANE = f"'checkpoint:' || {_LANE} || '/' || (?1 ->> 'stage')"
_ROLLBACK = f"'rollback:' || {_LANE}"
_checkpoint_kept = _cell(_BY_LANE, late="true")  # the order of writing counts, no clock
_repository_said = _cell(_BY_LANE.replace(":", ".by:", 1), "?1 ->> 'id'", late="true")
_MACHINE = "'lifecycle:' || (?1 ->> 'machine') || ifnull('/' || nullif(?1 ->> 'worktree', ''), '')"
_MOVED = """json_object('role', ?1 ->> 'role', 'state', ?1 ->> 'to', 'before', ?1 ->> 'from',
  'worktree', ?1 ->> 'worktree')"""
_moved = _cell(_MACHINE, _MOVED)

# Counted where it is folded, so that whoever tells it counts the same.
_COUNTED = f"""
    INSERT INTO cells SELECT {_BY_PATH}, json_set(?1, '$.times', 1), ?3, ?4
    WHERE {_BY_PATH} IS NOT NULL
    ON CONFLICT (key) DO UPDATE SET
      value = json_set(excluded.value, '$.times', (cells.value ->> 'times') + 1),
      at = max(cells.at, excluded.at), seq = excluded.seq"""  # our own words


def output_counted(connection: apsw.Connection, event: Row) -> None:
    """One launch of an output, or one grant, more."""
    connection.execute(_COUNTED, (event[9], event[7], event[1], event[0]))


# The latest checkpoint of the journal is that of every document whose file names none itself.
_LATEST = """
    UPDATE cells SET value = json_set(value, '$.section.recovery_state.last_checkpoint',
      ?1 ->> 'id'), seq = ?2
    WHERE key >= 'resumption:' AND key < 'resumption;' AND value ->> 'latest_id' IS NULL
      AND value ->> '$.section.recovery_state.workflow_status' IN ('ACTIVE', 'PAUSED')"""


def checkpoint_written(connection: apsw.Connection, event: Row) -> None:
    """A lane got this far; documents that are worked by name it as the latest."""
    _checkpoint_kept(connection, event)
    if event[5] == _REPOSITORY:
        _repository_said(connection, event)
    connection.execute(_LATEST, (event[9], event[0]))


def _resumption(what: str) -> Fold:
    """A fold by the rules of the resumption protocol, which hooks do not load for nothing."""

    def fold(connection: apsw.Connection, event: Row) -> None:
        from standfast.journal.tables import document_folds

        getattr(document_folds, what)(connection, event)

    return fold


def lifecycle_moved(connection: apsw.Connection, event: Row) -> None:
    """A role moved; what was one lifecycle for all worktrees may be taken on by one of them."""
    connection.execute(
        "DELETE FROM cells WHERE ?1 ->> 'taken' AND key = 'lifecycle:' || (?1 ->> 'machine')",
        (event[9],),
    )
    _moved(connection, event)


def lease_taken(connection: apsw.Connection, event: Row) -> None:
    """The newest token of a lease; every older one is void."""
    connection.execute(
        "INSERT INTO leases SELECT ?1 ->> 'name', ?1 ->> 'holder', ?1 ->> 'token', ?2 WHERE true"
        " ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, token = excluded.token,"
        " seq = excluded.seq WHERE excluded.token > leases.token",
        (event[9], event[0]),
    )


def events_dropped(connection: apsw.Connection, event: Row) -> None:
    """What sessions did goes with the last event of theirs; the sessions themselves stay."""
    connection.execute(
        "DELETE FROM work WHERE session IN (SELECT value FROM json_each(?, '$.sessions'))",
        (event[9],),
    )


FOLDS: Mapping[str, Fold] = {
    "decision.noted": decision_noted,
    "decision.amended": decision_amended,
    "decision.confirmed": decision_confirmed,
    "cell.set": _cell(_SET, "?1 -> 'value'"),
    "lease.taken": lease_taken,
    "output.launched": output_counted,
    "output.granted": output_counted,
    "output.received": _cell(_BY_PATH),
    "output.accepted": _cell(_BY_PATH),
    "lifecycle.moved": lifecycle_moved,
    "checkpoint.written": checkpoint_written,
    "lane.specified": _cell(f"'lane:' || {_LANE}"),
    "lane.step": _cell(f"'lane.step:' || {_LANE} || '/' || (?1 ->> 'step')", late="true"),
    "run.planned": _cell("'run:' || (?1 ->> 'run_id')"),
    "run.told": _cell("'run.told:' || (?1 ->> 'run_id')", late="true"),
    "lane.rolling_back": _cell(_ROLLBACK, "json_set(?1, '$.kind', ?2)"),
    "lane.rolled_back": _cell(_ROLLBACK, "json_set(?1, '$.kind', ?2)"),
    "resumption.begun": _resumption("begun"),
    "resumption.triggered": _resumption("changed"),
    "resumption.adopted": _resumption("changed"),
    "resumption.moved": _resumption("changed"),
    "resumption.named": _resumption("changed"),
    "gate.scored": _resumption("changed"),
    "effect.intended": _cell(_BY_KEY),
    "effect.ended": _ends("effect.intended", _cell(_BY_KEY, late="false")),  # it ends once
    "effect.settled": _ends("effect.intended", _cell(_BY_KEY, late="false")),
    "effect.asked": _cell(_BY_KEY),
    "compaction.checkpoint": _cell("'cx:' || (?1 ->> 'id')"),
    "context.crossed": _cell("'tier:' || (?1 ->> 'session')"),
    "reinject.refused": _cell("'reinject:' || (?1 ->> 'file')"),
    ARRIVED: journal_arrived,
    DROPPED: events_dropped,
    **SESSION_FOLDS,
}
