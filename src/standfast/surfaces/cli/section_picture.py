"""How a resumption section is shown: where the work is, what to read, what binds, what is open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from standfast import clock
from standfast.protocols.resumption.rules import staleness
from standfast.protocols.resumption.rules.migration.decision_fields import AFFECTS, is_all
from standfast.protocols.resumption.rules.migration.gates_and_defects import gates_left
from standfast.protocols.resumption.rules.migration.phase_prose import other_phase
from standfast.protocols.resumption.rules.plain_values import spoken
from standfast.protocols.resumption.rules.quality_gates import PASS, REJECTED, verdict_of
from standfast.protocols.resumption.rules.section_schema import SECTION, SUB_SECTIONS
from standfast.surfaces.cli.bars import curve
from standfast.text import one_line, printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from standfast.surfaces.cli.screen import Screen
    from standfast.surfaces.cli.section_view import Seen

_STYLES = {staleness.FRESH: "good", staleness.STALE: "strong", staleness.CRITICAL: "bad"}
_BANDS = {PASS: "good", REJECTED: "bad"}
_NAME = 40
_KNOWN = {*SUB_SECTIONS, "version", "schema_version"}
_PARTS = ("recovery_state", "quality_trajectory", "defect_summary", "compaction_events")
_OWN, _MOST_OWN = 160, 8  # characters of a key of the project's own, and how many of them
_SOURCE = "from the repository"
_UNTAKEN = "not yet taken"
_UNDER = {
    "READ": ("files_to_read",),
    "GATES": ("quality_trajectory.score_history", "quality_trajectory.gates_remaining"),
    "DEFECTS": ("defect_summary.unresolved_defects", "defect_summary.recurring_patterns"),
}


def whole(screen: Screen, seen: Seen) -> str:
    """All of it, the most needed first."""
    section = seen.section
    parts = [
        _head(screen, seen),
        _how_read(screen, seen),
        _state(screen, section["recovery_state"], seen),
        _titled(screen, _title("READ", seen), _files(screen, section["files_to_read"])),
        _titled(screen, _title("GATES", seen), gates(screen, seen)),
        _titled(screen, _title("DEFECTS", seen), _defects(screen, section["defect_summary"])),
        _titled(screen, "DECISIONS", _decisions(screen, section["decision_log"], seen)),
        _titled(screen, "AGENTS", _agents(screen, section["agent_summaries"], seen)),
        _titled(screen, "COMPACTIONS", _compactions(screen, section["compaction_events"])),
        _titled(screen, "ALSO IN THE FILE (its words)", _own(screen, section)),
        _titled(screen, "IN THE FILE, NOT IN THE JOURNAL", _waiting(screen, seen)),
    ]
    return "\n".join(part for part in parts if part)


def _head(screen: Screen, seen: Seen) -> str:
    level = screen.paint(seen.staleness.level, _STYLES[seen.staleness.level])
    name = screen.paint(printable(seen.file), "strong")
    return f"{name}  {level} ({printable(seen.staleness.reason)})"


def _how_read(screen: Screen, seen: Seen) -> str:
    """What is not v2.0 is shown as a person reads it, and that is said."""
    if seen.read is None:
        return ""
    version, notes = seen.read
    things = f"{len(notes)} thing{'' if len(notes) == 1 else 's'} read otherwise than written"
    how = f"The file's section is {version}: {things}; `standfast resumption migrate --dry-run`"
    return screen.paint(f"{how} lists them.", "dim")


def _title(title: str, seen: Seen) -> str:
    """What nobody here wrote says so, and what is not taken in yet."""
    for source, names in ((_UNTAKEN, seen.untaken), (_SOURCE, seen.foreign)):
        if any(name in names for name in _UNDER[title]):
            return f"{title} ({source})"
    return title


def _quoted(words: str, name: str, seen: Seen) -> str:
    """Words that are not ours, with whose they are."""
    for source, names in ((_UNTAKEN, seen.untaken), (_SOURCE, seen.foreign)):
        if words and name in names:
            return f"{source}: «{words}»"
    return words


def _waiting(screen: Screen, seen: Seen) -> str:
    """What the next command that writes the section will do with it."""
    if seen.waiting is not None and seen.waiting.is_old:
        return "nothing: it shows an earlier state, and the next write brings it up to date"
    if seen.waiting is None or seen.waiting.arrival is None:
        return ""
    rows = [("taken with the next write", name) for name in sorted(seen.untaken)]
    for kept in seen.waiting.arrival.kept:
        what = "is replaced, and kept" if kept.is_ours else f"is kept aside: {kept.why}"
        rows.append((what, ".".join(map(str, kept.path))))
    old = ", ".join(seen.waiting.arrival.old)
    rows += [("is an old copy", old)] if old else []
    return _table(_inner(screen), [(name, what) for what, name in rows], ("strong",))


def _state(screen: Screen, state: dict[str, Any], seen: Seen) -> str:
    def said(name: str) -> str:
        return _quoted(str(state[name]), f"recovery_state.{name}", seen)

    fill = state["context_fill_at_update"]
    filled = "fill unknown" if fill is None else f"fill {round(100 * fill)} %"
    checkpoint = state["last_checkpoint"] or "none"
    number = state["current_phase"]
    other = other_phase(state)
    name = said("current_phase_name")
    hint = "" if other is None else f"(its words speak of phase {other})"
    phase = " ".join(filter(None, ("unknown" if number is None else str(number), name, hint)))
    left = ", ".join(one_line(gate, _NAME) for gate in gates_left(seen.section)[:_MOST_OWN])
    status = state["workflow_status"] + (f" (but gates are to come: {left})" if left else "")
    return _table(
        screen,
        [
            ("PHASE", f"{phase}, {status}"),
            ("NOW", said("current_activity") or "not recorded"),
            ("NEXT", said("next_step") or "not recorded"),
            ("UPDATED", f"{_minute(state['updated_at'])}, {filled}, checkpoint {checkpoint}"),
            *_branches(seen),
        ],
        ("dim",),
    )


def _table(screen: Screen, rows: Sequence[Sequence[str]], styles: Sequence[str] = ()) -> str:
    """Text of several lines is shown on one: its line ends are blanks, and forge no row."""
    return screen.table([[spoken(cell) for cell in row] for row in rows], styles)


def _branches(seen: Seen) -> list[tuple[str, str]]:
    if seen.branches is None:
        return []
    there, here = map(printable, seen.branches)
    return [("BRANCH", f"last written on {there}; this is {here}, and the state is one for both")]


def _minute(at: str) -> str:
    second = staleness.seconds(at)
    if second == 0:
        return "unknown"
    return at if second is None else clock.local_minute(second * staleness.SECOND_US)


def _titled(screen: Screen, title: str, body: str) -> str:
    if not body:
        return ""
    lines = "\n".join(f"  {line}" for line in body.split("\n"))
    return f"{screen.paint(title, 'dim')}\n{lines}"


def _inner(screen: Screen) -> Screen:
    return screen._replace(width=screen.width - 2)


def _files(screen: Screen, entries: Sequence[str | dict[str, Any]]) -> str:
    """By priority; a bare path has the one of its place."""
    listed: list[dict[str, Any]] = [
        {"path": entry, "priority": at, "purpose": ""} if isinstance(entry, str) else entry
        for at, entry in enumerate(entries, 1)
    ]
    listed.sort(key=lambda entry: entry["priority"])
    rows = [(str(entry["priority"]), entry["path"], _why(entry)) for entry in listed]
    return _table(_inner(screen), rows, ("dim", "strong"))


def _why(entry: dict[str, Any]) -> str:
    sections = ", ".join(entry.get("sections", ()))
    return ": ".join(part for part in (entry["purpose"], sections) if part)


def gates(screen: Screen, seen: Seen) -> str:
    """Each gate with its scores so far, then what all of them tell."""
    trajectory = seen.section["quality_trajectory"]
    history = trajectory["score_history"]
    names = dict.fromkeys(
        (*trajectory["gates_completed"], *history, *trajectory["gates_remaining"], *_at_work(seen))
    )
    if not names:
        return ""
    width = max(len(one_line(name, _NAME)) for name in names)
    lines = [_gate(screen, name, width, history.get(name, []), seen) for name in names]
    weakest = trajectory["lowest_dimension"]
    used = trajectory["total_iterations_used"]
    done = " done" if _at_work(seen) and not history.get(_at_work(seen)[0]) else ""
    total = f"{used} iteration{'' if used == 1 else 's'}{done}"
    lines.append(total + (f", weakest {printable(weakest)}" if weakest else ""))
    return "\n".join(lines)


def _gate(screen: Screen, name: str, width: int, history: list[float], seen: Seen) -> str:
    shown = one_line(name, _NAME).ljust(width)
    pending = seen.document.pending if seen.document else None
    begun = f"  {len(pending.scores)} of 6 scores in" if pending and pending.gate == name else ""
    begun = _running(name, history, seen) + begun
    if not history:
        passed = name in seen.section["quality_trajectory"]["gates_completed"]
        stands = PASS if passed else "at work" if name in _at_work(seen) else "to come"
        return f"{shown}  {stands}{begun}"
    verdict = verdict_of(history)
    word = screen.paint(verdict.band.ljust(len(REJECTED)), _BANDS.get(verdict.band, "strong"))
    scores = " ".join(f"{score:g}" for score in history)
    drawn = curve(history, draws=screen.draws)
    asks = screen.paint("  ask a person", "bad") if verdict.escalates else ""
    return f"{shown}  {word}  {drawn}{'  ' if drawn else ''}{scores}{begun}{asks}"


def _at_work(seen: Seen) -> list[str]:
    gate = seen.section["quality_trajectory"]["current_gate"]
    return [gate] if gate else []


def _running(name: str, history: list[float], seen: Seen) -> str:
    """The iteration that has no score yet."""
    iteration = seen.section["quality_trajectory"]["current_gate_iteration"] or 0
    is_running = name in _at_work(seen) and iteration > len(history)
    return f"  iteration {iteration} runs" if is_running else ""


def _defects(screen: Screen, summary: dict[str, Any]) -> str:
    found, resolved = summary["total_defects_found"], summary["total_defects_resolved"]
    patterns = summary["recurring_patterns"]
    if not (found or resolved or patterns or summary["unresolved_defects"]):
        return ""
    lines = [f"{found} found, {resolved} resolved"]
    rows = [("open", ", ".join(summary["unresolved_defects"]))]
    rows += [("main", summary["last_gate_primary_defect"] or "")]
    rows += [("again", _pattern(each)) for each in patterns]
    table = _table(_inner(screen), [row for row in rows if row[1]], ("dim",))
    return "\n".join([*lines, *([table] if table else [])])


def _pattern(entry: dict[str, Any]) -> str:
    gates = ", ".join(entry["gates_affected"])
    resolution = entry.get("resolution") or "not resolved"
    return f"{entry['pattern']}{f' ({gates})' if gates else ''}: {resolution}"


def _decisions(screen: Screen, entries: list[dict[str, Any]], seen: Seen) -> str:
    rows = [(entry["id"], _binds(entry, seen), _decided(entry)) for entry in entries]
    return _table(_inner(screen), rows, ("strong",))


def _binds(entry: dict[str, Any], seen: Seen) -> str:
    if f"decision_log.{entry['id']}" in seen.untaken:
        return _UNTAKEN
    if f"decision_log.{entry['id']}" in seen.foreign:
        return _SOURCE
    return "applied" if entry.get("applied") else "OPEN"


def _decided(entry: dict[str, Any]) -> str:
    phases = ", ".join(str(phase) for phase in entry.get("affects_phases", ()))
    binds = f"phases {phases}" if phases else "all phases" if is_all(entry.get(AFFECTS)) else ""
    was = f"was {entry['was']}" if entry.get("was") else ""
    gate = f"{entry['gate']} iteration {entry.get('iteration')}" if entry.get("gate") else ""
    aside = "; ".join(part for part in (entry["rationale"], gate, binds, was) if part)
    return f"{entry['decision']} ({aside})" if aside else entry["decision"]


def _agents(screen: Screen, summaries: dict[str, str], seen: Seen) -> str:
    rows = [
        (name, _quoted(line, f"agent_summaries.{name}", seen)) for name, line in summaries.items()
    ]
    return _table(_inner(screen), rows, ("strong",))


def _own(screen: Screen, section: dict[str, Any]) -> str:
    """Keys of the project's own: what it warns of first."""
    beside = {key: each for key, each in section.items() if key not in _KNOWN}
    within = {f"{name}.{key}": each for name in _PARTS for key, each in section[name].items()
              if key not in SECTION["properties"][name]["properties"]}  # fmt: skip
    said = {key: spoken(each) for key, each in {**beside, **within}.items()}
    named = sorted((str(key) for key, words in said.items() if words), key=_is_no_warning)
    told = {str(key): words for key, words in said.items()}
    rows = [(one_line(key, _NAME), f"«{one_line(told[key], _OWN)}»") for key in named[:_MOST_OWN]]
    more = len(named) - len(rows)
    table = _table(_inner(screen), rows, ("strong",))
    return f"{table}\n{more} more" if more else table


def _is_no_warning(key: str) -> bool:
    return not any(word in key.lower() for word in ("warn", "note", "hint", "caution", "important"))


def _compactions(screen: Screen, compactions: dict[str, Any]) -> str:
    rows = [
        (each["id"], _minute(each["timestamp"]), each["trigger"], "; ".join(_compaction(each)))
        for each in compactions["events"]
    ]
    return _table(_inner(screen), rows, ("strong", "dim"))


def _compaction(event: dict[str, Any]) -> Iterator[str]:
    if not event.get("acknowledged"):
        yield "NOT ACKNOWLEDGED"
    if event["estimated_fill_before"] is not None:
        yield f"fill {round(100 * event['estimated_fill_before'])} %"
    if event.get("active_phase") is not None:
        yield f"in phase {event['active_phase']}"
    if event.get("active_gate"):
        yield f"{event['active_gate']} iteration {event.get('active_gate_iteration')}"
    if event.get("checkpoint_file"):
        yield event["checkpoint_file"]
