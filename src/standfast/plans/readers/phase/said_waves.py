"""Waves that lanes say themselves: by the heading above them, in their title, or by a key. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast.plans.readers.phase import index_places, index_waves
from standfast.plans.readers.phase.lane_index import Entry
from standfast.plans.readers.plan_numbers import whole
from standfast.plans.readers.team import wave_names

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from standfast.plans.findings import Finding
    from standfast.plans.readers.markdown_plan import Block
    from standfast.plans.readers.phase.lane_tasks import Swimmer

_ORDERS = ("depends on", "blocks")
KEYS = ("spawn wave", "wave")
_MOST = 1_000


def is_heading(block: Block) -> bool:
    """Whether a heading only says a wave."""
    return wave_names.heading(block.name) is not None and not index_places.lane_of(block)


def give(
    swimmers: Sequence[Swimmer],
    inside: Sequence[Block],
    entries: Mapping[str, Entry],
    found: list[Finding],
) -> dict[str, Entry]:
    """The index, with whom each lane waits for of which nobody says more than its wave."""
    waves = index_waves.Waves(_said(swimmers, _above(inside), found), set())
    made = dict(entries)
    for swimmer in swimmers:
        entry = made.get(swimmer.name)
        is_ordered = entry and (entry.drawn or any(map(entry.get, _ORDERS)))
        if swimmer.name in waves.of and not swimmer.first(_ORDERS) and not is_ordered:
            entry = made.setdefault(swimmer.name, Entry(swimmer.name, swimmer.line, {}, {}))
            entry.drawn.update(waves.assume(swimmer.name, found))
    return made


def _above(inside: Sequence[Block]) -> dict[int, int]:
    """The wave over each heading, by its line."""
    made: dict[int, int] = {}
    wave = None
    for block in inside:
        if is_heading(block):
            wave = wave_names.heading(block.name)
        elif wave is not None:
            made[block.line] = wave.number
    return made


def _said(
    swimmers: Sequence[Swimmer], above: Mapping[int, int], found: list[Finding]
) -> dict[str, tuple[int, int]]:
    made: dict[str, tuple[int, int]] = {}
    for swimmer in swimmers:
        field = swimmer.first(KEYS)
        wave = whole(field, 0, _MOST, found) if field else wave_names.ending(swimmer.title)[1]
        wave = above.get(swimmer.line) if wave is None else wave
        if wave is not None:
            made[swimmer.name] = (wave, field.line if field else swimmer.line)
    return made
