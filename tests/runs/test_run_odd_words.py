"""What programs and scripts are told of runs, and what they leave in a run's log: from outside."""

import json
import re
from pathlib import Path

import pytest

from run_worlds import Night, claude_like, documented, night, section
from standfast.errors.lanes import RunUnknown


@pytest.fixture
def world(tmp_path: Path) -> Night:
    return night(tmp_path)


@pytest.mark.req("RUN-07")
def test_of_several_runs_the_worst_gives_the_status(world: Night) -> None:
    """A script that hears `parked` comes back later; one of these runs waits for a person."""
    claude_like(world, 'test "$STANDFAST_RUN_ID" != bad || exit 3')
    one = "limits: {lanes: 1, cost_usd: 0.5}\nlanes: {a: Do a., b: Do b.}\n"
    assert world.call("run", world.plan(one, "dear.yaml")).returncode == 116
    bad = world.plan("retries: 0\nlanes: {a: Do a.}\n", "bad.yaml")
    assert world.call("run", bad).returncode == 1

    done = world.call("resume")

    assert "dear" in done.stdout
    assert "bad" in done.stdout
    assert done.returncode == 1


@pytest.mark.req("RUN-07")
def test_programs_are_told_what_was_found(world: Night) -> None:
    world.leave("lanes: {a: Do a., b: {task: Do b., after: a}}\n").touch()

    lines = world.call("resume", "--json").stdout.splitlines()
    found = json.loads(lines[0])

    assert (found["runs"], found["in_doubt"]) == (["plan"], [])
    assert [each["lane"] for each in found["lanes"]] == ["plan/P1/a", "plan/P1/b"]
    assert found["lanes"][1] == {
        "lane": "plan/P1/b", "was": "not begun", "next": "next: see whether it can begin",
    }  # fmt: skip
    assert json.loads(world.call("resume", "--json").stdout)["runs"] == []


@pytest.mark.req("RUN-05")
def test_setup_that_takes_long_is_told_while_it_runs(world: Night) -> None:
    go = world.top / "go"
    plan = world.plan(f"setup: until test -e {go}; do sleep 0.02; done\nlanes: {{a: Do a.}}\n")
    begun = world.start("run", plan)
    assert begun.stdout is not None
    first = begun.stdout.readline()
    assert not go.exists()
    go.touch()
    assert "setup_start" in first
    assert begun.wait() == 0, begun.communicate()
    begun.communicate()


def test_lines_of_others_in_a_log_are_passed_over(world: Night) -> None:
    """It lies in the repository: anybody can write to it."""
    assert world.call("run", world.plan("lanes: {a: Do a.}\n")).returncode == 0
    before = world.call("logs", "plan").stdout
    log = world.repo / ".claude/ai-dev-kit/run-logs/plan.jsonl"
    with log.open("a", encoding="utf-8") as file:
        file.write('{}\n{"phase": [], "lane": {}}\n{"phase": "P1", "lane": "a"}\n[1]\nno\n')

    after = world.call("logs", "plan")

    assert (after.returncode, after.stdout) == (0, before), after.stderr


@pytest.mark.req("RUN-05")
def test_log_tells_of_a_task_that_is_begun_once_more_as_asked(world: Night) -> None:
    world.agent("exit 3")
    plan = world.plan("retries: 0\nlanes: {a: Do a.}\n")
    assert world.call("run", plan).returncode == 1
    assert world.call("resume", "plan", "a").returncode == 1

    said = world.call("logs", "plan").stdout

    assert [said.count(each) for each in ("task_start task", "task_failed task")] == [2, 2]


@pytest.mark.req("SEC-03")
@pytest.mark.parametrize("name", ["shell", "strict"])
def test_commands_of_a_plan_are_not_run_by_a_shell_of_ones_own_either(
    world: Night, name: str
) -> None:
    world.settings(f'  {name}:\n    command: [bash, -eu, "{{prompt}}"]\n')
    wrong = world.top / "wrong"
    plan = world.plan(f"runner: {name}\nlanes: {{a: touch {wrong}}}\n", trusted=False)

    done = world.call("run", plan)

    assert done.returncode != 0
    assert f"touch {wrong}" in done.stderr
    assert not wrong.exists()
    assert world.call("plan", "trust", plan, "--yes").returncode == 0
    assert world.call("run", plan).returncode == 0
    assert wrong.exists()


