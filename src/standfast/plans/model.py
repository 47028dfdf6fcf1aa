"""What a plan is: phases of lanes, lanes of tasks, and what holds for all of them. Pure.

Three kinds of files are read into these: native YAML and two kinds of Markdown (`readers/`). Each
thing knows the line it was said in, so that whatever is wrong with it later can be told there;
`said` has the lines of its parts: `runner`, `after SL-DB`, `owns src/**`.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

KEEP_GOING, STOP = "keep-going", "stop"
FIRST_PHASE = "P1"
BUILDER = "builder"
ONLY_TASK = "task"  # what the task of a lane is called that has one and names none
MOST_LANES_AT_ONCE = 4


class Task(NamedTuple):
    """One agent run of a lane."""

    name: str
    prompt: str = ""
    prompt_file: str = ""  # below the repository's root, instead of a prompt
    after: tuple[str, ...] = ()  # other tasks of the lane
    role: str = BUILDER
    runner: str = ""  # the lane's, if it names none
    outputs: Mapping[str, str] = {}  # file -> critical or optional
    line: int = 0
    said: Mapping[str, int] = {}
    done: str = ""  # what its prompt says of when it is done, for whoever looks at the plan


class Gate(NamedTuple):
    """Scores that the work of a lane must reach, given by an agent in a role."""

    name: str
    role: str
    least: Decimal = Decimal("0.92")
    iterations: int = 3
    runner: str = ""
    prompt: str = ""
    line: int = 0
    said: Mapping[str, int] = {}


class Lane(NamedTuple):
    """One piece of work on a branch of its own."""

    name: str
    tasks: tuple[Task, ...]
    after: tuple[str, ...] = ()  # LANE of this phase, or PHASE/LANE
    owns: tuple[str, ...] = ()  # patterns of the files that are its own
    runner: str = ""  # the plan's, if it names none
    test: str | None = None  # the plan's; "" is none
    setup: str | None = None
    merge: str = ""
    retries: int | None = None
    time_s: float | None = None  # for each command
    line: int = 0
    said: Mapping[str, int] = {}


class Phase(NamedTuple):
    """Lanes that begin when every lane of the phase before is done."""

    name: str
    lanes: tuple[Lane, ...]
    title: str = ""
    gates: tuple[Gate, ...] = ()
    line: int = 0
    done: str = ""  # what every prompt of it says of when all of it is done


class Limits(NamedTuple):
    """How much at once, how long and for how much."""

    lanes: int = MOST_LANES_AT_ONCE
    time_s: float | None = None  # of the whole run
    cost_usd: Decimal | None = None


class Plan(NamedTuple):
    """Everything that a run is to do."""

    run: str
    phases: tuple[Phase, ...]
    base: str = ""  # the branch that is checked out
    runner: str = ""  # the user's own choice
    merge: str = "ff"
    retest: str = "always"
    on_failure: str = KEEP_GOING
    limits: Limits = Limits()
    setup: str = ""
    copy: tuple[str, ...] = ()  # ignored files that every worktree needs
    test: str = ""
    pr: str = ""
    pr_probe: str = ""
    retries: int = 0
    time_s: float | None = None  # for each command of a lane that names none
    kind: str = "yaml"  # or team, phase: which of the three it was read from
    said: Mapping[str, int] = {}

    def lanes(self) -> Iterator[tuple[Phase, Lane]]:
        """Every lane with its phase, in the plan's order."""
        return ((phase, lane) for phase in self.phases for lane in phase.lanes)
