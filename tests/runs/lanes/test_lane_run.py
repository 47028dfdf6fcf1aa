"""A lane from outside: from nothing to merged, every failure on the way, and going on after it."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lane_runs import BRANCH, LANE, WRITES, Lane, build
from standfast.errors import lanes
from standfast.journal import questions
from standfast.protocols.checkpoints.rules import checkpoint as cp

WAY = [
    (cp.BEFORE, cp.READY),
    (cp.STARTED, cp.IN_PROGRESS),
    (cp.TESTED, cp.COMPLETE),
    (cp.PRE_PR, cp.READY),
    (cp.PRE_PR, cp.COMPLETE),
]
GITS = 103  # more than twice as many when each looked at the configuration first


@pytest.fixture
def lane(world: Path, tmp_path: Path) -> Lane:
    return build(tmp_path)


# From nothing to merged.


@pytest.mark.req("CKP-03", "CKP-13")
def test_lane_is_merged_and_leaves_nothing_but_its_commit_and_its_records(lane: Lane) -> None:
    before = lane.git("rev-parse", "main")

    done = lane.run(WRITES, "--test", "grep -q one made.txt")

    assert done.returncode == 0, done.stderr
    assert lane.history() == WAY
    assert lane.show("main", "made.txt") == "one"
    assert lane.git("log", "--format=%s", f"{before}..main") == "feat(P1-SL-1): Do it."
    assert not lane.tree.exists()
    assert lane.git("branch", "--list", BRANCH) == ""
    assert (lane.repo / "made.txt").read_text(encoding="utf-8") == "one\n"
    assert lane.git("status", "--porcelain") == ""
    assert "Done: r1/P1/SL-1, merged into main as" in done.stdout


def test_a_lane_starts_few_gits_and_lists_the_configuration_for_few_of_them(
    lane: Lane, tmp_path: Path
) -> None:
    log, program = tmp_path / "gits", tmp_path / "bin" / "git"
    program.parent.mkdir()
    real = shutil.which("git")
    program.write_text(f'#!/bin/sh\necho "$1" >> {log}\nexec {real} "$@"\n', encoding="utf-8")
    program.chmod(0o755)

    done = lane.run(WRITES, PATH=f"{program.parent}{os.pathsep}{os.environ['PATH']}")

    verbs = log.read_text(encoding="utf-8").split()
    assert done.returncode == 0, done.stderr
    assert len(verbs) <= GITS, verbs
    assert verbs.count("config") <= len(verbs) / 4


@pytest.mark.req("CKP-02", "CKP-03", "CKP-10")
def test_records_and_log_tell_commits_commands_and_exit_codes(lane: Lane) -> None:
    base = lane.git("rev-parse", "main")

    lane.run(WRITES, "--test", "true")

    records, head = lane.records(), lane.git("rev-parse", "main")
    assert records[cp.BEFORE]["base_sha"] == base
    assert records[cp.STARTED]["head_sha"] == base
    tested = records[cp.TESTED]
    assert (tested["test_command"], tested["exit_code"], tested["head_sha"]) == ("true", 0, head)
    last = records[cp.PRE_PR]
    assert (last["head_sha"], last["commits"], last["target_branch"]) == (head, [head], "main")
    assert {each["worktree_path"] for each in records.values()} == {str(lane.tree)}
    assert [each["event"] for each in lane.log()] == [
        "lane_start",
        "task_start",
        "task_done",
        "test_start",
        "test_done",
        "lane_ready_to_merge",
        "merge_start",
        "merge_done",
    ]


@pytest.mark.req("CKP-04", "CKP-12")
def test_lane_that_is_done_is_not_done_again_however_often_it_is_called(lane: Lane) -> None:
    lane.run(WRITES)
    head, history = lane.git("rev-parse", "main"), lane.history()

    again = [lane.run(WRITES), lane.resume(), lane.call("run", *LANE, "--resume")]

    assert [each.returncode for each in again] == [0, 0, 0]
    assert lane.git("rev-parse", "main") == head
    assert lane.history() == history


def test_tasks_are_done_in_turn_each_with_its_prompt_and_its_commit(lane: Lane) -> None:
    tasks = ("--task", lane.task("one", "First.\n"), "--task", lane.task("two", "Second.\n"))
    runner = 'echo "$STANDFAST_TASK $STANDFAST_ATTEMPT" >> made.txt; head -n1 >> made.txt'

    done = lane.run(runner, *tasks)

    assert done.returncode == 0, done.stderr
    assert lane.show("main", "made.txt").splitlines() == ["one 1", "First.", "two 1", "Second."]
    subjects = lane.git("log", "--format=%s", "-n2", "main").splitlines()
    assert subjects == ["feat(P1-SL-1): Second.", "feat(P1-SL-1): First."]


def test_commits_of_the_agent_itself_are_merged_as_they_are(lane: Lane) -> None:
    runner = "echo x > mine; git add mine; git -c commit.gpgsign=false commit -qm 'my own words'"

    lane.run(runner)

    assert lane.git("log", "--format=%s", "-n1", "main") == "my own words"


def test_agent_that_changes_nothing_is_done_and_nothing_is_merged(lane: Lane) -> None:
    before = lane.git("rev-parse", "main")

    done = lane.run("true")

    assert done.returncode == 0
    assert lane.git("rev-parse", "main") == before
    assert "main has all of it already" in done.stdout


def test_no_ff_makes_a_merge_commit(lane: Lane) -> None:
    base = lane.git("rev-parse", "main")

    lane.run(WRITES, "--merge", "no-ff")

    parents = lane.git("log", "-n1", "--format=%P", "main").split()
    assert parents[0] == base
    assert len(parents) == 2
    assert lane.show("main", "made.txt") == "one"


def test_merge_none_leaves_branch_and_worktree(lane: Lane) -> None:
    before = lane.git("rev-parse", "main")

    done = lane.run(WRITES, "--merge", "none")

    assert done.returncode == 0
    assert lane.git("rev-parse", "main") == before
    assert lane.show(BRANCH, "made.txt") == "one"
    assert lane.tree.is_dir()


def test_base_that_nobody_has_checked_out_moves_too(lane: Lane) -> None:
    lane.git("branch", "dev")

    lane.run(WRITES, "--base", "dev")

    assert lane.show("dev", "made.txt") == "one"
    assert not (lane.repo / "made.txt").exists()


def test_run_from_inside_another_worktree_uses_the_main_root(lane: Lane, tmp_path: Path) -> None:
    other = tmp_path / "other"
    lane.git("worktree", "add", "-q", "-b", "side", str(other))
    argv = lane.argv(
        "run", *LANE, "--runner", WRITES, "--task", lane.task("one"), "--merge", "none"
    )
    done = subprocess.run(argv, cwd=other, capture_output=True, encoding="utf-8", check=False)

    assert done.returncode == 0, done.stderr
    assert lane.tree.is_dir()
    assert lane.git("status", "--porcelain") == ""


def test_run_without_an_id_makes_one_up(lane: Lane) -> None:
    words = ("--phase", "P1", "--lane", "SL-1", "--runner", "true", "--task", lane.task("one"))

    done = lane.call("run", *words, "--json")

    assert json.loads(done.stdout)["checkpoint"]["run_id"].startswith("P1-SL-1-20")


# The base moves meanwhile.


@pytest.mark.req("CKP-04", "CKP-11")
def test_lane_is_brought_up_to_date_with_a_base_that_moved(lane: Lane) -> None:
    moves = f"cd '{lane.repo}' && echo b > b.txt && git add b.txt && git commit -qm other"

    done = lane.run(f"{WRITES}; {moves}")

    assert done.returncode == 0, done.stderr
    assert lane.git("log", "--format=%s", "main").splitlines() == [
        "feat(P1-SL-1): Do it.",
        "other",
        "first",
    ]


@pytest.mark.req("CKP-09")
def test_conflict_blocks_the_lane_names_the_file_and_is_resumable(lane: Lane) -> None:
    moves = f"cd '{lane.repo}' && echo theirs > a.txt && git commit -qam other"

    done = lane.run(f"echo ours > a.txt; {moves}")

    assert done.returncode == lanes.LaneBlocked.exit_status
    assert "conflicts with main in a.txt" in done.stderr
    assert lane.history()[-1] == (cp.PRE_PR, cp.BLOCKED)
    assert lane.git("log", "--format=%s", "-n1", "main") == "other"
    assert "Current stage: pre_pr (blocked)" in done.stdout

    (lane.tree / "a.txt").write_text("theirs\nours\n", encoding="utf-8")
    lane.git("commit", "-qam", "agree", cwd=lane.tree)
    lane.git("rebase", "-q", "-X", "theirs", "main", cwd=lane.tree)
    assert lane.resume().returncode == 0
    assert lane.show("main", "a.txt") == "theirs\nours"


@pytest.mark.req("CKP-09")
def test_changes_of_a_person_in_the_base_are_never_written_over(lane: Lane) -> None:
    (lane.repo / "a.txt").write_text("mine, not committed\n", encoding="utf-8")

    done = lane.run("echo ours > a.txt")

    assert done.returncode == lanes.LaneBlocked.exit_status
    assert (lane.repo / "a.txt").read_text(encoding="utf-8") == "mine, not committed\n"
    assert "a.txt" in done.stderr

    lane.git("checkout", "-q", "a.txt")
    assert lane.resume().returncode == 0
    assert lane.show("main", "a.txt") == "ours"


def test_other_changes_of_a_person_in_the_base_stay(lane: Lane) -> None:
    (lane.repo / "a.txt").write_text("mine\n", encoding="utf-8")
    (lane.repo / "new").write_text("mine\n", encoding="utf-8")

    assert lane.run(WRITES).returncode == 0

    assert (lane.repo / "a.txt").read_text(encoding="utf-8") == "mine\n"
    assert lane.git("status", "--porcelain").split() == ["M", "a.txt", "??", "new"]


@pytest.mark.req("CKP-11", "EFF-02")
def test_lane_that_somebody_squashed_into_the_base_is_not_merged_again(lane: Lane) -> None:
    lane.git("branch", "dev")
    tasks = ("--task", lane.task("one"), "--task", lane.task("two"))
    squash = (
        f"cd '{lane.repo}' && git checkout -q dev && git merge -q --squash {BRANCH}"
        " && git commit -qm squashed && git checkout -q main"
    )

    done = lane.run(WRITES, *tasks, "--base", "dev", "--test", squash)

    assert done.returncode == 0, done.stderr
    assert "dev has all of it already" in done.stdout
    assert lane.git("log", "--format=%s", "dev").splitlines() == ["squashed", "first"]


# Failures and retries.


@pytest.mark.req("CKP-08")
def test_two_retries_are_three_runs_and_each_is_told_what_went_wrong(lane: Lane) -> None:
    runner = (
        'printf "%s %s\\n" "$STANDFAST_ATTEMPT" "$STANDFAST_FAILURE_CONTEXT" >> ../../../../runs;'
        " cat >> ../../../../prompts; echo oh no >&2; exit 3"
    )

    done = lane.run(runner, "--retries", "2")

    runs = (lane.repo / "runs").read_text(encoding="utf-8").splitlines()
    assert [line.split()[0] for line in runs] == ["1", "2", "3"]
    told = [json.loads(line.split(" ", 1)[1]) for line in runs]
    assert told[0] == []
    assert [each for each in told[2] if each.startswith("Attempt")] == [
        told[1][0],
        told[2][len(told[1])],
    ]
    assert told[1][0].startswith("Attempt 1: ")
    assert "exit status 3: oh no" in told[1][0]
    assert len(told[1]) == 1 + 3  # lane_start, task_start, task_failed
    assert "Attempt 2: " in (lane.repo / "prompts").read_text(encoding="utf-8")
    assert done.returncode == 1
    assert lane.history() == [
        *WAY[:2],
        (cp.RETRY, cp.RETRYING),
        (cp.RETRY, cp.RETRYING),
        (cp.STARTED, cp.FAILED),
        (cp.RETRY, cp.FAILED),
    ]
    last = lane.records()[cp.RETRY]
    assert (last["retry_attempt"], last["max_retries"]) == (2, 2)
    assert [each[:10] for each in last["failure_context"] if each.startswith("Attempt")] == [
        "Attempt 1:", "Attempt 2:", "Attempt 3:",
    ]  # fmt: skip
    assert "No retry is left: a person must look at it" in done.stdout


@pytest.mark.req("CKP-08", "CKP-09")
def test_tests_that_fail_once_are_mended_by_the_next_run(lane: Lane) -> None:
    runner = (
        'if [ "$STANDFAST_ATTEMPT" = 2 ]; then echo good > made.txt; else echo bad > made.txt; fi'
    )

    done = lane.run(runner, "--retries", "1", "--test", "grep good made.txt")

    assert done.returncode == 0, done.stderr
    assert lane.history() == [
        *WAY[:2],
        (cp.TESTED, cp.FAILED),
        (cp.RETRY, cp.RETRYING),
        *WAY[2:],
    ]
    assert lane.show("main", "made.txt") == "good"
    first = lane.records()[cp.RETRY]["failure_context"][0]
    assert first.startswith("Attempt 1: grep good made.txt: exit status 1")


@pytest.mark.req("CKP-09", "CKP-14")
def test_tests_that_failed_store_their_command_and_are_run_again_after_a_fix(lane: Lane) -> None:
    done = lane.run("echo bad > made.txt", "--test", "grep good made.txt")

    assert done.returncode == 1
    tested = lane.records()[cp.TESTED]
    assert (tested["status"], tested["test_command"], tested["exit_code"]) == (
        cp.FAILED,
        "grep good made.txt",
        1,
    )
    assert "--to before_lane_start" in done.stdout

    assert lane.resume().returncode == 1  # the same again: nothing was mended
    (lane.tree / "made.txt").write_text("good\n", encoding="utf-8")
    again = lane.resume()

    assert again.returncode == 0, again.stderr
    assert lane.show("main", "made.txt") == "good"


@pytest.mark.req("CKP-09")
def test_agent_that_failed_for_want_of_network_is_run_again_by_resume(lane: Lane) -> None:
    runner = 'test -e ../../../../net || { echo "could not resolve host" >&2; exit 7; }; ' + WRITES

    done = lane.run(runner)

    started = lane.records()[cp.STARTED]
    assert (started["status"], started["last_command"], started["exit_code"]) == (
        cp.FAILED,
        runner,
        7,
    )
    assert done.returncode == 1
    assert "could not resolve host" in done.stderr
    assert lane.resume().returncode == 1

    (lane.repo / "net").touch()
    assert lane.resume().returncode == 0
    assert lane.show("main", "made.txt") == "one"


@pytest.mark.parametrize(
    ("runner", "words"),
    [
        ("git checkout -q --detach", "on no branch"),
        ("git checkout -q -b elsewhere", "on elsewhere"),
        ('cd / && rm -rf "$STANDFAST_WORKTREE"', "gone when it ended"),
        ("echo x > a.txt; git stash -q; echo y > a.txt; git commit -qam y; git stash pop -q",
         "exit status 1"),
        (("git commit -q --allow-empty -m x; git checkout -q -b o HEAD~1; echo 1 > a.txt;"
         " git commit -qam o; git checkout -q -; echo 2 > a.txt; git commit -qam t;"
         " git merge -q o || true"), "is unfinished in the worktree"),
    ],
    ids=["detached", "other-branch", "deleted-itself", "stash-conflict", "merge-conflict"],
)  # fmt: skip
def test_agent_that_leaves_its_worktree_in_disorder_has_failed(
    lane: Lane, runner: str, words: str
) -> None:
    done = lane.run(runner)

    assert done.returncode == 1
    assert words in done.stderr
    assert lane.git("rev-list", "--count", "main") == "1"


@pytest.mark.req("CKP-11")
def test_agent_that_deleted_its_worktree_gets_it_back_for_the_next_run(lane: Lane) -> None:
    runner = (
        'if [ "$STANDFAST_ATTEMPT" = 1 ]; then cd / && rm -rf "$STANDFAST_WORKTREE"; else'
        f" {WRITES}; fi"
    )

    done = lane.run(runner, "--retries", "1")

    assert done.returncode == 0, done.stderr
    assert lane.show("main", "made.txt") == "one"
    assert "worktree_recovery" in [each["event"] for each in lane.log()]


def test_agent_that_never_ends_is_ended_and_has_failed(lane: Lane) -> None:
    done = lane.run("echo begun; exec sleep 1000", "--time", "1s")

    assert done.returncode == 1
    assert "its time was up" in done.stderr


@pytest.mark.req("CKP-08", "EFF-04")
def test_agent_that_a_person_ended_is_not_tried_again(lane: Lane, tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    words = ("run", *LANE, "--runner", f"echo x > '{fifo}'; sleep 1000", "--retries", "2",
             "--task", lane.task("one"))  # fmt: skip
    with subprocess.Popen(lane.argv(*words), cwd=lane.repo, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as process:  # fmt: skip
        fifo.read_text(encoding="utf-8")
        assert lane.standfast("reap").returncode == 0

    assert process.returncode == 106
    assert lane.history() == WAY[:2], "nothing has failed"


# What is gone is said to be gone, and made again.


@pytest.mark.req("CKP-04", "CKP-11")
def test_worktree_and_branch_that_are_gone_are_made_again_from_what_is_known(lane: Lane) -> None:
    lane.run(WRITES, "--test", "test -e ../../../../go")
    head = lane.git("rev-parse", BRANCH)
    shutil.rmtree(lane.tree)
    lane.git("worktree", "prune")
    lane.git("branch", "-q", "-D", BRANCH)
    (lane.repo / "go").touch()

    done = lane.resume()

    assert done.returncode == 0, done.stderr
    assert lane.git("rev-parse", "main") == head
    assert "worktree_recovery" in [each["event"] for each in lane.log()]


@pytest.mark.req("CKP-04")
def test_base_that_is_gone_is_said_to_be_gone(lane: Lane) -> None:
    lane.git("branch", "dev")

    done = lane.run(WRITES, "--base", "dev", "--test", "git branch -q -D dev")

    assert done.returncode == lanes.LaneBlocked.exit_status
    assert "there is no branch `dev`" in done.stderr
    lane.git("branch", "dev", "main")
    assert lane.resume().returncode == 0
    assert lane.show("dev", "made.txt") == "one"


@pytest.mark.req("CKP-05")
def test_rollback_of_a_lane_of_ours_and_then_resume_do_it_anew(lane: Lane) -> None:
    lane.run(f"{WRITES}; echo run >> ../../../../runs", "--test", "test -e ../../../../go")
    rolled = lane.call("rollback", *LANE, "--to", "before_lane_start")
    assert rolled.returncode == 0, rolled.stderr
    (lane.repo / "go").touch()

    done = lane.resume()

    assert done.returncode == 0, done.stderr
    assert (lane.repo / "runs").read_text(encoding="utf-8") == "run\nrun\n"
    assert lane.show("main", "made.txt") == "one"
    assert lane.git("log", "--format=%s", "main").splitlines() == ["feat(P1-SL-1): Do it.", "first"]


@pytest.mark.req("CKP-05")
def test_number_of_a_merge_is_used_once_also_after_a_rollback(lane: Lane) -> None:
    (lane.repo / "made.txt").write_text("in the way", encoding="utf-8")
    assert lane.run().returncode == lanes.LaneBlocked.exit_status
    rolled = lane.call("rollback", *LANE, "--to", "before_lane_start")
    assert rolled.returncode == 0, rolled.stderr
    (lane.repo / "made.txt").unlink()
    assert lane.resume().returncode == 0

    journal = lane.journal()
    try:
        steps = questions.events(journal, questions.Filter(kind="lane.step"))
        told = [json.loads(each.payload) for each in steps]
    finally:
        journal.close()
    assert [each["n"] for each in told if each["step"] == "merge"] == [1, 2]


def test_rollback_of_a_merged_lane_is_refused_with_the_reason(lane: Lane) -> None:
    lane.run(WRITES)

    done = lane.call("rollback", *LANE)

    assert done.returncode == lanes.RollbackRefused.exit_status
    assert "the lane is merged: main has all of it" in done.stderr


# The worktree is put away only when nothing in it can be lost.


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    "leave", ["echo x > kept.log", "echo x > new", "echo x > a.txt", "git init -q inner"]
)
def test_worktree_with_something_in_it_stays(lane: Lane, leave: str) -> None:
    done = lane.run(WRITES, "--test", leave)

    assert done.returncode == 0, done.stderr
    assert lane.tree.is_dir()
    assert "the worktree stays" in done.stderr


# What is refused, clearly, with nothing done.


def refused(lane: Lane, done: subprocess.CompletedProcess[str], kind: type, words: str) -> None:
    assert done.returncode == kind.exit_status, done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert not lane.tree.exists()
    assert lane.git("worktree", "list").count("\n") == 0


@pytest.mark.req("CKP-13")
def test_repository_without_a_commit_is_refused(lane: Lane, tmp_path: Path) -> None:
    shutil.rmtree(lane.repo / ".git")
    lane.git("init", "-q", "-b", "main")

    refused(lane, lane.run(), lanes.LaneBlocked, "no commit yet")


def test_detached_head_needs_a_base(lane: Lane) -> None:
    lane.git("checkout", "-q", "--detach")

    refused(lane, lane.run(), lanes.LaneBlocked, "Name one with `--base`")
    assert lane.run(WRITES, "--base", "main").returncode == 0


def test_missing_base_is_refused(lane: Lane) -> None:
    done = lane.run(WRITES, "--base", "nowhere")

    refused(lane, done, lanes.LaneBlocked, "there is no branch `nowhere`")


def test_branch_that_exists_is_not_taken(lane: Lane) -> None:
    lane.git("branch", BRANCH)

    refused(lane, lane.run(), lanes.BranchTaken, f"a branch `{BRANCH}` already")
    assert lane.run(WRITES, "--branch", "other").returncode == 0


def test_folder_that_is_in_the_way_is_not_touched(lane: Lane) -> None:
    lane.tree.mkdir(parents=True)
    (lane.tree / "mine").touch()

    done = lane.run()

    assert done.returncode == lanes.InTheWay.exit_status
    assert os.listdir(lane.tree) == ["mine"]
    assert lane.git("branch", "--list", BRANCH) == ""


def test_paths_of_any_name_are_committed_and_merged(lane: Lane) -> None:
    names = ["with space", "line\nbreak", "qu'ote \"$x", "-dash", "ünï"]
    code = f"for name in {names!r}: open(name, 'w', encoding='utf-8').write(name)"
    (lane.home / "agent.py").write_text(code, encoding="utf-8")

    done = lane.run(f"'{sys.executable}' '{lane.home / 'agent.py'}'")

    assert done.returncode == 0, done.stderr
    assert [(lane.repo / name).read_text(encoding="utf-8") for name in names] == names


def test_lane_is_the_lane_that_was_begun(lane: Lane) -> None:
    lane.run("exit 1", "--test", "true")

    done = lane.run("exit 2", "--test", "false")

    assert done.returncode == lanes.LaneChanged.exit_status
    assert "another runner, test" in done.stderr


def test_secret_in_a_command_is_refused_and_in_a_task_left_out(lane: Lane) -> None:
    key = "sk-ant-" + "api03-" + "a1B2" * 20
    done = lane.run(f"KEY={key} agent")
    assert done.returncode == 2
    assert key not in done.stderr

    done = lane.run("cat > made.txt", "--task", lane.task("t", f"Use {key} for it.\n"))
    assert done.returncode == 0
    assert "warning: task t holds what looks like a secret" in done.stderr
    assert key not in lane.show("main", "made.txt")
    assert "Use " in lane.show("main", "made.txt")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--task", "/nowhere.md"), "no such file"),
        (("--retries", "-1"), "retries"),
        (("--time", "soon"), "no time such as"),
        (("--output", "a/b.md"), "output"),
        (("--output", "a.md=maybe"), "critical or optional"),
    ],
)
def test_wrong_calls_are_refused(lane: Lane, words: tuple[str, ...], said: str) -> None:
    done = lane.run(WRITES, *words)

    assert done.returncode in (2, 10)
    assert said in done.stderr
    assert not lane.tree.exists()


def test_new_lane_needs_a_task_and_resume_needs_an_id(lane: Lane) -> None:
    assert "needs --runner and --task" in lane.call("run", *LANE).stderr
    assert "needs --run-id" in lane.call("resume", "--phase", "P1").stderr


def test_lane_that_others_work_on_is_not_run_by_us(lane: Lane) -> None:
    words = [sys.executable, "-m", "standfast", "checkpoint", "write", *LANE]
    subprocess.run(
        [*words, "--stage", "before_lane_start", "--status", "ready"],
        cwd=lane.repo, check=True, capture_output=True,
    )  # fmt: skip

    done = lane.run()

    assert done.returncode == lanes.LaneChanged.exit_status
    assert "another tool's" in done.stderr


@pytest.mark.req("CKP-11")
def test_second_caller_of_a_lane_leaves_and_says_who_has_it(lane: Lane, tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    words = ("run", *LANE, "--runner", f"echo x > '{fifo}'; cat '{fifo}' > /dev/null",
             "--task", lane.task("one"))  # fmt: skip
    with subprocess.Popen(lane.argv(*words), cwd=lane.repo, stderr=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL) as first:  # fmt: skip
        fifo.read_text(encoding="utf-8")  # the agent runs
        second = [lane.resume(), lane.call("rollback", *LANE)]
        fifo.write_text("go on\n", encoding="utf-8")
    assert [each.returncode for each in second] == [lanes.LaneBusy.exit_status] * 2
    assert str(first.pid) in second[0].stderr
    assert first.returncode == 0


# What `status` says of lanes.


def test_status_tells_lanes_that_are_at_work_stopped_or_in_need_of_somebody(
    lane: Lane, tmp_path: Path
) -> None:
    lane.run("echo bad > made.txt; echo oh >&2; exit 3", "--retries", "1")
    said = lane.standfast("status").stdout
    assert "NEEDS YOU  r1/P1/SL-1  failed, run 2 of 2: " in said
    shown = json.loads(lane.standfast("status", "--json").stdout)
    assert shown["lanes"][0]["state"] == "needs_you"
    assert any("r1/P1/SL-1" in each["problem"] for each in shown["needs_you"])

    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    other = ("--run-id", "r2", "--phase", "P1", "--lane", "SL-2")
    runner = f"echo x > '{fifo}'; cat '{fifo}' > /dev/null"
    words = ("run", *other, "--runner", runner, "--task", lane.task("two"))
    with subprocess.Popen(lane.argv(*words), cwd=lane.repo, stderr=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL) as process:  # fmt: skip
        fifo.read_text(encoding="utf-8")
        running = lane.standfast("status").stdout
        os.kill(process.pid, signal.SIGKILL)
    left = lane.standfast("status").stdout
    fifo.write_text("go on\n", encoding="utf-8")
    done = lane.call("resume", *other)

    assert "RUNNING  r2/P1/SL-2  let the agent work (two)" in running
    assert "RUNNING  r2/P1/SL-2  let the agent work (two)" in left  # its agent works on
    assert done.returncode == 0, done.stderr
    assert "SL-2" not in lane.standfast("status").stdout


# Several lanes at once.


@pytest.mark.req("CKP-11")
def test_lanes_that_land_at_once_land_in_turn_and_all_of_them(lane: Lane) -> None:
    """Each changes a file of its own, and the base moves under all the others."""
    names = [f"SL-{number}" for number in range(1, 5)]
    calls = [
        lane.argv("run", "--run-id", "r1", "--phase", "P1", "--lane", name, "--task",
                  lane.task(name), "--runner", 'echo made > "$STANDFAST_LANE"')
        for name in names
    ]  # fmt: skip
    begun = [subprocess.Popen(call, cwd=lane.repo, stderr=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL) for call in calls]  # fmt: skip

    assert [each.wait(timeout=120) for each in begun] == [0] * len(names)

    assert lane.git("rev-list", "--count", "main") == str(1 + len(names))
    assert {name: lane.show("main", name) for name in names} == dict.fromkeys(names, "made")
    assert lane.git("status", "--porcelain") == ""
    assert lane.git("worktree", "list").count("\n") == 0


@pytest.mark.req("CKP-06")
def test_prompt_of_a_lane_that_is_resumed_and_fails_is_printed_once(lane: Lane) -> None:
    begun = lane.run("false")
    again = lane.resume()

    for done in (begun, again):
        assert done.returncode != 0
        for words in ("Current stage: ", "  Resume: ", "and names where."):
            assert done.stdout.count(words) == 1, done.stdout


@pytest.mark.req("CKP-06")
def test_only_what_is_another_now_is_told_after_a_resume_that_fails(lane: Lane) -> None:
    mended = lane.home / "mended"
    lane.run(f"test -e '{mended}' && {WRITES}", "--task", lane.task("one"), "--test", "false")
    mended.touch()
    done = lane.resume()

    assert done.stdout.count("  Resume: ") == 1, done.stdout
    assert done.stdout.endswith("then resume runs them again.\n"), done.stdout
