"""Commands of a plan are shown, and trusted by a person: in one repository, as they stand."""

import json
import os
import pty
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Cli
from plan_samples import EVERYTHING
from standfast.errors.base import NothingFound, UnsafePath
from standfast.errors.plans import PlanInvalid
from standfast.plans import plan_file, trust
from standfast.plans.plan_commands import commands
from standfast.plans.plan_file import Loaded

pytestmark = pytest.mark.req("SEC-03")

PLAN = """\
test: make test
lanes:
  a:
    tasks:
      one: {prompt_file: prompts/one.md}
      two: {runner: shell, prompt: "echo two"}
  b: {task: x, test: make b, setup: "make\\nready"}
"""


@pytest.fixture
def plan(repo: Path) -> Path:
    (repo / "prompts").mkdir()
    (repo / "prompts" / "one.md").write_text("Do one.\n", encoding="utf-8")
    (repo / "plan.yaml").write_text(PLAN, encoding="utf-8")
    return repo / "plan.yaml"


@pytest.fixture
def home(world: Path) -> str:
    return os.environ["XDG_STATE_HOME"]


def load(plan: Path) -> Loaded:
    return plan_file.load(str(plan), str(plan.parent))


def agree(home: str, plan: Path) -> None:
    trust.trust(home, str(plan.parent), load(plan), at="2026-01-02T03:04:05Z", by="ann")


def trusted(home: str, plan: Path, repository: Path | None = None) -> bool:
    return trust.is_trusted(home, str(repository or plan.parent), load(plan))


def test_every_command_of_a_plan_is_found(plan: Path) -> None:
    found = commands(load(plan).need())

    assert [(each.what, each.whose, each.text, each.line) for each in found] == [
        ("test", "", "make test", 1),
        ("shell", "P1/a", "echo two", 6),
        ("setup", "P1/b", "make\nready", 7),
        ("test", "P1/b", "make b", 7),
    ]


def test_shell_is_a_runner_wherever_it_is_named(repo: Path) -> None:
    (repo / "p.yaml").write_text(
        "runner: shell\nlanes: {a: ls, b: {task: pwd, runner: claude}}\n", encoding="utf-8"
    )

    found = commands(load(repo / "p.yaml").need())

    assert [(each.what, each.text) for each in found] == [("shell", "ls")]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("gates: {Q: {role: r, runner: shell, prompt: ls}}, lanes: {a: x}", ["P1/Q: ls"]),
        ("gates: {Q: {role: r, prompt: ls}}, lanes: {a: x}", []),
        ("gates: {Q: {role: r, prompt: ls}}, lanes: {a: {task: x, runner: shell}, b: y}",
         ["P1/Q: ls", "P1/a: x"]),
        ("gates: {Q: {role: r, prompt: ls, runner: claude}}, lanes: {a: {task: x, runner: shell}}",
         ["P1/a: x"]),
    ],
)  # fmt: skip
def test_gate_that_a_shell_judges_is_a_command(repo: Path, text: str, found: list[str]) -> None:
    (repo / "p.yaml").write_text(f"phases: {{P1: {{{text}}}}}\n", encoding="utf-8")

    made = commands(load(repo / "p.yaml").need())

    assert [f"{each.whose}: {each.text}" for each in made] == found


def test_trust_holds_for_these_bytes_alone(home: str, plan: Path) -> None:
    assert not trusted(home, plan)
    agree(home, plan)
    assert trusted(home, plan)

    plan.write_text(PLAN + "# changed\n", encoding="utf-8")
    assert not trusted(home, plan)
    plan.write_text(PLAN, encoding="utf-8")
    assert trusted(home, plan)

    (plan.parent / "prompts" / "one.md").write_text("Do something else.\n", encoding="utf-8")
    assert not trusted(home, plan)


def test_no_byte_can_move_between_plan_and_prompts(home: str, plan: Path) -> None:
    before = load(plan).fingerprint
    (plan.parent / "prompts" / "one.md").write_text("\nDo one.\n", encoding="utf-8")
    plan.write_text(PLAN.removesuffix("\n"), encoding="utf-8")

    assert load(plan).fingerprint != before


def test_trust_holds_for_one_repository(home: str, plan: Path, tmp_path: Path) -> None:
    agree(home, plan)

    assert not trusted(home, plan, tmp_path)


def test_what_is_kept_is_private_and_whole(home: str, plan: Path) -> None:
    agree(home, plan)
    agree(home, plan)
    (kept,) = (Path(home) / trust.FOLDER).iterdir()

    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700
    assert json.loads(kept.read_text(encoding="utf-8"))["by"] == "ann"


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"{}", b'{"fingerprint":"x"}', b"\xff"])
def test_what_cannot_be_read_vouches_for_nothing(home: str, plan: Path, data: bytes) -> None:
    agree(home, plan)
    (kept,) = (Path(home) / trust.FOLDER).iterdir()
    kept.write_bytes(data)

    assert not trusted(home, plan)


