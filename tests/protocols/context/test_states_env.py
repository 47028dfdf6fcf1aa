"""The states file shows where a role is, whatever was done to it, and never runs anything."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import Cli
from context_samples import ROLE
from role_worlds import bring, journal, moves, put, state, states_file
from standfast.errors.base import BadConfig, FaceInvalid, UnsafePath
from standfast.journal.author import USER
from standfast.journal.store import Journal
from standfast.protocols.context.files import states_env
from standfast.protocols.context.records import lifecycle_records
from standfast.protocols.context.rules.lifecycle import (
    ACTIVE,
    COMPACTING,
    MOVES,
    RECOVERING,
    SAVED,
    SAVING,
    STATES,
)

NUMBERS = {state: number for number, state in STATES.items()}


@pytest.fixture
def kept(tmp_path: Path) -> Journal:
    found = Journal(str(tmp_path / "journal"))
    with found.writing() as tx:
        lifecycle_records.begin(tx, ROLE, "test", USER)
    return found


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "config"


def walk(kept: Journal, to: str) -> None:
    with kept.writing() as tx:
        lifecycle_records.walk(tx, ROLE, to, "test", USER)


def keep(kept: Journal, root: Path, role: str = ROLE) -> Path:
    outcome = states_env.keep(kept, role, str(root))
    assert outcome is None or outcome.refused is None, outcome
    return root / "stateMachines" / f"{role.replace('-', '_')}.states.env"


def now(kept: Journal) -> str:
    return lifecycle_records.every(kept)[0].state


def sourced(file: Path) -> str:
    done = subprocess.run(
        ["sh", "-c", f'. "{file}"; echo $STATE_ID_oosh_expert'],
        cwd=file.parent, capture_output=True, encoding="utf-8", check=True,
    )  # fmt: skip
    return STATES[int(done.stdout)]


def edit(file: Path, change: Callable[[str], str]) -> None:
    file.write_text(change(file.read_text(encoding="utf-8")), encoding="utf-8")


def numbered(old: str, new: str) -> Callable[[str], str]:
    return lambda text: text.replace(f"={NUMBERS[old]}\n", f"={NUMBERS[new]}\n")


@pytest.mark.req("CTX-09")
def test_file_follows_the_journal_and_is_written_only_when_it_changes(
    kept: Journal, root: Path
) -> None:
    for after in (ACTIVE, SAVED, COMPACTING, RECOVERING, ACTIVE):
        walk(kept, after)
        file = keep(kept, root)
        assert sourced(file) == after
        before = (os.stat(file).st_ino, os.stat(file).st_mtime_ns)
        assert states_env.keep(kept, ROLE, str(root)) is None
        assert (os.stat(file).st_ino, os.stat(file).st_mtime_ns) == before

    assert file == root / "stateMachines" / "oosh_expert.states.env"
    file.unlink()
    assert sourced(keep(kept, root)) == ACTIVE


@pytest.mark.req("CTX-09")
@pytest.mark.parametrize("before", list(MOVES))
@pytest.mark.parametrize("after", list(MOVES))
def test_number_edited_by_hand_is_a_move_if_it_is_legal(
    kept: Journal, root: Path, before: str, after: str
) -> None:
    walk(kept, before)
    file = keep(kept, root)
    edit(file, numbered(before, after))
    edited = file.read_bytes()

    outcome = states_env.keep(kept, ROLE, str(root))

    if after == before:
        assert outcome is None
    elif after in MOVES[before]:
        assert outcome is not None
        assert outcome.refused is None
        assert now(kept) == sourced(file) == after
    else:
        assert outcome is not None
        assert isinstance(outcome.refused, FaceInvalid)
        assert (outcome.refused.line, outcome.refused.file) == (2, str(file))
        assert all(state in outcome.refused.problem for state in MOVES[before])
        assert now(kept) == before
        assert file.read_bytes() == edited


@pytest.mark.req("CTX-09")
def test_anything_else_is_kept_refused_with_its_line_and_never_run(
    kept: Journal, root: Path
) -> None:
    file = keep(kept, root)
    edit(file, lambda text: text + "touch owned\n")
    edited = file.read_bytes()
    walk(kept, SAVED)

    outcome = states_env.keep(kept, ROLE, str(root))

    assert outcome is not None
    assert isinstance(outcome.refused, FaceInvalid)
    assert outcome.refused.line == 6
    assert file.read_bytes() == edited
    assert now(kept) == SAVED
    assert not list(root.rglob("owned"))
    edit(file, lambda text: text.replace("touch owned\n", ""))  # mended
    assert sourced(keep(kept, root)) == SAVED


@pytest.mark.req("CTX-09")
def test_edit_beside_a_move_of_the_role_is_refused_until_they_agree(
    kept: Journal, root: Path
) -> None:
    file = keep(kept, root)
    edit(file, numbered(ACTIVE, SAVING))
    walk(kept, COMPACTING)

    outcome = states_env.keep(kept, ROLE, str(root))

    assert outcome is not None
    assert isinstance(outcome.refused, FaceInvalid)
    assert COMPACTING in outcome.refused.problem
    edit(file, numbered(SAVING, COMPACTING))
    assert sourced(keep(kept, root)) == COMPACTING
    assert now(kept) == COMPACTING


def test_old_copy_of_ours_is_no_edit(kept: Journal, root: Path) -> None:
    file = keep(kept, root)
    old = file.read_bytes()
    walk(kept, SAVED)
    keep(kept, root)
    file.write_bytes(old)

    assert sourced(keep(kept, root)) == SAVED
    assert now(kept) == SAVED


@pytest.mark.req("CTX-09", "CTX-22")
def test_file_of_another_repository_is_left_alone(
    kept: Journal, root: Path, tmp_path: Path
) -> None:
    file = keep(kept, root)
    theirs = file.read_bytes()
    other = Journal(str(tmp_path / "another"))
    with other.writing() as tx:
        lifecycle_records.begin(tx, ROLE, "test", USER)
        lifecycle_records.walk(tx, ROLE, SAVED, "test", USER)

    outcome = states_env.keep(other, ROLE, str(root))
    states_env.home(other, str(root))

    assert outcome is not None
    assert isinstance(outcome.refused, UnsafePath)
    assert "CONFIG_PATH" in outcome.refused.remedy
    assert file.read_bytes() == theirs
    assert states_env.keep_all(other, str(root)) == []
    assert (now(other), now(kept)) == (SAVED, ACTIVE)
    assert sourced(keep(other, tmp_path / "its own")) == SAVED


def test_repository_that_was_moved_knows_its_file_again(
    kept: Journal, root: Path, tmp_path: Path
) -> None:
    keep(kept, root)
    kept.close()
    os.rename(kept.folder, tmp_path / "moved")
    moved = Journal(str(tmp_path / "moved"))
    walk(moved, SAVED)

    assert sourced(keep(moved, root)) == SAVED


def test_link_in_the_place_of_the_file_is_not_followed(
    kept: Journal, root: Path, tmp_path: Path
) -> None:
    (root / "stateMachines").mkdir(parents=True)
    (root / "stateMachines" / "oosh_expert.states.env").symlink_to(tmp_path / "outside")

    outcome = states_env.keep(kept, ROLE, str(root))

    assert outcome is not None
    assert outcome.refused is not None
    assert not (tmp_path / "outside").exists()


@pytest.mark.req("CTX-22")
def test_root_of_the_files_is_config_path_with_a_default_and_is_remembered(
    cli: Cli, repo: Path, tmp_path: Path
) -> None:
    chosen = tmp_path / "chosen"
    cli("context", "lifecycle.init", "tester", cwd=repo)
    cli("context", "lifecycle.init", ROLE, cwd=repo, env={"CONFIG_PATH": str(chosen)})
    file = chosen / "stateMachines" / "oosh_expert.states.env"
    put(repo)

    cli("context", "lifecycle.save", ROLE, cwd=repo)  # another shell, that does not know

    assert states_file("tester").exists()
    assert not states_file().exists()
    assert sourced(file) == SAVED


@pytest.mark.req("CTX-22")
def test_relative_config_path_is_refused_where_it_is_used_and_void_elsewhere(
    cli: Cli, repo: Path
) -> None:
    put(repo)
    refused = [
        cli("context", action, ROLE, cwd=repo, env={"CONFIG_PATH": "here"})
        for action in ("lifecycle.init", "lifecycle.save", "lifecycle.status", "recover")
    ]
    assert {done.returncode for done in refused} == {BadConfig.exit_status}
    assert all("CONFIG_PATH" in done.stderr for done in refused)
    assert state(repo) is None

    cli("context", "lifecycle.init", ROLE, cwd=repo, env={"CONFIG_PATH": ""})
    status = cli("status", cwd=repo, env={"CONFIG_PATH": "here"})

    assert status.returncode == 0
    assert states_file().exists()
    assert not (repo / "here").exists()


@pytest.mark.req("CTX-22")
@pytest.mark.parametrize("before", [None, "used before"])
def test_folder_that_cannot_be_used_is_not_remembered(
    cli: Cli, repo: Path, tmp_path: Path, before: str | None
) -> None:
    if before is not None:
        env = {"CONFIG_PATH": str(tmp_path / before)}
        cli("context", "lifecycle.init", "tester", cwd=repo, env=env)

    done = cli("context", "lifecycle.init", ROLE, cwd=repo, env={"CONFIG_PATH": "/dev/null"})
    cli("context", "lifecycle.status", cwd=repo, env={"CONFIG_PATH": "/dev/null"})
    after = cli("context", "lifecycle.status", ROLE, "--json", cwd=repo)

    (told,) = json.loads(after.stdout)["roles"]
    folder = states_file().parent if before is None else tmp_path / before / "stateMachines"
    assert "/dev/null" in done.stderr
    assert after.stderr == ""
    assert told["file"] == str(folder / "oosh_expert.states.env")
    assert sourced(Path(told["file"])) == ACTIVE


@pytest.mark.req("CTX-22")
def test_file_of_another_repository_is_not_shown_as_ours(
    cli: Cli, repo: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    cli("context", "lifecycle.init", ROLE, cwd=repo)
    cli("context", "lifecycle.init", ROLE, cwd=other)

    ours, theirs = (
        json.loads(cli("context", "lifecycle.status", "--json", cwd=where).stdout)["roles"][0]
        for where in (repo, other)
    )
    said = cli("context", "lifecycle.status", cwd=other).stdout

    assert (ours["file"], ours["foreign_file"]) == (str(states_file()), None)
    assert (theirs["file"], theirs["foreign_file"]) == (None, str(states_file()))
    assert f"{states_file()} (another repository's" in said


@pytest.mark.req("CTX-09")
def test_next_command_of_any_kind_brings_a_file_up_to_date(cli: Cli, repo: Path) -> None:
    cli("context", "lifecycle.init", ROLE, cwd=repo)
    bring(repo, SAVED)  # as somebody who died before the file was written
    assert sourced(states_file()) == ACTIVE

    cli("status", cwd=repo)

    assert sourced(states_file()) == SAVED


@pytest.mark.req("CTX-09")
def test_edit_is_taken_in_or_told_by_the_next_command(cli: Cli, repo: Path) -> None:
    cli("context", "lifecycle.init", ROLE, cwd=repo)
    edit(states_file(), numbered(ACTIVE, SAVING))
    taken = cli("context", "lifecycle.status", ROLE, cwd=repo)
    edit(states_file(), numbered(SAVING, RECOVERING))
    told = cli("status", "--json", cwd=repo)

    assert taken.stdout.split()[1] == SAVING
    assert moves(repo)[-1] == (ACTIVE, SAVING)
    (needs,) = json.loads(told.stdout)["needs_you"]
    assert (needs["file"], needs["line"]) == (str(states_file()), 2)
    assert state(repo) == SAVING
    kept = journal(repo)
    rows = kept.query("SELECT payload ->> 'by' FROM events WHERE kind = 'lifecycle.moved'")
    kept.close()
    assert "edited by hand" in str(rows[-1][0])
