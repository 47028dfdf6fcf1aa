"""Runs from outside: a plan taken to merged work, stopped, resumed, taken back."""

import json
import os
import pty
import signal
import subprocess
import termios
from pathlib import Path

import pytest

from effect_desk import until
from run_worlds import Night, night
from standfast import ids
from standfast.testing.run_demo import plan as demo_plan

DIAMOND = """\
run: auth
lanes:
  schema: Add the table.
  api:
    after: schema
    task: Build login.
  mail:
    after: schema
    task: Send mail.
  docs:
    after: [api, mail]
    task: Document it.
"""


@pytest.fixture
def world(tmp_path: Path) -> Night:
    return night(tmp_path)


@pytest.mark.req("RUN-01", "RUN-03", "RUN-04")
def test_plan_is_taken_to_merged_work_wave_by_wave(world: Night) -> None:
    done = world.call("run", world.plan(DIAMOND))

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "Done: auth, 4 done"
    assert world.paid() == {f"{lane}/task": 1 for lane in ("schema", "api", "mail", "docs")}
    assert len(world.merged()) == 4
    assert set(world.lanes("auth").values()) == {"done"}
    order = [line.partition("/")[0] for line in world.ledger.read_text("utf-8").splitlines()]
    assert (order[0], order[-1]) == ("schema", "docs")
    assert world.git("status", "--porcelain") == ""
    assert world.git("branch", "--format=%(refname:short)") == "main"


def test_run_that_is_done_is_not_done_again(world: Night) -> None:
    plan = world.plan(DIAMOND)
    assert world.call("run", plan).returncode == 0

    again = world.call("run", plan)
    assert (again.returncode, again.stdout) == (0, "Done: auth, 4 done\n")
    assert world.paid().total() == 4
    assert world.call("resume").stdout == "Nothing was left in the middle.\n"


@pytest.mark.req("RUN-07", "CKP-11")
def test_killed_run_is_brought_back_by_one_command(world: Night) -> None:
    world.agent(f"until [ -e {world.top}/go ]; do sleep 0.02; done")
    going = world.start("run", world.plan(DIAMOND))
    until(lambda: world.paid().total() >= 1)
    going.kill()
    going.communicate()
    (world.top / "go").touch()
    done = world.call("resume")

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Looked at 1 run, 4 lanes")
    assert world.paid() == {f"{lane}/task": 1 for lane in ("schema", "api", "mail", "docs")}


@pytest.mark.req("RUN-05")
def test_interrupt_ends_agents_and_says_how_to_go_on(world: Night) -> None:
    world.agent(f"until [ -e {world.top}/go ]; do sleep 0.02; done")
    going = world.start("run", world.plan(DIAMOND))
    until(lambda: world.paid().total() >= 1)
    going.send_signal(signal.SIGINT)
    said = going.communicate()[0]

    assert going.returncode == 130
    assert said.splitlines()[-1] == "Go on: standfast resume auth"
    assert world.call("ps").stdout == "Nothing is running and nothing in doubt.\n"
    (world.top / "go").touch()
    assert world.call("resume").returncode == 0
    assert set(world.lanes("auth").values()) == {"done"}


def test_stop_leaves_a_run_alone_until_it_is_named(world: Night) -> None:
    world.agent(f"until [ -e {world.top}/go ]; do sleep 0.02; done")
    going = world.start("run", world.plan(DIAMOND))
    until(lambda: world.paid().total() >= 1)
    stopped = world.call("stop", "auth")
    going.communicate()

    assert (stopped.returncode, going.returncode) == (0, 117), stopped.stderr
    (world.top / "go").touch()
    assert world.call("resume").stdout == "Nothing was left in the middle.\n"
    assert world.call("resume", "auth").returncode == 0
    assert set(world.lanes("auth").values()) == {"done"}


