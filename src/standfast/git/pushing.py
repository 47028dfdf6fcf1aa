"""What a push needs that nothing else does: a way out, and the user's own keys.

Programs that a repository's configuration names stay off. How to reach another machine, and who
one is there, are taken from the user's own and the system's configuration, never from the
repository's. Only transports that start no program of the repository's choice are allowed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence  # noqa: TC003  # the tables' types are documentation
from types import MappingProxyType
from urllib.parse import unquote_to_bytes

from standfast.errors import GitFailed
from standfast.lane_errors import PushRefused
from standfast.protocol.text import printable

PATIENCE_S = 600.0
SCOPES = ("--system", "--global")
SETTINGS: Mapping[str, str] = MappingProxyType({"core.sshCommand": "ssh"})
_TRUSTED = ("core.sshcommand", "core.askpass", "credential.helper", "credential.username")
_VARIABLES = ("GIT_ASKPASS", "GIT_SSH", "GIT_SSH_COMMAND", "SSH_ASKPASS")
_PROTOCOLS = "file:git:http:https:ssh"


# Of several settings for the other side's program git takes the first: only an option wins.
OPTIONS = (
    *("--quiet", "--atomic", "--no-verify", "--no-signed"),
    "--receive-pack=git-receive-pack",
)


def refuse_program(remote: str, settings: Mapping[str, str]) -> None:
    """A remote that is reached by a program which the repository names is not reached at all."""
    if f"remote.{remote}.vcs" in settings:
        raise GitFailed(f"the remote {remote} asks for a program of its own")


def trusted(listed: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """What the user's own configuration says of keys and the way there, in its order."""
    found = []
    for key, value in listed:
        section, _, rest = key.partition(".")
        if f"{section}.{rest.rpartition('.')[2]}" in _TRUSTED:
            found.append((key, value))
    return found


def variables(own: Mapping[str, str]) -> dict[str, str]:
    """Which transports there are, and what the user's environment says of keys."""
    kept = {name: own[name] for name in _VARIABLES if name in own}
    return {**kept, "GIT_ALLOW_PROTOCOL": _PROTOCOLS}


_FILE = "file://"


def is_local(address: str) -> bool:
    """Whether git takes it for a path of this machine, where it runs the hooks that it finds."""
    colon, slash = address.find(":"), address.find("/")
    return address.startswith(_FILE) or colon < 0 or -1 < slash < colon


def resolved(address: str, directory: str) -> str:
    """An address as it is trusted: a path of this machine whole, with no link on the way."""
    if not is_local(address):
        return _shown_as_it_is(address)
    path = address
    if address.startswith(_FILE):
        path = os.fsdecode(unquote_to_bytes(os.fsencode(address.removeprefix(_FILE))))
        if not path.startswith("/"):
            raise PushRefused(f"`{printable(address)}` is no path that can be looked at")
    return os.path.realpath(os.path.join(directory, _shown_as_it_is(path)))


def _shown_as_it_is(address: str) -> str:
    """What a person is shown must be what git takes."""
    if not address.isprintable():
        raise PushRefused(f"`{printable(address)}` is no address that can be looked at")
    return address


def refuse_inside(addresses: Sequence[str], *folders: str) -> None:
    """A repository that lies in this one came with it, and so did its hooks."""
    tops = [os.path.realpath(each) for each in folders]
    for address in filter(is_local, addresses):
        for top in tops:
            if address == top or address.startswith(f"{top.rstrip('/')}/"):
                raise PushRefused(
                    f"the branch would be pushed to {printable(address)}, inside this repository:"
                    " its hooks would be run",
                    remedy="Push to a repository elsewhere: see `git remote --verbose`.",
                )


def refuse_other(found: Sequence[str], wanted: Sequence[str], remote: str) -> None:
    """What was trusted is pushed to, and nothing else."""
    if not found:
        raise PushRefused(f"there is no remote `{remote}` to push to",
                          remedy=f"Add it with `git remote add {remote} URL`.")  # fmt: skip
    if tuple(found) != tuple(wanted):
        now, was = ", ".join(map(printable, found)), ", ".join(map(printable, wanted))
        raise PushRefused(f"the branch would be pushed to {now}, and {was or 'nothing'} is trusted")
