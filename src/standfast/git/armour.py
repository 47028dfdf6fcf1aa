"""What git is told, so that nothing a repository says is ever run: tables, and their use.

A repository names programs in three ways. Settings with one fixed name are overridden by
FIXED. Drivers whose names the repository chose (filters, merge drivers, hooks in the
configuration and the like) are found by listing its keys and overridden one by one by NAMED.
Verbs that could reach a program in another way get options: standfast.git.verbs.

Overrides travel in GIT_CONFIG_KEY_n and GIT_CONFIG_VALUE_n: `-c` would cut a driver's name at
the first `=`. No transport is allowed at all: this door does not reach other repositories.

Neutral values were tried one by one. Empty means "none" for filters, credential helpers and
paths. Elsewhere git runs the empty value as a program without a name: a merge then breaks off
instead of leaving its conflict, so a merge driver gets `false`, as external diffs do; a textconv
gets `cat`, which changes nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence  # noqa: TC003  # the tables' types are documentation
from types import MappingProxyType

from standfast.errors.base import GitFailed

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

# What a caller of ours may add: an index and a place for files of its own, and who signs a commit
# that nobody made.
GIVEN = frozenset(
    {
        "GIT_AUTHOR_DATE",
        "GIT_AUTHOR_EMAIL",
        "GIT_AUTHOR_NAME",
        "GIT_COMMITTER_DATE",
        "GIT_COMMITTER_EMAIL",
        "GIT_COMMITTER_NAME",
        "GIT_INDEX_FILE",
        "GIT_WORK_TREE",
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
        "core.untrackedCache": "false",  # believes times of folders, which can be set back
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


def surroundings(
    own: Mapping[str, str],
    settings: Mapping[str, str],
    given: Mapping[str, str] = MappingProxyType({}),
    *,
    may_lock: bool,
    first: Sequence[tuple[str, str]] = (),
) -> dict[str, str]:
    """Build git's environment: *own* without what steers git, plus the armour and what is GIVEN.

    Of the settings those in *first* come before the others, which win.
    """
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
    pairs = [*first, *settings.items()]
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
