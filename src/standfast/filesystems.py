"""What kind of filesystem holds a path, as the kernel tells it."""

from __future__ import annotations

import os

TYPE_CHECKING = False  # hooks cannot afford to import typing for its constant
if TYPE_CHECKING:
    from collections.abc import Iterator

# Locks or shared memory are unreliable there, so a write-ahead log is not safe.
REMOTE = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "fuse.sshfs", "vboxsf", "prl_fs"}
)


def kind_of(path: str, mounts: str | None = None) -> str:
    """The type of the filesystem that holds *path*, or `unknown`; *mounts* is mountinfo text."""
    if mounts is None:
        try:
            with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
                mounts = file.read()
        except OSError:
            return "unknown"
    real = os.path.realpath(path)
    best, found = -1, "unknown"
    for point, kind in _mounts(mounts):
        inside = real == point or real.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= best:  # the later of two on one point hides the earlier
            best, found = len(point), kind
    return found


def _mounts(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        before, separator, after = line.partition(" - ")
        fields = before.split(" ")
        if separator and len(fields) > 4:  # noqa: PLR2004  # proc(5): the fifth is the mount point
            yield _unescape(fields[4]), after.split(" ")[0]


def _unescape(field: str) -> str:
    for code, char in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        field = field.replace(code, char)
    return field
