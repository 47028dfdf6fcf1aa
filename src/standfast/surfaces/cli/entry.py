"""The command line: one handler of errors, commands loaded only when they are called."""

# ruff: noqa: E402  # where modules come from is settled before any is imported
from __future__ import annotations

from standfast.import_guard import keep_to_ours

keep_to_ours()

import os
import sys
from contextlib import suppress

from standfast import disk, wait_notice
from standfast.errors.base import Exhausted, InternalError, StandfastError
from standfast.surfaces.cli import answer_streams, interrupts


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit status; never a traceback."""
    _open_missing_streams()
    arguments = sys.argv[1:] if argv is None else argv
    status = 0
    if argv is None:
        interrupts.heed()
    wait_notice.told_to(_waits)
    try:
        status = _run(arguments)
        return _told(status, arguments)
    except BrokenPipeError:
        silence(1)  # `| head` has seen enough
        return status
    except KeyboardInterrupt:
        return interrupts.leave() if argv is None else interrupts.STATUS
    except StandfastError as error:
        return _say(error, arguments)
    except OSError as error:
        return _say(disk.disk_error(error, str(error.filename or "")), arguments)
    except Exception as error:  # noqa: BLE001  # the one place: a bug is told, not thrown at people
        return _say(Exhausted.of(error) or _bug(error), arguments)


def _run(arguments: list[str]) -> int:
    disk.refuse_windows()
    from standfast.surfaces.cli.frame import run

    return run(arguments)


def _told(status: int, arguments: list[str]) -> int:
    """The status of what was done; 0 only where the answer was written, too."""
    why = answer_streams.why_lost(sys.stdout)
    return status or (_say(answer_streams.unheard(why), arguments) if why else 0)


def _open_missing_streams() -> None:
    """A closed stream would give its number to the next file we open, and be printed into."""
    for fd in (0, 1, 2):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number: this one
    sys.stdin = sys.stdin or os.fdopen(0, closefd=False, encoding="utf-8")
    sys.stdout = sys.stdout or os.fdopen(1, "w", closefd=False, encoding="utf-8")
    sys.stderr = sys.stderr or os.fdopen(2, "w", closefd=False, encoding="utf-8")
    sys.stdout, sys.stderr = map(answer_streams.forgiving, (sys.stdout, sys.stderr))


def _waits(words: str) -> None:
    """What a command waits for, when that takes long."""
    from standfast import clock
    from standfast.surfaces.cli.screen import speak
    from standfast.text import printable

    speak(f"{clock.local_second(clock.now_us())} {printable(words)}", sys.stderr)


def silence(fd: int) -> None:
    """What is still buffered has nowhere to go."""
    with suppress(OSError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, fd)
        os.close(null)


def _say(error: StandfastError, arguments: list[str]) -> int:
    from standfast.surfaces.cli.screen import error_lines, json_line

    try:
        if "--json" in arguments:
            print(json_line({"error": error.as_dict()}), flush=True)
            if not answer_streams.why_lost(sys.stdout):
                return error.exit_status
    except OSError:
        silence(1)
    try:
        print(error_lines(error), file=sys.stderr, flush=True)
        sys.stdout.flush()
    except OSError:
        silence(1)
        silence(2)
    return error.exit_status


def _bug(error: Exception) -> InternalError:
    """Keep what a maintainer needs in a private file; the person gets one line."""
    told = InternalError(f"a bug in Standfast: {type(error).__name__}")
    with suppress(Exception):  # telling of a bug must not be one
        import tempfile
        import traceback

        from standfast.redaction.redactor import redact

        report = redact("".join(traceback.format_exception(error)))
        fd, told.file = tempfile.mkstemp(prefix="standfast-bug-", suffix=".txt")
        with os.fdopen(fd, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(report)
    return told
