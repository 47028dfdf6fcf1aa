"""The command line from outside: real processes and repositories, what people see."""

import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from standfast.errors import base, lanes, plans
from standfast.errors.base import StandfastError
from standfast.surfaces.cli import frame
from standfast.surfaces.cli.screen import Screen, error_lines, json_line

Cli = Callable[..., CompletedProcess[str]]


def test_help_shows_the_groups_in_order_and_only_commands_that_exist(cli: Cli) -> None:
    shown = cli("--help")

    titles = [line for line in shown.stdout.splitlines() if line and not line.startswith(" ")]
    assert shown.returncode == 0
    assert titles[1:4] == ["Commands", "Protocol files", "More"]
    for command in frame.commands():
        assert f"  {command.name:<12}{command.says}" in shown.stdout
        assert cli(command.name, "--help").returncode == 0


@pytest.mark.req("CLI-01")
def test_first_group_holds_commands_of_the_first_screen_in_its_order() -> None:
    first_screen = ["install", "uninstall", "status", "brief", "note", "run"]
    first_screen += ["resume", "rollback", "stop", "logs", "ui", "doctor"]

    groups = {title: [command.name for command in group] for title, group in frame.GROUPS}

    assert list(groups) == ["Commands", "Protocol files", "More"]
    assert groups["Commands"] == [name for name in first_screen if name in groups["Commands"]]
    assert not set(groups["More"]) & set(first_screen)


@pytest.mark.req("CLI-01", "CLI-02")
def test_first_note_needs_no_init_and_leaves_the_work_tree_clean(cli: Cli, repo: Path) -> None:
    before = cli("status", cwd=repo)
    untouched = not (repo / ".git" / "standfast").exists()
    noted = cli("note", "sessions", "in", "Postgres", cwd=repo)
    after = cli("status", cwd=repo)

    dirty = subprocess.run(
        ["git", "status", "--porcelain", "--ignored"], cwd=repo, capture_output=True, check=True
    )
    assert before.stdout.startswith("Nothing recorded here yet.")
    assert untouched
    assert noted.stdout == "Recorded RD-001\n"
    assert "RD-001" in after.stdout
    assert "sessions in Postgres" in after.stdout
    assert dirty.stdout == b""


@pytest.mark.req("CLI-02")
def test_face_in_the_work_tree_appears_only_when_the_configuration_names_it(
    cli: Cli, repo: Path
) -> None:
    cli("note", "one", cwd=repo)
    before = sorted(p.name for p in repo.iterdir())
    (repo / ".standfast.yaml").write_text("status_file: STATUS.md\n", encoding="utf-8")
    cli("status", cwd=repo)
    assert not (repo / "STATUS.md").exists(), "a command that reads"
    cli("note", "two", cwd=repo)

    assert "STATUS.md" not in before
    assert "- RD-001 one\n" in (repo / "STATUS.md").read_text(encoding="utf-8")


@pytest.mark.req("PLAT-02")
def test_status_of_a_monorepo_shows_the_part_that_is_asked_for(cli: Cli, repo: Path) -> None:
    for part in ("services/api", "services/api2", "web"):
        (repo / part).mkdir(parents=True)
        cli("note", f"for {part}", cwd=repo / part)

    def shown(*arguments: str) -> list[str]:
        facts = json.loads(cli("status", "--json", *arguments, cwd=repo).stdout)
        return [decision["text"] for decision in facts["decisions"]]

    assert shown() == ["for services/api", "for services/api2", "for web"]
    assert shown("--dir", "services/api") == ["for services/api"]
    assert shown("--dir", "services/") == ["for services/api", "for services/api2"]


def test_every_command_has_json_that_parses(cli: Cli, repo: Path) -> None:
    noted = json.loads(cli("note", "x", "--json", "--by", "lead", "--run", "r1", cwd=repo).stdout)
    status = json.loads(cli("status", "--json", cwd=repo).stdout)
    events = [json.loads(line) for line in cli("events", "--json", cwd=repo).stdout.splitlines()]
    doctor = json.loads(cli("doctor", "--json", cwd=repo).stdout)
    verified = json.loads(cli("journal", "verify", "--json", cwd=repo).stdout)
    path = json.loads(cli("journal", "path", "--json", cwd=repo).stdout)

    assert noted == {"id": "RD-001", "text": "x"}
    assert status["decisions"][0]["by"] == "lead"
    assert [(e["seq"], e["run"], e["payload"]["id"]) for e in events] == [(1, "r1", "RD-001")]
    assert doctor["ok"]
    assert verified == {
        "ok": True,
        "events": 1,
        "streams": 1,
        "mirrored": 1,
        "dropped_through": 0,
        "missing": [],
        "complete": True,
        "forked": [],
        "problems": [],
    }
    assert path["journal"] == str(repo / ".git" / "standfast" / "journal.db")


