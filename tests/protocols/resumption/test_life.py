"""Triggers, notes, hand edits, deaths and two writers in any order, on real files: nothing is lost.

Ids have no gaps, past decisions and summaries stand, `applied` goes only to true, as many
compactions as are counted; once the file can be read it says what the journal says, and what
stands around the section is what its owner wrote last.
"""

import copy
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from fuses import Death, Fuse
from places import TESTS
from resumption_samples import LATER, TRIGGERS
from standfast import disk
from standfast.errors.base import StandfastError
from standfast.formats import yaml_sections
from standfast.formats.yaml_writer import write
from standfast.journal.author import USER
from standfast.journal.place import Place
from standfast.journal.store import Journal
from standfast.journal.tables import decision_records
from standfast.journal.verification import verify
from standfast.protocols.resumption.files import document_files, section_file
from standfast.protocols.resumption.records import document_records
from standfast.protocols.resumption.rules.section_check import validate
from standfast.protocols.resumption.rules.triggers import CrossPhaseDecision, Decision

FILE = "ORCHESTRATION.yaml"
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
WORDS = st.sampled_from(["yes", "12:30", "a: b # c", "later", "é", "- x", "null"])
DAMAGE = st.sampled_from(["a: [\n", "\x00", "- list\n", "resumption: {recovery_state: 1}\n"])


