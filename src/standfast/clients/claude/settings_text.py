"""The text of Claude Code's settings, with our hooks and without them; pure.

Everything that is not ours stays byte for byte: other hooks, comments, indentation, line ends.
Ours are known by what they call, so they are found again after the launcher or the file moved.
"""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, NamedTuple

from standfast.errors.base import BadDocument
from standfast.formats import json_edits
from standfast.formats.document_limits import line_at
from standfast.formats.json_spans import BOM, read
from standfast.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from standfast.clients.claude.abilities import Abilities
    from standfast.formats.document_limits import Value
    from standfast.formats.json_edits import Line
    from standfast.formats.json_spans import Node, Path

CLIENT = "claude"
LAUNCHER_ENDS = "/standfast/hook"
TIMEOUT_S = 10
_BLANK_FILE = "\n\n"  # stands before the space of a file that was there and held nothing

Hook = dict[str, "Value"]


class Ours(NamedTuple):
    """A hook of ours in somebody's settings."""

    event: str
    path: Path
    hook: Hook


class Others(NamedTuple):
    """What else stands there and concerns hooks."""

    hooks: int
    status_line: bool
    all_off: bool
    ignored_at: int | None  # the line for which the client reads nothing of the file


def hook(launcher: str, *, exec_form: bool) -> Hook:
    """The entry that calls the launcher, as the client's version needs it."""
    if exec_form:
        call: Hook = {"command": launcher, "args": [CLIENT]}
    else:
        call = {"command": f"{shlex.quote(launcher)} {CLIENT}"}
    return {"type": "command", **call, "timeout": TIMEOUT_S}


def with_hooks(text: str | None, launcher: str, abilities: Abilities, *, name: str) -> str:
    """The text with exactly one hook of ours for each event; None is a file that is not there."""
    entry = hook(launcher, exec_form=abilities.exec_form)
    if text is None or json_edits.is_blank(text):
        return _new_file(text, abilities.events, entry)
    text = _only_current(text, abilities.events, entry, name)
    have = {ours.event for ours in find(text, name=name)}
    missing = [event for event in abilities.events if event not in have]
    if missing and read(text, name=name).at(("hooks",)) is None:
        return json_edits.append(text, (), lambda line: _hooks(missing, entry, line))
    for event in missing:
        text = _with_event(text, event, entry)
    return text


def with_command(text: str | None, event: str, command: str, *, name: str) -> str:
    """The text with one more hook that calls a command; as it is where one does."""
    entry: Hook = {"type": "command", "command": command, "timeout": TIMEOUT_S}
    if text is None or json_edits.is_blank(text):
        return _new_file(text, [event], entry)
    for found, groups in _events(text, name):
        if found == event and any(command in commands for commands in _commands(groups)):
            return text
    if read(text, name=name).at(("hooks",)) is None:
        return json_edits.append(text, (), lambda line: _hooks([event], entry, line))
    return _with_event(text, event, entry)


def _commands(groups: Node) -> Iterator[list[Value]]:
    for group in groups.items:
        hooks = group.value.at(("hooks",))
        values = [item.value.value for item in hooks.items] if hooks is not None else []
        yield [value.get("command") for value in values if isinstance(value, dict)]


def without_hooks(text: str | None, *, name: str) -> str | None:
    """The text as it was before ours came; None if there was no file."""
    if text is None or json_edits.is_blank(text):
        return text
    for ours in reversed(list(find(text, name=name))):
        text = json_edits.remove(text, ours.path)
    if not json_edits.is_blank(text):
        return text
    return None if _BLANK_FILE not in text else text.replace(_BLANK_FILE, "", 1)


def find(text: str | None, *, name: str) -> Iterator[Ours]:
    """Every hook of ours, in the order of the text."""
    for event, groups in _events(text, name):
        for at, group in enumerate(groups.items):
            hooks = group.value.at(("hooks",))
            for index, item in enumerate(hooks.items if hooks is not None else ()):
                if (found := _as_ours(item.value.value)) is not None:
                    yield Ours(event, ("hooks", event, at, "hooks", index), found)


def others(text: str | None, *, name: str) -> Others:
    """What stays as it is."""
    total = sum(
        len(hooks.items)
        for _, groups in _events(text, name)
        for group in groups.items
        if (hooks := group.value.at(("hooks",))) is not None
    )
    blank = text is None or json_edits.is_blank(text)
    value = {} if blank else read(str(text), name=name).value
    return Others(
        hooks=total - len(list(find(text, name=name))),
        status_line=isinstance(value, dict) and "statusLine" in value,
        all_off=isinstance(value, dict) and value.get("disableAllHooks") is True,
        ignored_at=None if blank else _first_liberty(str(text)),
    )


