"""Sections and context files as hurried people and models leave them, read as they were meant.

What each means stands beside it, and was written first.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from claude_calls import Claude
from conftest import Cli
from context_samples import lines_of
from places import TESTS
from resumption_files import FILE
from standfast.protocols.context.rules.context_checks import required_findings
from standfast.protocols.context.rules.context_document import parse
from standfast.protocols.context.rules.context_migration import migrate

SECTIONS = sorted((TESTS / "fixtures" / "sections").glob("*.meant.json"))
CONTEXTS = sorted((TESTS / "fixtures" / "contexts").glob("*.meant.json"))
NOW = "2026-11-19T02:00Z"
_NAMES = {
    "recovery": "Recovery Steps",
    "completed": "Completed Work",
    "pending": "Pending",
    "files": "Key Files",
}


def _named(path: Path) -> str:
    return path.name.partition(".")[0]


def _said(section: dict[str, Any]) -> dict[str, Any]:
    state, gates = section["recovery_state"], section["quality_trajectory"]
    defects = section["defect_summary"]
    return {
        "phase": state["current_phase"],
        "name": state["current_phase_name"],
        "status": state["workflow_status"],
        "checkpoint": state["last_checkpoint"],
        "next": state["next_step"],
        "fill": state["context_fill_at_update"],
        "updated": state["updated_at"],
        "files": [each if isinstance(each, str) else each["path"] for each in
                  section["files_to_read"]],
        "decisions": sorted(each["decision"] for each in section["decision_log"]),
        "phases": [each.get("affects_phases", []) for each in section["decision_log"]],
        "applied": [each.get("applied", False) for each in section["decision_log"]],
        "was": [each.get("was") for each in section["decision_log"]],
        "completed": gates["gates_completed"],
        "remaining": gates["gates_remaining"],
        "current": [gates["current_gate"], gates["current_gate_iteration"]],
        "scores": gates["score_history"],
        "iterations": gates["total_iterations_used"],
        "defects": [defects["total_defects_found"], defects["total_defects_resolved"],
                    defects["unresolved_defects"]],
        "agents": [*section["agent_summaries"]],
        "compactions": [each["timestamp"] for each in section["compaction_events"]["events"]],
    }  # fmt: skip


@pytest.mark.sweep(3)
@pytest.mark.req("RES-25")
@pytest.mark.parametrize("meant", SECTIONS, ids=_named)
def test_section_is_read_as_it_was_meant(repo: Path, cli: Cli, meant: Path) -> None:
    text = meant.with_name(f"{_named(meant)}.yaml").read_text(encoding="utf-8")
    (repo / FILE).write_text(text, encoding="utf-8")
    wanted: dict[str, Any] = json.loads(meant.read_text(encoding="utf-8"))
    wanted["decisions"] = sorted(wanted.get("decisions", []))
    Claude(repo)("SessionStart", source="startup")

    found = _said(json.loads(cli("resumption", "show", "--json", cwd=repo).stdout)["resumption"])

    words = wanted.pop("shown", "")
    assert {key: found[key] for key in wanted} == wanted
    shown = cli("resumption", "show", cwd=repo).stdout
    assert words in shown
    assert cli("resumption", "migrate", cwd=repo).returncode == 0
    migrated = _said(json.loads(cli("resumption", "show", "--json", cwd=repo).stdout)["resumption"])
    assert {key: migrated[key] for key in wanted} == wanted
    assert cli("brief", cwd=repo).returncode == 0


@pytest.mark.req("CTX-13", "CTX-17")
@pytest.mark.parametrize("meant", CONTEXTS, ids=_named)
def test_context_file_is_read_as_it_was_meant(meant: Path) -> None:
    role = _named(meant)
    text = meant.with_name(f"{role}.context.md").read_text(encoding="utf-8")
    wanted: dict[str, str] = json.loads(meant.read_text(encoding="utf-8"))

    after = migrate(text, role=role, now=NOW)

    assert required_findings(after, role=role, today=NOW) == ()
    document = parse(after)
    found = {key.lower(): each.value for key, each in document.fields.items()}
    found["title"] = lines_of(after)[0]
    for key, name in _NAMES.items():
        (section,) = document.named(name)
        body = [line for _, line in section.body if line.strip()]
        found[key] = next((line for line in body if line == wanted.get(key)), str(body))
    assert {key: found[key] for key in wanted} == wanted
