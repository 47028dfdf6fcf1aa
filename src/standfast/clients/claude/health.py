"""Whether Claude Code's hooks are in place and what they say arrives: looked at, not changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from standfast.brief import sessions
from standfast.clients.claude import installation, settings_file, transcript
from standfast.clients.hooks import launcher
from standfast.errors.base import StandfastError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from standfast.brief.facts import Ask
    from standfast.journal.place import Place

_AGAIN = "Run `standfast install claude` again."


class Seen(NamedTuple):
    """What was seen, and what to do about it."""

    words: str
    remedy: str | None = None


def hooks(environ: Mapping[str, str], place: Place) -> Iterator[Seen]:
    """Which settings call the launcher, and whether it is there."""
    files = [settings_file.of_user(environ), settings_file.of_project(place.root)]
    found = [(file, installation.hooks_in(file)) for file in files]
    if not any(ours for _, ours in found):
        yield Seen("not installed in Claude Code: standfast install claude")
        return
    for file, ours in found:
        if ours:
            missing = installation.plan_install(environ, file).changes
            fit = ", not as the installed Claude Code needs them" if missing else ""
            yield Seen(f"{len(ours)} in {file.shown}{fit}", _AGAIN if missing else None)
    yield _launcher(environ)


def _launcher(environ: Mapping[str, str]) -> Seen:
    where = launcher.path(environ)
    try:
        current = launcher.is_there(environ)
    except StandfastError as error:
        return Seen(f"{where}: {error.problem}", _AGAIN)
    if current:
        return Seen(f"the launcher starts this Standfast: {where}")
    return Seen(f"the launcher is gone or starts another Standfast: {where}", _AGAIN)


def delivery(ask: Ask) -> Iterator[Seen]:
    """Whether the newest briefs were seen by the agents that they were for."""
    briefed = [session for session in sessions.newest(ask, 5) if session.nonce]
    for session in briefed:
        name = f"brief {session.nonce} of session {session.session[:8]}"
        if session.brief_seen:
            yield Seen(f"{name}: given, and the agent acted after it")
        elif f"standfast {session.nonce} ".encode() in transcript.tail(session.transcript):
            yield Seen(f"{name}: given, and in the transcript")
        else:
            yield Seen(f"{name}: given, no reply seen yet")
    if not briefed:
        yield Seen("no brief was owed yet")
