"""What is recorded while its file cannot be written: said, and told by the exit status."""

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from conftest import Cli
from resumption_files import FILE, section
from standfast.errors.base import FaceBehind
from standfast.protocols.resumption.rules.quality_gates import WEIGHTS

T1 = ("resumption", "trigger", "T1", "--phase", "1", "--next-step", "go")
DECIDE = ("resumption", "decide", "use x")
SCORES = ("gate", "record", "QG-1", *(f"{name}=0.9" for name in WEIGHTS))


def kept_from_changes(path: Path) -> bool:
    chattr = shutil.which("chattr")
    return chattr is not None and not subprocess.run([chattr, "+i", path], check=False).returncode


@contextmanager
def changes_refused(path: Path) -> Iterator[None]:
    if not kept_from_changes(path):
        pytest.skip("nothing here can be made immutable")
    try:
        yield
    finally:
        subprocess.run(["chattr", "-i", path], check=True)


@contextmanager
def a_file_that_cannot_be_changed(repo: Path) -> Iterator[None]:
    with changes_refused(repo / FILE):
        yield


@contextmanager
def a_folder_that_takes_nothing(repo: Path) -> Iterator[None]:
    with changes_refused(repo):
        yield


@contextmanager
def a_folder_where_the_file_was(repo: Path) -> Iterator[None]:
    (repo / FILE).unlink()
    (repo / FILE).mkdir()
    yield
    (repo / FILE).rmdir()


@contextmanager
def a_conflict_in_the_file(repo: Path) -> Iterator[None]:
    (repo / FILE).write_text("<<<<<<< HEAD\na: 1\n=======\na: 2\n>>>>>>> x\n", "utf-8")
    yield
    (repo / FILE).unlink()


Way = Callable[[Path], AbstractContextManager[None]]
WAYS: tuple[Way, ...] = (
    a_file_that_cannot_be_changed, a_folder_that_takes_nothing,
    a_folder_where_the_file_was, a_conflict_in_the_file,
)  # fmt: skip


@pytest.mark.sweep(4)
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("words", [T1, DECIDE, SCORES], ids=["T1", "decide", "T3"])
def test_what_the_file_cannot_show_is_recorded_and_not_told_as_all_well(
    words: tuple[str, ...], way: Way, repo: Path, cli: Cli
) -> None:
    cli(*T1, cwd=repo)
    with way(repo):
        said = cli(*words, cwd=repo)
        machine = cli(*words, "--json", cwd=repo)

    assert said.returncode == machine.returncode == FaceBehind.exit_status, said.stderr
    assert "Recorded" in said.stdout
    assert FaceBehind.code in said.stderr
    assert "Do not say it again" in said.stderr
    told = json.loads(machine.stdout)
    assert told["written"] is False
    assert told["error"]["code"] == FaceBehind.code
    assert told["file"] == FILE

    later = cli("resumption", "trigger", "T7", "--json", cwd=repo)
    assert later.returncode == 0
    assert json.loads(later.stdout)["written"] is True
    assert (repo / FILE).is_file()


def test_advisory_trigger_says_that_the_file_is_behind_and_is_no_error(
    repo: Path, cli: Cli
) -> None:
    cli(*T1, cwd=repo)
    with a_folder_where_the_file_was(repo):
        done = cli("resumption", "trigger", "T7", "--json", cwd=repo)

    assert done.returncode == 0
    assert json.loads(done.stdout)["written"] is False


def test_note_binds_whatever_becomes_of_a_file(repo: Path, cli: Cli) -> None:
    cli(*T1, cwd=repo)
    with a_folder_where_the_file_was(repo):
        done = cli("note", "keep it", cwd=repo)

    assert done.returncode == 0
    assert "Recorded RD-001" in done.stdout
    assert f"{FILE}: " in done.stderr


def test_trouble_with_another_file_is_not_this_ones(repo: Path, cli: Cli) -> None:
    cli(*T1, "--file", "OTHER.yaml", cwd=repo)
    (repo / "OTHER.yaml").unlink()
    (repo / "OTHER.yaml").mkdir()

    done = cli(*T1, "--json", cwd=repo)

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["written"] is True
    assert section(repo)["recovery_state"]["next_step"] == "go"
