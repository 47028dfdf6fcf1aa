"""ORCHESTRATION.yaml: the section is ours, the rest somebody's; edits are lost by nobody."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conftest import Cli
from fuses import Death, Fuse
from resumption_samples import LATER, TRIGGERS, iteration, lived
from standfast import disk
from standfast.errors.base import FaceInvalid, StandfastError
from standfast.faces import look, publish, swap
from standfast.faces.publish import Outcome
from standfast.formats import yaml_sections
from standfast.formats.yaml_text import read_yaml
from standfast.journal import overwritten_files, questions
from standfast.journal.author import USER
from standfast.journal.place import Place, find
from standfast.journal.store import Journal
from standfast.journal.tables import decision_records
from standfast.journal.tables.document_folds import Document
from standfast.journal.verification import verify
from standfast.protocols.checkpoints.records import checkpoint_records
from standfast.protocols.resumption.files import document_files, orchestration_yaml, section_file
from standfast.protocols.resumption.records import document_records
from standfast.protocols.resumption.rules.section_check import validate
from standfast.protocols.resumption.rules.triggers import AgentCompletion, Summary
from yaml_documents import Made, block_documents

FILE = "ORCHESTRATION.yaml"
AROUND = (
    "# The plan of ours\r\nworkflow:\r\n  name: w-1  # keep\r\n  status: ACTIVE\r\n"
    "paths: &paths {a: 'x', b: \"y\"}\r\nmore: *paths\r\n"
)


class Desk:
    """A repository, its journal, and one file."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.path = root / FILE
        self.place: Place = find(str(root), state_home=str(root / "state"))
        self.journal = Journal(self.place.folder)

    def begin(self, text: str | None = None) -> Document:
        """Write the file, and take it over or begin its section."""
        if text is not None:
            self.path.write_bytes(text.encode())
        with self.journal.writing() as tx:
            return section_file.ensure(tx, str(self.root), FILE, USER)

    def fire(self, number: str) -> Document:
        with self.journal.writing() as tx:
            return document_records.fire(tx, FILE, TRIGGERS[number], USER)

    def note(self, words: str) -> str:
        with self.journal.writing() as tx:
            return decision_records.note(tx, words)

    def keep(self, asked: str | None = None) -> list[Outcome]:
        return document_files.keep(self.journal, self.place, FILE, asked)

    def refused(self) -> list[str]:
        return [str(each.refused) for each in self.keep() if each.refused is not None]

    @property
    def document(self) -> Document:
        return document_records.known(self.journal.query, FILE)

    @property
    def text(self) -> str:
        return self.path.read_bytes().decode()

    @property
    def shown(self) -> Any:
        """The section as any reader of YAML finds it in the file."""
        value: Any = read_yaml(self.path.read_bytes(), name=FILE).value
        return value["resumption"]

    def edit(self, old: str, new: str) -> None:
        assert old in self.text
        self.path.write_bytes(self.text.replace(old, new).encode())

    def log(self) -> list[tuple[str, str]]:
        return [(entry["id"], entry["decision"]) for entry in self.document.section["decision_log"]]


@pytest.fixture
def desk(repo: Path) -> Iterator[Desk]:
    made = Desk(repo)
    yield made
    made.journal.close()


@pytest.fixture
def kept(desk: Desk) -> Desk:
    """A file with things around the section, in the middle of its life."""
    desk.begin(AROUND)
    with desk.journal.writing() as tx:
        document_records.begin(tx, FILE, str(desk.root), lived(), USER)
    desk.keep()
    return desk


# Only the section.


@pytest.mark.req("RES-01", "PERF-05")
def test_only_the_section_changes_and_the_rest_stays_byte_for_byte(kept: Desk) -> None:
    for number in TRIGGERS:
        kept.fire(number)
        kept.keep()

        assert kept.text.startswith(AROUND)
        assert kept.shown == kept.document.section
        assert validate(kept.shown) == []