def test_session_of_the_client_is_recorded_with_the_note(cli: Cli, repo: Path) -> None:
    cli("note", "x", cwd=repo, env={"CLAUDE_CODE_SESSION_ID": "8f2c-1"})

    shown = cli("events", "--session", "8f2c-1", "--json", cwd=repo)

    assert json.loads(shown.stdout)["session"] == "8f2c-1"


def test_note_reads_stdin_and_folds_it_to_one_line(cli: Cli, repo: Path) -> None:
    cli("note", "-", cwd=repo, input="first\n  second\n")

    assert "first second" in cli("status", cwd=repo).stdout


def test_events_are_filtered_counted_and_exported(cli: Cli, repo: Path, tmp_path: Path) -> None:
    for number in range(5):
        cli("note", f"n{number}", "--by", "lead" if number % 2 else "user", cwd=repo)

    last = cli("events", "-n", "2", cwd=repo).stdout
    mine = cli("events", "--actor", "lead", "-n", "0", cwd=repo).stdout
    none = cli("events", "--kind", "lease", cwd=repo)
    exported = cli("journal", "export", "-o", str(tmp_path / "out.jsonl"), cwd=repo)
    again = cli("journal", "export", "-o", str(tmp_path / "out.jsonl"), cwd=repo)
    piped = cli("journal", "export", cwd=repo)

    assert [line.split()[0] for line in last.splitlines()] == ["4", "5"]
    assert len(mine.splitlines()) == 2
    assert (none.stdout, none.returncode) == ("", 0)
    assert exported.returncode == 0
    assert again.returncode == base.DiskFailed.exit_status
    assert (tmp_path / "out.jsonl").read_text(encoding="utf-8") == piped.stdout
    assert len(piped.stdout.splitlines()) == 5


def test_follow_shows_what_comes_in_and_ends_on_interrupt(repo: Path, cli: Cli) -> None:
    cli("note", "before", cwd=repo)
    following = subprocess.Popen(
        [sys.executable, "-m", "standfast", "events", "-f", "--json"],
        cwd=repo,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    assert following.stdout is not None

    first = json.loads(following.stdout.readline())
    cli("note", "meanwhile", cwd=repo)
    second = json.loads(following.stdout.readline())
    following.send_signal(signal.SIGINT)
    status = following.wait(timeout=60)
    following.stdout.close()

    assert (first["payload"]["text"], second["payload"]["text"]) == ("before", "meanwhile")
    assert status == 130


def test_reader_that_has_seen_enough_ends_the_command_quietly(repo: Path, cli: Cli) -> None:
    for number in range(3):
        cli("note", f"{number} {'x' * 1500}", cwd=repo)
    command = f"{sys.executable} -m standfast journal export | head -c 10"

    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], cwd=repo, capture_output=True, check=False
    )

    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(
    ("arguments", "error", "word"),
    [
        (["frobnicate"], base.WrongUsage, "frobnicate"),
        (["statsu"], base.WrongUsage, "did you mean `status`?"),
        (["events", "--nope"], base.WrongUsage, "--nope"),
        (["events", "-n", "x"], base.WrongUsage, "invalid int"),
        (["events", "-n", "-1"], base.WrongUsage, "negative"),
        (["note"], base.WrongUsage, "text"),
        (["note", " "], base.WrongUsage, "words"),
        (["note", "x" * 3000], base.TooLarge, "2,000"),
        (["note", "x", "--by", "../me"], base.BadName, "--by"),
        (["journal"], base.WrongUsage, "action"),
        (["journal", "verify"], base.NothingFound, "nothing has been recorded"),
        (["events"], base.NothingFound, "nothing has been recorded"),
        (["-C", "/nowhere/at/all", "status"], base.NotARepository, "no such directory"),
        (["--set", "speed=1", "status"], base.BadConfig, "no setting"),
    ],
)
def test_error_has_code_remedy_and_its_own_exit_status(
    cli: Cli, repo: Path, arguments: list[str], error: type[StandfastError], word: str
) -> None:
    plain = cli(*arguments, cwd=repo)
    as_json = cli(*arguments, "--json", cwd=repo)

    assert plain.returncode == as_json.returncode == error.exit_status
    assert plain.stdout == ""
    assert plain.stderr.startswith(f"error {error.code}: ")
    assert word in plain.stderr
    assert len(plain.stderr.splitlines()) >= 2
    told = json.loads(as_json.stdout)["error"]
    assert (told["code"], told["exit_status"]) == (error.code, error.exit_status)
    assert told["remedy"]


