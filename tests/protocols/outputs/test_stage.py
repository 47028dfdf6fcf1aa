"""One loop for every stage: what is valid is used, what is not is launched, twice at most."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Cli
from standfast.journal import overwritten_files, questions
from standfast.journal.author import Author
from standfast.journal.store import Journal
from standfast.processes import programs
from standfast.protocols.outputs.records import launch_records as recorded
from standfast.protocols.outputs.rules import persistence_gate
from standfast.protocols.outputs.rules.persistence_gate import Output
from standfast.protocols.outputs.rules.whole_output import SENTINEL

GOOD = f"Found it.\n{SENTINEL}\n"
PENDING = 75  # others of the stage were not launched yet
AGENT = """
import os, sys
prompt, path, role = sys.stdin.read(), os.environ["STANDFAST_OUTPUT"], os.environ["STANDFAST_ROLE"]
with open("launches.log", "a") as log:
    log.write(f"{role} {os.environ['STANDFAST_ATTEMPT']}\\n")
assert path in prompt, prompt
how = open("how.txt").read() if os.path.exists("how.txt") else "good"
if how == "good" or (how == "second" and os.environ["STANDFAST_ATTEMPT"] == "2"):
    with open(path, "w") as file:
        file.write("by the agent\\n<!-- AGENT_COMPLETE -->\\n")
elif how == "torn":
    with open(path, "w") as file:
        file.write("by the agent, and no")
