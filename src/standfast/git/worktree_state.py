"""Which worktrees there are, and whether git is in the middle of something there."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from standfast import disk
from standfast.errors.base import GitFailed, NotARepository, TooLarge, UnsafePath
from standfast.git import git_program, shared_config, unseen_gits
from standfast.processes import programs
from standfast.wait_notice import Wait, named

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from standfast.git.command import Git

_UNFINISHED = {
    "MERGE_HEAD": "a merge",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "BISECT_LOG": "a bisection",
}
_HEADS = "refs/heads/"
_HIDDEN = ("rebase-merge/head-name", "rebase-apply/head-name", "BISECT_START")
_LINE_LIMIT = 64 * 1024
_PATIENCE_S = 10.0
_LOOK_AGAIN_S = 0.05


class Listed(NamedTuple):
    """A worktree as git knows it; the folder may be gone."""

    path: str
    branch: str | None
    is_main: bool
    is_bare: bool = False


def listed(git: Git) -> list[Listed]:
    """Every worktree of the repository, the main one first."""
    found = list(read_list(os.fsdecode(git.read("worktree", "list", "--porcelain", "-z"))))
    common = git.common_directory()
    if found[0].is_bare and shared_config.has_tree(common):  # by an include, perhaps
        head = (read_line(common / "HEAD") or "").removeprefix("ref: ")
        branch = head.removeprefix(_HEADS) if head.startswith(_HEADS) else None
        found[0] = Listed(os.path.realpath(common.parent), branch, is_main=True)
    return found


def refuse_elsewhere(git: Git) -> None:
    """Lanes need a main worktree that is where git says, or none: a merge writes its files there.

    Git names it by its own folder, which is wrong for a submodule, and where that folder is apart.
    """
    common = git.common_directory()
    if common.name == ".git" and _top(git) == os.path.realpath(common.parent):
        return  # the usual case
    main = listed(git)[0]
    if main.is_bare:
        return
    if _top(git.at(main.path)) != main.path:
        raise UnsafePath(
            "lanes cannot be made here: git does not say where the main worktree's files are",
            file=main.path,
            remedy="Have lanes in a plain clone: not in a submodule, nor with core.worktree set.",
        )


def _top(git: Git) -> str | None:
    try:
        return os.path.realpath(git.toplevel())
    except (GitFailed, NotARepository):
        return None  # git's own folder, and nothing there says where the files are


def read_list(text: str) -> Iterator[Listed]:
    """Take apart what `git worktree list --porcelain -z` prints."""
    for number, block in enumerate(text.split("\0\0")):
        said = dict(line.partition(" ")[::2] for line in block.split("\0"))
        if "worktree" in said:
            ref = said.get("branch")
            branch = ref.removeprefix(_HEADS) if ref else None
            path = os.path.realpath(said["worktree"])
            yield Listed(path, branch, is_main=number == 0, is_bare="bare" in said)


def user_of(git: Git, branch: str) -> str | None:
    """Where a branch is checked out; a rebase or a bisection has one without saying so."""
    common = git.common_directory()
    for home in (common, *folders(common)):
        said = {read_line(home / name) for name in _HIDDEN}
        if said & {branch, f"{_HEADS}{branch}"}:
            return str(home)
    return next((each.path for each in listed(git) if each.branch == branch), None)


def own_folder(common: Path, path: str) -> Path | None:
    """Where git keeps what belongs to the worktree at *path* alone."""
    return next((folder for folder in folders(common) if way_back(folder) == path), None)


def way_back(own: Path) -> str | None:
    """The worktree that a folder of git's says it belongs to; newer gits may say it relatively."""
    said = read_line(own / "gitdir")
    return os.path.realpath(os.path.join(own, os.path.dirname(said))) if said else None


def leads_to(link: Path, own: Path) -> bool:
    """Whether the link at the top of a worktree leads to this folder of git's."""
    said = read_line(link) or ""
    target = said.removeprefix("gitdir: ")
    return target != said and os.path.realpath(link.parent / target) == os.path.realpath(own)


