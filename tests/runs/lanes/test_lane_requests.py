"""Pull requests of lanes: made once, found when they are there, whoever made or merged them."""

import os
import subprocess
from pathlib import Path

import pytest

from lane_runs import BRANCH, LANE, WRITES, Lane, build, end_everything
from standfast.errors import lanes
from standfast.protocols.checkpoints.rules import checkpoint as cp
from standfast.runs import vouched_lanes
from standfast.runs.vouched_lanes import Where

# A stand-in for GitHub's own program: requests are lines `head sha state` in a file. It can be told
# to fail before or after it has made one.
GH = """#!/bin/sh
set -eu
store="$GH_STORE"
case "$2" in
list)
    test ! -e "$store.down" || exit 4
    cut -d' ' -f2 "$store" 2>/dev/null || true
    ;;
create)
    test ! -e "$store.down" || { echo "could not resolve host" >&2; exit 4; }
    sha=$(git --git-dir="$GH_REMOTE" rev-parse "$STANDFAST_BRANCH")
    echo "$STANDFAST_BRANCH $sha OPEN" >> "$store"
    test ! -e "$store.late" || { rm "$store.late"; echo "gateway timeout" >&2; exit 5; }
    ;;
esac
"""


@pytest.fixture
def lane(world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lane:
    made = build(tmp_path)
    remote = tmp_path / "remote.git"
    made.git("init", "-q", "--bare", str(remote))
    made.git("remote", "add", "origin", str(remote))
    made.git("push", "-q", "origin", "main")
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "gh").write_text(GH, encoding="utf-8")
    (programs / "gh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("GH_STORE", str(tmp_path / "prs"))
    monkeypatch.setenv("GH_REMOTE", str(remote))
    here = Where(os.environ["XDG_STATE_HOME"], str(made.repo / ".git/standfast"), str(made.repo))
    vouched_lanes.trust_addresses(here, [str(remote)], "ann")
    return made


def requests(tmp_path: Path) -> list[str]:
    path = tmp_path / "prs"
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


@pytest.mark.req("CKP-03")
def test_branch_is_pushed_and_the_request_made_once(lane: Lane, tmp_path: Path) -> None:
    done = lane.run(WRITES, "--merge", "pr")

    assert done.returncode == 0, done.stderr
    head = str(lane.records()[cp.PRE_PR]["head_sha"])
    assert requests(tmp_path) == [f"{BRANCH} {head} OPEN"]
    assert lane.git("rev-parse", "main") != head
    assert lane.history()[-2:] == [(cp.PRE_PR, cp.READY), (cp.PRE_PR, cp.COMPLETE)]
    assert not lane.tree.exists()
    assert lane.git("rev-parse", BRANCH) == head
    assert lane.resume().returncode == 0
    assert len(requests(tmp_path)) == 1


@pytest.mark.req("RES-08")
def test_request_is_made_of_commits_without_the_checkpoints(lane: Lane, tmp_path: Path) -> None:
    file = ".claude/ai-dev-kit/run-logs/checkpoints.json"
    adds = f"mkdir -p $(dirname {file}); echo '[]' > {file}; git add -Af ."

    done = lane.run(f"{WRITES}; {adds}; git commit -qm own", "--test", "true", "--merge", "pr")

    assert done.returncode == 0, done.stderr
    assert f"left out is what it wrote into {file}" in done.stderr
    pushed = ("--git-dir", str(tmp_path / "remote.git"), "ls-tree", "-r", "--name-only", BRANCH)
    assert {*lane.git(*pushed).split()} == {"a.txt", "made.txt", ".gitignore"}


@pytest.mark.req("CKP-09")
def test_failure_stores_target_and_head_and_resume_tries_again(lane: Lane, tmp_path: Path) -> None:
    (tmp_path / "prs.down").touch()

    done = lane.run(WRITES, "--merge", "pr", "--retries", "2")

    assert done.returncode == 1
    record = lane.records()[cp.PRE_PR]
    assert (record["status"], record["target_branch"], record["exit_code"]) == (
        cp.FAILED,
        "main",
        4,
    )
    assert record["head_sha"] == lane.git("rev-parse", BRANCH)
    assert "could not resolve host" in done.stderr
    assert "Resume: standfast" in done.stdout
    assert cp.RETRY not in lane.records()  # only the agent and the tests are tried again

    assert lane.resume().returncode == 1
    (tmp_path / "prs.down").unlink()
    again = lane.resume()
    assert again.returncode == 0, again.stderr
    assert len(requests(tmp_path)) == 1


@pytest.mark.req("EFF-02", "CKP-11")
def test_request_that_was_made_although_its_command_failed_is_found(
    lane: Lane, tmp_path: Path
) -> None:
    (tmp_path / "prs.late").touch()

    assert lane.run(WRITES, "--merge", "pr").returncode == 1
    done = lane.resume()

    assert done.returncode == 0, done.stderr
    assert "was there already" in done.stdout
    assert len(requests(tmp_path)) == 1


@pytest.mark.sweep(3)
@pytest.mark.req("EFF-02", "CKP-11")
@pytest.mark.parametrize("state", ["OPEN", "CLOSED", "MERGED"])
def test_command_whose_end_nobody_saw_is_settled_by_asking_whether_the_request_is_there(
    lane: Lane, tmp_path: Path, state: str
) -> None:
    """The whole machine dies in mid-request; meanwhile a person sees to it."""
    ready = tmp_path / "ready"
    os.mkfifo(ready)
    own = f'gh pr create; echo $$ > "{ready}"; sleep 1000'
    probe = 'gh pr list | grep -q "$STANDFAST_HEAD"'
    words = ("run", *LANE, "--runner", WRITES, "--task", lane.task("one"), "--merge", "pr",
             "--pr", f"git push -q origin HEAD; {own}", "--pr-probe", probe)  # fmt: skip
    with subprocess.Popen(lane.argv(*words), cwd=lane.repo, stderr=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, start_new_session=True) as first:  # fmt: skip
        ready.read_text(encoding="utf-8")
        end_everything(lane, first.pid)
    made = (tmp_path / "prs").read_text(encoding="utf-8")
    (tmp_path / "prs").write_text(made.replace("OPEN", state), encoding="utf-8")

    done = lane.resume()

    assert done.returncode == 0, done.stderr
    assert len(requests(tmp_path)) == 1
    assert lane.history()[-1] == (cp.PRE_PR, cp.COMPLETE)


@pytest.mark.req("EFF-02")
def test_command_that_cannot_be_asked_about_is_asked_of_a_person(
    lane: Lane, tmp_path: Path
) -> None:
    ready = tmp_path / "ready"
    os.mkfifo(ready)
    own = f'echo made >> "$GH_STORE"; test -e go || {{ echo $$ > "{ready}"; sleep 1000; }}'
    words = ("run", *LANE, "--runner", WRITES, "--task", lane.task("one"), "--merge", "pr",
             "--pr", own)  # fmt: skip
    with subprocess.Popen(lane.argv(*words), cwd=lane.repo, stderr=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, start_new_session=True) as first:  # fmt: skip
        ready.read_text(encoding="utf-8")
        end_everything(lane, first.pid)

    asked = [lane.resume() for _ in range(2)]

    assert [each.returncode for each in asked] == [lanes.EffectInDoubt.exit_status] * 2
    assert requests(tmp_path) == ["made"]
    key = "lane/r1/P1/SL-1/pr/1"
    assert key in asked[0].stderr
    settled = lane.standfast("settle", key, "done")
    assert settled.returncode == 0, settled.stderr
    assert lane.resume().returncode == 0
    assert requests(tmp_path) == ["made"]


def test_hooks_of_the_repository_do_not_run_for_the_push(lane: Lane, tmp_path: Path) -> None:
    hook = lane.repo / ".git" / "hooks" / "pre-push"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch '{tmp_path}/ran'\n", encoding="utf-8")
    hook.chmod(0o755)

    assert lane.run(WRITES, "--merge", "pr").returncode == 0
    assert not (tmp_path / "ran").exists()


@pytest.mark.req("RUN-17", "CKP-03")
def test_the_base_that_is_told_of_a_request_is_the_one_that_it_was_tested_on(
    lane: Lane, tmp_path: Path
) -> None:
    other = f"(cd '{lane.repo}' && git commit -q --allow-empty -m other && git rev-parse main)"
    moved = f"(cd '{lane.repo}' && echo b > b && git add b && git commit -qm b)"
    tests = f"test ! -e b || {other} > {tmp_path}/later"

    done = lane.run(f"{WRITES}; {moved}", "--test", tests, "--merge", "pr")

    assert done.returncode == 0, done.stderr
    later = (tmp_path / "later").read_text(encoding="utf-8").strip()
    assert lane.git("rev-parse", "main") == later
    assert lane.records()[cp.PRE_PR]["base_sha"] == lane.git("rev-parse", "main~1")
