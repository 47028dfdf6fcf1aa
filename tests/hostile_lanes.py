"""Repositories that try to run a program when a lane's git is at work: each shown live first.

They add to hostile_repos what only the verbs of lanes set off: trees merged without files, a
worktree made, files brought forward or written again.
"""

from collections.abc import Callable
from pathlib import Path

import hostile_repos
from hostile_repos import Scene, Trap, driver, hook, included, settings

_MERGE = (("merge-tree", "--write-tree", "main", "other"),)
_FORWARD = (("read-tree", "--reset", "-u", "later"),)
_AGAIN = (("restore", "--source=later", "--worktree", "data.txt"),)
_NEW = (("worktree", "add", "-q", "-b", "lane/new", "../planted", "main"),)
_LOOK = (("diff-files", "-p"), ("update-index", "-q", "--refresh"))
_REF = (("update-ref", "refs/heads/x", "main"),)


def committed(attribute: str, *pairs: str) -> Callable[[Scene], None]:
    """The attribute is in every commit, so that a fresh checkout has it too."""

    def plant(scene: Scene) -> None:
        for branch in ("other", "easy", "main"):
            scene.git("checkout", "-q", "-f", branch)
            scene.write(".gitattributes", f"*.txt {attribute}\n")
            scene.git("add", "-A")
            scene.git("commit", "-q", "-m", "attributes")
        scene.git("checkout", "-q", "-f", "main")
        go_later(scene)
        settings(*pairs)(scene)

    return plant


def build_scene(folder: Path) -> Scene:
    """Have a scene with a commit to go forward to."""
    return hostile_repos.build_scene(folder, _branch_out_and_later)


def _branch_out_and_later(repo: Path) -> None:
    hostile_repos.branch_out(repo)
    go_later(Scene(repo=repo, program=repo, canary=repo))


def go_later(scene: Scene) -> None:
    """Have a commit after `main` that changes a text file, without leaving `main`."""
    scene.git("checkout", "-q", "-f", "-B", "later", "main")
    scene.write("data.txt", "later\n")
    scene.git("add", "-A")
    scene.git("commit", "-q", "-m", "later")
    scene.git("checkout", "-q", "-f", "main")


def plant_worktree_filter(scene: Scene) -> None:
    """Settings of one worktree are copied into each that is made from it."""
    driver("filter=own", file=".git/info/attributes")(scene)
    scene.config("extensions.worktreeConfig", "true")
    scene.git("config", "--worktree", "filter.own.smudge", str(scene.program))


def plant_renormalising(scene: Scene) -> None:
    committed("filter=evil", "filter.evil.clean", "@", "merge.renormalize", "true")(scene)


def plant_submodule_conflict(scene: Scene) -> None:
    """Both sides moved a submodule: git looks into it, where a remote has what is missing."""
    inner = scene.repo / "inner"
    inner.mkdir()
    scene.git("init", "-q", "-b", "main", cwd=inner)
    ids = []
    for text in ("one\n", "two\n", "three\n"):
        scene.write("inner/data.txt", text)
        scene.git("add", ".", cwd=inner)
        scene.git("commit", "-q", "-m", text, cwd=inner)
        ids.append(scene.git("rev-parse", "HEAD", cwd=inner).decode().strip())
    for branch, at in (("main", ids[0]), ("other", ids[1]), ("easy", ids[1]), ("later", ids[2])):
        scene.git("checkout", "-q", "-f", branch)
        scene.git("update-index", "--add", "--cacheinfo", f"160000,{at},inner")
        scene.git("commit", "-q", "-m", "inner")
    scene.git("checkout", "-q", "-f", "main")
    pairs = {"core.fsmonitor": str(scene.program), "extensions.partialClone": "origin"}
    pairs |= {"remote.origin.promisor": "true", "remote.origin.url": "/nowhere"}
    pairs |= {"remote.origin.uploadpack": str(scene.program)}
    for key, value in pairs.items():
        scene.git("config", key, value, cwd=inner)
    (inner / ".git/objects" / ids[2][:2] / ids[2][2:]).unlink()


