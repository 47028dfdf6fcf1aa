"""The index of a phase plan: who depends on whom, whom each blocks, what runs beside others. Pure.

It is written as a table, as lists under each lane, as lines that follow a lane's name, or drawn
with arrows; often inside a code fence, where it counts all the same. An index of which nothing can
be read is an error: lanes that wait for each other would be begun together.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from standfast.plans.findings import Finding, nearest, quoted, warning
from standfast.plans.readers import markdown_tables
from standfast.plans.readers.markdown_plan import Field, Line, fields, first_word, unmarked
from standfast.plans.readers.phase import index_facts, index_picture, index_waves

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from standfast.plans.readers.markdown_plan import Block

_SAME = {
    **dict.fromkeys(
        ("dependencies", "depends", "deps", "dependency", "requires", "needs", "prerequisites",
         "blocked by", "after", "waits for"),
        "depends on",
    ),
    **dict.fromkeys(("parallel", "parallelizable", "parallel ok"), "parallel safe"),
    **dict.fromkeys(("unblocks", "blocking"), "blocks"),
}  # fmt: skip
KEYS = frozenset(("depends on", "blocks", "parallel safe", "retries", "lane", "name", "title",
                  *_SAME))  # fmt: skip
ORDERS = frozenset(("depends on", "blocks", "parallel safe"))  # keys that say who runs when
_LANE_COLUMNS = ("lane", "lane id", "sl id", "id", "swim lane")
_LANE = re.compile(r"(?:swim[ -]?)?lane\s+#?([0-9]{1,4}|SL-[A-Za-z0-9._-]*)(?=[\s:.—\u2013(-]|$)",
                   re.IGNORECASE)  # fmt: skip
_AHEAD = re.compile(
    r"[\u2460-\u24ff\u2776-\u2793]?[^\w(\[{<`]{0,12}"
    r"(?:\(?[0-9]{1,3}(?:\.[0-9]{1,3}){0,3}[.):]?[ \t]+(?=[A-Za-z])"
    r"|[A-Za-z][.)][ \t]+(?=SL-|lane\b|swim))?[^\w(\[{<`]{0,12}\[?(?=\w)(?=SL-|[^\]]*$)",
    re.IGNORECASE,
)  # a picture, and what counts headings
_ENDS = " \t.;,|*_\u2013—"
_ID_END = re.compile(r"[\s:—\u2013(|]|--")
_KEY_AHEAD = re.compile(
    r"(?<![A-Za-z0-9-])(?=(?:depends on|dependencies|blocks|blocked by|requires"
    r"|parallel[- ]safe|parallel|retries)[*_]{0,2}[ \t]{0,3}:)",
    re.IGNORECASE,
)  # where the next key of one line begins
_WORDED = re.compile(r"\b(depends on|needs|requires|waits for|after|blocked by|blocks)\b([^()]*)",
                     re.IGNORECASE)  # fmt: skip
_MEANS = {"blocks": "blocks"}
_LIST_IT = "List each lane with `Depends on`, `Blocks` and `Parallel-safe`."


class Entry(NamedTuple):
    """What the index says of one lane."""

    name: str
    line: int
    fields: dict[str, Field]
    drawn: dict[str, int]  # whom the arrows say that it waits for -> line

    def get(self, key: str) -> Field | None:
        """A key with its value."""
        return self.fields.get(key)


class _Index(NamedTuple):
    """An index while it is read."""

    names: Mapping[str, str]
    found: list[Finding]
    entries: dict[str, Entry]
    told: set[str]  # lanes that have keys, or a row
    is_headed: bool  # whether a sentence in it can be meant as a key

    def entry(self, name: str, line: int) -> Entry:
        return self.entries.setdefault(name, Entry(name, line, {}, {}))

    def begin(self, name: str, line: int, *, has_keys: bool) -> Entry:
        """A lane is named; one that was told already is only mentioned, if nothing follows."""
        if name in self.told and has_keys:
            self.found.append(Finding(line, f"the lane {quoted(name)} is in the index twice"))
        return self.entry(name, line)


def index(
    blocks: Sequence[Block],
    names: Mapping[str, str],
    found: list[Finding],
    *,
    is_headed: bool = True,
    is_only: bool = True,
) -> dict[str, Entry]:
    """Every entry, by the name of its lane; *names* are those that have a section.

    They are given by themselves in small letters: whoever writes `sl-1` means `SL-1`. Of one that
    is not *headed* as an index only keys are read. Waves count, and a drawing must be readable,
    where it is the *only* one.
    """
    made = _Index(names, found, {}, set(), is_headed)
    drawing = index_picture.Drawing(names)
    waves = index_waves.read(blocks, names)
    for at, block in enumerate(blocks):
        is_lane = at > 0 and index_waves.number(block.name) is None
        under = _lane_of(block.name, names) or block.name if is_lane else None
        lines = index_waves.without(drawing.take(block.lines), waves)
        tables, lines = markdown_tables.tables(lines, found)
        for table in tables:
            _rows(table, made)
        _lines(lines, under, block.line, made)
    _draw(drawing, made, is_only=is_only)
    for lane, (_, line) in waves.of.items() if is_only else ():
        entry = made.entry(lane, line)
        if not entry.drawn and "depends on" not in entry.fields:
            entry.drawn.update(waves.assume(lane, found))
    is_read = made.entries or drawing.unread or (waves.of and not is_only)
    if blocks and not is_read and _has_words(blocks):
        found.append(Finding(blocks[0].line, "nothing of the index could be read", _LIST_IT))
    for entry in made.entries.values():
        if names.get(entry.name.lower()) != entry.name:
            problem = f"the index names the lane {quoted(entry.name)}, which has no section"
            found.append(Finding(entry.line, problem, nearest(entry.name, names.values())))
    return made.entries


def _has_words(blocks: Sequence[Block]) -> bool:
    return any(line.text.strip() for block in blocks for line in block.lines)


def _draw(drawing: index_picture.Drawing, made: _Index, *, is_only: bool) -> None:
    """Arrows count where they could all be followed, and must where there is nothing else."""
    if drawing.unread and (made.told or not is_only):
        problem = "a drawing is not read; what is listed counts"
        made.found.append(warning(drawing.unread, problem))
    elif drawing.unread:
        problem = "the index is drawn, and this could not be followed"
        made.found.append(Finding(drawing.unread, problem, _LIST_IT))
    else:
        for after, who, line in drawing.arrows:
            made.entry(after, line)
            made.entry(who, line).drawn.setdefault(after, line)


def known(said: str, names: Mapping[str, str]) -> str:
    """The lane that is meant, by its id in whatever case and whatever follows it."""
    first = first_word(said).rstrip(":")
    return names.get(said.lower()) or names.get(first.lower()) or said


def _rows(table: markdown_tables.Table, made: _Index) -> None:
    column = next((each for each in _LANE_COLUMNS if each in table.heads), None)
    if column is None:
        problem = "the table of the index has no column `Lane`"
        made.found.append(Finding(table.line, problem, nearest("lane", table.heads)))
        return
    for head in table.heads:
        if head not in (*_LANE_COLUMNS, *KEYS) and not index_facts.fact(head):
            problem = f"the column {quoted(table.names[head])} of the index is not read"
            made.found.append(warning(table.line, problem))
    for row in table.rows:
        start = Line(row.line, "")
        name = known(unmarked(row.cells[column]), made.names)
        entry = made.begin(name, row.line, has_keys=True)
        made.told.add(name)
        for head, cell in row.cells.items():
            key = same(head) if head in KEYS else index_facts.fact(head)
            if key and head != column:
                entry.fields[key] = Field(key, table.names[head], cell, row.line, [], start)


def _lines(lines: Sequence[Line], under: str | None, start: int, made: _Index) -> None:
    """Lines that begin with a lane's name, and the keys that follow them."""
    entry = made.begin(under, start, has_keys=True) if under is not None else None
    last: Field | None = None
    for line in lines:
        if not line.text.strip():
            continue
        name = _lane_of(line.words, made.names)
        got = _keys(line, name, made)
        if name is not None and (got or name not in made.told):
            entry = made.begin(name, line.number, has_keys=bool(got))
            last = None
        elif name is not None or (entry is None and not got):
            _go_on(line, last if name is None else None, made)
            continue
        if entry is None:
            problem = f"{quoted(got[0].name)} stands before any lane"
            made.found.append(Finding(line.number, problem))
        elif got:
            made.told.add(entry.name)
            entry.fields.update({index_facts.fact(same(each.key)) or same(each.key): each
                                 for each in got})  # fmt: skip
            last = got[-1]
        elif name is None:
            _go_on(line, last, made)


