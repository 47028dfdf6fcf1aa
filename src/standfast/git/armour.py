"""What git is told, so that nothing a repository says is ever run: tables, and their use.

A repository names programs in three ways. Settings with one fixed name are overridden by
FIXED. Drivers whose names the repository chose (filters, merge drivers, hooks in the
configuration and the like) are found by listing its keys and overridden one by one by NAMED.
Verbs that could reach a program in another way get options, and verbs that are not in a table
are refused: an alias can never be meant. Verbs that are INERT reach no driver: for them FIXED is
enough, and no keys are listed.

Overrides travel in GIT_CONFIG_KEY_n and GIT_CONFIG_VALUE_n: `-c` would cut a driver's name at
the first `=`. No transport is allowed at all: this door does not reach other repositories.

Neutral values were tried one by one. Empty means "none" for filters, credential helpers and
paths. Elsewhere git runs the empty value as a program without a name: a merge then breaks off
instead of leaving its conflict, so a merge driver gets `false`, as external diffs do; a textconv
gets `cat`, which changes nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence  # noqa: TC003  # the tables' types are documentation
from types import MappingProxyType

from standfast import process
from standfast.errors import GitFailed

ENVIRONMENT: Mapping[str, str] = MappingProxyType(
    {
        "GIT_ALLOW_PROTOCOL": "",
        "GIT_ASKPASS": "",
        "GIT_EDITOR": ":",
        "GIT_GRAFT_FILE": os.devnull,
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_PAGER": "cat",
        "GIT_PROXY_COMMAND": "",  # of several core.gitProxy the first wins: no override can be
        "GIT_SEQUENCE_EDITOR": ":",
        "GIT_TEMPLATE_DIR": "",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
        "SSH_ASKPASS": "",
    }
)

# The user's own words about who they are and where their configuration is; nothing else of git's.
KEPT_VARIABLES = frozenset(
    {
        "GIT_AUTHOR_EMAIL",
        "GIT_AUTHOR_NAME",
        "GIT_COMMITTER_EMAIL",
        "GIT_COMMITTER_NAME",
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_NOSYSTEM",
        "GIT_CONFIG_SYSTEM",
    }
)

# What makes git work on one repository or index wherever it is called, as a hook of git is told.
LEADING = frozenset(
    {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_COMMON_DIR",
        "GIT_DIR",
        "GIT_GRAFT_FILE",
        "GIT_IMPLICIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_NAMESPACE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_PREFIX",
        "GIT_QUARANTINE_PATH",
        "GIT_REFLOG_ACTION",
        "GIT_REPLACE_REF_BASE",
        "GIT_SHALLOW_FILE",
        "GIT_WORK_TREE",
    }
)

# What a caller of ours may add: an index of its own, and who signs a commit that nobody made.
GIVEN = frozenset(
    {
        "GIT_AUTHOR_DATE",
        "GIT_AUTHOR_EMAIL",
        "GIT_AUTHOR_NAME",
        "GIT_COMMITTER_DATE",
        "GIT_COMMITTER_EMAIL",
        "GIT_COMMITTER_NAME",
        "GIT_INDEX_FILE",
    }
)

FIXED: Mapping[str, str] = MappingProxyType(
    {
        "color.branch": "false",
        "color.diff": "false",
        "color.status": "false",
        "color.ui": "false",
        "commit.gpgSign": "false",
        "commit.template": "",
        "commit.verbose": "false",
        "core.abbrev": "no",
        "core.alternateRefsCommand": "true",
        "core.askPass": "",
        "core.editor": ":",
        "core.fsmonitor": "false",
        "core.hooksPath": os.devnull,
        "core.ignoreStat": "false",
        "core.pager": "cat",
        "core.protectHFS": "true",
        "core.protectNTFS": "true",
        "core.quotePath": "false",
        "core.sshCommand": "false",
        "credential.helper": "",
        "diff.external": "false",
        "diff.ignoreSubmodules": "dirty",
        "diff.submodule": "short",
        "fetch.bundleURI": "",  # fetched before any transport is asked for, so before it is refused
        "fetch.recurseSubmodules": "false",
        "gc.auto": "0",
        "gc.autoDetach": "false",
        "gpg.openpgp.program": "false",
        "gpg.program": "false",
        "gpg.ssh.defaultKeyCommand": "false",
        "gpg.ssh.program": "false",
        "gpg.x509.program": "false",
        "help.autoCorrect": "never",
        "i18n.commitEncoding": "UTF-8",
        "i18n.logOutputEncoding": "UTF-8",
        "init.templateDir": "",
        "interactive.diffFilter": "",
        "log.showSignature": "false",
        "maintenance.auto": "false",
        "merge.verifySignatures": "false",
        "protocol.allow": "never",
        "protocol.ext.allow": "never",
        "protocol.file.allow": "never",
        "push.gpgSign": "false",
        "push.recurseSubmodules": "no",
        "safe.bareRepository": "explicit",
        "sequence.editor": ":",
        "status.submoduleSummary": "false",
        "submodule.recurse": "false",
        "tag.forceSignAnnotated": "false",
        "tag.gpgSign": "false",
        "uploadpack.packObjectsHook": "",
    }
)

DURABLE: Mapping[str, str] = MappingProxyType({"core.fsync": "all", "core.fsyncMethod": "fsync"})

# `section.variable` of a key with a name in the middle -> what is set beside that name.
NAMED: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "alias.command": {"command": ""},
        "browser.cmd": {"cmd": "false"},
        "browser.path": {"path": "false"},
        "credential.helper": {"helper": ""},
        "diff.cachetextconv": {"cachetextconv": "false"},
        "diff.command": {"command": "false"},
        "diff.textconv": {"textconv": "cat"},
        "difftool.cmd": {"cmd": "false"},
        "difftool.path": {"path": "false"},
        "filter.clean": {"clean": ""},
        "filter.process": {"process": ""},
        "filter.required": {"required": "false"},
        "filter.smudge": {"smudge": ""},
        "gpg.defaultkeycommand": {"defaultkeycommand": "false"},
        "gpg.program": {"program": "false"},
        "guitool.cmd": {"cmd": "false"},
        "hook.command": {"command": "true", "enabled": "false"},
        "hook.enabled": {"enabled": "false"},
        "hook.event": {"command": "true", "enabled": "false"},
        "man.cmd": {"cmd": "false"},
        "man.path": {"path": "false"},
        "merge.driver": {"driver": "false"},
        "mergetool.cmd": {"cmd": "false"},
        "mergetool.path": {"path": "false"},
        "pager.command": {"command": "false"},
        "remote.proxy": {"proxy": ""},
        "remote.receivepack": {"receivepack": "false"},
        "remote.uploadpack": {"uploadpack": "false"},
        "remote.vcs": {"vcs": ""},
        "submodule.ignore": {"ignore": "dirty"},
        "submodule.update": {"update": "none"},
        "tar.command": {"command": "false"},
        "trailer.cmd": {"cmd": "true"},
        "trailer.command": {"command": "true"},
    }
)

# Sections whose every two-part key is a program's name for some verb.
PLAIN: Mapping[str, str] = MappingProxyType({"alias": "", "pager": "false"})

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
                "--max-count=",
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
PATIENCE_S = 6 * 3600.0

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

NAMES_LIMIT = 2000
BYTES_LIMIT = 512 * 1024  # well below what the system lets a program start with


def split_key(key: str) -> tuple[str, str | None, str]:
    """Take a key as git lists it apart: section, the name between the dots if any, variable."""
    section, _, rest = key.partition(".")
    name, dot, variable = rest.rpartition(".")
    return section, name if dot else None, variable


def neutralise(keys: Iterable[str]) -> dict[str, str]:
    """Give the overrides for every program that these keys of a repository name."""
    found: dict[str, str] = {}
    for key in keys:
        section, name, variable = split_key(key)
        if name is None:
            found |= {key: PLAIN[section]} if section in PLAIN else {}
            continue
        row = NAMED.get(f"{section}.{variable}", {})
        found |= {f"{section}.{name}.{what}": value for what, value in row.items()}
    return _bounded(found)


def spare_submodules(keys: Iterable[str]) -> dict[str, str]:
    """Keep git from starting itself inside the submodules that these keys of .gitmodules name."""
    names = {name for section, name, _ in map(split_key, keys) if section == "submodule"}
    return _bounded({f"submodule.{name}.ignore": "dirty" for name in names if name is not None})


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
    return LISTING_LIMIT if verb in LISTING else process.OUTPUT_LIMIT


def surroundings(
    own: Mapping[str, str],
    settings: Mapping[str, str],
    given: Mapping[str, str] = MappingProxyType({}),
    *,
    may_lock: bool,
    trusted: Sequence[tuple[str, str]] = (),
) -> dict[str, str]:
    """Build git's environment: *own* without what steers git, plus the armour and what is GIVEN."""
    kept = {
        name: value
        for name, value in own.items()
        if not name.startswith("GIT_") or name in KEPT_VARIABLES
    }
    kept |= {name: value for name, value in given.items() if name in GIVEN}
    kept |= ENVIRONMENT
    kept["PATH"] = _absolute_only(own.get("PATH", os.defpath))
    if not may_lock:
        kept["GIT_OPTIONAL_LOCKS"] = "0"
    pairs = [*settings.items(), *trusted]
    for number, (key, value) in enumerate(pairs):
        kept[f"GIT_CONFIG_KEY_{number}"] = key
        kept[f"GIT_CONFIG_VALUE_{number}"] = value
    kept["GIT_CONFIG_COUNT"] = str(len(pairs))
    return kept


def without_repository(own: Mapping[str, str]) -> dict[str, str]:
    """An environment for programs in another worktree: without what leads git to the caller's."""
    return {name: value for name, value in own.items() if name not in LEADING}


def _absolute_only(path: str) -> str:
    """Drop relative entries: git runs inside the repository, which may hold a program `git`."""
    return os.pathsep.join(part for part in path.split(os.pathsep) if part.startswith("/"))


def _bounded(overrides: dict[str, str]) -> dict[str, str]:
    size = sum(len(os.fsencode(key)) for key in overrides)
    if len(overrides) > NAMES_LIMIT or size > BYTES_LIMIT:
        raise GitFailed(
            f"the repository's configuration names {len(overrides)} programs, more than can be"
            " switched off",
            remedy="Look at the repository's configuration before anything is run in it.",
        )
    return overrides