@pytest.mark.req("RES-01")
@settings(max_examples=40, suppress_health_check=list(HealthCheck), deadline=None)
@given(block_documents(has_section=st.just(False)))
def test_a_section_is_put_into_any_document_beside_what_it_says(
    tmp_path_factory: pytest.TempPathFactory, made: Made
) -> None:
    desk = Desk(tmp_path_factory.mktemp("any"))
    try:
        desk.begin(made.text)
        desk.fire("T4")
    except StandfastError:
        assert desk.text == made.text
        return
    outcomes = desk.keep()

    if any(each.refused for each in outcomes):
        assert desk.text == made.text
    else:
        span = yaml_sections.find(desk.text, "resumption", FILE)
        assert span is not None
        assert span.value == desk.document.section
        outside = desk.text[: span.start] + desk.text[span.end :]
        assert outside.rstrip("\r\n") == made.text.rstrip("\r\n")
    desk.journal.let_go()


@pytest.mark.req("RES-01")
def test_file_is_made_where_its_own_command_is_called_and_not_otherwise(desk: Desk) -> None:
    desk.begin()
    desk.keep(FILE)
    assert desk.shown == desk.document.section

    desk.path.unlink()
    desk.fire("T4")
    desk.keep()
    assert not desk.path.exists(), "somebody took it away"
    desk.keep(FILE)
    assert desk.shown == desk.document.section


def test_command_that_died_before_it_wrote_the_file_is_made_good_by_the_next(desk: Desk) -> None:
    desk.begin()
    desk.keep()

    assert desk.shown == desk.document.section


@pytest.mark.parametrize("empty", ["resumption:   # here", "resumption: {}"])
def test_empty_section_is_a_place_for_one(desk: Desk, empty: str) -> None:
    desk.begin(f"a: 1\n{empty}\nb: 2\n")
    desk.keep()

    assert desk.text.startswith("a: 1\nresumption:")
    assert desk.text.endswith("\nb: 2\n")
    assert desk.shown == desk.document.section


@pytest.mark.req("RES-01")
def test_valid_section_that_is_there_is_taken_over_and_its_bytes_stay(kept: Desk) -> None:
    before = kept.text
    other = Desk(kept.root.parent / "other")
    other.root.mkdir()
    subprocess.run(["git", "init", "-q", str(other.root)], check=True)
    other = Desk(other.root)
    other.path.write_bytes(before.encode())
    with other.journal.writing() as tx:
        tx.append("any", {})
    other.keep()

    assert other.document.section == kept.document.section
    assert other.text == before
    assert other.keep() == []
    other.journal.close()


@pytest.mark.parametrize(
    "text", ["resumption: [1]\n", "resumption: {current_state: x}\n", "a: [\n", "a: 1\n---\nb: 2\n"]
)
def test_what_is_no_section_of_v2_is_left_alone_until_somebody_asks(desk: Desk, text: str) -> None:
    desk.path.write_text(text, encoding="utf-8")
    with desk.journal.writing() as tx:
        tx.append("any", {})

    assert desk.keep() == []
    assert document_records.documents(desk.journal.query) == []
    with pytest.raises(StandfastError) as refused:
        desk.begin()
    assert refused.value.line or refused.value.file
    assert desk.text == text


# Edits.


@pytest.mark.req("RES-08")
def test_edit_that_the_rules_allow_is_adopted(kept: Desk) -> None:
    kept.edit("next_step: start", "next_step: by hand")
    kept.edit("agent_summaries:", "agent_summaries:\n    new-one: DONE. By hand.")

    assert kept.refused() == []
    assert kept.document.state["next_step"] == "by hand"
    assert kept.document.section["agent_summaries"]["new-one"] == "DONE. By hand."
    kept.fire("T7")
    kept.keep()
    assert kept.shown["agent_summaries"]["new-one"] == "DONE. By hand."