@pytest.mark.req("RUN-11")
def test_failed_lane_holds_back_what_waits_for_it_and_nothing_else(world: Night) -> None:
    world.agent('[ "$STANDFAST_LANE" != api ]')
    world.agent('if [ "$STANDFAST_LANE" = api ] && [ ! -e ok ]; then echo no way; exit 3; fi')
    done = world.call("run", world.plan(DIAMOND))

    assert done.returncode == 1
    assert world.lanes("auth") == {
        "schema": "done", "api": "failed", "mail": "done", "docs": "waiting",
    }  # fmt: skip
    assert "held back" in done.stdout
    assert "no way" in world.call("logs", "api").stdout
    world.agent()
    again = world.call("resume", "auth", "api")
    assert again.returncode == 0, again.stdout
    assert set(world.lanes("auth").values()) == {"done"}


def test_on_failure_stop_begins_nothing_more(world: Night) -> None:
    world.agent('[ "$STANDFAST_LANE" != one ] || exit 3')
    plan = "on_failure: stop\nlimits: {lanes: 1}\nlanes: {one: Do it., two: Do it.}\n"
    assert world.call("run", world.plan(plan), "--run-id", "r").returncode == 1
    assert world.lanes("r") == {"one": "failed", "two": "waiting"}


@pytest.mark.req("RUN-09")
def test_tests_that_fail_on_the_base_stop_the_run_before_any_agent(world: Night) -> None:
    plan = world.plan("test: 'echo broken; exit 4'\nlanes: {one: Do it.}\n")
    done = world.call("run", plan)

    assert done.returncode == 113
    assert "broken" in done.stderr
    assert world.paid().total() == 0
    assert world.lanes("plan") == {"one": "needs_you"}


@pytest.mark.req("RUN-03")
def test_no_more_lanes_at_once_than_the_plan_says(world: Night) -> None:
    count = f"d={world.top}/at; mkdir -p $d; : > $d/$$; ls $d | wc -l >> {world.top}/most"
    world.agent(f"{count}; sleep 0.3; rm $d/$$")
    lanes = "".join(f"  l{number}: Do it.\n" for number in range(5))
    assert world.call("run", world.plan(f"limits: {{lanes: 2}}\nlanes:\n{lanes}")).returncode == 0
    seen = [int(line) for line in (world.top / "most").read_text("utf-8").split()]
    assert max(seen) == 2


@pytest.mark.req("SEC-03")
def test_untrusted_plan_is_shown_and_not_run(world: Night) -> None:
    plan = world.plan("test: touch /tmp/never\nlanes: {one: Do it.}\n", trusted=False)
    done = world.call("run", plan)

    assert done.returncode == 111
    assert "touch /tmp/never" in done.stdout + done.stderr
    assert world.paid().total() == 0
    assert world.call("status").stdout.startswith("Nothing recorded")


@pytest.mark.req("CKP-12")
def test_phases_have_records_of_their_own(world: Night) -> None:
    plan = "phases:\n  P1: {lanes: {a: Do a.}}\n  P2: {lanes: {b: Do b.}}\n"
    assert world.call("run", world.plan(plan), "--run-id", "r").returncode == 0
    shown = json.loads(world.call("checkpoint", "list", "--run-id", "r", "--json").stdout)
    own = [(each["phase"], each["stage"], each["status"]) for each in shown["checkpoints"]
           if each["lane"] == ids.NO_LANE]  # fmt: skip
    assert own == [
        (phase, stage, status)
        for phase in ("P1", "P2")
        for stage, status in (("before_lane_start", "ready"), ("after_lane_start", "in_progress"),
                              ("after_lane_tests", "complete"), ("pre_pr", "complete"))
    ]  # fmt: skip


def test_second_call_of_a_run_that_is_taken_on_is_told_who_has_it(world: Night) -> None:
    world.agent(f"until [ -e {world.top}/go ]; do sleep 0.02; done")
    plan = world.plan(DIAMOND)
    going = world.start("run", plan)
    until(lambda: world.paid().total() >= 1)
    second = world.call("run", plan)
    (world.top / "go").touch()
    going.communicate()

    assert (second.returncode, going.returncode) == (118, 0)
    assert str(going.pid) in second.stderr


def test_changed_plan_is_another_run(world: Night) -> None:
    plan = world.plan(DIAMOND)
    assert world.call("run", plan).returncode == 0
    world.plan(DIAMOND.replace("Build login", "Build logout"))
    assert world.call("run", plan).returncode == 119


