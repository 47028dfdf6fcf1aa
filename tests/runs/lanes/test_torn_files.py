"""After a power cut inside an agent: torn files are kept, put back and told of; work is left."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import lane_runs
from lane_runs import Lane, end_at, resumed
from places import TESTS
from standfast import filesystems

LONG = "".join(f"line {number}\n" for number in range(2_000))
# The first run leaves what a cut may leave, and never ends; the next keeps what it was told.
AGENT = """\
if [ -e {mark} ]; then cat > {told}; echo more > made.txt; exit 0; fi
: > a.txt; head -c 8192 long.txt > torn; cat torn > long.txt; rm torn
head -c 9 /dev/zero > new.bin; echo words > words.txt; echo changed > b.txt; rm c.txt
touch {mark}; sleep 600
"""


@pytest.fixture
def lane(tmp_path: Path) -> Lane:
    made = lane_runs.build(tmp_path)
    for name, text in (("long.txt", LONG), ("b.txt", "b\n"), ("c.txt", "c\n")):
        (made.repo / name).write_text(text, encoding="utf-8")
    made.git("add", ".")
    made.git("commit", "-qm", "second")
    return made


def cut(lane: Lane, tmp_path: Path, *, another_boot: bool) -> None:
    """Everything is gone in the middle of the agent, and the machine may have come up again."""
    mark = tmp_path / "mark"
    end_at(mark, lane, "--runner", AGENT.format(mark=mark, told=tmp_path / "told"))
    if another_boot:
        lane_runs.reboot(lane)


@pytest.mark.req("REL-10")
def test_torn_files_are_kept_and_put_back_and_the_agent_is_told(lane: Lane, tmp_path: Path) -> None:
    cut(lane, tmp_path, another_boot=True)
    resumed(lane)

    assert lane.show("main", "a.txt") == "a"
    assert lane.show("main", "long.txt") == LONG.strip()
    assert lane.show("main", "b.txt") == "changed", "what the agent wrote stays"
    assert lane.show("main", "words.txt") == "words"
    assert lane.git("ls-tree", "main", "c.txt") == "", "what it took away stays away"
    told = (tmp_path / "told").read_text(encoding="utf-8")
    assert all(f"- {name}\n" in told for name in ("a.txt", "long.txt", "new.bin"))
    assert "b.txt" not in told[: told.index("nobody knows whether they are whole")]
    ref = "refs/standfast/backup/r1/P1/SL-1/1"
    assert ref in told
    assert lane.show(ref, "a.txt") == ""
    assert len(lane.show(ref, "long.txt")) <= 8192


@pytest.mark.req("REL-10")
def test_nothing_is_put_back_in_the_same_boot(lane: Lane, tmp_path: Path) -> None:
    cut(lane, tmp_path, another_boot=False)
    resumed(lane)

    assert lane.show("main", "a.txt") == ""
    assert "power failed" not in (tmp_path / "told").read_text(encoding="utf-8")
    assert lane.git("for-each-ref", "refs/standfast/backup") == ""


WITHIN = """\
import runpy
import sys
from pathlib import Path
sys.path.insert(0, {tests!r})
runpy.run_path({here!r})["cut_and_mounted_again"](Path({top!r}))
"""


def cut_and_mounted_again(top: Path) -> None:
    """In a namespace of its own: the disk goes in the middle of the agent, and comes again."""
    lane = Lane(repo=top / "repo", home=top / "tasks")
    mount(lane.repo)
    cut(lane, top, another_boot=False)
    subprocess.run(["umount", "-l", lane.repo], check=True)
    mount(lane.repo)
    resumed(lane)


def mount(folder: Path) -> None:
    subprocess.run(["mount", "--bind", folder, folder], check=True)


@pytest.mark.req("REL-10")
def test_torn_files_are_put_back_where_a_disk_was_mounted_again_in_the_same_boot(
    lane: Lane, tmp_path: Path
) -> None:
    apart = ["unshare", "-Urm"] if shutil.which("unshare") else ["false"]
    tried = subprocess.run([*apart, "true"], capture_output=True, check=False)
    if tried.returncode != 0 or not filesystems.mounted(str(tmp_path)):
        pytest.skip("no namespace of mounts, or a kernel that does not tell them apart")
    script = WITHIN.format(tests=str(TESTS), here=__file__, top=str(tmp_path))

    done = subprocess.run([*apart, sys.executable, "-c", script], capture_output=True,
                          encoding="utf-8", check=False)  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert lane.show("main", "a.txt") == "a"
    assert lane.show("main", "b.txt") == "changed", "what the agent wrote stays"
    assert "- a.txt\n" in (tmp_path / "told").read_text(encoding="utf-8")


@pytest.mark.req("REL-10")
def test_what_a_person_empties_after_that_stays_empty(lane: Lane, tmp_path: Path) -> None:
    cut(lane, tmp_path, another_boot=True)
    lane.resume()
    assert (lane.tree / "a.txt").read_text(encoding="utf-8") == "a\n"
    (lane.tree / "a.txt").write_bytes(b"")
    resumed(lane)

    assert lane.show("main", "a.txt") == ""


@pytest.mark.req("REL-10")
def test_agent_that_ended_may_empty_a_file_whatever_happened_since(
    lane: Lane, tmp_path: Path
) -> None:
    done = lane.run(": > a.txt", "--test", f"touch {tmp_path / 'tested'}")

    assert done.returncode == 0, done.stderr
    assert lane.show("main", "a.txt") == ""


# Tests of the lane's own commit, or once more on a base that moved (a file b is there).
TEARS = """\
{when} || exit 0
if [ ! -e {mark} ]; then : > a.txt; touch {mark}; sleep 600; fi
cat a.txt > {seen}
"""
STEPS = {"test": "true", "retest": "test -e b"}


@pytest.mark.sweep(2)
@pytest.mark.req("REL-10")
@pytest.mark.parametrize("step", STEPS)
def test_what_is_torn_under_tests_is_put_back_before_they_run_again(
    lane: Lane, tmp_path: Path, step: str
) -> None:
    mark, seen = tmp_path / "mark", tmp_path / "seen"
    script = TEARS.format(when=STEPS[step], mark=mark, seen=seen)
    moves = f"cd '{lane.repo}' && echo x > b && git add b && git commit -qm other"
    end_at(mark, lane, "--runner", f"{lane_runs.WRITES}; {moves}", "--test", script)
    lane_runs.reboot(lane)
    assert (lane.tree / "a.txt").read_bytes() == b""

    done = lane.resume()

    assert done.returncode == 0, done.stderr
    assert seen.read_text(encoding="utf-8") == "a\n"
    assert lane.show("main", "a.txt") == "a"
    assert (lane.repo / "a.txt").read_text(encoding="utf-8") == "a\n"


@pytest.mark.req("REL-10")
def test_agent_without_a_prompt_is_told_what_was_torn_under_tests_in_its_environment(
    lane: Lane, tmp_path: Path
) -> None:
    mark, told = tmp_path / "mark", tmp_path / "told"
    script = f"if [ ! -e {mark} ]; then : > a.txt; touch {mark}; sleep 600; fi; test -s {told}"
    agent = f'{lane_runs.WRITES}; printf %s "$STANDFAST_RESTORED" > {told}'
    end_at(mark, lane, "--runner", agent, "--test", script, "--retries", "1")
    lane_runs.reboot(lane)

    done = lane.resume()

    assert done.returncode == 0, done.stderr
    assert json.loads(told.read_text(encoding="utf-8")) == ["a.txt"]