def folders(common: Path) -> list[Path]:
    """Git's own folders of all linked worktrees, also of those that were never finished."""
    try:
        return sorted((common / "worktrees").iterdir())
    except FileNotFoundError:
        return []


def read_line(file: Path) -> str | None:
    """One line of git's, or None where there is none; NULs are what a power cut leaves."""
    try:
        data = disk.read_regular(str(file), limit=_LINE_LIMIT)
    except (FileNotFoundError, NotADirectoryError, TooLarge, UnsafePath):
        return None
    return os.fsdecode(data.strip(b"\0").removesuffix(b"\n"))


def head_of(git: Git, own: Path) -> str | None:
    """The commit of a worktree, asked from anywhere in the repository."""
    return git.resolve(f"worktrees/{own.name}/HEAD")


def staged(git: Git, own: Path, head: str | None) -> str | None:
    """A file that is staged in a worktree whose files may be gone; None if there is none."""
    if head is None or not os.path.lexists(own / "index"):
        return None
    given = {"GIT_INDEX_FILE": str(own / "index")}
    door = git.at(git.directory, **given)
    said = door.read("diff-index", "--cached", "--name-only", "-z", head)
    return os.fsdecode(said.split(b"\0")[0]) if said else None


def unfinished(git: Git) -> str | None:
    """What was begun in this worktree and waits for somebody."""
    folder = git.git_directory()
    for name, what in _UNFINISHED.items():
        if os.path.lexists(folder / name):
            return what
    return "a conflict" if git.read("ls-files", "--unmerged") else None


def locks(git: Git, branch: str | None) -> list[str]:
    """Locks of git that are there now, and would stop a reset of this worktree and branch."""
    own, common = git.git_directory(), git.common_directory()
    paths = [own / "index.lock", own / "HEAD.lock"]
    if branch is not None:
        paths.append(common / "refs" / "heads" / f"{branch}.lock")
    return [str(path) for path in paths if os.path.lexists(path)]


def sweep(paths: list[str]) -> None:
    """Take away locks of a git that was killed; the caller knows that nobody has them."""
    for path in paths:
        Path(path).unlink(missing_ok=True)
        disk.sync_folder(str(Path(path).parent))


def clear(paths: Collection[Path], folder: str | None = None) -> str | None:
    """Wait until nobody has these locks of git, and take those away that were left behind.

    Gives who is still at it when patience is at an end. A git that waits for an editor has no file
    open, but stands in its worktree: *folder*. A lock is left behind when it is the same at two
    looks and nobody is there.
    """
    deadline = time.monotonic() + _PATIENCE_S
    told = Wait(lambda: f"git to end: {_who(min(map(str, paths)), folder)}")
    seen: dict[str, tuple[int, int]] = {}
    while found := {str(path): at for path in paths if (at := disk.identity(str(path)))}:
        left = [
            path
            for path, at in found.items()
            if seen.get(path) == at and not (_users(path, folder) or unseen_gits.may_have(path))
        ]
        sweep(left)
        if not left and time.monotonic() > deadline:
            return _who(min(found), folder)
        seen = found
        told.look()
        time.sleep(_LOOK_AGAIN_S)
    return None


def gone(look: Callable[[], list[int]]) -> list[int]:
    """Wait until nobody is there any more; gives who stays."""
    deadline = time.monotonic() + _PATIENCE_S
    told = Wait(lambda: f"git to end: {named(look())}")
    while (there := look()) and time.monotonic() <= deadline:
        told.look()
        time.sleep(_LOOK_AGAIN_S)
    return there


def _who(path: str, folder: str | None) -> str:
    if not _users(path, folder) and unseen_gits.may_have(path):
        return f"somebody outside this container may be at work: {path}"
    return f"{named(_users(path, folder))} has {path}"


def _users(path: str, folder: str | None) -> list[int]:
    there = programs.having_open(path)
    if there or folder is None:
        return there
    names = {"git", os.path.basename(git_program.chosen())}  # one of another name may begin git
    return [pid for name in names for pid in programs.programs_in(name, folder)]
