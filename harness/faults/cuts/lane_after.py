"""What must be true of a repository after a power cut under one of its lanes."""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, NamedTuple

from standfast.processes import programs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.faults.world import World

TREE = os.path.join(".worktrees", "r1", "P1", "SL-1")
BRANCH = "lane/P1/SL-1"
FILES = 60
CONTENTS = {f"part/f{n}": f"{n}\n".encode() * 50 * (n + 1) for n in range(FILES)}  # at first
MADE = {
    "by-one": b"1" * 30_000,
    "by-two": b"2" * 30_000,
    "part/f3": b"one\n",
    "part/f5": b"two\n",
    "moved": b"moved\n",
}


class Before(NamedTuple):
    """What was there when the scene began: every file of the lane, and its branch."""

    blobs: frozenset[str]
    tip: str


def before(world: World) -> Before:
    """What must never be lost by a rollback: each file's contents, staged ones too."""
    tree = os.path.join(world.repo, TREE)
    if not os.path.isdir(tree):
        return Before(frozenset(), "")
    staged = git(world, "ls-files", "--stage", cwd=tree).splitlines()
    blobs = {line.split()[1] for line in staged} | set(_blobs(tree))
    return Before(frozenset(blobs), git(world, "rev-parse", BRANCH).strip())


def _blobs(top: str) -> Iterator[str]:
    for folder, folders, names in os.walk(top):
        if ".git" in folders:
            folders.remove(".git")
        for name in names:
            if name != ".git":
                with open(os.path.join(folder, name), "rb") as file:
                    yield blob(file.read())


def blob(data: bytes) -> str:
    """The name that git gives to these bytes."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def git(world: World, *words: str, cwd: str | None = None) -> str:
    """Plain git, as a person calls it."""
    env = {"HOME": world.home, "PATH": os.environ["PATH"]}
    done = programs.run(("git", *words), cwd=cwd or world.repo, env=env, timeout_s=60)
    if done.status != 0:
        raise RuntimeError(f"git {words[0]}: {done.stderr.decode('utf-8', 'replace')[:300]}")
    return done.stdout.decode("utf-8", "replace")


def merged(world: World, _before: Before) -> Iterator[str]:
    """Once on the base, whole, and the checkout of the base shows it."""
    subjects = git(world, "log", "--format=%s", "main").splitlines()
    if twice := {each for each in subjects if subjects.count(each) > 1}:
        yield f"wrong on the base twice: {twice}"
    merges = git(world, "rev-list", "--merges", "--first-parent", "main").split()
    if len(merges) != 1:
        yield f"wrong it was merged {len(merges)} times"
    tree = read_tree(world, "main")
    for name, data in MADE.items():
        if tree.get(name) != blob(data):
            yield f"lost {name} is not on the base as it was made"
    if "part/f4" in tree or len(tree) != FILES + 2:
        yield f"wrong the base has {len(tree)} files"
    untouched = set(CONTENTS) - set(MADE) - {"part/f4"}
    if torn := sorted(name for name in untouched if tree.get(name) != blob(CONTENTS[name])):
        yield f"lost {len(torn)} files that nobody changed are others on the base: {torn[:5]}"
    yield from checked_out(world, tree, world.repo)
    yield from left(world)


def read_tree(world: World, commit: str) -> dict[str, str]:
    """The files of a commit: name and blob."""
    rows = (line.split("\t") for line in git(world, "ls-tree", "-r", commit).splitlines())
    return {name: facts.split()[2] for facts, name in rows}


def checked_out(world: World, tree: dict[str, str], top: str) -> Iterator[str]:
    """The files of a checkout are those of its commit, byte for byte."""
    for name, which in tree.items():
        try:
            with open(os.path.join(top, name), "rb") as file:
                found = blob(file.read())
        except FileNotFoundError:
            found = ""
        if found != which:
            yield f"half {name} in the checkout is not what its commit has"
    said = git(world, "status", "--porcelain", "-uno", cwd=top).strip()
    if said:
        yield f"wrong the checkout is not clean: {said[:200]}"


def left(world: World) -> Iterator[str]:
    """No lock of git's is left behind."""
    for _, folders, names in os.walk(os.path.join(world.repo, ".git")):
        if "standfast" in folders:
            folders.remove("standfast")
        yield from (f"half {name} was left behind" for name in names if name.endswith(".lock"))


def rolled_back(world: World, before: Before) -> Iterator[str]:
    """The lane is where it started, and refs lead to everything that was there."""
    start = git(world, "rev-parse", "main").strip()
    if git(world, "rev-parse", BRANCH).strip() != start:
        yield "wrong the lane is not where it started"
    reachable = set(git(world, "rev-list", "--objects", "--no-object-names", "--all").split())
    if missing := before.blobs - reachable:
        yield f"lost {len(missing)} files are under no ref"
    if before.tip not in reachable:
        yield "lost the lane's commit is under no ref"
    kept = git(world, "for-each-ref", "--format=%(refname)", "refs/standfast").split()
    for ref in kept:
        yield from whole(world, ref)
    yield from checked_out(world, read_tree(world, start), os.path.join(world.repo, TREE))


def whole(world: World, commit: str) -> Iterator[str]:
    """Whether every object of a commit can be read."""
    try:
        names = git(world, "rev-list", "--objects", "--no-object-names", commit)
        done = programs.run(
            ("git", "cat-file", "--batch-check=%(objecttype)", "--buffer"), cwd=world.repo,
            env={"HOME": world.home, "PATH": os.environ["PATH"]}, stdin=names.encode(),
            timeout_s=60,
        )  # fmt: skip
        git(world, "archive", "--format=tar", "-o", os.devnull, commit)
    except RuntimeError as error:
        yield f"lost {commit} cannot be read: {error}"
        return
    if b"missing" in done.stdout or done.status != 0:
        yield f"lost objects of {commit} are missing"
