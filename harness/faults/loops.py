"""A filesystem of our own that can be cut, frozen or filled, and that never outlives us.

It lies on a loop device that frees itself, mounted in a mount namespace of this process: whatever
kills the harness, the kernel takes mount and device away with its last process. Nothing has to
be cleaned up, so nothing can be forgotten.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import shutil
import struct
import subprocess
import time
import uuid
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

FILESYSTEMS = ("ext4", "xfs", "btrfs")
_MIB = 1024 * 1024
_SIZES = {"ext4": 64 * _MIB, "xfs": 320 * _MIB, "btrfs": 192 * _MIB}  # the others refuse less
_BLOCK = {"ext4": ("-F",), "xfs": ("-f",), "btrfs": ("-f",)}  # a file; an old one may be there
_CARRIED = ("btrfs",)  # it knows no shutdown: the filesystem that its image lies on is cut instead

_NEW_MOUNTS, _NEW_USER, _NEW_PIDS = 0x00020000, 0x10000000, 0x20000000
_BIND, _REMOUNT, _READ_ONLY, _RECURSIVE, _PRIVATE = 0x1000, 0x20, 0x1, 0x4000, 1 << 18
_GET_FREE, _CONFIGURE, _AUTOCLEAR = 0x4C82, 0x4C0A, 4  # linux/loop.h
_SHUTDOWN, _NO_LOG_FLUSH = 0x8004587D, 2
_FREEZE, _THAW, _DROP_BUFFERS = 0xC0045877, 0xC0045878, 0x1261
_DIE_WITH_PARENT, _KILL = 1, 9
_PATIENCE_S = 20.0
_BOOT_ID = "/proc/sys/kernel/random/boot_id"

_libc = ctypes.CDLL(None, use_errno=True)


def _checked(result: int, what: str) -> None:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), what)


def die_with(parent: int) -> None:
    """This process of the harness ends with the one that began it, even if that is killed."""
    _libc.prctl(_DIE_WITH_PARENT, _KILL)
    if os.getppid() != parent:  # it was killed before we had said so
        os._exit(1)


def private_mounts() -> None:
    """From here on this process mounts for itself and its children only; root is not needed."""
    user, group = os.geteuid(), os.getegid()
    _checked(_libc.unshare(_NEW_MOUNTS | (0 if user == 0 else _NEW_USER)), "unshare")
    if user != 0:
        for name, text in (
            ("setgroups", "deny"), ("uid_map", f"0 {user} 1"), ("gid_map", f"0 {group} 1"),
        ):  # fmt: skip
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                file.write(text)
    _mount("none", "/", None, _PRIVATE | _RECURSIVE)


def _mount(source: str, target: str, kind: str | None, flags: int = 0, data: str = "") -> None:
    named = None if kind is None else kind.encode()
    done = _libc.mount(
        os.fsencode(source), os.fsencode(target), named, ctypes.c_ulong(flags), data.encode()
    )
    _checked(done, f"mount {target}")


def private_pids() -> None:
    """The children of this process count from one; only after `private_mounts`."""
    _checked(_libc.unshare(_NEW_PIDS), "unshare")


def mount_processes() -> None:
    """Let /proc tell of this PID namespace."""
    _mount("proc", "/proc", "proc")


def mount_memory(folder: str, *, size: int) -> None:
    """A filesystem in memory that holds *size* bytes and no more."""
    _mount("none", folder, "tmpfs", data=f"size={size}")


def mount_read_only(folder: str) -> None:
    """Let nobody write there; what is there stays to be read."""
    _mount(folder, folder, None, _BIND | _RECURSIVE)
    _mount("none", folder, None, _BIND | _REMOUNT | _READ_ONLY)


def another_boot(folder: str) -> None:
    """Let the kernel name another boot, as it does after a power cut; only to this process."""
    file = os.path.join(folder, "boot_id")
    with open(file, "w", encoding="ascii") as said:
        said.write(f"{uuid.uuid4()}\n")
    if not os.path.samefile(_BOOT_ID, file):
        _mount(file, _BOOT_ID, None, _BIND)


def unmount(folder: str) -> None:
    """Take the mount away, as soon as the last process that was killed there is gone."""
    until = time.monotonic() + _PATIENCE_S
    while _libc.umount2(os.fsencode(folder), 0) < 0:
        code = ctypes.get_errno()
        if code != errno.EBUSY or time.monotonic() > until:
            raise OSError(code, os.strerror(code), folder)
        time.sleep(0.001)


class Disk:
    """One filesystem on one loop device; made in a process that has its own mounts.

    A carried one lies on another, as on a disk with a cache of its own: what it has asked that
    disk to flush is kept by a cut, and of the rest whatever happened to be written.
    """

    def __init__(self, folder: str, filesystem: str, *, size: int = 0) -> None:
        self.root = os.path.join(folder, "disk")
        self._kind = filesystem
        os.makedirs(self.root, exist_ok=True)
        size = size or _SIZES[filesystem]
        self._carrier = None
        if filesystem in _CARRIED:
            self._carrier = Disk(os.path.join(folder, "carrier"), "ext4", size=size * 5 // 4)
        self._image = os.path.join(self._carrier.root if self._carrier else folder, "image")
        with open(self._image, "wb") as file:
            file.truncate(size)
            if self._carrier:
                os.posix_fallocate(file.fileno(), 0, size)
        mkfs = [str(_program(f"mkfs.{filesystem}")), "-q", *_BLOCK[filesystem], self._image]
        subprocess.run(mkfs, check=True, capture_output=True)
        if self._carrier:
            self._carrier.sync()
        self._fd, self._device = _attach(self._image)
        if not self._carrier:
            os.unlink(self._image)
        self.mount()

    def mount(self) -> None:
        """Mount it; the filesystem replays its own log first."""
        _mount(self._device, self.root, self._kind)

    def cut(self) -> None:
        """Cut the power: what was not synced is gone, and nothing more gets through."""
        fd = os.open(self._carrier.root if self._carrier else self.root, os.O_RDONLY)
        try:
            fcntl.ioctl(fd, _SHUTDOWN, struct.pack("I", _NO_LOG_FLUSH))
        finally:
            os.close(fd)

    def again(self) -> None:
        """The machine comes up again: nothing of the disk is remembered in memory."""
        unmount(self.root)
        fcntl.ioctl(self._fd, _DROP_BUFFERS)
        if self._carrier:
            os.close(self._fd)  # the loop device lets go of the image
            self._carrier.again()
            self._fd, self._device = _attach(self._image)
        self.mount()

    def sync(self) -> None:
        """Everything that was written so far is on the disk."""
        fd = os.open(self.root, os.O_RDONLY)
        try:
            _checked(_libc.syncfs(fd), "syncfs")
        finally:
            os.close(fd)

    def freeze(self) -> None:
        """Whoever writes waits from here on, and cannot even be killed."""
        self._ask(_FREEZE)

    def thaw(self) -> None:
        """Let everybody go on; a second time does nothing."""
        with suppress(OSError):
            self._ask(_THAW)

    def _ask(self, request: int) -> None:
        fd = os.open(self.root, os.O_RDONLY)
        try:
            fcntl.ioctl(fd, request, 0)
        finally:
            os.close(fd)


def _attach(image: str) -> tuple[int, str]:
    """A free loop device that holds the image, and lets go of it with its last user."""
    control = os.open("/dev/loop-control", os.O_RDWR | os.O_CLOEXEC)
    backing = os.open(image, os.O_RDWR | os.O_CLOEXEC)
    info = struct.pack("5Q4I64s64s32s2Q", *[0] * 8, _AUTOCLEAR, b"", b"", b"", 0, 0)
    try:
        while True:
            device = f"/dev/loop{fcntl.ioctl(control, _GET_FREE)}"
            fd = os.open(device, os.O_RDWR | os.O_CLOEXEC)
            try:
                # A mutable buffer: the structure has more bytes than an immutable one may have.
                fcntl.ioctl(
                    fd, _CONFIGURE, bytearray(struct.pack("2I", backing, 0) + info + bytes(64))
                )
            except OSError as error:
                os.close(fd)
                if error.errno != errno.EBUSY:  # somebody else was quicker
                    raise
            else:
                return fd, device
    finally:
        os.close(backing)
        os.close(control)


def _program(name: str) -> str | None:
    path = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"))
    return shutil.which(name, path=path)


def lacking(folder: str, filesystem: str) -> str | None:
    """Why this machine cannot cut such a filesystem; None when it can."""
    if os.geteuid() != 0:
        return "only root may cut the power of a filesystem"
    if _program(f"mkfs.{filesystem}") is None:
        return f"mkfs.{filesystem} is not installed"
    return apart(lambda: _try(folder, filesystem))


def _try(folder: str, filesystem: str) -> str:
    disk = Disk(folder, filesystem)
    disk.cut()
    disk.again()
    return ""


def cannot_mount(folder: str) -> str | None:
    """Why this machine lets nobody mount even in memory; None when it does."""

    def mount() -> str:
        mount_memory(folder, size=65536)
        return ""

    return apart(mount)


def apart(work: Callable[[], str]) -> str | None:
    """Do *work* in a process with mounts of its own; what it says, None when it says nothing."""
    reader, writer = os.pipe()
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        said = "it was ended"
        try:
            die_with(parent)
            private_mounts()
            said = work()
        except Exception as error:  # noqa: BLE001  # told to whoever asked
            said = f"this machine cannot: {error}"
        finally:
            os.write(writer, said.encode())
            os._exit(0)
    os.close(writer)
    with open(reader, encoding="utf-8") as file:
        said = file.read()
    os.waitpid(pid, 0)
    return said or None
