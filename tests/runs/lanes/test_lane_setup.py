"""A worktree is prepared before an agent works in it, and what prepared it keeps nothing."""

import os
import shutil
from pathlib import Path

import pytest

import lane_library as library
from lane_runs import Lane, build
from standfast.errors.lanes import LaneFailed
from standfast.plans.lane_spec import Task
from standfast.runs.rules.lane_steps import FAILED, OK, RETIRE, SETUP, Do, decide

SETS_UP = 'echo setup >> "$LEDGER"; mkdir -p deps.log.d; echo dep > deps.log.d/a.log'
NEEDS = "cat .env.log deps.log.d/a.log > made.txt"


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LEDGER", str(tmp_path / "ledger"))
    return tmp_path / "ledger"


@pytest.fixture
def lane(world: Path, tmp_path: Path, ledger: Path) -> Lane:
    made = build(tmp_path)
    secret = made.repo / ".env.log"
    secret.write_text("key\n", encoding="utf-8")
    secret.chmod(0o600)
    return made


@pytest.mark.req("RUN-09")
def test_setup_and_copied_files_are_there_for_the_agent_and_gone_with_the_worktree(
    lane: Lane, ledger: Path
) -> None:
    spec = library.spec(lane, runner=NEEDS, setup=SETS_UP, copy=(".env.log",))

    done = library.take_on(lane, spec)

    assert ledger.read_text(encoding="utf-8").split() == ["setup"]
    assert lane.show("main", "made.txt") == "key\ndep"
    assert lane.git("ls-tree", "-r", "--name-only", "main").split() == [
        ".gitignore",
        "a.txt",
        "made.txt",
    ]
    assert done.steps[RETIRE].facts["stays"] == ""
    assert not lane.tree.exists()


@pytest.mark.req("RUN-09")
def test_copied_file_keeps_its_rights_and_every_command_has_the_ports_of_the_lane(
    lane: Lane, ledger: Path
) -> None:
    says = 'echo "$STANDFAST_PORT_BASE" >> "$LEDGER"'
    looks = f"{says}; stat -c %a .env.log > made.txt"
    spec = library.spec(
        lane, runner=looks, setup=says, test=says, copy=(".env.log",), port_base=4100
    )

    library.take_on(lane, spec)

    assert ledger.read_text(encoding="utf-8").split() == ["4100"] * 3
    assert lane.show("main", "made.txt") == "600"


@pytest.mark.req("RUN-09")
def test_setup_that_fails_stops_the_lane_in_its_own_words_and_uses_no_retry(
    lane: Lane, ledger: Path
) -> None:
    fails = 'echo setup >> "$LEDGER"; echo no network >&2; test -e "$LEDGER.mended"'
    spec = library.spec(lane, runner='echo agent >> "$LEDGER"', setup=fails, retries=2)

    with pytest.raises(LaneFailed, match="no network"):
        library.take_on(lane, spec)
    with pytest.raises(LaneFailed, match="no network"):
        library.take_on(lane, spec)

    assert ledger.read_text(encoding="utf-8").split() == ["setup"]  # told, not tried, once more
    stands = library.standing(lane, spec)
    assert (stands.retries, stands.steps[SETUP].state) == (0, FAILED)
    ledger.with_name("ledger.mended").touch()

    library.take_on(lane, spec, asked=True)

    assert ledger.read_text(encoding="utf-8").split() == ["setup", "setup", "agent"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("a.txt", "git has it already"),
        ("plain.txt", "git does not ignore it"),
        ("gone.log", "no such file"),
        ("folder.log", "not a regular file"),
        ("link.log", "link"),
        ("outside.log/passwd", "link"),
    ],
)
@pytest.mark.req("RUN-09")
def test_what_cannot_be_copied_safely_stops_the_lane_before_any_agent(
    lane: Lane, ledger: Path, name: str, words: str
) -> None:
    (lane.repo / "plain.txt").write_text("x", encoding="utf-8")
    (lane.repo / "folder.log").mkdir()
    (lane.repo / "link.log").symlink_to("/etc/passwd")
    (lane.repo / "outside.log").symlink_to("/etc")
    spec = library.spec(lane, runner='echo agent >> "$LEDGER"', copy=(name,))

    with pytest.raises(LaneFailed, match=words):
        library.take_on(lane, spec)

    assert not ledger.exists()
    assert (lane.tree / "a.txt").read_text(encoding="utf-8") == "a\n"
    assert not (lane.tree / name).exists() or name == "a.txt"


