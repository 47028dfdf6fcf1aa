"""What an agent is told about its task in a lane, and what is said of how it ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast.protocols.outputs.rules import whole_output
from standfast.protocols.resumption.rules import critic_scores, quality_gates
from standfast.text import one_line, printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from standfast.effects.rules import Ended
    from standfast.plans.lane_spec import Gate, Spec, Task

_TITLE = 60
_WORDS = 1500
_NAMED = 100
_COMMAND = 400  # characters of it that are shown


def prompt(
    spec: Spec,
    task: Task,
    failures: Sequence[str],
    paths: Iterable[str],
    findings: Sequence[str] = (),
    torn: Iterable[tuple[str, Sequence[str], Sequence[str], Sequence[str]]] = (),
) -> str:
    """The task, where it is to be done, what went wrong before, and what must be written."""
    parts = [task.prompt.strip(), _place(spec, task), _owned(spec)]
    if failures:
        told = "\n".join(f"- {each}" for each in failures)
        parts.append(f"Earlier runs of this lane failed. What they said:\n{told}")
    if findings:
        told = "\n\n".join(findings)
        parts.append(f"The work was judged, and has to be better before it lands.\n{told}")
    parts += [_torn(*each) for each in torn]
    parts += [whole_output.paragraph(path) for path in paths]
    return "\n\n".join(part for part in parts if part) + "\n"


def _torn(ref: str, restored: Sequence[str], blank: Sequence[str], unsure: Sequence[str]) -> str:
    """What a power cut did to the files that somebody was at work on, name by name."""
    parts = ["The power failed while an earlier run, or a command of this lane, was at work here."]
    if restored:
        told = "\n".join(f"- {printable(each)}" for each in restored)
        parts.append(
            "These files had lost bytes afterwards, and are as committed again. What that\n"
            f"run had changed in them has to be done once more (what was left is in {ref}):\n{told}"
        )
    if blank:
        told = "\n".join(f"- {printable(each)}" for each in blank)
        parts.append(f"These new files hold nothing, and may have lost what they held:\n{told}")
    if unsure:
        parts.append(
            "These were changed, new or gone, and nobody knows whether they are whole: what was"
            " written last\nmay be missing, at their ends or in between. Read them through, and"
            f" write again what is missing:\n{_some(unsure)}"
        )
    return "\n".join(parts)


def _some(names: Sequence[str]) -> str:
    """A list that stays readable, whatever a command left."""
    more = len(names) - _NAMED
    told = [printable(each) for each in names[:_NAMED]] + ([f"and {more} more"] if more > 0 else [])
    return "\n".join(f"- {each}" for each in told)


def gate_prompt(spec: Spec, gate: Gate, path: str, error: str = "") -> str:
    """What a critic is told: what to judge, by what, and how its scores are written."""
    weights = "\n".join(f"- {name} ({weight})" for name, weight in quality_gates.WEIGHTS.items())
    place = (
        f"You are {gate.role} of gate {gate.name}. Judge the work of lane {spec.lane}, phase"
        f" {spec.phase}: what differs from\nbranch {spec.base} in the git worktree"
        f" {spec.worktree}\n(`git diff {spec.base}...HEAD`). Change nothing there, commit nothing."
    )
    scale = f"Score each of these from 0 to 1; {gate.least} is asked of all, by weight:\n{weights}"
    form = (
        "Your file holds exactly one such block, with your scores:\n"
        f"{critic_scores.EXAMPLE}\nand beside it, in your words, what has to be better and where."
    )
    before = f"An earlier run of yours did not count: {error}" if error else ""
    parts = [gate.prompt.strip(), place, scale, form, before, whole_output.paragraph(path)]
    return "\n\n".join(part for part in parts if part) + "\n"


def cut_off(prompt: str) -> str:
    """The same for whoever goes on where an agent was cut off, in its session or in a new one."""
    return (
        "Your work on this was cut off, and you are to go on with it. Something of it may be done,"
        " or half\ndone. Look at that first (`git status`, `git log`, the files themselves), do not"
        " do again what is done,\nand then finish it. What you were told, once more:\n\n"
    ) + prompt


def _place(spec: Spec, task: Task) -> str:
    return (
        f"You work on task {task.name} of lane {spec.lane}, phase {spec.phase}, in the git"
        f" worktree\n{spec.worktree}\non its branch {spec.branch}. Stay in this folder and on this"
        " branch. What you leave there\nis committed for you when you end with status 0."
    )


def _owned(spec: Spec) -> str:
    """Which files are the lane's; whoever strays is only told of, so it is said beforehand."""
    if not spec.owns:
        return ""
    listed = "\n".join(f"- {each}" for each in spec.owns)
    return f"The files of this lane are\n{listed}\nOthers belong to other lanes: leave them alone."


def title(spec: Spec, task: Task) -> str:
    """The subject of the commit that holds what a task left."""
    first = next((line for line in task.prompt.splitlines() if line.strip()), task.name)
    plain = "".join(char if char.isprintable() else " " for char in first).strip().lstrip("#")
    return f"feat({spec.phase}-{spec.lane}): {one_line(plain.strip(), _TITLE)}"


def how_it_ended(what: str, ended: Ended) -> str:
    """One line for a log, and for whoever tries again: how it ended and its last words."""
    said = {
        "exited": f"exit status {ended.status}",
        "signal": f"ended by signal {-ended.status}",
        "timeout": "its time was up",
        "cancelled": "it was ended from outside",
        "not started": "it could not be started",
    }.get(ended.how, ended.how)
    of_itself = ("error", "limit", "last")
    error, limit, last = (str(ended.report.get(name) or "") for name in of_itself)
    words = (error or limit or ended.err.strip() or last or ended.out.strip())[-_WORDS:]
    shown = what if len(what) <= _COMMAND else one_line(what, _COMMAND)
    return f"{shown}: {said}{': ' + words if words else ''}"
