"""Everything that writes, once: each command of the command line, each hook of each client.

`missing()` compares this table with what the product has registered. A command or a hook without
an act fails the suite, so nothing new can go untried.
"""

from __future__ import annotations

import itertools
import json
import mmap
import os
from typing import TYPE_CHECKING, Any

from harness.faults import perform, worlds
from harness.faults.absence_acts import ABSENCES, has_id
from harness.faults.act import WORD, Act, command, decided
from harness.faults.lane_acts import CHECKPOINTS, LANES
from harness.faults.plan_acts import PLANS
from harness.faults.resumption_acts import RESUMPTIONS
from harness.faults.run_acts import RUNS
from standfast.clients.claude.abilities import WANTED
from standfast.clients.claude.recipes import RECIPES
from standfast.clients.claude.samples import BEFORE, SAMPLES
from standfast.protocols.context.rules import lifecycle
from standfast.protocols.outputs.rules.whole_output import SENTINEL
from standfast.surfaces.cli import frame

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from harness.faults.look import Seen
    from harness.faults.world import World

NEW_SESSION = "9a3d0000-aaaa-4bbb-8ccc-ddddeeee0000"


def _is_off(world: World, _seen: Seen) -> bool:
    return os.path.exists(os.path.join(world.folder, "off"))


def _hooked(world: World, _seen: Seen) -> bool:
    with open(os.path.join(world.home, ".claude", "settings.json"), encoding="utf-8") as file:
        return "standfast/hook" in file.read()


def _exported(world: World, seen: Seen) -> bool:
    with open(os.path.join(world.root, "export.jsonl"), "rb") as file:
        return file.read().count(b"\n") >= len(seen.events) - 1


def _is_in_context(*parts: str) -> Callable[[World, Seen], bool]:
    """The file holds these, and what was there by hand; what it was before is in the journal."""

    def holds(world: World, seen: Seen) -> bool:
        with open(os.path.join(world.repo, worlds.CONTEXT_FILE), encoding="utf-8") as file:
            text = file.read()
        was = any(
            kind == "file.kept" and "Expert - Session" in data for kind, _, data in seen.events
        )
        return was and all(part in text for part in (*parts, "\n- a word by hand\n"))

    return holds


def _export(world: World) -> int:
    return perform.call("journal", "export", "-o", os.path.join(world.root, "export.jsonl"))


def _confirmed(seen: Seen) -> int:
    """How often what the repository says was made to bind."""
    return sum(kind == "decision.confirmed" for kind, _, _ in seen.events)


def _binds(world: World, _seen: Seen) -> bool:
    with open(os.path.join(world.folder, "status.md"), encoding="utf-8") as file:
        text = file.read()
    return worlds.FOREIGN in text and "From the repository" not in text


_FORGET = worlds.SESSION[:8]


def _damage_and_repair(world: World) -> int:
    """Break pages under the journal's feet, by a way that the shim does not count; then mend."""
    path = os.path.join(world.folder, "journal.db")
    with open(path, "r+b") as file, mmap.mmap(file.fileno(), 0) as pages:
        for place in range(2_048 + 900, len(pages), 7 * 2_048):
            pages[place] ^= 0xFF
    return perform.call("journal", "repair")


def _moved(state: str) -> Callable[[Seen], int]:
    """How often a role came to be in a state."""
    wanted = f'"to":"{state}"'
    return lambda seen: sum(
        kind == "lifecycle.moved" and wanted in payload for kind, _, payload in seen.events
    )


def _in_state(number: int) -> Callable[[World, Seen], bool]:
    """Whether the states file says so, and nothing else."""

    def holds(world: World, _seen: Seen) -> bool:
        path = os.path.join(world.home, ".config", "standfast", "stateMachines")
        with open(os.path.join(path, "oosh_expert.states.env"), encoding="utf-8") as file:
            return f"\nSTATE_ID_oosh_expert={number}\n" in file.read()

    return holds


def _shimmed(world: World, _seen: Seen) -> bool:
    names = ("context", ".claude/hooks/pre-compact.sh")
    return all(os.access(os.path.join(world.repo, name), os.X_OK) for name in names)


