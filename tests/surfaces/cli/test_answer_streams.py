"""What was done and could not be told is told from what could not be done."""

import os
import pty
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from standfast.errors.base import AnswerLost, DiskFailed
from standfast.journal.questions import decisions
from standfast.journal.store import Journal

Cli = Callable[..., CompletedProcess[str]]
STANDFAST = f"{sys.executable} -m standfast"


def shell(line: str, cwd: Path) -> CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", line], cwd=cwd, capture_output=True, encoding="utf-8", check=False,
        stdin=subprocess.DEVNULL, timeout=60,
    )  # fmt: skip


def texts(repo: Path) -> list[str]:
    return [each.text for each in decisions(Journal(str(repo / ".git" / "standfast")))]


@pytest.mark.req("REL-01")
@pytest.mark.parametrize("command", ["note kept", "note kept --json", "resumption decide kept"])
def test_fact_is_said_to_stand_when_only_its_acknowledgement_could_not_be_printed(
    repo: Path, command: str
) -> None:
    done = shell(f"{STANDFAST} {command} >/dev/full", repo)

    assert texts(repo) == ["kept"]
    assert done.returncode == AnswerLost.exit_status
    assert "it was done" in done.stderr
    assert "Do not run again" in done.stderr


@pytest.mark.req("REL-01")
def test_plan_is_trusted_when_only_what_was_shown_of_it_is_lost(repo: Path, cli: Cli) -> None:
    plan = "runner: shell\nlanes: {a: do}\ntest: 'true'\n"
    (repo / "p.yaml").write_text(plan, encoding="utf-8")

    done = shell(f"{STANDFAST} plan trust p.yaml --yes >/dev/full", repo)

    assert done.returncode == AnswerLost.exit_status
    assert cli("plan", "trust", "p.yaml", cwd=repo).returncode == 0, "nothing is left to agree to"


def test_status_of_a_failed_check_stays_when_its_words_are_lost(repo: Path) -> None:
    (repo / "p.yaml").write_text("lanes: 1\n", encoding="utf-8")

    done = shell(f"{STANDFAST} plan check p.yaml >/dev/full", repo)

    assert done.returncode == 1


def test_error_as_json_goes_to_the_other_stream_when_the_first_takes_nothing(repo: Path) -> None:
    done = shell(f"{STANDFAST} journal verify --json >/dev/full", repo)

    assert "nothing has been recorded" in done.stderr


def test_lost_warning_changes_no_status(repo: Path) -> None:
    done = shell(f"{STANDFAST} note kept 2>/dev/full", repo)

    assert (done.returncode, done.stdout) == (0, "Recorded RD-001\n")


def test_follower_ends_when_nobody_can_be_told(repo: Path, cli: Cli) -> None:
    cli("note", "kept", cwd=repo)

    done = shell(f"{STANDFAST} events --follow >/dev/full", repo)

    assert done.returncode == AnswerLost.exit_status


@pytest.mark.req("SEC-03")
def test_nobody_agrees_to_what_could_not_be_shown(repo: Path) -> None:
    plan = "runner: shell\nlanes: {a: do}\ntest: 'true'\n"
    (repo / "p.yaml").write_text(plan, encoding="utf-8")
    ours, theirs = pty.openpty()
    os.write(ours, b"y\n")

    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*STANDFAST.split(), "plan", "trust", "p.yaml"], cwd=repo, stdin=theirs, stdout=full,
            stderr=subprocess.PIPE, encoding="utf-8", check=False, timeout=60,
        )  # fmt: skip
    os.close(ours)
    os.close(theirs)

    assert done.returncode == DiskFailed.exit_status
    assert "nothing was done" in done.stderr


def test_long_answer_is_whole_when_the_pipe_does_not_wait(repo: Path, cli: Cli) -> None:
    for number in range(60):
        cli("note", f"{number} {'x' * 1800}", cwd=repo)
    asked = "import os, sys; os.set_blocking(1, False); os.execv(sys.argv[1], sys.argv[1:])"
    line = f"{sys.executable} -c '{asked}' {STANDFAST} journal export | wc -l"

    done = shell(line, repo)

    assert (done.stdout.strip(), done.stderr) == ("60", "")