print(role, "says its work is done, but only here")
"""
RUNNER = (sys.executable, "-W", "ignore", "agent.py")


@pytest.fixture
def session(repo: Path, cli: Cli) -> Path:
    """A repository with a live session, a task and an agent."""
    (repo / "agent.py").write_text(AGENT, encoding="utf-8")
    (repo / "task.md").write_text("Look at the diff.\n", encoding="utf-8")
    return Path(cli("live-state", "begin", "s", cwd=repo).stdout.strip())


def run(
    cli: Cli, repo: Path, *options: str, stage: str = "retro"
) -> subprocess.CompletedProcess[str]:
    return cli(
        "stage", "run", "--stage", stage, "--task", "task.md", *options, "--", *RUNNER, cwd=repo
    )


def launches(repo: Path) -> list[str]:
    log = repo / "launches.log"
    return log.read_text(encoding="utf-8").splitlines() if log.exists() else []


def journal_of(repo: Path) -> Journal:
    return Journal(str(repo / ".git" / "standfast"))


def gate_lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if "PERSISTENCE_GATE" in line]


# The loop.


@pytest.mark.req("OUT-04", "OUT-09", "OUT-11", "OUT-14")
def test_only_what_is_lacking_is_launched_and_read_from_its_file(
    repo: Path, cli: Cli, session: Path
) -> None:
    (session / "retro-cdm-analysis.md").write_text(GOOD, encoding="utf-8")

    done = run(cli, repo)

    assert done.returncode == 0
    assert gate_lines(done.stdout) == ["PERSISTENCE_GATE=PASS"]
    assert sorted(launches(repo)) == ["expert-alpha 1", "expert-beta 1", "learning-resources 1"]
    assert (session / "retro-cdm-analysis.md").read_text(encoding="utf-8") == GOOD
    assert run(cli, repo).returncode == 0
    assert len(launches(repo)) == 3  # nothing is done twice


@pytest.mark.req("OUT-06", "OUT-07", "OUT-14", "OUT-18")
def test_agent_that_only_says_so_is_launched_twice_and_fails_the_stage(
    repo: Path, cli: Cli, session: Path
) -> None:
    (repo / "how.txt").write_text("silent", encoding="utf-8")

    done = run(cli, repo)
    again = run(cli, repo)

    assert done.returncode == again.returncode == 1
    assert gate_lines(done.stdout) == ["PERSISTENCE_GATE=HARD_FAIL"]
    assert f"{session / 'retro-cdm-analysis.md'}: missing" in done.stdout
    assert "retro-expert-alpha.md is left out: missing" in done.stdout  # omissions stay listed
    assert len(launches(repo)) == 8  # four outputs, two launches each, and none more ever


@pytest.mark.req("OUT-05", "OUT-06")
def test_torn_output_is_kept_in_the_journal_before_it_is_written_over(
    repo: Path, cli: Cli, session: Path
) -> None:
    path = session / "retro-cdm-analysis.md"
    path.write_text("half of what was fo", encoding="utf-8")

    assert run(cli, repo, "--role", "cdm-analysis").returncode == PENDING

    journal = journal_of(repo)
    kept = list(questions.events(journal, questions.Filter(kind=overwritten_files.KIND)))
    about = json.loads(kept[0].payload)
    assert (about["path"], about["text"]) == (str(path), "half of what was fo")
    assert overwritten_files.kept(journal, about["digest"]) == b"half of what was fo"
    assert about["digest"][:12] in cli("journal", "kept", cwd=repo).stdout
    assert cli("journal", "kept", about["digest"][:8], cwd=repo).stdout == "half of what was fo"
    assert "none begins" in cli("journal", "kept", "zz", cwd=repo).stderr
    kinds = [e.kind for e in questions.events(journal, questions.Filter())]
    assert kinds.index("file.kept") < kinds.index("output.launched") < kinds.index("output.ended")
    assert "by the agent" in path.read_text(encoding="utf-8")


@pytest.mark.req("OUT-05")
def test_output_too_large_for_the_journal_is_moved_beside_it(
    repo: Path, cli: Cli, session: Path
) -> None:
    with (session / "retro-cdm-analysis.md").open("wb") as file:
        file.write(b"words")
        file.truncate(20 * 1024 * 1024)

    assert run(cli, repo, "--role", "cdm-analysis").returncode == PENDING

    (kept,) = (repo / ".git/standfast/kept").iterdir()
    assert kept.stat().st_size == 20 * 1024 * 1024


@pytest.mark.req("OUT-06")
def test_second_launch_may_succeed(repo: Path, cli: Cli, session: Path) -> None:
    (repo / "how.txt").write_text("second", encoding="utf-8")

    assert run(cli, repo, "--role", "cdm-analysis").returncode == PENDING
    assert launches(repo) == ["cdm-analysis 1", "cdm-analysis 2"]


@pytest.mark.req("OUT-05")
def test_nothing_is_launched_onto_a_link_or_a_fifo(
    repo: Path, cli: Cli, session: Path, tmp_path: Path
) -> None:
    target = tmp_path / "target.md"
    target.write_text("not yours", encoding="utf-8")
    (session / "retro-cdm-analysis.md").symlink_to(target)
    os.mkfifo(session / "retro-expert-alpha.md")

    done = run(cli, repo)

    assert done.returncode == 1
    assert "retro-cdm-analysis.md: not-a-file" in done.stdout
    assert target.read_text(encoding="utf-8") == "not yours"
    assert sorted(launches(repo)) == ["expert-beta 1", "learning-resources 1"]


@pytest.mark.req("OUT-04")
def test_stale_output_is_told_and_made_anew_only_on_request(
    repo: Path, cli: Cli, session: Path
) -> None:
    run(cli, repo, "--role", "cdm-analysis")
    (repo / "task.md").write_text("Look at something else.\n", encoding="utf-8")

    told = run(cli, repo, "--role", "cdm-analysis")
    assert len(launches(repo)) == 1
    assert told.returncode == PENDING
    assert "stale" in told.stdout

    run(cli, repo, "--role", "cdm-analysis", "--stale")
    assert launches(repo) == ["cdm-analysis 1", "cdm-analysis 2"]
    assert "stale" not in run(cli, repo, "--role", "cdm-analysis", "--stale").stdout
    assert len(launches(repo)) == 2


@pytest.mark.req("OUT-04")
def test_receipt_tells_digest_size_attempt_and_inputs(repo: Path, cli: Cli, session: Path) -> None:
    run(cli, repo, "--role", "cdm-analysis")

    known = recorded.known(journal_of(repo), str(session / "retro-cdm-analysis.md"))

    assert known.launches == 1
    assert known.receipt is not None
    assert set(known.receipt) == {"path", "digest", "size", "attempt", "inputs"}
    assert known.receipt["attempt"] == 1
    cli("outputs", "check", "--stage", "retro", cwd=repo)
    assert (
        len(list(questions.events(journal_of(repo), questions.Filter(kind="output.received")))) == 1
    )


def test_agent_past_its_time_is_ended_and_may_be_tried_once_more(
    repo: Path, cli: Cli, session: Path
) -> None:
    done = cli(
        *("stage", "run", "--stage", "retro", "--role", "cdm-analysis", "--task", "task.md"),
        *("--time", "0.3", "--", "sh", "-c", "echo x >> tries; sleep 60"),
        cwd=repo,
    )

    assert done.returncode == 1
    assert (repo / "tries").read_text(encoding="utf-8") == "x\nx\n"
    assert "time is up" in done.stderr


def test_agent_that_forks_and_leaves_is_waited_for(repo: Path, cli: Cli, session: Path) -> None:
    late = f"(sleep 0.5; printf 'late\\n{SENTINEL}\\n' > \"$STANDFAST_OUTPUT\") & echo x >> tries"

    done = cli(
        *("stage", "run", "--stage", "retro", "--role", "cdm-analysis", "--task", "task.md"),
        *("--", "sh", "-c", late),
        cwd=repo,
    )

    assert done.returncode == PENDING
    assert (repo / "tries").read_text(encoding="utf-8") == "x\n"


def test_what_a_good_agent_leaves_running_is_not_waited_for(
    repo: Path, cli: Cli, session: Path
) -> None:
    serves = f"sleep 600 & echo $! > pid; printf 'ok\\n{SENTINEL}\\n' > \"$STANDFAST_OUTPUT\""

    done = cli(
        *("stage", "run", "--stage", "retro", "--role", "cdm-analysis", "--task", "task.md"),
        *("--", "sh", "-c", serves),
        cwd=repo,
    )

    assert done.returncode == PENDING
    os.kill(int((repo / "pid").read_text(encoding="utf-8")), signal.SIGKILL)  # it lives


def test_interrupted_stage_ends_its_agents(repo: Path, cli: Cli, session: Path) -> None:
    stage = subprocess.Popen(
        [
            *(sys.executable, "-m", "standfast", "stage", "run", "--stage", "retro"),
            *("--role", "cdm-analysis", "--task", "task.md", "--"),
            *("sh", "-c", "echo $$ > pid.draft; mv pid.draft pid; sleep 600"),
        ],
        cwd=repo,
        stderr=subprocess.DEVNULL,
    )
    while not (repo / "pid").exists():
        assert stage.poll() is None
    stage.send_signal(signal.SIGINT)

    assert stage.wait(timeout=120) == 130
    # Whoever took it over when the stage ended may not have looked yet: a zombie has ended.
    assert programs.identify(int((repo / "pid").read_text(encoding="utf-8"))) is None


def test_runner_that_is_not_there_counts_as_nothing(repo: Path, cli: Cli, session: Path) -> None:
    told = cli(
        *("stage", "run", "--stage", "retro", "--task", "task.md", "--", "no-such-program"),
        cwd=repo,
    )

    assert "no-such-program" in told.stderr
    assert not journal_of(repo).exists


def test_role_without_a_task_is_refused_before_anything_begins(
    repo: Path, cli: Cli, session: Path
) -> None:
    (repo / "tasks").mkdir()
    (repo / "tasks" / "expert-alpha.md").write_text("Look.\n", encoding="utf-8")
    arguments = ("stage", "run", "--stage", "retro", "--tasks", "tasks")

    refused = cli(*arguments, "--", *RUNNER, cwd=repo)
    taken = cli(*arguments, "--role", "expert-alpha", "--", *RUNNER, cwd=repo)

    assert refused.returncode == 2
    assert "retro-expert-alpha.md" not in taken.stdout
    assert launches(repo) == ["expert-alpha 1"]


@pytest.mark.req("OUT-04", "OUT-05")
def test_stale_output_that_is_not_made_anew_never_passes_for_fresh(
    repo: Path, cli: Cli, session: Path
) -> None:
    run(cli, repo, "--role", "cdm-analysis")
    (repo / "task.md").write_text("Look at something else.\n", encoding="utf-8")
    (repo / "how.txt").write_text("silent", encoding="utf-8")

    done = run(cli, repo, "--role", "cdm-analysis", "--stale")

    assert gate_lines(done.stdout) == ["PERSISTENCE_GATE=HARD_FAIL"]
    assert "retro-cdm-analysis.md: missing" in done.stdout
    assert "by the agent" in cli("journal", "kept", kept_digest(repo), cwd=repo).stdout


def kept_digest(repo: Path) -> str:
    (event, *_) = questions.events(journal_of(repo), questions.Filter(kind=overwritten_files.KIND))
    return str(json.loads(event.payload)["digest"])


@pytest.mark.req("OUT-04")
def test_output_of_another_agent_or_cut_before_it_was_made_anew_stays_stale(
    repo: Path, cli: Cli, session: Path
) -> None:
    run(cli, repo, "--role", "cdm-analysis")
    command = ("stage", "run", "--stage", "retro", "--role", "cdm-analysis", "--task", "task.md")

    assert "stale" in cli(*command, "--", "true", cwd=repo).stdout  # another agent
    journal = journal_of(repo)
    with journal.writing() as tx:  # killed between the launch and anything that it did
        path = str(session / "retro-cdm-analysis.md")
        recorded.launch(tx, path, "retro", "other inputs", Author())
    journal.close()
    cli("outputs", "check", "--stage", "retro", cwd=repo)
    assert "stale" in cli(*command, "--", "true", cwd=repo).stdout


@pytest.mark.req("OUT-05")
def test_relaunch_begins_without_the_old_file(repo: Path, cli: Cli, session: Path) -> None:
    adds = f"printf 'part\\n' >> $STANDFAST_OUTPUT; test $STANDFAST_ATTEMPT = 2 && echo '{SENTINEL}' >> $STANDFAST_OUTPUT"  # noqa: E501

    cli(
        *("stage", "run", "--stage", "retro", "--role", "cdm-analysis", "--task", "task.md"),
        *("--", "sh", "-c", adds),
        cwd=repo,
    )

    made = (session / "retro-cdm-analysis.md").read_text(encoding="utf-8")
    assert made == f"part\n{SENTINEL}\n"


@pytest.mark.req("OUT-06", "OUT-21")
@pytest.mark.parametrize("action", ["accept", "grant"])
def test_agent_of_a_stage_may_not_let_itself_off(
    repo: Path, cli: Cli, session: Path, action: str
) -> None:
    words = f"{sys.executable} -m standfast outputs {action} cdm-analysis --stage retro"

    done = cli(
        *("stage", "run", "--stage", "retro", "--role", "cdm-analysis", "--task", "task.md"),
        *("--", "sh", "-c", words),
        cwd=repo,
    )

    assert gate_lines(done.stdout) == ["PERSISTENCE_GATE=HARD_FAIL"]
    told = [e.kind for e in questions.events(journal_of(repo), questions.Filter(kind="output"))]
    assert told.count("output.launched") == 2
    assert not {"output.accepted", "output.granted"} & set(told)


# The gate.


@pytest.mark.req("OUT-18", "OUT-19")
def test_role_that_was_launched_and_failed_is_not_forgotten(
    repo: Path, cli: Cli, session: Path
) -> None:
    (repo / "how.txt").write_text("torn", encoding="utf-8")
    assert run(cli, repo, "--role", "licence-research", stage="plan").returncode == 1

    told = cli("outputs", "gate", "--stage", "plan", cwd=repo)
    other = cli("outputs", "gate", "--stage", "retro", "--mode", "light", cwd=repo)

    assert gate_lines(told.stdout) == ["PERSISTENCE_GATE=HARD_FAIL"]
    assert "plan-licence-research.md: no-sentinel" in told.stdout
    assert gate_lines(other.stdout) == ["PERSISTENCE_GATE=PASS"]  # another stage's


@pytest.mark.req("OUT-18")
def test_gate_of_a_stage_is_the_same_whoever_asks(repo: Path, cli: Cli, session: Path) -> None:
    part = run(cli, repo, "--role", "security", stage="review-code")
    whole = cli("outputs", "gate", "--stage", "review-code", cwd=repo)

    assert gate_lines(part.stdout) == gate_lines(whole.stdout) == ["PERSISTENCE_GATE=PASS"]


@pytest.mark.req("OUT-19")
def test_light_mode_is_a_retro_and_hides_nothing_that_was_begun(
    repo: Path, cli: Cli, session: Path
) -> None:
    (repo / "how.txt").write_text("silent", encoding="utf-8")
    assert (
        cli("outputs", "gate", "--stage", "review-code", "--mode", "light", cwd=repo).returncode
        == 2
    )
    assert run(cli, repo, "--mode", "light").returncode == 2  # nothing is to be launched
    run(cli, repo, "--role", "expert-alpha")

    told = cli("outputs", "gate", "--stage", "retro", "--mode", "light", cwd=repo)

    assert gate_lines(told.stdout) == ["PERSISTENCE_GATE=SOFT_CONTINUE"]
    assert "retro-expert-alpha.md is left out: missing" in told.stdout


@pytest.mark.req("OUT-07")
def test_gate_says_that_an_agent_is_still_at_work(repo: Path, cli: Cli, session: Path) -> None:
    stage = subprocess.Popen(
        [
            *(sys.executable, "-m", "standfast", "stage", "run", "--stage", "retro"),
            *("--role", "cdm-analysis", "--task", "task.md", "--"),
            *("sh", "-c", "echo $$ > pid.draft; mv pid.draft pid; sleep 600"),
        ],
        cwd=repo,
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    while not (repo / "pid").exists():
        assert stage.poll() is None

    told = cli("outputs", "gate", "--stage", "retro", cwd=repo)
    listed = cli("outputs", "check", "--stage", "retro", cwd=repo)
    stage.send_signal(signal.SIGINT)
    stage.wait(timeout=120)

    assert "still at work on retro-cdm-analysis.md" in told.stdout
    assert "A person may grant" not in told.stdout
    assert "AT WORK" in listed.stdout


@pytest.mark.req("OUT-17")
def test_what_is_in_the_way_is_to_be_moved_not_launched(
    repo: Path, cli: Cli, session: Path
) -> None:
    (session / "retro-cdm-analysis.md").mkdir()

    told = cli("outputs", "gate", "--stage", "retro", cwd=repo)

    assert "move away what stands at retro-cdm-analysis.md" in told.stdout
    assert "A launch is left for cdm-analysis" not in told.stdout
    assert gate_lines(told.stdout) == ["PERSISTENCE_GATE=HARD_FAIL"]  # no launch can help


@pytest.mark.req("OUT-21")
def test_slip_of_the_pen_and_valid_outputs_are_not_accepted(
    repo: Path, cli: Cli, session: Path
) -> None:
    (session / "retro-cdm-analysis.md").write_text(GOOD, encoding="utf-8")

    slip = cli("outputs", "accept", "cdm-analisis", "--stage", "retro", cwd=repo)
    valid = cli("outputs", "accept", "cdm-analysis", "--stage", "retro", cwd=repo)

    assert slip.returncode == valid.returncode == 2
    assert "cdm-analysis" in slip.stderr
    assert "is valid" in valid.stderr


def test_named_roles_are_the_ones_that_are_asked_about(repo: Path, cli: Cli, session: Path) -> None:
    (session / "review-security-code.md").write_text(GOOD, encoding="utf-8")

    told = cli("outputs", "check", "security", "--stage", "review-code", cwd=repo)

    assert told.returncode == 0
    assert "1 of 1 valid" in told.stdout


def output(name: str, tier: str, fault: str | None, **more: object) -> Output:
    return Output(name, f"{name}.md", f"/s/{name}.md", tier, fault)._replace(**more)


@pytest.mark.req("OUT-07", "OUT-08", "OUT-09", "OUT-18")
def test_one_verdict_hard_before_soft_before_pass() -> None:
    good, bad = output("a", "critical", None), output("b", "critical", "empty", launches=2)
    soft = output("c", "soft", "no-sentinel", launches=2)

    assert persistence_gate.decide([], skips=True).line == "PERSISTENCE_GATE=SKIP_NO_GAP"
    assert persistence_gate.decide([]).line == "PERSISTENCE_GATE=PASS"
    assert persistence_gate.decide([good], skips=True).line == "PERSISTENCE_GATE=PASS"
    assert persistence_gate.decide([good]).line == "PERSISTENCE_GATE=PASS"
    assert persistence_gate.decide([good, soft]).line == "PERSISTENCE_GATE=SOFT_CONTINUE"
    hard = persistence_gate.decide([soft, good, bad])
    assert (hard.verdict, hard.failed, hard.omitted) == (
        persistence_gate.HARD_FAIL,
        (bad,),
        (soft,),
    )
    left, busy = soft._replace(launches=1), soft._replace(at_work="somebody")
    for waits in (left, busy, bad._replace(launches=0), bad._replace(at_work="somebody")):
        told = persistence_gate.decide([good, soft, waits])
        assert (told.verdict, told.pending, told.omitted) == (
            persistence_gate.PENDING,
            (waits,),
            (soft,),
        )
        assert persistence_gate.decide([waits, bad]).verdict == persistence_gate.HARD_FAIL
        assert persistence_gate.decide([waits], is_final=True).verdict != persistence_gate.PENDING
        assert (
            persistence_gate.decide([waits._replace(accepted="ada")]).verdict
            == persistence_gate.SOFT_CONTINUE
        )
    accepted = bad._replace(accepted="ada")
    assert persistence_gate.decide([good, accepted]).verdict == persistence_gate.SOFT_CONTINUE


@pytest.mark.req("OUT-08")
def test_soft_outputs_are_left_out_with_a_note_each(repo: Path, cli: Cli, session: Path) -> None:
    (repo / "how.txt").write_text("torn", encoding="utf-8")

    told = run(cli, repo, stage="clarify")

    assert told.returncode == 0
    assert gate_lines(told.stdout) == ["PERSISTENCE_GATE=SOFT_CONTINUE"]
    assert "warning: clarify-web-research.md is left out: no-sentinel" in told.stdout
    assert told.stdout.count("is left out") == 6


@pytest.mark.req("OUT-18", "OUT-19")
def test_plan_expects_only_what_was_launched(repo: Path, cli: Cli, session: Path) -> None:
    def gate(*options: str) -> tuple[int, list[str]]:
        told = cli("outputs", "gate", "--stage", "plan", *options, cwd=repo)
        return told.returncode, gate_lines(told.stdout)

    assert gate() == (0, ["PERSISTENCE_GATE=SKIP_NO_GAP"])
    (session / "plan-codebase-analysis.md").write_text(GOOD, encoding="utf-8")
    assert gate() == (0, ["PERSISTENCE_GATE=PASS"])
    assert gate("--launched", "prior-art-research") == (PENDING, ["PERSISTENCE_GATE=PENDING"])
    (session / "plan-prior-art-research.md").write_text("cut o", encoding="utf-8")
    assert gate() == (PENDING, ["PERSISTENCE_GATE=PENDING"])


@pytest.mark.req("OUT-19")
def test_cdm_is_critical_in_deep_mode_only_and_undeclared_outputs_always(
    repo: Path, cli: Cli, session: Path
) -> None:
    light = cli("outputs", "gate", "--stage", "retro", "--mode", "light", cwd=repo)
    deep = cli("outputs", "gate", "--stage", "retro", cwd=repo)
    other = cli("outputs", "gate", "--stage", "clarify", "own-notes", cwd=repo)

    assert light.returncode == 0
    assert gate_lines(deep.stdout) == gate_lines(other.stdout) == ["PERSISTENCE_GATE=PENDING"]
    assert "pending: clarify-own-notes.md: missing" in other.stdout
    (repo / "how.txt").write_text("silent", encoding="utf-8")
    run(cli, repo, "--role", "own-notes", stage="clarify")
    other = cli("outputs", "gate", "--stage", "clarify", "own-notes", cwd=repo)
    assert gate_lines(other.stdout) == ["PERSISTENCE_GATE=HARD_FAIL"]


@pytest.mark.req("OUT-10")
def test_tiers_of_the_project_count(repo: Path, cli: Cli, session: Path) -> None:
    declared = [
        "stages:",
        "  audit: {outputs: {licences: soft}}",
        "  clarify: {outputs: {web-research: critical}}",
    ]
    (repo / ".standfast.yaml").write_text("\n".join(declared), encoding="utf-8")

    (repo / "how.txt").write_text("silent", encoding="utf-8")
    assert run(cli, repo, stage="audit").returncode == 0
    assert run(cli, repo, stage="clarify").returncode == 1


@pytest.mark.req("OUT-21")
def test_accepted_omission_holds_after_a_restart_and_says_by_whom_and_when(
    repo: Path, cli: Cli, session: Path
) -> None:
    said = cli(
        *("outputs", "accept", "retro-cdm-analysis.md", "--stage", "retro"),
        *("--by", "ada", "--why", "no incident this time"),
        cwd=repo,
    )

    told = cli("outputs", "gate", "--stage", "retro", "cdm-analysis", cwd=repo)
    (event,) = questions.events(journal_of(repo), questions.Filter(kind="output.accepted"))

    assert said.returncode == told.returncode == 0
    assert gate_lines(told.stdout) == ["PERSISTENCE_GATE=SOFT_CONTINUE"]
    assert "accepted by ada" in told.stdout
    assert event.actor == "ada"
    assert event.at > 0
    assert json.loads(event.payload)["why"] == "no incident this time"


@pytest.mark.req("OUT-06", "OUT-21")
@pytest.mark.parametrize("action", ["accept", "grant"])
@pytest.mark.parametrize("mark", ["CLAUDECODE", "CODEX_SANDBOX", "GEMINI_CLI"])
def test_agent_may_not_let_itself_off(
    repo: Path, cli: Cli, session: Path, action: str, mark: str
) -> None:
    told = cli("outputs", action, "cdm-analysis", "--stage", "retro", cwd=repo, env={mark: "1"})

    assert told.returncode == 1
    assert "person" in told.stderr
    assert not journal_of(repo).exists


@pytest.mark.req("OUT-06")
def test_person_grants_one_launch_more(repo: Path, cli: Cli, session: Path) -> None:
    (repo / "how.txt").write_text("silent", encoding="utf-8")
    run(cli, repo, "--role", "cdm-analysis")
    run(cli, repo, "--role", "cdm-analysis")
    assert len(launches(repo)) == 2

    cli("outputs", "grant", "cdm-analysis", "--stage", "retro", cwd=repo)
    (repo / "how.txt").unlink()

    assert run(cli, repo, "--role", "cdm-analysis").returncode == PENDING
    assert launches(repo)[-1] == "cdm-analysis 3"


# The commands.


def test_check_tells_each_output_for_people_and_machines(
    repo: Path, cli: Cli, session: Path
) -> None:
    (session / "retro-cdm-analysis.md").write_text(GOOD, encoding="utf-8")
    (session / "retro-expert-alpha.md").write_text("cut o", encoding="utf-8")

    told = cli("outputs", "check", "--stage", "retro", cwd=repo)
    machine = json.loads(cli("outputs", "check", "--stage", "retro", "--json", cwd=repo).stdout)

    assert told.returncode == 1
    assert "VALID    retro-cdm-analysis.md" in told.stdout
    assert "1 of 4 valid" in told.stdout
    reasons = {each["name"]: each["reason"] for each in machine["outputs"]}
    assert reasons["retro-cdm-analysis.md"] is None
    assert reasons["retro-expert-alpha.md"] == "no-sentinel"
    assert reasons["retro-expert-beta.md"] == "missing"


@pytest.mark.req("OUT-13")
def test_prompt_has_task_and_paragraph(repo: Path, cli: Cli, session: Path) -> None:
    told = cli(
        *("outputs", "prompt", "--stage", "review-code", "security", "--task", "-"),
        cwd=repo,
        input="Look for holes.\n",
    )

    assert told.stdout.startswith("Look for holes.\n")
    assert str(session / "review-security-code.md") in told.stdout
    assert SENTINEL in told.stdout


@pytest.mark.parametrize("role", ["../../x", "/etc/passwd", "a/b", "a b", ""])
def test_bad_role_is_refused_by_every_command(
    repo: Path, cli: Cli, session: Path, role: str
) -> None:
    for action in ("check", "gate", "prompt", "launched", "accept", "grant"):
        told = cli("outputs", action, "--stage", "retro", "--", role, cwd=repo)
        assert told.returncode not in {0, 1, 70}, (action, told)
        assert "Traceback" not in told.stderr


def test_check_works_where_the_journal_cannot_be_written(
    repo: Path, cli: Cli, session: Path
) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write anywhere")
    (session / "retro-cdm-analysis.md").write_text(GOOD, encoding="utf-8")
    cli("note", "so that there is a journal", cwd=repo)
    os.chmod(repo / ".git/standfast", 0o500)
    try:
        told = cli("outputs", "check", "--stage", "retro", cwd=repo)
    finally:
        os.chmod(repo / ".git/standfast", 0o700)
    assert "1 of 4 valid" in told.stdout


@pytest.mark.req("SEC-04")
@pytest.mark.parametrize("before", [b"", b"\xff\xfe "])
def test_secret_in_what_is_written_over_is_not_kept(
    repo: Path, cli: Cli, session: Path, before: bytes
) -> None:
    key = b"sk-ant-api03-" + b"a1B2c3D4" * 8
    (session / "retro-cdm-analysis.md").write_bytes(before + b"the key is " + key + b"\n")

    assert run(cli, repo, "--role", "cdm-analysis").returncode == PENDING

    (event,) = questions.events(journal_of(repo), questions.Filter(kind=overwritten_files.KIND))
    kept = overwritten_files.kept(journal_of(repo), json.loads(event.payload)["digest"])
    assert kept is not None
    assert kept.startswith(before + b"the key is [redacted:")
    assert key not in kept