def _context(action: str, world: str, *names: str, **more: Any) -> Act:  # noqa: ANN401  # fields of Act
    do = command("context", action, *names)
    return Act(f"context-{action}", f"context {action}", world, do, **more)


CONTEXTS: tuple[Act, ...] = (
    _context("lifecycle.init", "begun", worlds.ROLE, new=_moved("active"), holds=_in_state(11)),
    _context("save", "in a role", worlds.ROLE, new=_moved("saved"), holds=_in_state(13)),
    _context("lifecycle.save", "in a role", worlds.ROLE, new=_moved("saved"), holds=_in_state(13)),
    _context("lifecycle.status", "a state by hand", holds=_in_state(12)),  # any command takes it in
    _context(
        "lifecycle.pre.compact", "in a role", worlds.ROLE,
        new=_moved("saved"), holds=_in_state(13),
    ),
    _context(
        "lifecycle.recover", "compacting", worlds.ROLE, new=_moved("active"), holds=_in_state(11)
    ),
    _context("recover", "compacting", worlds.ROLE, new=_moved("active"), holds=_in_state(11)),
    _context("shim", "begun", "--hook", holds=_shimmed, dear=True),
)  # fmt: skip


COMMANDS: tuple[Act, ...] = (
    Act("first-note", "note", "fresh", command("note", WORD), new=decided, holds=has_id),
    Act("note", "note", "begun", command("note", WORD), new=decided),
    Act("note-waiting", "note", "waiting", command("note", WORD), new=decided),
    Act("note-resuming", "note", "resuming", command("note", WORD), new=decided),
    Act(
        "note-confirm", "note", "told by the repository",
        command("note", "--confirm", worlds.FOREIGN_ID),
        new=_confirmed, holds=_binds, repeats=False,
    ),
    Act("status", "status", "waiting", command("status")),
    Act("brief", "brief", "waiting", command("brief")),
    Act("events", "events", "waiting", command("events")),
    Act("doctor", "doctor", "waiting", command("doctor")),
    Act("verify", "journal verify", "begun", command("journal", "verify")),
    Act("export", "journal export", "begun", _export, holds=_exported, repeats=False),
    Act("repair-nothing", "journal repair", "begun", command("journal", "repair")),
    Act(
        "repair",
        "journal repair",
        "checkpointed",
        _damage_and_repair,
        recovery=("journal", "repair"),
    ),
    Act("trim", "journal trim", "aged", command("journal", "trim"), drops=True),
    Act("kept", "journal kept", "begun", command("journal", "kept")),
    Act("path", "journal path", "begun", command("journal", "path")),
    Act("off", "off", "begun", command("off"), holds=_is_off),
    Act("on", "on", "off", command("on"), holds=lambda w, s: not _is_off(w, s)),
    Act(
        "forget",
        "forget",
        "begun",
        command("forget", _FORGET),
        new=lambda seen: seen.number("session.forgotten"),
    ),
    Act(
        "validate", "context validate", "context",
        command("context", "validate", worlds.VALID_FILE),
    ),
    Act("validate-all", "context validate.all", "begun", command("context", "validate.all")),
    Act("schema", "context schema", "begun", command("context", "schema")),
    Act(
        "migrate", "context migrate", "context",
        command("context", "migrate", worlds.CONTEXT_FILE),
        holds=_is_in_context("# Expert — Session Context\n", "## Recovery Steps\n"),
    ),
    Act(
        "write", "context write", "context", command("context", "write", "expert"),
        holds=_is_in_context("<!-- standfast:pending ", "Bash make"),
    ),
    Act("first-write", "context write", "fresh", command("context", "write", "expert")),
    Act(
        "install", "install", "begun", command("install", "claude", "--yes"),
        holds=_hooked, dear=True,
    ),
    Act(
        "uninstall", "uninstall", "installed", command("uninstall", "claude", "--yes"),
        holds=lambda w, s: not _hooked(w, s),
    ),
    *CONTEXTS,
)  # fmt: skip


def _begun_session(world: World, _seen: Seen) -> bool:
    with open(os.path.join(world.repo, ".cwf", "cwf-state.yaml"), encoding="utf-8") as file:
        return "-01-quick" in file.read()


