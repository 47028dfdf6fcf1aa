"""A journal that is gone is damage: named, recorded on, and nothing is begun on it."""

import json
import os
import shutil
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from conftest import Cli
from effect_desk import until
from hook_calls import Hooks, put_launcher
from run_worlds import night
from standfast import disk, xdg
from standfast.errors.base import JournalGone
from standfast.journal import id_file, known_places
from standfast.journal.author import Author
from standfast.journal.fallback import inbox
from standfast.journal.store import Journal

TWO = "run: two\nlanes:\n  a: Do it.\n  b:\n    after: a\n    task: B.\n"


def folder(repo: Path) -> Path:
    return repo / ".git" / "standfast"


def name_of(repo: Path) -> str:
    known = id_file.read(str(folder(repo)))
    assert known is not None
    return known.name


def events(repo: Path) -> list[tuple[str, str]]:
    journal = Journal(str(folder(repo)))
    try:
        return journal.query("SELECT kind, payload FROM events ORDER BY seq")
    finally:
        journal.close()


@pytest.mark.req("REL-11")
def test_notes_go_on_after_a_journal_that_is_gone_and_begin_with_the_gap(
    cli: Cli, repo: Path
) -> None:
    assert cli("note", "first", cwd=repo).returncode == 0
    old = name_of(repo)
    shutil.rmtree(folder(repo))

    said = cli("note", "second", cwd=repo)
    assert said.returncode == 0
    assert old in said.stderr

    (kind, payload), *rest = events(repo)
    assert (kind, json.loads(payload)["lost"]) == ("gap", [old])
    assert [each for each, _ in rest] == ["decision.noted"]
    assert name_of(repo) not in {"", old}


@pytest.mark.req("REL-11", "REL-06")
def test_journal_that_is_gone_is_a_problem_until_it_is_repaired(cli: Cli, repo: Path) -> None:
    cli("note", "first", cwd=repo)
    old = name_of(repo)
    subprocess.run(["git", "branch", "lane/P1/left"], cwd=repo, check=True)
    shutil.rmtree(folder(repo))

    for command in (["journal", "verify"], ["status"], ["resume"], ["run", "plan.yaml"]):
        said = cli(*command, cwd=repo)
        assert said.returncode != 0
        assert old in said.stdout + said.stderr, command
        assert not folder(repo).exists(), command

    repaired = cli("journal", "repair", cwd=repo)
    assert repaired.returncode == 0
    assert old in repaired.stdout
    assert "lane/P1/left" in repaired.stdout
    assert cli("journal", "verify", cwd=repo).returncode == 0
    assert cli("resume", cwd=repo).stdout == "Nothing was left in the middle.\n"
    assert [kind for kind, _ in events(repo)] == ["gap", "journal.mended"]


@pytest.mark.req("REL-11")
def test_nothing_is_begun_on_a_new_journal_before_a_person_says_it_was_meant(
    cli: Cli, repo: Path
) -> None:
    cli("note", "first", cwd=repo)
    shutil.rmtree(folder(repo))
    cli("note", "second", cwd=repo)
    (repo / "task.md").write_text("Do it.\n", "utf-8")
    lane = ("lane", "run", "--phase", "P1", "--lane", "a", "--runner", "true", "--task", "task.md")
    stage = ("stage", "run", "--role", "a", "--task", "task.md", "--", "true")

    for command in (("resume",), ("run", "plan.yaml"), lane):
        assert cli(*command, cwd=repo).returncode == 29, command
    assert cli(*stage, cwd=repo).returncode in {2, 29}
    by_agent = cli("journal", "abandon", cwd=repo, env={"CLAUDECODE": "1"})
    assert by_agent.returncode != 0
    assert cli("resume", cwd=repo).returncode == 29

    before = {path for path in repo.rglob("*") if path.is_file()}
    assert cli("journal", "abandon", cwd=repo).returncode == 0
    assert before <= set(repo.rglob("*"))
    assert cli("resume", cwd=repo).returncode == 0
    assert cli("journal", "verify", cwd=repo).returncode == 0
    assert cli("journal", "abandon", cwd=repo).stdout == "Nothing is missing.\n"


READS = (
    *("status", "brief", "logs", "events", "ps", "doctor", "plan trust --list"),
    *(
        "checkpoint list",
        "checkpoint latest",
        "checkpoint show --run-id r",
        "checkpoint list --json",
    ),
    *("resumption show", "resumption staleness", "resumption validate", "gate show"),
    *("context lifecycle.status", "outputs check", "live-state resolve"),
    *("journal verify", "journal export", "journal kept", "journal path"),
)