def test_link_vouches_for_nothing(home: str, plan: Path, tmp_path: Path) -> None:
    agree(home, plan)
    (kept,) = (Path(home) / trust.FOLDER).iterdir()
    kept.rename(tmp_path / "elsewhere")
    kept.symlink_to(tmp_path / "elsewhere")

    assert not trusted(home, plan)


AGREE_OFTEN = """
import sys
from standfast.plans import plan_file, trust

home, root, word = sys.argv[1:]
for number in range(20):
    for name in (f"{word}-{number}", "shared"):
        path = f"{root}/{name}.yaml"
        loaded = plan_file.load(path, root)
        trust.trust(home, root, loaded, at="now", by=word)
        assert trust.is_trusted(home, root, loaded)
"""


@pytest.mark.prove
def test_many_processes_trust_at_once_and_none_is_lost(home: str, repo: Path) -> None:
    names = [f"p{one}-{other}" for one in range(6) for other in range(20)]
    for name in (*names, "shared"):
        (repo / f"{name}.yaml").write_text(
            f"test: make {name}\nlanes: {{a: x}}\n", encoding="utf-8"
        )
    many = [
        subprocess.Popen([sys.executable, "-c", AGREE_OFTEN, home, str(repo), f"p{number}"])
        for number in range(6)
    ]

    assert [each.wait(60) for each in many] == [0] * 6
    assert all(trusted(home, repo / f"{name}.yaml") for name in (*names, "shared"))
    assert len(os.listdir(Path(home) / trust.FOLDER)) == 121


# Files that a plan names.