def _first_liberty(text: str) -> int | None:
    """The line of the first comment or trailing comma: Claude Code takes plain JSON alone."""
    try:
        json.loads(text.removeprefix(BOM))
    except json.JSONDecodeError as error:
        return error.lineno
    return None


def _as_ours(value: Value) -> Hook | None:
    """A hook that calls the launcher, in any form that we ever wrote."""
    if not isinstance(value, dict) or not isinstance(command := value.get("command"), str):
        return None
    arguments = value.get("args")
    try:
        words = [command, *arguments] if isinstance(arguments, list) else shlex.split(command)
    except ValueError:  # a quote without an end
        return None
    called = words[0] if len(words) > 1 and words[1] == CLIENT else None
    return value if isinstance(called, str) and called.endswith(LAUNCHER_ENDS) else None


def _events(text: str | None, name: str) -> Iterator[tuple[str, Node]]:
    """Each event with its groups, once the shape has been checked."""
    if text is None or json_edits.is_blank(text):
        return
    root = read(text, name=name)
    _expect(root, "{", "the settings are no object", text, name)
    _refuse_twice(root, "hooks", text, name)
    hooks = root.at(("hooks",))
    if hooks is None:
        return
    _expect(hooks, "{", "`hooks` is no object", text, name)
    for item in hooks.items:
        _refuse_twice(hooks, str(item.key), text, name)
        _expect(item.value, "[", "an event in `hooks` is no list", text, name)
        yield str(item.key), item.value


def _expect(node: Node, kind: str, problem: str, text: str, name: str) -> None:
    if node.kind != kind:
        raise BadDocument(problem, file=name, line=line_at(text, node.start))


def _refuse_twice(node: Node, key: str, text: str, name: str) -> None:
    """Which of the two a client takes is not ours to guess."""
    found = [item for item in node.items if item.key == key]
    if len(found) > 1:
        line = line_at(text, found[1].start)
        raise BadDocument(f"the key `{one_line(key, 60)}` stands twice", file=name, line=line)


def _only_current(text: str, events: Sequence[str], entry: Hook, name: str) -> str:
    """Bring ours up to date: one for each event that the version knows, in its own form."""
    found = list(find(text, name=name))
    for number, ours in reversed(list(enumerate(found))):
        again = any(ours.event == before.event for before in found[:number])
        if again or ours.event not in events:
            text = json_edits.remove(text, ours.path)
        elif not _calls_alike(ours.hook, entry):
            text = json_edits.replace(text, ours.path, json.dumps(entry, ensure_ascii=False))
    return text


def _calls_alike(one: Mapping[str, Value], other: Mapping[str, Value]) -> bool:
    """A timeout that somebody changed is theirs."""
    return all(one.get(key) == other.get(key) for key in ("type", "command", "args"))


def _with_event(text: str, event: str, entry: Hook) -> str:
    if read(text, name="").at(("hooks", event)) is not None:
        return json_edits.append(text, ("hooks", event), lambda _: _group(entry))
    return json_edits.append(text, ("hooks",), lambda _: _event(event, entry))


def _new_file(text: str | None, events: Sequence[str], entry: Hook) -> str:
    """A file that was not there ends with a line end; one that was blank keeps its space."""
    blank = (text or "").removeprefix(BOM)
    bom = BOM if text and text.startswith(BOM) else ""
    tail = "\n" if text is None else _BLANK_FILE + blank
    line = json_edits.Line(json_edits.new_line(blank), "", json_edits.USUAL_UNIT)
    member = _hooks(events, entry, line.deeper())
    return f"{bom}{{{line.deeper()}{member}{line}}}{tail}"


def _hooks(events: Sequence[str], entry: Hook, line: Line | None) -> str:
    if line is None:
        return f'"hooks": {{{", ".join(_event(event, entry) for event in events)}}}'
    members = ",".join(f"{line.deeper()}{_event(event, entry)}" for event in events)
    return f'"hooks": {{{members}{line}}}'


def _event(event: str, entry: Hook) -> str:
    return f"{json.dumps(event)}: [{_group(entry)}]"


def _group(entry: Hook) -> str:
    """One line: what is ours can be seen, and taken out by hand, as one."""
    return json.dumps({"hooks": [entry]}, ensure_ascii=False)