class AnyLife(RuleBasedStateMachine):
    """One file, two writers, and somebody who edits it by hand."""

    def __init__(self) -> None:
        super().__init__()
        self.root = tempfile.mkdtemp(prefix="standfast-life-", dir=MEMORY)
        self.path = Path(self.root, FILE)
        self.place = Place(root=self.root, folder=f"{self.root}/standfast", subdir="", in_git=False)
        self.writers = [Journal(self.place.folder), Journal(self.place.folder)]
        self.around = "# a file of somebody's\nworkflow: w-0\n"
        self.past: dict[str, Any] = {}
        self.noted = 0

    @initialize()
    def begins(self) -> None:
        self.path.write_text(self.around, encoding="utf-8")
        with self.writers[0].writing() as tx:
            section_file.ensure(tx, self.root, FILE, USER)
        self.keep()
        self.past = copy.deepcopy(self.section)

    @property
    def section(self) -> dict[str, Any]:
        return document_records.known(self.writers[0].query, FILE).section

    def keep(self, writer: int = 0) -> None:
        document_files.keep(self.writers[writer], self.place, FILE)

    @rule(number=st.sampled_from(sorted(TRIGGERS)), writer=st.integers(0, 1), keeps=st.booleans())
    def fires(self, number: str, writer: int, *, keeps: bool) -> None:
        trigger = TRIGGERS[number]
        if number == "T3":
            gate = f"gate-{self.section['quality_trajectory']['total_iterations_used']}"
            trigger = trigger._replace(  # type: ignore[union-attr,call-arg]  # T3
                quality_trajectory=trigger.quality_trajectory._replace(gate=gate)  # type: ignore[union-attr]
            )
        try:
            with self.writers[writer].writing() as tx:
                document_records.fire(tx, FILE, trigger, USER)
        except StandfastError:
            assert number in {"T1", "T2", "T5"}, "only these name what may not be there"
        if keeps:
            self.keep(writer)

    @rule(words=WORDS, writer=st.integers(0, 1))
    def somebody_decides(self, words: str, writer: int) -> None:
        self.noted += 1
        with self.writers[writer].writing() as tx:
            if self.noted % 2:
                decision_records.note(tx, f"{words} {self.noted}")
            else:
                said = CrossPhaseDecision(LATER, Decision(f"{words} {self.noted}", words))
                document_records.fire(tx, FILE, said, USER)

    @rule(words=WORDS)
    def somebody_writes_around_it(self, words: str) -> None:
        new = f"# a file of somebody's\nworkflow: {json.dumps(words)}\n"
        text = self.readable()
        self.path.write_text(text.replace(self.around, new, 1), encoding="utf-8")
        self.around = new

    @rule(words=WORDS, what=st.sampled_from(["step", "agent", "decision", "applied"]))
    def somebody_edits_by_the_rules(self, words: str, what: str) -> None:
        section = copy.deepcopy(self.shown())
        if what == "step":
            section["recovery_state"]["next_step"] = words
        elif what == "agent":
            section["agent_summaries"].setdefault(f"by hand {words}", "DONE. By hand.")
        elif what == "decision":
            number = f"RD-{len(section['decision_log']) + 1:03d}"
            entry = {"id": number, "decision": f"hand {words}", "rationale": ""}
            section["decision_log"].append(entry)
        else:
            for entry in section["decision_log"][:1]:
                entry["applied"] = True
        self.put(section)

    @rule(what=st.sampled_from(["decision", "summary", "events", "all"]))
    def somebody_edits_against_them(self, what: str) -> None:
        section = copy.deepcopy(self.shown())
        for entry in section["decision_log"] if what in {"decision", "all"} else ():
            entry.update(decision="another", applied=False)
        for agent in section["agent_summaries"] if what in {"summary", "all"} else ():
            section["agent_summaries"][agent] = "FAIL. Not so."
        if what in {"events", "all"}:
            section["compaction_events"] = {"count": 0, "events": []}
        self.put(section)

    @rule(damage=DAMAGE)
    def somebody_breaks_it(self, damage: str) -> None:
        good = self.readable()
        self.path.write_text(damage, encoding="utf-8")
        self.keep()
        assert self.path.read_text(encoding="utf-8") == damage, "not ours to write over"
        self.path.write_text(good, encoding="utf-8")

    @rule(steps=st.integers(1, 12), writer=st.integers(0, 1))
    def a_command_dies(self, steps: int, writer: int) -> None:
        fuse = Fuse(steps)
        with pytest.MonkeyPatch.context() as patch:
            for name in ("fsync", "rename", "link", "unlink"):
                patch.setattr(os, name, fuse.on(getattr(os, name)))
            patch.setattr(disk, "swap", fuse.on(disk.swap))
            try:
                with self.writers[writer].writing() as tx:
                    document_records.fire(tx, FILE, TRIGGERS["T4"], USER)
                self.keep(writer)
            except Death:
                self.writers[writer].let_go()
                self.writers[writer] = Journal(self.place.folder)

    def readable(self) -> str:
        """The file, brought up to date: whoever edits has it as it is."""
        self.keep()
        return self.path.read_text(encoding="utf-8")

    def shown(self) -> Any:
        text = self.readable()
        span = yaml_sections.find(text, "resumption", FILE)
        assert span is not None
        return span.value

    def put(self, section: dict[str, Any]) -> None:
        text = self.path.read_text(encoding="utf-8")
        block = write({"resumption": section})
        new = yaml_sections.replace(text, "resumption", block, FILE)
        self.path.write_text(new, encoding="utf-8")

    @invariant()
    def what_is_past_stands(self) -> None:
        if not self.past:
            return
        section, past = self.section, self.past
        assert validate(section) == []
        for before, after in zip(past["decision_log"], section["decision_log"], strict=False):
            assert {**before, "applied": 0} == {**after, "applied": 0}
            assert after.get("applied") or not before.get("applied")
        assert len(section["decision_log"]) >= len(past["decision_log"])
        assert past["agent_summaries"].items() <= section["agent_summaries"].items()
        told, before = section["compaction_events"], past["compaction_events"]
        assert told["count"] == len(told["events"]) >= len(before["events"])
        self.past = copy.deepcopy(section)

    def teardown(self) -> None:
        try:
            if self.past:
                self.keep()
                text = self.path.read_text(encoding="utf-8")
                assert text.startswith(self.around)
                assert self.shown() == self.section
                known = self.writers[0].query("SELECT count(*) FROM decisions")
                assert len(self.section["decision_log"]) == known[0][0]
                assert verify(self.writers[0]).problems == []
        finally:
            for writer in self.writers:
                writer.let_go()
            shutil.rmtree(self.root)