@pytest.mark.req("RES-06", "RES-08")
@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("decision: keep SPDX", "decision: drop SPDX", "changes RD-001"),
        ("PASS. All compatible.", "FAIL. Nothing is.", "summary of an agent"),
        ("count: 1", "count: 1\n    #", ""),
        ("total_iterations_used: 1", "total_iterations_used: 7", "iteration of a gate"),
        ("total_defects_found: 2", "total_defects_found: 0", "lowers a total"),
        ("acknowledged: false", "acknowledged: true", "only compactions"),
        ("last_checkpoint: null", "last_checkpoint: CP-099", "another checkpoint"),
    ],
)
def test_edit_against_the_rules_is_kept_and_named_and_ours_stays(
    kept: Desk, old: str, new: str, says: str
) -> None:
    before = kept.document.section
    kept.edit(old, new)
    refused = kept.refused()

    assert kept.document.section == before == kept.shown
    assert all(says in each for each in refused)
    assert bool(refused) == bool(says)
    if says:
        (event,) = questions.events(kept.journal, questions.Filter(kind="resumption.passed"))
        assert json.loads(event.payload)["said"]
    assert kept.refused() == []


@pytest.mark.req("RES-08")
def test_one_slip_in_an_edit_costs_the_rest_of_it_nothing(kept: Desk) -> None:
    kept.edit("decision: keep SPDX", "decision: drop SPDX")
    kept.edit("next_step: start", "next_step: by hand")

    assert len(kept.refused()) == 1
    assert kept.document.state["next_step"] == "by hand"
    assert kept.log() == [("RD-001", "keep SPDX")]


@pytest.mark.req("RES-06")
def test_decision_added_by_hand_while_another_was_noted_gets_the_next_id(kept: Desk) -> None:
    entry = "    - id: RD-002\n      decision: by hand\n      rationale: why\n"
    kept.edit("  agent_summaries:", entry + "  agent_summaries:")
    kept.note("noted meanwhile")
    kept.keep()

    assert kept.log() == [
        ("RD-001", "keep SPDX"),
        ("RD-002", "noted meanwhile"),
        ("RD-003", "by hand"),
    ]
    assert [d.text for d in questions.decisions(kept.journal)] == [words for _, words in kept.log()]
    assert kept.shown == kept.document.section


@pytest.mark.req("RES-17")
def test_applied_by_hand_goes_from_false_to_true_and_never_back(kept: Desk) -> None:
    kept.edit("applied: false", "applied: true")
    assert kept.refused() == []
    assert kept.document.section["decision_log"][0]["applied"] is True

    kept.edit("applied: true", "applied: false")
    assert kept.refused() == []  # as it was before: an old copy
    assert kept.shown["decision_log"][0]["applied"] is True


@pytest.mark.req("RES-08")
def test_field_that_both_changed_keeps_what_the_journal_says_and_names_the_other(
    kept: Desk,
) -> None:
    kept.edit("next_step: start", "next_step: by hand")
    kept.fire("T7")

    assert ["while it changed" in each for each in kept.refused()] == [True]
    assert kept.shown["recovery_state"]["next_step"] == LATER.next_step


@pytest.mark.req("RES-08")
def test_section_that_somebody_took_out_comes_back(kept: Desk) -> None:
    kept.path.write_bytes(AROUND.encode())
    kept.keep()

    assert kept.shown == kept.document.section
    assert kept.text.startswith(AROUND)


@pytest.mark.req("RES-19")
def test_last_checkpoint_is_what_the_file_calls_the_latest(kept: Desk) -> None:
    kept.path.write_bytes((kept.text + "checkpoints:\n  latest_id: CP-004\n").encode())
    kept.keep()
    assert kept.shown["recovery_state"]["last_checkpoint"] == "CP-004"

    kept.edit("latest_id: CP-004", "latest_id: CP-005")
    kept.fire("T7")
    kept.keep()
    assert kept.shown["recovery_state"]["last_checkpoint"] == "CP-005"


@pytest.mark.req("RES-19")
def test_last_checkpoint_is_the_journals_where_the_file_names_none(kept: Desk) -> None:
    record: Any = {
        "run_id": "r",
        "phase": "P1",
        "lane": "SL-1",
        "stage": "before_lane_start",
        "status": "ready",
        "base_branch": "main",
        "worktree_path": "/w",
        "log_path": "/l",
        "timestamp": "2026-01-02T03:04:05Z",
        "notes": "",
    }
    with kept.journal.writing() as tx:
        number = checkpoint_records.upsert(tx, record)
    kept.keep()

    assert kept.shown["recovery_state"]["last_checkpoint"] == number == "CP-001"
    assert verify(kept.journal).problems == []


