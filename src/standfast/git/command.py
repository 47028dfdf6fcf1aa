"""The one door to git: a subprocess in armour, so that nothing a repository says is ever run.

Most calls first list the repository's configuration keys and then run the verb with each program
named there switched off (standfast.git.armour). The listing is never kept: an agent may change the
configuration between two calls, and it costs no more than any other call of git. What a repository
changes in its configuration in the moment between the two is not covered. Calls that can start no
program and look at no file of the work tree, whatever the configuration says, need no listing.

Filters of the user's own configuration are off as well: which files they would be applied to is
the repository's choice. Submodules are never entered; each is a repository of its own.
"""

from __future__ import annotations

import math
import os
import re
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from standfast import filesystems, wait_notice
from standfast.errors.base import (
    BadName,
    GitFailed,
    NotARepository,
    TooLarge,
    UnsafePath,
    WrongUsage,
)
from standfast.git import (
    armour,
    git_program,
    push_address,
    shared_config,
    special_files,
    unseen_gits,
    verbs,
)
from standfast.git.durable_files import durable_paths, object_paths, sync_all
from standfast.git.git_output import clean, entries, failure, names
from standfast.processes import programs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from standfast.git.push_address import Setting

__all__ = ["Git", "checked_ref", "durable_paths", "entries", "names"]

_INCLUDES_LIMIT = 64
_LAST = 20  # so many commits may be somebody's who did not sync them
_COMMITTED = re.compile(rb"\[(?:detached HEAD|\S+)(?: \(root-commit\))? ([0-9a-f]{40,64})\] ")
_LIST = ("config", "--list", "-z", "--show-origin")
_BLOBS = (":.gitmodules", "HEAD:.gitmodules")


