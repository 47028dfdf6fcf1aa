"""What Claude Code hands to a hook: one JSON object on stdin, read with SQLite's own functions.

Importing json would cost a hook half an interpreter start. A payload over the limit is not
parsed: its first and last bytes hold the few fields that matter, because the client writes
its own names before and after what a tool was given.
"""

from __future__ import annotations

import os

import apsw

from standfast.errors.base import BadDocument
from standfast.journal import database

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

LIMIT = 2 * 1024 * 1024
_ENDS = 16 * 1024
_WORDS = 4 * 1024
_CHUNK = 1 << 18
_KNOWN = ("session_id", "hook_event_name", "cwd", "agent_id", "transcript_path")


class Payload:
    """One call's JSON text, and the questions that can be asked of it."""

    __slots__ = ("_connection", "size", "text")

    def __init__(self, text: str, size: int) -> None:
        self.text = text
        self.size = size
        self._connection = database.scratch()

    def ask(self, expressions: Sequence[str]) -> tuple[str | int | None, ...]:
        """The values of SQL expressions in which `?1` is the payload."""
        sql = f"SELECT {','.join(expressions)}"  # expressions are ours
        try:
            row = self._connection.execute(sql, (self.text,)).fetchone()
        except apsw.Error as error:
            raise BadDocument("the hook's payload is not JSON") from error
        except UnicodeDecodeError:
            self.text = _without_halves(self.text)
            return self.ask(expressions)
        return tuple(row) if row else ()

    def write(self, fields: dict[str, str | int]) -> str:
        """Our own fields as JSON text; one that is JSON already is marked by a `json:` name."""
        marks = ",".join(
            f"'{name.removeprefix('json:')}',{'json(?)' if name.startswith('json:') else '?'}"
            for name in fields
        )
        values = tuple(fields.values())
        ((text,),) = self._connection.execute(f"SELECT json_object({marks})", values)
        return str(text)

    def beside(self, printed: str, event: str, words: str) -> str:
        """What is *printed* for the client, with *words* for the model after what is in it."""
        if not printed:
            inner = self.write({"hookEventName": event, "additionalContext": words})
            return self.write({"json:hookSpecificOutput": inner})
        place = "'$.hookSpecificOutput.additionalContext'"
        sql = f"SELECT json_set(?1, {place}, ifnull((?1 ->> {place}) || char(10), '') || ?2)"
        ((text,),) = self._connection.execute(sql, (printed, words))
        return str(text)


def read(fd: int, head: bytes = b"") -> Payload:
    """Everything the client writes after *head*; of a large payload only both ends are kept."""
    parts = [head]
    size, tail = len(head), head[-_ENDS:]
    while part := os.read(fd, _CHUNK):
        if size < LIMIT:
            parts.append(part)
        size += len(part)
        tail = (tail + part)[-_ENDS:]
    if size > LIMIT:
        return Payload(_ends(b"".join(parts), tail), size)
    return Payload(b"".join(parts).decode("utf-8", "replace"), size)


def _without_halves(text: str) -> str:
    """JavaScript cuts a character in two and writes the half as an escape: `?` in its place."""
    import json  # rare

    try:
        whole = json.dumps(json.loads(text), ensure_ascii=False)
    except (ValueError, RecursionError) as error:
        raise BadDocument("the hook's payload is not JSON") from error
    return whole.encode("utf-8", "replace").decode("utf-8")


def _ends(first: bytes, tail: bytes) -> str:
    """A small payload in place of one that is too large: its own fields, how the rest begins."""
    head, end = first[:_ENDS].decode("utf-8", "replace"), tail.decode("utf-8", "replace")
    own, _, given = head.partition('"tool_input"')  # what a tool was given may name anything
    parts = [_pair(own, name) for name in (*_KNOWN, "tool_name", "prompt")]
    if given:
        words = _pair(given, "command") or _pair(given, "file_path")
        parts += [f'"tool_input":{{{words}}}', _pair(end, "tool_use_id", last=True)]
    return "{" + ",".join(filter(None, parts)) + "}"


def _pair(text: str, name: str, *, last: bool = False) -> str:
    """A key and its string as they stand there; of a long one the first words."""
    at = text.rfind(f'"{name}"') if last else text.find(f'"{name}"')
    value = text[at:].partition(":")[2].lstrip() if at >= 0 else ""
    return f'"{name}":"{_string(value)}"' if value.startswith('"') else ""


def _string(value: str) -> str:
    """Up to the quote that ends it, or to a blank: neither an escape nor a key is cut in two."""
    value = value[: _WORDS + 1]
    end = value.find('"', 1)
    while end > 0 and (len(value[:end]) - len(value[:end].rstrip("\\"))) % 2:
        end = value.find('"', end + 1)
    return value[1:end] if end > 0 else value[1:].rpartition(" ")[0]
