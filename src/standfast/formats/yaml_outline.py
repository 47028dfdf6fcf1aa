"""Where the keys of a YAML document stand in its text: which lines are whose.

Comments and blank lines belong to what follows them, so an entry ends with the last line that
holds anything of it. Its lines are told from the parser's marks, never from the text alone.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from standfast.errors.base import BadDocument, NoPlace, SharedAnchor
from standfast.formats.document_limits import decode
from standfast.formats.yaml_events import SAYS, Kind, places
from standfast.text import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from standfast.formats.yaml_events import Place

BOM = "\ufeff"
BREAKS = "\n\r\x85\u2028\u2029"  # as the parser counts them
_LINE = re.compile(rf"[ \t]*([^\s#])?[^{BREAKS}]*(?:\r\n|[{BREAKS}]|\Z)")
_COLON = re.compile(r"[ \t]*:")
_DEEPER = {Kind.LIST: 1, Kind.MAPPING: 1, Kind.END: -1}


class Entry(NamedTuple):
    """A key and its value, as indexes into the places of a document."""

    key: int
    value: int
    stop: int


class Outline(NamedTuple):
    """A document without its byte order mark, and the entry of one key, if it has it."""

    text: str
    places: Sequence[Place]
    entry: Entry | None
    is_flow: bool
    start: int  # of the entry, or where it would come
    end: int
    indent: int

    @property
    def line(self) -> int:
        """The line of the key, or of the last thing where there is none."""
        if self.entry is not None:
            return self.places[self.entry.key].line
        return next((each.line for each in reversed(self.places) if each.start < each.end), 1)

    def outside(self) -> list[tuple[object, ...]]:
        """What the document says beside the entry."""
        if not self.places or self.places[0].kind is not Kind.MAPPING:
            return [(None, None)]
        root, said = self.places[0], list[tuple[object, ...]]()
        for each in entries(self.places, 0):
            if each != self.entry:
                said += [place[:SAYS] for place in self.places[each.key : each.stop]]
        return [(root.anchor, root.tag), *said]


def read(text: str, key: str, name: str) -> Outline:
    """Find *key* at the top level of *text*; refuse what would leave its place in doubt."""
    decode(text, name=name)  # only to refuse what no document may be
    text = text.removeprefix(BOM)
    if text.startswith(BOM):
        raise BadDocument("a second byte order mark", file=name, line=1)
    found = places(text, name=name)
    if not found or (found[0].kind is Kind.SCALAR and found[0].start == found[0].end):
        at = found[-1].start if found else len(text)
        return Outline(text, found, None, is_flow=False, start=at, end=at, indent=0)
    if found[0].kind is not Kind.MAPPING:
        raise NoPlace("not a mapping of keys to values", file=name, line=found[0].line)
    entry = _only(found, key, name)
    _refuse_shared(found, entry, name)
    is_flow = found[0].style == "{"
    if entry is None:
        return _without(text, found, is_flow=is_flow)
    start, end = _flow_span(text, found, entry) if is_flow else span(text, found, entry)
    before = text[start : found[entry.key].start]
    if before.strip(" ") and not is_flow:
        problem = f"the key `{one_line(key, 60)}` does not begin its line"
        raise NoPlace(problem, file=name, line=found[entry.key].line)
    return Outline(text, found, entry, is_flow=is_flow, start=start, end=end, indent=len(before))


def entries(found: Sequence[Place], mapping: int) -> Iterator[Entry]:
    """The entries of the mapping that begins at an index."""
    at = mapping + 1
    while found[at].kind is not Kind.END:
        value = _past(found, at)
        stop = _past(found, value)
        yield Entry(at, value, stop)
        at = stop


def span(text: str, found: Sequence[Place], entry: Entry) -> tuple[int, int]:
    """The lines of an entry of a block mapping, without the comments above and below."""
    end = _behind(text, last_of(found, entry))
    following = found[entry.stop].start
    limit = following if following == len(text) else line_start(text, following)
    for line in _LINE.finditer(text, end, max(end, limit)):
        if line[1]:  # neither blank nor comment: a dash or a colon with nothing behind it
            end = line.end()
    return line_start(text, found[entry.key].start), end


def line_start(text: str, at: int) -> int:
    """Where the line that *at* stands in begins."""
    while at > 0 and text[at - 1] not in BREAKS:  # a search would run to the text's own start
        at -= 1
    return at


def past_line(text: str, at: int) -> int:
    """Where the next line begins."""
    found = _LINE.match(text, at)
    return len(text) if found is None else found.end()


def last_of(found: Sequence[Place], entry: Entry) -> Place:
    """The last place of an entry that is there to be seen; an empty value may seem to be behind."""
    wide = (found[at] for at in range(entry.stop - 1, entry.key, -1))
    return next((place for place in wide if place.start < place.end), found[entry.key])


def _past(found: Sequence[Place], at: int) -> int:
    depth = 0
    while True:
        depth += _DEEPER.get(found[at].kind, 0)
        at += 1
        if depth == 0:
            return at


def _behind(text: str, place: Place) -> int:
    """Where the line after a place begins; a text block ends before the blank lines below it."""
    end = place.end
    if place.style in ("|", ">"):
        header = text[place.start : past_line(text, place.start)]
        if "+" in header:  # it keeps them
            return end
        end = place.start + len(text[place.start : end].rstrip(BREAKS))
    return past_line(text, end)


def _flow_span(text: str, found: Sequence[Place], entry: Entry) -> tuple[int, int]:
    key, last = found[entry.key], last_of(found, entry)
    colon = _COLON.match(text, key.end) if last is key else None
    return key.start, colon.end() if colon else last.end


def _without(text: str, found: Sequence[Place], *, is_flow: bool) -> Outline:
    """Where a missing entry would come: behind the last one."""
    if is_flow:
        at = found[-3].end if len(found) > len(("{", "}", "end")) else found[-2].start
        return Outline(text, found, None, is_flow=True, start=at, end=at, indent=0)
    at, first = found[-1].start, found[0]
    if first.anchor is not None or first.tag is not None:  # it may stand on another line
        first = found[1]
    line = text[line_start(text, first.start) :]
    indent = len(line) - len(line.lstrip(" "))
    return Outline(text, found, None, is_flow=False, start=at, end=at, indent=indent)


def _only(found: Sequence[Place], key: str, name: str) -> Entry | None:
    """The entry of *key*; every key of the top level may stand there once."""
    lines: dict[str, int] = {}
    wanted = None
    for entry in entries(found, 0):
        place = found[entry.key]
        if place.kind is not Kind.SCALAR:
            continue
        if place.text in lines:
            problem = f"the key `{one_line(place.text, 60)}` stands twice"
            first = f"first in line {lines[place.text]}"
            raise BadDocument(f"{problem}; {first}", file=name, line=place.line)
        lines[place.text] = place.line
        wanted = entry if place.text == key else wanted
    return wanted


def _refuse_shared(found: Sequence[Place], entry: Entry | None, name: str) -> None:
    """Refuse an alias on one side of the section's border that names an anchor on the other."""
    inside = range(entry.key, entry.stop) if entry else range(0)
    anchors: dict[str, bool] = {}
    for at, place in enumerate(found):
        if place.anchor is None:
            continue
        if place.kind is not Kind.ALIAS:
            anchors[place.anchor] = at in inside
        elif anchors.get(place.anchor, at in inside) is not (at in inside):
            where = "outside of" if at in inside else "inside"
            problem = f"the alias `*{one_line(place.anchor, 60)}` names an anchor {where} a section"
            raise SharedAnchor(problem, file=name, line=place.line)
