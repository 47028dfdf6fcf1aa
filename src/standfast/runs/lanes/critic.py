"""A critic of a lane: one run of it, the scores in its file, and what it must not have changed."""

from __future__ import annotations

import hashlib
import json
import os
from typing import TYPE_CHECKING, NamedTuple

from standfast import disk
from standfast.effects.rules import Probe
from standfast.errors.base import StandfastError
from standfast.git import ignored_files
from standfast.protocols.outputs.files import stage_outputs as files
from standfast.protocols.outputs.rules import whole_output
from standfast.protocols.resumption.rules import critic_scores
from standfast.runners import registry
from standfast.runs.lanes import agent_calls, branch_reset
from standfast.runs.lanes.agent_commits import amiss
from standfast.runs.rules import prompt
from standfast.runs.rules.lane_steps import TOLD_AS
from standfast.runs.rules.parking import number
from standfast.text import a_few

if TYPE_CHECKING:
    from collections.abc import Mapping

    from standfast.effects.rules import Ended
    from standfast.plans.lane_spec import Gate
    from standfast.protocols.resumption.rules.critic_scores import Judged
    from standfast.runs.lanes.lane_context import Work
    from standfast.runs.rules.lane_steps import Standing


class Run(NamedTuple):
    """One run of a critic."""

    gate: Gate
    number: int
    facts: Mapping[str, str]

    @property
    def failing(self) -> int:
        """How many iterations were below what is asked."""
        return number(self.facts, "failing")

    @property
    def known(self) -> dict[str, str]:
        """What the gate is known by, once it has been told."""
        return {TOLD_AS: self.facts[TOLD_AS]} if TOLD_AS in self.facts else {}


def _folder(work: Work, run: Run) -> str:
    return os.path.join(f"{work.spec.worktree}.outputs", f"{run.gate.step}-{run.number}")


def path_of(work: Work, run: Run) -> str:
    """The file that it must write."""
    return os.path.join(_folder(work, run), f"{run.gate.name}-scores.md")


def perform(work: Work, lane: Standing, run: Run) -> Ended | None:
    """Let it judge, or find out how it ended."""
    path = path_of(work, run)
    disk.make_folders_beneath(work.root, os.path.relpath(path, work.root))
    text = prompt.gate_prompt(work.spec, run.gate, path, run.facts.get("error", ""))
    runner = work.spec.runner_of(run.gate)
    if runner is not None and registry.takes_script(runner):
        text = run.gate.prompt
    said = {**agent_calls.surroundings(lane, run.gate), "STANDFAST_OUTPUTS": _folder(work, run)}
    session = run.facts.get("session", "")
    given = agent_calls.Run(
        work, run.gate, run.number, text, said, session, is_cut_off=bool(session)
    )

    def probe() -> Probe:
        try:
            read(work, run)
        except StandfastError:
            return Probe.UNKNOWN
        return Probe.DONE

    return agent_calls.perform(given, probe)


def read(work: Work, run: Run) -> Judged:
    """The scores, from a file that is whole."""
    name = f"{run.gate.name}-scores.md"
    fault = files.look(_folder(work, run), name).fault
    if fault is not None:
        raise StandfastError(whole_output.wrong(path_of(work, run), fault))
    data = disk.read_beneath(_folder(work, run), name, limit=whole_output.LIMIT)
    return critic_scores.read(data.decode("utf-8", "replace"), name=name)


def state(work: Work) -> str:
    """A word that is another one when a file in the worktree is, or what is committed."""
    tree = work.tree
    shown = tree.read("status", "--porcelain", "-z", "--no-renames", "--untracked-files=all")
    rows = [row for row in os.fsdecode(shown).split("\0") if row and row[3:] not in work.spare]
    top = work.spec.worktree
    facts = [(row, ignored_files.look(os.path.join(top, row[3:]))) for row in rows]
    return hashlib.sha256(json.dumps([tree.head(), facts]).encode()).hexdigest()


def changed(work: Work, run: Run) -> str | None:
    """Take out of the worktree what the critic changed there, and say so."""
    if amiss(work) is not None or state(work) == run.facts["before"]:
        return None
    kept = branch_reset.set_aside(work, run.facts["head"])
    if kept is None:
        return None
    return (
        f"it is to judge, not to change the worktree: {a_few(kept.names) or 'commits'}"
        f" (taken out again, and kept as {kept.ref})"
    )
