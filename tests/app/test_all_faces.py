"""One event, all faces: whatever dies in between, the next command of any kind makes them agree."""

import json
import os
import subprocess
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from fuses import Death, Fuse
from standfast import disk
from standfast.app import faces
from standfast.formats import yaml_sections
from standfast.journal import questions
from standfast.journal.place import find
from standfast.journal.store import Journal
from standfast.journal.verification import verify
from standfast.protocols.checkpoints.records import checkpoint_records
from standfast.protocols.resumption.records import document_records
from standfast.surfaces.cli.entry import main

FILE = "ORCHESTRATION.yaml"
LANE = ("--run-id", "r", "--phase", "P1", "--lane", "SL-1")
WRITES = [
    pytest.param(("resumption", "decide", "so be it", "--rationale", "why"), id="decide"),
    pytest.param(("note", "so be it"), id="note"),
    pytest.param(
        ("checkpoint", "write", *LANE, "--stage", "after_lane_start", "--status", "in_progress"),
        id="checkpoint",
    ),
]
READS = [("status",), ("events",), ("checkpoint", "list"), ("resumption", "show"), ("ps",)]
NEXT = ("resumption", "trigger", "T7", "--fill", "0.1")


def standfast(root: Path, *words: str) -> int:
    return main(["-C", str(root), *words])


def begun(root: Path) -> None:
    """A repository in which every face is there."""
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    (root / FILE).write_text("# ours\nworkflow: {id: w}\n", encoding="utf-8")
    assert standfast(root, "resumption", "trigger", "T1", "--phase", "1") == 0
    stage = ("--stage", "before_lane_start", "--status", "ready", "--base-branch", "main")
    assert standfast(root, "checkpoint", "write", *LANE, *stage) == 0
    assert standfast(root, "note", "decided before") == 0


def dies(root: Path, words: tuple[str, ...], fuse: Fuse) -> None:
    """A command that dies when *fuse* burns out."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("fsync", "rename", "link", "unlink"):
            patch.setattr(os, name, fuse.on(getattr(os, name)))
        patch.setattr(disk, "swap", fuse.on(disk.swap))
        try:
            standfast(root, *words)
        except Death:
            pass


def tree(root: Path) -> dict[str, bytes]:
    """Every file of the work tree."""
    files = (path for path in root.rglob("*") if path.is_file() and ".git" not in path.parts)
    return {str(path): path.read_bytes() for path in files}


def agree(root: Path) -> None:
    """Every face says what the journal says, and they say the same of one another."""
    journal = Journal(find(str(root), state_home=str(root / "state")).folder)
    try:
        text = (root / FILE).read_text(encoding="utf-8")
        span = yaml_sections.find(text, "resumption", FILE)
        section = document_records.known(journal.query, FILE).section
        decided = [each.text for each in questions.decisions(journal)]
        status = Path(journal.folder, "status.md").read_text(encoding="utf-8")
        records: Any = json.loads((root / faces.CHECKPOINTS_FILE).read_bytes())
        newest = checkpoint_records.latest(journal)
        assert text.startswith("# ours\nworkflow: {id: w}\n")
        assert span is not None
        assert span.value == section
        assert [each["decision"] for each in section["decision_log"]] == decided
        assert [line.partition(" ")[2] for line in lines(status)] == decided
        assert newest is not None
        assert section["recovery_state"]["last_checkpoint"] == newest.id == records[-1]["id"]
        assert verify(journal).problems == []
    finally:
        journal.let_go()


def lines(status: str) -> list[str]:
    return [line.removeprefix("- ") for line in status.splitlines() if line.startswith("- RD-")]


@pytest.mark.req("RES-01", "RES-06", "RES-19", "CKP-01", "REL-08")
@pytest.mark.parametrize("words", WRITES)
def test_command_that_dies_after_any_step_is_made_good_by_the_next_that_writes(
    tmp_path: Path, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    for nth in count(1, 3):
        root = tmp_path / str(nth)
        begun(root)
        fuse = Fuse(nth)
        dies(root, words, fuse)
        before = tree(root)
        assert standfast(root, *READS[nth % len(READS)]) == 0, capsys.readouterr()
        assert tree(root) == before, "a command that reads changes no byte"
        assert standfast(root, *NEXT) == 0, capsys.readouterr()
        assert standfast(root, "checkpoint", "keep") == 0

        agree(root)
        if fuse.left > 0:
            break
    assert nth > 10


@pytest.mark.req("RES-01", "CKP-01")
def test_every_face_shows_an_event_once_its_command_is_over(tmp_path: Path) -> None:
    begun(tmp_path)
    agree(tmp_path)
    for words in WRITES:
        assert standfast(tmp_path, *words.values[0]) == 0  # type: ignore[misc]
        agree(tmp_path)