@pytest.mark.req("SEC-01")
def test_prompt_files_stay_below_the_root_and_follow_no_link(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret", encoding="utf-8")
    (repo / "link.md").symlink_to(tmp_path / "secret")
    (repo / "empty.md").write_text("\n", encoding="utf-8")
    os.mkfifo(repo / "fifo.md")
    lines = [
        f"      t{number}: {{prompt_file: {file}}}\n"
        for number, file in enumerate(("link.md", "gone.md", "empty.md", "fifo.md"))
    ]
    (repo / "p.yaml").write_text("lanes:\n  a:\n    tasks:\n" + "".join(lines), encoding="utf-8")

    loaded = load(repo / "p.yaml")

    assert loaded.plan is None
    assert [each.line for each in loaded.findings] == [4, 5, 6, 7]
    assert "secret" not in loaded.prompts.values()
    assert [each.problem.rpartition(":")[0] or each.problem for each in loaded.findings][1:3] == [
        "there is no file `gone.md`",
        "the file `empty.md` is empty",
    ]


def test_prompts_are_given_as_they_were_read(plan: Path) -> None:
    assert load(plan).prompts == {"prompts/one.md": "Do one.\n"}


def test_plan_that_is_no_file_is_refused(repo: Path) -> None:
    os.mkfifo(repo / "fifo.yaml")

    with pytest.raises(NothingFound):
        load(repo / "gone.yaml")
    with pytest.raises(UnsafePath):
        load(repo / "fifo.yaml")
    with pytest.raises(UnsafePath):
        load(repo)
    (repo / "bad.yaml").write_text("lanes: {a: {}, b: {}}\n", encoding="utf-8")
    with pytest.raises(PlanInvalid, match=r"has no `task`.*and 1 more"):
        load(repo / "bad.yaml").need()


# From outside.


def test_command_shows_everything_and_trusts(cli: Cli, plan: Path, home: str) -> None:
    without = cli("plan", "trust", "plan.yaml", cwd=plan.parent)
    looked = cli("plan", "trust", "plan.yaml", "--json", cwd=plan.parent)
    done = cli("plan", "trust", "plan.yaml", "--yes", cwd=plan.parent)

    assert (without.returncode, looked.returncode, done.returncode) == (2, 1, 0)
    assert "nobody is there to be asked" in without.stderr
    assert json.loads(looked.stdout)["trusted"] is False
    assert done.stdout == (
        "line 1: test\n    make test\n"
        "line 6: shell of P1/a\n    echo two\n"
        "line 7: setup of P1/b\n    make\n    ready\n"
        "line 7: test of P1/b\n    make b\n"
        "Trusted, as long as it stays as it is: plan.yaml\n"
    )
    assert trusted(home, plan)
    again = cli("plan", "trust", "plan.yaml", cwd=plan.parent)
    assert (again.returncode, again.stderr) == (0, "")


def test_worktree_of_the_repository_shares_its_trust(cli: Cli, plan: Path, home: str) -> None:
    def git(*arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=plan.parent, check=True, capture_output=True)

    git("add", ".")
    git("commit", "-m", "x")
    git("worktree", "add", "../other")
    done = cli("plan", "trust", "plan.yaml", "--yes", cwd=plan.parent.parent / "other")

    assert done.returncode == 0, done.stderr
    assert trusted(home, plan)


def test_runner_that_runs_prompts_is_found_by_the_users_own_settings(cli: Cli, repo: Path) -> None:
    (repo / "p.yaml").write_text("lanes: {a: ls, b: {task: pwd, runner: mine}}\n", encoding="utf-8")
    settings = Path(os.environ["XDG_CONFIG_HOME"]) / "standfast" / "config.yaml"
    settings.parent.mkdir(parents=True)
    settings.write_text(
        "runners: {mine: {kind: shell, command: [/bin/sh, '{prompt}']}}\n", encoding="utf-8"
    )

    done = cli("--set", "runner=shell", "plan", "trust", "p.yaml", "--yes", cwd=repo)

    assert done.stdout.startswith(
        "line 1: shell of P1/a\n    ls\nline 1: shell of P1/b\n    pwd\n"
    ), done.stderr


def test_plan_without_commands_needs_no_trust(cli: Cli, repo: Path, home: str) -> None:
    (repo / "p.yaml").write_text("lanes: {a: x}\n", encoding="utf-8")

    done = cli("plan", "trust", "p.yaml", cwd=repo)

    assert (done.returncode, "nothing to trust" in done.stdout) == (0, True)
    assert not (Path(home) / trust.FOLDER).exists()


@pytest.mark.parametrize("variable", ["CLAUDECODE", "CODEX_SANDBOX", "STANDFAST_EFFECT"])
def test_agent_cannot_trust(cli: Cli, plan: Path, home: str, variable: str) -> None:
    done = cli("plan", "trust", "plan.yaml", "--yes", cwd=plan.parent, env={variable: "1"})

    assert (done.returncode, "SF118" in done.stderr) == (1, True)
    assert not trusted(home, plan)


@pytest.mark.parametrize(
    ("answer", "agreed"), [(b"y\n", True), (b"n\n", False), (b"\n", False), (b"\x04", False)]
)
def test_person_is_asked_in_a_terminal(
    plan: Path, home: str, answer: bytes, *, agreed: bool
) -> None:
    status, said = _in_terminal(answer, plan.parent)

    shown, question, _ = said.partition("May these be run on this machine")
    assert question
    assert "make test" in shown
    assert (status == 0) is trusted(home, plan) is agreed


def _in_terminal(answer: bytes, cwd: Path) -> tuple[int, str]:
    primary, secondary = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-m", "standfast", "plan", "trust", "plan.yaml"],
        stdin=secondary,
        stdout=secondary,
        stderr=secondary,
        cwd=cwd,
    )
    os.close(secondary)
    said = b""
    try:
        while b"[y/N] " not in said:
            said += os.read(primary, 4096)
        os.write(primary, answer)
        while part := os.read(primary, 4096):
            said += part
    except OSError:  # the other side has closed: it ended
        pass
    finally:
        os.close(primary)
    return child.wait(60), said.decode()


@pytest.mark.req("SEC-01")
def test_commands_cannot_hide_what_they_are(cli: Cli, repo: Path) -> None:
    (repo / "p.yaml").write_text(
        'test: "ls \\e[8mrm\\e[0m \\u202e"\nlanes: {a: x}\n', encoding="utf-8"
    )

    done = cli("plan", "trust", "p.yaml", "--yes", cwd=repo)

    assert done.stdout.startswith("line 1: test\n    ls \\x1b[8mrm\\x1b[0m \\u202e\n")


def test_state_home_that_cannot_be_written_is_told(cli: Cli, plan: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")

    done = cli("plan", "trust", "plan.yaml", "--yes", cwd=plan.parent,
               env={"XDG_STATE_HOME": str(tmp_path / "file")})  # fmt: skip

    assert done.returncode not in (0, 70)
    assert "Traceback" not in done.stderr


def test_everything_that_is_in_a_plan_is_covered(repo: Path) -> None:
    (repo / "prompts").mkdir()
    (repo / "prompts" / "review.md").write_text("x", encoding="utf-8")
    (repo / "p.yaml").write_text(EVERYTHING, encoding="utf-8")

    found = commands(load(repo / "p.yaml").need())

    assert [each.what for each in found] == ["setup", "test", "pr", "pr_probe", "test"]
