"""What `outputs` and `stage` share: which stage, whose outputs, and how a gate is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast.errors import WrongUsage
from standfast.files import live_state
from standfast.files.outputs import Wanted
from standfast.journal.author import Author
from standfast.protocol import ids, stages
from standfast.surfaces.cli.screen import json_line

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from standfast.protocol.gates import Gate, Output
    from standfast.surfaces.cli.context import Context


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of both commands."""
    parser.add_argument("--stage", required=True, help="clarify, plan, review-code, …, or your own")
    parser.add_argument("--session-dir", metavar="DIR", help="instead of what the live state says")
    parser.add_argument("--mode", choices=stages.MODES, default=stages.DEEP, help="of a retro")


def wanted(
    context: Context,
    arguments: argparse.Namespace,
    *,
    launched: Sequence[str] = (),
    others: Sequence[str] = (),
) -> Wanted:
    """The stage and the session's directory that the command is about."""
    stage = stages.stage(arguments.stage, context.config.stages)
    return Wanted(
        stage=stage,
        folder=live_state.session_dir(
            context.place.root, context.environ, given=arguments.session_dir
        ),
        mode=arguments.mode,
        launched=tuple(role_of(stage, each) for each in launched),
        others=tuple(role_of(stage, each) for each in others),
    )


def role_of(stage: stages.Stage, said: str) -> str:
    """A role, said as itself or as the file that it writes."""
    start, end = f"{stage.skill}-", f"{stage.suffix}.md"
    if said.startswith(start) and said.endswith(end):
        said = said[len(start) : -len(end)]
    if "/" in said or said.endswith(".md"):
        raise WrongUsage(f"`{said}` is no role of stage `{stage.name}`")
    return ids.role(said)


def author(context: Context, actor: str = "standfast") -> Author:
    """Who records what a stage does."""
    return Author(actor, session=context.config.session, subdir=context.place.subdir)


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
    return "ACCEPTED" if output.accepted else "INVALID"


def about(output: Output) -> str:
    """The reason, and what was tried."""
    said = [output.fault or f"{output.size:,} bytes"]
    if output.accepted and not output.is_valid:
        said.append(f"left out, accepted by {output.accepted}")
    if output.launches:
        said.append(f"launched {output.launches} x")
    if not output.is_valid and output.launches and not output.left:
        said.append("no launch left")
    return ", ".join(said)


def show_gate(context: Context, wanted: Wanted, found: Sequence[Output], gate: Gate) -> int:
    """Every invalid file with its reason, a note for each omission, and the one line."""
    if context.json:
        print(json_line({**as_dict(wanted, found), "gate": gate.verdict}))
        return 0 if gate.is_open else 1
    for output in gate.failed:
        print(context.screen.paint(f"failed: {output.path}: {output.fault}", "bad"))
    for output in gate.omitted:
        accepted = f", accepted by {output.accepted}" if output.accepted else ""
        print(f"warning: {output.name} is left out: {output.fault}{accepted}")
    for output in found:
        if output.stale:
            print(f"stale: {output.name} was made from other inputs; --stale makes it anew")
    for line in _next(wanted, gate):
        print(line)
    print(gate.line)
    return 0 if gate.is_open else 1


def _next(wanted: Wanted, gate: Gate) -> Iterator[str]:
    """What can be done about the outputs that keep the gate closed."""
    left = " ".join(output.role for output in gate.failed if output.left)
    if left:
        yield f"A launch is left for {left}: launch again, then ask for the gate once more."
    used_up = " ".join(output.role for output in gate.failed if not output.left)
    if used_up:
        yield (
            f"No launch is left for {used_up}. A person may grant one or accept the omission:"
            f" `standfast outputs grant` or `accept`, with `--stage {wanted.stage.name} ROLE`."
        )


def as_dict(wanted: Wanted, found: Sequence[Output]) -> dict[str, object]:
    """What `--json` prints of a stage."""
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
                "stale": each.stale,
                "digest": each.digest or None,
                "size": each.size,
                "launches": each.launches,
                "launches_left": each.left,
                "accepted_by": each.accepted or None,
            }
            for each in found
        ],
    }
