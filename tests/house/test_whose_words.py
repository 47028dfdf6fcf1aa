"""Whoever we began is never the user: what they say and write is theirs, or in doubt."""

import json
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest

from claude_calls import Claude
from conftest import Cli
from effect_desk import until
from places import TESTS
from standfast import ids, xdg
from standfast.journal.author import Author
from standfast.journal.fallback import inbox

pytestmark = pytest.mark.req("SEC-10", "SEC-09")

LANE = ("--run-id", "d", "--phase", "P1", "--lane", "L")
STANDFAST = f"{shlex.quote(sys.executable)} -m standfast"
KEPT = ("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "PATH", "PYTHONPATH")


def bare() -> str:
    """A call that has none of the variables by which an agent is known."""
    kept = " ".join(shlex.quote(f"{x}={os.environ[x]}") for x in KEPT if x in os.environ)
    return f"env -i {kept} {STANDFAST}"


def lane(cli: Cli, repo: Path, runner: str, *more: str) -> None:
    task = repo.parent / "task.md"
    task.write_text("Do it.\n", encoding="utf-8")
    words = ("--task", str(task), "--runner", f"cd {repo} && {runner}", "--merge", "none", *more)
    done = cli("lane", "run", *LANE, *words, cwd=repo)
    assert done.returncode == 0, done.stderr


def by(cli: Cli, repo: Path) -> dict[str, str]:
    done = cli("status", "--json", "--all", cwd=repo)
    assert done.returncode == 0, done.stderr
    return {each["text"]: each["by"] for each in json.loads(done.stdout)["decisions"]}


def test_words_of_a_lanes_agent_are_the_agents(cli: Cli, repo: Path) -> None:
    cli("note", "mine", cwd=repo)
    lane(cli, repo, f"{STANDFAST} note plain && {bare()} note bare && {bare()} note --by user named"
         f" && {bare()} note --by alice as-alice")  # fmt: skip
    cli("note", "mine again", cwd=repo)

    said = by(cli, repo)

    assert said.pop("mine") == said.pop("mine again") == "user"
    assert said == dict.fromkeys(("plain", "bare", "named", "as-alice"), "L")


@pytest.mark.req("RES-08")
def test_note_of_a_lanes_agent_goes_into_no_section(cli: Cli, repo: Path) -> None:
    first = ("--phase", "0", "--phase-name", "before", "--next-step", "go")
    assert cli("resumption", "trigger", "T1", *first, cwd=repo).returncode == 0
    lane(cli, repo, f"{STANDFAST} note plain && {bare()} note bare")
    cli("note", "mine", cwd=repo)
    cli("brief", cwd=repo)

    section = (repo / "ORCHESTRATION.yaml").read_text(encoding="utf-8")

    assert "decision: mine" in section
    assert "plain" not in section
    assert "bare" not in section
    assert by(cli, repo) == {"plain": "L", "bare": "L", "mine": "user"}


@pytest.mark.req("RES-08")
def test_note_that_a_lanes_agent_leaves_in_the_inbox_goes_into_no_section(
    cli: Cli, repo: Path
) -> None:
    first = ("--phase", "0", "--phase-name", "before", "--next-step", "go")
    assert cli("resumption", "trigger", "T1", *first, cwd=repo).returncode == 0
    left = {"text": "sandboxed", "apart": True}
    folder = str(repo / ".git" / "standfast")
    inbox.leave(folder, xdg.temporaries(os.environ), "decision.noted", left, Author("L"))
    cli("note", "mine", cwd=repo)

    assert by(cli, repo)["sandboxed"] == "L"
    assert "sandboxed" not in (repo / "ORCHESTRATION.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["user", "repository", "standfast"])
def test_lane_that_is_called_like_somebody_is_not_them(cli: Cli, repo: Path, name: str) -> None:
    task = repo.parent / "task.md"
    task.write_text("Do it.\n", encoding="utf-8")

    done = cli("lane", "run", *LANE[:5], name, "--task", str(task), "--merge", "none",
               "--runner", f"cd {repo} && {bare()} note said", cwd=repo)  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert by(cli, repo) == {"said": f"lane-{name}"}


def test_agent_that_begins_something_with_our_supervisors_name_is_still_itself(
    cli: Cli, repo: Path
) -> None:
    """What stands highest counts."""
    fake = repo.parent / "fake"
    fake.mkdir()
    order = {"key": "lane/d/P1/claude/task/1", "argv": ["x"], "cwd": "/", "env": {}, "timeout_s": 1}
    (fake / "order.json").write_text(json.dumps(order), encoding="utf-8")
    inner = shlex.quote(f"{bare()} note said; true")

    lane(cli, repo, f"sh -c {inner} standfast.effects.supervisor {fake}")

    assert by(cli, repo) == {"said": "L"}


@pytest.mark.parametrize("part", ["--test", "--runner"])
def test_what_a_lane_wrote_into_a_file_is_not_the_users(cli: Cli, repo: Path, part: str) -> None:
    cli("note", "mine", cwd=repo)
    line = f"echo '- planted' >> {repo}/.git/standfast/status.md"
    lane(cli, repo, *((line,) if part == "--runner" else ("true", "--test", line)))

    assert by(cli, repo) == {"mine": "user", "planted": "repository"}


def test_line_that_the_user_wrote_before_and_after_a_lane_is_theirs(cli: Cli, repo: Path) -> None:
    cli("note", "mine", cwd=repo)
    face = repo / ".git" / "standfast" / "status.md"
    with face.open("a", encoding="utf-8") as file:
        file.write("- before\n")
    assert by(cli, repo)["before"] == "user"
    lane(cli, repo, "true", "--test", "true")
    over = time.time_ns() + 10**8  # what is written while the last command ends is a doubt
    until(lambda: time.time_ns() > over)
    with face.open("a", encoding="utf-8") as file:
        file.write("- after\n")

    assert by(cli, repo)["after"] == "user"


def test_file_that_was_written_under_a_running_lane_is_in_doubt(cli: Cli, repo: Path) -> None:
    """Also where it is looked at before the lane has ended, and by somebody else."""
    cli("note", "mine", cwd=repo)
    go, at_work = repo.parent / "go", repo.parent / "at-work"
    for path in (go, at_work):
        os.mkfifo(path)
    task = repo.parent / "task.md"
    task.write_text("Do it.\n", encoding="utf-8")
    words = ["lane", "run", *LANE, "--task", str(task), "--merge", "none",
             "--runner", f"echo > {at_work}; cat {go}"]  # fmt: skip
    with subprocess.Popen([sys.executable, "-m", "standfast", *words], cwd=repo) as running:
        at_work.read_text("utf-8")
        with (repo / ".git" / "standfast" / "status.md").open("a", encoding="utf-8") as file:
            file.write("- planted\n")
        said = by(cli, repo)
        go.write_text("go\n", encoding="utf-8")
        assert running.wait() == 0

    assert said == {"mine": "user", "planted": "repository"}


@pytest.mark.parametrize(
    ("variable", "name"),
    [
        ("CLAUDECODE", "claude"),
        ("CLAUDE_CODE_SESSION_ID", "claude"),
        ("STANDFAST_SESSION", "claude"),
        ("CODEX_SANDBOX", "codex"),
        ("GEMINI_CLI", "gemini"),
        ("OPENCODE", "opencode"),
    ],
)
def test_agent_of_a_client_is_known_by_any_of_its_variables(
    cli: Cli, repo: Path, variable: str, name: str
) -> None:
    cli("note", "said", cwd=repo, env={variable: "1"})

    assert by(cli, repo) == {"said": name}
    assert ids.name(name, what="agent") == name


def test_agent_of_a_stage_goes_by_its_role(cli: Cli, repo: Path) -> None:
    cli("note", "mine", cwd=repo)
    (repo / "task.md").write_text("Do it.\n", encoding="utf-8")
    cli("live-state", "begin", "s", cwd=repo)
    says = f"{bare()} note --by user said; echo '- planted' >> .git/standfast/status.md"

    cli("stage", "run", "--stage", "retro", "--role", "cdm-analysis", "--task", "task.md",
        "--", "sh", "-c", says, cwd=repo)  # fmt: skip

    expected = {"mine": "user", "said": "cdm-analysis", "planted": "repository"}
    assert by(cli, repo) == expected


def test_prompt_that_a_lane_gives_its_agent_is_no_word_of_the_users(cli: Cli, repo: Path) -> None:
    """The agent's client tells it to a hook like any other."""
    call = (f"import sys; sys.path.insert(0, {str(TESTS)!r});"
            " from pathlib import Path; from claude_calls import Claude;"
            f" claude = Claude(Path({str(repo)!r})); claude('SessionStart', source='startup');"
            " claude('UserPromptSubmit', prompt='of the lane')")  # fmt: skip
    Claude(repo)("UserPromptSubmit", prompt="of the user")

    lane(cli, repo, f"{shlex.quote(sys.executable)} -c {shlex.quote(call)}")

    told = cli("events", "--kind", "prompt", "--json", cwd=repo).stdout
    said = [json.loads(each) for each in told.splitlines()]
    who = {each["payload"]["text"]: each["actor"] for each in said}
    assert who == {"of the user": "user", "of the lane": "standfast"}