# Files that cannot be read.


@pytest.mark.req("RES-08")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("recovery_state:", "recovery_state: ["),
        ("resumption:", "resumption: []\nother:"),
        ("next_step: start", "next_step: start\n    next_step: again"),
        ("workflow_status: ACTIVE", "workflow_status: HAPPY"),
        ("workflow:", "a: 1\n---\nworkflow:"),
    ],
)
def test_file_that_breaks_is_named_with_its_line_and_stays_and_work_goes_on(
    kept: Desk, old: str, new: str
) -> None:
    good = kept.text
    kept.edit(old, new)
    broken = kept.text
    (outcome,) = [each for each in kept.keep() if each.refused]
    kept.fire("T4")
    kept.keep()

    assert isinstance(outcome.refused, FaceInvalid)
    assert outcome.refused.line
    assert kept.text == broken, "the file is theirs until it is mended"
    assert "x" in kept.document.section["agent_summaries"] or kept.document.state

    kept.path.write_bytes(good.encode())
    assert kept.refused() == []
    assert kept.shown == kept.document.section


@pytest.mark.req("RES-25")
@pytest.mark.parametrize(
    ("old", "new", "field", "value"),
    [
        ("workflow_status: ACTIVE", "workflow_status: COMPLETED", "workflow_status", "COMPLETE"),
        ("current_phase: 1", 'current_phase: "Phase 3"', "current_phase", 3),
        ("next_step: start", "next_action: rest", "next_step", "rest"),
        ("    current_phase: 1\n", "", "current_phase", 1),
        ("resumption:\n", "resumption:\n  warning: slow # !\n", "next_step", "start"),
    ],
)
def test_edit_in_another_form_is_read_as_a_person_reads_it(
    kept: Desk, old: str, new: str, field: str, value: object
) -> None:
    kept.edit(old.replace("\n", "\r\n"), new.replace("\n", "\r\n"))

    assert kept.refused() == []
    assert kept.document.section["recovery_state"][field] == value
    assert kept.shown == kept.document.section
    assert validate(kept.shown) == []
    assert ("warning: slow # !" in kept.text) == ("warning" in new)


@pytest.mark.parametrize("data", [b"\xff\xfe", b"a: \x00\n", b"", b"\n", b"- a\n"])
def test_bytes_that_are_no_mapping_lose_nothing(kept: Desk, data: bytes) -> None:
    before = kept.document.section
    kept.path.write_bytes(data)
    kept.keep()

    assert kept.document.section == before
    if data.strip():
        assert kept.path.read_bytes() == data
    else:
        assert kept.shown == before


# Races and crashes: what is around the section is in no journal.


def swapped_late(desk: Desk, edited: str) -> None:
    """A save that falls between our look and our swap."""
    face, _ = orchestration_yaml.face(desk.document, in_git=True)
    seen = look.contents(face)
    rendered = face.render(desk.journal, seen)
    desk.path.write_bytes(edited.encode())
    swap.put_in_place(desk.journal, face, rendered, expected=seen, exchange=True)


@pytest.mark.req("RES-01", "REL-08")
def test_edit_around_the_section_that_falls_between_look_and_swap_is_carried_over(
    kept: Desk,
) -> None:
    kept.fire("T4")
    swapped_late(kept, kept.text.replace("name: w-1", "name: w-2"))
    assert "name: w-1" in kept.text
    kept.keep()

    assert "name: w-2  # keep" in kept.text
    assert kept.shown == kept.document.section
    assert kept.keep() == []


@pytest.mark.req("RES-01", "REL-08")
def test_edit_of_both_that_falls_between_look_and_swap_is_taken_whole(kept: Desk) -> None:
    kept.fire("T7")
    edited = kept.text.replace("name: w-1", "name: w-2").replace("keep SPDX", "keep SPDX")
    entry = "    - id: RD-002\n      decision: by hand\n      rationale: why\n"
    swapped_late(kept, edited.replace("  agent_summaries:", entry + "  agent_summaries:"))
    kept.keep()

    assert "name: w-2" in kept.text
    assert ("RD-002", "by hand") in kept.log()
    assert kept.shown == kept.document.section


