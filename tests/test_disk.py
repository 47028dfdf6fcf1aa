"""A file is all of the old or all of the new, whatever fails; an open never leaves its folder."""

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from standfast import disk, filesystems
from standfast.errors.base import DiskFailed, TooLarge, UnsafePath, Unsupported
from standfast.journal.repair import salvage

CALLS = ("open", "write", "fsync", "rename", "fchmod")


class Fault:
    """Makes the Nth of the system's mutating calls fail, or kills the process there."""

    def __init__(self, patch: pytest.MonkeyPatch, nth: int, act: Callable[[], None]) -> None:
        self.left = nth
        self.hit = False
        for name in CALLS:
            patch.setattr(os, name, self._wrapped(getattr(os, name), act))

    def _wrapped(
        self, real: Callable[..., object], act: Callable[[], None]
    ) -> Callable[..., object]:
        def call(*arguments: object, **named: object) -> object:
            self.left -= 1
            if self.left == 0:
                self.hit = True
                act()
            return real(*arguments, **named)

        return call


def fail(code: int) -> Callable[[], None]:
    def act() -> None:
        raise OSError(code, os.strerror(code))

    return act


@pytest.mark.parametrize("code", [errno.EIO, errno.ENOSPC, errno.EROFS, errno.EMFILE])
def test_replace_leaves_the_old_file_and_no_litter_when_any_call_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    target = tmp_path / "file"

    for nth in count(1):
        target.write_bytes(b"old")
        with monkeypatch.context() as patch:
            fault = Fault(patch, nth, fail(code))
            try:
                disk.replace(str(target), b"newer")
                failed = False
            except (DiskFailed, OSError):
                failed = True
        if not fault.hit:
            break
        # A failing sync of the folder comes after the rename: then the new file stands, unpromised.
        assert target.read_bytes() in {b"old", b"newer"}
        assert failed
        assert [p.name for p in tmp_path.iterdir()] == ["file"]

    assert nth > 5
    assert target.read_bytes() == b"newer"


def test_replace_killed_at_every_call_leaves_old_or_new(tmp_path: Path) -> None:
    script = (
        "import os, signal, sys\n"
        "from standfast import disk\n"
        "left = int(sys.argv[2])\n"
        "def wrap(real):\n"
        "    def call(*a, **k):\n"
        "        global left\n"
        "        left -= 1\n"
        "        if left == 0: os.kill(os.getpid(), signal.SIGKILL)\n"
        "        return real(*a, **k)\n"
        "    return call\n"
        f"for name in {CALLS!r}: setattr(os, name, wrap(getattr(os, name)))\n"
        "disk.replace(sys.argv[1], b'newer')\n"
    )
    target = tmp_path / "file"
    seen = set()

    for nth in count(1):
        target.write_bytes(b"old")
        done = subprocess.run([sys.executable, "-c", script, target, str(nth)], check=False)
        seen.add(target.read_bytes())
        if done.returncode == 0:
            break
        assert done.returncode == -signal.SIGKILL

    assert seen == {b"old", b"newer"}


def test_replace_syncs_contents_before_the_name_and_the_folder_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    real_sync, real_rename = os.fsync, os.rename

    def sync(fd: int) -> None:
        order.append("folder" if os.path.isdir(f"/proc/self/fd/{fd}") else "contents")
        real_sync(fd)

    def rename(source: str, target: str) -> None:
        order.append("name")
        real_rename(source, target)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(os, "rename", rename)
    disk.replace(str(tmp_path / "file"), b"data")

    assert order == ["contents", "name", "folder"]


@pytest.mark.req("SEC-06")
def test_files_and_folders_are_private_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        disk.make_folder(str(tmp_path / "a" / "b"))
        disk.replace(str(tmp_path / "a" / "b" / "file"), b"x")
    finally:
        os.umask(before)

    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "a" / "b" / "file").stat().st_mode & 0o777 == 0o600


