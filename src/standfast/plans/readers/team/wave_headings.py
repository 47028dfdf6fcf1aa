"""Tasks that stand below the heading of a wave: each is given that wave as a key. Pure.

`### Wave 1`, `### Phase 2: Rollout`, a bold line `**Wave 3**`, a title such as `Worker (Wave 2)`.
A heading that holds tasks and says no order is told, or refused where nothing else says one.
"""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

from standfast.plans.findings import Finding, quoted, warning
from standfast.plans.readers import plan_words
from standfast.plans.readers.markdown_plan import Block, Line, fields, unmarked
from standfast.plans.readers.plan_numbers import whole
from standfast.plans.readers.team import task_keys, task_numbers, task_rows, wave_items, wave_names
from standfast.plans.readers.team.team_tasks import IDS, KEYS, OF_A_TASK, has_id, is_task

if TYPE_CHECKING:
    from collections.abc import Sequence

    from standfast.plans.readers.team.wave_names import Wave

_WAVES = ("spawn wave", "wave")
_MOST = 1_000
_SAY = "Write `Wave 1: …` over the tasks that come first, or `Depends On` in those that wait."


def labelled(blocks: Sequence[Block], level: int) -> list[Block]:
    """The blocks of a section, those apart in which a line names a wave, as a heading does."""
    made: list[Block] = []
    for block in blocks:
        made.append(block._replace(lines=[]))
        for line in block.lines:
            name = "" if line.fenced or line.is_bullet else wave_names.label(line.text)
            if name:
                made.append(Block(name, level + 1, line.number, []))
            else:
                made[-1].lines.append(line)
    return made


def given(blocks: Sequence[Block], found: list[Finding]) -> list[Block]:
    """The blocks of the section of tasks, each task with its wave; the first is its heading."""
    walk = _Walk(list(blocks), found)
    return [blocks[0], *(each for at in range(1, len(blocks)) for each in walk.step(at))]


