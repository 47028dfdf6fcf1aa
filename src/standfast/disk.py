"""The one door to files: durable writes, and opens that cannot be led astray.

A durable write is an order of steps, spelled out here and nowhere else: contents into a new
file, contents synced, the name moved in one step, the folder synced. Reading from a folder
that others write to goes component by component without following links, so there is no
moment between a check and an open. Hooks import this module: it imports only os's own kind.
"""

from __future__ import annotations

import errno
import os
import stat
import sys

from standfast.errors.base import DiskFailed, Exhausted, TooLarge, UnsafePath, Unsupported

FILE_MODE = 0o600
FOLDER_MODE = 0o700
TREE_FILE_MODE, TREE_FOLDER_MODE = 0o666, 0o777  # of which the system takes the umask away
READ_LIMIT = 4 * 1024 * 1024

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_DRAFT = ".draft"
_FULL_FSYNC = 51  # macOS F_FULLFSYNC: plain fsync there leaves the data in the drive's cache
_OPEN_LESS = "Too many files are open at once: allow more (`ulimit -n` says how many may be)."
_RIGHTS = "Look at who may read and write there, then run the command again."
_REMEDIES = {
    errno.EMFILE: _OPEN_LESS,
    errno.ENFILE: _OPEN_LESS,
    errno.EACCES: _RIGHTS,
    errno.ENOMEM: Exhausted.remedy,
    errno.EAGAIN: Exhausted.remedy,
    errno.EFBIG: "Allow larger files (`ulimit -f` says how large), then run the command again.",
}
_NOT_SYNCABLE = {errno.EINVAL, errno.ENOTSUP}  # a folder on a filesystem that has no such thing


def sync_fd(fd: int) -> None:
    """Make what was written to *fd* survive a power cut. An error is final: never retried."""
    if sys.platform == "darwin":
        import fcntl  # only there

        fcntl.fcntl(fd, _FULL_FSYNC)
    else:
        os.fsync(fd)


def sync_and_close(fd: int) -> None:
    """Make what somebody else wrote durable, before the journal speaks of it."""
    try:
        sync_fd(fd)
    finally:
        os.close(fd)


def start_writing(path: str) -> None:
    """Have the system begin to write a file out: a sync of many waits for all of them at once."""
    if not hasattr(os, "posix_fadvise"):
        return
    try:
        fd = open_regular(path)
    except OSError:
        return  # a folder, a link, or gone: whoever syncs it says so
    try:
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(fd)


def sync_folder(path: str) -> None:
    """Make the names in a folder survive a power cut."""
    fd = os.open(path or ".", _FOLDER)
    try:
        sync_fd(fd)
    except OSError as error:
        if error.errno not in _NOT_SYNCABLE:
            raise
    finally:
        os.close(fd)


def make_folder(path: str, *, mode: int = FOLDER_MODE) -> None:
    """Create a folder and its missing parents, each one durable in its own parent.

    They are private; with TREE_FOLDER_MODE they have what the umask leaves, as in a work tree.
    """
    if os.path.isdir(path):
        return
    parent = os.path.dirname(os.path.abspath(path))
    make_folder(parent, mode=mode)
    try:
        os.mkdir(path, mode)
    except FileExistsError:
        if not os.path.isdir(path):
            raise UnsafePath("a file stands where a folder is needed", file=path) from None
        return
    give(path, os.stat(parent))
    sync_folder(parent)


def make_folders_beneath(root: str, relative: str) -> None:
    """Create the missing folders on the way to a file in a work tree, following no link."""
    parts = relative.split("/")
    for count in range(1, len(parts)):
        parent = open_folder_beneath(root, "/".join(parts[:count]))
        try:
            os.mkdir(_component(parts[count - 1], relative), TREE_FOLDER_MODE, dir_fd=parent)
            made = open_folder_beneath(root, "/".join(parts[: count + 1]))
            give(made, os.fstat(parent))
            os.close(made)
            sync_fd(parent)
        except FileExistsError:
            pass
        except OSError as error:
            error.filename = os.path.join(root, *parts[:count])  # not the last of its names alone
            raise
        finally:
            os.close(parent)


def identity(path: str) -> tuple[int, int] | None:
    """Which file stands at *path*: another one may be put there; None when there is none."""
    try:
        facts = os.stat(path)
    except OSError:
        return None
    return facts.st_dev, facts.st_ino


def tree_mode(*, is_program: bool = False) -> int:
    """The rights of a new file in somebody's work tree: what the umask leaves, as for git's."""
    return (0o777 if is_program else 0o666) & ~_umask()


def _umask() -> int:
    """The system tells it on Linux; elsewhere it can only be had by setting it for an instant."""
    try:
        with open("/proc/self/status", "rb") as status:
            told = next(line for line in status if line.startswith(b"Umask:"))
        return int(told.split()[1], 8)
    except (OSError, StopIteration):
        mask = os.umask(0o077)  # what another thread makes meanwhile is private, never open
        os.umask(mask)
        return mask