def _stage(*arguments: str) -> Callable[[World], int]:
    return command("outputs", *arguments, "--stage", "retro")


_AGENT = f"printf 'by the agent\\n%s\\n' '{SENTINEL}' > \"$STANDFAST_OUTPUT\""

STAGES: tuple[Act, ...] = (
    Act("check", "outputs check", "staged", _stage("check", "--launched", "expert-alpha"),
        new=lambda seen: seen.number("output.received")),
    Act("gate", "outputs gate", "staged", _stage("gate", "--launched", "expert-alpha"),
        new=lambda seen: seen.number("stage.gated")),
    Act("prompt", "outputs prompt", "staged", _stage("prompt", "cdm-analysis")),
    Act("launched", "outputs launched", "staged", _stage("launched", "cdm-analysis"),
        new=lambda seen: seen.number("output.launched")),
    Act("accept", "outputs accept", "staged", _stage("accept", "cdm-analysis"),
        new=lambda seen: seen.number("output.accepted")),
    Act("grant", "outputs grant", "staged", _stage("grant", "cdm-analysis"),
        new=lambda seen: seen.number("output.granted")),
    Act("stage", "stage run", "staged",
        command("stage", "run", "--stage", "retro", "--task", "task.md", "--", "sh", "-c", _AGENT),
        new=lambda seen: seen.number("stage.gated"), dear=True),
    Act("resolve", "live-state resolve", "staged", command("live-state", "resolve")),
    Act("begin", "live-state begin", "begun", command("live-state", "begin", "quick"),
        holds=_begun_session, repeats=False),
)  # fmt: skip


def _hook(event: str, world: str, session: str) -> Act:
    kind = RECIPES[event][0]

    return Act(
        name=event if session == worlds.SESSION and world != "waiting" else f"{event}-{world}",
        covers=f"hook:{event}",
        world=world,
        do=lambda _: perform.serve(),
        given=lambda where: worlds.payload(where, event, _fields(event), session=session),
        new=lambda seen: seen.number(kind, session),
    )


def _fields(event: str) -> Mapping[str, object]:
    return {**SAMPLES[event], "source": "compact"} if event == "SessionStart" else SAMPLES[event]


def _in_session(event: str) -> Act:
    """A hook in the world that it happens in: the session goes on, a subagent was asked for."""
    return _hook(event, f"{event} is next" if event in BEFORE else "begun", worlds.SESSION)


def _hold(world: World) -> int:
    """Stop a subagent that owes its output, and keep what the client is told."""
    status = perform.serve()
    with open(os.path.join(world.temporary, _TOLD), "wb") as file:
        file.write(os.pread(1, _MOST_TOLD, 0))
    return status


def _held_or_over(world: World, seen: Seen) -> bool:
    """Whom the client holds is held in the journal; whom it lets go is over there, or a gap is.

    Where power was cut the words are gone, or those of a second try: then either will do.
    """
    try:
        with open(os.path.join(world.temporary, _TOLD), "rb") as file:
            is_held = b'"block"' in file.read()
    except FileNotFoundError:
        is_held = False
    held = seen.number("output.held") == 1
    return held or (not is_held and (seen.number("agent.ended") == 1 or seen.gaps > 0))


_TOLD, _MOST_TOLD = "told", 1 << 16

OUTPUTS: tuple[Act, ...] = (
    Act(
        "PreToolUse-output", "hook:PreToolUse", "begun", lambda _: perform.serve(),
        given=lambda w: worlds.payload(w, "PreToolUse", worlds.asked_for_output(w)),
        new=lambda seen: seen.number("output.launched"),
    ),
    Act(
        "SubagentStop-output", "hook:SubagentStop", "an output is owed", _hold,
        given=lambda w: worlds.payload(w, "SubagentStop", worlds.stopped(w)),
        new=lambda seen: seen.number("output.checked"),
        holds=_held_or_over,
    ),
)  # fmt: skip