def test_swap_exchanges_two_names_across_folders(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x").write_bytes(b"1")
    (tmp_path / "y").write_bytes(b"2")
    a, top = (os.open(p, os.O_RDONLY) for p in (tmp_path / "a", tmp_path))

    swapped = disk.swap(a, "x", top, "y")

    os.close(a)
    os.close(top)
    assert swapped
    assert ((tmp_path / "a" / "x").read_bytes(), (tmp_path / "y").read_bytes()) == (b"2", b"1")


def test_swap_with_a_name_that_is_gone_says_so(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"1")
    top = os.open(tmp_path, os.O_RDONLY)

    with pytest.raises(FileNotFoundError):
        disk.swap(top, "x", top, "gone")

    os.close(top)
    assert (tmp_path / "x").read_bytes() == b"1"


@pytest.fixture
def trap(tmp_path: Path) -> Path:
    """A folder with one honest file and every kind of dishonest one; the secret is outside."""
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (root / "sub" / "honest").write_bytes(b"ok")
    (tmp_path / "secret").write_bytes(b"secret")
    (root / "link").symlink_to(tmp_path / "secret")
    (root / "out").symlink_to(tmp_path)
    (root / "self").symlink_to("self")
    os.mkfifo(root / "fifo")
    (root / "null").symlink_to("/dev/null")
    (root / "huge").touch()
    os.truncate(root / "huge", 2 * 1024**3)
    return root


@pytest.mark.req("SEC-01")
@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("link", UnsafePath),
        ("out/secret", UnsafePath),
        ("self", UnsafePath),
        ("fifo", UnsafePath),
        ("null", UnsafePath),
        ("sub", UnsafePath),
        ("../secret", UnsafePath),
        ("sub/../../secret", UnsafePath),
        ("/etc/passwd", UnsafePath),
        ("", UnsafePath),
        ("sub//honest", UnsafePath),
        ("./sub/honest", UnsafePath),
        ("sub/honest/x", UnsafePath),
        ("a\0b", UnsafePath),
        ("huge", TooLarge),
        ("gone", FileNotFoundError),
    ],
)
def test_read_beneath_opens_regular_files_inside_and_nothing_else(
    trap: Path, path: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        disk.read_beneath(str(trap), path)

    assert disk.read_beneath(str(trap), "sub/honest") == b"ok"


@pytest.mark.req("SEC-01")
def test_device_is_refused_at_once() -> None:
    with pytest.raises(UnsafePath):
        disk.read_regular("/dev/zero")


def test_file_that_grows_past_the_limit_while_being_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "growing"
    path.write_bytes(b"x" * 10)
    fd = os.open(path, os.O_RDONLY)

    with pytest.raises(TooLarge):
        disk.read_fd(fd, limit=9, name="growing")

    os.close(fd)


def test_descriptors_are_given_back_on_every_path(trap: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))

    for path in ("link", "fifo", "out/secret", "huge", "sub/honest", "sub/gone"):
        with pytest.MonkeyPatch.context():
            try:
                disk.read_beneath(str(trap), path)
            except (UnsafePath, TooLarge, FileNotFoundError):
                continue

    assert len(os.listdir("/proc/self/fd")) == before


MOUNTS = """\
22 1 254:0 / / rw,relatime - ext4 /dev/vda rw
30 22 0:40 / /home/ada rw - nfs4 server:/ada rw
31 30 0:41 / /home/ada/with\\040space rw - xfs /dev/sdb rw
32 22 0:42 / /mnt rw - ext4 /dev/sdc rw
33 22 0:43 / /mnt rw - 9p share rw
garbage line
"""


@pytest.mark.req("PLAT-03")
@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/srv/x", "ext4"),
        ("/home/ada/repo", "nfs4"),
        ("/home/ada/with space/repo", "xfs"),
        ("/home/adamant", "ext4"),
        ("/mnt", "9p"),
    ],
)
def test_filesystem_is_that_of_the_nearest_and_latest_mount(path: str, kind: str) -> None:
    assert filesystems.kind_of(path, MOUNTS) == kind


@pytest.mark.req("PLAT-03")
def test_remote_filesystems_get_no_write_ahead_log() -> None:
    from standfast.journal.database import wal_is_safe

    assert {"nfs4", "cifs", "9p"} <= filesystems.REMOTE
    assert not {"ext4", "xfs", "btrfs", "tmpfs", "overlay"} & filesystems.REMOTE
    assert wal_is_safe("/") == (filesystems.kind_of("/") not in filesystems.REMOTE)


@pytest.mark.req("PLAT-04")
def test_native_windows_is_refused_in_one_line_and_the_others_are_not() -> None:
    for platform in ("linux", "darwin"):
        disk.refuse_windows(platform)

    with pytest.raises(Unsupported) as caught:
        disk.refuse_windows("win32")

    assert "\n" not in caught.value.problem
    assert "WSL2" in caught.value.problem


