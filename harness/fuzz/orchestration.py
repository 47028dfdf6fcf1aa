"""Targets for ORCHESTRATION.yaml: a file of somebody else's in which one section is ours."""

from __future__ import annotations

import json
import os
import shutil

from harness.fuzz.target import Target, folder, must, text_of
from standfast.errors.base import StandfastError
from standfast.formats import yaml_sections
from standfast.formats.yaml_writer import write
from standfast.journal.author import USER
from standfast.journal.place import Place
from standfast.journal.store import Journal
from standfast.protocols.resumption.files import (
    document_files,
    orchestration_yaml,
    section_file,
    untaken_edits,
)
from standfast.protocols.resumption.records import document_records, live_documents
from standfast.protocols.resumption.rules import orchestration
from standfast.protocols.resumption.rules.migration.section_migration import FIRST_VERSION
from standfast.protocols.resumption.rules.quality_gates import WEIGHTS
from standfast.protocols.resumption.rules.section_check import validate
from standfast.protocols.resumption.rules.trigger_values import write_state
from standfast.protocols.resumption.rules.triggers import (
    AgentCompletion,
    CrossPhaseDecision,
    Decision,
    Defects,
    GateIteration,
    Iteration,
    Recovery,
    Summary,
)
from standfast.protocols.resumption.rules.update_matrix import begin
from standfast.protocols.resumption.rules.workflow_id import workflow_id

_FILE = "ORCHESTRATION.yaml"
_TIME = "2026-01-02T03:04:05Z"
_STATE = Recovery(None, 1, "build", "ACTIVE", "idle", "go on", None, _TIME)
_EMPTY = begin(_STATE, ["PLAN.md"], ["qg-1"])
_TRIGGERS = (
    AgentCompletion(_STATE, Summary("a", "PASS", "all well")),
    CrossPhaseDecision(_STATE, Decision("so be it", "")),
    GateIteration(_STATE, Iteration("a new gate", WEIGHTS), Defects()),
)
_AROUND = (
    b"checkpoints:\n  latest_id: CP-004\npipelines:\n  a:\n    current_phase: 2\n    phases:\n"
    b"      - {id: 1, name: x, status: COMPLETE}\n      - {id: 2, name: y}\n"
    b"quality_gates: [{id: qg-1}, {id: qg-2, status: PASSED}]\n"
)
_COMMENTED = "".join(
    f"{line}  # {number}\n" if number % 3 else f"{line}\n  # above {number + 1}\n"
    for number, line in enumerate(write({"resumption": _EMPTY.section}).splitlines())
).encode()
_SEEDS = (
    b"# mine\nworkflow: {status: ACTIVE}\n"
    b"resumption: " + json.dumps(_EMPTY.section).encode() + b"\n",
    _AROUND,
    b"workflow: {id: w-1}\n" + _COMMENTED,
    b"resumption:\n  last_checkpoint: CP-006\n  current_state: Phase 3\n  files_to_read: [a.md]\n",
    b"resumption: [1]\nresumption: 2\n",
)


def _file(data: bytes) -> None:
    """Whatever stands there: only the section changes, or nothing does and the reason is told."""
    at = folder("orchestration")
    path = at.put(_FILE, data)
    place = Place(root=at.path, folder=os.path.join(at.path, "journal"), subdir="", in_git=False)
    shutil.rmtree(place.folder, ignore_errors=True)  # of the input before
    journal = Journal(place.folder)
    try:
        with journal.writing() as tx:
            tx.append("fuzz", {})
        _walk(journal, place, path, data)
        edit = _read(path).replace(b"go on", b"go on " + data.hex().encode()[:8])
        at.put(_FILE, edit)  # of a document that is known
        _look(journal, place, path, edit)
        _walk(journal, place, path, edit)
    finally:
        journal.let_go()


def _look(journal: Journal, place: Place, path: str, data: bytes) -> None:
    """Who only reads changes neither the file nor a document, and may say what is new in it."""
    before = document_records.documents(journal.query)
    waiting = untaken_edits.look_at(journal, place, _FILE)
    live_documents.documents(journal.query, place.root)
    try:
        must(len(orchestration_yaml.read(data, path)) >= 0, "no records")
    except StandfastError as error:
        must(error.problem, "refused without a word")
    must(all(each.words for each in waiting if each.is_news), "news without a word")
    must(_read(path) == data, "a reader changed the file")
    now = {each.name: each for each in document_records.documents(journal.query)}
    must(all(now.get(each.name) == each for each in before), "a reader changed a document")


def _walk(journal: Journal, place: Place, path: str, data: bytes) -> None:
    document_files.keep(journal, place, _FILE)
    try:
        with journal.writing() as tx:
            if section_file.look(place.root, _FILE).version == FIRST_VERSION:
                section_file.migrate_file(tx, place.root, _FILE, USER)
            document = section_file.ensure(tx, place.root, _FILE, USER)
            must(document.file == _FILE, "another document")
            for trigger in _TRIGGERS:
                document_records.fire(tx, _FILE, trigger, USER)
    except StandfastError as error:
        must(error.problem and error.remedy, "refused without a word")
        must(_read(path) == data, "refused, and changed all the same")
        return
    outcomes = document_files.keep(journal, place, _FILE, _FILE)
    after = _read(path)
    if any(outcome.refused for outcome in outcomes):
        must(after == data, "refused, and changed all the same")
        return
    now = document_records.known(journal.query, _FILE)
    span = yaml_sections.find(after.decode(), orchestration.KEY, path)
    must(span is not None and span.value == now.section, "the file does not say the section")
    must(not validate(now.section), "a section that breaks its own rules")
    must(_around(after) == _around(data), "something around the section changed")
    must(not document_files.keep(journal, place, _FILE), "kept twice")
    json.dumps(write_state(now.resumption))


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def _around(data: bytes) -> object:
    text = data.decode()
    span = yaml_sections.find(text, orchestration.KEY, "given")
    if span is None:
        return text.removeprefix("\ufeff").rstrip("\r\n}, ")
    return (text[: span.start] + text[span.end :]).removeprefix("\ufeff").rstrip("\r\n}, ")


def _workflow(data: bytes) -> None:
    """Any text names one workflow or none, and a name that is written is read back."""
    text = text_of(data)
    found = workflow_id(text)
    must(found is None or (found.isprintable() and found in text), "found what is not there")
    name = f"w{data.hex()[:20]}"
    for file in (f"a: 1\nworkflow:\n  # id: x\n  id: {name}  # y\n", f"workflow: {{id: {name}}}\n"):
        must(workflow_id(file) == name, "a workflow that is not read back")


def _surroundings(data: bytes) -> None:
    found = orchestration.around(text_of(data), _TIME, _FILE)
    must((found.current_phase or 0) >= 0, "a phase below none")
    must(all("\n" not in gate for gate in found.gates), "a gate over several lines")


TARGETS = (
    Target(
        "orchestration",
        "only the section changes, or nothing does and the reason is told",
        _file,
        _SEEDS,
        inputs=120,
    ),
    Target(
        "workflow-id",
        "one workflow or none",
        _workflow,
        (
            b"workflow:\n  name: x\n  id: 'a b'  # c\nid: no\n",
            b'{"a": 1, "workflow": {"name": "x", "id": "w-1"}, "resumption": {}}\n',
            b"workflow: {name: x,\n  id: w-1}\n",
            b"workflow: &a [1]\nother:\n  id: x\n",
        ),
    ),
    Target(
        "orchestration-around",
        "what the rest of the file says, or nothing",
        _surroundings,
        _SEEDS,
    ),
)
