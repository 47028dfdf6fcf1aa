"""Targets for the resumption section: what files, models and rules say of where the work is."""

from __future__ import annotations

import json

from harness.fuzz.target import Target, answered, must, taken, text_of
from standfast.formats import stated_times
from standfast.formats.json_text import read_json
from standfast.formats.yaml_text import read_yaml
from standfast.protocols.resumption.rules import (
    plain_values,
    reinject_markers,
    staleness,
    updated_at,
)
from standfast.protocols.resumption.rules.hand_edits import adopt
from standfast.protocols.resumption.rules.hook_checkpoints import number_of
from standfast.protocols.resumption.rules.migration import phase_prose, status_prose
from standfast.protocols.resumption.rules.migration.section_migration import (
    Around,
    migrate,
    version_of,
)
from standfast.protocols.resumption.rules.quality_gates import WEIGHTS, band, read_scores, weigh
from standfast.protocols.resumption.rules.section_check import validate
from standfast.protocols.resumption.rules.trigger_values import (
    read_state,
    read_trigger,
    write_state,
    write_trigger,
)
from standfast.protocols.resumption.rules.triggers import PhaseComplete, Recovery
from standfast.protocols.resumption.rules.update_matrix import apply, begin
from standfast.text import is_hidden

_TIME = "2026-01-02T03:04:05Z"
_NEAR = b"""\
resumption:
  recovery_state: {current_phase: Phase 2, workflow_status: COMPLETED, last_checkpoint: [a, b]}
  files_to_read: [{file: a.md, reason: x}, {b.md: y}, 7]
  quality_trajectory:
    gates_completed: [{id: QG-1, score: 93%}, QG-2]
    gates_remaining: QG-2, QG-3
    score_history: {QG-2: 0.8 -> 0.9, QG-3: [{score: 1}]}
    current_gate: {id: QG-3}
  defect_summary: {unresolved_defects: [{id: D-1, text: x}], recurring_patterns: [late]}
  decision_log: [{decision: a, date: 2026-01-02}, {id: RD-7, what: b}, {RD-7: c}]
  agent_summaries: [{agent: a, status: PASS, finding: b}, "c: d"]
  compaction_events: [{at: 2026-01-02 10:00, reason: manual}, soon]
  1: own
"""
_IN_ONE_LINE = b"""\
resumption:
  current_state: All phases are done
  current_phase: 0
  files_to_read: a.md, docs/b.md
  quality_trajectory: {passed: [A], scores: {A: 0.95}, current_gate: QG-2 (iteration 3)}
  defect_summary: {found: 3, resolved: [D-1], open: D-2, patterns: late}
  decision_log: none yet
  compaction_events: two of them
"""
_OTHER_WORDS = b"""\
resumption:
  Recovery-State: {currentPhase: 2, nextStep: x}
  quality_gates: {QG-1: {status: passed, score: 0.93}, QG-2: pending, QG-3: {status: running}}
  open_defects: [{id: D-4, text: x}]
  agents: {a: done, b: {status: PASS, finding: c}}
  decisions:
    - {what: a, phases: [2, 3]}
    - {decision: b, affects_phases: all}
    - {decision: c, affects: phases 2-4}
  compactions: [{at: 2026-01-02 10:00, fill: 95%}]
"""
_STATE = Recovery(None, 1, "build", "ACTIVE", "idle", "go on", None, _TIME)
_EMPTY = begin(_STATE, ["PLAN.md"], ["qg-1"])


def _markers(data: bytes) -> None:
    text = text_of(data)
    good, refused = reinject_markers.parse(text)
    for marker in good:
        must(len(marker.content) <= reinject_markers.LONGEST, "a marker that is too long")
        must(not any(map(is_hidden, marker.content)), "a marker that hides something")
        must("<!--" not in marker.content and "</" not in marker.content, "markup")
    must(all(each.why and each.line > 0 for each in refused), "refused without a word")
    said, left = reinject_markers.choose(good)
    must(sum(each.tokens for each in said) <= reinject_markers.BUDGET, "over the budget")
    must(len(said) + len(left) == len(good), "a marker got lost")


def _time(data: bytes) -> None:
    text = text_of(data)
    found = staleness.seconds(text)
    judged = staleness.judge(text, now_us=0, session_started_us=None)
    must(found is not None or judged.level == staleness.CRITICAL, "unreadable, and not told")
    number_of(text)


def _updated(data: bytes) -> None:
    """Found in any text in whatever style, or not; what is found is never more than a time."""
    text = text_of(data)
    found = updated_at.find(text)
    must(found is None or len(found) <= len(text), "found what is not there")
    must(found is None or "\n" not in found, "found more than a time")
    must(found is None or updated_at.has_section(text), "found in no section")


