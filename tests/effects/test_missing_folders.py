"""What lies in the folder of an effect counts if this journal intended it; what is gone is a doubt.

A directory can come with exit records that nobody here asked for, and a folder can be taken away
from under a command. Neither is a reason to begin a command a second time, or to believe its end.
"""

import hashlib
import json
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from effect_desk import Desk, cut_short, kill_all, until
from run_worlds import Night, night
from standfast.effects import orphans
from standfast.effects.effect_folder import EXIT, FOLDER, STARTED
from standfast.errors.lanes import NotBegun
from standfast.journal.author import Author
from standfast.processes import programs


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path)
    yield made
    made.gate.touch()
    made.journal.close()


@pytest.fixture
def world(tmp_path: Path) -> Night:
    return night(tmp_path)


@pytest.mark.req("EFF-01", "SEC-09")
@pytest.mark.parametrize("name", [EXIT, STARTED])
def test_folder_that_no_event_tells_of_is_neither_believed_nor_used(desk: Desk, name: str) -> None:
    folder = Path(desk.folder("a").path)
    folder.mkdir(parents=True)
    told = {"how": "exited", "status": 0}
    (folder / name).write_text(json.dumps(told), encoding="utf-8")

    with pytest.raises(NotBegun) as refused:
        desk.run("a", f"echo x >> {desk.count}")

    assert str(folder) in refused.value.problem
    assert desk.counted() == 0
    assert (folder / name).exists()


@pytest.mark.req("EFF-01", "EFF-02")
@pytest.mark.parametrize("what", ["all", "one", "inside"])
def test_folder_that_is_taken_away_is_a_doubt(desk: Desk, what: str) -> None:
    cut_short(desk)
    folder = Path(desk.folder("a").path)
    for each in {"all": [folder.parent], "one": [folder], "inside": folder.iterdir()}[what]:
        shutil.rmtree(each) if each.is_dir() else each.unlink()

    assert desk.run("a", f"echo x >> {desk.count}").is_in_doubt
    assert desk.counted() == 1
    assert [each.state for each in orphans.every(desk.journal)] == [orphans.IN_DOUBT]


@pytest.mark.req("EFF-01", "EFF-02")
def test_tree_whose_folder_was_taken_away_is_waited_for_and_named(desk: Desk) -> None:
    caller = desk.call("a", desk.waiting())
    until(lambda: desk.counted() == 1)
    desk.kill_supervisors("a")
    caller.kill()
    caller.communicate()
    shutil.rmtree(os.path.join(desk.journal.folder, FOLDER))

    (left,) = orphans.every(desk.journal)
    assert (left.key, left.state) == ("a", orphans.ORPHANED)
    assert left.pids
    desk.gate.touch()
    assert desk.run("a", f"echo x >> {desk.count}").is_in_doubt
    assert desk.counted() == 2, "it was let come to its end, and not begun again"


@pytest.mark.req("SEC-09")
def test_test_result_that_came_with_a_directory_lands_nothing(world: Night) -> None:
    for number in range(1, 4):
        key = f"lane/plan/P1/a/tests/{number}"
        name = hashlib.sha256(key.encode()).hexdigest()[:32]
        folder = world.repo / ".git/standfast/effects" / name
        folder.mkdir(parents=True)
        (folder / EXIT).write_text('{"how": "exited", "status": 0}', encoding="utf-8")

    world.agent("touch wrong")
    done = world.call("run", world.plan("test: test ! -e wrong\nlanes: {a: Do a.}\n"))

    assert done.returncode != 0
    assert world.merged().total() == 0
    assert "effects/" in done.stdout + done.stderr


@pytest.mark.req("SEC-09")
@pytest.mark.parametrize("kind", ["effect.ended", "effect.settled", "effect.intended"])
def test_lane_is_not_begun_where_the_journal_tells_of_its_commands(world: Night, kind: str) -> None:
    journal = world.journal()
    told = {"key": "lane/plan/P1/a/tests/1", "how": "exited", "status": 0, "verdict": "DONE"}
    journal.append(kind, told, Author("standfast"))
    journal.close()

    done = world.call("run", world.plan("test: 'false'\nlanes: {a: Do a.}\n"))

    assert done.returncode != 0
    assert "--run-id" in done.stderr
    assert not world.paid()


@pytest.mark.req("REL-11")
def test_agent_of_a_journal_that_is_gone_is_listed_and_ended(world: Night) -> None:
    world.agent("until test -e go; do sleep 0.05; done")
    begun = world.start("run", world.plan("lanes: {a: Do a.}\n"))
    until(lambda: world.paid().total() >= 1)
    begun.send_signal(signal.SIGKILL)
    begun.communicate()
    shutil.rmtree(world.repo / ".git/standfast")

    listed = world.call("ps", "--json")
    (found,) = json.loads(listed.stdout)["effects"]
    assert found["key"].startswith("lane/plan/P1/a")
    numbers = [each["pid"] if isinstance(each, dict) else each for each in found["pids"]]
    assert world.call("reap").returncode == 0
    until(lambda: not [pid for pid in numbers if programs.identify(pid)])


@pytest.mark.req("SEC-04")
def test_rollback_closes_the_doubt_and_no_raw_word_stays(world: Night) -> None:
    """What the agent said before it was killed would otherwise lie there for ever."""
    world.agent("echo raw words; sleep 600")
    begun = world.start("run", world.plan("lanes: {a: Do a.}\n"))
    until(lambda: world.paid().total() >= 1)
    (folder,) = (world.repo / ".git/standfast/effects").iterdir()
    until(lambda: (folder / "out").exists() and b"raw" in (folder / "out").read_bytes())
    begun.kill()
    begun.communicate()
    for line in (folder / STARTED).read_text(encoding="utf-8").splitlines():
        programs.send(programs.Identity.from_text(line), signal.SIGKILL)
    mark = hashlib.sha256(os.fsencode(os.path.realpath(folder))).hexdigest()[:32]
    kill_all(programs.surrounded_by(f"STANDFAST_EFFECT={mark}".encode()))
    until(lambda: "in doubt" in world.call("ps").stdout)

    assert world.call("rollback", "plan").returncode == 0
    assert "nothing in doubt" in world.call("ps").stdout
    assert {each.name for each in folder.iterdir()} <= {"started", "sup", "tree"}