@pytest.mark.req("RES-01", "REL-08")
def test_editor_that_still_had_the_file_open_loses_nothing(kept: Desk) -> None:
    with kept.path.open("r+b") as still_open:
        whole = still_open.read()
        kept.fire("T4")
        kept.keep()
        still_open.seek(0)
        still_open.write(whole.replace(b"name: w-1", b"name: w-9"))
    kept.keep()

    assert "name: w-9" in kept.text
    assert kept.shown == kept.document.section
    assert "SPDX" in kept.text


@pytest.mark.req("RES-01", "REL-08")
def test_two_edits_around_the_section_at_once_are_both_made_where_they_do_not_meet(
    kept: Desk,
) -> None:
    with kept.path.open("r+b") as still_open:
        whole = still_open.read()
        kept.fire("T4")
        kept.keep()
        kept.edit("name: w-1", "name: w-2")
        kept.path.write_bytes((kept.text + "# at the end\n").encode())
        kept.keep()
        still_open.seek(0)
        still_open.write(whole.replace(b"paths: ", b"others: &o 1\r\npaths: ") + b"# also\n")
    kept.keep()

    assert "name: w-2" in kept.text
    assert "others: &o 1\r\npaths: " in kept.text
    assert kept.text.endswith("# at the end\n# also\n")
    assert kept.shown == kept.document.section


@pytest.mark.req("RES-01", "REL-08")
def test_two_edits_of_one_line_at_once_are_both_kept_and_told(kept: Desk) -> None:
    with kept.path.open("r+b") as still_open:
        whole = still_open.read()
        kept.fire("T4")
        kept.keep()
        kept.edit("name: w-1", "name: w-2")
        kept.keep()
        still_open.seek(0)
        still_open.write(whole.replace(b"name: w-1", b"name: w-9"))
    os.utime(still_open.name)
    first = kept.keep()  # it may still be on its way
    age(kept)
    refused = [*(str(each.refused) for each in first if each.refused), *kept.refused()]

    assert "name: w-2" in kept.text
    assert any("twice at once" in each for each in refused), refused
    folder = Path(kept.journal.folder) / "kept"
    assert any(b"name: w-9" in file.read_bytes() for file in folder.iterdir())


def age(desk: Desk) -> None:
    """Let what was swapped out have been at rest for a while."""
    for file in (Path(desk.journal.folder) / "drafts").iterdir():
        os.utime(file, (1_000_000, 1_000_000))


def edit_then_publish(desk: Desk, fuse: Fuse) -> None:
    """A publish that dies when *fuse* burns out, with an edit at the last instant before it."""
    face, _ = orchestration_yaml.face(desk.document, in_git=True)
    seen = look.contents(face)
    rendered = face.render(desk.journal, seen)
    desk.edit("name: w-1", "name: w-2")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("fsync", "rename", "link", "unlink"):
            patch.setattr(os, name, fuse.on(getattr(os, name)))
        patch.setattr(disk, "swap", fuse.on(disk.swap))
        try:
            swap.put_in_place(desk.journal, face, rendered, expected=seen, exchange=True)
            publish.keep(desk.journal, face)
        except Death:
            desk.journal.let_go()


@pytest.mark.req("RES-01", "REL-08")
def test_death_after_any_step_of_a_publish_loses_neither_edit_nor_section(
    make_repo: Callable[[str], Path],
) -> None:
    for nth in count(1):
        desk = Desk(make_repo(f"r{nth}"))
        desk.begin(AROUND)
        desk.keep()
        desk.fire("T4")
        fuse = Fuse(nth)
        edit_then_publish(desk, fuse)
        for _ in range(2):
            desk.keep()

        assert "name: w-2  # keep" in desk.text, f"after step {nth}"
        assert desk.text.startswith(AROUND.replace("w-1", "w-2"))
        assert desk.shown == desk.document.section
        assert verify(desk.journal).problems == []
        desk.journal.close()
        if fuse.left > 0:
            break
    assert nth > 5


