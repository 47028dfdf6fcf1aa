"""The lanes of a phase plan, made of their sections and the index. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from standfast.errors import BadName
from standfast.protocol import plan_words
from standfast.protocol.lane_spec import MOST_RETRIES
from standfast.protocol.plan import Lane
from standfast.protocol.plan_findings import Finding, quoted, warning
from standfast.protocol.plan_markdown import unmarked
from standfast.protocol.plan_numbers import whole
from standfast.protocol.plan_patterns import pattern
from standfast.protocol.plan_phase_index import Entry, known
from standfast.protocol.plan_phase_tasks import Swimmer, tasks_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from standfast.protocol.plan_markdown import Field

KEYS = frozenset(
    ("scope", "owned files", "interfaces provided", "interfaces consumed", "interfaces", "tasks",
     "retries", "depends on", "blocks", "parallel safe", "acceptance criteria", "test command",
     "test commands", "goal")
)  # fmt: skip


class Lanes(NamedTuple):
    """Makes lanes of sections and index."""

    swimmers: list[Swimmer]
    names: Mapping[str, str]  # by themselves in small letters
    entries: Mapping[str, Entry]
    criteria: str
    found: list[Finding]

    def made(self) -> tuple[Lane, ...]:
        """Every lane, in the order of its sections."""
        whose: dict[str, str] = {}
        for swimmer in self.swimmers:
            swimmer.take_apart(KEYS, self.found)
            whose |= dict.fromkeys([swimmer.name, *swimmer.task_names], swimmer.name)
        if self.entries:
            for each in self.swimmers:
                if each.name not in self.entries:
                    problem = f"the lane {quoted(each.name)} is not in the index"
                    self.found.append(warning(each.line, problem))
        return tuple(self._lane(each, whose) for each in self.swimmers)

    def is_alone(self, swimmer: Swimmer) -> bool:
        """Whether the index, or the lane, says that it is not safe beside others."""
        entry = self.entries.get(swimmer.name)
        own = swimmer.get("parallel safe")
        said = entry.parallel if entry and entry.parallel else (own.value if own else "")
        return plan_words.yes_or_no(said) is False

    def _lane(self, swimmer: Swimmer, whose: Mapping[str, str]) -> Lane:
        tasks, tests, across = tasks_of(swimmer, whose, self.criteria, self.found)
        after = self._after(swimmer)
        for other in [each for each in across if each not in after]:
            problem = f"a task here depends on one of {quoted(other)}"
            remedy = f"{swimmer.name} waits until all of {other} is done."
            self.found.append(warning(across[other], problem, remedy))
            after[other] = across[other]
        owns = self._owns(swimmer)
        return Lane(
            swimmer.name,
            tasks,
            after=tuple(after),
            owns=tuple(owns),
            test=plan_words.script(tests) or None,
            retries=self._retries(swimmer),
            line=swimmer.line,
            said={
                **{f"after {each}": line for each, line in after.items()},
                **{f"owns {each}": line for each, line in owns.items()},
                "test": swimmer.test_line,
            },
        )

    def _after(self, swimmer: Swimmer) -> dict[str, int]:
        """What the index says, what the lane says, and whom others say that they block."""
        entry = self.entries.get(swimmer.name)
        after = dict(entry.after) if entry else {}
        own = swimmer.get("depends on")
        for line, each in plan_words.parts(own) if own else ():
            after.setdefault(known(each, self.names), line)
        for other in self.entries.values():
            if swimmer.name in other.blocks and other.name not in after:
                line = other.blocks[swimmer.name]
                problem = f"{quoted(other.name)} blocks {quoted(swimmer.name)}, which does not"
                self.found.append(warning(line, f"{problem} say that it depends on it"))
                after[other.name] = line
        return after

    def _retries(self, swimmer: Swimmer) -> int | None:
        own = whole(swimmer.get("retries"), 0, MOST_RETRIES, self.found)
        entry = self.entries.get(swimmer.name)
        return entry.retries if own is None and entry else own

    def _owns(self, swimmer: Swimmer) -> dict[str, int]:
        """The files that are its own; words that are no files are told."""
        field = swimmer.get("owned files")
        owns: dict[str, int] = {}
        for line, each in _files(field) if field else ():
            try:
                owns.setdefault(pattern(each.lstrip("/"), what="the file"), line)
            except BadName as error:
                self.found.append(Finding(line, error.problem, error.remedy))
                continue
            if " " in each:
                problem = f"{quoted(each)} is taken for the name of a file"
                self.found.append(warning(line, problem, "Put names of files into backticks."))
        return owns


def _files(field: Field) -> list[tuple[int, str]]:
    found = [] if plan_words.is_none(field.value) else plan_words.files(field.value)
    made = [(field.line, each) for each in found]
    for line in field.more:
        if not line.fenced and not plan_words.is_none(line.words):
            made += [(line.number, each) for each in plan_words.files(line.words)]
    return [(line, unmarked(each) if "*" not in each else each) for line, each in made]
