"""What people are told of runs that went another way than they thought: from outside."""

import fcntl
import json
import os
import pty
import struct
import subprocess
import termios
from contextlib import suppress
from pathlib import Path

import pytest

from run_worlds import Night, night


@pytest.fixture
def world(tmp_path: Path) -> Night:
    return night(tmp_path)


def last_line(said: str) -> list[str]:
    """The words of the call that a run named last."""
    return said.splitlines()[-1].partition("standfast ")[2].split()


@pytest.mark.req("RUN-10")
def test_lane_in_which_nothing_changed_is_told_as_such(world: Night) -> None:
    """A client that may not edit ends as if all were well."""
    world.agent('test "$STANDFAST_LANE" = b || exit 0')
    plan = world.plan("lanes: {a: Do a., b: Do b.}\n")
    done = world.call("run", plan)
    assert done.returncode == 0, done.stderr
    assert [line.split(maxsplit=2) for line in done.stdout.splitlines()[1:]] == [
        ["done", "P1/a", "no agent changed anything"]
    ]
    shown = json.loads(world.call("status", "plan", "--json").stdout)["lanes"]
    assert {each["lane"]: each["last"] for each in shown} == {
        "a": "no agent changed anything",
        "b": "",
    }
    assert "no agent changed anything" in world.call("resume", "plan").stdout


@pytest.mark.req("RUN-03")
def test_files_that_a_lane_changed_and_does_not_own_are_told(world: Night) -> None:
    world.agent('mkdir -p "src/$STANDFAST_LANE"; touch "src/$STANDFAST_LANE/new.py"')
    plan = world.plan("lanes: {a: {task: Do a., owns: [src/a, '*-a.txt']}, "
                      "b: {task: Do b., owns: src/b/*.py}}\n")  # fmt: skip
    done = world.call("run", plan)

    assert done.returncode == 0, done.stderr
    told = "it changed files that are not its own: plan-b.txt"
    assert [line.split(maxsplit=2) for line in done.stdout.splitlines()[1:]] == [
        ["done", "P1/b", told]
    ]
    assert told in world.call("status", "plan").stdout


def test_lane_that_needs_somebody_says_what_helps(world: Night) -> None:
    (world.repo / "plan-a.txt").write_text("mine\n", encoding="utf-8")
    plan = world.plan("lanes: {a: Do a.}\n")
    assert "Put your changes there away" in world.call("run", plan).stdout
    again = world.call("resume", "--json")
    (told,) = json.loads(again.stdout.splitlines()[-1])["lanes"]
    assert told["remedy"].startswith("Put your changes there away")
    assert (world.repo / "plan-a.txt").read_text(encoding="utf-8") == "mine\n"


CRITIC = """\
if test "$STANDFAST_ROLE" = critic; then
    mkdir -p "$STANDFAST_OUTPUTS"
    score=$(cat {score})
    {{ echo 'More of it.'; echo '```json'; echo '{{'
    for each in completeness internal_consistency methodological_rigor evidence actionability; do
        echo "\\"$each\\": $score,"
    done
    echo "\\"traceability\\": $score"; echo '}}'; echo '```'; echo '<!-- AGENT_COMPLETE -->'
    }} > "$STANDFAST_OUTPUTS/$STANDFAST_TASK-scores.md"
    exit 0
fi
"""


@pytest.mark.req("RUN-04")
def test_run_that_a_gate_holds_names_the_call_that_goes_on(world: Night) -> None:
    score = world.top / "score"
    score.write_text("0.5", encoding="utf-8")
    world.agent(CRITIC.format(score=score))
    gates = "gates: {QG-1: {role: critic, pass: 0.9, iterations: 1}}"
    plan = world.plan(f"phases: {{P1: {{{gates}, lanes: {{a: Do a.}}}}}}\n")
    held = world.call("run", plan)
    assert held.returncode == 115, held.stderr
    assert "one iteration more" in held.stdout
    assert "standfast status plan" in world.call("status").stdout

    looked = world.call("resume")  # unasked it stays held, and says how to ask
    assert looked.returncode == 115
    assert "held by a gate" in looked.stdout
    score.write_text("0.95", encoding="utf-8")
    asked = world.call(*last_line(held.stdout))
    assert asked.returncode == 0, asked.stdout
    assert "tried once more, as asked" in asked.stdout
    assert world.merged().total() == 2


def test_last_words_of_an_agent_do_not_speak_to_the_terminal(world: Night) -> None:
    world.agent(r"printf '\033]0;title\007\033[2Jred\n'; exit 3")
    failed = world.call("run", world.plan("lanes: {a: Do a.}\n"))
    assert failed.returncode == 1
    why = next(line for line in failed.stdout.splitlines() if line.startswith("Why: "))
    shown = world.call(*last_line(why))
    assert "\\x1b]0;title\\x07\\x1b[2Jred" in shown.stdout
    assert "\x1b" not in shown.stdout
    assert json.loads(world.call("status", "plan", "--json").stdout)["outcome"] == "failed"


