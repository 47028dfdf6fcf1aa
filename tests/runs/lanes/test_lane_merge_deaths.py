"""Everything dies between the move of the base and the end of the merge: the checkout is made good.

It is what an undisturbed merge leaves, beside what the person was doing there: the same status, the
same index, the same files.
"""

import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest

import lane_killing
import lane_runs
from harness.faults.shim import compiler
from lane_runs import LANE, Lane

pytestmark = pytest.mark.skipif(compiler() is None, reason="there is no C compiler here")

POINTS = 24  # calls that change a file, from there until the lane is told to be done
MAIN = "refs/heads/main"
AGENT = "echo more >> a.txt; git rm -q gone; mkdir new; echo new > new/file"
# Tells the shim to kill at the nth call from here on.
GIT = """\
#!/bin/sh
case "$*" in
*"standfast: fast-forward {main} "*)
 {git} "$@" || exit 1
 LD_PRELOAD= {python} -S -c 'import struct, sys
with open(sys.argv[1], "r+b") as file:
    file.write(struct.pack(sys.argv[2], 1, {nth}, 0, {mode}, int(sys.argv[3]), 0))
' {shared} {format} $PPID
 exit 0;;
esac
exec {git} "$@"
"""


@pytest.fixture
def lane(tmp_path: Path) -> Lane:
    made = lane_runs.build(tmp_path)
    for name in ("gone", "mine", "staged"):
        (made.repo / name).write_text(f"{name}\n", encoding="utf-8")
    made.git("add", ".")
    made.git("commit", "-qm", "second")
    (made.repo / "mine").write_text("what a person writes\n", encoding="utf-8")
    (made.repo / "staged").write_text("what a person staged\n", encoding="utf-8")
    made.git("add", "staged")
    (made.repo / "untracked").write_text("nobody's yet\n", encoding="utf-8")
    return made


def dying(top: Path, nth: int) -> dict[str, str]:
    """An environment in which all of it dies at the nth change of a file after the base moved."""
    library, shared = top / "shim.so", top / "shared"
    command = [str(compiler()), "-shared", "-fPIC", "-O2", "-o", str(library)]
    subprocess.run([*command, str(lane_killing.SOURCE), "-ldl"], check=True)
    shared.write_bytes(bytes(struct.calcsize(lane_killing.FORMAT)))
    plain = subprocess.run(["sh", "-c", "command -v git"], capture_output=True, check=True).stdout
    words = {"git": os.fsdecode(plain).strip(), "python": sys.executable, "main": MAIN}
    facts = {"nth": nth, "mode": lane_killing.ALL, "shared": shared, "format": lane_killing.FORMAT}
    fake = top / "bin" / "git"
    fake.parent.mkdir()
    fake.write_text(GIT.format(**words, **facts), "utf-8")
    fake.chmod(0o755)
    path = f"{fake.parent}{os.pathsep}{os.environ['PATH']}"
    given = {"LD_PRELOAD": str(library), "KILL_SHIM_FILE": str(shared), "PATH": path}
    return {**os.environ, **given}


def died(lane: Lane, top: Path, nth: int, *words: str) -> bool:
    argv = lane.argv("run", *LANE, "--task", lane.task("one"), "--runner", AGENT, *words)
    env = dying(top, nth)
    done = subprocess.run(
        argv, cwd=lane.repo, env=env, capture_output=True, check=False, start_new_session=True
    )
    assert lane.git("log", "-1", "--format=%s", "main") != "second", done.stderr
    return lane_killing.has_fired(top / "shared")


def assert_as_an_undisturbed_merge_leaves_it(lane: Lane) -> None:
    said = lane.git("status", "--porcelain").splitlines()
    assert said == ["M mine", "M  staged", "?? untracked"]  # the first is stripped
    assert lane.git("diff", "--cached", "--name-only", "main") == "staged"
    assert lane.git("diff", "--name-only") == "mine"
    assert lane.show("main", "new/file") == (lane.repo / "new/file").read_text("utf-8").strip()
    assert (lane.repo / "mine").read_text("utf-8") == "what a person writes\n"
    assert (lane.repo / "a.txt").read_text("utf-8") == "a\nmore\n"
    assert not (lane.repo / "gone").exists()
    left = {each.name for each in (lane.repo / ".git").iterdir() if "standfast" in each.name}
    assert left <= {"standfast", "standfast-id"}
    assert not [*lane.repo.glob(".git/*.lock"), *lane.repo.glob(".git/refs/**/*.lock")]


@pytest.mark.req("REL-01", "RUN-17")
def test_later_lane_makes_good_what_the_merge_of_one_that_died_left(
    lane: Lane, tmp_path: Path
) -> None:
    assert died(lane, tmp_path, 1)
    other = ("--run-id", "r2", "--phase", "P2", "--lane", "SL-2", "--runner", "echo x > other")

    done = lane.call("run", *other, "--task", lane.task("two"))

    assert done.returncode == 0, done.stderr
    assert_as_an_undisturbed_merge_leaves_it(lane)


@pytest.mark.sweep(11)
@pytest.mark.req("REL-01", "RUN-17")
@pytest.mark.parametrize("merge", ["ff", "no-ff"])
@pytest.mark.parametrize("nth", range(1, POINTS + 1))
def test_checkout_is_as_an_undisturbed_merge_leaves_it_after_a_death_behind_the_move(
    lane: Lane, tmp_path: Path, merge: str, nth: int
) -> None:
    assert died(lane, tmp_path, nth, "--merge", merge)

    done = lane.resume()

    assert done.returncode == 0, done.stderr
    assert_as_an_undisturbed_merge_leaves_it(lane)
