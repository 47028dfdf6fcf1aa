"""What Claude Code's own transcript tells: how full the context is, what it still shows.

One JSON object a line, written behind what happens. Only its ends are read, and only as text:
a line that looks like ours may be anybody's, so nothing here is ever more than a hint. Hook path.
"""

from __future__ import annotations

import os

from standfast import disk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

WINDOW = 200_000  # tokens; what a model has unless the client was told otherwise
_TAIL = 4 * 1024 * 1024
_MOST = 64 * 1024 * 1024
_BOUNDARY, _KIND = b'"compact_boundary"', b'"subtype"'
_USAGE = b'"usage"'
_MODEL = b'"model"'
_MOST_REPLIES = 50
_BLANKS = 32  # bytes around a colon, more than anybody writes there
_COUNTED = (b'"input_tokens"', b'"cache_creation_input_tokens"', b'"cache_read_input_tokens"')


def tail(path: str | None) -> bytes:
    """The end of a transcript; nothing where it cannot be read."""
    return _part(path, from_end=True)


def _part(path: str | None, *, from_end: bool) -> bytes:
    if not path or "\0" in path:
        return b""
    try:
        fd = disk.open_regular(path)
    except OSError:
        return b""
    try:
        size = os.fstat(fd).st_size if from_end else 0
        return os.pread(fd, _TAIL, max(0, size - _TAIL))
    except OSError:
        return b""
    finally:
        os.close(fd)


def head(path: str | None) -> bytes:
    """How a transcript begins; nothing where it cannot be read."""
    return _part(path, from_end=False)


def since_compaction(path: str) -> bytes:
    """The part that the model is still shown: read backwards, as far as the last compaction."""
    try:
        fd = disk.open_regular(path)
    except (OSError, ValueError):
        return b""
    found, at = b"", -1
    try:
        left = os.fstat(fd).st_size
        while left and at < 0 and len(found) < _MOST:
            size = min(_TAIL, left)
            left -= size
            found = os.pread(fd, size, left) + found
            at = _boundary(found, size + 2 * _BLANKS)
    except OSError:
        return b""
    finally:
        os.close(fd)
    return found[at + 1 :]


def _boundary(text: bytes, stop: int) -> int:
    """Where the last compaction before *stop* is told; -1 if none is."""
    at = stop
    for _ in range(_MOST_REPLIES):
        at = text.rfind(_BOUNDARY, 0, at)
        if at < 0:
            break
        before = text[max(0, at - _BLANKS) : at].rstrip()
        if before.endswith(b":") and before[:-1].rstrip().endswith(_KIND):
            return at
    return -1


def _value(text: bytes, at: int, name: bytes) -> int:
    """Where the value of a field begins whose name is at *at*, blanks or not; -1 for no field."""
    for wanted in (name, b":"):
        if at < 0 or not text.startswith(wanted, at):
            return -1
        at += len(wanted)
        near = text[at : at + _BLANKS]
        at += len(near) - len(near.lstrip())
    return at


def _usage(end: bytes) -> int:
    """Where the last figures are; -1 where there are none."""
    at = len(end)
    for _ in range(_MOST_REPLIES):
        at = end.rfind(_USAGE, 0, at)
        value = _value(end, at, _USAGE)
        if at < 0 or (value >= 0 and end.startswith(b"{", value)):
            return at
    return -1


def tokens(end: bytes) -> int | None:
    """How many tokens the newest reply was given."""
    at = _usage(end)
    if at < 0:
        return None
    usage = end[at : end.find(b"}", at)]
    return sum(_number(usage, name) for name in _COUNTED)


def _number(usage: bytes, name: bytes) -> int:
    at = _value(usage, usage.find(name), name)
    digits = usage[at : at + 12] if at >= 0 else b""
    count = len(digits) - len(digits.lstrip(b"0123456789"))
    return int(digits[:count] or b"0")


def newest(end: bytes) -> tuple[int | None, str]:
    """Tokens and model of the newest reply since the last compaction; None where there is none.

    What the client says in the model's place, of an error or an interrupt, counts no tokens.
    """
    end = end[max(0, _boundary(end, len(end))) :]
    for _ in range(_MOST_REPLIES):
        at = _usage(end)
        if at < 0:
            break
        if found := tokens(end[at:]):
            return found, _model(end[end.rfind(b"\n", 0, at) + 1 : at])
        end = end[:at]
    return None, ""


def _model(line: bytes) -> str:
    at = _value(line, line.find(_MODEL), _MODEL)
    name = line[at + 1 :].partition(b'"')[0] if at >= 0 and line.startswith(b'"', at) else b""
    return name[:200].decode("utf-8", "replace")


def window(environ: Mapping[str, str]) -> int:
    """How many tokens fit before the client compacts by itself."""
    return told_window(environ) or WINDOW


def told_window(environ: Mapping[str, str]) -> int | None:
    """What the client was told of that; None if nothing."""
    told = environ.get("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "")
    is_number = told.isascii() and told.isdigit() and len(told) < 10  # noqa: PLR2004  # more is no number of tokens
    return int(told) if is_number else None
