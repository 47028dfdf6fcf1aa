"""Tasks of a team plan that are no headings: items below waves, rows of a table. Pure.

Each becomes the heading that it could have been, with its keys below it, and with its wave.
"""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

from standfast.plans.readers.markdown_plan import Block, section
from standfast.plans.readers.phase import index_waves
from standfast.plans.readers.team import task_rows, wave_headings, wave_items, wave_names
from standfast.plans.readers.team.team_tasks import (
    INNER,
    SECTIONS,
    TASKS,
    has_id,
    is_task,
    named_by,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from standfast.plans.findings import Finding


def expand(blocks: Sequence[Block], found: list[Finding]) -> tuple[list[Block], list[Block]]:
    """The section of the tasks with a heading for each task, and all other blocks."""
    blocks = _headed(blocks)
    inside = _section(blocks)
    own = [block for block in blocks if block not in inside]
    if not inside:
        return [], own
    level = inside[0].level
    return wave_headings.given(_listed(wave_headings.labelled(inside, level)), found), own


def _headed(blocks: Sequence[Block]) -> list[Block]:
    """The blocks, with a heading for the tasks above the first wave if they have none."""
    if any(block.key in TASKS for block in blocks):
        return list(blocks)
    at = next((at for at in range(len(blocks)) if _is_wave(blocks, at)), None)
    if at is None:
        return list(blocks)
    return [*blocks[:at], Block(TASKS[-1], blocks[at].level, blocks[at].line, []), *blocks[at:]]


def _section(blocks: Sequence[Block]) -> list[Block]:
    """The section of the tasks; what stands beside its heading is in it if it surely is one."""
    plain = section(blocks, TASKS, SECTIONS, INNER)
    is_deeper = any(map(is_task, plain[1:]))

    def holds(block: Block) -> bool:
        is_sure = has_id(block) or named_by(block) is not None
        is_wave = wave_names.heading(block.name) is not None
        return is_sure or is_wave or (is_task(block) and not is_deeper)

    return section(blocks, TASKS, SECTIONS, INNER, holds=holds)


def _listed(inside: Sequence[Block]) -> list[Block]:
    """The section, with a heading for each row, or item with an id, right below its own."""
    head, *below = inside
    has_headings = any(map(is_task, below))
    rows = [] if has_headings else task_rows.read(head)
    if rows:
        return [head._replace(lines=[]), *rows, *below]
    items = wave_items.read(head, only_ids=True)
    if not items.tasks or (has_headings and not any(map(has_id, items.tasks))):
        return list(inside)
    return [head._replace(lines=items.rest), *items.tasks, *below]


def is_one(blocks: Sequence[Block]) -> bool:
    """Whether it lists tasks below waves."""
    return any(_is_wave(blocks, at) for at in range(len(blocks)))


def _is_wave(blocks: Sequence[Block], at: int) -> bool:
    """Whether a wave is headed, and tasks with ids stand below it."""
    is_wave = index_waves.number(blocks[at].name) or wave_names.heading(blocks[at].name)
    if not is_wave:
        return False
    below = takewhile(lambda each: each.level > blocks[at].level, blocks[at + 1 :])
    return any(map(has_id, below)) or wave_items.read(blocks[at], only_ids=True).is_sure
