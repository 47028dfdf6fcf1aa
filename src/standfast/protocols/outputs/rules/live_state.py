"""Which session is the live one: rules over the state files of an orchestrated workflow.

The root state names the session's directory and may point to the session's own state file. A
pointer that was left behind by an earlier session is *stale*: it is told, and never followed.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, NamedTuple

from standfast.errors.base import BadDocument
from standfast.formats import yaml_sections
from standfast.formats.yaml_text import read_yaml
from standfast.formats.yaml_writer import write

if TYPE_CHECKING:
    from standfast.formats.yaml_text import Document

ROOT_FILE = ".cwf/cwf-state.yaml"
CONFIG_FILES = (".cwf-config.local.yaml", ".cwf-config.yaml")
VARIABLE = "CWF_STATE_FILE"
SESSION_FILE = "session-state.yaml"
_QUOTE = "Put the value in quotes, and a comment on a line of its own."


class Live(NamedTuple):
    """What a state file says of the live session."""

    session_id: str | None = None
    dir: str | None = None
    state_file: str | None = None


def read(data: bytes, name: str) -> Live:
    """The `live:` keys that lead to the session's directory; anything unclear is refused."""
    document = read_yaml(data, name=name)
    if document.value is None:
        return Live()
    if not isinstance(document.value, dict):
        raise BadDocument("the state is not a mapping of keys to values", file=name, line=1)
    live = document.value.get("live")
    if live is None:
        return Live()
    if not isinstance(live, dict):
        raise BadDocument("`live` is not a mapping", file=name, line=document.line_of(("live",)))
    text = data.decode("utf-8")
    return Live(*(_text(document, text, ("live", key), name) for key in Live._fields))


def begun(data: bytes, name: str, session: str, where: str) -> bytes:
    """A state between two sessions with the new one in it; every other line stays as it is."""
    read(data, name)
    document = read_yaml(data, name=name).value
    live = document.get("live") if isinstance(document, dict) else None
    told = {**(live if isinstance(live, dict) else {}), "session_id": session, "dir": where}
    return yaml_sections.replace(data.decode("utf-8"), "live", write({"live": told}), name).encode()


def read_setting(data: bytes, name: str) -> str | None:
    """Where a configuration file says that the root state is."""
    document = read_yaml(data, name=name)
    if not isinstance(document.value, dict) or VARIABLE not in document.value:
        return None
    return _text(document, data.decode("utf-8"), (VARIABLE,), name)


def _text(document: Document, text: str, path: tuple[str, ...], name: str) -> str | None:
    """A value that must be text, on one line, with no doubt about where it ends."""
    value: object = document.value
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    if value is None or value == "":
        return None
    line = document.line_of(path)
    shown = ".".join(path)
    if not isinstance(value, str):
        raise BadDocument(f"`{shown}` is not text", file=name, line=line, remedy=_QUOTE)
    _, _, given = text.splitlines()[line - 1].partition(":")
    if given.lstrip()[:1] not in {'"', "'"} and " #" in given:
        problem = f"`{shown}` holds a `#`, which cuts it off or begins a comment"
        raise BadDocument(problem, file=name, line=line, remedy=_QUOTE)
    return value


def is_stale(root: Live, pointed: Live, at: str) -> bool:
    """Whether the state file *at* is another session's than the one that the root state names."""
    if root.session_id and pointed.session_id:
        return root.session_id != pointed.session_id
    if root.dir is None:
        return False
    return posixpath.normpath(posixpath.dirname(at)) != posixpath.normpath(root.dir)
