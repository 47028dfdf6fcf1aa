"""Settings that all worktrees share, changed while a lane is under way: they steer no merge."""

from pathlib import Path

import pytest

from lane_runs import LANE, WRITES, Lane, build
from run_worlds import night
from standfast.errors import lanes
from standfast.git import steering_settings, worktree_contents
from standfast.git.command import Git

BLOCKED = lanes.LaneBlocked.exit_status
MAIN = "cd $(git rev-parse --path-format=absolute --git-common-dir)/.."
UNION = "* merge=union"


@pytest.fixture
def lane(world: Path, tmp_path: Path) -> Lane:
    return build(tmp_path)


INCLUDED = "printf '[merge]\\ndefault=union\\n' > .git/x"
SPARSE = "git config core.sparseCheckout true; echo /a.txt > .git/info/sparse-checkout"
LEADS_AWAY = "git branch other; git symbolic-ref refs/heads/main refs/heads/other"
STEERING = [
    ("merge.default", "git config merge.default union"),
    ("info/attributes", f"mkdir -p .git/info; echo '{UNION}' > .git/info/attributes"),
    ("core.attributesfile", f"echo '{UNION}' > .git/at; git config core.attributesFile .git/at"),
    ("git/attributes", f"mkdir -p ~/.config/git; echo '{UNION}' > ~/.config/git/attributes"),
    ("core.sparsecheckout", f"mkdir -p .git/info; {SPARSE}"),
    ("refs/heads/main", LEADS_AWAY),
    ("core.eol", "git config core.eol crlf; git config core.autocrlf true"),
    ("core.symlinks", "git config core.symlinks false"),
    ("core.filemode", "git config core.fileMode false"),
    ("merge.default", f"{INCLUDED}; git config include.path x"),
    ("merge.default", f"{INCLUDED}; git config includeIf.onbranch:any.path x"),
    ("merge.default", "git config --global merge.default union"),
]


@pytest.mark.sweep(6)
@pytest.mark.req("RUN-04")
@pytest.mark.parametrize(("name", "agent"), STEERING)
def test_settings_that_steer_a_merge_need_a_person_once_they_changed(
    lane: Lane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, agent: str
) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    (tmp_path / "gitconfig").write_text("[user]\nname=x\nemail=x\n", encoding="utf-8")
    before = lane.git("rev-parse", "main")

    done = lane.run(f"{WRITES}; {MAIN}; {agent}")

    assert done.returncode == BLOCKED, done.stderr
    assert name in done.stderr
    assert "--settings-changed" in done.stderr
    assert lane.git("rev-parse", "main") == before

    refused = lane.resume("--settings-changed", CLAUDECODE="1")
    again = lane.resume()
    assert (refused.returncode, again.returncode) != (0, 0)
    assert again.returncode == BLOCKED
    done = lane.resume("--settings-changed")
    assert done.returncode == 0, done.stderr
    assert lane.show("main", "made.txt") == "one"


@pytest.mark.req("RUN-04")
def test_settings_are_those_of_before_the_run_also_for_a_lane_that_begins_later(
    tmp_path: Path,
) -> None:
    team = night(tmp_path)
    team.agent("""if test $STANDFAST_LANE = a; then git config merge.default union; fi""")

    done = team.call("run", team.plan("lanes: {a: Do a., b: {task: Do b., after: [a]}}\n"))

    assert done.returncode != 0
    assert "merge.default" in done.stdout


@pytest.mark.sweep(5)
@pytest.mark.req("RUN-04")
@pytest.mark.parametrize(
    "agent",
    [
        "git config branch.main.remote x; git config gc.auto 5; git config user.email y@y",
        "git config maintenance.auto false; git config remote.x.fetch +refs/*:refs/x/*",
        "git config core.hooksPath .husky; git config merge.ours.driver true",
        "git config submodule.x.url ../x; git config lfs.concurrenttransfers 3",
        "git config alias.x status; git config blame.ignoreRevsFile .x",
    ],
)
def test_settings_that_steer_nothing_stop_nothing(lane: Lane, agent: str) -> None:
    done = lane.run(f"{WRITES}; {agent}")

    assert done.returncode == 0, done.stderr
    assert lane.show("main", "made.txt") == "one"


