"""How a stage is drawn: a row for each output, what keeps its gate closed, and the one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast.protocols.outputs.rules import whole_output
from standfast.surfaces.cli.screen import json_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from standfast.protocols.outputs.files.stage_outputs import Wanted
    from standfast.protocols.outputs.rules.persistence_gate import Gate, Output
    from standfast.surfaces.cli.command_context import Context


def rows(context: Context, found: Sequence[Output]) -> str:
    """A table of outputs."""
    return context.screen.table(
        [(state(each), each.name, each.tier, about(each)) for each in found],
        ("strong", "", "dim", "dim"),
    )


def state(output: Output) -> str:
    """One word for what became of it."""
    if output.is_valid:
        return "STALE" if output.stale else "VALID"
    if output.at_work:
        return "AT WORK"
    return "ACCEPTED" if output.accepted else "INVALID"


def about(output: Output) -> str:
    """The reason, and what was tried."""
    said = [output.fault or f"{output.size:,} bytes"]
    if output.accepted and not output.is_valid:
        said.append(f"left out, accepted by {output.accepted}")
    if output.launches:
        said.append(f"launched {output.launches} x")
    if output.at_work:
        said.append(f"{output.at_work} is at work on it")
    elif not output.is_valid and output.launches and not output.left:
        said.append("no launch left")
    return ", ".join(said)


def show_gate(
    context: Context,
    wanted: Wanted,
    found: Sequence[Output],
    gate: Gate,
    *,
    judged: bool = False,
) -> int:
    """Every invalid file with its reason, a note for each omission, and the one line."""
    if context.json:
        told = as_dict(wanted, found, judged=judged)
        print(json_line({**told, "gate": gate.verdict, "pending": [o.role for o in gate.pending]}))
        return gate.status
    for output in gate.failed:
        print(context.screen.paint(f"failed: {output.path}: {output.fault}", "bad"))
    for output in gate.omitted:
        accepted = f", accepted by {output.accepted}" if output.accepted else ""
        print(f"warning: {output.name} is left out: {output.fault}{accepted}")
    for output in gate.pending:
        print(f"pending: {output.name}: {output.fault}, {_waits_for(output)}")
    for output in found:
        if output.stale:
            print(f"stale: {output.name} was made from other inputs; --stale makes it anew")
    for line in _next(wanted, gate):
        print(line)
    print(gate.line)
    return gate.status


def _waits_for(output: Output) -> str:
    if output.at_work:
        return f"{output.at_work} is at work on it"
    if not output.launches:
        return "never launched"
    times = "launch is" if output.left == 1 else "launches are"
    return f"launched {output.launches} x, {output.left} {times} left"


def _next(wanted: Wanted, gate: Gate) -> Iterator[str]:
    """What can be done about the outputs that keep the gate closed."""
    busy = [each for each in gate.pending if each.at_work]
    idle = [each for each in gate.pending if not each.at_work]
    in_the_way = [each for each in gate.failed if each.fault in whole_output.IN_THE_WAY]
    lacking = [each for each in gate.failed if each not in in_the_way]
    if busy:
        yield f"An agent is still at work on {_names(busy)}: ask again when it has ended."
    if in_the_way:
        yield f"No file that can be written: move away what stands at {_names(in_the_way)}."
    if idle:
        roles = " ".join(output.role for output in idle)
        yield f"A launch is left for {roles}: launch again, then ask for the gate once more."
    if any(not output.launches for output in idle):
        yield "Those that are not to be launched: name only the others, with --launched ROLE."
    if used_up := " ".join(output.role for output in lacking):
        yield (
            f"No launch is left for {used_up}. A person may grant one or accept the omission:"
            f" `standfast outputs grant` or `accept`, with `--stage {wanted.stage.name} ROLE`."
        )


def _names(found: Sequence[Output]) -> str:
    return ", ".join(output.name for output in found)


def as_dict(wanted: Wanted, found: Sequence[Output], *, judged: bool = False) -> dict[str, object]:
    """What `--json` prints of a stage; only who knows the inputs can judge what is stale."""
    return {
        "stage": wanted.stage.name,
        "dir": wanted.folder,
        "outputs": [
            {
                "role": each.role,
                "name": each.name,
                "path": each.path,
                "tier": each.tier,
                "valid": each.is_valid,
                "reason": each.fault,
                "stale": each.stale if judged else None,
                "digest": each.digest or None,
                "size": each.size,
                "launches": each.launches,
                "launches_left": each.left,
                "accepted_by": each.accepted or None,
                "at_work": each.at_work or None,
            }
            for each in found
        ],
    }
