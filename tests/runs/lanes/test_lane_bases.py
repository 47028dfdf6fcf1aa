"""What an agent does to the base branch, and to settings that all worktrees share."""

import os
import shlex
import shutil
from pathlib import Path

import pytest

from effect_desk import until
from lane_runs import LANE, WRITES, Lane, build
from run_worlds import night
from standfast.errors import lanes
from standfast.git import shared_config, steering_settings

ROOT = "git update-ref refs/heads/main $(git commit-tree -m root $(git mktree < /dev/null))"
PHASE = ("--run-id", "two", "--phase", "P1", "--lane", "-")
LANE_A = ("--run-id", "two", "--phase", "P1", "--lane", "a")
MERGES_ITSELF = f"{WRITES}; git add .; git commit -qm mine; git update-ref refs/heads/main HEAD"


@pytest.fixture
def lane(world: Path, tmp_path: Path) -> Lane:
    made = build(tmp_path)
    made.git("checkout", "-q", "--detach")  # so that moving main leaves no files behind
    return made


def _others(lane: Lane) -> str:
    """Somebody commits to the base in a checkout of theirs."""
    git = f"git -C {lane.repo}"
    return f"{git} checkout -q main; {git} commit -q --allow-empty -m other; {git} checkout -q -"


def run(lane: Lane, runner: str, *more: str) -> tuple[int, str]:
    done = lane.run(runner, "--base", "main", "--test", "true", *more)
    return done.returncode, done.stderr


@pytest.mark.req("RUN-04")
def test_base_that_was_rewritten_needs_a_person_and_is_left_as_it_is(lane: Lane) -> None:
    before = lane.git("rev-parse", "main")

    status, said = run(lane, f"{WRITES}; {ROOT}")

    root = lane.git("rev-parse", "main")
    assert status == lanes.LaneBlocked.exit_status
    assert f"main was rewritten: it is at {root[:12]}, which does not hold {before[:12]}" in said
    assert "--base-rewritten" in said
    assert lane.git("rev-list", "--count", "main") == "1"

    lane.git("update-ref", "refs/heads/main", before)
    assert lane.resume().returncode == 0
    assert lane.show("main", "made.txt") == "one"


@pytest.mark.req("RUN-04")
def test_person_who_rewrote_the_base_says_so_and_the_lane_lands(lane: Lane) -> None:
    run(lane, f"{WRITES}; {ROOT}")
    words = ("resume", *LANE, "--base-rewritten")

    refused = lane.call(*words, CLAUDECODE="1")
    done = lane.call(*words)

    assert refused.returncode != 0
    assert done.returncode == 0, done.stderr
    assert lane.show("main", "made.txt") == "one"


@pytest.mark.req("RUN-04")
@pytest.mark.parametrize("test", [(), ("--test", "exit 1")])
def test_agent_that_merges_itself_before_its_tests_needs_a_person(
    lane: Lane, test: tuple[str, ...]
) -> None:
    before = lane.git("rev-parse", "main")

    status, said = run(lane, MERGES_ITSELF, *test)

    assert status == lanes.LaneBlocked.exit_status
    assert "main holds" in said
    assert "of this lane, whose tests have not passed" in said

    lane.git("update-ref", "refs/heads/main", before)
    assert lane.resume().returncode == (1 if test else 0)


def test_agent_that_brings_its_lane_up_to_date_by_itself_is_let_alone(lane: Lane) -> None:
    status, said = run(lane, f"{_others(lane)}; git merge -q main; {WRITES}")

    assert status == 0, said
    assert lane.show("main", "made.txt") == "one"


@pytest.mark.req("RUN-04")
def test_merge_of_another_lane_that_an_agent_takes_back_is_missed(tmp_path: Path) -> None:
    """Nothing that landed while the run went on may be lost by what lands later."""
    team = night(tmp_path)
    team.git("checkout", "-q", "--detach")
    first = team.git("rev-parse", "main")
    team.agent(f"""if test $STANDFAST_LANE = b; then
until git log --format=%s main | grep -q P1-a; do sleep 0.02; done
git update-ref refs/heads/main {first}; fi""")
    plan = team.plan("base: main\ntest: 'true'\nlanes: {a: Do a., b: Do b.}\n")

    done = team.call("run", plan)

    assert done.returncode == 115, done.stdout
    assert "main was rewritten" in done.stdout


SLOW_GIT = """\
#!/bin/sh
case "$*" in *rev-parse*refs/heads/main*)
 if rm {top}/armed 2>/dev/null; then
  {git} "$@"; status=$?
  env -i {env} {lane} > {top}/other 2>&1 < /dev/null || touch {top}/failed
  exit $status
 fi;;
esac
exec {git} "$@"
"""


