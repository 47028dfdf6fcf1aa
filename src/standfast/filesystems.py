"""What kind of filesystem holds a path, as the kernel tells it, and syncing all of one."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # hooks cannot afford to import typing for its constant
if TYPE_CHECKING:
    from collections.abc import Iterator

# Locks or shared memory are unreliable there, so a write-ahead log is not safe.
REMOTE = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "fuse.sshfs", "vboxsf", "prl_fs"}
)
# One call for all of it is cheaper there than one for each file, by measurement, however many there
# are and whatever others have written (docs/adr/0023); elsewhere files are synced one by one.
_SYNCED_WHOLE = frozenset({"ext4", "xfs", "btrfs", "overlay"})
# statx(2): the number of a mount that no other ever gets, and where the answer has it.
_UNIQUE, _NUMBER_AT, _STATX_SIZE, _FROM_HERE = 0x4000, 144, 256, -100
_TELLS_ERRORS = (5, 8)  # before that Linux, such a call said nothing of what could not be written


def sync(path: str) -> bool:
    """Make all that anybody wrote to the filesystem of *path* last; False where that is dearer."""
    if not syncs_whole(path):
        return False
    import ctypes  # hooks could not afford it

    libc = ctypes.CDLL(None, use_errno=True)
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        if libc.syncfs(fd) != 0:
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code), path)
    finally:
        os.close(fd)
    return True


def syncs_whole(path: str) -> bool:
    """Whether `sync` does it there."""
    return _tells_errors() and kind_of(path) in _SYNCED_WHOLE


def _tells_errors() -> bool:
    system = os.uname()
    first, _, rest = system.release.partition(".")
    second = rest.partition(".")[0]
    is_known = system.sysname == "Linux" and first.isdecimal() and second.isdecimal()
    return is_known and (int(first), int(second)) >= _TELLS_ERRORS


def mount_of(path: str) -> tuple[int, str]:
    """The device and the mount of *path*: no rename leads from one mount of a device to another."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        device = os.fstat(fd).st_dev
        try:
            with open(f"/proc/self/fdinfo/{fd}", encoding="ascii") as file:
                said = file.read().partition("mnt_id:")[2]
        except OSError:  # another system than Linux
            said = ""
    finally:
        os.close(fd)
    return device, said.partition("\n")[0].strip()


def mounted(path: str) -> str:
    """Which mounting it is that holds *path*: another word once it was mounted again.

    A kernel before 6.8 gives the numbers of mounts to others later: then nothing is said. It is
    said for one namespace of mounts only: another one has other numbers for the same mounting.
    """
    import ctypes  # hooks could not afford it

    found = ctypes.create_string_buffer(_STATX_SIZE)
    try:
        space = os.readlink("/proc/self/ns/mnt")
        statx = ctypes.CDLL(None).statx
    except (OSError, AttributeError):  # another system than Linux
        return ""
    if statx(_FROM_HERE, os.fsencode(path), 0, _UNIQUE, found) != 0:
        return ""
    mask = int.from_bytes(found.raw[:4], sys.byteorder)
    number = int.from_bytes(found.raw[_NUMBER_AT : _NUMBER_AT + 8], sys.byteorder)
    return f"{space}/{number}" if mask & _UNIQUE else ""


def was_mounted_again(then: str, now: str) -> bool:
    """Whether these two words of `mounted` speak of two mountings; False where nobody can say."""
    before, after = then.rpartition("/"), now.rpartition("/")
    return bool(then) and before[0] == after[0] and before[2] != after[2]


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
