"""A push, from a place of our own: git reads no setting of the repository on its way out.

Git obeys hundreds of settings when it reaches for another machine, and each new version brings
more: proxies, cookies, keys, other addresses, programs. So the repository is not where git stands.
It stands in an empty one, made for this push, that has nothing but the objects of the other; the
user's own and the system's settings hold there as they hold in the repository itself.
"""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING

from standfast import disk, scratch_folder, wait_notice
from standfast.errors.base import GitFailed, StandfastError
from standfast.git import armour, push_address, worktree_state
from standfast.git.command import checked_ref
from standfast.git.git_output import failure
from standfast.processes import programs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from standfast.git.command import Git

PATIENCE_S = 600.0
_ASK_S = 60.0
_SHALLOW_LIMIT = 64 * 1024 * 1024
_LIST = ("config", "--list", "-z", "--show-scope", "--show-origin")
_CONFIG = "[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectFormat = "


def push(
    git: Git, remote: str, commit: str, ref: str, instead_of: str, *, to: Sequence[str]
) -> None:
    """Have *ref* of another repository at a commit, by the user's own keys.

    It must be where it was: at *instead_of*, or nowhere if that is empty. *to*: the addresses
    that were trusted; the push goes to these, whatever the remote is called by then.
    """
    listed = git.configuration()
    push_address.refuse_program(remote, listed)
    found = git.push_addresses(remote)
    push_address.refuse_other(found, to, remote)
    refuse_inside(git, to)
    lease = f"--force-with-lease={checked_ref(ref)}:{instead_of}"
    for address in to:
        push_address.refuse_absent(address)
        with scratch_folder.folder() as folder:
            _lay_out(git, Path(folder))
            way = _Way(git, folder, address)
            way.take_over(push_address.own_files(listed))
            done = way.push(lease, f"{commit}:{ref}")
        if done.status != 0:
            raise _explained(failure(done, git.directory), push_address.passed_over(listed))


def refuse_inside(git: Git, addresses: Sequence[str]) -> None:
    """None of them lies in this repository or in a worktree of it."""
    trees = (each.path for each in worktree_state.listed(git))
    tops = (str(git.directory), str(git.common_directory()), *trees)
    push_address.refuse_inside(addresses, *tops)


def _lay_out(git: Git, folder: Path) -> None:
    """An empty repository; where history was cut off is the other's."""
    for name in ("objects", "refs"):
        (folder / name).mkdir()
    (folder / "HEAD").write_text("ref: refs/heads/none\n", encoding="ascii")
    (folder / "config").write_text(f"{_CONFIG}{git.object_format()}\n", encoding="ascii")
    cut = git.common_directory() / "shallow"
    if cut.is_file():
        data = disk.read_regular(str(cut), limit=_SHALLOW_LIMIT)
        (folder / "shallow").write_bytes(data)


class _Way:
    """How git is called where it stands for a push."""

    def __init__(self, git: Git, folder: str, address: str) -> None:
        self._git, self._folder = git, folder
        self._name = os.urandom(16).hex()
        self._settings = push_address.settings(armour.FIXED, self._name, address)
        self._taken: list[str] = []  # files of the user's that hold in the repository, not here

    def take_over(self, files: Sequence[str]) -> None:
        """The user's settings may depend on the repository, its branch and its remotes."""
        while missing := [each for each in files if each not in self._files()]:
            if missing[0] in self._taken:
                raise GitFailed(f"git does not read {missing[0]!r:.200}")
            self._taken.append(missing[0])

    def _files(self) -> list[str]:
        done = self._run(_LIST, _ASK_S)
        if done.status != 0:
            raise failure(done, self._git.directory)
        return push_address.files_of(
            each.origin for each in push_address.read_settings(done.stdout)
        )

    def push(self, lease: str, what: str) -> programs.Finished:
        argv = ("push", *push_address.OPTIONS, lease, "--end-of-options", self._name, what)
        return self._run(argv, min(PATIENCE_S, self._git.timeout_s or math.inf))

    def _run(self, argv: Sequence[str], time_s: float) -> programs.Finished:
        first = [("include.path", each) for each in self._taken]
        env = armour.surroundings(os.environ, self._settings, may_lock=True, first=first)
        own = {
            "GIT_DIR": self._folder,
            "GIT_OBJECT_DIRECTORY": str(self._git.common_directory() / "objects"),
        }
        return programs.run(
            (self._git.program, *argv),
            cwd=self._folder,
            env={**push_address.variables(os.environ, env), **own},
            timeout_s=time_s,
            slow=_slow,
        )


def _slow(pid: int) -> float:
    wait_notice.tell(f"`git push`: {wait_notice.named([pid])}")
    return wait_notice.SELDOM_S


def _explained(error: Exception, more: str) -> Exception:
    if isinstance(error, StandfastError) and more:
        error.problem += more
    return error
