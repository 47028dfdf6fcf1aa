"""Each worktree has lifecycles of its own, as it has context files of its own."""

import json
import subprocess
from pathlib import Path

import pytest

from conftest import Cli
from context_samples import ROLE
from hook_calls import Hooks, put_launcher
from role_worlds import journal, put, state, states_file
from standfast.errors.base import UnsafePath
from standfast.journal.author import USER
from standfast.journal.store import Journal
from standfast.protocols.context.files import context_files
from standfast.protocols.context.records import lifecycle_records
from standfast.protocols.context.rules.lifecycle import ACTIVE, COMPACTING, RECOVERING, SAVED

pytestmark = pytest.mark.req("CTX-22")


def git(*words: str, cwd: Path) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run(["git", *who, *words], cwd=cwd, check=True, capture_output=True)


@pytest.fixture
def second(repo: Path, tmp_path: Path) -> Path:
    """A linked worktree of the repository."""
    git("commit", "-q", "--allow-empty", "-m", "first", cwd=repo)
    git("worktree", "add", "-q", str(tmp_path / "second"), cwd=repo)
    return tmp_path / "second"


def status(cli: Cli, where: Path, **env: str) -> dict[str, str]:
    said = cli("context", "lifecycle.status", "--json", cwd=where, env=env)
    return {each["role"]: each["state"] for each in json.loads(said.stdout)["roles"]}


def file_of(cli: Cli, where: Path, **env: str) -> Path:
    said = cli("context", "lifecycle.status", ROLE, "--json", cwd=where, env=env)
    return Path(json.loads(said.stdout)["roles"][0]["file"])


def test_each_worktree_begins_a_lifecycle_of_its_own(cli: Cli, repo: Path, second: Path) -> None:
    first = cli("context", "lifecycle.init", ROLE, cwd=repo)
    put(repo)
    cli("context", "lifecycle.save", ROLE, cwd=repo)
    other = cli("context", "lifecycle.init", ROLE, cwd=second)
    again = cli("context", "lifecycle.init", ROLE, cwd=second)

    assert first.stdout == other.stdout == f"{ROLE} begins active\n"
    assert other.stderr == ""
    assert "already" in again.stdout
    assert (status(cli, repo), status(cli, second)) == ({ROLE: SAVED}, {ROLE: ACTIVE})
    assert file_of(cli, repo) == states_file()
    assert file_of(cli, second) != states_file()
    assert "=13\n" in file_of(cli, repo).read_text("utf-8")
    assert "=11\n" in file_of(cli, second).read_text("utf-8")


def test_whole_cycle_in_one_worktree_moves_no_other(cli: Cli, repo: Path, second: Path) -> None:
    for where in (repo, second):
        cli("context", "lifecycle.init", ROLE, cwd=where)
        put(where)
    cli("context", "lifecycle.save", ROLE, cwd=second)
    file = file_of(cli, second)
    file.write_text(file.read_text("utf-8").replace("=13\n", "=14\n"), encoding="utf-8")

    assert status(cli, second) == {ROLE: COMPACTING}
    assert status(cli, repo) == {ROLE: ACTIVE}
    assert cli("context", "recover", ROLE, cwd=second).returncode == 0
    assert status(cli, second) == {ROLE: ACTIVE}


def test_hooks_move_the_role_of_their_worktree(
    cli: Cli, repo: Path, second: Path, world: Path
) -> None:
    for where in (repo, second):
        cli("context", "lifecycle.init", ROLE, cwd=where)
    put(second)
    hooks = Hooks(second, put_launcher(world / "home" / ".local" / "share" / "standfast" / "hook"))
    hooks.env["HIVEMIND_ROLE"] = ROLE
    hooks("PreCompact", trigger="manual")
    between = status(cli, second)
    hooks("SessionStart", source="compact")

    assert between == {ROLE: COMPACTING}
    assert (status(cli, repo), status(cli, second)) == ({ROLE: ACTIVE}, {ROLE: RECOVERING})
    assert "=15\n" in file_of(cli, second).read_text("utf-8")


def test_role_of_a_second_worktree_is_refused_under_one_config_path(
    cli: Cli, repo: Path, second: Path, tmp_path: Path
) -> None:
    env = {"CONFIG_PATH": str(tmp_path / "shared")}
    put(second)
    cli("context", "lifecycle.init", ROLE, cwd=repo, env=env)
    before = (tmp_path / "shared/stateMachines/oosh_expert.states.env").read_bytes()

    for action in ("lifecycle.init", "lifecycle.save"):
        refused = cli("context", action, ROLE, cwd=second, env=env)
        assert refused.returncode == UnsafePath.exit_status
        assert "another worktree" in refused.stderr
        assert "CONFIG_PATH" in refused.stderr
    own = {"CONFIG_PATH": str(tmp_path / "own")}

    assert (tmp_path / "shared/stateMachines/oosh_expert.states.env").read_bytes() == before
    assert status(cli, second, **env) == {}
    assert cli("context", "lifecycle.init", ROLE, cwd=second, env=own).returncode == 0
    assert file_of(cli, second) == tmp_path / "own/stateMachines/oosh_expert.states.env"


def old(repo: Path) -> Journal:
    """As an older version began it: it speaks of no worktree."""
    kept = journal(repo)
    with kept.writing() as tx:
        for before, after in ((None, ACTIVE), (ACTIVE, "saving"), ("saving", SAVED)):
            payload = {"machine": "oosh_expert", "role": ROLE, "from": before, "to": after}
            tx.append("lifecycle.moved", {**payload, "by": "save"}, USER)
    return kept


@pytest.mark.parametrize("has_both", [False, True])
def test_old_lifecycle_is_that_of_the_worktree_whose_file_it_speaks_of(
    cli: Cli, repo: Path, second: Path, *, has_both: bool
) -> None:
    put(second)
    cli("context", "lifecycle.save", "tester", cwd=second)
    kept = old(repo)
    if has_both:
        context_files.adopt(kept, ROLE, put(second).read_bytes())
        put(repo).write_text("another\n", encoding="utf-8")
    kept.close()

    assert status(cli, second) == {ROLE: SAVED}
    done = cli("context", "recover", ROLE, cwd=second)

    assert done.returncode == 0, done.stderr
    assert status(cli, second) == {ROLE: ACTIVE}
    assert status(cli, repo) == {}
    assert cli("context", "lifecycle.init", ROLE, cwd=repo).stdout == f"{ROLE} begins active\n"


def test_old_lifecycle_stays_that_of_the_main_checkout(cli: Cli, repo: Path, second: Path) -> None:
    put(repo)
    put(second)
    old(repo).close()

    assert (status(cli, repo), status(cli, second)) == ({ROLE: SAVED}, {})
    assert cli("context", "lifecycle.init", ROLE, cwd=second).stdout == f"{ROLE} begins active\n"
    assert state(repo) == SAVED
    kept = journal(repo)
    assert [each.state for each in lifecycle_records.every(kept)] == [SAVED]
    kept.close()
