"""Values of Markdown plans: nothing, names, files, commands, yes or no. Pure."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

from standfast.plans.readers.markdown_plan import unmarked

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from standfast.plans.readers.markdown_plan import Field

_NONE = frozenset(
    ("", "-", "--", "—", "\u2013", "none", "n/a", "na", "nil", "null", "nothing", "tbd", "no one")
)
_YES, _NO = frozenset(("yes", "true", "y")), frozenset(("no", "false", "n"))
_APART = re.compile(r"[,;]|<br ?/?>|\s&\s|\s\+\s|\band\b|\n")
_BREAK = re.compile(r"<br ?/?>")
_CODE = re.compile(r"`([^`\n]+)`")
_REMARK = re.compile(r"\([^()]*\)")
_FILES_APART = re.compile(r"[,;]|<br ?/?>")
_IN_TITLE = re.compile(
    r"[(\[](after|depends on|needs|blocked by|requires|waits for|blocks|before)\b:?\s"
    r"([^()\[\]]{1,160})[)\]]",
    re.IGNORECASE,
)
_WORD = re.compile(r"[\s(:]")
_PROMPT = "$ "
_LISTS = re.compile(r"&&|\|\||^\s*! ")
_BLOCK = re.compile(r"\s*(?:if|elif|while|until|for|case|do|then|else|fi|done|esac)\b|.*;;\s*$")


def is_none(value: str) -> bool:
    """Whether a value says that there is none: `(none …)`, `None.`, `n/a`, a dash."""
    plain = unmarked(value).strip(" .").lower()
    return plain in _NONE or plain.startswith(("(none", "none ", "none,", "none(", "none;", "n/a "))


def yes_or_no(value: str) -> bool | None:
    """True or False if the first word says so."""
    first = _WORD.split(unmarked(value).strip().lower(), maxsplit=1)[0].strip(" .,;")
    return True if first in _YES else False if first in _NO else None


def parts(field: Field) -> Iterator[tuple[int, str]]:
    """What a field lists, beside it and below it, each with its line."""
    if not is_none(field.value):
        yield from ((field.line, each) for each in apart(field.value))
    for line in field.more:
        if not line.fenced and not is_none(line.words):
            yield from ((line.number, each) for each in apart(line.words))


def apart(value: str) -> list[str]:
    """What a value lists, without marks; a remark in round brackets belongs to none of them."""
    bare = _REMARK.sub(" ", value)
    return [plain for each in _APART.split(bare) if (plain := unmarked(each).strip(" .[]\"'"))]


def order_in(title: str) -> tuple[str, str] | None:
    """`Worker (after 1)`: the key and the value that a title says."""
    said = _IN_TITLE.search(title)
    if said is None:
        return None
    return ("blocks" if said[1].lower() in ("blocks", "before") else "depends on"), said[2]


def files(value: str) -> list[str]:
    """The files that a value lists: what stands in backticks, else what is between commas."""
    code = _CODE.findall(value)
    if code:
        return [each.strip() for each in code]
    bare = _REMARK.sub(" ", value)
    return [plain for each in _FILES_APART.split(bare) if (plain := each.strip())]


def commands(value: str) -> list[str]:
    """The commands in backticks, in the order in which they stand."""
    return [each.strip() for each in _CODE.findall(value) if each.strip()]


def cell_lines(value: str) -> list[str]:
    """The lines of a cell, unless it says that there is nothing."""
    if is_none(value):
        return []
    return [each.strip() for each in _BREAK.split(value) if each.strip() and not is_none(each)]


def fence(lines: Sequence[str]) -> list[str]:
    """What stands between the marks of a fence; where some lines have a `$ `, only they are run."""
    inside = [line for line in lines if not line.strip().startswith(("```", "~~~"))]
    if any(line.strip().startswith(_PROMPT) for line in inside):
        inside = [line.strip().removeprefix(_PROMPT)
                  for line in inside if line.strip().startswith(_PROMPT)]  # fmt: skip
    text = textwrap.dedent("\n".join(line.rstrip() for line in inside)).strip("\n")
    is_said = any(line.strip() and not line.strip().startswith("#") for line in text.split("\n"))
    return [text] if is_said else []


def script(lines: Sequence[str]) -> str:
    """Several commands as one that ends with the first that fails."""
    once = list(dict.fromkeys(lines))
    if len(once) == 1 and "\n" not in once[0]:
        return once[0]
    split = (line for each in once for line in each.split("\n"))
    return "\n".join(["set -e", *map(_ends, split)]) if once else ""


def _ends(line: str) -> str:
    """`set -e` does not heed what `&&`, `||` and `!` make of a failure: such a line says so."""
    is_whole = not line.rstrip().endswith(("\\", "&&", "||", "|", "{", "(", "do", "then", "else"))
    is_plain = is_whole and "#" not in line and "<<" not in line and not _BLOCK.match(line)
    return f"{line} || exit" if is_plain and _LISTS.search(line) else line


def listed_files(field: Field) -> list[str]:
    """The files that a field lists, beside it and below it."""
    found = [] if is_none(field.value) else files(field.value)
    for line in field.more:
        found += [] if line.fenced or is_none(line.words) else files(line.words)
    return found