@dataclass(frozen=True, slots=True, kw_only=True)
class Git:
    """The repository around *directory*; paths given to its methods are relative to that.

    Where its git directories are is asked once: a door is made for each thing that is to be done.
    One that is tied is at the top of a worktree: where that is none any more, no repository that
    lies around it is taken for it.
    """

    directory: Path
    program: str = field(default_factory=git_program.chosen)
    is_tied: bool = False
    timeout_s: float | None = None  # no call takes longer, nor than its verb may
    variables: Mapping[str, str] = field(default_factory=dict, compare=False)  # of armour.GIVEN
    _homes: list[Path] = field(default_factory=list, init=False, repr=False, compare=False)

    def at(self, directory: str | Path, **variables: str) -> Git:
        """The same door elsewhere, with these variables and none of this one's."""
        door = Git(
            directory=Path(directory),
            program=self.program,
            is_tied=self.is_tied,
            timeout_s=self.timeout_s,
            variables=variables,
        )
        if door.directory == self.directory and "GIT_DIR" not in variables:
            door._homes[:] = self._homes  # of the same class
        return door

    def read(self, *args: str, stdin: bytes = b"") -> bytes:
        """Run a verb that only looks; it takes no locks and writes nothing, not even the index."""
        return self._checked(self._look(args, stdin)).stdout

    def stream(self, take: Callable[[bytes], object], *args: str) -> None:
        """Run a verb that only looks; what it prints is handed on in pieces and may be any size."""
        self._checked(self._look(args, take=take))

    def write(self, *args: str, stdin: bytes = b"") -> bytes:
        """Run a verb that changes the repository, with git's own syncing switched fully on."""
        return self._checked(self._change(args, stdin)).stdout

    def ask(self, *args: str) -> tuple[bool, bytes]:
        """Run a changing verb that says yes or no by its status: 0 or 1; another is an error."""
        done = self._change(args)
        if done.status != 1:
            self._checked(done)
        return done.status == 0, done.stdout

    def push_addresses(self, remote: str) -> tuple[str, ...]:
        """Where a push to *remote* goes, whatever configuration says so; none if there is none."""
        asked = ("remote", "get-url", "--push", "--all", "--end-of-options", checked_ref(remote))
        done = self._run(asked, self._settings(), may_lock=False)
        found = os.fsdecode(done.stdout).split("\n")[:-1] if done.status == 0 else []
        return tuple(push_address.resolved(each, str(self.directory)) for each in found)

    def configuration(self) -> list[Setting]:
        """Every setting that holds here, with its scope and the file that it is in."""
        asked = ("config", "--list", "-z", "--show-scope", "--show-origin")
        done = self._checked(self._run(asked, armour.FIXED, may_lock=False))
        return push_address.read_settings(done.stdout)

    def environment(self) -> dict[str, str]:
        """The armour for a program that calls git itself: its variables, and nothing else."""
        whole = armour.surroundings(os.environ, self._settings(), may_lock=False)
        return {name: value for name, value in whole.items() if name.startswith("GIT_")}

    def head(self) -> str | None:
        """The commit that HEAD names, or None before the first; a damaged HEAD is an error."""
        commit = self.resolve("HEAD")
        if commit is None:
            self._refuse_damaged_head()
        return commit

    def resolve(self, ref: str) -> str | None:
        """The commit that a name from outside stands for, or None if there is none."""
        argument = f"{checked_ref(ref)}^{{commit}}"
        return self._one_line("rev-parse", "--verify", "--quiet", "--end-of-options", argument)

    def branch(self) -> str | None:
        """The branch that is checked out, also before its first commit; None when detached."""
        full = self.symbolic("HEAD")
        return None if full is None else full.removeprefix("refs/heads/")

    def symbolic(self, ref: str) -> str | None:
        """The ref that another one only leads to, or None."""
        return self._one_line("symbolic-ref", "--quiet", checked_ref(ref))

    def is_ancestor(self, commit: str, of: str) -> bool:
        """Whether *of* holds all that *commit* holds; both are ids of commits that are there."""
        return self._one_line("merge-base", "--is-ancestor", commit, of) is not None

    def ignores(self, path: str) -> bool:
        """Whether git passes over a file that is there and that it does not have."""
        return not self.read("ls-files", "--others", "--exclude-standard", "-z", "--", path)

    def blob_at_head(self, path: str | Path) -> str | None:
        """The id of the file's contents in the last commit, or None if it is not in there."""
        if self.head() is None:
            return None
        name = self._relative(path)
        found = entries(self.read("ls-tree", "-z", "HEAD", "--", name))
        blobs = (facts[2] for facts, entry in found if entry == name and facts[1] == "blob")
        return next(blobs, None)

    def blob_in_index(self, path: str | Path) -> str | None:
        """The id of the file's staged contents; None if there are none, or several in conflict."""
        name = self._relative(path)
        found = entries(self.read("ls-files", "--stage", "-z", "--", name))
        blobs = (facts[1] for facts, entry in found if entry == name and facts[2] == "0")
        return next(blobs, None)

    def hash_blob(self, data: bytes) -> str:
        """The id that git gives to a file with exactly these contents in this repository."""
        import hashlib  # only here

        return hashlib.new(self.object_format(), b"blob %d\0" % len(data) + data).hexdigest()

    def object_format(self) -> str:
        """The hash that names objects here."""
        return self._text("rev-parse", "--show-object-format")

    def toplevel(self) -> Path:
        """The root of the work tree around the directory."""
        return Path(self._text("rev-parse", "--show-toplevel"))

    def git_directory(self) -> Path:
        """This worktree's own git directory."""
        return self._found_homes()[0]

    def common_directory(self) -> Path:
        """The git directory that all worktrees of the repository share."""
        return self._found_homes()[1]

    def _found_homes(self) -> list[Path]:
        if not self._homes:
            ask, which = ("rev-parse", "--path-format=absolute"), ("--git-dir", "--git-common-dir")
            said = self._text(*ask, *which).split("\n")
            if len(said) != len(which):  # a line break in a path
                said = [self._text(*ask, each) for each in which]
            self._homes[:] = map(Path, said)
        return self._homes

    def commit_durably(
        self, paths: Iterable[str | Path], message: str, *, author: str | None = None
    ) -> str:
        """Commit exactly these paths so that it survives a power cut, and give the commit's id.

        Other changes, staged or not, stay as they are. Each path is a file, there or deleted,
        ignored by git or not.
        """
        from standfast.git import replaced_paths  # that module is built on this one

        listed = [self._relative(path) for path in paths]
        if not listed:
            raise WrongUsage("no path was named to commit")
        by = () if author is None else (f"--author={author}",)
        words = ("--cleanup=verbatim", f"--message={message}", *by)
        said = _COMMITTED.match(replaced_paths.record(self, listed, words))
        if said is None:
            raise GitFailed("git made a commit but did not say which")
        commit = said[1].decode()
        if not filesystems.sync(str(self.common_directory())):
            sync_all(object_paths(self.common_directory(), self._last_objects(commit)))
            self.make_durable(objects=False)
        return commit

    def _last_objects(self, commit: str) -> list[str]:
        """What a commit and the last ones before it are made of, whoever wrote it, and when.

        Asked by name: there may be thousands of other loose objects.
        """
        skipped = (f"--skip={_LAST}", "--max-count=1")
        old = self._text("rev-list", "--first-parent", *skipped, commit)
        since = (f"^{old}",) if old else ()
        how = ("--objects", "--no-object-names", "--missing=allow-any")
        return self._text("rev-list", *how, commit, *since).split()

    def make_durable(self, *, objects: bool = True) -> None:
        """Sync refs, logs, objects and the git directories themselves; see durable_paths."""
        common = self.common_directory()
        if not filesystems.sync(str(common)):
            sync_all(durable_paths(self.git_directory(), common, objects=objects))

    # How a call is made.

    def _look(
        self,
        args: Sequence[str],
        stdin: bytes = b"",
        take: Callable[[bytes], object] | None = None,
    ) -> programs.Finished:
        verb, rest = verbs.known(args, verbs.READ_VERBS)
        if not verbs.only_reads(verb, rest):
            raise WrongUsage(f"git {verb} only reads as `git {verb} {verbs.INERT_FORM[verb]}`")
        argv = (verb, *verbs.READ_VERBS[verb], *rest)
        settings = armour.FIXED if verbs.is_inert(verb, rest) else self._settings()
        return self._run(argv, settings, stdin=stdin, take=take, may_lock=False)

    def _change(self, args: Sequence[str], stdin: bytes = b"") -> programs.Finished:
        verb, rest = verbs.known(args, verbs.WRITE_VERBS)
        verbs.refuse_options(verb, rest)
        settings = {**self._settings(), **armour.DURABLE}
        if verb not in verbs.NEVER_INSIDE:
            settings |= self._submodule_settings()
        argv = (verb, *verbs.WRITE_VERBS[verb], *rest)
        return self._run(argv, settings, stdin=stdin, may_lock=True)

    def _run(
        self,
        argv: Sequence[str],
        settings: Mapping[str, str],
        *,
        stdin: bytes = b"",
        take: Callable[[bytes], object] | None = None,
        may_lock: bool,
    ) -> programs.Finished:
        verb = argv[0]
        if not self.directory.is_dir():
            raise NotARepository("there is no such folder", file=str(self.directory))
        special_files.refuse(self.directory)
        if may_lock:
            unseen_gits.say(self.directory)
        done = programs.run(
            (self.program, *argv),
            cwd=self.directory,
            env=armour.surroundings(os.environ, settings, self.variables, may_lock=may_lock)
            | self._own_tree()
            | self._ceiling(),
            stdin=stdin,
            timeout_s=min(verbs.patience_s(verb), self.timeout_s or math.inf),
            output_limit=verbs.output_limit(verb),
            take=take,
            slow=partial(self._slow, verb),
        )
        if done.truncated:
            raise TooLarge(f"git {verb} printed more than {verbs.output_limit(verb)} bytes")
        return done

    def _slow(self, verb: str, pid: int) -> float:
        """A call that takes long: something may be in its way, else it is told of."""
        special_files.refuse_anywhere(self.directory, pid)
        wait_notice.tell(f"`git {verb}` in {self.directory}: {wait_notice.named([pid])}")
        return wait_notice.SELDOM_S

    def _own_tree(self) -> dict[str, str]:
        """An agent may have called the repository bare: then git is told where its files are."""
        if "GIT_WORK_TREE" in self.variables:  # ours is elsewhere, for this call
            return {}
        top = shared_config.work_tree(self.directory)
        return {} if top is None else {"GIT_WORK_TREE": str(top)}

    def _ceiling(self) -> dict[str, str]:
        """Above this git does not look for a repository."""
        above = os.path.dirname(os.path.realpath(self.directory))
        return {"GIT_CEILING_DIRECTORIES": above} if self.is_tied else {}

    def _checked(self, done: programs.Finished) -> programs.Finished:
        if done.status != 0:
            raise failure(done, self.directory)
        return done

    def _text(self, *args: str) -> str:
        return os.fsdecode(self.read(*args)).removesuffix("\n")

    def _one_line(self, *args: str) -> str | None:
        """One line, or None where git says by status 1 that there is nothing to print."""
        done = self._look(args)
        if done.status == 1 and not done.stdout:
            return None
        return os.fsdecode(self._checked(done).stdout).removesuffix("\n")

    def _relative(self, path: str | Path) -> str:
        name = os.fspath(path)
        if not name or "\0" in name:
            raise BadName("a path is empty or holds a NUL")
        return os.path.relpath(name, self.directory) if os.path.isabs(name) else str(Path(name))

    def _refuse_damaged_head(self) -> None:
        branch = self.symbolic("HEAD")
        named = self._one_line("rev-parse", "--verify", "--quiet", "HEAD")
        if branch is None or named is not None or os.path.lexists(self.common_directory() / branch):
            raise GitFailed("HEAD names no commit that is there: the ref or the commit is damaged")

    # What the repository's configuration says.

    def in_force(self) -> Iterator[tuple[str, str, str]]:
        """Each setting that is not ours: its scope, key and value; `if` is a conditional include's.

        Whatever is included counts: nobody has to look for files.
        """
        ours = [each for each in self.configuration() if each.scope != "command"]
        yield from ((each.scope, each.key, each.value) for each in ours)
        listed = [
            (self.directory / each.origin.partition(":")[2], each.key, each.value) for each in ours
        ]
        for _, key, value in self._listed_if(listed):
            yield "if", key, value

    def _settings(self) -> dict[str, str]:
        listed = list(self._listed(_LIST))
        special_files.refuse_named(self.directory, (each[1:] for each in listed))
        keys = {key for _, key, _ in listed}
        keys |= {key for _, key, _ in self._listed_if(listed)}
        if "core.worktree" in keys:
            self._refuse_foreign_work_tree()
        return {**armour.FIXED, **armour.neutralise(keys)}

    def _listed(self, argv: Sequence[str]) -> Iterator[tuple[Path, str, str]]:
        """Each setting as the file that holds it, its key and its value."""
        done = self._checked(self._run(argv, armour.FIXED, may_lock=False))
        fields = iter(os.fsdecode(done.stdout).split("\0"))
        for origin, entry in zip(fields, fields, strict=False):
            key, _, value = entry.partition("\n")
            yield self.directory / origin.partition(":")[2], key, value

    def _listed_if(
        self, listed: Sequence[tuple[Path, str, str]]
    ) -> Iterator[tuple[Path, str, str]]:
        """What conditional includes would add: a worktree or branch that git makes may meet one."""
        seen: set[Path] = set()
        queue = [*_included(listed, "includeif")]
        while queue:
            file = queue.pop()
            if file in seen or not os.path.isfile(
                file
            ):  # as git: what is closed to us adds nothing
                continue
            seen.add(file)
            if len(seen) > _INCLUDES_LIMIT:
                raise GitFailed("the repository's configuration includes too many files")
            found = list(self._listed((*_LIST, "--no-includes", "--file", str(file))))
            queue += _included(found, "include", "includeif")
            yield from found

    def _submodule_settings(self) -> dict[str, str]:
        """Name every submodule: .gitmodules may ask git to start itself in one of them."""
        keys: set[str] = set()
        for source in self._gitmodules():
            done = self._run((*_LIST, "--no-includes", *source), armour.FIXED, may_lock=False)
            entries = os.fsdecode(done.stdout).split("\0")[1::2]
            keys |= {entry.partition("\n")[0] for entry in entries}
        return armour.spare_submodules(keys)

    def _gitmodules(self) -> Iterator[tuple[str, str]]:
        """Where one is: at the top, in the index or in the last commit."""
        here = self.directory.resolve()
        for folder in (here, *here.parents):  # the top is one of those that have a .git
            file = folder / ".gitmodules"
            if os.path.lexists(folder / ".git") and os.path.lexists(file):
                yield "--file", str(file)
        asked = "".join(f"{blob}\n" for blob in _BLOBS).encode()
        said = self._run(("cat-file", "--batch-check"), armour.FIXED, stdin=asked, may_lock=False)
        missing = [f"{blob} missing".encode() for blob in _BLOBS]
        if said.stdout.splitlines() != missing:
            yield from (("--blob", blob) for blob in _BLOBS)

    def _refuse_foreign_work_tree(self) -> None:
        """Git must write where its directory was found; a submodule's core.worktree says just that.

        A folder above is another place too, though the directory is inside.
        """
        from standfast.git import worktree_state  # that module is built on this one

        plain = self.at(self.directory)
        top, home = plain.toplevel().resolve(), self.git_directory().resolve()
        is_own = (top / ".git").resolve() == home or worktree_state.leads_to(top / ".git", home)
        if not is_own or not self.directory.resolve().is_relative_to(top):
            raise UnsafePath(
                f"core.worktree makes git write elsewhere: {str(top)!r:.200}",
                file=str(self.directory),
                remedy="See `git config --show-origin core.worktree`; work in a plain clone.",
            )


def checked_ref(ref: str) -> str:
    """Refuse a name that git could take for an option, or that holds control characters."""
    if not ref or ref.startswith("-") or any(ord(char) < 32 or ord(char) == 127 for char in ref):  # noqa: PLR2004  # ASCII's control characters
        raise BadName(f"not a name of a branch, tag or commit: {ref!r:.80}")
    return ref


def _included(listed: Iterable[tuple[Path, str, str]], *sections: str) -> Iterator[Path]:
    """The files that include.path and includeIf.*.path of these settings point at."""
    for origin, key, value in listed:
        section, _, variable = armour.split_key(key)
        if section in sections and variable == "path":
            if value.startswith("%("):
                raise GitFailed(f"an include cannot be followed: {clean(os.fsencode(value))}")
            yield origin.parent / Path(value).expanduser()
