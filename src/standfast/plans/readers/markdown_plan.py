"""Plans in Markdown, taken apart: headings with what stands below them, and keys with values. Pure.

Real ones are written by people and models, so much is let pass: any bullet, bold or not, a colon
inside the bold or after it, headings of any level, a bold line in place of a heading. What stands
in a code fence is never a heading or a key.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from standfast.formats import markdown
from standfast.plans.readers import plan_text

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from standfast.plans.findings import Finding

_BULLET = re.compile(r"[-*+•][ \t]+|[0-9]{1,3}[.)][ \t]+")
_CHECKBOX = re.compile(r"\[[ xX]?\][ \t]+")
_LONGEST_KEY = 60
_BOLD = ("**", "__")
_SEPARATORS = " \t:—\u2013-"
_NUMBERED = re.compile(
    r"(?:section |part )?(?:[0-9]{1,3}(?:\.[0-9]{1,3})*|[a-z]|[ivx]{1,5})[.):] +|[0-9]{1,3} "
)  # what counts sections, and is no part of their names
_REMARK = re.compile(r" *\([^()]*\)$")


class Line(NamedTuple):
    """One line of a plan."""

    number: int
    text: str
    fenced: bool = False

    @property
    def indent(self) -> int:
        """How far in it begins."""
        return len(self.text) - len(self.text.lstrip(" \t"))

    @property
    def words(self) -> str:
        """Without bullet, box and blanks."""
        return unbulleted(self.text)

    @property
    def is_bullet(self) -> bool:
        """Whether it is an item of a list."""
        return not self.fenced and _BULLET.match(self.text.lstrip(" \t")) is not None


class Block(NamedTuple):
    """A heading and the lines down to the next one; the first block of a text has no heading."""

    name: str  # as it stands, without marks
    level: int
    line: int
    lines: list[Line]

    @property
    def key(self) -> str:
        """The name in the form in which headings are compared."""
        return normal(self.name)


class Field(NamedTuple):
    """A key, what stands beside it, and the lines below that belong to it."""

    key: str  # in the form in which keys are compared
    name: str  # as it stands
    value: str
    line: int
    more: list[Line]
    start: Line


def normal(name: str) -> str:
    """A key or heading as they are compared: `D. Test Command(s) (draft):` is `test command`."""
    plain = name.replace("&", " and ").replace("(s)", "")
    words = re.sub(r"[\s_*`/-]+", " ", plain).strip(" :.?").lower()
    words = re.sub(r"^[^\w(]+", "", words)  # a sign or a picture in front
    words = words[found.end() :] if (found := _NUMBERED.match(words)) else words
    return _REMARK.sub("", words).strip(" :.") or words


def unbulleted(text: str) -> str:
    """Words without what makes them an item of a list."""
    text = text.strip()
    found = _BULLET.match(text)
    text = text[found.end() :] if found else text
    box = _CHECKBOX.match(text)
    return text[box.end() :] if box else text


def unmarked(text: str) -> str:
    """Words without bold, backticks, and a colon at the end."""
    return text.replace("**", "").replace("__", "").replace("`", "").strip().rstrip(":").strip()


def first_word(text: str) -> str:
    """What stands before the first blank."""
    return text.split(maxsplit=1)[0] if text.strip() else ""


def take_apart(
    text: str, sections: Collection[str], inner: Collection[str] = ()
) -> tuple[list[Block], list[Finding]]:
    """The blocks of a text, and what of it could not be taken for Markdown.

    *sections* are the names that are a heading even where they are only bold; those that are also
    *inner* are keys instead in a text whose sections have real headings.
    """
    lines = plan_text.lines(text)
    blocks = [Block("", 0, 1, [])]
    for number, line in enumerate(lines.texts, 1):
        if number in lines.fenced:
            blocks[-1].lines.append(Line(number, line, fenced=True))
        elif (found := markdown.heading(line, number)) is not None:
            blocks.append(Block(unmarked(found.text), found.level, number, []))
            sections = {*sections} - {*inner} if blocks[-1].key in sections else sections
        elif _is_bold_heading(line, sections):
            blocks.append(Block(unmarked(line), blocks[-1].level or 2, number, []))
        else:
            blocks[-1].lines.append(Line(number, line))
    return blocks, lines.findings


def _is_bold_heading(line: str, sections: Collection[str]) -> bool:
    words = line.strip()
    is_bold = words.startswith(_BOLD) and words.rstrip(":").endswith(_BOLD)
    return is_bold and len(words) < _LONGEST_KEY and normal(unmarked(words)) in sections


def fields(lines: Sequence[Line], known: Collection[str]) -> tuple[list[Field], list[Line]]:
    """Every key with its value, and the lines that belong to none.

    A bold key counts whatever it is called, any other only if it is *known*. Below a key stand the
    lines that are further in than it, and a list or fence that follows a key without a value.
    """
    found: list[Field] = []
    rest: list[Line] = []
    is_open = False
    for line in lines:
        field = None if line.fenced else _field(line, known)
        if field is not None:
            found.append(field)
            is_open = True
        elif is_open and line.text.strip() and _belongs(line, found[-1]):
            found[-1].more.append(line)
        else:
            is_open = is_open and not line.text.strip()
            rest.append(line)
    return found, rest


def _belongs(line: Line, field: Field) -> bool:
    if line.fenced:
        return not field.value or bool(field.more)
    if line.indent > field.start.indent:
        return True
    if field.value or field.start.is_bullet:
        return False
    return line.is_bullet or not field.more or field.more[-1].number + 1 == line.number


def _field(line: Line, known: Collection[str]) -> Field | None:
    """The key of a line, if it has one."""
    name, value, is_bold = _split(line.words)
    if not name and line.is_bullet and len(line.words) < _LONGEST_KEY:
        name = line.words  # `- Scope`, with a list below it
    key = normal(name)
    if not key or (key not in known and not is_bold):
        return None
    return Field(key, unmarked(name), value.strip(), line.number, [], line)


def key_of(line: Line) -> str:
    """What stands before the colon of a line, in the form in which keys are compared."""
    return normal(_split(line.words)[0])


def _split(words: str) -> tuple[str, str, bool]:
    """A key and what follows it; whether the key is bold and ends in a colon."""
    for mark in _BOLD:
        end = words.find(mark, len(mark), _LONGEST_KEY) if words.startswith(mark) else -1
        if end > 0:
            name, value = words[len(mark) : end], words[end + len(mark) :]
            inside, colon, after = name.partition(":")
            if colon:
                name, value = inside, f"{after} {value}"
            has_colon = bool(colon) or value.lstrip().startswith((":", "—", "\u2013", "--"))
            return name, value.lstrip(_SEPARATORS), has_colon
    name, colon, value = words[: _LONGEST_KEY + 1].partition(":")
    value = words[len(name) + 1 :]
    value = value[1:] if value.startswith(("* ", "_ ")) else value  # `*Key:* value`
    return (name, value, False) if colon else ("", "", False)


def section(
    blocks: Sequence[Block],
    names: Sequence[str],
    known: Collection[str],
    inner: Collection[str] = (),
    *,
    holds: Callable[[Block], bool] | None = None,
) -> list[Block]:
    """The blocks from a heading with one of these *names*, the first that is there, to its end.

    It ends at the next *known* heading; one that is also *inner* ends it only if it is not further
    in than the last that is not. Any other of its own level ends it too, unless it *holds* that.
    """
    start = next((at for name in names for at, each in enumerate(blocks) if each.key == name), None)
    if start is None:
        return []
    found = [blocks[start]]
    level = 0
    for block in blocks[start + 1 :]:
        is_inside = block.key in inner and 0 < level < block.level
        if block.key in known and block.key not in names and not is_inside:
            break
        if block.level <= found[0].level and not is_inside and not (holds and holds(block)):
            break
        level = level if block.key in inner else block.level
        found.append(block)
    return found


def body(lines: Sequence[Line]) -> str:
    """Lines as they stand, blank ones at both ends left out."""
    texts = [line.text.rstrip() for line in lines]
    return "\n".join(texts).strip("\n")


def whole_body(blocks: Sequence[Block]) -> str:
    """A section with the headings below it."""
    parts = [f"{block.name}:\n{body(block.lines)}" if at else body(block.lines)
             for at, block in enumerate(blocks)]  # fmt: skip
    return "\n\n".join(part for part in parts if part.strip())