@pytest.mark.req("REL-11")
@pytest.mark.parametrize("is_all_gone", [False, True])
def test_command_that_only_reads_makes_no_journal_where_it_was_lost_and_files_are_left(
    cli: Cli, repo: Path, *, is_all_gone: bool
) -> None:
    """A file of checkpoints, a section and a note in the inbox all wait for whoever writes."""
    stage = ("--phase", "P1", "--stage", "before_lane_start", "--status", "ready")
    assert cli("resumption", "trigger", "T1", "--phase", "1", cwd=repo).returncode == 0
    assert cli("checkpoint", "write", "--run-id", "r", *stage, cwd=repo).returncode == 0
    shutil.rmtree(folder(repo))
    if is_all_gone:
        os.unlink(f"{folder(repo)}-id")
        shutil.rmtree(Path(os.environ["XDG_STATE_HOME"]) / "standfast")
    else:
        temporaries = xdg.temporaries(os.environ)
        inbox.leave(
            str(folder(repo)), temporaries, "decision.noted", {"text": "one"}, Author("user")
        )
    before = contents(repo)

    for words in READS:
        said = cli(*words.split(), cwd=repo)
        assert "Traceback" not in said.stderr
        assert "SF001" not in said.stderr
        assert contents(repo) == before, words
    assert cli("checkpoint", "list", cwd=repo).returncode == (0 if is_all_gone else 29)
    assert ("before_lane_start" in cli("checkpoint", "list", cwd=repo).stdout) == is_all_gone

    assert cli("note", "two", cwd=repo).returncode == 0
    noted = [
        json.loads(payload)["text"] for kind, payload in events(repo) if kind == "decision.noted"
    ]
    assert sorted(noted) == (["two"] if is_all_gone else ["one", "two"])
    assert "before_lane_start" in cli("checkpoint", "list", cwd=repo).stdout


def contents(repo: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in repo.rglob("*") if path.is_file()}


@pytest.mark.req("REL-11")
def test_hooks_record_on_where_the_journal_was_taken_away(repo: Path, world: Path) -> None:
    hooks = Hooks(repo, put_launcher(world / "home" / ".local" / "share" / "standfast" / "hook"))
    hooks.begin()
    old = name_of(repo)
    shutil.rmtree(folder(repo))
    hooks("UserPromptSubmit", prompt="make it work")
    hooks.rest()

    kinds = [kind for kind, _ in events(repo)]
    assert kinds[0] == "gap"
    assert "prompt" in kinds
    assert old in events(repo)[0][1]


@pytest.mark.req("REL-11")
def test_run_whose_journal_is_taken_away_stops_and_begins_nothing_again(tmp_path: Path) -> None:
    world = night(tmp_path)
    world.agent(f"echo $$ > {world.top}/pid\nexec sleep 300")
    begun = world.start("run", world.plan(TWO))
    pid = world.top / "pid"
    until(lambda: pid.exists() and pid.read_text("utf-8").endswith("\n"))
    agent = int(pid.read_text("utf-8"))
    shutil.rmtree(folder(world.repo))
    said, _ = begun.communicate(timeout=60)

    assert begun.returncode == 29, said
    assert "Traceback" not in said
    assert "SF210" in said
    assert world.paid() == {"a/task": 1}
    until(lambda: not os.path.exists(f"/proc/{agent}"))
    assert world.call("resume").returncode == 29


@pytest.mark.req("REL-11")
def test_old_journal_is_given_an_id_by_the_first_command_that_writes(cli: Cli, repo: Path) -> None:
    cli("note", "first", cwd=repo)
    os.unlink(f"{folder(repo)}-id")
    shutil.rmtree(Path(os.environ["XDG_STATE_HOME"]) / "standfast")  # neither had an older version

    assert cli("journal", "verify", cwd=repo).returncode == 0
    assert cli("note", "second", cwd=repo).stderr == ""
    assert len(name_of(repo)) == 20
    kinds = [kind for kind, _ in events(repo)]
    assert kinds == ["decision.noted", "journal.arrived", "decision.noted"]  # nobody knows whose


def test_clone_has_no_id(cli: Cli, repo: Path, tmp_path: Path) -> None:
    cli("note", "first", cwd=repo)
    subprocess.run(["git", "clone", "-q", str(repo), str(tmp_path / "clone")], check=True)

    assert not os.path.lexists(f"{folder(tmp_path / 'clone')}-id")
    assert "Nothing recorded" in cli("status", cwd=tmp_path / "clone").stdout


def test_id_that_cannot_be_written_costs_no_fact(cli: Cli, repo: Path) -> None:
    os.mkdir(f"{folder(repo)}-id")  # something else stands there: nobody can write it

    said = cli("note", "first", cwd=repo)
    assert "Traceback" not in said.stderr