@pytest.mark.req("PLAT-04")
def test_mac_syncs_through_the_drives_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl

    asked: list[tuple[int, int]] = []
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(fcntl, "fcntl", lambda fd, command: asked.append((fd, command)))

    disk.sync_fd(5)

    assert asked == [(5, 51)]  # F_FULLFSYNC


# Files that are there whole, or not at all.


def test_new_file_has_no_name_before_it_is_whole(tmp_path: Path, monkeypatch: Any) -> None:
    seen: list[list[str]] = []
    real = os.fsync

    def sync(fd: int) -> None:
        seen.append(os.listdir(tmp_path))
        real(fd)

    monkeypatch.setattr(os, "fsync", sync)
    disk.create(str(tmp_path / "a"), b"all of it")

    assert seen == [[]]
    assert (tmp_path / "a").read_bytes() == b"all of it"


@pytest.mark.parametrize("unnamed", [True, False])
def test_new_file_never_takes_the_place_of_another(
    tmp_path: Path, monkeypatch: Any, *, unnamed: bool
) -> None:
    (tmp_path / "a").write_bytes(b"theirs")
    if not unnamed:
        monkeypatch.setattr(disk, "_open_unnamed", lambda _: None)

    with pytest.raises(FileExistsError):
        disk.create(str(tmp_path / "a"), b"ours")

    assert (tmp_path / "a").read_bytes() == b"theirs"
    assert os.listdir(tmp_path) == ["a"]


def test_where_files_without_a_name_are_unknown_a_named_one_is_cleaned_up(
    tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setattr(disk, "_open_unnamed", lambda _: None)
    disk.create(str(tmp_path / "a"), b"all of it", mode=0o640)

    def full(fd: int, data: bytes) -> None:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(disk, "write_all", full)
    with pytest.raises(OSError, match="full"):
        disk.create(str(tmp_path / "b"), b"more")

    assert os.listdir(tmp_path) == ["a"]
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o640


def test_draft_whose_maker_died_goes_with_the_next_replace(tmp_path: Path) -> None:
    path = tmp_path / "a"
    orphan = tmp_path / ".a.0123456789ab.draft"
    at_work = tmp_path / ".a.ba9876543210.draft"
    other = tmp_path / ".b.0123456789ab.draft"
    for draft in (orphan, other):
        draft.write_bytes(b"")
    maker = disk.create_locked(str(at_work), b"being put in place")

    disk.replace(str(path), b"new")
    os.close(maker)

    assert sorted(os.listdir(tmp_path)) == [at_work.name, other.name, "a"]


def test_copy_has_zeros_where_a_sector_cannot_be_read(tmp_path: Path, monkeypatch: Any) -> None:
    data = bytes(range(256)) * 24
    (tmp_path / "a").write_bytes(data)
    real = os.pread

    def failing(fd: int, size: int, at: int) -> bytes:
        if at < 1_024 + 512 and at + size > 1_024:
            raise OSError(errno.EIO, "the disk fails")
        return real(fd, size, at)

    monkeypatch.setattr(os, "pread", failing)
    salvage.copy(str(tmp_path / "a"), str(tmp_path / "b"))

    assert (tmp_path / "b").read_bytes() == data[:1_024] + bytes(512) + data[1_536:]


@pytest.mark.parametrize(
    ("number", "says"),
    [(errno.EMFILE, "ulimit"), (errno.EACCES, "who may write"), (errno.ENOSPC, "free space")],
)
def test_what_the_system_refuses_has_the_remedy_that_helps(number: int, says: str) -> None:
    assert says in disk.disk_error(OSError(number, "no"), "/file").remedy


@pytest.mark.parametrize("number", [errno.EAGAIN, errno.ENOMEM, errno.EPERM])
def test_what_the_system_refuses_is_no_fault_of_a_disk_where_no_file_is_named(number: int) -> None:
    told = disk.disk_error(OSError(number, "no"), "")

    assert (told.problem, told.file) == ("the system refused a call: no", None)
    assert "free space" not in str(told.remedy)
    assert isinstance(disk.disk_error(OSError(errno.ENOSPC, "full"), ""), DiskFailed)
