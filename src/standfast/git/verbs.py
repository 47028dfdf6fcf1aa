"""The verbs of git that are called here, and how: tables, and their use.

Verbs that could reach a program in another way than by the configuration get options, and verbs
that are not in a table are refused: an alias can never be meant. Calls that are INERT reach no
driver: for them armour.FIXED is enough, and no keys of the repository are listed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence  # noqa: TC003  # the tables' types are documentation
from types import MappingProxyType

from standfast.errors.base import WrongUsage
from standfast.processes import programs

_TREE_DIFF = ("--no-ext-diff", "--no-textconv", "--submodule=short")
_WORK_DIFF = (*_TREE_DIFF, "--ignore-submodules=dirty")

READ_VERBS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "branch": (),
        "cat-file": (),
        "check-attr": (),
        "check-ignore": (),
        "count-objects": (),
        "diff": _WORK_DIFF,
        "diff-files": _WORK_DIFF,
        "diff-index": _WORK_DIFF,
        "diff-tree": _TREE_DIFF,
        "for-each-ref": (),
        "log": (*_TREE_DIFF, "--no-show-signature"),
        "ls-files": (),
        "ls-tree": (),
        "merge-base": (),
        "rev-list": (),
        "rev-parse": (),
        "show": (*_TREE_DIFF, "--no-show-signature"),
        "show-ref": (),
        "status": ("--ignore-submodules=dirty",),
        "symbolic-ref": (),
        "version": (),
        "worktree": (),
    }
)

# What reads refs, objects and the index, and no file of the work tree: nothing that a configuration
# can name is in its way. An object that is missing may be asked of a remote, by a git that inherits
# FIXED: it finds no transport. Each verb with its options; one that is not here (`--filters`,
# `--modified`, `--format=%(signature)`) takes it off this list.
INERT: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "branch": frozenset({"--show-current"}),
        "cat-file": frozenset({"--batch-check"}),
        "diff-index": frozenset({"--cached", "--name-only", "-z"}),
        "diff-tree": frozenset({"--no-renames", "--raw", "-r", "-z"}),
        "for-each-ref": frozenset(
            {
                "--contains=",
                "--count=",
                "--format=%(objectname) %(refname)",
                "--format=%(refname)",
            }
        ),
        "ls-files": frozenset({"--", "--full-name", "--stage", "--unmerged", "-t", "-z"}),
        "ls-tree": frozenset({"--", "--full-tree", "-r", "-z"}),
        "merge-base": frozenset({"--is-ancestor"}),
        "rev-list": frozenset(
            {
                "--before=",
                "--first-parent",
                "--max-count=",
                "--missing=",
                "--no-object-names",
                "--no-walk",
                "--objects",
                "--parents",
                "--reverse",
                "--topo-order",
            }
        ),
        "rev-parse": frozenset(
            {
                "--end-of-options",
                "--git-common-dir",
                "--git-dir",
                "--path-format=",
                "--quiet",
                "--show-object-format",
                "--show-toplevel",
                "--verify",
            }
        ),
        "symbolic-ref": frozenset({"--quiet"}),
        "version": frozenset(),
        "worktree": frozenset({"--porcelain", "-z"}),
    }
)

# Of these the first argument counts too, and no more than one may be no option: else they write, or
# look at files.
INERT_FORM: Mapping[str, str] = MappingProxyType(
    {
        "branch": "--show-current",
        "diff-index": "--cached",
        "symbolic-ref": "--quiet",
        "worktree": "list",
    }
)

# Missing on purpose: `add`, `rm` and `commit --all` start git inside submodules whatever the
# configuration says, where the drivers that were switched off here are not known.
WRITE_VERBS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "branch": (),
        "checkout": ("--quiet", "--no-recurse-submodules"),
        "commit": ("--no-verify", "--no-gpg-sign", "--no-status", "--no-post-rewrite"),
        "commit-tree": ("--no-gpg-sign",),
        "hash-object": (),
        "merge": ("--no-verify", "--no-gpg-sign", "--no-verify-signatures", "--no-edit"),
        "merge-tree": ("--write-tree",),
        "read-tree": ("--no-recurse-submodules",),
        "reset": ("--no-recurse-submodules",),
        "restore": ("--no-recurse-submodules",),
        "switch": ("--quiet", "--no-recurse-submodules"),
        "symbolic-ref": (),
        "tag": (),
        "update-index": (),
        "update-ref": (),
        "worktree": (),
        "write-tree": (),
    }
)

# Verbs that start no git inside a submodule, whatever .gitmodules says. `worktree remove` does, and
# no setting keeps it from that: it is only called for a folder that is gone.
NEVER_INSIDE = frozenset(
    {
        "branch",
        "commit-tree",
        "hash-object",
        "merge-tree",
        "symbolic-ref",
        "tag",
        "update-ref",
        "worktree",
        "write-tree",
    }
)

# Verbs that cannot take long: who waits longer waits for a disk that hangs. All others read or
# write files, objects or history, and how much of these there is, is the repository's choice.
PROMPT = frozenset({"config", "rev-parse", "symbolic-ref", "version"})
PROMPT_S = 60.0
PATIENCE_S = 3600.0

# Verbs that print a line for every file, commit or ref: a million names must fit.
LISTING = frozenset(
    {
        "check-attr",
        "check-ignore",
        "commit",
        "diff-files",
        "diff-index",
        "diff-tree",
        "for-each-ref",
        "hash-object",
        "ls-files",
        "ls-tree",
        "merge-tree",
        "rev-list",
        "show-ref",
        "status",
        "worktree",
    }
)
LISTING_LIMIT = 512 * 1024 * 1024

# Options that make a permitted verb do what the comment above rules out.
REFUSED_OPTIONS: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {"commit": re.compile(r"--all|--include|--patch|--interactive|-[^-mFCct]*[aip].*")}
)


def known(args: Sequence[str], table: Mapping[str, object]) -> tuple[str, tuple[str, ...]]:
    """The verb and the rest of a call, if the verb is in this table."""
    verb, *rest = args or ("",)
    if verb not in table:
        raise WrongUsage(f"git {verb!r:.40} is not one of the verbs that are called here")
    return verb, tuple(rest)


def refuse_options(verb: str, rest: Sequence[str]) -> None:
    """Refuse an option that makes a verb do what it is not called for."""
    pattern = REFUSED_OPTIONS.get(verb)
    for arg in rest:
        if arg == "--":
            return
        if pattern is not None and pattern.fullmatch(arg):
            raise WrongUsage(f"git {verb} is not called with {arg!r:.40} here")


def is_inert(verb: str, rest: Sequence[str]) -> bool:
    """Whether a call can start no program, whatever the configuration says."""
    known, form = INERT.get(verb), INERT_FORM.get(verb)
    options = [arg for arg in rest if arg.startswith("-")]
    if form is not None and (rest[:1] != (form,) or len(rest) - len(options) > 1):
        return False
    return known is not None and all(known & {arg, _until_value(arg)} for arg in options)


def only_reads(verb: str, rest: Sequence[str]) -> bool:
    """Whether a verb that can also write only reads when it is called like this."""
    return verb not in WRITE_VERBS or is_inert(verb, rest)


def _until_value(option: str) -> str:
    name, equals, _ = option.partition("=")
    return name + equals


def patience_s(verb: str) -> float:
    """How long a verb may take before it counts as hanging."""
    return PROMPT_S if verb in PROMPT else PATIENCE_S


def output_limit(verb: str) -> int:
    """How much a verb may print."""
    return LISTING_LIMIT if verb in LISTING else programs.OUTPUT_LIMIT