@pytest.mark.parametrize("call", ["link", "rename"])
def test_many_that_come_first_give_one_id(repo: Path, call: str) -> None:
    commands = [
        subprocess.Popen([sys.executable, "-m", "standfast", "note", f"{call} {number}"], cwd=repo)
        for number in range(6)
    ]
    assert [each.wait() for each in commands] == [0] * 6
    assert len(events(repo)) == 6
    assert len((Path(f"{folder(repo)}-id")).read_text("utf-8").splitlines()) == 3


@pytest.mark.req("REL-11")
def test_journal_that_is_gone_with_its_id_is_new_and_the_path_is_remembered(
    cli: Cli, repo: Path
) -> None:
    cli("note", "first", cwd=repo)
    old = name_of(repo)
    shutil.rmtree(folder(repo))
    os.unlink(f"{folder(repo)}-id")

    said = cli("note", "second", cwd=repo)
    assert said.returncode == 0
    assert f"journal {old} was here before" in said.stderr
    assert cli("note", "third", cwd=repo).stderr == ""
    assert cli("resume", cwd=repo).returncode == 0
    assert cli("journal", "verify", cwd=repo).returncode == 0


@pytest.mark.parametrize("home", ["/proc/nowhere", ""])
def test_state_directory_that_cannot_be_written_costs_nothing(
    cli: Cli, repo: Path, home: str
) -> None:
    env = {"XDG_STATE_HOME": home, "HOME": home}

    said = cli("note", "first", cwd=repo, env=env)
    assert (said.returncode, said.stderr) == (0, "")
    assert len(name_of(repo)) == 20


@pytest.mark.req("REL-11")
@pytest.mark.parametrize("words", [("resume",), ("status",), ("ps",)])
def test_journal_that_is_gone_with_its_id_is_told_of_by_whoever_reads(
    cli: Cli, repo: Path, words: tuple[str, ...]
) -> None:
    """Nobody can tell it from a fresh clone but this user, who was here before."""
    assert cli("note", "first", cwd=repo).returncode == 0
    old = name_of(repo)
    shutil.rmtree(folder(repo))
    (repo / ".git" / "standfast-id").unlink()

    said = cli(*words, cwd=repo)

    assert f"journal {old} was here before" in said.stderr
    assert not folder(repo).exists()


@pytest.mark.req("REL-11")
def test_fresh_clone_at_a_path_that_was_used_is_told_nothing(cli: Cli, repo: Path) -> None:
    assert cli("note", "first", cwd=repo).returncode == 0
    shutil.rmtree(repo / ".git")
    subprocess.run(["git", "init", "-q", str(repo)], check=True)

    assert cli("status", cwd=repo).stderr == ""


@pytest.mark.req("REL-11")
@pytest.mark.parametrize("is_new", [True, False])
def test_new_repository_with_the_number_of_the_old_one_is_another(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_new: bool
) -> None:
    """File systems give the number of a folder that is gone to the next one."""
    state, folder = str(tmp_path / "state"), repo / ".git" / "standfast"
    monkeypatch.setattr(disk, "identity", lambda _path: (1, 7))
    with closing(Journal(str(folder))) as journal:
        journal.append("noted", {})
        assert known_places.remember(state, journal) == ""
    shutil.rmtree(repo / ".git" if is_new else folder)
    if is_new:
        subprocess.run(["git", "init", "-q", str(repo)], check=True)

    said = known_places.missing(state, str(folder))

    assert said == "" if is_new else "was taken away" in said


@pytest.mark.req("REL-11")
@pytest.mark.parametrize("is_written_on", [False, True])
def test_older_copy_of_a_journal_is_refused_by_whoever_wrote_more(
    tmp_path: Path, *, is_written_on: bool
) -> None:
    """It has the same name: a run would go on in it, and forget what it has done."""
    here, old = tmp_path / "standfast", tmp_path / "old"
    with closing(Journal(str(here))) as journal:
        journal.append("noted", {})
        shutil.copytree(here, old, copy_function=shutil.copy2)
        journal.append("noted", {"more": 1})

        shutil.rmtree(here)
        shutil.copytree(old, here, copy_function=shutil.copy2)
        if is_written_on:
            with closing(Journal(str(here))) as other:
                other.append("noted", {"by": "another"})
                other.append("noted", {"by": "another"})

        with pytest.raises(JournalGone, match="taken away"):
            journal.query("SELECT 1 FROM events")
        with pytest.raises(JournalGone, match="taken away"):
            journal.append("noted", {"more": 2})


def test_journal_is_written_on_by_whoever_undid_something(tmp_path: Path) -> None:
    """What was never committed was promised to nobody."""
    with closing(Journal(str(tmp_path / "standfast"))) as journal:
        journal.append("noted", {})
        with pytest.raises(KeyError), journal.writing() as tx:
            tx.append("noted", {"undone": 1})
            raise KeyError
        journal.abandon()

        assert journal.append("noted", {}) == 2
