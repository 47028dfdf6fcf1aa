"""Where a push goes, and what of a configuration counts for the way there: decided, not done.

An address is the repository's word. It is trusted as git would open it: a path of this machine is
the very git directory whose hooks would be run. The way there is the user's own and the system's
word alone (outgoing_push.py).
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable, Mapping, Sequence  # noqa: TC003  # the tables' types are documentation
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from standfast.errors.base import GitFailed
from standfast.errors.lanes import PushRefused
from standfast.git.opened_repository import common, opened
from standfast.text import a_few, printable

OWN = frozenset({"system", "global"})  # the scopes of settings that no repository has a word in
_NEUTRAL = ("GIT_ASKPASS", "GIT_PROXY_COMMAND", "SSH_ASKPASS")  # switched off by the armour
_VARIABLES = ("GIT_ASKPASS", "GIT_SSH", "GIT_SSH_COMMAND", "SSH_ASKPASS")
_PROTOCOLS = "file:git:http:https:ssh"
_FIXED_OFF = frozenset({"core.askPass", "core.sshCommand", "credential.helper"})
_WAYS = frozenset({"credential", "http", "https", "protocol", "ssh"})
_WAY = frozenset({"core.askpass", "core.gitproxy", "core.sshcommand"})
_FILE = "file://"
_SSH = frozenset({"ssh", "git+ssh", "ssh+git"})
_HERE = frozenset({"localhost", "localhost.localdomain", "ip6-localhost", "::1", "::", "0"})

OPTIONS = ("--quiet", "--atomic", "--no-verify", "--no-signed", "--no-follow-tags")


class Setting(NamedTuple):
    """One setting, as git lists it."""

    scope: str
    origin: str
    key: str
    value: str


def read_settings(said: bytes) -> list[Setting]:
    """Take apart what `git config --list -z --show-scope --show-origin` prints."""
    fields = os.fsdecode(said).split("\0")[:-1]
    rows = zip(fields[::3], fields[1::3], fields[2::3], strict=False)
    return [
        Setting(scope, origin, *entry.partition("\n")[::2])  # a switch has no value
        for scope, origin, entry in rows
    ]


def own_files(listed: Iterable[Setting]) -> list[str]:
    """The files of the user's own settings that hold here, in their order."""
    origins = [each.origin for each in listed if each.scope in OWN]
    return [*dict.fromkeys(files_of(origins))]


def files_of(origins: Iterable[str]) -> list[str]:
    """Those of these origins that are files, by their whole path."""
    named = (each.partition(":") for each in origins)
    return [path for kind, _, path in named if kind == "file" and os.path.isabs(path)]


def passed_over(listed: Iterable[Setting]) -> str:
    """The words of a repository about the way out, which were not heeded: for who misses them."""
    found = dict.fromkeys(each.key for each in listed if each.scope not in OWN and _is_way(each))
    return f"; not used, as the repository itself says it: {a_few([*found])}" if found else ""


def _is_way(setting: Setting) -> bool:
    return setting.scope in {"local", "worktree"} and (
        setting.key.partition(".")[0] in _WAYS or setting.key in _WAY
    )


def refuse_program(remote: str, listed: Iterable[Setting]) -> None:
    """A remote that is reached by a program which the repository names is not reached at all."""
    if any(each.key == f"remote.{remote}.vcs" for each in listed):
        raise GitFailed(f"the remote {remote} asks for a program of its own")


def settings(fixed: Mapping[str, str], name: str, address: str) -> dict[str, str]:
    """What holds whatever the user's settings say: no hooks, and one address under a new *name*.

    Git puts one address in another's place once. What is replaced is a name that nobody knows, so
    that nothing else can be put in the place of the address.
    """
    kept = {key: value for key, value in fixed.items() if key not in _FIXED_OFF}
    there = {f"remote.{name}.{which}": name for which in ("url", "pushurl")}
    return {**kept, **there, f"url.{address}.insteadOf": name}


def variables(own: Mapping[str, str], armoured: Mapping[str, str]) -> dict[str, str]:
    """The armour with a way out: which transports there are, and the user's own words of keys."""
    kept = {name: value for name, value in armoured.items() if name not in _NEUTRAL}
    kept |= {name: own[name] for name in _VARIABLES if name in own}
    return {**kept, "GIT_ALLOW_PROTOCOL": _PROTOCOLS}


