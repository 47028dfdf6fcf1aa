"""`standfast journal`: verify, repair, abandon, export or trim it, ask what it keeps and where."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from standfast import disk
from standfast.errors.base import DiskFailed, NothingFound, WrongUsage
from standfast.journal import id_file, mirror, place, questions, verification
from standfast.journal.repair import repair_report
from standfast.journal.retention import retention_limits
from standfast.runs.leftovers import Leftovers
from standfast.surfaces.cli import grounds
from standfast.surfaces.cli.screen import json_line
from standfast.text import printable

if TYPE_CHECKING:
    import argparse

    from standfast.journal.repair.journal_repair import Repaired
    from standfast.surfaces.cli.command_context import Context

_SHOWN = 20
_NONE = "none lost"
_MEND = "`standfast journal repair` copies all of it aside and rebuilds what it can."


def configure(parser: argparse.ArgumentParser) -> None:
    """Seven things to do with a journal."""
    actions = ("verify", "repair", "abandon", "export", "trim", "kept", "path")
    parser.add_argument("action", choices=actions)
    parser.add_argument("digest", nargs="?", help="kept: print this one; the first digits will do")
    parser.add_argument("-o", "--output", help="export: the file to make; it must not exist yet")


def run(context: Context, arguments: argparse.Namespace) -> int:
    """Do one of them."""
    if arguments.output is not None and arguments.action != "export":
        raise WrongUsage("--output goes with export")
    if arguments.digest is not None and arguments.action != "kept":
        raise WrongUsage("a digest goes with kept")
    if arguments.action == "path":
        path = context.journal.path
        shown = printable(path) if sys.stdout.isatty() else path
        print(json_line({"journal": path}) if context.json else shown)
        return 0
    if arguments.action in _MENDING:
        return _MENDING[arguments.action](context)
    lost = grounds.absent(context)
    if not (context.journal.exists or lost) and not mirror.segments(context.place.folder):
        raise NothingFound("nothing has been recorded here yet", file=context.place.folder)
    if arguments.action == "trim":
        return _trim(context)
    if arguments.action == "kept":
        from standfast.surfaces.cli.kept_files import kept

        return kept(context, arguments.digest)
    if arguments.action == "verify":
        return _verify(context, lost)
    return _export(context, arguments.output)


def _repair(context: Context) -> int:
    """Rebuild, then take in what strays and protocol files still know; say what is lost."""
    from standfast.journal.repair.journal_repair import repair

    lost = grounds.absent(context)
    place.refuse_foreign(context.place)
    if lost:
        context.journal.make_if_gone()
    done = repair(context.journal)
    grounds.mend(context)
    if done.quarantine is None:
        _tell_unchanged(context, done, lost)
        return 0
    before = {decision.id for decision in questions.decisions(context.journal)}
    context.heal()
    after = questions.decisions(context.journal)
    adopted = [decision.id for decision in after if decision.id not in before]
    if context.json:
        print(json_line({**done.as_dict(), "adopted": adopted}))
        return 0
    _tell(context, done, adopted)
    return 0


def _tell_unchanged(context: Context, done: Repaired, lost: tuple[str, ...]) -> None:
    """Nothing of a journal that is gone can be rebuilt; what runs left in git is named."""
    left = grounds.leftovers(context) if lost else None
    if context.json:
        gone = {"gone": list(lost), "orphans": left._asdict()} if left else {}
        print(json_line({**done.as_dict(), "adopted": [], **gone}))
        return
    if left is None:
        nothing = "nothing else" if done.aside else "nothing"
        print(f"{done.events:,} events, {nothing} to repair.")
        _tell_aside(context, done)
        return
    print(f"The journal {', '.join(lost)} is gone, with everything that it alone knew:")
    print("no copy of it was found. What is recorded since is whole, and counts from here on.")
    _tell_aside(context, done)
    _list(context, left)


def _abandon(context: Context) -> int:
    """Whoever deleted it says so; nothing is removed, and runs may begin again."""
    context.may_write()
    lost = grounds.abandon(context)
    if not lost and context.journal.exists:
        context.journal.query("SELECT 1")  # damaged it may be all the same, which is told
    left = grounds.leftovers(context) if lost else Leftovers()
    if context.json:
        print(json_line({"abandoned": list(lost), "orphans": left._asdict()}))
        return 0
    named = ", ".join(lost)
    print(
        f"Abandoned: the journal {named}; nothing was removed." if lost else "Nothing is missing."
    )
    _list(context, left)
    return 0


def _list(context: Context, left: Leftovers) -> None:
    """What runs left in git that no journal knows any more: told, and left alone."""
    rows = [("left", kind, printable(name)) for kind, name in left.words[:_SHOWN]]
    if rows:
        print(context.screen.table(rows, ("strong",)))


def _tell(context: Context, done: Repaired, adopted: list[str]) -> None:
    lost = sum(last - first + 1 for first, last in done.missing)
    words = _lost(lost, is_unsure=done.is_unsure)
    if done.outcome and done.outcome.forked:
        words = f"{words}, others only in the quarantine"
    words = context.screen.paint(words, "good" if words == _NONE else "bad")
    print(f"Repaired: {done.events:,} events kept, {words}.")
    damaged = [words for words in done.damaged if words not in done.forked]
    rows = [("damaged", words) for words in damaged[:_SHOWN]]
    rows += [("lost", repair_report.span(first, last)) for first, last in done.missing[:_SHOWN]]
    rows += [("lost", words) for words in done.outcome.id_words] if done.outcome else []
    rows += [("unsure", repair_report.MORE)] if done.is_unsure else []
    rows += [("forked", words) for words in done.forked[:_SHOWN]]
    if adopted:
        rows.append(("adopted", f"{', '.join(adopted[:_SHOWN])} from files and strays"))
    rows += [*_aside(context, done), ("before", context.short(str(done.quarantine)))]
    print(context.screen.table(rows, ("strong",)))


def _tell_aside(context: Context, done: Repaired) -> None:
    """What stood in the way is kept, and where."""
    if rows := _aside(context, done):
        print(context.screen.table(rows, ("strong",)))


def _aside(context: Context, done: Repaired) -> list[tuple[str, str]]:
    return [("set aside", printable(context.short(path))) for path in done.aside]


def _lost(count: int, *, is_unsure: bool) -> str:
    """How many are gone; never that none is where nobody can know."""
    if is_unsure:
        return f"{count:,} known to be lost" if count else "none known to be lost"
    return f"{count:,} lost" if count else _NONE


def _verify(context: Context, lost: tuple[str, ...]) -> int:
    report = verification.verify(context.journal)
    gone = id_file.absent(context.place.folder, lost)
    report.problems += [gone.problem] if lost and gone.problem not in report.problems else []
    left = grounds.leftovers(context) if lost else Leftovers()
    if context.json:
        orphans = {"orphans": left._asdict()} if lost else {}
        print(json_line({**verification.as_dict(report), **orphans}))
    else:
        words = "kept every promise" if not report.problems else f"{len(report.problems)} problems"
        style = "bad" if report.problems else "good"
        print(
            f"{report.events:,} events, {report.streams:,} chains, {report.mirrored:,} mirrored:"
            f" {context.screen.paint(words, style)}."
        )
        if report.dropped:
            print(_dropped(report.dropped))
        if report.missing or report.is_unsure:
            spans = ", ".join(repair_report.span(*found) for found in report.missing[:_SHOWN])
            more = f"; {repair_report.MORE}" if report.is_unsure else ""
            print(f"Lost before the last repair: {spans or 'none that is known'}{more}.")
        if report.forked:
            spans = ", ".join(repair_report.span(*found) for found in report.forked[:_SHOWN])
            print(f"Otherwise in a mirror, which is in the quarantine: {spans}.")
        if report.problems:
            rows = [("problem", problem) for problem in report.problems[:_SHOWN]]
            print(context.screen.table(rows, ("bad",)))
            _list(context, left)
            print(gone.remedy if lost else _MEND)
    return 1 if report.problems else 0


def _dropped(through: int) -> str:
    return f"Events 1 to {through:,} were dropped on purpose: they were too old or too much."


def _trim(context: Context) -> int:
    """Drop everything that is over the limits, however much it is."""
    context.may_write()
    done = retention_limits.trim(context.journal, context.limits)
    if context.json:
        facts = {"dropped": done.events, "dropped_through": done.through, "bytes": done.size}
        print(json_line({**facts, "done": done.is_done}))
    else:
        days, mb = context.limits
        limits = f"{f'{days} days' if days else 'any age'} and {f'{mb} MB' if mb else 'any size'}"
        print(f"{done.events:,} events dropped; kept: {limits}, now {done.size / 1e6:,.1f} MB.")
        if done.through:
            print(_dropped(done.through))
        if not done.is_done:
            print("Not all of it: another command is at it.")
    return 0


def _export(context: Context, output: str | None) -> int:
    """Every event that is kept as a line of JSON, as the mirror has them."""
    ((first, last),) = context.journal.query("SELECT ifnull(min(seq), 1), max(seq) FROM events")
    lines = map(mirror.line_of, questions.events(context.journal, questions.Filter()))
    if output is None:
        for line in lines:
            sys.stdout.buffer.write(line)
        if first > 1:
            print(_dropped(first - 1), file=sys.stderr)
        return 0
    if os.path.lexists(output):
        raise DiskFailed("there is a file already", file=output, remedy="Name a new file.")
    try:
        disk.create(output, b"".join(lines))
        disk.sync_folder(os.path.dirname(output))
    except OSError as error:
        raise disk.disk_error(error, output, "write") from error
    count = (last or 0) - first + 1
    facts = {"file": output, "events": count, "dropped_through": first - 1}
    print(json_line(facts) if context.json else f"{count:,} events in {printable(output)}")
    if first > 1 and not context.json:
        print(_dropped(first - 1))
    return 0


_MENDING = {"repair": _repair, "abandon": _abandon}