def _role_hook(event: str, world: str) -> Act:
    """A hook of an agent with a role: its lifecycle moves with the fact, or not at all."""
    return _hook(event, world, worlds.SESSION)._replace(
        name=f"{event}-{world}",
        do=lambda _: worlds.in_role(perform.serve)(),
        holds=_states_agree,
    )


def _states_agree(world: World, seen: Seen) -> bool:
    """The states file shows where the newest move led, and every move followed another."""
    made = [json.loads(payload) for kind, _, payload in seen.events if kind == "lifecycle.moved"]
    in_turn = all(one["to"] == other["from"] for one, other in itertools.pairwise(made))
    numbers = {state: number for number, state in lifecycle.STATES.items()}
    return in_turn and _in_state(numbers[made[-1]["to"]])(world, seen)


def _document_hook(event: str, world: str, **fields: object) -> Act:
    """A hook of a session that works by a document."""

    def given(where: World) -> bytes:
        more = {"transcript_path": os.path.join(where.root, "t.jsonl"), **fields}
        return worlds.payload(where, event, {**SAMPLES[event], **more})

    return _hook(event, world, worlds.SESSION)._replace(
        name=f"{event}-{world}", given=given, holds=_document_agrees
    )


def _document_agrees(world: World, seen: Seen) -> bool:
    """One T5 for a compaction, one more once it was seen, its file, and all else as it was."""
    told = [json.loads(data) for kind, _, data in seen.events if kind == "compaction.checkpoint"]
    fired = [json.loads(data) for kind, _, data in seen.events if kind == "resumption.triggered"]
    said = [each["trigger"].get("compaction_events") for each in fired]
    files = [each["checkpoint_file"] for each in filter(None, said) if "checkpoint_file" in each]
    acknowledged = [name for each in filter(None, said) for name in each.get("ids", ())]
    with open(os.path.join(world.repo, worlds.SECTION_FILE), encoding="utf-8") as file:
        text = file.read()
    return (
        len(files) == len(set(files)) == len(told)
        and len(acknowledged) == len(set(acknowledged)) <= len(told)
        and seen.number("context.crossed") <= 1
        and all(os.path.isfile(each["file"]) for each in told)
        and text.startswith(worlds.AROUND)
        and all(name in text for name in files)
    )


DOCUMENTS: tuple[Act, ...] = (
    _document_hook("PreCompact", "documented"),
    _document_hook("SessionStart", "compacted", source="compact"),
    _document_hook("Stop", "reoriented"),
    _document_hook("UserPromptSubmit", "documented"),
)


HOOKS: tuple[Act, ...] = (
    *map(_in_session, RECIPES),
    *OUTPUTS,
    _hook("SessionStart", "fresh", NEW_SESSION),
    _hook("SessionStart", "waiting", worlds.SESSION),
    _hook("PostToolUse", "waiting", NEW_SESSION),
    _role_hook("PreCompact", "in a role"),
    _role_hook("SessionStart", "compacting"),
    *DOCUMENTS,
)

_EVERY = (*COMMANDS, *ABSENCES, *STAGES, *CHECKPOINTS, *LANES, *PLANS, *RUNS, *RESUMPTIONS, *HOOKS)
ACTS: dict[str, Act] = {act.name: act for act in _EVERY}


_APART = ("demo",)  # it writes into a folder of its own, which goes with it


def registered() -> list[str]:
    """Every command and every hook that the product has, as `covers` names them."""
    return [
        *(
            name
            for command in frame.commands()
            if command.name not in _APART
            for name in _ways(command.name)
        ),
        *(f"hook:{event}" for event in dict.fromkeys((*WANTED, *RECIPES))),
    ]


def _ways(command: str) -> list[str]:
    """A command, or each thing that it can be told to do: `journal verify`, `journal export`."""
    parser, _ = frame.load(command)
    for argument in parser._actions:  # noqa: SLF001  # argparse offers no other way to ask
        if not argument.option_strings and argument.choices:
            return [f"{command} {choice}" for choice in argument.choices]
    return [command]


def missing(acts: Sequence[Act] = tuple(ACTS.values())) -> list[str]:
    """What the product can do and no act does."""
    covered = {act.covers for act in acts}
    return [name for name in registered() if name not in covered]
