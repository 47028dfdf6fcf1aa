"""An index that says who comes first by waves: `Wave 2: SL-API, SL-DOC`, or headings. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from standfast.plans.findings import Finding, quoted, warning
from standfast.plans.readers.markdown_plan import unmarked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from standfast.plans.readers.markdown_plan import Block, Line

_WAVE = re.compile(
    r"(?:parallel )?(?:wave|tier|layer|batch|group|round)\s+([0-9]{1,4})\b(.*)", re.IGNORECASE
)
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class Waves(NamedTuple):
    """The wave of each lane that has one, and the lines that say nothing else."""

    of: dict[str, tuple[int, int]]  # lane -> wave, line
    lines: set[int]

    def before(self, lane: str) -> list[str]:
        """The lanes of the wave before that of a lane."""
        wave = self.of[lane][0]
        last = max((each for each, _ in self.of.values() if each < wave), default=None)
        return [name for name, (each, _) in self.of.items() if each == last]

    def assume(self, lane: str, found: list[Finding]) -> dict[str, int]:
        """Whom a lane waits for of which only the wave is known."""
        wave, line = self.of.get(lane, (0, 0))
        before = self.before(lane) if lane in self.of else []
        if before:
            problem = f"{quoted(lane)} is in wave {wave}: it waits for {', '.join(before)}"
            found.append(warning(line, problem))
        return dict.fromkeys(before, line)


def number(name: str) -> int | None:
    """The wave that a heading names."""
    said = _WAVE.match(name)
    return int(said[1]) if said else None


def read(blocks: Sequence[Block], names: Mapping[str, str]) -> Waves:
    """The waves of an index."""
    made = Waves({}, set())
    for block in blocks:
        wave = number(block.name) or 0
        for line in block.lines:
            said = _WAVE.match(unmarked(line.words))
            if said is not None and _lanes(said[2], names):
                made.lines.add(line.number)
            words = said[2] if said else unmarked(line.words)
            lanes = _lanes(words, names)
            for lane in lanes if said else _first(words, lanes) if wave else []:
                made.of.setdefault(lane, (int(said[1]) if said else wave, line.number))
    return made


def _lanes(words: str, names: Mapping[str, str]) -> list[str]:
    said = (each.rstrip(".-_").lower() for each in _WORD.findall(words))
    return [names[each] for each in said if each in names]


def _first(words: str, lanes: list[str]) -> list[str]:
    """The lanes that a line is about: that with which it begins."""
    return [each for each in lanes[:1] if words.lower().startswith(each.lower())]


def without(lines: Sequence[Line], waves: Waves) -> list[Line]:
    """The lines that say something else."""
    return [line for line in lines if line.number not in waves.lines]
