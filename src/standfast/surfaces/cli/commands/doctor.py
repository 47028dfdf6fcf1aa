"""`standfast doctor`: can everything here keep its promises? Each check says what it saw."""

from __future__ import annotations

import os
import platform
import stat
import sys
from typing import TYPE_CHECKING, NamedTuple

import apsw

from standfast import filesystems
from standfast.errors.base import NothingFound, StandfastError
from standfast.journal import database, mirror, questions
from standfast.journal.fallback import lost_calls, strays
from standfast.journal.retention import retention_limits
from standfast.journal.tables import schema
from standfast.processes.programs import lock_holders
from standfast.surfaces.cli.screen import json_line
from standfast.text import printable

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

    from standfast.surfaces.cli.command_context import Context

_OLDEST_GIT = (2, 30)
_MIRROR_LAG = 10_000  # events; more means that its batches fail


class Finding(NamedTuple):
    """What one check saw; a problem comes with its remedy."""

    check: str
    seen: str
    remedy: str | None = None


def configure(_parser: argparse.ArgumentParser) -> None:
    """Nothing to choose: it looks at all of it."""


def run(context: Context, _arguments: argparse.Namespace) -> int:
    """Look at everything, change nothing, exit 1 if something is wrong."""
    findings = [finding for check in CHECKS for finding in _guarded(check, context)]
    problems = [finding for finding in findings if finding.remedy]
    if context.json:
        print(json_line({"ok": not problems, "checks": [_as_dict(f) for f in findings]}))
    else:
        for finding in findings:
            mark, style = ("problem", "bad") if finding.remedy else ("ok", "good")
            row = (mark.ljust(7), finding.check.ljust(10), context.short(finding.seen))
            print(context.screen.table([row], (style, "strong")))
            if finding.remedy:
                print(f"{' ' * 21}{printable(finding.remedy)}")
    return 1 if problems else 0


def _as_dict(finding: Finding) -> dict[str, object]:
    return {
        "check": finding.check,
        "ok": finding.remedy is None,
        "seen": finding.seen,
        "remedy": finding.remedy,
    }


def _guarded(check: Callable[[Context], Iterator[Finding]], context: Context) -> Iterator[Finding]:
    """A check that cannot be made is a finding too."""
    name = check.__name__.strip("_")
    try:
        yield from check(context)
    except NothingFound:
        yield Finding(name, "nothing recorded here yet")
    except StandfastError as error:
        where = f" ({error.where})" if error.where else ""
        yield Finding(name, f"{error.code} {error.problem}{where}", error.remedy)
    except OSError as error:
        yield Finding(name, f"{error.strerror}: {error.filename}", "Check the rights of that file.")


def _settings(context: Context) -> Iterator[Finding]:
    said = ", ".join(f"{key} from {source}" for key, source in context.config.sources.items())
    yield Finding("settings", said or "all defaults")


def _programs(context: Context) -> Iterator[Finding]:
    yield Finding("python", f"{platform.python_version()} at {sys.executable}")
    yield Finding("sqlite", f"{apsw.sqlite_lib_version()} with page checksums")
    from standfast.processes import programs

    said = programs.run([context.config.git, "--version"], timeout_s=10).stdout.decode(
        errors="replace"
    )
    numbers = said.removeprefix("git version ").split(".")[:2]
    new = all(n.isdigit() for n in numbers) and tuple(map(int, numbers)) >= _OLDEST_GIT
    yield Finding("git", said.strip(), None if new else "Install git 2.30 or newer.")


def _disk(context: Context) -> Iterator[Finding]:
    above = context.place.folder
    while not os.path.isdir(above):
        above = os.path.dirname(above)
    kind = filesystems.kind_of(above)
    safe = database.wal_is_safe(above)
    yield Finding("disk", f"{kind}: {'write-ahead log' if safe else 'rollback journal, slower'}")