@pytest.mark.req("RUN-04")
def test_lane_that_lands_while_another_looks_at_the_base_has_not_rewritten_it(
    lane: Lane, tmp_path: Path
) -> None:
    """The base is looked at, and before the journal is, another lane lands."""
    git = shutil.which("git")
    assert git is not None
    other = lane.argv("run", "--run-id", "r2", *LANE[2:4], "--lane", "SL-2", "--base", "main",
                      "--runner", "touch other", "--task", lane.task("other"))  # fmt: skip
    env = " ".join(shlex.quote(f"{name}={value}") for name, value in os.environ.items())
    fake = tmp_path / "bin" / "git"
    fake.parent.mkdir()
    script = SLOW_GIT.format(top=tmp_path, git=git, env=env, lane=shlex.join(other))
    fake.write_text(script, encoding="utf-8")
    fake.chmod(0o755)
    moves = f"touch {tmp_path}/armed"
    path = f"{fake.parent}{os.pathsep}{os.environ['PATH']}"

    done = lane.run(f"{_others(lane)}; {WRITES}", "--base", "main", "--test", moves, PATH=path)

    assert not (tmp_path / "failed").exists(), (tmp_path / "other").read_text("utf-8")
    assert (tmp_path / "other").exists()
    assert done.returncode == 0, done.stderr
    assert lane.show("main", "made.txt") == "one"
    assert lane.show("main", "other") == ""


def test_merge_that_a_person_took_back_is_not_asked_of_the_next_run(tmp_path: Path) -> None:
    team = night(tmp_path)
    first = team.git("rev-parse", "main")
    assert team.call("run", team.plan("run: one\nlanes: {a: Do a.}\n")).returncode == 0
    team.git("reset", "-q", "--hard", first)

    done = team.call("run", team.plan("run: two\nlanes: {b: Do b., c: {task: Do c., after: b}}\n"))

    assert done.returncode == 0, done.stdout
    assert len(team.merged()) == 2


@pytest.mark.req("RUN-04")
@pytest.mark.parametrize("where", ["main~1", "$(git commit-tree -m evil $(git write-tree))"])
def test_base_that_a_run_began_with_is_missed(tmp_path: Path, where: str) -> None:
    """The record of a phase names no commit, and is the newest where its lane was quicker."""
    team = night(tmp_path)
    team.git("commit", "-q", "--allow-empty", "-m", "second")
    before = team.git("rev-parse", "main")
    go = team.top / "go"
    team.agent(f"until test -e {go}; do sleep 0.02; done; git update-ref refs/heads/main {where}")
    plan = team.plan("run: two\ntest: 'true'\nlanes: {a: Do a.}\n")

    running = team.start("run", plan)
    until(lambda: team.paid().total() == 1)
    written = team.call("checkpoint", "write", *PHASE, "--stage", "before_lane_start",
                        "--status", "ready", "--base-branch", "main")  # fmt: skip
    go.touch()
    said, _ = running.communicate(timeout=60)

    assert written.returncode == 0, written.stderr
    assert running.returncode == 115, said
    assert f"which does not hold {before[:12]}, where it was" in said
    team.git("update-ref", "refs/heads/main", before)
    assert team.call("resume").returncode == 0


@pytest.mark.req("RUN-04")
def test_agent_of_a_lane_does_not_tell_where_its_lane_began(tmp_path: Path) -> None:
    team = night(tmp_path)
    team.git("commit", "-q", "--allow-empty", "-m", "second")
    words = team.argv("checkpoint", "write", *LANE_A, "--stage", "before_lane_start",
                      "--status", "ready", "--base-branch", "main", "--base-sha")  # fmt: skip
    team.agent(f"git update-ref refs/heads/main main~1; {shlex.join(words)} $(git rev-parse main)")

    done = team.call("run", team.plan("run: two\ntest: 'true'\nlanes: {a: Do a.}\n"))

    assert done.returncode == 115, done.stdout
    assert "main was rewritten" in done.stdout
    assert "SF118" in team.call("logs", "two").stdout


# Settings.


@pytest.mark.req("RUN-04")
@pytest.mark.parametrize("value", ["true", "yes"])
def test_repository_that_an_agent_called_bare_is_merged_into_as_ever(
    world: Path, tmp_path: Path, value: str
) -> None:
    lane = build(tmp_path)

    done = lane.run(f"{WRITES}; git config core.bare {value}; git config alias.x status")

    assert done.returncode == 0, done.stderr
    assert "settings were changed: alias.x, core.bare" in done.stderr
    lane.git("config", "core.bare", "false")
    assert (lane.repo / "made.txt").read_text(encoding="utf-8") == "one\n"
    assert lane.git("status", "--porcelain") == ""
    assert not lane.tree.exists()


def test_settings_that_were_changed_are_named_in_the_summary(tmp_path: Path) -> None:
    team = night(tmp_path)
    team.agent("git config core.hooksPath /elsewhere")

    done = team.call("run", team.plan("lanes: {a: Do a.}\n"))

    assert done.returncode == 0, done.stdout
    assert "git's shared settings were changed meanwhile: core.hookspath" in done.stdout


