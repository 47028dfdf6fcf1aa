"""The sessions, plans, losses and switches that `status` lists, for people and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from standfast import clock
from standfast.journal import alive, passed
from standfast.protocol.text import one_line
from standfast.surfaces.cli import doubts, lanes_listed, plans_listed, runs_listed
from standfast.wake import sessions

if TYPE_CHECKING:
    from standfast.effects.orphans import Left
    from standfast.surfaces.cli.context import Context
    from standfast.wake.plan import Plan
    from standfast.wake.sessions import Session

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
    lanes: tuple[lanes_listed.Shown, ...] = ()
    runs: tuple[runs_listed.Shown, ...] = ()


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
        plans=plans_listed.gather(context),
        passed=tuple(passed.recent(ask, now)),
        doubts=doubts.gather(context),
        lanes=lanes_listed.gather(context),
        runs=runs_listed.gather(context),
    )


def _is_below(found: str, subdir: str) -> bool:
    return not subdir or found == subdir or found.startswith(f"{subdir}/")


def state_of(session: Session) -> str:
    """Whether it runs, stopped in the middle of something, or is over."""
    if session.ended is None and not alive.is_gone(session.process):
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
        doubts.rows(context, known.doubts),
        table([("NEEDS YOU", file, words) for file, words in _put_back(known)], ("bad", "strong")),
        *lanes_listed.rows(context, known.lanes),
        runs_listed.rows(context, known.runs),
        *plans_listed.rows(context, known.plans),
        table(off, ("bad",)),
        table(lost, ("bad", "strong")),
        table(listed, ("good", "strong")),
        table(told, ("dim",)),
    ]
    return [part for part in parts if part]


def needs(context: Context, known: Known) -> list[dict[str, object]]:
    """What `status --json` prints of what goes on only with a person, and of lost edits."""
    put_back: list[dict[str, object]] = [
        {"code": None, "problem": words, "file": file, "line": None}
        for file, words in _put_back(known)
    ]
    mine = [*doubts.needs(known.doubts), *lanes_listed.needs(known.lanes)]
    return [*mine, *put_back, *plans_listed.needs(context, known.plans)]


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
    return {
        "hooks": _hooks(context),
        "characters_injected_24h": known.injected,
        "lost": [
            {"facts": facts, "why": why, "told_at": clock.rfc3339(at)}
            for facts, why, at in known.gaps
        ],
        "sessions": [_session_dict(session) for session in known.sessions],
        "runs": [runs_listed.as_dict(run) for run in known.runs],
        "lanes": [lanes_listed.as_dict(lane) for lane in known.lanes],
        "documents": [plans_listed.as_dict(plan) for plan in known.plans],
    }


def _hooks(context: Context) -> str:
    """Whether hooks tell of agents here: switched off here, or in no settings at all."""
    from standfast.clients.claude import install  # the text says nothing of it

    if not install.launcher_is_used(context.environ, context.place):
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
