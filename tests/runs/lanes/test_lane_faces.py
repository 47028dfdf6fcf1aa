"""What a lane says in files that show the journal neither lands nor is tested; it is kept."""

import re
import subprocess
from pathlib import Path

import pytest

import lane_library as library
from lane_kills import MOST_FACTS, killed_after
from lane_runs import LANE, Lane, build
from run_worlds import documented, night
from standfast.errors.lanes import LaneBlocked
from standfast.git import changes, faceless_commits, worktree_contents
from standfast.git.command import Git
from standfast.journal import overwritten_files
from standfast.runs.lanes import lane_faces

FILE = "ORCHESTRATION.yaml"
RECORDS = ".claude/ai-dev-kit/run-logs/checkpoints.json"
SAYS = "sed -i 's/next_step: .*/next_step: LANE-SAYS/' ORCHESTRATION.yaml"
COMMITS = f"{SAYS}; echo lane >> f.txt; git add -A; git commit -qm mixed"
NOT_SEEN = ("--test", "! grep LANE ORCHESTRATION.yaml")


@pytest.fixture
def lane(world: Path, tmp_path: Path) -> Lane:
    """A repository with a section, which is committed."""
    made = build(tmp_path)
    (made.repo / ".gitignore").write_text("*.log\n.worktrees/\n", encoding="utf-8")
    (made.repo / FILE).write_text("workflow: {id: w}\n", encoding="utf-8")
    first = ("--phase", "0", "--phase-name", "before", "--next-step", "OURS")
    begun = made.standfast("resumption", "trigger", "T1", *first)
    assert begun.returncode == 0, begun.stderr
    made.git("add", FILE, ".gitignore")
    made.git("commit", "-qm", "section")
    return made


def section(lane: Lane, ref: str = "main") -> str:
    return lane.show(ref, FILE)


def kept(lane: Lane, done: subprocess.CompletedProcess[str]) -> str:
    """What is printed by the command that the lane names."""
    digest = re.search(r"journal kept ([0-9a-f]+)", done.stderr + done.stdout)
    assert digest is not None, done.stderr
    return lane.standfast("journal", "kept", digest[1]).stdout


def assert_left_out(lane: Lane, done: subprocess.CompletedProcess[str], before: str) -> None:
    assert done.returncode == 0, done.stderr
    assert section(lane) == before
    assert "LANE-SAYS" in kept(lane, done)
    assert [each for each in lane.log() if each["event"] == "faces_left_out"]


@pytest.mark.sweep(2)
@pytest.mark.req("RES-08")
@pytest.mark.parametrize("merge", ["ff", "no-ff"])
@pytest.mark.parametrize("test", [NOT_SEEN, ()])
def test_commit_of_a_section_lands_without_it(
    lane: Lane, merge: str, test: tuple[str, ...]
) -> None:
    before = section(lane)

    done = lane.run(COMMITS, *test, "--merge", merge)

    assert_left_out(lane, done, before)
    assert lane.show("main", "f.txt") == "lane"
    assert lane.git("log", "--format=%s", "main", "--", "f.txt") == "mixed"
    assert lane.git("log", "--format=%s", "main", "--", FILE) == "section"
    assert not lane.tree.exists()


@pytest.mark.req("RES-08")
def test_commit_of_nothing_else_is_dropped(lane: Lane) -> None:
    before, head = section(lane), lane.git("rev-parse", "main")

    done = lane.run(f"{SAYS}; git commit -qam only", *NOT_SEEN)

    assert_left_out(lane, done, before)
    assert lane.git("rev-parse", "main") == head


@pytest.mark.sweep(3)
@pytest.mark.req("RES-08")
@pytest.mark.parametrize("stage", [":", f"git add {FILE}", f"git rm -q --cached {FILE}"])
def test_edit_that_is_not_committed_is_not_tested(lane: Lane, stage: str) -> None:
    before = section(lane)

    done = lane.run(f"{SAYS}; echo lane >> f.txt; {stage}", *NOT_SEEN)

    assert_left_out(lane, done, before)
    assert lane.show("main", "f.txt") == "lane"
    assert not lane.tree.exists()