def all_errors() -> list[type[StandfastError]]:
    return [
        found
        for found in {**vars(base), **vars(lanes), **vars(plans)}.values()
        if isinstance(found, type)
        and issubclass(found, StandfastError)
        and found is not StandfastError
    ]


def test_codes_are_unique_and_no_status_is_taken_twice_for_different_causes() -> None:
    found = all_errors()

    assert len({error.code for error in found}) == len(found) > 20
    statuses = [error.exit_status for error in found if error.exit_status != 1]
    assert len(set(statuses)) == len(statuses)  # 1 says that a check failed, whichever it was
    assert all(1 <= error.exit_status < 126 for error in found)
    assert all(error.__doc__ for error in found)


@pytest.mark.req("SEC-06")
def test_no_remedy_prints_a_destructive_command() -> None:
    words = (
        "rm ",
        "--force",
        "-f ",
        "reset --hard",
        "clean -",
        "mv ",
        "chmod ",
        "dd ",
        "> ",
        "sudo",
    )

    for error in all_errors():
        assert not [word for word in words if word in error("x").remedy], error


@pytest.mark.req("SEC-06")
def test_everything_that_is_written_is_private(cli: Cli, repo: Path) -> None:
    script = f"umask 000 && {sys.executable} -m standfast note x"
    subprocess.run(["sh", "-c", script], cwd=repo, check=True, capture_output=True)
    cli("status", cwd=repo)

    for path in (repo / ".git" / "standfast").rglob("*"):
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path
    assert (repo / ".git" / "standfast").stat().st_mode & 0o777 == 0o700


def test_doctor_names_each_problem_with_a_remedy_and_exits_1(cli: Cli, repo: Path) -> None:
    cli("note", "x", cwd=repo)
    (repo / ".git" / "standfast" / "mirror").chmod(0o755)
    with (repo / ".git" / "standfast" / "status.md").open("a", encoding="utf-8") as file:
        file.write("what\n")
    cli("status", cwd=repo)

    shown = cli("doctor", cwd=repo)

    problems = [line for line in shown.stdout.splitlines() if line.startswith("problem")]
    assert shown.returncode == 1
    assert len(problems) == 2
    assert "others may read" in problems[0]
    assert "list entry" in problems[1]


def test_doctor_goes_on_when_settings_or_journal_cannot_be_read(cli: Cli, repo: Path) -> None:
    cli("note", "x", cwd=repo)
    (repo / ".git" / "standfast" / "journal.db").write_bytes(b"not a database" * 1000)
    (repo / ".standfast.yaml").write_text("nope: 1\n", encoding="utf-8")

    shown = cli("doctor", "--json", cwd=repo)

    problems = {c["check"]: c["seen"] for c in json.loads(shown.stdout)["checks"] if not c["ok"]}
    assert shown.returncode == 1
    assert "SF104" in problems["settings"]
    assert set(problems) >= {"settings", "journal"}


# In a terminal.


def in_terminal(command: list[str], cwd: Path, **environ: str) -> str:
    """What a person sees: the command's output through a pseudo-terminal."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        command, cwd=cwd, stdin=slave, stdout=slave, stderr=slave, env={**os.environ, **environ}
    )
    os.close(slave)
    seen = b""
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:
            break
        if not part:
            break
        seen += part
    process.wait(timeout=60)
    os.close(master)
    return seen.decode()


def test_terminal_gets_colour_and_a_pipe_gets_plain_lines(cli: Cli, repo: Path) -> None:
    cli("note", "colourful " + "x" * 300, cwd=repo)
    command = [sys.executable, "-m", "standfast", "status"]

    seen = in_terminal(command, repo)
    calm = in_terminal(command, repo, NO_COLOR="1")
    piped = cli("status", cwd=repo).stdout

    assert "\x1b[" in seen
    assert "\x1b[" not in calm
    assert "\x1b[" not in piped
    assert "…" in calm
    assert "x" * 300 in piped


def test_error_that_quotes_without_end_is_cut() -> None:
    assert len(error_lines(base.WrongUsage("x" * 200_000))) < 5_000


def test_hostile_text_never_reaches_a_terminal_raw() -> None:
    hostile = "a\x1b[31mb\u202ec\x9bd\re"
    screen = Screen(color=False, width=200)

    shown = [
        screen.table([("x", hostile)]),
        error_lines(base.BadName(hostile, file=hostile)),
        json_line({hostile: hostile}),
    ]

    for text in shown:
        assert not [c for c in "\x1b\u202e\x9b\r" if c in text]
    assert json.loads(shown[2]) == {hostile: hostile}
