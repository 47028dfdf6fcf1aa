"""The sessions, plans, losses and switches that `status` lists, for people and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from standfast import clock
from standfast.brief import sessions
from standfast.journal import session_process
from standfast.journal.tables.schema import ANY_LANE, ANY_RUN
from standfast.protocols.resumption.records import reverted_edits
from standfast.surfaces.cli import doubt_list, plan_list
from standfast.text import one_line

if TYPE_CHECKING:
    from standfast.brief.plan_summary import Plan
    from standfast.brief.sessions import Session
    from standfast.effects.orphans import Left
    from standfast.surfaces.cli import lane_list, run_list
    from standfast.surfaces.cli.command_context import Context

_DAY_US = 86_400 * clock.MICROSECONDS
_WEEK_US = 7 * _DAY_US
_SHOWN, _EVERY = 6, 1_000
_WORDS = 200


class Known(NamedTuple):
    """What the journal knows of agents and of its own losses."""

    sessions: tuple[Session, ...] = ()
    injected: int = 0
    gaps: tuple[tuple[int, str, int], ...] = ()
    off: bool = False
    plans: tuple[Plan, ...] = ()
    passed: tuple[tuple[object, ...], ...] = ()
    doubts: tuple[Left, ...] = ()
    lanes: tuple[lane_list.Shown, ...] = ()
    runs: tuple[run_list.Shown, ...] = ()


def gather(context: Context, subdir: str, *, everything: bool) -> Known:
    """The newest sessions in *subdir*: of the last seven days, or with unfinished work."""
    ask, now = context.journal.query, clock.now_us()
    found = [
        session
        for session in sessions.newest(ask, _EVERY)
        if (everything or session.last > now - _WEEK_US or session.in_flight)
        and _is_below(session.subdir, subdir)
    ]
    return Known(
        sessions=tuple(found if everything else found[:_SHOWN]),
        injected=sessions.injected_since(ask, now - _DAY_US),
        gaps=tuple(sessions.gaps_since(ask, now - _WEEK_US)),
        off=context.place.is_off,
        plans=plan_list.gather(context),
        passed=tuple(reverted_edits.recent(ask, now)),
        doubts=doubt_list.gather(context),
        lanes=_lanes(context),
        runs=_runs(context),
    )


def _lanes(context: Context) -> tuple[lane_list.Shown, ...]:
    """Most repositories have none: then nothing of lanes and plans is loaded, here and below."""
    if not context.journal.query(ANY_LANE):
        return ()
    from standfast.surfaces.cli import lane_list

    return lane_list.gather(context)


def _runs(context: Context) -> tuple[run_list.Shown, ...]:
    if not context.journal.query(ANY_RUN):
        return ()
    from standfast.surfaces.cli import run_list

    return run_list.gather(context)


def _is_below(found: str, subdir: str) -> bool:
    return not subdir or found == subdir or found.startswith(f"{subdir}/")


def state_of(session: Session) -> str:
    """Whether it runs, stopped in the middle of something, or is over."""
    if session.ended is None and not session_process.is_gone(session.process):
        return "RUNNING"
    if session.ended is None and session.in_flight:
        return "CUT OFF"
    return "ENDED"


def rows(context: Context, known: Known) -> list[str]:
    """A table of each, where there is something to show."""
    table = context.screen.table
    off = [("OFF", "hooks record and say nothing here: standfast on")] if known.off else []
    lost = [
        ("LOST", f"{facts} facts, told {clock.local_minute(at)}", why)
        for facts, why, at in known.gaps
    ]
    listed = [(state_of(s), f"{s.client} {s.session[:8]}", _words(s)) for s in known.sessions]
    told = (
        [("TOLD", f"{known.injected:,} characters to agents in 24 hours")] if known.injected else []
    )
    parts = [
        doubt_list.rows(context, known.doubts),
        table([("NEEDS YOU", file, words) for file, words in _put_back(known)], ("bad", "strong")),
        *_work(context, known),
        *plan_list.rows(context, known.plans),
        table(off, ("bad",)),
        table(lost, ("bad", "strong")),
        table(listed, ("good", "strong")),
        table(told, ("dim",)),
    ]
    return [part for part in parts if part]


def _work(context: Context, known: Known) -> list[str]:
    """The lanes, and the runs that they belong to."""
    if not known.lanes and not known.runs:
        return []
    from standfast.surfaces.cli import lane_list, run_list

    return [*lane_list.rows(context, known.lanes), run_list.rows(context, known.runs)]


def needs(context: Context, known: Known) -> list[dict[str, object]]:
    """What `status --json` prints of what goes on only with a person, and of lost edits."""
    put_back: list[dict[str, object]] = [
        {"code": None, "problem": words, "file": file, "line": None}
        for file, words in _put_back(known)
    ]
    mine = doubt_list.needs(known.doubts)
    if known.lanes:
        from standfast.surfaces.cli import lane_list

        mine = [*mine, *lane_list.needs(known.lanes)]
    return [*mine, *put_back, *plan_list.needs(context, known.plans)]


def _put_back(known: Known) -> list[tuple[str, str]]:
    """What a hook did not take over of an edit within the hour: nobody was there to be told."""
    return [
        (str(file), one_line(f"an edit was not taken over: `{at}` {problem}", _WORDS))
        for file, at, problem in known.passed
    ]


def _words(session: Session) -> str:
    said = [f"“{one_line(session.prompt, 40)}”"] if session.prompt else []
    if session.fill is not None:
        said.append(f"fill {session.fill} %")
    if session.compactions:
        said.append(f"compacted {session.compactions} x")
    if session.in_flight:
        said.append(f"{session.in_flight} in flight")
    if session.nonce:
        said.append("brief seen" if session.brief_seen else "brief not seen yet")
    if session.subdir:
        said.append(session.subdir)
    said.append(f"last {clock.local_minute(session.last)}")
    return ", ".join(said)


def as_dict(context: Context, known: Known) -> dict[str, object]:
    """What `status --json` prints of them."""
    from standfast.surfaces.cli import lane_list, run_list

    return {
        "hooks": _hooks(context),
        "characters_injected_24h": known.injected,
        "lost": [
            {"facts": facts, "why": why, "told_at": clock.rfc3339(at)}
            for facts, why, at in known.gaps
        ],
        "sessions": [_session_dict(session) for session in known.sessions],
        "runs": [run_list.as_dict(run) for run in known.runs],
        "lanes": [lane_list.as_dict(lane) for lane in known.lanes],
        "documents": [plan_list.as_dict(plan) for plan in known.plans],
    }


def _hooks(context: Context) -> str:
    """Whether hooks tell of agents here: switched off here, or in no settings at all."""
    from standfast.clients.claude import installation  # the text says nothing of it

    if not installation.launcher_is_used(context.environ, context.place):
        return "not_installed"
    return "off" if context.place.is_off else "on"


def _session_dict(session: Session) -> dict[str, object]:
    return {
        "session": session.session,
        "client": session.client,
        "state": state_of(session).lower().replace(" ", "_"),
        "subdir": session.subdir,
        "branch": session.branch,
        "asked": session.prompt,
        "fill_percent": session.fill,
        "compactions": session.compactions,
        "in_flight": session.in_flight,
        "brief": session.nonce,
        "brief_seen": bool(session.brief_seen),
        "last_at": clock.rfc3339(session.last),
    }