@pytest.mark.req("RES-08")
def test_each_version_is_kept_and_what_was_taken_away_is_said(lane: Lane) -> None:
    again = "sed -i 's/LANE-SAYS/LANE-AGAIN/' ORCHESTRATION.yaml; git commit -qam again"
    done = lane.run(f"{COMMITS}; {again}; git rm -q {FILE}; git commit -qm gone", "--test", "true")

    assert done.returncode == 0, done.stderr
    assert f"{FILE} (it took that away)" in done.stderr
    shown = lane.standfast("events", "--kind", "file.kept", "--json").stdout
    assert "LANE-SAYS" in shown
    assert "LANE-AGAIN" in shown
    assert "OURS" in section(lane)


@pytest.mark.req("RES-08", "CKP-04")
def test_checkpoints_of_a_lane_do_not_stand_in_the_way_of_its_merge(lane: Lane) -> None:
    writes = f"mkdir -p $(dirname {RECORDS}); echo '[]' > {RECORDS}; git add -Af ."

    done = lane.run(f"{writes}; echo lane > f.txt; git commit -qm records", "--test", "true")

    assert done.returncode == 0, done.stderr
    assert RECORDS not in lane.git("ls-tree", "-r", "--name-only", "main").split()
    assert lane.show("main", "f.txt") == "lane"


@pytest.mark.req("RES-08")
def test_section_of_the_base_is_taken_by_a_merge(lane: Lane) -> None:
    """The base moves on, its section too, and the agent merges it with a word of its own."""
    leads = f"cd {lane.repo} && sed -i 's/OURS/NEWER/' {FILE} && git commit -qam newer && cd -"
    merges = f"git merge -q -s ours -m joined main; {SAYS}; git commit -qa --amend --no-edit"

    done = lane.run(f"{COMMITS}; {leads}; {merges}", *NOT_SEEN)

    assert done.returncode == 0, done.stderr
    assert "NEWER" in section(lane)
    assert "LANE" not in lane.git("log", "-p", "--format=", "main")
    assert lane.show("main", "f.txt") == "lane"


@pytest.mark.req("RES-08")
def test_lane_that_says_nothing_is_as_it_was_made(lane: Lane) -> None:
    done = lane.run("echo lane > f.txt; git add f.txt; git commit -qm own; git rev-parse HEAD"
                    ' > "$PWD/../head"', "--test", "true")  # fmt: skip

    assert done.returncode == 0, done.stderr
    assert "left out" not in done.stderr
    head = (lane.tree.parent / "head").read_text(encoding="utf-8").strip()
    assert lane.git("rev-parse", "main") == head


AHEAD = "sed -i 's/updated_at: .*/updated_at: \"'$(date -ud +60seconds +%FT%TZ)'\"/' " + FILE
DIRTY = "sed -i 's/LANE-SAYS/LANE-LEFT/' ORCHESTRATION.yaml; echo more >> g.txt"


@pytest.mark.sweep
@pytest.mark.req("RES-08", "CKP-11")
def test_lane_killed_again_and_again_says_nothing_in_a_section(lane: Lane) -> None:
    before = section(lane)
    words = ("--runner", f"{COMMITS}; {DIRTY}", "--task", lane.task("one"), *NOT_SEEN)
    argv = lane.argv("run", *LANE, *words)
    for count in range(2, MOST_FACTS, 3):
        if not killed_after(lane, argv, count):
            break

    done = lane.resume()

    assert done.returncode == 0, done.stderr
    assert_all_once(lane, before)


def assert_all_once(lane: Lane, before: str) -> None:
    assert section(lane) == before
    assert lane.show("main", "f.txt") == "lane"
    assert lane.show("main", "g.txt") == "more"
    assert lane.git("rev-list", "--count", "main") == "4"
    # A kill right before its line costs the log that line: the journal has the fact.
    assert [each["event"] for each in lane.log()].count("faces_left_out") <= 1
    shown = lane.standfast("events", "--kind", "file.kept", "--json").stdout
    assert shown.count("next_step: LANE-SAYS") == shown.count("next_step: LANE-LEFT") == 1