def test_run_that_was_taken_back_is_done_again_only_when_it_is_named(world: Night) -> None:
    flag = world.top / "fails"
    flag.touch()
    world.agent(f'test "$STANDFAST_LANE" = a || test ! -e {flag} || exit 3')
    plan = world.plan("lanes: {a: Do a., b: {task: Do b., after: a}}\n")
    assert world.call("run", plan).returncode == 1
    assert world.call("rollback", "plan").returncode == 1  # a is merged, and stays
    flag.unlink()
    paid = world.paid()
    assert world.call("resume").stdout == "Nothing was left in the middle.\n"
    assert world.paid() == paid
    assert "STOPPED" in world.call("status").stdout
    assert world.call("resume", "plan").returncode == 0
    assert world.merged().total() == 2


def test_run_whose_agent_lives_on_is_not_forgotten(world: Night) -> None:
    world.leave("lanes: {a: Do a.}\n")
    refused = world.call("forget", "plan")
    assert refused.returncode == 118
    assert "still runs" in refused.stderr
    assert world.call("stop", "plan").returncode == 0
    assert world.call("forget", "plan").returncode == 0


def in_terminal(world: Night, plan: str, columns: int, **env: str) -> str:
    """A run in a terminal that is so wide; what it showed."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    begun = subprocess.Popen(world.argv("run", plan), cwd=world.repo, stdin=theirs, stdout=theirs,
                             stderr=theirs, env={**world.environ, **env})  # fmt: skip
    os.close(theirs)
    shown = b""
    with suppress(OSError):  # its end, as Linux tells it
        while data := os.read(ours, 65536):
            shown += data
    os.close(ours)
    assert begun.wait() == 0
    return shown.decode()


@pytest.mark.req("RUN-05")
def test_terminal_that_cannot_redraw_gets_lines(world: Night) -> None:
    plan = world.plan("lanes: {a: Do a.}\n")
    assert "task_start task" in in_terminal(world, plan, 80, TERM="dumb")


@pytest.mark.req("RUN-05")
def test_narrow_terminal_still_names_its_lanes(world: Night) -> None:
    plan = world.plan("lanes: {schema: Do a.}\n")
    shown = in_terminal(world, plan, 24, TERM="xterm", NO_COLOR="1")
    assert "P1/schema" in shown
    assert "done" in shown


def test_path_that_nobody_could_read_is_refused_before_anything_is_told(world: Night) -> None:
    odd = world.top / "new\nline"
    subprocess.run(["git", "clone", "-q", str(world.repo), str(odd)], check=True)
    there = Night(top=world.top, repo=odd)
    refused = there.call("run", there.plan("lanes: {a: Do a.}\n"))
    assert refused.returncode == 114
    assert "control or invisible character" in refused.stderr
    assert there.call("resume").stdout == "Nothing was left in the middle.\n"


def test_journal_that_a_full_disk_kept_from_being_made_leaves_nothing_to_resume(
    world: Night,
) -> None:
    folder = world.repo / ".git" / "standfast"
    folder.mkdir()
    (folder / "journal.db").touch()
    done = world.call("resume")
    assert (done.returncode, done.stdout) == (0, "Nothing was left in the middle.\n"), done.stderr


def test_work_that_could_not_be_committed_is_told_at_the_end(world: Night) -> None:
    """A repository inside is no part of the one around it: its files are in no commit of ours."""
    world.agent("git init -q inner && echo x > inner/file")
    done = world.call("run", world.plan("lanes: {a: Do a.}\n"))
    assert done.returncode == 0, done.stderr
    assert "its worktree stays" in done.stdout
    assert "inner/" in done.stdout
    assert (world.repo / ".worktrees/plan/P1/a/inner/file").exists()


@pytest.mark.req("RUN-11")
@pytest.mark.parametrize(("lanes", "files"), [("abc", 750), ("ab", 1500)])
def test_conflicts_in_many_files_are_recorded_and_a_few_of_them_named(
    world: Night, lanes: str, files: int
) -> None:
    """All names of several lanes, or of one, are more than a single event may hold."""
    name = f"f%04d-{'x' * 190}"
    meet = f"touch {world.top}/at-$STANDFAST_LANE; until [ $(ls {world.top}/at-* | wc -l) = "
    world.agent(
        f"{meet}{len(lanes)} ]; do sleep 0.02; done\n"
        f"seq {files} | awk '{{ f = sprintf(\"{name}\", $1); print l > f; close(f) }}'"
        ' l="$STANDFAST_LANE"'
    )
    plan = ", ".join(f"{lane}: Do it." for lane in lanes)
    done = world.call("run", world.plan(f"lanes: {{{plan}}}\n"), "--run-id", "r")

    assert done.returncode == 115, done.stderr[-2000:]
    shown = world.call("checkpoint", "list", "--run-id", "r", "--json").stdout
    assert shown.count(f"and {files - 5} more") == len(lanes) - 1
    assert sorted(world.lanes("r").values()) == ["done", *["needs_you"] * (len(lanes) - 1)]
    assert len(done.stdout) < 10_000
