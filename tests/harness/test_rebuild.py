"""A state of the model is on the disk exactly, whatever was there before."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.faults.power.disk_model import Tree
from harness.faults.power.rebuild import Ground, modes

pytestmark = pytest.mark.req("REL-02")


def held(folder: Path) -> Tree:
    return {
        str(path.relative_to(folder)): None if path.is_dir() else path.read_bytes()
        for path in folder.rglob("*")
    }


TREES = st.dictionaries(
    st.sampled_from(["a", "b", "d/a", "d/b"]), st.binary(max_size=3), max_size=4
).map(lambda files: {**({"d": None} if any("/" in path for path in files) else {}), **files})


@settings(suppress_health_check=list(HealthCheck), deadline=None)
@given(trees=st.lists(TREES, min_size=1, max_size=5))
def test_each_state_follows_the_one_before(
    tmp_path_factory: pytest.TempPathFactory, trees: list[Tree]
) -> None:
    folder = tmp_path_factory.mktemp("ground")
    ground = Ground(str(folder), {})

    for tree in trees:
        ground.lay(tree)

        assert held(folder) == tree


def test_what_recovery_wrote_is_put_back(tmp_path: Path) -> None:
    tree: Tree = {"same": b"1", "written": b"2", "removed": b"3", "linked": b"4", "d": None}
    ground = Ground(str(tmp_path), {})
    ground.lay(tree)
    (tmp_path / "written").write_bytes(b"9")  # as long as before, and within the same moment
    (tmp_path / "removed").unlink()
    (tmp_path / "d").rmdir()
    (tmp_path / "d").write_bytes(b"a file now")
    (tmp_path / "linked").unlink()
    os.link(tmp_path / "same", tmp_path / "linked")

    ground.lay(tree)

    assert held(tmp_path) == tree


def test_file_that_is_right_is_left_alone(tmp_path: Path) -> None:
    ground = Ground(str(tmp_path), {})
    ground.lay({"large": b"1", "other": b"2"})
    before = os.stat(tmp_path / "large").st_ino

    ground.lay({"large": b"1", "other": b"3"})

    assert os.stat(tmp_path / "large").st_ino == before


def test_modes_are_as_they_were_or_private(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir(mode=0o755)
    (tmp_path / "d" / "hook").touch(mode=0o744)
    ground = Ground(str(tmp_path), modes(str(tmp_path)))

    ground.lay({"d": None, "d/hook": b"x", "d/new": b"y", "e": None})

    assert os.stat(tmp_path / "d" / "hook").st_mode & 0o777 == 0o744
    assert os.stat(tmp_path / "d" / "new").st_mode & 0o777 == 0o600
    assert os.stat(tmp_path / "e").st_mode & 0o777 == 0o700
