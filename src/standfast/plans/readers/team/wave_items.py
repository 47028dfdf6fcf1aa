"""Items below a wave that are tasks: each becomes the heading that it could have been. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from standfast import ids
from standfast.plans.findings import quoted, warning
from standfast.plans.readers.markdown_plan import Block, Line, key_of, unmarked
from standfast.plans.readers.team import task_keys

if TYPE_CHECKING:
    from collections.abc import Sequence

    from standfast.plans.findings import Finding

_ID = r"[A-Za-z]{1,12}[-_]?[0-9]{1,4}[a-z]?"
_SLUG = r"[A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)+"
_SHORT = re.compile(
    rf"(?:\*\*({_ID})\*\*|`({_ID})`|({_ID})(?=:|\)|\.\s|\s[—\u2013-]))[\s:.)—\u2013-]*"
)
_NAMED = re.compile(
    rf"(?:\*\*({_SLUG}):?\*\*|`([A-Za-z0-9][\w.-]{{0,63}})`(?=\s*(?:[:—\u2013-]|$))"
    rf"|({_SLUG})(?=:|\s[—\u2013-]|$))[\s:—\u2013-]*"
)
_HEAD = re.compile(r"([^\s:`*()][^:`*()]{1,40}):\s+(?=\S)")
_BOLD = re.compile(r"(?:\*\*|__)(.{1,120}?):?(?:\*\*|__):?\s*")
_NUMBER = re.compile(r"\s*([0-9]{1,3})[.)]\s")
_OWNER = re.compile(r"\((?:owner|assigned to|by|who)[:\s]+([^()]{1,60})\)", re.IGNORECASE)
_WAITS = r"(?:depends on|after|needs|blocked by|requires|waits for)"
_AFTER = re.compile(rf"\b{_WAITS}\b:?\s([^()]{{1,160}})", re.IGNORECASE)
_APART = re.compile(
    rf"(?:[(\[,;:.\u2013—]\s?|\s-{{1,2}}\s|^){_WAITS}\b:?\s([^()\[\]]{{1,160}})"
    rf"|\b{_WAITS}\s((?:tasks?|steps?|#)\s?[0-9][^()\[\]]{{0,160}}|[0-9][^()\[\]]{{0,160}})",
    re.IGNORECASE,
)
_CODE = re.compile(r"`[^`]*`")
_IDS = ("task id", "id")
_OF_A_TASK = frozenset((task_keys.AFTER, task_keys.BLOCKS, task_keys.WHO))
_ABOUT = frozenset(("goal", "note", "notes", "purpose", "why", "gate", "exit criteria", "duration",
                    "estimate", "parallel", "important"))  # fmt: skip


class Items(NamedTuple):
    """The tasks of a list, and the lines above it."""

    tasks: list[Block]
    rest: list[Line]
    is_sure: bool  # whether some have an id, or keys of their own


def read(block: Block, *, only_ids: bool = False) -> Items:
    """The items that stand furthest out, each with what is further in below it.

    Where some are numbered, only they are tasks. *only_ids*: where none has an id, none is.
    """
    heads = _heads(block.lines)
    is_sure = any(_has_id(line, below) for line, below in _parted(block.lines, heads))
    if only_ids and not is_sure:
        return Items([], block.lines, is_sure=False)
    rest = block.lines[: block.lines.index(heads[0])] if heads else block.lines
    tasks = [_task(block, line, below) for line, below in _parted(block.lines, heads)]
    return Items(tasks, [line for line in rest if line.text.strip()], is_sure)


def _heads(lines: Sequence[Line]) -> list[Line]:
    bullets = [line for line in lines if line.is_bullet]
    least = min((line.indent for line in bullets), default=0)
    outer = [line for line in bullets if line.indent == least]
    numbered = [line for line in outer if _NUMBER.match(line.text)]
    has_short = any(_SHORT.match(line.words) for line in outer)
    return [line for line in numbered or outer if not _is_about(line, has_short=has_short)]


def _is_about(line: Line, *, has_short: bool) -> bool:
    """Whether an item only speaks of the wave, or of the task above it."""
    if _SHORT.match(line.words):
        return False
    return key_of(line) in _ABOUT or (has_short and bool(key_of(line)))


def _parted(lines: Sequence[Line], heads: Sequence[Line]) -> list[tuple[Line, list[Line]]]:
    ends = [*(lines.index(each) for each in heads), len(lines)]
    return [(line, list(lines[at + 1 : ends[number + 1]]))
            for number, (line, at) in enumerate(zip(heads, ends, strict=False))]  # fmt: skip


def _has_id(line: Line, below: Sequence[Line]) -> bool:
    keys = {task_keys.meaning(key_of(each)) for each in below if not each.fenced}
    is_keyed = not _OF_A_TASK.isdisjoint(keys) or any(map(task_keys.is_test, keys))
    return is_keyed or _SHORT.match(line.words) is not None or _says_id(below)


def _says_id(lines: Sequence[Line]) -> bool:
    return any(not line.fenced and key_of(line) in _IDS for line in lines)


def _task(block: Block, line: Line, below: list[Line]) -> Block:
    """The heading of an item, with its own keys and those that its words say."""
    short = _SHORT.match(line.words)
    said = short or _NAMED.match(line.words)
    words = line.words[said.end() :] if said else line.words
    title, rest = _titled(words)
    plain = _CODE.sub(" ", words)
    keys = [("Assigned To", each) for each in _OWNER.findall(plain)[:1]]
    keys += [("Depends On", each) for each in _waits(plain, is_short=bool(short))]
    if said and not _says_id(below):
        keys.append(("Task ID", next(each for each in said.groups() if each)))
    number = _NUMBER.match(line.text)
    name = title or unmarked(line.words)
    made = [Line(line.number, f"- **{key}**: {value}") for key, value in keys]
    lines = [Line(line.number, rest), *_outdented(below), *made]
    return Block(f"{number[1]}. {name}" if number else name, block.level + 1, line.number, lines)


def _waits(plain: str, *, is_short: bool) -> list[str]:
    """Whom the words of an item say that it waits for."""
    if is_short:
        return _AFTER.findall(plain)[:1]
    said = _APART.search(plain)
    return [(said[1] or said[2]).strip(" .,;")] if said else []


def _titled(words: str) -> tuple[str, str]:
    """The title of an item, and what else its words say."""
    head = _BOLD.match(words) or _HEAD.match(words)
    if head is None:
        return unmarked(words), words
    return unmarked(head[1]), words[head.end() :]


def _outdented(lines: Sequence[Line]) -> list[Line]:
    """Lines as far out as the outermost of them."""
    least = min((line.indent for line in lines if line.text.strip()), default=0)
    return [line._replace(text=line.text[least:]) for line in lines]


def with_id(task: Block, found: list[Finding]) -> Block:
    """A task that needs one, named by its title; a number alone does too, as a heading."""
    if _says_id(task.lines):
        return task
    name = re.sub(r"^[0-9]{1,3}\. ", "", task.name)
    plain = (
        re.sub(r"[^A-Za-z0-9._-]+", "-", name.lower()).strip("._-")[: ids.LONGEST_NAME] or "task"
    )
    found.append(warning(task.line, f"the task has no Task ID; it is called {quoted(plain)}"))
    return task._replace(lines=[*task.lines, Line(task.line, f"- **Task ID**: {plain}")])