def _traps() -> list[Trap]:
    smudge, clean = ("filter.evil.smudge", "@"), ("filter.evil.clean", "@")
    process = ("filter.evil.process", "@", "filter.evil.required", "true")
    hidden = ("filter.hidden.smudge", "@")
    return [
        Trap(
            name="merge driver of trees",
            plant=committed("merge=evil", "merge.evil.driver", "@ %A"),
            sets_off=_MERGE,
        ),
        Trap(
            name="merge driver of trees by default",
            plant=settings("merge.evil.driver", "@ %A", "merge.default", "evil"),
            sets_off=_MERGE,
        ),
        Trap(name="clean filter of merged trees", plant=plant_renormalising, sets_off=_MERGE),
        Trap(
            name="smudge filter of merged trees",
            plant=committed("filter=evil", *smudge, "merge.renormalize", "true"),
            sets_off=_MERGE,
        ),
        Trap(
            name="smudge filter going forward",
            plant=committed("filter=evil", *smudge),
            sets_off=_FORWARD,
        ),
        Trap(
            name="process filter going forward",
            plant=committed("filter=evil", *process),
            sets_off=_FORWARD,
        ),
        Trap(
            name="clean filter going forward",
            plant=committed("filter=evil", *clean),
            sets_off=_LOOK,
        ),
        Trap(
            name="smudge filter written again",
            plant=committed("filter=evil", *smudge),
            sets_off=_AGAIN,
        ),
        Trap(
            name="process filter written again",
            plant=committed("filter=evil", *process),
            sets_off=_AGAIN,
        ),
        Trap(
            name="smudge filter of a new worktree",
            plant=committed("filter=evil", *smudge),
            sets_off=_NEW,
        ),
        Trap(
            name="process filter of a new worktree",
            plant=committed("filter=e=v.i", "filter.e=v.i.process", "@"),
            sets_off=_NEW,
        ),
        Trap(
            name="several workers at a new worktree",
            plant=committed(
                "filter=evil",
                *smudge,
                "checkout.workers",
                "4",
                "checkout.thresholdForParallelism",
                "1",
            ),
            sets_off=_NEW,
        ),
        Trap(
            name="settings copied into a new worktree", plant=plant_worktree_filter, sets_off=_NEW
        ),
        Trap(
            name="filter for branches of lanes only",
            plant=included("includeIf.onbranch:lane/**.path", "more", *hidden),
            sets_off=(*_NEW, ("-C", "../planted", "reset", "-q", "--hard", "main~1")),
        ),
        Trap(
            name="filter for new worktrees only, as lanes have them",
            plant=included("includeIf.gitdir:**/worktrees/**.path", "more", *hidden),
            sets_off=_NEW,
        ),
        Trap(
            name="filter where a remote is named",
            plant=plant_by_remote,
            sets_off=_NEW,
        ),
        Trap(name="post-checkout of a new worktree", plant=hook("post-checkout"), sets_off=_NEW),
        Trap(
            name="reference-transaction of a new branch",
            plant=hook("reference-transaction"),
            sets_off=_NEW,
        ),
        Trap(
            name="reference-transaction of a branch that moves",
            plant=hook("reference-transaction"),
            sets_off=_REF,
        ),
        Trap(
            name="post-index-change going forward",
            plant=hook("post-index-change"),
            sets_off=(("checkout", "-q", "--", "data.txt"), *_FORWARD),
        ),
        Trap(
            name="fsmonitor going forward",
            plant=settings("core.fsmonitor", "@"),
            sets_off=(*_LOOK, *_FORWARD),
        ),
        Trap(
            name="hooks of another folder for a new worktree",
            plant=hostile_repos.plant_own_hooks_folder,
            sets_off=(("worktree", "add", "-q", "-b", "lane/new", "planted-tree", "main"),),
            harmless="a path that is relative to each worktree",
        ),
        Trap(
            name="submodule that both sides moved",
            plant=plant_submodule_conflict,
            sets_off=(*_MERGE, ("status",)),
        ),
        Trap(
            name="alias of the verbs",
            plant=settings("alias.merge-tree", "!@", "alias.read-tree", "!@"),
            sets_off=(*_MERGE, *_FORWARD),
            harmless="git ignores an alias that hides one of its own verbs",
        ),
        Trap(
            name="external diff of differing files",
            plant=driver("text", "diff.external", "@"),
            sets_off=(("diff-files", "-p"), ("diff",)),
        ),
        Trap(
            name="external diff of one driver",
            plant=committed("diff=evil", "diff.evil.command", "@", "diff.evil.textconv", "@"),
            sets_off=(("diff", "main", "later"),),
        ),
    ]


def plant_by_remote(scene: Scene) -> None:
    url = "https://git.example.invalid/x"
    scene.config("remote.origin.url", url)
    key = f"includeIf.hasconfig:remote.*.url:{url}.path"
    included(key, "more", "filter.hidden.smudge", "@")(scene)


LANE_TRAPS: tuple[Trap, ...] = tuple(_traps())
