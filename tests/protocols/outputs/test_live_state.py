"""The session's directory is found through the live state, never through a stale pointer."""

import os
from pathlib import Path

import pytest

from conftest import Cli
from standfast.errors.base import BadDocument, NoLiveState, StandfastError, UnsafePath
from standfast.protocols.outputs.files import live_session
from standfast.protocols.outputs.rules.live_state import Live, is_stale

ROOT = ".cwf/cwf-state.yaml"


def put(root: Path, name: str, text: str) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def resolved(root: Path, **environ: str) -> str:
    return os.path.relpath(live_session.resolve(str(root), environ).path, root)


@pytest.mark.req("OUT-01", "OUT-16")
def test_order_is_pointer_then_session_file_then_root(repo: Path, cli: Cli) -> None:
    root = put(repo, ROOT, "live:\n  session_id: s1\n  dir: .cwf/projects/one\n")
    assert cli("live-state", "resolve", cwd=repo).stdout == f"{root}\n"

    own = put(repo, ".cwf/projects/one/session-state.yaml", "live:\n  session_id: s1\n")
    assert cli("live-state", "resolve", cwd=repo).stdout == f"{own}\n"

    put(repo, ROOT, "live: {session_id: s1, dir: .cwf/projects/one, state_file: elsewhere.yaml}\n")
    assert cli("live-state", "resolve", cwd=repo).stdout == f"{own}\n"  # it does not exist

    other = put(repo, "elsewhere.yaml", "live: {session_id: s1, dir: .cwf/projects/one}\n")
    told = cli("live-state", "resolve", cwd=repo)
    assert (told.stdout, told.stderr, told.returncode) == (f"{other}\n", "", 0)
    other.unlink()
    assert "does not exist" in cli("live-state", "resolve", cwd=repo).stderr


@pytest.mark.req("OUT-01")
def test_root_state_is_where_files_say_before_the_environment(repo: Path) -> None:
    for name in ("env", "shared", "mine"):
        put(repo, f"{name}.yaml", "live: {dir: x}\n")

    assert resolved(repo, CWF_STATE_FILE="env.yaml") == "env.yaml"
    put(repo, ".cwf-config.yaml", "CWF_STATE_FILE: shared.yaml\n")
    assert resolved(repo, CWF_STATE_FILE="env.yaml") == "shared.yaml"
    put(repo, ".cwf-config.local.yaml", 'CWF_STATE_FILE: "mine.yaml"\n')
    assert resolved(repo, CWF_STATE_FILE="env.yaml") == "mine.yaml"


@pytest.mark.req("OUT-01")
def test_stale_pointer_is_told_and_not_followed(repo: Path, cli: Cli) -> None:
    old = ".cwf/projects/old"
    put(repo, f"{old}/session-state.yaml", f"live: {{session_id: s0, dir: {old}}}\n")
    root = put(
        repo,
        ROOT,
        f"live:\n  session_id: s1\n  dir: .cwf/projects/new\n"
        f"  state_file: {old}/session-state.yaml\n",
    )
    (repo / ".cwf/projects/new").mkdir()

    told = cli("live-state", "resolve", cwd=repo)

    assert (told.stdout, told.returncode) == (f"{root}\n", 0)
    assert "stale" in told.stderr
    assert "s0" in told.stderr
    assert live_session.session_dir(str(repo), {}) == str(repo / ".cwf/projects/new")


@pytest.mark.req("OUT-01")
@pytest.mark.parametrize(
    ("root", "pointed", "at", "stale"),
    [
        (Live("s1", "p/one"), Live("s1"), "elsewhere.yaml", False),
        (Live("s1", "p/one"), Live("s2"), "p/one/session-state.yaml", True),
        (Live(None, "p/one"), Live("s2"), "p/two/session-state.yaml", True),
        (Live(None, "./p/one/"), Live(None), "p/one/session-state.yaml", False),
        (Live("s1", None), Live(None), "p/two/session-state.yaml", False),
    ],
)
def test_what_makes_a_pointer_stale(root: Live, pointed: Live, at: str, stale: bool) -> None:  # noqa: FBT001
    assert is_stale(root, pointed, at) is stale


