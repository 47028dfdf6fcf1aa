"""A rollback in real repositories: nothing that was there is lost, whatever it was."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from subprocess import CalledProcessError, run
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import lane_worlds
from harness.faults.world import quick_folder
from lane_worlds import Scene, build, roll_back, statuses, write
from standfast.errors.lanes import LaneBusy
from standfast.git import snapshot
from standfast.git.command import Git
from standfast.journal.verification import verify
from standfast.protocols.checkpoints.records import checkpoint_records as recorded
from standfast.runs.lanes import lane_rollback
from standfast.runs.records import rollback_records


@pytest.fixture
def quick(world: Path) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=quick_folder()) as folder:
        yield Path(folder)


@pytest.fixture
def scene(quick: Path) -> Scene:
    return build(quick)


def everything(scene: Scene) -> set[str]:
    """Every blob and commit that is in HEAD, in the index or, ignored or not, in the worktree."""
    rows = scene.git("ls-files", "-s", "-z").split(b"\0")[:-1]
    staged = {row.split()[1].decode() for row in rows}
    return {blob for _, blob in scene.files().values()} | staged | scene.reachable()


def nothing_is_lost(before: set[str], scene: Scene) -> None:
    assert before <= everything(scene)


# Any worktree.

NAMES = [b"a", b"b", b"sub/c", b"with space", b"new\nline", b"\xff\xfe", b"x/y/z", b"sub", b"x",
         b"-dash", "\u00fcml".encode(), b'quo"te\\', b".gitattributes", b"some.log"]  # fmt: skip
CONTENTS = [b"", b"one\n", b"two\r\nlines\r\n", b"\0\xff binary", b"* text=auto eol=lf\n", b"b\n"]
OPS = st.one_of(
    st.tuples(st.just("write"), st.sampled_from(NAMES), st.sampled_from(CONTENTS)),
    st.tuples(
        st.just("link"), st.sampled_from(NAMES), st.sampled_from([b"a", b"/nowhere", b"\xfe"])
    ),
    st.tuples(st.just("delete"), st.sampled_from(NAMES), st.just(b"")),
    st.tuples(st.just("exec"), st.sampled_from(NAMES), st.just(b"")),
    st.tuples(st.just("stage"), st.just(b""), st.just(b"")),
    st.tuples(st.just("forced"), st.sampled_from(NAMES), st.just(b"")),
    st.tuples(st.just("untrack"), st.sampled_from(NAMES), st.just(b"")),
    st.tuples(st.just("commit"), st.just(b""), st.just(b"")),
)


def apply(scene: Scene, op: tuple[str, bytes, bytes]) -> None:
    what, name, data = op
    path = os.path.join(os.fsencode(scene.tree), name)
    with suppress(OSError, CalledProcessError):
        if what in ("write", "link"):
            clear(scene, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
        if what == "write":
            Path(os.fsdecode(path)).write_bytes(data)
        elif what == "link":
            os.symlink(data, path)
        elif what == "delete":
            clear(scene, name)
        elif what == "exec" and not os.path.islink(path):
            os.chmod(path, 0o755)
        elif what == "stage":
            scene.git("add", "-A")
        elif what == "forced":
            scene.git("add", "-f", "--", os.fsdecode(name))
        elif what == "untrack":
            scene.git("rm", "-r", "-q", "--cached", "--", os.fsdecode(name))
        elif what == "commit":
            scene.git("commit", "-q", "--allow-empty", "-m", "more")


def clear(scene: Scene, name: bytes) -> None:
    """Whatever stands at a path or above it gives way."""
    path = os.fsencode(scene.tree)
    for part in name.split(b"/"):
        path = os.path.join(path, part)
        if os.path.islink(path) or os.path.isfile(path):
            os.unlink(path)
    shutil.rmtree(path, ignore_errors=True)


@pytest.mark.req("CKP-05")
@settings(max_examples=15, suppress_health_check=list(HealthCheck), deadline=None)
@given(st.lists(OPS, max_size=14), st.sampled_from([None, "before_lane_start"]))
def test_every_byte_reachable_before_is_reachable_after(
    ops: list[tuple[str, bytes, bytes]], to: str | None
) -> None:
    with tempfile.TemporaryDirectory(dir=quick_folder()) as folder:
        scene = build(Path(folder))
        for op in ops:
            apply(scene, op)
        write(scene, "after_lane_tests", "failed")
        before, files = everything(scene), scene.files()
        ignored = {n for n in files if n.endswith(b".log") and not scene.git("ls-files", "--", n)}

        done = roll_back(scene, to)

        nothing_is_lost(before, scene)
        assert scene.head() == scene.base
        assert scene.git("status", "--porcelain") == b""
        after = scene.files()
        for name in ignored:  # nobody asked for these
            assert after[name] == files[name]
        if done.told is not None:
            kept = in_tree(scene, done.told.backup or done.told.target)
            for name, entry in files.items():
                assert kept.get(name) == entry or (name in ignored and name not in kept)


def in_tree(scene: Scene, commit: str) -> dict[bytes, tuple[str, str]]:
    rows = scene.git("ls-tree", "-r", "-z", commit).split(b"\0")[:-1]
    facts = [row.partition(b"\t") for row in rows]
    return {name: (said.split()[0].decode(), said.split()[2].decode()) for said, _, name in facts}


def dirty(scene: Scene) -> None:
    """Something of every kind."""
    scene.commit("two", "two\n")
    (scene.tree / "a").write_bytes(b"staged\n")
    scene.git("add", "a")
    (scene.tree / "a").write_bytes(b"edited\n")
    (scene.tree / "b").unlink()
    (scene.tree / "deep" / "er").mkdir(parents=True)
    (scene.tree / "deep" / "er" / "new").write_bytes(b"untracked\n")
    (scene.tree / "link").symlink_to("a")
    (scene.tree / "kept.log").write_bytes(b"ignored\n")
    write(scene, "after_lane_tests", "failed")


@pytest.mark.req("CKP-05")
def test_staged_work_and_the_ignored_file_in_the_way_are_kept(scene: Scene) -> None:
    scene.git("rm", "-q", "b")
    (scene.tree / ".gitignore").write_bytes(b"*.log\nb\n")
    scene.git("add", ".gitignore")
    scene.git("commit", "-q", "-m", "b is made now")
    (scene.tree / "b").mkdir()
    (scene.tree / "b" / "made").write_bytes(b"ignored, and in the way of the target's b\n")
    (scene.tree / "a").write_bytes(b"staged\n")
    scene.git("add", "a")
    (scene.tree / "a").write_bytes(b"edited\n")
    before = everything(scene)

    done = roll_back(scene)

    assert done.told is not None
    nothing_is_lost(before, scene)
    assert (scene.tree / "b").read_bytes() == b"b\n"
    kept = in_tree(scene, str(done.told.backup))
    assert kept[b"b/made"][1] in before
    assert scene.git("show", f"{done.told.backup}:a") == b"edited\n"
    assert scene.git("show", f"{done.told.backup}^2:a") == b"staged\n"


@pytest.mark.req("CKP-05")
def test_bytes_that_git_would_convert_are_kept_as_they_are(scene: Scene) -> None:
    (scene.tree / ".gitattributes").write_bytes(b"* text=auto eol=lf\n*.id ident\n")
    (scene.tree / "a").write_bytes(b"two\r\nlines\r\n")
    (scene.tree / "x.id").write_bytes(b"$Id: somebody's $\n")
    write(scene, "after_lane_tests", "failed")

    done = roll_back(scene)

    assert done.told is not None
    assert scene.git("cat-file", "blob", f"{done.told.backup}:a") == b"two\r\nlines\r\n"
    assert scene.git("cat-file", "blob", f"{done.told.backup}:x.id") == b"$Id: somebody's $\n"


@pytest.mark.req("CKP-05")
def test_untracked_file_that_changes_meanwhile_stays(scene: Scene) -> None:
    dirty(scene)
    real = Git.write

    def write_then_edit(git: Git, *args: str, **named: Any) -> bytes:
        said = real(git, *args, **named)
        if args[0] == "reset":
            (scene.tree / "deep" / "er" / "new").write_bytes(b"just now\n")
        return said

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Git, "write", write_then_edit)
        done = roll_back(scene)

    assert done.left == ("deep/er/new",)
    assert (scene.tree / "deep" / "er" / "new").read_bytes() == b"just now\n"


@pytest.mark.req("CKP-05")
def test_nothing_moves_before_its_backup_is_durable_and_told(scene: Scene) -> None:
    dirty(scene)
    order: list[str] = []

    def noting(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            order.append(arguments[1] if name == "write" else name)
            return real(*arguments, **named)

        return call

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Git, "write", noting("write", Git.write))
        patch.setattr(Git, "make_durable", noting("durable", Git.make_durable))
        patch.setattr(rollback_records, "tell", noting("told", rollback_records.tell))
        patch.setattr(os, "unlink", noting("unlink", os.unlink))
        roll_back(scene)

    wanted = ("update-ref", "durable", "told", "reset", "unlink")
    steps = [step for step in order[order.index("update-ref") :] if step in wanted]
    assert list(dict.fromkeys(steps)) == list(wanted)
    assert steps[-2:] == ["durable", "told"]


@pytest.mark.req("CKP-05")
def test_repository_with_the_longer_hash(quick: Path) -> None:
    repo = quick / "repo"
    repo.mkdir()
    for argv in (["init", "-q", "-b", "main", "--object-format=sha256"],
                 ["commit", "-q", "--allow-empty", "-m", "first"]):  # fmt: skip
        run(["git", *argv], cwd=repo, check=True, capture_output=True)
    scene = build(quick)
    (scene.tree / "new").write_bytes(b"untracked\n")
    write(scene, "after_lane_tests", "failed")

    done = roll_back(scene)

    assert done.told is not None
    assert scene.git("show", f"{done.told.backup}:new") == b"untracked\n"
    assert not (scene.tree / "new").exists()


@pytest.mark.req("CKP-05", "CKP-14")
def test_later_records_are_marked_and_a_second_call_has_nothing_to_do(scene: Scene) -> None:
    tested = scene.commit("two", "two\n")
    write(scene, "after_lane_tests", "complete", head_sha=tested)
    scene.commit("three", "three\n")
    write(scene, "pre_pr", "failed", head_sha=scene.head())

    first, second = roll_back(scene), roll_back(scene)

    assert (first.aim.stage, first.aim.sha, first.moved) == ("after_lane_tests", tested, True)
    assert (second.aim.stage, second.moved) == ("after_lane_tests", False)
    assert scene.head() == tested
    assert statuses(scene)["pre_pr"] == "rolled_back"
    assert statuses(scene)["after_lane_tests"] == "complete"
    assert len(scene.backups()) == 1


@pytest.mark.req("CKP-05")
def test_branch_is_reset_where_the_worktree_is_gone(scene: Scene) -> None:
    head = scene.commit("two", "two\n")
    write(scene, "after_lane_tests", "failed")
    scene.git("worktree", "remove", str(scene.tree), cwd=scene.repo)

    done = roll_back(scene)

    assert done.told is not None
    tip = scene.git("rev-parse", f"refs/heads/{lane_worlds.BRANCH}", cwd=scene.repo)
    assert tip.decode().strip() == scene.base
    kept = scene.git("rev-parse", str(done.told.backup), cwd=scene.repo)
    assert kept.decode().strip() == head


def test_second_rollback_at_the_same_time_is_told_who_is_at_it(scene: Scene) -> None:
    journal = scene.journal()
    with lane_rollback._alone(journal), pytest.raises(LaneBusy, match="another rollback"):
        roll_back(scene)


# Death.


class Death(BaseException):
    pass


class Fuse:
    """Lets *left* calls be made, and dies right after the last of them."""

    def __init__(self, left: int) -> None:
        self.left = left

    def on(self, real: Callable[..., Any], only: Sequence[str] = ()) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            done = real(*arguments, **named)
            self.left -= 1 if not only or arguments[1] in only else 0
            if self.left == 0:
                raise Death
            return done

        return call


def die_in(scene: Scene, fuse: Fuse) -> None:
    with pytest.MonkeyPatch.context() as patch, suppress(Death):
        patch.setattr(Git, "write", fuse.on(Git.write, only=("update-ref", "reset")))
        for owner, name in (
            (lane_rollback, "_snapshot"), (snapshot, "commit"), (Git, "make_durable"),
            (rollback_records, "tell"), (lane_rollback, "_keep"), (os, "unlink"), (os, "rmdir"),
            (recorded, "upsert"), (lane_rollback, "_tell"),
        ):  # fmt: skip
            patch.setattr(owner, name, fuse.on(getattr(owner, name)))
        roll_back(scene)


@pytest.mark.sweep
@pytest.mark.req("CKP-05")
def test_death_after_any_step_is_finished_by_the_next_call(quick: Path) -> None:
    for nth in count(1):
        scene = build(quick / str(nth))
        dirty(scene)
        before = everything(scene)
        fuse = Fuse(nth)

        die_in(scene, fuse)
        nothing_is_lost(before, scene)
        roll_back(scene)

        nothing_is_lost(before, scene)
        assert scene.head() == scene.base, f"after step {nth}"
        assert scene.git("status", "--porcelain") == b""
        assert statuses(scene)["after_lane_tests"] == "rolled_back"
        assert len(scene.backups()) == 1, f"after step {nth}"
        journal = scene.journal()
        ends = journal.query("SELECT count(*) FROM events WHERE kind = ?", (rollback_records.DONE,))
        assert (ends[0][0], verify(journal).problems) == (1, [])
        journal.let_go()
        if fuse.left > 0:
            break
    assert nth > 12


@pytest.mark.req("CKP-05")
def test_reset_that_was_killed_in_the_middle_is_finished(scene: Scene) -> None:
    dirty(scene)
    before = everything(scene)
    with pytest.MonkeyPatch.context() as patch, suppress(Death):
        patch.setattr(lane_rollback, "_keep", Fuse(1).on(lane_rollback._keep))
        roll_back(scene)
    (scene.tree / "b").write_bytes(b"b\n")  # one file of the target, and git's lock
    lock = Path(scene.git("rev-parse", "--absolute-git-dir").decode().strip(), "index.lock")
    lock.write_bytes(b"half an index")

    roll_back(scene)

    nothing_is_lost(before, scene)
    assert not lock.exists()
    assert scene.git("status", "--porcelain") == b""
    assert len(scene.backups()) == 1


@pytest.mark.req("CKP-05")
def test_work_between_a_death_and_the_next_call_gets_a_backup_of_its_own(scene: Scene) -> None:
    dirty(scene)
    before = everything(scene)
    with pytest.MonkeyPatch.context() as patch, suppress(Death):
        patch.setattr(lane_rollback, "_keep", Fuse(1).on(lane_rollback._keep))
        roll_back(scene)
    (scene.tree / "a").write_bytes(b"edited once more\n")
    (scene.tree / "newer").write_bytes(b"newer\n")
    before |= everything(scene)

    done = roll_back(scene)

    nothing_is_lost(before, scene)
    assert done.told is not None
    assert list(done.told.backups) == scene.backups()
    assert len(scene.backups()) == 2
    assert scene.git("status", "--porcelain") == b""