def test_two_runs_of_one_repository_go_on_beside_each_other(world: Night) -> None:
    one, two = world.plan(DIAMOND), world.plan(DIAMOND.replace("auth", "other"), "other.yaml")
    first, second = world.start("run", one), world.start("run", two)
    said = first.communicate()[0], second.communicate()[0]

    assert (first.returncode, second.returncode) == (0, 0), said
    assert set(world.paid().values()) == {2}
    assert world.merged().total() == 8


@pytest.mark.req("RUN-11")
def test_user_is_told_once_of_what_they_want_to_know(world: Night) -> None:
    told = world.top / "told"
    world.settings(f'notify: echo "$STANDFAST_EVENT $STANDFAST_LANE" >> {told}\n')
    world.agent('[ "$STANDFAST_LANE" != api ] || exit 3')
    plan = world.plan(DIAMOND)
    assert world.call("run", plan).returncode == 1
    world.call("resume")

    lines = told.read_text("utf-8").splitlines()
    assert lines == ["needs-you P1/api", "finished "]


@pytest.mark.req("RUN-05")
def test_json_is_one_object_a_line_and_ends_with_the_run(world: Night) -> None:
    done = world.call("run", world.plan(DIAMOND), "--json")
    told = [json.loads(line) for line in done.stdout.splitlines()]

    assert told[-1]["outcome"] == "done"
    assert {each["lane"] for each in told[:-1]} >= {"schema", "api", "mail", "docs"}


def test_rollback_takes_unmerged_lanes_back_and_names_what_stays(world: Night) -> None:
    world.agent('[ "$STANDFAST_LANE" != api ] || { echo half > half.txt; exit 3; }')
    assert world.call("run", world.plan(DIAMOND)).returncode == 1
    done = world.call("rollback", "auth")

    lines = {line.split()[0]: line for line in done.stdout.splitlines()}
    assert "kept: refs/standfast/backup" in lines["auth/P1/api"]
    assert "stays" in lines["auth/P1/schema"]
    assert "not begun" in lines["auth/P1/docs"]


def test_demo_plan_reads(world: Night) -> None:
    assert world.call("plan", "check", world.plan(demo_plan(), trusted=False)).returncode == 0


@pytest.mark.req("RUN-05")
def test_terminal_shows_a_table_of_the_lanes(world: Night) -> None:
    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (30, 120))
    going = subprocess.Popen(
        world.argv("run", world.plan(DIAMOND)),
        cwd=world.repo,
        env={**world.environ, "TERM": "xterm-256color"},
        stdin=subprocess.DEVNULL,
        stdout=slave,
        stderr=slave,
    )
    os.close(slave)
    shown = b""
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:  # the other end is closed
            break
        shown += part
    os.close(master)

    assert going.wait() == 0
    text = shown.decode("utf-8", "replace")
    for word in ("WAVE", "LANE", "STAGE", "ELAPSED", "LAST", "P1/schema", "P1/docs", "running"):
        assert word in text, word
    assert "Done: auth, 4 done" in text


@pytest.mark.req("CKP-12")
def test_phase_is_run_resumed_and_rolled_back_by_itself(world: Night) -> None:
    world.agent('[ "$STANDFAST_LANE" != b ] || exit 3')
    plan = world.plan("phases:\n  P1: {lanes: {a: Do a.}}\n  P2: {lanes: {b: Do b.}}\n")
    alone = world.call("run", plan, "--run-id", "one", "--phase", "P1")
    assert alone.returncode == 0, alone.stderr
    assert world.lanes("one") == {"a": "done"}

    assert world.call("run", plan, "--run-id", "both").returncode == 1
    back = world.call("run", "--rollback", "--run-id", "both", "--phase", "P2")
    assert back.stdout.startswith("both/P2/b  at before_lane_start")
    world.agent()
    only = world.call("run", "--resume", "--run-id", "both", "--phase", "P1")
    assert (only.returncode, world.lanes("both")["b"]) == (0, "waiting"), only.stdout
    again = world.call("run", "--resume", "--run-id", "both")
    assert again.returncode == 0, again.stdout + again.stderr
    assert world.lanes("both") == {"a": "done", "b": "done"}
