"""What a person trusts when they trust a lane: its fingerprint, and what that covers. Pure.

Everything that a lane is to do is in it, whoever wrote it down: commands, prompts, what runs its
agents, branches, its worktree. Fields that say what they say by default are left out, so that a
field of a later version changes nothing of a lane that knows none.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from standfast.plans.lane_spec import PR
from standfast.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from standfast.plans.lane_spec import Spec
    from standfast.runners.registry import Runner

_LARGE = 1e300
_SHORT = 12
_SHOWN = {"worktree_path": "worktree", "branch": "branch", "base_sha": "beginning at"}
_MOVING = ("run_id", "phase", "lane", "stage", "worktree_path", "branch", "base_branch",
           "target_branch", "base_sha", "head_sha")  # fmt: skip
_LINES = ("setup", "test", "pr", "pr_probe")


class Covered(NamedTuple):
    """One thing that would be done, and the lanes that it would be done for."""

    what: str  # setup, test, pr, pr_probe, agent, prompt, branch, push
    text: str
    lanes: tuple[str, ...]

    def __str__(self) -> str:
        more = f" and {len(self.lanes) - 1} more" if len(self.lanes) > 1 else ""
        whose = f" of {printable(self.lanes[0])}{more}" if self.lanes else ""
        return f"{self.what}{whose}: {self.text}"


def of_lane(spec: Spec, root: str) -> str:
    """The fingerprint of a lane; its worktree counts from *root* on, the main checkout."""
    below = spec.worktree.removeprefix(f"{root.rstrip('/')}/")
    said = {"lane": _plain(spec._replace(worktree=below))}
    return _digest(json.dumps(said, sort_keys=True))


def of_records(records: Iterable[Mapping[str, object]], root: str) -> str:
    """The fingerprint of what checkpoints would have moved, and where, however that stands."""
    below = f"{root.rstrip('/')}/"
    said = [[_moves(each, name).removeprefix(below) for name in _MOVING] for each in records]
    return _digest(json.dumps({"checkpoints": sorted(said)}))


def _moves(record: Mapping[str, object], name: str) -> str:
    said = record.get(name)
    return said if isinstance(said, str) else ""


def of_checkpoints(
    records: Sequence[Mapping[str, object]], lane: str, tip: str | None
) -> list[Covered]:
    """What such records would have moved, and where, each thing once, as it may be shown."""
    now = f", now at {tip[:_SHORT]}" if tip else ", not there"
    told = [
        Covered(what, printable(said) + (now if what == "branch" else ""), (lane,))
        for each in records
        for name, what in (*_SHOWN.items(), ("head_sha", f"{_moves(each, 'stage')} at"))
        if (said := _moves(each, name))
    ]
    return sorted(set(told))


def of_address(address: str) -> str:
    """The fingerprint of where a branch is pushed to."""
    return _digest(json.dumps({"push": address}))


def together(fingerprints: Iterable[str]) -> str:
    """One for several: what a person is shown, and says."""
    found = sorted(set(fingerprints))
    return found[0] if len(found) == 1 else _digest("\n".join(found))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(value: Any) -> Any:  # noqa: ANN401  # any field of a lane
    """A field as it is hashed: a number is the same whichever way it went through JSON."""
    if hasattr(value, "_field_defaults"):
        usual = value._field_defaults
        said = value._asdict().items()
        return {name: _plain(each) for name, each in said if usual.get(name, said) != each}
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(float(value)) if abs(value) < _LARGE else str(value)
    return str(value) if isinstance(value, Decimal) else value


def pushes(spec: Spec) -> bool:
    """Whether we push its branch ourselves: a command of the user's own does what it does."""
    return spec.merge == PR and not spec.pr


def covered(specs: Sequence[Spec], addresses: Sequence[str] = ()) -> list[Covered]:
    """What these lanes would do, each thing once, as it may be shown."""
    found: dict[tuple[str, str], list[str]] = {}
    for spec in specs:
        for what, text in _of_lane(spec):
            found.setdefault((what, text), []).append(f"{spec.phase}/{spec.lane}")
    listed = [Covered(what, text, tuple(lanes)) for (what, text), lanes in found.items()]
    return [*listed, *(Covered("push", printable(each), ()) for each in addresses)]


def _of_lane(spec: Spec) -> Iterable[tuple[str, str]]:
    for part in _LINES:
        if text := getattr(spec, part):
            yield part, printable(text)
    if not spec.runners:
        yield "agent", printable(spec.runner)
    for runner in spec.runners.values():
        yield "agent", printable(_called(runner))
    for each in spec.agents:
        yield "prompt", printable(each.prompt)
    if spec.copy:
        yield "copy", printable(", ".join(spec.copy))
    yield "worktree", printable(spec.worktree)
    yield "branch", f"{printable(spec.branch)}, from and to {printable(spec.base)}"


def _called(runner: Runner) -> str:
    around = [f"{name}={value}" for name, value in runner.env.items()]
    resume = f" (again: {' '.join(runner.resume)})" if runner.resume else ""
    return " ".join([*around, *runner.command]) + resume
