"""A push opens the very repository that git opens for a path, whatever lies beside it."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from lane_runs import WRITES, Lane, build
from standfast.errors.lanes import PushRefused
from standfast.git import push_address
from standfast.git.opened_repository import opened
from standfast.runs import vouched_lanes
from standfast.runs.vouched_lanes import Where

pytestmark = pytest.mark.req("SEC-03", "SEC-09")


def bare(path: Path, name: str = "main") -> Path:
    """A repository that can be told from others by its one branch."""
    subprocess.run(["git", "init", "-q", "--bare", "-b", name, str(path)], check=True)

    def git(*words: str) -> str:
        done = subprocess.run(
            ["git", *words], cwd=path, check=True, capture_output=True, encoding="utf-8"
        )
        return done.stdout.strip()

    tree = git("hash-object", "-t", "tree", "-w", os.devnull)
    commit = git("commit-tree", "-m", name, tree)
    subprocess.run(["git", "update-ref", f"refs/heads/{name}", commit], cwd=path, check=True)
    return path


def leads(file: Path, to: Path | str) -> None:
    file.write_text(f"gitdir: {to}\n", encoding="utf-8")


def suffix(top: Path, there: Path) -> None:
    (top / "x.git").symlink_to(there)


def gitfile(top: Path, there: Path) -> None:
    (top / "x").mkdir()
    leads(top / "x" / ".git", there)


def bare_gitfile(top: Path, there: Path) -> None:
    leads(top / "x", there)


def relative_gitfile(top: Path, there: Path) -> None:
    leads(top / "x", os.path.relpath(there, top))


def dot_git_link(top: Path, there: Path) -> None:
    (top / "x").mkdir()
    (top / "x" / ".git").symlink_to(there)


def long_suffix(top: Path, there: Path) -> None:
    (top / "x.git").mkdir()
    (top / "x.git" / ".git").symlink_to(there)


def link(top: Path, there: Path) -> None:
    (top / "x").symlink_to(there)


def beside_a_real_one(top: Path, there: Path) -> None:
    bare(top / "x", "real")
    leads(top / "x" / ".git", there)


def beside_a_broken_one(top: Path, there: Path) -> None:
    (bare(top / "x", "real") / "HEAD").write_text("nothing\n", encoding="utf-8")
    (top / "x.git").symlink_to(there)


def shared_with(top: Path, there: Path) -> None:
    """A git directory that has the hooks of another one, as worktrees do."""
    (top / "x").mkdir()
    (top / "x" / "HEAD").write_text("ref: refs/heads/x\n", encoding="utf-8")
    (top / "x" / "commondir").write_text(f"{there}\n", encoding="utf-8")


WAYS = [suffix, gitfile, bare_gitfile, relative_gitfile, dot_git_link, long_suffix, link,
        beside_a_real_one, beside_a_broken_one, shared_with]  # fmt: skip


@pytest.mark.sweep(4)
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("form", ["{}", "file://{}", "{}/", "{}//"])
def test_path_that_leads_into_the_repository_is_refused(
    world: Path, tmp_path: Path, way: Callable[[Path, Path], None], form: str
) -> None:
    lane = build(tmp_path)
    vendor = bare(lane.repo / "vendor.git", "vendor")
    hook, ran = vendor / "hooks" / "pre-receive", tmp_path / "ran"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch '{ran}'\n", encoding="utf-8")
    hook.chmod(0o755)
    way(tmp_path, vendor)
    path = tmp_path / "x"
    lane.git("remote", "add", "origin", form.format(path))
    here = Where(os.environ["XDG_STATE_HOME"], str(lane.repo / ".git/standfast"), str(lane.repo))
    vouched_lanes.trust_addresses(here, [str(path)], "ann")

    done = lane.run(WRITES, "--merge", "pr")

    assert not ran.exists()
    assert (done.returncode, "inside this repository" in done.stderr) == (107, True), done.stderr


def nothing(_top: Path, _there: Path) -> None:
    """It is not there."""


def itself(top: Path, there: Path) -> None:
    there.rename(top / "x")


def beside(top: Path, _there: Path) -> None:
    bare(top / "x.git", "beside")


def both(top: Path, there: Path) -> None:
    beside(top, there)
    link(top, there)


def dead_gitfile(top: Path, _there: Path) -> None:
    leads(top / "x", top / "nowhere")


def plain_file(top: Path, _there: Path) -> None:
    (top / "x").write_text("no repository\n", encoding="utf-8")


def gitfile_and_beside(top: Path, there: Path) -> None:
    gitfile(top, there)
    beside(top, there)


LAYOUTS = [*WAYS, nothing, itself, beside, both, dead_gitfile, plain_file, gitfile_and_beside]


@pytest.mark.sweep(4)
@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.__name__)
@pytest.mark.parametrize("end", ["", "/", ".git", "/.git"])
def test_git_opens_the_same(
    world: Path, tmp_path: Path, layout: Callable[[Path, Path], None], end: str
) -> None:
    layout(tmp_path, bare(tmp_path / "there", "there"))
    asked = f"{tmp_path}/x{end}"

    def refs(path: str) -> str | None:
        done = subprocess.run(["git", "ls-remote", path], capture_output=True, encoding="utf-8",
                              cwd="/", check=False)  # fmt: skip
        return done.stdout if done.returncode == 0 else None

    found = opened(asked)

    assert refs(asked) == (None if found is None else refs(found))
    if found is not None:
        assert found == os.path.realpath(found)


def test_repository_within_a_repository_is_not_what_is_trusted(tmp_path: Path) -> None:
    """Its own name would lead on to the inner one."""
    real = bare(tmp_path / "real.git")
    leads(tmp_path / "x", real)
    bare(real / ".git", "inner")

    with pytest.raises(PushRefused):
        push_address.resolved(str(tmp_path / "x"), "/")


def test_home_is_where_git_looks_for_it(world: Path) -> None:
    home = Path(os.environ["HOME"])
    there = bare(home / "team.git")

    assert push_address.resolved("~/team.git", "/") == str(there)
    assert push_address.resolved("~/team", "/") == str(there)
    with pytest.raises(PushRefused):
        push_address.resolved("~nobody-of-this-name/x", "/")


def test_person_is_shown_the_repository_that_is_meant(world: Path, tmp_path: Path) -> None:
    lane = build(tmp_path)
    there = bare(tmp_path / "real.git")
    leads(tmp_path / "x", there)
    lane.git("remote", "add", "origin", str(tmp_path / "x"))

    done = lane.run(WRITES, "--merge", "pr")

    assert done.returncode == 107
    assert f"pushed to {there} on this machine" in done.stderr


def test_path_in_a_worktree_of_the_repository_elsewhere_is_inside_it(
    world: Path, tmp_path: Path
) -> None:
    lane = build(tmp_path)
    lane.git("worktree", "add", "-q", "-b", "other", str(tmp_path / "elsewhere"))
    bare(tmp_path / "elsewhere" / "vendor.git")
    lane.git("remote", "add", "origin", str(tmp_path / "elsewhere" / "vendor.git"))

    done = lane.run(WRITES, "--merge", "pr")

    assert (done.returncode, "inside this repository" in done.stderr) == (107, True), done.stderr


def test_what_was_trusted_and_is_gone_is_not_looked_for_elsewhere(
    world: Path, tmp_path: Path
) -> None:
    lane: Lane = build(tmp_path)
    there = bare(tmp_path / "real.git")
    lane.git("remote", "add", "origin", str(there))
    here = Where(os.environ["XDG_STATE_HOME"], str(lane.repo / ".git/standfast"), str(lane.repo))
    vouched_lanes.trust_addresses(here, [str(there)], "ann")

    done = lane.run(f"mv '{there}' '{there}.git'; {WRITES}", "--merge", "pr")

    assert done.returncode == 1
    assert f"pushed to {there}.git" in done.stderr
    assert "is trusted" in done.stderr