def _keys(line: Line, name: str | None, made: _Index) -> list[Field]:
    """The keys of a line, without the lane's name in front of them."""
    rest = line.words
    if name is not None:
        words = bare(unmarked(line.words))
        end = _ID_END.search(words)
        rest = words[end.end() :] if end else ""
    parts = _KEY_AHEAD.sub("\n", rest).split("\n")
    inside = [Line(line.number, " " * line.indent + _closed(each).strip(_ENDS)) for each in parts]
    keys = KEYS | index_facts.KEYS
    got = [field for each in inside for field in fields([each], keys)[0] if field.key in keys]
    return got or (_worded(line, rest, made) if name is not None and made.is_headed else [])


def _closed(part: str) -> str:
    """As far as the parenthesis goes in which it stands: `depends on: SL-1)`."""
    depth = 0
    for at, char in enumerate(part):
        depth += (char == "(") - (char == ")")
        if depth < 0:
            return part[:at]
    return part


def _worded(line: Line, rest: str, made: _Index) -> list[Field]:
    """`SL-2 (after SL-1)`: a dependency in the title, if it names a lane."""
    said = _WORDED.search(rest)
    words = re.findall(r"[A-Za-z0-9][A-Za-z0-9._-]*", said[2]) if said else []
    if said is None or not any(each.rstrip(".").lower() in made.names for each in words):
        return []
    key = said[1].lower()
    problem = f"{quoted(said[0].strip(_ENDS))} is taken for whom it {_MEANS.get(key, 'depends on')}"
    made.found.append(warning(line.number, problem))
    return [Field(key, said[1], said[2].strip(_ENDS), line.number, [], line)]


def same(key: str) -> str:
    """A key by the name under which it is looked for."""
    return _SAME.get(key, key)


def _go_on(line: Line, last: Field | None, made: _Index) -> None:
    """An item below a key without a value belongs to it; other words are told."""
    if last is not None and line.is_bullet and line.indent > last.start.indent:
        last.more.append(line)
    else:
        made.found.append(warning(line.number, f"{quoted(line.words)} is not read"))


def bare(name: str) -> str:
    """A lane's heading without the word in front: `Lane SL-1: Schema`, and `Lane 1: Schema`."""
    ahead = _AHEAD.match(name)
    name = name[ahead.end() :] if ahead else name
    said = _LANE.match(name)
    if said is None:
        return name
    return f"{'SL-' if said[1].isdigit() else ''}{name[said.start(1) :]}"


def _lane_of(words: str, names: Mapping[str, str]) -> str | None:
    """The lane that a line begins with: one that is there, or that looks like one."""
    first = _ID_END.split(bare(unmarked(words)), maxsplit=1)[0].rstrip(".,")
    if first.lower() in names:
        return names[first.lower()]
    return first if re.match(r"SL-[A-Za-z0-9]", first) else None