@pytest.mark.req("RES-01", "RES-06", "RES-08", "RES-17", "RES-18")
class TestAnyLife(AnyLife.TestCase):  # type: ignore[misc]  # hypothesis makes the class
    settings = settings(max_examples=30, stateful_step_count=20, deadline=None)


# Many processes.

WRITER = """
import sys
from resumption_samples import LATER
from standfast.journal.tables import decision_records
from standfast.protocols.resumption.files import document_files
from standfast.protocols.resumption.records import document_records
from standfast.journal.author import USER
from standfast.journal.place import Place
from standfast.journal.store import Journal
from standfast.protocols.resumption.rules.triggers import *

root, name, times = sys.argv[1], sys.argv[2], int(sys.argv[3])
place = Place(root=root, folder=f"{root}/standfast", subdir="", in_git=False)
journal = Journal(place.folder, lock_timeout_s=60)
for turn in range(times):
    with journal.writing() as tx:
        if turn % 3 == 0:
            decision_records.note(tx, f"{name} notes {turn}")
            document_records.catch_up(tx, USER)
        elif turn % 3 == 1:
            said = CrossPhaseDecision(LATER, Decision(f"{name} decides {turn}", "why"))
            document_records.fire(tx, "ORCHESTRATION.yaml", said, USER)
        else:
            told = Compaction("2026-02-20T10:20:00Z", "auto", None)
            document_records.fire(tx, "ORCHESTRATION.yaml", CompactionEvent(LATER, told), USER)
    print(turn, flush=True)
    if turn % 5 == 0:
        document_files.keep(journal, place, "ORCHESTRATION.yaml")
journal.close()
"""


@pytest.mark.prove
@pytest.mark.req("RES-06")
def test_writers_at_once_some_of_them_killed_leave_ids_without_gaps(tmp_path: Path) -> None:
    root = str(tmp_path)
    place = Place(root=root, folder=f"{root}/standfast", subdir="", in_git=False)
    journal = Journal(place.folder)
    Path(root, FILE).write_text("a: 1\n", encoding="utf-8")
    with journal.writing() as tx:
        section_file.ensure(tx, root, FILE, USER)
    command = [sys.executable, "-c", WRITER, root]
    environ = {**os.environ, "PYTHONPATH": str(TESTS)}
    writers = [
        subprocess.Popen([*command, f"w{n}", "30"], stdout=subprocess.PIPE, env=environ)
        for n in range(8)
    ]
    told = 0
    for number, writer in enumerate(writers):
        assert writer.stdout is not None
        if number % 4 == 3:  # some die in the middle
            told += sum(1 for _ in zip(writer.stdout, range(9), strict=False))
            writer.send_signal(signal.SIGKILL)
    for writer in writers:
        assert writer.stdout is not None
        told += len(writer.stdout.read().splitlines())
        writer.wait()
        writer.stdout.close()
    document_files.keep(journal, place, FILE)
    document = document_records.known(journal.query, FILE)
    log, events = document.section["decision_log"], document.section["compaction_events"]

    assert validate(document.section) == []
    assert len(log) == journal.query("SELECT count(*) FROM decisions")[0][0]
    assert len(log) + events["count"] >= told, "what was acknowledged is there"
    assert [entry["id"] for entry in log] == [f"RD-{n:03d}" for n in range(1, len(log) + 1)]
    text = Path(root, FILE).read_text(encoding="utf-8")
    span = yaml_sections.find(text, "resumption", FILE)
    assert text.startswith("a: 1\n")
    assert span is not None
    assert span.value == document.section
    assert verify(journal).problems == []
    journal.close()