def is_local(address: str) -> bool:
    """Whether git takes it for a path of this machine, where it runs the hooks that it finds."""
    colon, slash = address.find(":"), address.find("/")
    return address.startswith(_FILE) or colon < 0 or -1 < slash < colon


def runs_hooks_here(address: str) -> bool:
    """Whether hooks would be run on this machine, as its user: a person must have seen it then.

    By its path, or by a log-in to this very machine, as far as its name tells.
    """
    host = _host(address)
    names = {*_HERE, socket.gethostname().lower()}
    return is_local(address) or host in names or host.startswith(("127.", "0."))


def _host(address: str) -> str:
    """The machine that ssh is asked for; empty for any other way."""
    scheme, is_url, rest = address.partition("://")
    if is_local(address) or (is_url and scheme.lower() not in _SSH):
        return ""
    named = (rest.partition("/")[0] if is_url else address).rpartition("@")[2]
    if named.startswith("["):  # an address with colons, or one with its port
        named = named[1:].partition("]")[0]
        return named.lower() if named.count(":") > 1 else named.partition(":")[0].lower()
    return named.partition(":")[0].lower()


def _path_there(address: str) -> str:
    """The folder that a log-in to this machine would open: relative ones are below the home."""
    _, is_url, rest = address.partition("://")
    named = rest.partition("/")[2] if is_url else address.rpartition("]")[2].partition(":")[2]
    path = os.path.expanduser(named) if named.startswith("~") else named
    whole = os.path.join("/" if is_url else os.path.expanduser("~"), path)
    return opened(whole) or os.path.realpath(whole)


def resolved(address: str, directory: str) -> str:
    """An address as it is trusted: of a path of this machine, the git directory that is meant."""
    if not is_local(address):
        return _shown_as_it_is(address)
    path = _path_of(address)
    if path.startswith("~"):  # as git does it where the path is opened
        path = os.path.expanduser(path)
    if path.startswith("~"):
        raise _unlookable(address)
    whole = os.path.join(directory, _shown_as_it_is(path))
    found = opened(whole)
    if found is None:
        return os.path.realpath(whole)  # it may be there when it is needed
    if opened(found) != found:
        raise _unlookable(found)
    return _shown_as_it_is(found)


def _path_of(address: str) -> str:
    if not address.startswith(_FILE):
        return address
    path = os.fsdecode(unquote_to_bytes(os.fsencode(address.removeprefix(_FILE))))
    if not path.startswith("/"):
        raise _unlookable(address)
    return path


def _shown_as_it_is(address: str) -> str:
    """What a person is shown must be what git takes."""
    if not address.isprintable():
        raise _unlookable(address)
    return address


def _unlookable(address: str) -> PushRefused:
    return PushRefused(f"`{printable(address)}` is no address that can be looked at")


def refuse_inside(addresses: Sequence[str], *folders: str) -> None:
    """A repository that lies in this one came with it, and so did its hooks."""
    tops = {found for each in folders if (found := _identity(each)) is not None}
    for address in filter(runs_hooks_here, addresses):
        place = address if is_local(address) else _path_there(address)
        for real in dict.fromkeys((place, common(place))):
            if any(_identity(each) in tops for each in _upwards(real)):
                raise PushRefused(
                    f"the branch would be pushed to {printable(real)}, inside this repository:"
                    " its hooks would be run",
                    remedy="Push to a repository elsewhere: see `git remote --verbose`.",
                )


def _upwards(path: str) -> Iterable[str]:
    """A path and all that it lies in; what a folder is, not what it is called, is compared."""
    while True:
        yield path
        above = os.path.dirname(path)
        if above == path:
            return
        path = above


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


def refuse_other(found: Sequence[str], wanted: Sequence[str], remote: str) -> None:
    """What was trusted is pushed to, and nothing else."""
    if not found:
        raise PushRefused(f"there is no remote `{remote}` to push to",
                          remedy=f"Add it with `git remote add {remote} URL`.")  # fmt: skip
    if tuple(found) != tuple(wanted):
        now, was = ", ".join(map(printable, found)), ", ".join(map(printable, wanted))
        raise PushRefused(f"the branch would be pushed to {now}, and {was or 'nothing'} is trusted")


def refuse_absent(address: str) -> None:
    """A path that leads to nothing yet might lead anywhere when git looks."""
    if is_local(address) and opened(address) != address:
        raise PushRefused(f"there is no repository at {printable(address)}")