@pytest.fixture
def make_repo(tmp_path: Path) -> Callable[[str], Path]:
    def make(name: str) -> Path:
        root = tmp_path / name
        subprocess.run(["git", "init", "-q", str(root)], check=True)
        return root

    return make


# Git, other checkouts, secrets.


def git(desk: Desk, *words: str) -> None:
    subprocess.run(["git", "-C", str(desk.root), *words], check=True, capture_output=True)


@pytest.mark.req("RES-08")
def test_old_version_that_git_brings_back_undoes_nothing(kept: Desk) -> None:
    git(kept, "add", FILE)
    git(kept, "commit", "-qm", "one")
    kept.fire("T4")
    kept.keep()
    git(kept, "checkout", "--", FILE)
    kept.keep()

    assert kept.shown == kept.document.section
    assert len(kept.document.section["agent_summaries"]) == 2


@pytest.mark.req("RES-08", "RES-24")
def test_what_was_committed_on_another_branch_is_taken_as_what_it_says(kept: Desk) -> None:
    git(kept, "add", FILE)
    git(kept, "commit", "-qm", "one")
    git(kept, "checkout", "-qb", "theirs")
    kept.edit("next_step: start", "next_step: of another branch")
    kept.edit("agent_summaries:", "agent_summaries:\n    theirs: DONE. On a branch.")
    git(kept, "commit", "-qam", "two")
    git(kept, "checkout", "-q", "-")
    kept.keep()
    git(kept, "checkout", "-q", "theirs")
    assert kept.refused() == []

    assert kept.document.section["agent_summaries"]["theirs"] == "DONE. On a branch."
    assert kept.document.state["next_step"] == "of another branch"


def test_copy_in_another_worktree_is_neither_read_nor_written(kept: Desk) -> None:
    git(kept, "add", FILE)
    git(kept, "commit", "-qm", "one")
    tree = kept.root.parent / "tree"
    git(kept, "worktree", "add", "-q", str(tree))
    copy = (tree / FILE).read_bytes()
    kept.fire("T4")
    document_files.keep(kept.journal, find(str(tree), state_home=str(kept.root / "state")), FILE)

    assert (tree / FILE).read_bytes() == copy
    assert kept.shown == kept.document.section


def test_document_whose_checkout_is_gone_moves_to_one_that_has_the_file(kept: Desk) -> None:
    git(kept, "add", FILE)
    git(kept, "commit", "-qm", "one")
    tree = kept.root.parent / "tree"
    git(kept, "worktree", "add", "-q", str(tree))
    with kept.journal.writing() as tx:
        tx.append("resumption.moved", {"file": FILE, "root": str(tree)})
    git(kept, "worktree", "remove", "--force", str(tree))
    kept.fire("T4")
    kept.keep()

    assert kept.document.root == str(kept.root)
    assert kept.shown == kept.document.section


@pytest.mark.req("SEC-08")
def test_secret_around_the_section_reaches_no_file_of_ours_and_stays_in_theirs(kept: Desk) -> None:
    secret = "sk-ant-api03-" + "Qx7" * 25
    kept.edit("name: w-1", f"name: w-1\r\n  token: {secret}")
    kept.keep()
    kept.fire("T4")
    kept.keep()
    swapped_late(kept, kept.text.replace("w-1", "w-3"))
    kept.keep()
    kept.journal.mirror()

    assert secret in kept.text
    assert "w-3" in kept.text
    assert kept.shown == kept.document.section
    for folder, _, names in os.walk(kept.journal.folder):
        for name in names:
            assert secret.encode() not in Path(folder, name).read_bytes(), name


