"""What a push needs that nothing else does: a way out, and the user's own keys.

Programs that a repository's configuration names stay off. How to reach another machine, and who
one is there, are taken from the user's own and the system's configuration, never from the
repository's. Only transports that start no program of the repository's choice are allowed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping  # noqa: TC003  # the tables' types are documentation
from types import MappingProxyType

from standfast.errors import GitFailed

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
