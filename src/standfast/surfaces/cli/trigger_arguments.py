"""A trigger from what was said on the command line, or from a file; what was not said stays."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from standfast import clock, disk
from standfast.errors.base import TriggerRefused, WrongUsage
from standfast.protocols.resumption.records.document_records import recovery
from standfast.protocols.resumption.rules.hook_checkpoints import unacknowledged
from standfast.protocols.resumption.rules.quality_gates import read_scores
from standfast.protocols.resumption.rules.section_logs import next_iteration
from standfast.protocols.resumption.rules.trigger_values import read_trigger
from standfast.protocols.resumption.rules.triggers import TRIGGERS, Recovery
from standfast.text import one_line, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from standfast.journal.tables.document_folds import Document
    from standfast.protocols.resumption.records.document_records import Ask
    from standfast.protocols.resumption.rules.triggers import Trigger
    from standfast.surfaces.cli.command_context import Context

    Said = Mapping[str, Any]

LIMIT = 256 * 1024
_STATE = {
    "phase": "current_phase",
    "phase-name": "current_phase_name",
    "status": "workflow_status",
    "activity": "current_activity",
    "next-step": "next_step",
    "fill": "context_fill_at_update",
}
_OURS = ("last_checkpoint", "updated_at")


def line(text: str) -> str:
    """Words as one line: how they were broken on a screen says nothing."""
    return printable(" ".join(text.split()))


def value_of(number: str, said: Said, document: Document, fill: float | None) -> dict[str, Any]:
    """What the flags of a trigger say, as the value that `--from` would hold."""
    said = {"fill": fill, **said}
    state = {name: said[flag] for flag, name in _STATE.items() if flag in said}
    words = {name: line(each) if isinstance(each, str) else each for name, each in state.items()}
    return {"trigger": number, "recovery_state": words, **_PARTS[number](said, document)}


def fields(said: Said, value: Said | None) -> list[str]:
    """The fields of the state that flags name, or a whole value does."""
    state = (value or {}).get("recovery_state")
    named = [*state] if isinstance(state, dict) else []
    return [*(name for flag, name in _STATE.items() if flag in said), *named]


def complete(ask: Ask, document: Document, value: Mapping[str, Any]) -> Trigger:
    """The trigger that a value tells: checkpoint and time are ours, the rest stays if not said."""
    said = value.get("recovery_state", {})
    if not isinstance(said, dict):
        raise TriggerRefused("`recovery_state` is not a mapping")
    known = [name for name in Recovery._fields if name not in _OURS]
    for name in said:
        if name not in known:
            problem = f"`recovery_state.{one_line(name, 60)}` cannot be said"
            raise TriggerRefused(problem, remedy=f"There are {', '.join(known)}.")
    follows = {**_of_phase(document, said), **_of_activity(document, value, said)}
    state = recovery(ask, document, clock.now_us(), **{**follows, **said})
    return read_trigger({**value, "recovery_state": state._asdict()})


def _of_phase(document: Document, said: Said) -> Said:
    """Another phase does not have this one's name."""
    now = document.state["current_phase"]
    return {"current_phase_name": ""} if said.get("current_phase", now) != now else {}


def _of_activity(document: Document, value: Said, said: Said) -> Said:
    """What is being done follows from some triggers, in the protocol's own words."""
    phase = said.get("current_phase", document.state["current_phase"])
    gate = value.get("quality_trajectory")
    found = {"T1": "agent-execution" if phase is None else f"phase-{phase}-agent-execution"}
    if isinstance(gate, dict) and isinstance(gate.get("gate"), str):
        count = next_iteration(document.section, gate["gate"])
        found["T3"] = f"{one_line(gate['gate'].lower(), 60)}-iteration-{count}"
    if isinstance(value.get("compaction_events"), dict) and "ids" not in value["compaction_events"]:
        found["T5"] = "compaction-recovery"
    activity = found.get(str(value.get("trigger")))
    return {} if activity is None else {"current_activity": activity}


def from_file(context: Context, given: str) -> Mapping[str, Any]:
    """A JSON object from a file, or from stdin."""
    from standfast.formats.json_text import read_json

    if given == "-":
        name, data = "stdin", sys.stdin.buffer.read(LIMIT + 1)
    else:
        name = os.path.join(context.directory, given)
        try:
            data = disk.read_regular(name, limit=LIMIT)
        except FileNotFoundError as error:
            raise WrongUsage("there is no such file", file=name) from error
    value = read_json(data, name=name, limit=LIMIT)
    if not isinstance(value, dict):
        raise WrongUsage("this is no JSON object", file=name)
    return value


def number_in(value: Mapping[str, Any], said: str | None) -> str:
    """Which trigger it is: as it was said, as the value says, or both the same."""
    found = value.get("trigger", said)
    if found not in TRIGGERS or said not in (None, found):
        there = f"`{one_line(str(found), 20)}`"
        raise WrongUsage(f"the trigger in the file is {there}, not {said or 'T1 to T7'}")
    return str(found)