@pytest.mark.req("RES-24")
def test_two_files_are_two_documents_with_decisions_of_their_own(kept: Desk) -> None:
    other = kept.root / "sub" / "PLAN.yaml"
    other.parent.mkdir()
    other.write_text("a: 1\n", encoding="utf-8")
    with kept.journal.writing() as tx:
        section_file.ensure(tx, str(kept.root), "sub/PLAN.yaml", USER)
        document_records.fire(tx, "sub/PLAN.yaml", TRIGGERS["T6"], USER)
    kept.keep()
    value: Any = read_yaml(other.read_bytes(), name="x").value
    log = value["resumption"]["decision_log"]

    assert [(each["id"], each["decision"]) for each in log] == [("RD-001", "no vendoring")]
    assert kept.log() == [("RD-001", "keep SPDX")]


@pytest.mark.req("RES-06")
def test_document_that_is_over_is_left_alone_and_catches_up_when_it_goes_on(kept: Desk) -> None:
    over = AgentCompletion(LATER._replace(workflow_status="COMPLETE"), Summary("z", "DONE", "All"))
    with kept.journal.writing() as tx:
        document_records.fire(tx, FILE, over, USER)
    kept.keep()
    before = kept.text
    kept.note("after the end")
    kept.keep()
    assert kept.text == before

    kept.fire("T1")
    kept.note("and on")
    kept.keep()
    assert [number for number, _ in kept.log()] == ["RD-001", "RD-002", "RD-003"]
    assert validate(kept.shown) == []


@pytest.mark.req("RES-16")
def test_iteration_that_fails_is_one_all_the_same(kept: Desk) -> None:
    with kept.journal.writing() as tx:
        document_records.fire(tx, FILE, iteration("qg-1", "0.10"), USER)
    kept.keep()

    assert kept.shown["quality_trajectory"]["score_history"]["qg-1"] == [0.8, 0.1]
    assert kept.shown["quality_trajectory"]["total_iterations_used"] == 2


# Migration.

V1 = (
    "a: 1 # keep\nresumption:\n  last_checkpoint: CP-006\n"
    "  current_state: Phase 3 is half done\n  next_step: go on with it\n"
    "  files_to_read: [PLAN.md, docs/x.md]\n  cross_session_portable: true\n"
    "  ephemeral_references: false\nb: 2\n"
)


@pytest.mark.req("RES-09")
def test_v1_is_migrated_in_its_place_and_the_original_is_in_the_journal(desk: Desk) -> None:
    desk.path.write_text(V1, encoding="utf-8")
    with desk.journal.writing() as tx:
        moved = section_file.migrate_file(tx, str(desk.root), FILE, USER)
    desk.keep()
    state = desk.shown["recovery_state"]

    assert moved is not None
    assert validate(desk.shown) == []
    assert (state["current_activity"], state["next_step"]) == (
        "Phase 3 is half done",
        "go on with it",
    )
    assert state["cross_session_portable"] is True
    assert state["ephemeral_references"] is False
    assert desk.shown["files_to_read"] == ["PLAN.md", "docs/x.md"]
    assert desk.text.startswith("a: 1 # keep\nresumption:\n")
    assert desk.text.endswith("\nb: 2\n")
    assert overwritten_files.kept(desk.journal, moved.kept) == V1.encode()


@pytest.mark.req("RES-09")
def test_v2_needs_no_migration(kept: Desk) -> None:
    with kept.journal.writing() as tx:
        assert section_file.migrate_file(tx, str(kept.root), FILE, USER) is None


@pytest.mark.req("RES-10")
def test_section_that_is_taken_over_is_not_older_than_its_phase(kept: Desk) -> None:
    assert kept.document.phase_at == 1_771_581_600 * 1_000_000  # its `updated_at`


@pytest.mark.req("RES-10")
def test_note_makes_no_section_look_fresh(kept: Desk) -> None:
    before = kept.document.state
    kept.note("in a later session")
    kept.keep()

    assert kept.log()[-1] == ("RD-002", "in a later session")
    assert kept.document.state == before


@pytest.mark.req("RES-08")
def test_first_trigger_in_a_file_that_somebody_brought_is_no_edit_of_it(
    kept: Desk, make_repo: Callable[[str], Path]
) -> None:
    other = Desk(make_repo("brought"))
    other.begin(kept.text)
    other.fire("T1")

    assert other.refused() == []
    assert other.shown == other.document.section
    other.journal.close()


