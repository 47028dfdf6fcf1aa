"""What a command wrote or committed is synced before its end is told, and never after."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import lane_worlds
from effect_desk import Desk
from standfast import filesystems
from standfast.effects import durability
from standfast.effects.effect_folder import Order
from standfast.effects.rules import Ended
from standfast.git.command import Git
from synced_files import synced

SCRIPT = "echo x > new; mkdir deep; echo y > deep/er; git add -A; git commit -qm work"
STRACE = pytest.mark.skipif(shutil.which("strace") is None, reason="no strace: syncs are unseen")
CALLER = """
import json, sys
from standfast.effects import door
from standfast.effects.effect_folder import Order
from standfast.journal.author import USER
from standfast.journal.store import Journal

folder, order = sys.argv[1:]
print(door.run(Journal(folder), Order(**json.loads(order)), USER).ended.how)
"""


@pytest.fixture
def scene(tmp_path: Path) -> lane_worlds.Scene:
    return lane_worlds.build(tmp_path)


@pytest.fixture
def desk(scene: lane_worlds.Scene) -> Iterator[Desk]:
    made = Desk(scene.tree)
    made.journal = scene.journal()
    yield made
    made.journal.close()


def homes(scene: lane_worlds.Scene) -> tuple[str, str]:
    git = Git(directory=scene.tree)
    return str(git.git_directory()), str(git.common_directory())


def traced(desk: Desk, order: Order, log: Path) -> list[str]:
    """Every file synced and every name moved by the effect, in their order."""
    watch = ["strace", "-f", "-y", "-s", "4096", "-o", str(log), "-e", "trace=fsync,syncfs,rename"]
    words = [sys.executable, "-c", CALLER, desk.journal.folder, json.dumps(order._asdict())]
    done = subprocess.run([*watch, *words], capture_output=True, encoding="utf-8", check=False)
    if "PTRACE" in done.stderr or "attach" in done.stderr:
        pytest.skip(f"strace may not trace here: {done.stderr}")
    assert done.stdout.strip() == "exited", done.stderr
    calls = re.findall(
        r"sync(?:fs)?\(\d+<([^>]*)>|rename\(.*, \"([^\"]*)\"", log.read_text("utf-8")
    )
    return [synced or moved for synced, moved in calls]


@STRACE
@pytest.mark.req("EFF-01", "REL-10")
def test_filesystems_of_an_agents_work_are_synced_before_its_end_is_told(
    scene: lane_worlds.Scene, desk: Desk, tmp_path: Path
) -> None:
    if not filesystems.syncs_whole(str(tmp_path)):
        pytest.skip("this filesystem is not synced as a whole")
    own, common = homes(scene)
    order = desk.order("a", SCRIPT, durable=(str(scene.tree),), git=(own, common))
    calls = traced(desk, order, tmp_path / "trace")

    assert {str(scene.tree), common} <= set(calls[: calls.index(desk.folder("a").at("exit.json"))])


@pytest.fixture
def memory() -> Iterator[Path]:
    """Give a folder on a filesystem whose files are synced one by one."""
    if not os.access("/dev/shm", os.W_OK) or filesystems.syncs_whole("/dev/shm"):
        pytest.skip("there is no filesystem in memory")
    with tempfile.TemporaryDirectory(dir="/dev/shm") as found:
        yield Path(found)


@STRACE
@pytest.mark.req("EFF-01", "REL-10")
def test_commit_of_an_agent_is_synced_before_its_end_is_told(memory: Path, tmp_path: Path) -> None:
    scene = lane_worlds.build(memory)
    desk = Desk(scene.tree)
    desk.journal = scene.journal()
    own, common = homes(scene)
    order = desk.order("a", SCRIPT, durable=(str(scene.tree),), git=(own, common))
    calls = traced(desk, order, tmp_path / "trace")
    before = calls[: calls.index(desk.folder("a").at("exit.json"))]
    commit = scene.head()
    objects = scene.git("rev-list", "--objects", "--no-object-names", f"{scene.base}..{commit}")

    for name in objects.decode().split():
        assert f"{common}/objects/{name[:2]}/{name[2:]}" in before
        assert f"{common}/objects/{name[:2]}" in before
    refs = (f"{common}/refs/heads/{lane_worlds.BRANCH}", f"{own}/logs/HEAD", f"{own}/index", own)
    files = (scene.tree / "new", scene.tree / "deep" / "er", scene.tree / "deep", scene.tree)
    assert {*refs, *map(str, files)} <= set(before)
    assert str(scene.tree / "b") not in before, "what is as it was costs nothing"
    desk.journal.close()


@pytest.mark.req("REL-10")
def test_no_clock_says_what_is_synced(memory: Path) -> None:
    """A clock that was set back gives files times that are older than the command."""
    (memory / "old").write_text("old", encoding="utf-8")
    (memory / "changed").write_text("one", encoding="utf-8")
    order = Order("a", ("true",), str(memory), {}, 1.0, durable=(str(memory),))
    before = durability.look(order)
    (memory / "changed").write_text("two", encoding="utf-8")
    (memory / "new").write_text("new", encoding="utf-8")
    for name in ("changed", "new"):
        os.utime(memory / name, (1, 1))
    with synced() as seen:
        durability.made_durable(order, before, Ended("exited", 0))

    assert seen == [*sorted([memory / "changed", memory / "new"], key=seen.index), memory]


@STRACE
@pytest.mark.req("EFF-01")
def test_mark_that_it_began_is_durable_up_to_the_journals_own_folder(
    desk: Desk, tmp_path: Path
) -> None:
    """Whoever made the folders may have died before they were synced."""
    folder = desk.folder("a")
    os.makedirs(folder.path)
    calls = traced(desk, desk.order("a", "true"), tmp_path / "trace")
    ordered = calls.index(folder.at("order.json"))
    homes = {folder.path, os.path.dirname(folder.path), desk.journal.folder}

    assert homes <= set(calls[ordered:])


@pytest.mark.req("EFF-01")
def test_agent_that_deletes_its_own_worktree_has_ended(
    scene: lane_worlds.Scene, desk: Desk
) -> None:
    script = f'{SCRIPT}; rm -rf "$PWD"; echo gone; exit 6'
    ended = desk.end("a", script, durable=(str(scene.tree),), git=homes(scene))

    assert (ended.how, ended.status, ended.out) == ("exited", 6, "gone\n")
    assert not scene.tree.exists()
    kept = scene.git("log", "-1", "--format=%s", lane_worlds.BRANCH, cwd=scene.repo)
    assert kept == b"work\n"


@pytest.mark.req("EFF-01")
def test_agent_that_deletes_the_repository_of_its_worktree_has_ended(
    scene: lane_worlds.Scene, desk: Desk
) -> None:
    """All but the journal, which lives in there."""
    own, common = homes(scene)
    script = f"cd {common} && rm -rf objects refs worktrees HEAD; exit 6"
    ended = desk.end("a", script, durable=(str(scene.tree),), git=(own, common))

    assert (ended.how, ended.status) == ("exited", 6)


def test_tree_that_is_gone_is_no_failure(tmp_path: Path) -> None:
    order = Order("a", ("true",), str(tmp_path), {}, 1.0, durable=(str(tmp_path / "none"),))

    assert durability.made_durable(order, None, Ended("exited", 0)) == Ended("exited", 0)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_is_passed_over(tmp_path: Path) -> None:
    for name in ("file", "folder"):
        (tmp_path / name).mkdir() if name == "folder" else (tmp_path / name).touch()
        (tmp_path / name).chmod(0)
    order = Order("a", ("true",), str(tmp_path), {}, 1.0, durable=(str(tmp_path),))

    assert durability.made_durable(order, None, Ended("exited", 0)).how == "exited"
    (tmp_path / "folder").chmod(0o700)


def test_link_and_fifo_in_a_worktree_are_passed_over(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to("/dev/full")
    order = Order("a", ("true",), str(tmp_path), {}, 1.0, durable=(str(tmp_path),))

    assert durability.made_durable(order, None, Ended("exited", 0)).how == "exited"


def test_disk_that_refuses_makes_an_end_that_went_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    order = Order("a", ("true",), str(tmp_path), {}, 1.0, durable=(str(tmp_path),))

    def refuse(*_: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(filesystems, "sync", refuse)
    ended = durability.made_durable(order, None, Ended("exited", 0, err="its own\n"))

    assert not ended.is_ok
    assert (ended.how, ended.status) == ("not durable", 0)
    assert ended.err.startswith("its own\n")
    assert "Input/output error" in ended.err