@pytest.mark.req("OUT-02", "OUT-16")
def test_what_is_missing_is_named_with_what_mends_it(repo: Path, cli: Cli) -> None:
    none = cli("live-state", "resolve", cwd=repo)
    assert (none.returncode, none.stdout) == (1, "")
    assert str(repo / ROOT) in none.stderr
    assert "standfast live-state begin" in none.stderr

    put(repo, ROOT, "live:\n  session_id: s1\n")
    no_dir = cli("outputs", "check", "--stage", "retro", cwd=repo)
    assert no_dir.returncode == 1
    assert str(repo / ROOT) in no_dir.stderr
    assert "live.dir" in no_dir.stderr

    put(repo, ROOT, "live:\n  dir: .cwf/projects/gone\n")
    gone = cli("outputs", "gate", "--stage", "retro", cwd=repo)
    assert gone.returncode == 1
    assert f"mkdir -p {repo / '.cwf/projects/gone'}" in gone.stderr


@pytest.mark.req("OUT-02")
def test_begin_makes_what_the_remedy_promises(repo: Path, cli: Cli) -> None:
    made = cli("live-state", "begin", "checkout", cwd=repo)
    folder = Path(made.stdout.strip())

    assert folder.is_dir()
    assert folder.name.endswith("-01-checkout")
    assert cli("outputs", "gate", "--stage", "plan", cwd=repo).returncode == 0
    again = Path(cli("live-state", "begin", "other", cwd=repo).stdout.strip())
    assert again.name.endswith("-02-other")
    assert live_session.session_dir(str(repo), {}) == str(again)
    assert cli("live-state", "begin", "third", cwd=repo).returncode == 0
    assert folder.is_dir()


@pytest.mark.req("OUT-02")
@pytest.mark.parametrize(
    ("state", "stays"),
    [
        ("# ours\nworkflow:\n  phase: impl  # soon\nlive:\n  session_id: old\n  phase: done\n",
         ("# ours\nworkflow:\n  phase: impl  # soon\nlive:\n", "  phase: done\n")),
        ("sessions:\n  - id: a\n    dir: .cwf/projects/a\nlive:\n",
         ("sessions:\n  - id: a\n    dir: .cwf/projects/a\nlive:\n",)),
        ("live: {}\ntools: {rg: true}\n", ("tools: {rg: true}\n",)),
        ('live:\n  dir: ""\n  decisions:\n    - keep it  # why\n', ("    - keep it  # why\n",)),
        ("tools: {rg: true}\n", ("tools: {rg: true}\n",)),
        ("", ()),
    ],
)  # fmt: skip
def test_one_command_mends_a_state_between_two_sessions(
    repo: Path, cli: Cli, state: str, stays: tuple[str, ...]
) -> None:
    path = put(repo, ROOT, state)
    told = cli("outputs", "gate", "--stage", "retro", cwd=repo)
    assert (told.returncode, "`standfast live-state begin`" in told.stderr) == (1, True)

    made = cli("live-state", "begin", cwd=repo)

    assert made.returncode == 0, made.stderr
    assert live_session.session_dir(str(repo), {}) == made.stdout.strip()
    assert all(part in path.read_text(encoding="utf-8") for part in stays)
    assert cli("outputs", "gate", "--stage", "plan", cwd=repo).returncode == 0


@pytest.mark.req("OUT-02")
@pytest.mark.parametrize("state", ["live: [\n", "- a\n", "live: text\n", "live: &a {x: *a}\n"])
def test_state_that_cannot_be_read_is_left_as_it_is(repo: Path, cli: Cli, state: str) -> None:
    path = put(repo, ROOT, state)

    done = cli("live-state", "begin", cwd=repo)

    assert done.returncode not in {0, 70}
    assert str(path) in done.stderr
    assert path.read_text(encoding="utf-8") == state
    assert not (repo / ".cwf/projects").exists()


@pytest.mark.req("OUT-02")
def test_begin_writes_over_nobody_elses_state(repo: Path, cli: Cli) -> None:
    path = put(repo, ROOT, "live: {dir: x}\nmine: 1\n")
    put(repo, "own.yaml", "live: {dir: y}\n")

    refused = cli("live-state", "begin", "other", cwd=repo)
    named = cli("live-state", "begin", "q", cwd=repo, env={"CWF_STATE_FILE": "new.yaml"})

    assert refused.returncode != 0
    assert path.read_text(encoding="utf-8") == "live: {dir: x}\nmine: 1\n"
    assert named.returncode == 0
    assert resolved(repo, CWF_STATE_FILE="new.yaml") == "new.yaml"