@pytest.mark.sweep(3)
@pytest.mark.req("RUN-09")
@pytest.mark.parametrize(
    ("runner", "kept"),
    [
        ("echo mine > notes.log", "notes.log"),
        ("echo changed >> .env.log", ".env.log"),
        ("echo dap > deps.log.d/a.log", "deps.log.d/a.log"),
        ("touch deps.log.d/b.log", "deps.log.d/b.log"),
        ("mv deps.log.d/a.log x.log; cp -p x.log deps.log.d/a.log", "deps.log.d/a.log"),
    ],
)
def test_ignored_file_that_somebody_made_or_changed_keeps_the_worktree(
    lane: Lane, runner: str, kept: str
) -> None:
    copied = (".env.log",)
    spec = library.spec(lane, runner=f"{runner}; date > m.txt", setup=SETS_UP, copy=copied)

    done = library.take_on(lane, spec)

    assert kept in done.steps[RETIRE].facts["stays"]
    assert (lane.tree / kept).exists()
    assert (lane.tree / ".env.log").exists()


def test_file_that_was_there_before_a_second_setup_is_not_taken_for_its_own(lane: Lane) -> None:
    fails = f"{SETS_UP}; test -e mended.log"
    spec = library.spec(lane, setup=fails)
    with pytest.raises(LaneFailed):
        library.take_on(lane, spec)
    (lane.tree / "mended.log").write_text("by a person", encoding="utf-8")

    done = library.take_on(lane, spec, asked=True)

    assert "mended.log" in done.steps[RETIRE].facts["stays"]
    assert (lane.tree / "mended.log").read_text(encoding="utf-8") == "by a person"


def test_what_setup_made_before_it_failed_goes_with_the_worktree(lane: Lane, ledger: Path) -> None:
    fails = f"{SETS_UP}; test -e $LEDGER.mended"
    spec = library.spec(lane, setup=fails)
    with pytest.raises(LaneFailed):
        library.take_on(lane, spec)
    ledger.with_name("ledger.mended").touch()

    library.take_on(lane, spec, asked=True)

    assert not lane.tree.exists()


def test_folder_that_was_moved_away_behind_a_link_is_not_emptied(
    lane: Lane, tmp_path: Path
) -> None:
    moves = f'mv deps.log.d "{tmp_path}/kept"; ln -s "{tmp_path}/kept" deps.log.d; date > m.txt'
    ignores = "*.log\n.claude/\ndeps.log.d\n"
    (lane.repo / ".gitignore").write_text(ignores, encoding="utf-8")
    lane.git("commit", "-qam", "ignore")
    spec = library.spec(lane, runner=moves, setup=SETS_UP)

    done = library.take_on(lane, spec)

    assert "deps.log.d" in done.steps[RETIRE].facts["stays"]
    assert (tmp_path / "kept" / "a.log").read_text(encoding="utf-8") == "dep\n"


def test_file_with_a_second_name_elsewhere_goes_though_its_time_of_change_is_new(
    lane: Lane, tmp_path: Path
) -> None:
    (tmp_path / "store").write_text("dep\n", encoding="utf-8")
    links = f'ln "{tmp_path}/store" one.log; ln "{tmp_path}/store" two.log'
    again = f'ln "{tmp_path}/store" "{tmp_path}/other lane"; date > m.txt'
    spec = library.spec(lane, runner=again, setup=links)

    library.take_on(lane, spec)

    assert not lane.tree.exists()
    assert (tmp_path / "store").read_text(encoding="utf-8") == "dep\n"


@pytest.mark.req("RUN-09")
def test_worktree_that_has_to_be_made_again_is_prepared_again(lane: Lane, ledger: Path) -> None:
    fails = 'echo agent >> "$LEDGER"; test -e "$LEDGER.mended" && cat deps.log.d/a.log > made.txt'
    tasks = (Task("one", "Do it."),)
    spec = library.spec(lane, runner=fails, setup=SETS_UP, copy=(".env.log",), tasks=tasks)
    with pytest.raises(LaneFailed):
        library.take_on(lane, spec)
    shutil.rmtree(lane.tree)
    ledger.with_name("ledger.mended").touch()

    library.take_on(lane, spec, asked=True)

    assert ledger.read_text(encoding="utf-8").split() == ["setup", "agent", "setup", "agent"]
    assert lane.show("main", "made.txt") == "dep"
    assert not lane.tree.exists()


def test_file_that_an_agent_put_where_a_copy_belongs_is_left_alone(lane: Lane) -> None:
    spec = library.spec(lane, setup="test -e done.log", copy=(".env.log",))
    with pytest.raises(LaneFailed):
        library.take_on(lane, spec)
    (lane.tree / ".env.log").write_text("by a person", encoding="utf-8")
    (lane.tree / "done.log").touch()

    done = library.take_on(lane, spec, asked=True)

    assert done.steps[SETUP].state == OK
    assert (lane.tree / ".env.log").read_text(encoding="utf-8") == "by a person"


def test_lane_without_setup_has_no_such_step(lane: Lane) -> None:
    done = library.take_on(lane, library.spec(lane))

    assert SETUP not in done.steps
    assert decide(done).do is Do.NOTHING
    assert not os.path.lexists(lane.tree)
