"""One section of a YAML file that people own: found, and written anew, and no byte beside it.

A section is a key of the top level with its lines. Where both the old and the new value are
mappings, the sub-sections that say the same stay as they stand, and the comments in the others are
put to what they spoke of. What comes out is read
before it is given away: if anything beside the section would be read otherwise, it is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from standfast.errors.base import BadDocument, NoPlace
from standfast.formats import yaml_outline
from standfast.formats.json_edits import new_line
from standfast.formats.yaml_events import Kind
from standfast.formats.yaml_merge import Version, is_same, merged, shifted
from standfast.formats.yaml_outline import BOM, BREAKS
from standfast.formats.yaml_text import Document, read_yaml
from standfast.formats.yaml_writer import write_flow
from standfast.text import one_line

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from standfast.formats.document_limits import Value
    from standfast.formats.yaml_outline import Outline
    from standfast.formats.yaml_text import Path


class Span(NamedTuple):
    """A section: its offsets, the line of its key, its value; lines by paths of the document."""

    start: int
    end: int
    line: int
    value: Value
    lines: Mapping[Path, int]
    plain: Collection[Path]


def find(text: str, key: str, name: str) -> Span | None:
    """Find the section *key*; only its own value is built, the rest is parsed and no more."""
    outline = yaml_outline.read(text, key, name)
    if outline.entry is None:
        return None
    said = _read_alone(outline, key, name)
    start, end = (at + len(text) - len(outline.text) for at in (outline.start, outline.end))
    return Span(start, end, outline.line, said.value, said.lines, said.plain)


def replace(text: str, key: str, rendered_block: str, name: str) -> str:
    """Put *rendered_block*, the lines of `write({key: value})`, in the place of the section.

    It comes last in the document where there was none. Text whose section says the same already
    is given back as it is.
    """
    new = _version(rendered_block.replace("\r\n", "\n"), key, "the new section")
    old = _version(text, key, name)
    if new.outline.entry is None or new.outline.is_flow:
        raise NoPlace(f"the new section is no block with the key `{key}`", file=name)
    if old.outline.entry is not None and is_same(old.value, new.value):
        return text
    for section in _candidates(old, new, key):
        changed = _around(old.outline, section)
        if _holds(changed, key, name, old, new):
            return (BOM if text.startswith(BOM) else "") + changed
    raise NoPlace(_trouble(old.outline, key), file=name, line=old.outline.line)


def _version(text: str, key: str, name: str) -> Version:
    outline = yaml_outline.read(text, key, name)
    return Version(outline, _read_alone(outline, key, name).value)


def _read_alone(outline: Outline, key: str, name: str) -> Document:
    """Read the section without the rest, at the lines where it stands."""
    alone = outline.text[outline.start : outline.end]
    alone = f"{{{alone} }}" if outline.is_flow else alone
    read = read_yaml("\n" * (outline.line - 1) + alone, name=name, any_keys=True)
    value = read.value.get(key) if isinstance(read.value, dict) else None
    return Document(value=value, lines=read.lines, plain=read.plain)


def _around(old: Outline, section: str) -> str:
    return old.text[: old.start] + section + old.text[old.end :]


def _holds(changed: str, key: str, name: str, old: Version, new: Version) -> bool:
    """Whether the section reads back as it should, and all beside it as it did."""
    try:
        found = _version(changed, key, name)
    except BadDocument:
        return False
    if found.outline.entry is None or not is_same(found.value, new.value):
        return False
    return found.outline.outside() == old.outline.outside()


def _trouble(old: Outline, key: str) -> str:
    text_block = any(place.style in ("|", ">") for place in old.places if place.end == old.start)
    if old.entry is None and text_block:
        return "the text block that begins here ends the file without a line end; add one"
    return f"the section `{one_line(key, 60)}` cannot stand here and leave what is around it"


def _candidates(old: Version, new: Version, key: str) -> Iterator[str]:
    """The texts that could take the section's place, the one that keeps most first."""
    outline, end = old.outline, new_line(old.outline.text)
    if outline.is_flow:
        entry = f"{write_flow(key)}: {write_flow(new.value)}"
        is_alone = outline.entry is not None or outline.places[1].kind is Kind.END
        blank = " " if outline.text[outline.start - 1] == ":" else ""  # or the colon is no colon
        yield entry if is_alone else f"{blank}, {entry}"
        return
    block = new.outline.text[new.outline.start : new.outline.end]
    lines = shifted(block, outline.indent - new.outline.indent, end)
    if outline.entry is None:
        is_torn = outline.start > 0 and outline.text[outline.start - 1] not in BREAKS
        yield end + lines.removesuffix(end) if is_torn else lines
        return
    had_end = outline.text[outline.end - 1] in BREAKS
    for section in _in_place(old, new, lines, end):
        if section is not None:
            yield section if had_end else section.removesuffix(end)


def _in_place(old: Version, new: Version, lines: str, end: str) -> Iterator[str | None]:
    yield merged(old, new)
    yield merged(old, new, comments=False)
    first, _, rest = lines.partition(end)
    yield f"{first}{_comment(old.outline)}{end}{rest}"


def _comment(old: Outline) -> str:
    """The comment that ends the line of the key."""
    if old.entry is None:
        return ""
    key = old.places[old.entry.key]
    line_end = yaml_outline.past_line(old.text, key.end)
    there = (each for each in old.places[old.entry.key : old.entry.stop] if each.start < line_end)
    last = max(place.end for place in there)
    _, mark, said = old.text[last:line_end].rstrip(BREAKS).partition("#")
    return f"  {mark}{said}" if mark else ""