def _journal(context: Context) -> Iterator[Finding]:
    journal = context.journal
    count = questions.last_seq(journal)
    yield Finding("journal", f"{count:,} events, schema {schema.VERSION}, {journal.path}")
    if not os.access(journal.path, os.W_OK):
        yield Finding("journal", "read-only here", "Notes go to the inbox until it can be written.")
    lag = count - mirror.last_seq(journal.folder)
    late = "See whether the disk is full." if lag > _MIRROR_LAG else None
    yield Finding("mirror", f"{lag:,} events behind", late)
    yield _kept(context)


def _kept(context: Context) -> Finding:
    """How much there is, and of which limits; whatever is over them goes by itself."""
    days, mb = context.limits
    used = f"{retention_limits.size(context.journal) / 1e6:,.1f} MB of {mb or 'any number of'}"
    ((first,),) = context.journal.query("SELECT ifnull(min(seq), 1) FROM events")
    dropped = f", events 1 to {first - 1:,} dropped" if first > 1 else ""
    return Finding("kept", f"{used}, {f'{days} days' if days else 'for ever'}{dropped}")


def _writer(context: Context) -> Iterator[Finding]:
    holders = lock_holders(os.path.join(context.place.folder, "writer.lock"))
    said = f"process {', '.join(map(str, holders))} is writing" if holders else "nobody is writing"
    yield Finding("writer", said)


def _private(context: Context) -> Iterator[Finding]:
    """Prompts and results are in there: nobody else may read them.

    Drafts have the mode of the file in the work tree that they will replace, and a displaced file
    that has another name keeps its own: their own folder keeps others away from them. So does the
    quarantine's from what a repair set aside, which is none of ours.
    """
    from standfast.faces.drafts import DRAFTS
    from standfast.journal.repair.quarantine import ODD

    count = 0
    drafts = os.path.join(context.place.folder, DRAFTS)
    for folder, folders, files in os.walk(context.place.folder):
        for names in (folders, files):
            names[:] = [name for name in names if not name.startswith(ODD)]
        inside = () if folder == drafts and not _is_open(drafts) else files
        for path in (folder, *(os.path.join(folder, name) for name in inside)):
            count += 1
            if _is_open(path):
                yield Finding("private", f"others may read {path}", "Take their rights away.")
    yield Finding("private", f"{count} files and folders looked at")


def _is_open(path: str) -> bool:
    return bool(stat.S_IMODE(os.lstat(path).st_mode) & 0o077)


def _strays(context: Context) -> Iterator[Finding]:
    marks = list(lost_calls.marks(context.environ, context.place.folder))
    found = strays.look(context.journal, context.config.temporaries, marks=marks)
    waiting = len(found.spooled) + len(found.posted)
    nowhere = found.gaps + len(found.marks)
    yield Finding("strays", f"{waiting} facts wait to be taken in, {nowhere} found no room")


def _faces(context: Context) -> Iterator[Finding]:
    from standfast.faces.drafts import KEPT
    from standfast.faces.look import refused_faces

    refused = refused_faces(context.journal)
    for words in refused:
        yield Finding("faces", words, "Mend the line; the file is left alone until then.")
    kept = os.path.join(context.place.folder, KEPT)
    waiting = sorted(os.listdir(kept)) if os.path.isdir(kept) else []
    for name in waiting:
        words = f"an edit that could not be read is kept in {os.path.join(kept, name)}"
        yield Finding("faces", words, "Put its lines into the face again, then remove the copy.")
    if not refused and not waiting:
        yield Finding("faces", "none refused")


def _hooks(context: Context) -> Iterator[Finding]:
    from standfast.clients.claude import health

    for seen in health.hooks(context.environ, context.place):
        yield Finding("hooks", seen.words, seen.remedy)
    if context.place.is_off:
        yield Finding("hooks", "off in this repository: standfast on")


def _delivery(context: Context) -> Iterator[Finding]:
    from standfast.clients.claude import health

    for seen in health.delivery(context.journal.query):
        yield Finding("delivery", seen.words, seen.remedy)


CHECKS: tuple[Callable[[Context], Iterator[Finding]], ...] = (
    _settings,
    _programs,
    _disk,
    _journal,
    _writer,
    _private,
    _strays,
    _faces,
    _hooks,
    _delivery,
)