@pytest.mark.req("OUT-01")
def test_path_given_by_hand_or_environment_wins(repo: Path, cli: Cli) -> None:
    for name in ("live", "env", "hand"):
        (repo / name).mkdir()
    put(repo, ROOT, "live: {dir: live}\n")

    env = {"STANDFAST_SESSION_DIR": str(repo / "env")}
    assert live_session.session_dir(str(repo), {}) == str(repo / "live")
    assert live_session.session_dir(str(repo), env) == str(repo / "env")
    assert live_session.session_dir(str(repo), env, given=str(repo / "hand")) == str(repo / "hand")
    told = cli("outputs", "check", "--stage", "plan", "--session-dir", "hand", cwd=repo, env=env)
    assert "hand" in told.stdout


@pytest.mark.req("OUT-02")
@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("live:\n\tdir: x\n", 2, "tab"),
        ("live:\n  dir: a #3\n", 2, "#"),
        ("live:\n  session_id: s\n  dir: fix issue #12\n", 3, "#"),
        ("live:\n  dir: [a]\n", 2, "not text"),
        ("live:\n  dir: 2026\n", 2, "not text"),
        ("live: text\n", 1, "mapping"),
        ("- a\n", 1, "mapping"),
        ("live:\n  dir: !!python/object:os.system x\n", 2, ""),
        ("live:\n  dir: *nobody\n", 2, "alias"),
        ("live:\n  dir: a\n  dir: b\n", 3, ""),
        ("live: {dir: x\n", 1, ""),
        ("a: 1\n---\nlive: {dir: x}\n", 2, ""),
    ],
)
def test_unclear_state_is_refused_with_its_line(
    repo: Path, text: str, line: int, says: str
) -> None:
    path = put(repo, ROOT, text)

    with pytest.raises(BadDocument) as refused:
        live_session.resolve(str(repo), {})

    assert (refused.value.file, refused.value.line) == (str(path), line)
    assert says in refused.value.problem
    assert path.read_text(encoding="utf-8") == text


@pytest.mark.req("OUT-01")
@pytest.mark.parametrize(
    "text",
    [
        'live:\n  dir: "p/fix #12"\n',
        "live:\n  dir: 'p/fix #12'  # quoted, so nothing is cut\n",
        "# a comment\nlive:  # and another\n  dir: p/fix#12\n",
        "x: &d p/one\nlive:\n  dir: *d\n",
    ],
)
def test_value_is_taken_whole(repo: Path, text: str) -> None:
    put(repo, ROOT, text)

    found = live_session.resolve(str(repo), {}).live.dir

    assert found in {"p/fix #12", "p/fix#12", "p/one"}


@pytest.mark.req("OUT-01", "OUT-02")
@pytest.mark.parametrize(
    "said", ["../outside", "/etc", "a/../../b", ".git/hooks", "..", "\\\\x\\y"]
)
def test_state_does_not_lead_out_of_the_repository(repo: Path, said: str) -> None:
    put(repo, ROOT, f"live:\n  dir: '{said}'\n")

    with pytest.raises(StandfastError):
        live_session.session_dir(str(repo), {})


@pytest.mark.req("OUT-02")
def test_directory_that_is_a_link_is_refused(repo: Path, tmp_path: Path, cli: Cli) -> None:
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "inner").mkdir(parents=True)
    (repo / "link").symlink_to(elsewhere)
    put(repo, ROOT, "live: {dir: link}\n")
    with pytest.raises(UnsafePath, match="link"):
        live_session.session_dir(str(repo), {})
    put(repo, ROOT, "live: {dir: link/inner}\n")
    with pytest.raises(UnsafePath, match="link"):
        live_session.session_dir(str(repo), {})
    told = cli("outputs", "check", "--stage", "plan", "--session-dir", "link", cwd=repo)
    assert "link" in told.stderr
    assert told.returncode == UnsafePath.exit_status


@pytest.mark.req("OUT-02")
def test_state_that_is_a_fifo_or_a_link_is_refused_without_waiting(repo: Path) -> None:
    (repo / ".cwf").mkdir()
    os.mkfifo(repo / ROOT)
    with pytest.raises(UnsafePath):
        live_session.resolve(str(repo), {})
    (repo / ROOT).unlink()
    (repo / ROOT).symlink_to("/etc/hostname")
    with pytest.raises(UnsafePath):
        live_session.resolve(str(repo), {})


def test_no_state_at_all_is_its_own_error(repo: Path) -> None:
    with pytest.raises(NoLiveState):
        live_session.resolve(str(repo), {})