class Died(BaseException):
    """The process is gone here."""


@pytest.mark.sweep(7)
@pytest.mark.req("RES-08", "CKP-11")
@pytest.mark.parametrize(
    ("module", "name", "is_after"),
    [
        (overwritten_files, "keep", True),
        (worktree_contents, "restore", False),
        (worktree_contents, "restore", True),
        (worktree_contents, "sync_folders", True),
        (lane_faces, "_put", True),
        (lane_faces, "_end", False),
        (lane_faces, "leave_out", True),
    ],
)
def test_lane_that_dies_while_it_is_left_out_does_it_once(
    lane: Lane, monkeypatch: pytest.MonkeyPatch, module: object, name: str, *, is_after: bool
) -> None:
    before, act = section(lane), getattr(module, name)

    def dies(*args: object, **more: object) -> None:
        if is_after:
            act(*args, **more)
        raise Died

    wanted = library.spec(lane, runner=f"{COMMITS}; {DIRTY}", test=NOT_SEEN[1])
    with monkeypatch.context() as patched:
        patched.setattr(module, name, dies)
        with pytest.raises(Died):
            library.take_on(lane, wanted)

    library.take_on(lane, wanted)

    assert_all_once(lane, before)


@pytest.mark.req("RES-08")
def test_commit_that_came_just_before_our_own_is_looked_at(
    lane: Lane, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By something that the agent left running."""
    before, shown = section(lane), changes.paths

    def is_late(tree: Git) -> list[str]:
        found = shown(tree)
        if found and not lane.git("log", "--format=%s", "main..HEAD", cwd=lane.tree):
            subprocess.run(["sh", "-c", f"{SAYS}; git commit -qm late {FILE}"], cwd=lane.tree,
                           check=True)  # fmt: skip
        return found

    monkeypatch.setattr(changes, "paths", is_late)
    library.take_on(lane, library.spec(lane, test=NOT_SEEN[1]), spare=(FILE,))

    assert section(lane) == before
    assert lane.show("main", "made.txt") == "made"


@pytest.mark.req("RES-08")
def test_lane_without_faces_asks_git_no_more(lane: Lane, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_args: object) -> None:
        raise AssertionError

    monkeypatch.setattr(faceless_commits, "rebuild", refuse)
    monkeypatch.setattr(faceless_commits, "files", refuse)
    library.take_on(lane, library.spec(lane, test="true"))

    assert lane.show("main", "made.txt") == "made"


@pytest.mark.req("RES-08")
def test_folder_in_the_place_of_a_section_needs_a_person(lane: Lane) -> None:
    done = lane.run(f"rm {FILE}; mkdir {FILE}; echo mine > {FILE}/x", "--test", "true")

    assert done.returncode == LaneBlocked.exit_status, done.stderr
    assert f"a folder stands where {FILE} is to be" in done.stderr
    assert (lane.tree / FILE / "x").read_text(encoding="utf-8") == "mine\n"


@pytest.mark.req("RES-08", "RES-24")
@pytest.mark.parametrize("base", ["main", "target"])
def test_run_tells_what_was_left_out_and_its_section_stays_the_leads(
    world: Path, tmp_path: Path, base: str
) -> None:
    """Also where the run's own triggers changed the file that the lane committed."""
    made = night(tmp_path)
    documented(made)
    made.git("add", FILE)
    made.git("commit", "-qm", "section")
    made.git("branch", "-f", "target") if base == "target" else None
    made.agent(f"{SAYS}; {AHEAD}; git add -A; git commit -qm own")

    done = made.call("run", made.plan("run: r\nlanes: {a: Do it.}\n"), "--base", base)
    if base == "target":
        made.git("stash", "-q")
        made.git("merge", "-q", "--no-edit", "target")
        made.git("stash", "pop", "-q")

    assert done.returncode == 0, done.stderr + done.stdout
    assert f"left out is what it wrote into {FILE}" in done.stdout + done.stderr
    assert "left out" in made.call("status", "r").stdout
    assert made.call("resumption", "decide", "after").returncode == 0
    assert "LANE" not in (made.repo / FILE).read_text(encoding="utf-8")