@pytest.mark.req("RUN-04")
def test_repository_that_always_had_such_settings_is_worked_in_as_ever(lane: Lane) -> None:
    for key, value in (("core.autocrlf", "true"), ("core.sparseCheckout", "true"),
                       ("merge.default", "union"), ("core.fileMode", "false")):  # fmt: skip
        lane.git("config", key, value)
    (lane.repo / ".git/info/attributes").write_text("*.x merge=union\n", encoding="utf-8")
    (lane.repo / ".git/info/sparse-checkout").write_text("/*\n!/b.txt\n", encoding="utf-8")

    done = lane.run(f"{WRITES}; echo b > b.txt")

    assert done.returncode == 0, done.stderr
    assert "changed" not in done.stderr
    assert "as main has" not in done.stderr
    assert (lane.repo / "made.txt").read_bytes() == b"one\r\n"
    assert lane.git("status", "--porcelain") == ""


@pytest.mark.req("RUN-04")
def test_rollback_does_not_forget_how_the_settings_were(lane: Lane) -> None:
    lane.run(f"{WRITES}; git config merge.default union")
    lane.call("rollback", *LANE, "--to", "started")

    done = lane.resume()

    assert done.returncode == BLOCKED
    assert "merge.default" in done.stderr


@pytest.mark.req("RUN-04")
def test_repository_called_bare_by_an_include_is_merged_into_as_ever(lane: Lane) -> None:
    evil = "printf '[core]\\nbare = true\\n' > .git/evil; git config include.path evil"

    done = lane.run(f"{WRITES}; {MAIN}; {evil}")

    assert done.returncode == 0, done.stderr
    assert "core.bare" in done.stderr
    lane.git("config", "--unset", "include.path")
    assert (lane.repo / "made.txt").read_text(encoding="utf-8") == "one\n"
    assert lane.git("status", "--porcelain") == ""


@pytest.mark.req("RUN-04")
def test_checkout_that_an_agent_took_to_another_branch_is_told(lane: Lane) -> None:
    done = lane.run(f"{WRITES}; {MAIN}; git checkout -q -b elsewhere", "--base", "main")

    assert done.returncode == 0, done.stderr
    assert "changed: HEAD of the main checkout" in done.stderr
    assert lane.show("main", "made.txt") == "one"


@pytest.mark.parametrize("flag", ["--skip-worktree", "--assume-unchanged"])
def test_files_of_a_checkout_are_held_against_what_should_be_there(lane: Lane, flag: str) -> None:
    blob = lane.git("rev-parse", "main:a.txt")
    wanted = [("100644", blob, name) for name in ("a.txt", "gone.txt")]
    lane.git("update-index", flag, "a.txt")
    door = Git(directory=lane.repo)

    assert worktree_contents.unlike(door, wanted) == ["gone.txt"]
    (lane.repo / "a.txt").write_text("b\n", encoding="utf-8")
    assert worktree_contents.unlike(door, wanted) == ["a.txt", "gone.txt"]
    lane.git("config", "core.sparseCheckout", "true")
    (lane.repo / "a.txt").unlink()
    left = ["gone.txt"] if flag == "--skip-worktree" else ["a.txt", "gone.txt"]
    assert worktree_contents.unlike(door, wanted) == left


def test_keys_are_judged_by_what_git_does_with_them() -> None:
    steering_keys = ("core.autocrlf", "merge.renormalize", "extensions.x", "diff.renames",
                     "includeif.gitdir:x.path", "info/attributes", "what.ever")  # fmt: skip
    idle = ("core.hookspath", "merge.x.driver", "diff.x.textconv", "alias.x", "user.name",
            steering_settings.HEAD, "info/exclude", "remote.Or.igin.url",
            "core.excludesfile")  # fmt: skip

    assert [each for each in steering_keys if not steering_settings.steers(each)] == []
    assert [each for each in idle if steering_settings.steers(each)] == []