@answered
def _section(data: bytes) -> None:
    document = read_yaml(data, name="ORCHESTRATION.yaml", any_keys=True)
    whole = document.value if isinstance(document.value, dict) else {}
    section = whole.get("resumption")
    findings = validate(section, document.lines, plain=document.plain)
    must(all(each.line > 0 and each.remedy for each in findings), "a finding that helps nobody")
    if isinstance(section, dict):
        adopted = adopt(_EMPTY.section, section)
        must(validate(adopted.section) == [], "an edit that broke the section")
        must(adopted.left or not findings or document.plain, "adopted with findings")
    if version_of(section) is not None:
        made = migrate(section, Around(_TIME, "PLAN.md"))
        must(made.original == section, "the original is another")
        must(validate(made.section) == [], "read as what is no section")
        must(migrate(made.section, Around(_TIME, "b.md")).notes == (), "read anew each time")
        must(bool(made.notes) or section == made.section, "changed without a word")


def _words(data: bytes) -> None:
    text = text_of(data)
    share, phase, time = (
        plain_values.share(text), plain_values.phase(text), plain_values.time(text)
    )  # fmt: skip
    must(share is None or 0 <= share <= 1, "a share that is none")
    must(phase.number is None or phase.number >= 0, "a phase below none")
    must(time is None or staleness.seconds(time) is not None, "a time that is none")
    must("\n" not in plain_values.spoken(text), "words over several lines")
    number = phase_prose.phase_in(text)
    must(not any(map(is_hidden, phase_prose.name_in(text, number))), "a name that hides")
    status_prose.status_in(text)
    ends = [0, *(each.end for each in stated_times.stated(text))]
    must(ends == sorted(ends), "times out of their order")


@answered
def _trigger(data: bytes) -> None:
    trigger = read_trigger(read_json(data, name="trigger"))
    with taken():
        must(read_trigger(json.loads(json.dumps(write_trigger(trigger)))) == trigger, "another")
    after = apply(_EMPTY, trigger)
    must(validate(after.section) == [], "a section that breaks its own rules")
    must(read_state(write_state(after)) == after, "another state")


@answered
def _scores(data: bytes) -> None:
    value = read_json(data, name="scores")
    scores = read_scores(value if isinstance(value, dict) else {})
    if len(scores) == len(WEIGHTS):
        must(band(weigh(scores)), "a score of no band")


TARGETS = (
    Target(
        "reinject",
        "plain, short and within the budget, or refused with a reason",
        _markers,
        (
            reinject_markers.DEFAULT.encode(),
            b'<!-- L2-REINJECT: rank=1, content="gate >= 0.92" -->\n<!-- other -->',
            b'<!--L2-REINJECT: tokens=3, rank=2, content="<b>no</b>"-->',
            b'<!-- L2-REINJECT: rank=0, content="x',
        ),
    ),
    Target(
        "updated-at",
        "a second, or CRITICAL",
        _time,
        (_TIME.encode(), b"2024-02-29T23:59:59+14:00", b"2026-01-02", b"cx-1000-checkpoint.json"),
    ),
    Target(
        "updated-in",
        "one time in one section, whatever the text around it is",
        _updated,
        (
            b"a: 1\nresumption:\n  recovery_state:\n    updated_at: 2026-01-02T03:04:05Z # x\n",
            b'resumption: {recovery_state: {a: [1, {b: "}"}], "updated_at":"2026-01-02"}}\n',
            json.dumps({"x": 1, "resumption": _EMPTY.section}).encode(),
            b"resumption:\n  next_step: x\n",
        ),
    ),
    Target(
        "resumption",
        "findings that help, and a migration that makes nothing worse",
        _section,
        (
            json.dumps({"resumption": _EMPTY.section}).encode(),
            b"resumption: {last_checkpoint: CP-006, current_state: Phase 3, next_step: [a, b]}\n",
            b"resumption:\n  files_to_read: [PLAN.md, {path: x}]\n  ephemeral_references: x\n",
            b"resumption: {recovery_state: {updated_at: 2026-01-02T03:04:05Z}, odd: 1}\n",
            _NEAR,
            _IN_ONE_LINE,
            _OTHER_WORDS,
        ),
    ),
    Target(
        "hurried-words",
        "read within its bounds, or not at all",
        _words,
        (
            b"Phase 3: review",
            b"COMPLETED - all",
            b"19 Feb 2026 2:30 pm",
            b"0.85 -> 62%",
            b"a: 1 # b",
        ),
    ),
    Target(
        "trigger",
        "a trigger that says only what it may, or our error",
        _trigger,
        (
            json.dumps(write_trigger(PhaseComplete(_STATE))).encode(),
            json.dumps(
                {
                    "trigger": "T3",
                    "recovery_state": _STATE._asdict(),
                    "quality_trajectory": {"gate": "qg-1", "scores": dict.fromkeys(WEIGHTS, "0.9")},
                    "defect_summary": {"found": 2, "patterns": [{"pattern": "late"}]},
                    "decision_log": {"decision": "wait", "rationale": "late"},
                }
            ).encode(),
        ),
    ),
    Target(
        "scores",
        "every dimension weighed exactly, or our error",
        _scores,
        (
            json.dumps(dict.fromkeys(WEIGHTS, 0.92)).encode(),
            b'{"evidence": "0.1", "actionability": 1e-3}',
        ),
    ),
)