@pytest.mark.req("RUN-05")
def test_lane_whose_pull_request_failed_is_shown_as_such(world: Night) -> None:
    plan = world.plan("merge: pr\npr: exit 7\nretries: 0\nlanes: {a: Do a.}\n")
    assert world.call("run", plan).returncode in (1, 115)

    shown = json.loads(world.call("status", "plan", "--json").stdout)["lanes"]

    assert [each["state"] for each in shown] != ["waiting"]
    assert "7" in shown[0]["last"]
    assert "NEEDS" in world.call("status").stdout


@pytest.mark.sweep(3)
@pytest.mark.parametrize(
    ("merge", "words"), [("none", "left on its branch"), ("ff", "merged"), ("pr", "is open")]
)
def test_section_says_what_became_of_a_lane(world: Night, merge: str, words: str) -> None:
    plan = f"merge: {merge}\npr: 'true'\nlanes: {{a: Do a.}}\n"
    made = world.plan(plan)
    documented(world)
    assert world.call("run", made, "--run-id", "r").returncode == 0

    assert words in str(section(world)["agent_summaries"])


SECRETS = ["DB_PASSWORD=changeme-please1", "psql postgres://app:s3cretpw@db/app"]


@pytest.mark.req("SEC-04")
@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("name", ["shell", "strict"])
def test_scripts_that_hold_a_secret_are_not_run_without_it(
    world: Night, secret: str, name: str
) -> None:
    """The journal would keep another script than the one that was trusted."""
    world.settings('  strict:\n    command: [bash, -eu, "{prompt}"]\n')
    wrong = world.top / "wrong"
    plan = world.plan(
        f"runner: {name}\nlanes:\n  a: touch {wrong}\n  b: |\n    touch {wrong}\n    {secret}\n"
    )

    done = world.call("run", plan)

    assert done.returncode == 2, done.stderr
    assert f"{plan}:4" in done.stderr
    assert "task task of P1/b holds what looks like a secret" in done.stderr
    assert "environment" in done.stderr
    assert secret not in done.stdout + done.stderr
    assert_nothing_begun(world, wrong)


def assert_nothing_begun(world: Night, wrong: Path) -> None:
    assert not wrong.exists()
    assert world.merged().total() == 0
    assert not (world.repo / ".worktrees").exists()
    assert world.call("status", "plan").returncode == RunUnknown.exit_status


@pytest.mark.req("SEC-04")
def test_file_of_a_script_that_holds_a_secret_is_named_with_its_line(world: Night) -> None:
    wrong = world.top / "wrong"
    (world.repo / "do.sh").write_text(f"touch {wrong}\n{SECRETS[0]}\n", encoding="utf-8")
    plan = world.plan("lanes: {a: {tasks: {build: {prompt_file: do.sh, runner: shell}}}}\n")

    done = world.call("run", plan)

    assert done.returncode == 2, done.stderr
    assert "do.sh:2" in done.stderr
    assert "task build of P1/a" in done.stderr
    assert_nothing_begun(world, wrong)


@pytest.mark.req("SEC-04")
@pytest.mark.parametrize("line", ["test", "setup"])
def test_commands_that_hold_a_secret_are_refused_with_their_line(world: Night, line: str) -> None:
    plan = world.plan(f"lanes:\n  a: Do a.\n{line}: {SECRETS[0]} make\n")

    done = world.call("run", plan)

    assert done.returncode == 2, done.stderr
    assert f"{plan}:3" in done.stderr
    assert f"{line} holds what looks like a secret" in done.stderr
    assert_nothing_begun(world, world.ledger)


@pytest.mark.req("SEC-04")
def test_gate_of_a_shell_that_holds_a_secret_is_refused(world: Night) -> None:
    gate = f"{{role: critic, runner: shell, prompt: '{SECRETS[0]} true'}}"
    plan = world.plan(f"phases: {{P1: {{gates: {{look: {gate}}}, lanes: {{a: Do a.}}}}}}\n")

    done = world.call("run", plan)

    assert done.returncode == 2, done.stderr
    assert "gate P1/look holds what looks like a secret" in done.stderr
    assert_nothing_begun(world, world.ledger)


