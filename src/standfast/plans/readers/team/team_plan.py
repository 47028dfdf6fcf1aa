"""Markdown plans of the team protocol: numbered tasks with ids, done by teammates in waves. Pure.

A task becomes a lane that is named by its Task ID, a spawn wave becomes a phase. What a runner or a
lane has no use for (who is assigned, what is to be verified by hand) goes into the prompt.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from standfast import ids
from standfast.plans.checks import exclusive_lanes
from standfast.plans.checks.plan_checks import MOST_LANES
from standfast.plans.findings import Finding, nearest, quoted, warning
from standfast.plans.lane_spec import MOST_RETRIES
from standfast.plans.model import BUILDER, FIRST_PHASE, ONLY_TASK, Lane, Phase, Plan, Task
from standfast.plans.readers import blank_plans, plan_words, test_commands
from standfast.plans.readers.markdown_plan import (
    body,
    fields,
    section,
    take_apart,
    unmarked,
    whole_body,
)
from standfast.plans.readers.plan_numbers import whole
from standfast.plans.readers.team import task_keys, task_lists
from standfast.plans.readers.team.task_needs import needs_of
from standfast.plans.readers.team.task_waves import listed, member_of, waves_of
from standfast.plans.readers.team.team_members import Member, members
from standfast.plans.readers.team.team_tasks import (
    DONE,
    INNER,
    SECTIONS,
    TASKS,
    TEAM,
    TESTS,
    Step,
    named_by,
    outside,
    steps_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from standfast.plans.readers.markdown_plan import Block, Field

ROLES = ("builder", "validator", "researcher", "critic", "designer", "auditor")
_TAKEN = frozenset(
    ("task id", "id", "blocks", "depends on", "dependencies", "agent type", "parallel",
     "spawn wave", "wave", "context files", "retries", "assigned to")
)  # fmt: skip
_NO_NAME = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST_OBJECTIVE, _LONGEST_CRITERIA = 1_000, 2_000
_ONE_BY_ONE = ("sequential", "serial", "none", "off", "no", "one at a time", "one by one")
_VALIDATION = "validation commands"


def is_one(blocks: Sequence[Block]) -> bool:
    """Whether a text has a heading that only such plans have."""
    names = {block.key for block in blocks}
    has_tasks = outside(blocks, ()) or any(map(named_by, blocks))
    if TASKS[-1] in names and has_tasks:  # others have such a heading, but no Task ID
        return True
    return not names.isdisjoint((*TASKS[:-1], *TEAM)) or task_lists.is_one(blocks)


def read(text: str, run: str) -> tuple[Plan | None, list[Finding]]:
    """The plan, and what is to be said of it."""
    read_blocks, found = take_apart(text, SECTIONS, INNER)
    inside, own = task_lists.expand(read_blocks, found)
    blocks = [*own, *inside]
    template = blank_plans.placeholders(blocks, inside)
    if template:
        return None, template
    steps = steps_of(inside, found)
    found += outside(blocks, inside)
    if not steps:
        line = next((block.line for block in inside), 1)
        remedy = "Write them under `Step by Step Tasks`, each with a heading and a Task ID."
        return None, [*found, Finding(line, "there are no tasks", remedy)]
    if len(steps) > MOST_LANES:
        return None, [Finding(1, f"{len(steps):,} tasks; a plan has {MOST_LANES:,} at most")]
    needs = needs_of(steps, found)
    team = members(section(own, ("team members",), SECTIONS), found)
    waves = waves_of(steps, team, listed(own, steps, found), needs, found)
    reader = _Reader(steps, team, waves, needs, _objective(own), _criteria(own), found,
                     one_by_one=_is_one_by_one(own, found))  # fmt: skip
    plan = Plan(
        run,
        reader.phases(),
        test=_validation(own, found),
        kind="team",
        said=dict([("test", block.line) for block in own if block.key == _VALIDATION][:1]),
    )
    if not plan.test and all(lane.test is None for _, lane in plan.lanes()):
        task_keys.refuse_untested(found)
    return plan, found


def _objective(blocks: Sequence[Block]) -> str:
    """What all of it is for, in a few words."""
    found = next((block for block in blocks if block.key == "objective"), None)
    if found is not None:
        return body(found.lines)[:_LONGEST_OBJECTIVE]
    said = (field for block in blocks[:2] for field in fields(block.lines, ("objective",))[0])
    return next((each.value for each in said if each.key == "objective"), "")[:_LONGEST_OBJECTIVE]


def _criteria(blocks: Sequence[Block]) -> str:
    """When all of it is done."""
    return whole_body(section(blocks, DONE, SECTIONS))[:_LONGEST_CRITERIA]


def _is_one_by_one(blocks: Sequence[Block], found: list[Finding]) -> bool:
    """Whether the plan says that nothing of it runs beside anything else."""
    key = "parallelism mode"
    for block in blocks:
        for field in fields(block.lines, (key,))[0]:
            said = unmarked(field.value).lower()
            if field.key == key and said.startswith(_ONE_BY_ONE):
                problem = f"{quoted(field.name)} is {quoted(said)}"
                found.append(warning(field.line, f"{problem}: the tasks go top to bottom"))
                return True
    return False


def _validation(blocks: Sequence[Block], found: list[Finding]) -> str:
    """The commands that end a lane if it names none."""
    lines = [line for block in section(blocks, (_VALIDATION,), SECTIONS) for line in block.lines]
    commands = test_commands.of_lines(lines, found)
    found += [
        warning(line.number, f"{quoted(line.words)} has no command", test_commands.BACKTICKS)
        for line in lines
        if line.is_bullet and not test_commands.of_text(line.text)[0]
    ]
    return test_commands.script(commands)


class _Reader(NamedTuple):
    """Makes lanes of tasks."""

    steps: list[Step]
    team: Mapping[str, Member]
    waves: Mapping[str, int]
    needs: Mapping[int, Mapping[str, int]]
    objective: str
    criteria: str
    found: list[Finding]
    one_by_one: bool

    def phases(self) -> tuple[Phase, ...]:
        """A phase for each wave, or one for all if there are no waves."""
        names = {wave: f"P{at}" for at, wave in enumerate(sorted(set(self.waves.values())), 1)}
        phase_of = {step.name: names.get(self.waves.get(step.name, 0), FIRST_PHASE)
                    for step in self.steps}  # fmt: skip
        made = []
        for wave, name in names.items() or ((0, FIRST_PHASE),):
            inside = [step for step in self.steps if phase_of[step.name] == name]
            lanes = tuple(self._lane(step, name, phase_of) for step in inside)
            title = f"Wave {wave}" if wave else ""
            phase = Phase(name, lanes, title=title, line=inside[0].line)
            alone = {step.name: self._alone_line(step) for step in inside if self._alone(step)}
            apart = exclusive_lanes.set_apart(phase, phase_of if self.one_by_one else alone)
            self.found.extend(exclusive_lanes.told(phase, apart, {} if self.one_by_one else alone))
            made.append(apart)
        made[-1] = made[-1]._replace(done=self.criteria)  # it is said of all of them
        return tuple(made)

    def _alone_line(self, step: Step) -> int:
        """Where that is said."""
        field = step.get("parallel")
        return field.line if field else step.line

    def _alone(self, step: Step) -> bool:
        field = step.get("parallel")
        answer = plan_words.yes_or_no(field.value) if field else None
        if field and answer is None and not plan_words.is_none(field.value):
            problem = f"Parallel is {quoted(field.value)}, which is taken for yes"
            self.found.append(warning(field.line, problem, "Write true or false."))
        return answer is False

    def _lane(self, step: Step, phase: str, phase_of: Mapping[str, str]) -> Lane:
        after = self.needs[step.line]
        named = {each if phase_of.get(each, phase) == phase else f"{phase_of[each]}/{each}": line
                 for each, line in after.items()}  # fmt: skip
        test = self._test(step)
        said = {f"after {each}": line for each, line in named.items()}
        said |= {"test": field.line} if (field := step.get(*TESTS)) else {}
        task = Task(ONLY_TASK, self._prompt(step), role=self._role(step), line=step.line,
                    done=_done(step))  # fmt: skip
        return Lane(
            step.name,
            (task,),
            after=tuple(named),
            test=test,
            retries=whole(step.get("retries"), 0, MOST_RETRIES, self.found),
            line=step.line,
            said=said,
        )

    def _role(self, step: Step) -> str:
        field = step.get("agent type")
        member = member_of(step, self.team)
        part = member.part if member and member.part.lower() in ROLES else ""
        said = unmarked(field.value) if field else (member.role or part if member else "")
        if not said:
            return BUILDER
        plain = _NO_NAME.sub("-", said.lower()).strip("._-")[: ids.LONGEST_NAME] or BUILDER
        if plain not in ROLES:
            line = field.line if field else step.line
            problem = f"{quoted(said)} is no Agent Type that is known"
            self.found.append(warning(line, problem, nearest(plain, ROLES)))
        return plain

    def _test(self, step: Step) -> str | None:
        """What its own tests are: commands, none at all, or those of the plan."""
        said = [field for key in TESTS if (field := step.get(key))]
        commands = [each for field in said for each in self._commands(field)]
        others = [line for each in step.fields.values() if each not in said
                  for line in (each.start, *each.more)]  # fmt: skip
        task_keys.unread([*step.rest, *others], commands, self.found)
        if commands:
            return test_commands.script(commands)
        is_none = [not each.more and (plan_words.is_none(each.value)
                                      or plan_words.yes_or_no(each.value) is False)
                   for each in said]  # fmt: skip
        return "" if is_none and all(is_none) else None

    def _commands(self, field: Field) -> list[str]:
        if plan_words.yes_or_no(field.value) is not None and not field.more:
            return []
        return test_commands.of_field(field, self.found)

    def _prompt(self, step: Step) -> str:
        """What the agent is told: the task as it stands, and what is around it."""
        member = member_of(step, self.team)
        field = step.get("assigned to")
        if field and self.team and member is None and not plan_words.is_none(field.value):
            problem = f"there is no team member {quoted(unmarked(field.value))}"
            self.found.append(warning(field.line, problem, nearest(field.value, self.team)))
        context = step.get("context files")
        files = plan_words.listed_files(context) if context else []
        kept = [each for each in step.fields.values()
                if each.key not in _TAKEN or (each is field and member is None)]  # fmt: skip
        said = "\n".join(body([each.start, *each.more]) for each in kept)
        told = [
            step.title,
            member.told if member else "",
            f"What all of this is for: {self.objective}" if self.objective else "",
            "Read first:\n" + "\n".join(f"- {each}" for each in files) if files else "",
            body(step.rest),
            said,
            f"All of this is done when:\n{self.criteria}" if self.criteria else "",
        ]
        return "\n\n".join(part for part in told if part.strip())


def _done(step: Step) -> str:
    """When the task is done, in one line."""
    field = step.get(*DONE)
    words = [field.value, *(line.words for line in field.more)] if field else []
    return "; ".join(each for each in words if each and not plan_words.is_none(each))