def test_git_is_never_led_to_another_worktree(world: Path, tmp_path: Path) -> None:
    lane, other = build(tmp_path), tmp_path / "other"
    other.mkdir()

    done = lane.run(f"{WRITES}; git config core.worktree {other}")

    assert list(other.iterdir()) == []
    assert done.returncode != 0
    assert "core.worktree" in done.stderr
    lane.git("config", "--unset", "core.worktree")
    assert lane.resume().returncode == 0
    assert (lane.repo / "made.txt").exists()


def test_keys_are_known_by_their_values_and_no_value_is_kept() -> None:
    text = '[core]\n\tbare = false\n[remote "Or.igin"] url = x\\\ny\n[core] editor\n'

    found = shared_config.pairs(text)

    assert found == [("core.bare", "false"), ("remote.Or.igin.url", "xy"), ("core.editor", "true")]
    assert steering_settings.changed({"a": "1", "b": "2"}, {"b": "3", "c": "4"}) == ["a", "b", "c"]


@pytest.mark.sweep(3)
@pytest.mark.req("RUN-04")
@pytest.mark.parametrize("how", ["pull -q --rebase . main", "rebase -q main", "merge -q main"])
def test_agent_that_brings_itself_up_to_date_has_not_merged_itself(lane: Lane, how: str) -> None:
    own = f"{WRITES}; git add .; git commit -qm mine"

    status, said = run(lane, f"{_others(lane)}; {own}; git {how}")

    assert status == 0, said
    assert lane.show("main", "made.txt") == "one"


BY_TREE = (
    "c=$(git commit-tree $(git write-tree) -p HEAD -m own); git reset -q --hard $c;"
    " git update-ref refs/heads/main $c"
)
NO_LOG = (
    "git config core.logAllRefUpdates false; rm -f $(git rev-parse --git-dir)/logs/HEAD;"
    " git commit -qm own; git update-ref refs/heads/main HEAD; git rm -q made.txt; echo m > m;"
    " git add m; git commit -qm own2"
)
PICKED = "git commit -qm own; git -C {repo} cherry-pick lane/P1/SL-1; git commit -q --amend -m own2"
MERGED = "git commit -qm own; git -C {repo} merge -q lane/P1/SL-1"


@pytest.mark.req("RUN-04")
@pytest.mark.parametrize("how", [BY_TREE, NO_LOG, PICKED, MERGED, f"{NO_LOG}; git reset -q HEAD~2"])
def test_base_that_got_untested_work_by_whatever_way_needs_a_person(
    world: Path, tmp_path: Path, how: str
) -> None:
    lane = build(tmp_path)

    agent = f"{WRITES}; git add .; {how.format(repo=lane.repo)}"
    status, said = run(lane, agent, "--test", "test ! -e made.txt")

    assert status == lanes.LaneBlocked.exit_status, said
    assert lane.show("main", "made.txt") == "one"
    assert "main holds" in said or "main was moved to" in said
    assert "--base-rewritten" in said


@pytest.mark.req("RUN-04")
def test_base_that_an_agent_moved_is_no_beginning_for_the_next_lane(tmp_path: Path) -> None:
    team = night(tmp_path)
    first = team.git("rev-parse", "main")
    team.agent(f"""case $STANDFAST_LANE in e) ;;
a) echo x > x; git add x; {BY_TREE}; exit 1;;
*) until test $(git rev-parse main) != {first}; do sleep 0.02; done; exit 1;; esac""")
    lanes = ", ".join(f"{name}: Do {name}." for name in "abcde")  # four of them at once

    done = team.call("run", team.plan(f"lanes: {{{lanes}}}\n"))

    assert done.returncode != 0
    assert "main was moved to" in done.stdout
    assert team.git("branch", "--list", "*e") == ""


@pytest.mark.sweep(2)
@pytest.mark.req("RUN-04")
@pytest.mark.parametrize("how", ["commit", "pull", "pull --rebase", "fetch"])
def test_base_that_its_user_moved_is_landed_on(world: Path, tmp_path: Path, how: str) -> None:
    lane, other = build(tmp_path), tmp_path / "other"
    lane.git("clone", "-q", str(lane.repo), str(other))
    lane.git("remote", "add", "origin", str(other))
    lane.git("commit", "-q", "--allow-empty", "-m", "theirs", cwd=other)
    git = f"git -C {lane.repo}"
    mine = f"{git} commit -q --allow-empty -m mine"
    does = {
        "commit": mine,
        "pull": f"{git} pull -q origin main",
        "pull --rebase": f"{mine}; {git} pull -q --rebase origin main",
        "fetch": f"{git} checkout -q --detach; {git} fetch -q origin main:main",
    }

    status, said = run(lane, f"{WRITES}; {does[how]}")

    assert status == 0, said
    assert lane.show("main", "made.txt") == "one"