@pytest.mark.req("SEC-04")
@pytest.mark.parametrize("secret", SECRETS)
def test_who_wrote_a_secret_for_an_agent_is_told_that_it_is_left_out(
    world: Night, secret: str
) -> None:
    (world.repo / "do.md").write_text(f"Do b.\nUse {secret}\n", encoding="utf-8")
    world.git("add", ".")
    world.git("commit", "-qm", "a prompt")
    plan = world.plan(
        f"lanes:\n  a: 'Use {secret}'\n"
        "  b: {tasks: {build: {prompt_file: do.md}}}\n  c: Do c.\n"
    )

    done = world.call("run", plan)

    assert done.returncode == 0, done.stderr
    warned = [each for each in done.stderr.splitlines() if "looks like a secret" in each]
    assert [each.startswith("warning: ") for each in warned] == [True, True]
    assert f"{plan}:2: task task of P1/a " in warned[0]
    assert "do.md:2: task build of P1/b " in warned[1]
    assert secret not in done.stdout + done.stderr


TWO = "lanes: {a: Do a., b: {task: Do b., after: a}}\n"


def needs_somebody(world: Night, does: str) -> str:
    """What is said of lane b, for which the agent of lane a *does* something bad."""
    world.agent(f'if test "$STANDFAST_LANE" = a; then {does}; fi')
    done = world.call("run", world.plan(TWO))
    assert done.returncode == 115, done.stdout + done.stderr
    assert "--branch" not in done.stdout + done.stderr
    assert "then resume" in done.stdout
    return done.stdout


@pytest.mark.req("RUN-05")
def test_branch_that_is_in_the_way_of_a_lane_is_named_with_what_helps(world: Night) -> None:
    """No flag of `run` or `resume` gives a lane another name."""
    branch = "lane/plan/P1/b"
    assert f"`{branch}`" in needs_somebody(world, f"git branch {branch}")
    world.git("branch", "-m", branch, "mine")

    done = world.call("resume", "plan")

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.req("RUN-05")
def test_folder_that_is_in_the_way_of_a_lane_is_named_with_what_helps(world: Night) -> None:
    folder = world.repo / ".worktrees/plan/P1/b"
    said = needs_somebody(world, f"mkdir -p {folder}; touch {folder}/mine")
    assert str(folder) in said
    folder.rename(world.top / "mine")

    done = world.call("resume", "plan")

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.req("RUN-07")
def test_events_of_a_run_hold_its_effects_and_no_other_ones(world: Night) -> None:
    for name in ("live", "other"):
        plan = world.plan("test: 'true'\nlanes: {a: Do a.}\n", f"{name}.yaml")
        assert world.call("run", plan).returncode == 0

    def effects(*words: str) -> list[tuple[str, str]]:
        lines = world.call("events", "-n", "0", "--json", *words).stdout.splitlines()
        every = [json.loads(line) for line in lines]
        return [
            (each["kind"], each["payload"]["key"])
            for each in every
            if each["kind"].startswith("effect.") and each["payload"]["key"].startswith("lane/")
        ]

    found = effects("--run", "live")

    assert {kind for kind, _ in found} == {"effect.intended", "effect.ended"}
    assert all(key.startswith("lane/live/") for _, key in found)
    assert sorted([*found, *effects("--run", "other")]) == sorted(effects())
    assert world.call("journal", "verify").returncode == 0


@pytest.mark.req("RUN-07")
def test_logs_tell_the_time_as_events_do(world: Night) -> None:
    zone = {"TZ": "Etc/GMT-5"}
    assert world.call("run", world.plan("lanes: {a: Do a.}\n")).returncode == 0

    logs = world.call("logs", "plan", **zone).stdout.splitlines()
    machine = [
        json.loads(each) for each in world.call("logs", "plan", "--json").stdout.splitlines()
    ]
    (planned,) = world.call("events", "--kind", "run.planned", **zone).stdout.splitlines()

    hour = " ".join(planned.split()[1:3])[:13]  # of one run, unless an hour ends in it
    stamps = [line.split("  ")[0] for line in logs if "  P1/a  " in line]
    assert stamps
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d", stamp) for stamp in stamps)
    assert any(stamp.startswith(hour) for stamp in stamps)
    assert all(each["ts"].endswith("Z") for each in machine)
