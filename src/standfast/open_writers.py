"""Whether somebody has a file open for writing, as the system knows it.

A lease for reading is given only while nobody can write: no descriptor and no mapping is open for
that, of any process. A file that has lost its name and has no writer will never change again.
"""

from __future__ import annotations

import errno
import fcntl
import signal

KNOWN = hasattr(fcntl, "F_SETLEASE")  # on Linux, where the filesystem has leases


def has_open(fd: int) -> bool | None:
    """Whether a file that is open for reading here can be written by anybody; None: not told."""
    if not KNOWN:
        return None
    try:
        # Whoever opens it in this instant waits for the lease; the signal for that is one that
        # nobody minds.
        fcntl.fcntl(fd, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except OSError as error:
        return True if error.errno == errno.EAGAIN else None
    fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    return False
