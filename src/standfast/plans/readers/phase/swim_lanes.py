"""The lanes of a phase plan, made of their sections and the index. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from standfast.errors.base import BadName
from standfast.plans.checks.owned_patterns import pattern
from standfast.plans.findings import Finding, quoted, warning
from standfast.plans.lane_spec import MOST_RETRIES
from standfast.plans.model import Lane
from standfast.plans.readers import plan_words, test_commands
from standfast.plans.readers.markdown_plan import unmarked
from standfast.plans.readers.phase import interface_gates, owned_files
from standfast.plans.readers.phase.lane_index import KEYS as INDEX_KEYS
from standfast.plans.readers.phase.lane_needs import remarked, waits
from standfast.plans.readers.phase.lane_tasks import DONE, OWNED, TESTS, tasks_of
from standfast.plans.readers.plan_numbers import whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from standfast.plans.readers.markdown_plan import Field
    from standfast.plans.readers.phase.lane_index import Entry
    from standfast.plans.readers.phase.lane_needs import Names
    from standfast.plans.readers.phase.lane_tasks import Swimmer

KEYS = frozenset(
    ("scope", "spawn wave", "wave", "interfaces", "tasks", "goal", *OWNED, *TESTS, *DONE,
     *INDEX_KEYS,
     *interface_gates.PROVIDED, *interface_gates.CONSUMED)
)  # fmt: skip
_FREE = "mixed"


class Lanes(NamedTuple):
    """Makes lanes of sections and index."""

    swimmers: list[Swimmer]
    names: Names
    entries: Mapping[str, Entry]
    criteria: str
    found: list[Finding]
    tests: Mapping[str, list[str]]  # what the plan's own list of tests says of one lane

    def made(self) -> tuple[Lane, ...]:
        """Every lane, in the order of its sections."""
        for each in self.swimmers if self.entries else ():
            if each.name not in self.entries:
                problem = f"the lane {quoted(each.name)} is not in the index"
                self.found.append(warning(each.line, problem))
        blocked = self._blocked()
        return tuple(self._lane(each, blocked.get(each.name, {})) for each in self.swimmers)

    def is_alone(self, swimmer: Swimmer) -> bool:
        """Whether the index, or the lane, says that it is not safe beside others."""
        field = self._parallel(swimmer)
        said = unmarked(field.value) if field else ""
        answer = plan_words.yes_or_no(said)
        is_said = answer is not None or said.lower().startswith(_FREE)
        if field and not is_said and not plan_words.is_none(said):
            problem = f"Parallel-safe is {quoted(said)}, which is taken for no"
            self.found.append(warning(field.line, problem, "Write yes, no or mixed."))
            return True
        return answer is False

    def alone_line(self, swimmer: Swimmer) -> int:
        """Where that is said."""
        field = self._parallel(swimmer)
        return field.line if field else swimmer.line

    def _parallel(self, swimmer: Swimmer) -> Field | None:
        entry = self.entries.get(swimmer.name)
        said = entry.get("parallel safe") if entry else None
        return said or swimmer.get("parallel safe")

    def _lane(self, swimmer: Swimmer, blocked: Mapping[str, int]) -> Lane:
        owns = self._owns(swimmer)
        tasks, tests, across = tasks_of(swimmer, self.names, self._around(owns), self.found)
        after = self._after(swimmer, blocked)
        for other in [each for each in across if each not in after]:
            problem = f"a task here depends on one of {quoted(other)}"
            remedy = f"{swimmer.name} waits until all of {other} is done."
            self.found.append(warning(across[other], problem, remedy))
            after[other] = across[other]
        tests = tests or self.tests.get(swimmer.name, [])
        return Lane(
            swimmer.name,
            tasks,
            after=tuple(after),
            owns=tuple(owns),
            test=test_commands.script(tests) or None,
            retries=self._retries(swimmer),
            line=swimmer.line,
            said={
                **{f"after {each}": line for each, line in after.items()},
                **{f"owns {each}": line for each, line in owns.items()},
                "test": swimmer.test_line,
            },
        )

    def _around(self, owns: Mapping[str, int]) -> str:
        told = [
            "Change only these files: " + ", ".join(owns) if owns else "",
            f"The phase is done when:\n{self.criteria}" if self.criteria else "",
        ]
        return "\n\n".join(filter(None, told))

    def _after(self, swimmer: Swimmer, blocked: Mapping[str, int]) -> dict[str, int]:
        """What the index says, what the lane says, and whom others say that they block."""
        entry = self.entries.get(swimmer.name)
        said = [entry.get("depends on") if entry else None, swimmer.get("depends on")]
        after = dict(entry.drawn) if entry else {}
        for field in said:
            for each, line in waits(field, swimmer.name, self.names, self.found).items():
                after.setdefault(each, line)
        given = (swimmer.name, self.names, self.found)
        for each, line in remarked(self._parallel(swimmer), *given).items():
            if each not in after:
                problem = f"{quoted(swimmer.name)} is said to depend on {quoted(each)} here only"
                self.found.append(warning(line, problem, f"It waits for {each}."))
                after[each] = line
        self._consumed(swimmer, after, is_said=any(said) or bool(after))
        for other, line in blocked.items():
            if other not in after:
                problem = f"{quoted(other)} blocks {quoted(swimmer.name)}, which does not"
                self.found.append(warning(line, f"{problem} say that it depends on it"))
                after[other] = line
        return after

    def _consumed(self, swimmer: Swimmer, after: dict[str, int], *, is_said: bool) -> None:
        """What a lane consumes orders it only where nobody says whom it depends on."""
        if is_said:
            return
        gates = interface_gates.listed(swimmer.first(interface_gates.CONSUMED))
        for gate, line in gates.items():
            for other in self.names.gates.providers(gate):
                if other != swimmer.name and other not in after:
                    problem = f"{quoted(swimmer.name)} consumes {quoted(gate)} of {quoted(other)}"
                    self.found.append(warning(line, f"{problem}, and is taken to depend on it"))
                    after[other] = line

    def _blocked(self) -> dict[str, dict[str, int]]:
        """Who is blocked by whom, as the lanes that block say it; strangers are told."""
        made: dict[str, dict[str, int]] = {}
        for swimmer in self.swimmers:
            entry = self.entries.get(swimmer.name)
            for field in (entry.get("blocks") if entry else None, swimmer.get("blocks")):
                said = waits(field, swimmer.name, self.names, self.found, blocks=True)
                for each, line in said.items():
                    made.setdefault(each, {}).setdefault(swimmer.name, line)
                    if each.lower() not in self.names.lanes:
                        problem = f"{quoted(swimmer.name)} blocks {quoted(each)}"
                        self.found.append(Finding(line, f"{problem}, and there is no such lane"))
        return made

    def _retries(self, swimmer: Swimmer) -> int | None:
        entry = self.entries.get(swimmer.name)
        own = whole(swimmer.get("retries"), 0, MOST_RETRIES, self.found)
        field = entry.get("retries") if entry else None
        return whole(field, 0, MOST_RETRIES, self.found) if own is None else own

    def _owns(self, swimmer: Swimmer) -> dict[str, int]:
        """The files that are its own; where it lists none, those that its tasks work on."""
        field = swimmer.first(OWNED)
        tests, scope = (self._files(each) for each in swimmer.files())
        said = self._files(owned_files.of_field(field)) if field else []
        if not said and tests and scope:
            problem = f"{quoted(swimmer.name)} lists no owned files"
            self.found.append(warning(swimmer.line, problem, "Those in scope of its tasks are."))
            said = scope
        owns: dict[str, int] = {}
        for line, each in [*said, *(tests if said else ())]:
            self._own(line, each, owns)
        return owns

    def _files(self, owned: owned_files.Owned) -> list[tuple[int, str]]:
        self.found.extend(owned.told)
        return owned.files

    def _own(self, line: int, each: str, owns: dict[str, int]) -> None:
        """One file; words that are no file are told."""
        try:
            owns.setdefault(pattern(each.lstrip("/"), what="the file"), line)
        except BadName as error:
            self.found.append(Finding(line, error.problem, error.remedy))
            return
        if " " in each:
            problem = f"{quoted(each)} is taken for the name of a file"
            self.found.append(warning(line, problem, "Put names of files into backticks."))