def make_private(path: str) -> None:
    """Take everybody else's rights to a folder of ours away."""
    found = os.stat(path)
    if found.st_mode & 0o077 and os.geteuid() in {0, found.st_uid}:
        os.chmod(path, FOLDER_MODE)


def give(new: int | str, folder: os.stat_result) -> None:
    """Root working in somebody's repository must not leave files there that they cannot open."""
    if os.geteuid() == 0 and folder.st_uid != 0:
        os.chown(new, folder.st_uid, folder.st_gid)


def create(path: str, data: bytes, *, mode: int = FILE_MODE, folder: int | None = None) -> None:
    """Make a file that must not exist yet, contents synced: it is there whole, or not at all."""
    os.close(create_locked(path, data, mode=mode, folder=folder))


def create_locked(
    path: str, data: bytes, *, mode: int = FILE_MODE, folder: int | None = None
) -> int:
    """The same, open and locked: whoever finds the file knows that its maker is at work."""
    home = os.open(os.path.dirname(path) or ".", _FOLDER) if folder is None else os.dup(folder)
    try:
        fd = _open_unnamed(home)
        if fd is None:
            return _create_named(os.path.basename(path), data, mode, home)
        try:
            _fill(fd, data, mode, home)
            os.link(f"/proc/self/fd/{fd}", os.path.basename(path), dst_dir_fd=home)
        except BaseException:
            os.close(fd)
            raise
        return fd
    finally:
        os.close(home)


def _open_unnamed(home: int) -> int | None:
    """A file that has no name before it is whole: a crash leaves nothing. None: not known here."""
    if not hasattr(os, "O_TMPFILE"):
        return None
    try:
        return os.open(".", os.O_WRONLY | os.O_TMPFILE | os.O_CLOEXEC, FILE_MODE, dir_fd=home)
    except OSError as error:
        if error.errno in {errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL}:
            return None
        raise


def _create_named(name: str, data: bytes, mode: int, home: int) -> int:
    """Where files without a name are unknown: cleaned up on failure."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    fd = os.open(name, flags, mode, dir_fd=home)
    try:
        _fill(fd, data, mode, home)
    except BaseException:
        os.close(fd)
        forget(name, folder=home)
        raise
    return fd


def _fill(fd: int, data: bytes, mode: int, home: int) -> None:
    is_free(fd)
    os.fchmod(fd, mode)
    give(fd, os.stat(home))
    write_all(fd, data)
    sync_fd(fd)


def is_free(fd: int) -> bool:
    """Take the lock of an open file if nobody has it; it goes with the file."""
    import fcntl  # only where files are made

    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def write_all(fd: int, data: bytes) -> None:
    """Write every byte: the system may take fewer than it was given."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def forget(path: str, *, folder: int | None = None) -> None:
    """Remove a file of our own that may be gone already."""
    try:
        os.unlink(path, dir_fd=folder)
    except FileNotFoundError:
        pass


def draft_name(path: str) -> str:
    """A name beside *path* that nobody else will choose."""
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{name}.{os.urandom(6).hex()}{_DRAFT}")


def replace(path: str, data: bytes, *, mode: int = FILE_MODE) -> None:
    """Put new contents at *path*: a reader sees all of the old or all of the new."""
    draft = draft_name(path)
    try:
        made = create_locked(draft, data, mode=mode)
        try:
            os.rename(draft, path)
        finally:
            os.close(made)
    except OSError as error:
        forget(draft)
        raise disk_error(error, path, "write") from error
    except BaseException:
        forget(draft)
        raise
    sync_folder(os.path.dirname(path))
    parent, name = os.path.split(path)
    folder = os.open(parent or ".", _FOLDER)
    try:
        for orphan in orphans(folder, name):
            forget(orphan, folder=folder)
    finally:
        os.close(folder)


def orphans(folder: int, name: str) -> list[str]:
    """Drafts of a file in an open folder whose makers died: nobody holds their locks."""
    found = []
    for entry in os.listdir(folder):
        if entry.startswith(f".{name}.") and entry.endswith(_DRAFT):
            try:
                fd = open_regular(entry, folder=folder)
            except OSError:
                continue  # gone, or nothing of ours
            if is_free(fd):
                found.append(entry)
            os.close(fd)
    return found


def swap(first_folder: int, first: str, second_folder: int, second: str) -> bool:
    """Exchange two names in open folders in one step; False where the system cannot."""
    from standfast import renames  # faces only: a hook could not afford it

    return renames.exchange(first_folder, first, second_folder, second)


def disk_error(error: OSError, path: str, act: str = "") -> DiskFailed | UnsafePath:
    """Say an operating-system error in the user's terms; *act* is what failed, where known."""
    reason = error.strerror or str(error)
    if error.errno in {errno.ELOOP, errno.ENOTDIR, errno.EISDIR, errno.ENXIO}:
        return UnsafePath(f"not a regular file: {reason}", file=path)
    words = f"cannot {act}" if act else "the system refused"
    remedy = _REMEDIES.get(error.errno or 0)
    return DiskFailed(f"{words}: {reason}", file=path or None, remedy=remedy)