class _Walk:
    """Goes from heading to heading."""

    def __init__(self, blocks: list[Block], found: list[Finding]) -> None:
        self.blocks, self.found = blocks, found
        self.wave: Wave | None = None
        self.level = 0  # of the heading of that wave
        self.task_level = 0  # of the last task
        self.head = ""

    def step(self, at: int) -> list[Block]:
        """What becomes of one block."""
        block = self.blocks[at]
        wave = wave_names.heading(block.name)
        if self.task_level and block.level > self.task_level and not has_id(block):
            return [block]
        if wave is not None and (made := self._wave(at, block, wave)) is not None:
            return made
        if self._is_task(at, block):
            return [self._task(block, block.level)]
        if block.level <= self.level:
            self.wave = None
        return self._other(at, block)

    def _wave(self, at: int, block: Block, wave: Wave) -> list[Block] | None:
        """The heading of a wave; None if it is none."""
        if is_keyed(block) and (has_id(block) or not self._below(at)):
            return self._own(block, wave)
        items = wave_items.read(block)
        has_tasks = bool(self._below(at)) and not (items.is_sure and not self._deeper_tasks(at))
        rows = task_rows.read(block)
        if not has_tasks and not items.tasks and not rows:
            return None
        if not wave.is_sure:
            said = f"{quoted(block.name)} is taken for wave {wave.number}"
            self.found.append(warning(block.line, said))
        self.wave, self.level, self.head, self.task_level = wave, block.level, block.name, 0
        self._tell(block, block.lines if has_tasks else [] if rows else items.rest)
        listed = [] if has_tasks else rows or items.tasks
        made = [self._task(wave_items.with_id(each, self.found), each.level) for each in listed]
        self.level += bool(made)  # a heading beside that of the wave is not in it
        return made

    def _own(self, block: Block, wave: Wave) -> list[Block] | None:
        """A task that is headed by its wave: `Wave 2: Worker`."""
        if not wave.is_apart:
            return None
        self.wave, self.level, self.head = wave, block.level, block.name
        return [self._task(block._replace(name=wave.rest), block.level)]

    def _task(self, block: Block, level: int) -> Block:
        """A task with its wave: its own, that of its title, or that of the heading above."""
        self.task_level = level
        if self.wave and level < self.level:
            self.wave = None
        name, titled = wave_names.ending(block.name)
        above = self.wave.number if self.wave else None
        if None not in (titled, above) and titled != above:
            self._contradict(block.line, f"wave {titled} in its title", block.name)
        if titled is None and wave_names.is_spoken_of(name):
            said = f"the wave in {quoted(name)} is not read"
            self.found.append(warning(block.line, said, "Write `Spawn Wave` below it."))
        return self._with(block._replace(name=name), above if titled is None else titled)

    def _with(self, block: Block, wave: int | None) -> Block:
        known = task_keys.known(block.lines, KEYS)
        own = next((each for each in fields(block.lines, known)[0] if each.key in _WAVES), None)
        if wave is None:
            return block
        if own is None:
            return block._replace(lines=[*block.lines, Line(block.line, f"- **Wave**: {wave}")])
        said = whole(own, 1, _MOST, [])
        if said is not None and said != wave:
            self._contradict(own.line, f"wave {said}", block.name)
        return block

    def _contradict(self, line: int, said: str, name: str) -> None:
        problem = f"{quoted(name)} says {said}, and its heading says another"
        self.found.append(Finding(line, problem, "Let only one of them stand."))

    def _tell(self, block: Block, lines: Sequence[Line]) -> None:
        """What stands at the heading of a wave and is of no task."""
        got, rest = fields(lines, {*task_keys.known(lines, KEYS)})
        for field in got:
            key = task_keys.meaning(field.key)
            is_held = key == "parallel" and plan_words.yes_or_no(field.value) is not False
            if (key in OF_A_TASK or task_keys.could_order(key)) and not (
                is_held or self._is_before(field.value)
            ):
                problem = f"{quoted(field.name)} stands at the heading of a wave, and is not read"
                self.found.append(Finding(field.line, problem, "Write it in each of the tasks."))
        line = next((each for each in rest if each.text.strip()), None)
        if line is not None:
            self.found.append(
                warning(line.number, f"words below {quoted(block.name)} are not read")
            )

    def _is_before(self, said: str) -> bool:
        """Whether it only says that the waves before come before."""
        wave = wave_names.heading(unmarked(said))
        here = self.wave.number if self.wave else 0
        return plan_words.is_none(said) or (wave is not None and wave.number < here)

    def _is_task(self, at: int, block: Block) -> bool:
        if has_id(block) or not task_numbers.of(block.name):
            return is_task(block)
        return is_keyed(block) or not any(map(has_id, self._deeper(at)))

    def _below(self, at: int) -> list[Block]:
        """The tasks of a wave: down to the next one, as far in as it at least."""
        level = self.blocks[at].level
        after = takewhile(lambda each: each.level >= level and not _is_wave(each, level),
                          self.blocks[at + 1 :])  # fmt: skip
        return [each for each in after if is_task(each)]

    def _deeper_tasks(self, at: int) -> list[Block]:
        return [each for each in self._deeper(at) if is_task(each)]

    def _deeper(self, at: int) -> list[Block]:
        level = self.blocks[at].level
        return list(takewhile(lambda each: each.level > level, self.blocks[at + 1 :]))

    def _other(self, at: int, block: Block) -> list[Block]:
        """A heading that is no task: one that holds some is told, or refused."""
        tasks = [each for each in self._deeper(at) if has_id(each)]
        is_unread = wave_names.is_unread(block.name)
        if not tasks and not (is_unread and any(line.is_bullet for line in block.lines)):
            return [block]
        if is_unread:
            problem = f"{quoted(block.name)} holds tasks, and says no number of a wave"
            self.found.append(Finding(block.line, problem, "Write it as `Wave 3`."))
        elif task_numbers.of(block.name) and any(each.text.strip() for each in block.lines):
            problem = f"{quoted(block.name)} has no Task ID, and tasks stand below it"
            self.found.append(Finding(block.line, problem, "Give it one, or write nothing here."))
            return []
        if task_numbers.of(block.name) and not any(map(_is_ordered, self.blocks)):
            problem = f"nothing says whether the tasks below {quoted(block.name)} wait for others"
            self.found.append(Finding(block.line, problem, _SAY))
        elif task_numbers.of(block.name):
            problem = f"{quoted(block.name)} only holds tasks: it orders nothing"
            self.found.append(warning(block.line, problem))
        self._tell(block, block.lines)
        return []


def _is_wave(block: Block, level: int) -> bool:
    return block.level <= level and wave_names.heading(block.name) is not None and not has_id(block)


def is_keyed(block: Block) -> bool:
    """Whether keys of a task stand right below a heading, no further in than anything else."""
    least = min((line.indent for line in block.lines if line.text.strip()), default=0)
    return any(task_keys.meaning(each.key) in {*OF_A_TASK, *IDS} and each.start.indent == least
               for each in fields(block.lines, task_keys.known(block.lines, KEYS))[0])  # fmt: skip


def _is_ordered(block: Block) -> bool:
    """Whether a task says whom it waits for, or its wave."""
    keys = (task_keys.meaning(each.key) for each in
            fields(block.lines, task_keys.known(block.lines, KEYS))[0])  # fmt: skip
    return any(key in (task_keys.AFTER, task_keys.BLOCKS, *_WAVES) for key in keys)