def scores(given: Iterable[str]) -> dict[str, str]:
    """`dimension=score`, each once; a `-` in a name is as good as `_`."""
    found: dict[str, str] = {}
    for each in given:
        name, equals, score = each.partition("=")
        name = name.strip().replace("-", "_")
        if not equals:
            raise WrongUsage(f"`{one_line(each, 60)}` is not DIMENSION=SCORE")
        if name in found:
            raise WrongUsage(f"`{one_line(name, 60)}` is scored twice")
        found[name] = score.strip()
    read_scores(found)
    return found


def _needs(said: Said, *flags: str) -> None:
    lacking = [f"--{flag}" for flag in flags if flag not in said]
    if lacking:
        raise WrongUsage(f"{' and '.join(lacking)} {'is' if len(lacking) == 1 else 'are'} missing",
                         remedy="See `standfast resumption --help`.")  # fmt: skip


def _sections(said: Said, _document: Document) -> dict[str, Any]:
    """The sections of files, and a file that is added."""
    found: dict[str, Any] = {"sections": {}}
    for each in said.get("sections", ()):
        path, equals, names = each.partition("=")
        if not equals or not path:
            raise WrongUsage(f"`{one_line(each, 60)}` is not PATH=A,B")
        wanted = [line(name) for name in names.split(",") if name.strip()]
        found["sections"].setdefault(path, []).extend(wanted)
    if {"priority", "purpose"} & said.keys():
        _needs(said, "add-file")
    if "add-file" in said:
        entry = {"path": said["add-file"], "priority": said.get("priority", 1),
                 "purpose": line(said.get("purpose", ""))}  # fmt: skip
        found["added"] = [entry]
    return {"files_to_read": found}


def _gate(said: Said, _document: Document) -> dict[str, Any]:
    _needs(said, "gate", "score")
    return {
        "quality_trajectory": {"gate": said["gate"], "scores": scores(said["score"])},
        **iteration(said, said["gate"]),
    }


def iteration(said: Said, gate: str) -> dict[str, Any]:
    """What an iteration tells beside its scores."""
    patterns = [{"pattern": line(each), "gates_affected": [gate]}
                for each in said.get("pattern", ())]  # fmt: skip
    for each in said.get("resolution", ()):
        pattern, equals, how = each.partition("=")
        if not (equals and pattern.strip() and how.strip()):
            raise WrongUsage(f"`{one_line(each, 60)}` is not PATTERN=HOW")
        patterns.append({"pattern": line(pattern), "gates_affected": [gate],
                         "resolution": line(how)})  # fmt: skip
    defects = {
        "found": said.get("found", 0),
        "resolved": said.get("resolved", 0),
        "unresolved": [line(each) for each in said.get("unresolved", ())],
        "patterns": patterns,
        "primary": line(said["primary"]) if "primary" in said else None,
    }
    made = {"decision_log": _decision(said)} if "decision" in said else {}
    if not made and {"rationale", "affects", "applied"} & said.keys():
        _needs(said, "decision")
    return {"defect_summary": defects, **made}


def _decision(said: Said) -> dict[str, Any]:
    return {
        "decision": line(said["decision"]),
        "rationale": line(said.get("rationale", "")),
        "affects_phases": said.get("affects", []),
        "applied": said.get("applied", False),
    }


def _agent(said: Said, _document: Document) -> dict[str, Any]:
    _needs(said, "agent", "result", "finding")
    names = {"agent_id": "agent", "status": "result", "finding": "finding"}
    return {"agent_summaries": {field: line(said[flag]) for field, flag in names.items()}}


def _active_gate(document: Document) -> tuple[str | None, int | None]:
    """The gate whose scores are coming in, else the one that has not passed."""
    if document.pending is not None:
        return document.pending.gate, document.pending.iteration
    trajectory = document.section["quality_trajectory"]
    return trajectory["current_gate"], trajectory["current_gate_iteration"]


def _compaction(said: Said, document: Document) -> dict[str, Any]:
    if ("compaction" in said) == ("acknowledge" in said):
        raise WrongUsage("T5 takes either --compaction or --acknowledge")
    if "acknowledge" in said:
        return {"compaction_events": {"ids": unacknowledged(document.resumption)}}
    gate, iteration = _active_gate(document)
    told = {
        "timestamp": clock.rfc3339(clock.now_us()),
        "trigger": said["compaction"],
        "estimated_fill_before": said.get("fill"),
        "active_phase": said.get("phase", document.state["current_phase"]),
        "active_gate": gate,
        "active_gate_iteration": iteration,
    }
    return {"compaction_events": told}


def _decided(said: Said, _document: Document) -> dict[str, Any]:
    if "apply" in said:
        for other in ("decision", "rationale", "affects", "applied"):
            if other in said:
                raise WrongUsage(f"--apply changes nothing else: leave out --{other}")
        return {"decision_log": {"id": said["apply"]}}
    _needs(said, "decision")
    return {"decision_log": _decision(said)}


def _nothing(_said: Said, _document: Document) -> dict[str, Any]:
    return {}


_PARTS: Mapping[str, Callable[[Said, Document], dict[str, Any]]] = {
    "T1": _sections,
    "T2": _sections,
    "T3": _gate,
    "T4": _agent,
    "T5": _compaction,
    "T6": _decided,
    "T7": _nothing,
}
