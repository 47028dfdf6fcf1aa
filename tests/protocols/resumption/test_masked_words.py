"""What a person's own file says is never replaced by the mask that the journal has of it."""

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from standfast.protocols.resumption.files.masked_words import unmasked
from standfast.redaction.redactor import MASK, redact_value

FILE = "ORCHESTRATION.yaml"
WORDS = "reset password: ask-Priya-2291 first"

Cli = Callable[..., CompletedProcess[str]]


@pytest.mark.req("RES-01", "RES-25", "SEC-04")
def test_trigger_and_migration_leave_the_words_of_a_file_as_they_are(repo: Path, cli: Cli) -> None:
    cli("resumption", "trigger", "T1", "--phase", "1", "--next-step", "NEXT", cwd=repo)
    file = repo / FILE
    file.write_text(file.read_text("utf-8").replace("NEXT", f'"{WORDS}"'), "utf-8")

    done = cli("resumption", "trigger", "T6", "--decision", "go on", cwd=repo)

    assert done.returncode == 0, done.stderr
    assert WORDS in file.read_text("utf-8")
    assert MASK not in file.read_text("utf-8")
    assert "ask-Priya-2291" not in cli("events", "--json", cwd=repo).stdout
    assert MASK in cli("resumption", "show", cwd=repo).stdout
    before = file.read_bytes()
    assert cli("resumption", "trigger", "T7", "--fill", "0.5", cwd=repo).returncode == 0
    assert WORDS.encode() in file.read_bytes() != before


@pytest.mark.req("RES-25")
def test_migration_leaves_the_words_of_a_file_as_they_are(repo: Path, cli: Cli) -> None:
    (repo / FILE).write_text(
        f"resumption:\n  recovery_state:\n    current_phase: Phase 3\n    next_step: '{WORDS}'\n",
        "utf-8",
    )

    assert cli("resumption", "migrate", cwd=repo).returncode == 0

    assert WORDS in (repo / FILE).read_text("utf-8")


def test_words_are_put_back_where_they_stood_or_where_no_others_have_that_mask() -> None:
    theirs = {"a": ["password: hunter2-one", "password: hunter2-two"], "b": "token: q8Zr41mmPlx90"}
    masked = redact_value(theirs)

    assert unmasked(masked, theirs) == theirs
    moved = {"c": [masked["a"][0]], "d": masked["b"]}  # type: ignore[index]  # as it was made
    assert unmasked(moved, theirs) == {"c": moved["c"], "d": theirs["b"]}
    assert unmasked(masked, {}) == masked