# Opening what others wrote.


def open_folder_beneath(root: str, relative: str) -> int:
    """Open the folder that holds *relative*, below *root*, following no link on the way."""
    at = os.open(root, _FOLDER)
    try:
        for folder in relative.split("/")[:-1]:
            below = os.open(_component(folder, relative), _FOLDER | os.O_NOFOLLOW, dir_fd=at)
            os.close(at)
            at = below
    except BaseException as error:
        os.close(at)
        if isinstance(error, OSError) and not isinstance(error, FileNotFoundError):
            raise unsafe(error, os.path.join(root, relative)) from error
        raise
    return at


def path_below(root: str, path: str) -> str:
    """What leads from *root* to a path, by whatever name that calls *root*; "" where it is not."""
    path = os.path.normpath(path)
    top, relative = path, ""
    while not _are_same(top, root):
        top, name = os.path.split(top)
        if not name:
            return ""
        relative = os.path.join(name, relative) if relative else name
    return relative


def _are_same(first: str, second: str) -> bool:
    try:
        return os.path.samefile(first, second)
    except OSError:
        return False


def open_beneath(root: str, relative: str) -> int:
    """Open a regular file below *root* for reading, following no link on the way."""
    folder = open_folder_beneath(root, relative)
    try:
        return open_regular(_component(relative.rpartition("/")[2], relative), folder=folder)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise unsafe(error, os.path.join(root, relative)) from error
    finally:
        os.close(folder)


def _component(name: str, path: str) -> str:
    if name in {"", ".", ".."} or "\0" in name:
        raise UnsafePath("the path leaves its folder", file=path)
    return name


def open_regular(
    name: str, flags: int = os.O_RDONLY, mode: int = FILE_MODE, *, folder: int | None = None
) -> int:
    """Open a regular file that is not a link; anything else is an OSError, never a wait."""
    # O_NONBLOCK: opening a FIFO must not wait for the other end.
    safe = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
    fd = os.open(name, flags | safe, mode, dir_fd=folder)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EISDIR, "not a regular file", name)
    if flags & os.O_CREAT:
        give(fd, os.stat(os.path.dirname(name) or "." if folder is None else folder))
    return fd


def refuse_link(path: str) -> None:
    """A folder of ours that is a link would put our files into somebody else's place."""
    if os.path.islink(path):
        raise UnsafePath("it is a link; a folder is needed", file=path)


# Nothing is wrong with the file, but with the moment: who tries again later may well succeed.
_PASSING = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EIO, errno.EAGAIN})


def is_passing(error: OSError) -> bool:
    """Whether an error says nothing about the file: taking it for absent or bad would be wrong."""
    return error.errno in _PASSING


def unsafe(error: OSError, path: str) -> DiskFailed | UnsafePath:
    """What an error of opening says of the path."""
    if is_passing(error):
        remedy = _REMEDIES.get(error.errno or 0)
        return DiskFailed(f"cannot read it now: {error.strerror}", file=path, remedy=remedy)
    if error.errno == errno.ELOOP:
        return UnsafePath("it is a link", file=path)
    if error.errno == errno.ENOTDIR:
        return UnsafePath("a link or a file stands where a folder is needed", file=path)
    return UnsafePath(f"cannot open it: {error.strerror or error}", file=path)


def read_fd(fd: int, *, limit: int, name: str) -> bytes:
    """Read a whole open file, refusing one that is over *limit* before and while reading."""
    if os.fstat(fd).st_size > limit:
        raise TooLarge(f"it is over {limit:,} bytes", file=name)
    parts: list[bytes] = []
    left = limit + 1
    while left > 0:
        try:
            part = os.read(fd, min(left, 1 << 20))
        except OSError as error:
            error.filename = name  # the system only knows its number
            raise
        if not part:
            return b"".join(parts)
        parts.append(part)
        left -= len(part)
    raise TooLarge(f"it is over {limit:,} bytes", file=name)


def read_beneath(root: str, relative: str, *, limit: int = READ_LIMIT) -> bytes:
    """The contents of a regular file below *root*; FileNotFoundError when there is none."""
    fd = open_beneath(root, relative)
    try:
        return read_fd(fd, limit=limit, name=os.path.join(root, relative))
    finally:
        os.close(fd)


def read_regular(path: str, *, limit: int = READ_LIMIT, folder: int | None = None) -> bytes:
    """The contents of one regular file that is not a link; FileNotFoundError when absent."""
    try:
        fd = open_regular(path, folder=folder)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise unsafe(error, path) from error
    try:
        return read_fd(fd, limit=limit, name=path)
    finally:
        os.close(fd)


def refuse_windows(platform: str = sys.platform) -> None:
    """Native Windows has neither the locks nor the renames that the promises rest on."""
    if platform in {"win32", "cygwin"}:
        raise Unsupported("native Windows is not supported: use WSL2")
