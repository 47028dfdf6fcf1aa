"""The power fails while a lane is put on top of a base that moved: nothing torn lands."""

import os
import subprocess
from pathlib import Path

import pytest

import lane_runs
from lane_runs import LANE, Lane
from standfast.errors import lanes

TEXT = "".join(f"{number}\n" for number in range(5_000))
# What a cut may leave of a file that was written and not synced.
TEARS = {
    "emptied": ": > lib.txt",
    "cut off": "truncate -s 4096 lib.txt",
    "zeroed, as old and as long": "touch -r lib.txt ../was; head -c $(wc -c < lib.txt) /dev/zero >"
    " ../zeros; cat ../zeros > lib.txt; touch -r ../was lib.txt",
    "not there yet": "rm lib.txt",
    "still the one before": "echo lib > lib.txt",
}
GIT = """\
#!/bin/sh
case "$*" in
*"reset "*"--hard"*)
 if [ ! -e {top}/cut ]; then
  {git} "$@"; touch {top}/cut; (cd {tree}; {tear}); kill -9 $PPID; exit 1
 fi;;
esac
exec {git} "$@"
"""
AGENT = (
    "echo made > made.txt; echo run >> {top}/agents; test -e {repo}/api || (cd {repo} && {moves})"
)
MOVES = "cp {top}/text lib.txt && touch api && git add -A && git commit -qm 'another lib'"


@pytest.fixture
def lane(tmp_path: Path) -> Lane:
    made = lane_runs.build(tmp_path)
    (made.repo / "lib.txt").write_text("lib\n", encoding="utf-8")
    made.git("add", ".")
    made.git("commit", "-qm", "second")
    (tmp_path / "text").write_text(TEXT, encoding="utf-8")
    return made


def fake_git(lane: Lane, top: Path, tear: str) -> dict[str, str]:
    """An environment in which the power goes right after git's first reset."""
    plain = subprocess.run(["sh", "-c", "command -v git"], capture_output=True, check=True).stdout
    fake = top / "bin" / "git"
    fake.parent.mkdir()
    git = os.fsdecode(plain).strip()
    fake.write_text(GIT.format(top=top, git=git, tree=lane.tree, tear=TEARS[tear]), "utf-8")
    fake.chmod(0o755)
    return {**os.environ, "PATH": f"{fake.parent}{os.pathsep}{os.environ['PATH']}"}


def cut(lane: Lane, top: Path, tear: str, *words: str) -> None:
    """Everything is gone right after git's reset, and one of the files that it wrote is torn."""
    agent = AGENT.format(top=top, repo=lane.repo, moves=MOVES.format(top=top))
    argv = lane.argv("run", *LANE, "--task", lane.task("one"), "--runner", agent, *words)
    env = fake_git(lane, top, tear)
    died = subprocess.run(argv, cwd=lane.repo, env=env, capture_output=True, check=False)
    assert (top / "cut").exists(), died.stderr
    lane_runs.reboot(lane)


@pytest.mark.sweep(7)
@pytest.mark.req("REL-10", "RUN-17")
@pytest.mark.parametrize(
    ("tear", "how"),
    [*((tear, "retested") for tear in TEARS), ("emptied", "never"), ("emptied", "looked at")],
)
def test_file_torn_under_the_move_to_a_new_base_is_whole_on_main(
    lane: Lane, tmp_path: Path, tear: str, how: str
) -> None:
    looked = f"test ! -e api || cmp -s lib.txt {tmp_path}/text"
    words = {"never": ("--test", "true", "--retest", "never"), "looked at": ("--test", looked)}
    cut(lane, tmp_path, tear, *words.get(how, ("--test", "true")))

    done = lane.resume()

    assert done.returncode == 0, done.stderr
    assert lane.git("show", "main:lib.txt") == TEXT.strip()
    assert lane.show("main", "made.txt") == "made"
    assert (tmp_path / "agents").read_text("utf-8") == "run\n", "no torn file is a red test"


@pytest.mark.req("REL-10")
def test_torn_file_is_not_committed_by_the_agent_that_is_called_again(
    lane: Lane, tmp_path: Path
) -> None:
    red = f"test ! -e api -o ! -e made.txt || test $(wc -l < {tmp_path}/agents) = 2"
    cut(lane, tmp_path, "emptied", "--test", red, "--retries", "1")

    done = lane.resume()

    assert done.returncode == 0, done.stderr
    assert lane.git("show", "main:lib.txt") == TEXT.strip()
    assert lane.git("show", "refs/standfast/backup/r1/P1/SL-1/1:lib.txt") == ""


@pytest.mark.req("REL-10")
def test_torn_file_is_not_committed_after_a_person_committed_meanwhile(
    lane: Lane, tmp_path: Path
) -> None:
    cut(lane, tmp_path, "emptied", "--test", "true")
    (lane.tree / "mine").write_text("mine\n", encoding="utf-8")
    lane.git("add", "mine", cwd=lane.tree)
    lane.git("commit", "-qm", "mine", cwd=lane.tree)

    done = lane.resume()

    assert done.returncode == 0, done.stderr
    assert lane.git("show", "main:lib.txt") == TEXT.strip()
    assert lane.show("main", "mine") == "mine"


@pytest.mark.req("REL-10", "CKP-05")
@pytest.mark.parametrize("tear", ["emptied", "zeroed, as old and as long"])
def test_no_agent_goes_on_in_what_a_rollback_that_was_cut_short_has_left(
    lane: Lane, tmp_path: Path, tear: str
) -> None:
    assert lane.run("test -e ../mended || { echo changed > lib.txt; exit 7; }").returncode == 1
    argv, env = lane.argv("rollback", *LANE), fake_git(lane, tmp_path, tear)
    subprocess.run(argv, cwd=lane.repo, env=env, capture_output=True, check=False)
    assert (tmp_path / "cut").exists()
    (lane.tree.parent / "mended").touch()

    refused = lane.resume()
    again = lane.call("rollback", *LANE)
    done = lane.resume()

    assert refused.returncode == lanes.LaneBlocked.exit_status, refused.stderr
    assert "lane rollback --run-id r1 --phase P1 --lane SL-1" in refused.stderr
    assert (again.returncode, done.returncode) == (0, 0), again.stderr + done.stderr
    assert lane.show("main", "lib.txt") == "lib"