@pytest.mark.req("RES-06")
def test_ids_that_a_file_has_already_are_taken_before_a_note_is_given_one(
    kept: Desk, make_repo: Callable[[str], Path], cli: Cli
) -> None:
    root = make_repo("clone")
    (root / FILE).write_bytes(kept.text.encode())
    done = cli("note", "hello", cwd=root)
    other = Desk(root)

    assert done.stdout == "Recorded RD-002\n"
    assert other.log() == [("RD-001", "keep SPDX"), ("RD-002", "hello")]
    assert [(each.id, each.text) for each in questions.decisions(other.journal)] == other.log()
    other.journal.close()


@pytest.mark.req("RES-01")
def test_command_that_writes_something_else_heals_too_and_one_that_reads_does_not(
    kept: Desk, cli: Cli
) -> None:
    for words in (("doctor",), ("journal", "verify"), ("resumption", "validate"), ("status",)):
        kept.fire("T4")
        before = kept.text
        cli(*words, cwd=kept.root)
        assert kept.text == before, words
    cli("note", "anything", cwd=kept.root)
    assert kept.shown == kept.document.section


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_file_stays_its_owners_when_root_writes_it(kept: Desk) -> None:
    os.chown(kept.path, 12345, 12346)
    kept.path.chmod(0o600)
    kept.fire("T4")
    kept.keep()
    found = kept.path.stat()

    assert (found.st_uid, found.st_gid, found.st_mode & 0o777) == (12345, 12346, 0o600)


def files_of_ours(desk: Desk) -> Iterator[tuple[str, bytes]]:
    desk.journal.mirror()
    for folder, _, names in os.walk(desk.journal.folder):
        for name in names:
            yield name, Path(folder, name).read_bytes()


@pytest.mark.req("SEC-08")
@pytest.mark.parametrize("old", ["next_step: start", "name: w-1"])
def test_secret_that_an_edit_brings_is_in_no_file_of_ours_even_if_nothing_is_published(
    kept: Desk, old: str
) -> None:
    secret = "sk-ant-api03-" + "Zy4" * 25
    kept.edit(old, f"{old.partition(':')[0]}: {secret}")
    kept.keep()
    kept.keep()

    assert [name for name, data in files_of_ours(kept) if secret.encode() in data] == []


@pytest.mark.req("RES-09")
def test_v1_that_somebody_puts_back_is_named_as_such(kept: Desk) -> None:
    kept.path.write_text(V1, encoding="utf-8")
    (told,) = kept.refused()

    assert "is of v1.0" in told
    assert kept.text == V1


@pytest.mark.req("RES-01", "REL-08")
def test_edit_around_the_section_just_before_a_race_is_what_the_race_is_against(
    kept: Desk,
) -> None:
    kept.edit("name: w-1", "name: w-5")  # nothing has looked since
    kept.fire("T4")
    face, _ = orchestration_yaml.face(kept.document, in_git=True)
    real = disk.swap

    def swap_late(*arguments: Any) -> bool:
        if "late" not in kept.text:
            kept.edit("status: ACTIVE", "status: ACTIVE  # late")
        return real(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(disk, "swap", swap_late)
        publish.keep(kept.journal, face)
    kept.keep()

    assert "name: w-5" in kept.text
    assert "status: ACTIVE  # late" in kept.text
    assert kept.shown == kept.document.section
    assert not (Path(kept.journal.folder) / "kept").exists()


@pytest.mark.req("REL-08")
def test_edit_of_a_displaced_file_that_is_half_written_is_waited_for(kept: Desk) -> None:
    with kept.path.open("r+b") as still_open:
        whole = still_open.read().replace(b"name: w-1", b"name: w-9")
        kept.fire("T4")
        kept.keep()
        still_open.seek(0)
        still_open.write(whole.replace(b"paths: &paths {", b"paths: &paths {{[  "))
        still_open.flush()
        assert kept.refused() == [], "half of it may still be on its way"
        still_open.seek(0)
        still_open.truncate()
        still_open.write(whole)
    kept.keep()

    assert "name: w-9" in kept.text
    assert kept.shown == kept.document.section
