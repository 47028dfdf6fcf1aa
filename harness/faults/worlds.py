"""The worlds that acts happen in: a repository, a home, and what was kept there.

A world is made once and copied for every trial. Its facts are the *base*: whatever goes wrong
later, they must still be there, each exactly once.
"""

from __future__ import annotations

import json
import os
import shutil
from typing import TYPE_CHECKING

from harness.faults import perform
from harness.faults.absence_acts import noted_since, taken_away
from harness.faults.lane_worlds import DOUBT, LANE_WORLDS, NOTE_BY_HAND
from harness.faults.run_worlds import RUN_WORLDS
from harness.faults.world import Snapshot, World, at, write
from standfast import clock
from standfast.authorship import REPOSITORY
from standfast.clients.claude.samples import BEFORE
from standfast.journal import id_file, journal_file
from standfast.journal.author import Author
from standfast.journal.fallback import inbox, spool
from standfast.journal.store import Journal
from standfast.journal.tables import decision_records
from standfast.protocols.outputs.rules import whole_output

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

DECISIONS = ("use the second parser", "tests run on the copy", "the port is 8443")
FOREIGN = "the repository says to skip the tests"
FOREIGN_ID = f"RD-{len(DECISIONS) + 1:03}"
EDITED = "a person added this by hand"
POSTED = "the sandbox left this in the inbox"
SESSION = "8f2c0000-1111-4222-8333-444455556666"
SPOOLED = "toolu_spooled"
CUT_OFF = "the first half of an analys"
AGENT = {"agent_id": "reviewer", "agent_type": "Explore"}
CONTEXT_FILE = "session/agents/expert.context.md"
VALID_FILE = "session/agents/tester.context.md"
VALID = """\
# Tester — Session Context

**Updated**: 2026-02-03
**Role**: tester
**Pane**: 0.1

## Recovery Steps
1. Read this file

## Completed Work

## Pending

## Key Files
"""
CONTEXT = (
    "# Expert - Session Context\n- **Updated**: 2026-02-03\n\n## Completed\n- a word by hand\n"
)
ROLE = "oosh-expert"
SECTION_FILE = "ORCHESTRATION.yaml"
AROUND = "# by a person\nworkflow: {id: w-1}  # stays\n"
EDITED = "an edit by hand"
V1 = "resumption:\n  current_state: two agents are done\n  files_to_read: [PLAN.md]\n"
PLAN_FILE = "plan.yaml"
PLAN = "test: make test\nlanes:\n  one: {tasks: {t: {prompt_file: one.md}}}\n  two: Do it.\n"
SETTINGS = '{\n  "model": "some",  \n  "hooks": {"Stop": []}\n}\n'


def make(name: str, folder: str) -> World:
    """Make the world of that name in *folder*, which is emptied."""
    shutil.rmtree(folder, ignore_errors=True)
    world = at(folder)
    for made in ("objects", "refs"):
        os.makedirs(os.path.join(world.repo, ".git", made))
    for made in (os.path.join(world.home, ".claude"), world.temporary):
        os.makedirs(made)
    write(os.path.join(world.repo, ".git", "HEAD"), "ref: refs/heads/main\n")
    write(os.path.join(world.home, ".claude", "settings.json"), SETTINGS)
    WORLDS[name](world)
    _vouch(world)
    return world


def _vouch(world: World) -> None:
    """All of it is the user's, wherever a trial puts a copy."""
    state = os.path.join(world.home, ".local", "state")
    if (known := id_file.read(world.folder)) is not None:
        registered = journal_file.registered(state, known.name)
        os.makedirs(os.path.dirname(registered), exist_ok=True)
        write(registered, "")


class Shelf:
    """Worlds that were made once; a copy always stands in the same place, as inboxes go by that."""

    def __init__(self, folder: str) -> None:
        self._stage = os.path.join(folder, "trial")
        self._made: dict[str, Snapshot] = {}

    def fresh(self, name: str) -> World:
        """The world of that name, as new."""
        if name not in self._made:
            make(name, self._stage)
            self._made[name] = Snapshot(self._stage)
        while os.path.lexists(self._stage):  # a hook that came late may still be writing there
            shutil.rmtree(self._stage, ignore_errors=True)
        self._made[name].put_back()
        return at(self._stage)


def _fresh(_world: World) -> None:
    """Nothing was ever recorded here."""


def _begun(world: World) -> None:
    """Decisions, and a session at work with one call unfinished."""
    for text in DECISIONS:
        perform.command(world, "note", text)
    begun = {"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": "toolu_base"}
    for event, fields in (
        ("SessionStart", {"source": "startup"}),
        ("UserPromptSubmit", {"prompt": "find out why the checkout test is flaky"}),
        ("PreToolUse", begun),
        ("PostToolUse", {**begun, "tool_response": {"stdout": "ok", "stderr": ""}}),
        ("PreToolUse", {**begun, "tool_use_id": "toolu_open"}),
    ):
        perform.hook(world, payload(world, event, fields))
    perform.command(world, "status")


def _after_begun(fill: Callable[[World], None]) -> Callable[[World], None]:
    """A session at work, and then this."""

    def fill_both(world: World) -> None:
        _begun(world)
        fill(world)

    return fill_both


def _waiting(world: World) -> None:
    """The same, and much that waits to be taken in: spool, inbox, an edit by hand, a lost call."""
    _begun(world)
    author = Author("claude", session=SESSION)
    spool.keep(world.folder, "tool.started", {"id": SPOOLED, "tool": "Bash"}, author)
    inbox.leave(world.folder, [world.temporary], "decision.noted", {"text": POSTED})
    with open(os.path.join(world.folder, "status.md"), "a", encoding="utf-8") as file:
        file.write(f"- {EDITED}\n")
    lost = os.path.join(world.home, ".local", "state", "standfast", "lost")
    os.makedirs(lost)
    write(os.path.join(lost, "1700000000-1"), f"the hook could not be run\n{world.repo}\n")


def _told(world: World) -> None:
    """A repository has said something that binds nobody yet."""
    journal = Journal(world.folder)
    with journal.writing() as tx:
        decision_records.note(tx, FOREIGN, Author(REPOSITORY))
    journal.close()
    perform.command(world, "status")


def _aged(world: World) -> None:
    """Much of it is older than anybody wants to keep."""
    settings = os.path.join(world.home, ".config", "standfast")
    os.makedirs(settings)
    write(os.path.join(settings, "config.yaml"), "keep_days: 0\n")  # not dropped by the way
    with Journal(world.folder).writing() as tx:
        for number in range(40):
            author = Author("claude", session=f"s-{number % 3}")
            tx.append("turn.ended", {"n": number}, author, at=number * clock.MICROSECONDS)
    _begun(world)
    os.unlink(os.path.join(settings, "config.yaml"))


def _checkpointed(world: World) -> None:
    """The same, all of it in the database and nothing in its log."""
    _begun(world)
    kept = journal(world)
    kept.mirror()
    kept.query("PRAGMA wal_checkpoint(TRUNCATE)")
    kept.let_go()


def _staged(world: World) -> None:
    """A live session of a workflow: one output valid, one cut off, the others missing."""
    _begun(world)
    folder = os.path.join(world.repo, ".cwf", "projects", "one")
    os.makedirs(folder)
    state = "live:\n  session_id: s1\n  dir: .cwf/projects/one\n"
    write(os.path.join(world.repo, ".cwf", "cwf-state.yaml"), state)
    write(os.path.join(folder, "retro-expert-alpha.md"), f"whole\n{whole_output.SENTINEL}\n")
    write(os.path.join(folder, "retro-cdm-analysis.md"), CUT_OFF)
    write(os.path.join(world.repo, "task.md"), "Look at it.\n")


def _resuming(world: World) -> None:
    """A resumption section in the middle of its life, with words of a person around it."""
    _begun(world)
    path = os.path.join(world.repo, SECTION_FILE)
    write(path, AROUND)
    perform.command(world, "resumption", "trigger", "T1", "--phase", "2", "--next-step", "go on")
    perform.command(world, "gate", "record", "QG-1", "completeness=0.9", "evidence=0.8")


def _edited(world: World) -> None:
    """The same, and somebody has edited the section by hand."""
    _resuming(world)
    path = os.path.join(world.repo, SECTION_FILE)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    write(path, text.replace("next_step: go on", f"next_step: {EDITED}"))


def _documented(world: World) -> None:
    """The same, and the session that works by it has a context that fills up."""
    _resuming(world)
    usage = '{"message":{"model":"m","usage":{"input_tokens":150000}}}'
    write(os.path.join(world.root, "t.jsonl"), f"{usage}\n")


def _compacted(world: World) -> None:
    """The same, and its context is being compacted."""
    _documented(world)
    perform.hook(world, payload(world, "PreCompact", {"trigger": "auto"}))


def _reoriented(world: World) -> None:
    """The same, and it has been briefed since."""
    _compacted(world)
    perform.hook(world, payload(world, "SessionStart", {"source": "compact"}))


def _of_old(world: World) -> None:
    """A resumption section of v1.0, which nobody has touched."""
    _begun(world)
    write(os.path.join(world.repo, SECTION_FILE), f"{AROUND}{V1}")


def _off(world: World) -> None:
    _begun(world)
    perform.command(world, "off")


def _installed(world: World) -> None:
    _begun(world)
    perform.command(world, "install", "claude", "--yes")


def _context(world: World) -> None:
    """An agent has a role, and its context file is not as it should be."""
    _begun(world)
    os.makedirs(os.path.join(world.repo, "session", "agents"))
    write(os.path.join(world.repo, CONTEXT_FILE), CONTEXT)
    write(os.path.join(world.repo, VALID_FILE), VALID)


def _in_role(world: World) -> None:
    """An agent with a role that has written its context."""
    _begun(world)
    perform.command(world, "context", "lifecycle.init", ROLE)
    path = os.path.join(world.repo, "session", "agents", f"{ROLE}.context.md")
    os.makedirs(os.path.dirname(path))
    write(path, VALID.replace("tester", ROLE))


def _edited_state(world: World) -> None:
    """The same, and somebody has set the number of the state by hand."""
    _in_role(world)
    path = os.path.join(world.home, ".config", "standfast", "stateMachines")
    with open(os.path.join(path, "oosh_expert.states.env"), "r+b") as file:
        data = file.read()
        file.seek(0)
        file.write(data.replace(b"=11\n", b"=12\n"))


def _saved(world: World) -> None:
    _in_role(world)
    perform.command(world, "context", "lifecycle.save", ROLE)


def _compacting(world: World) -> None:
    """The role is saved, and its client compacts."""
    _saved(world)
    given = payload(world, "PreCompact", {"trigger": "manual"})
    perform.apart(world, in_role(perform.serve), given=given)


def in_role(act: Callable[[], int]) -> Callable[[], int]:
    """As an agent with the role does it."""

    def do() -> int:
        os.environ["HIVEMIND_ROLE"] = ROLE
        return act()

    return do


def _asked(event: str) -> Callable[[World], None]:
    """The session is at the point where a client calls this hook."""

    def fill(world: World) -> None:
        _begun(world)
        for before, fields in BEFORE[event]:
            perform.hook(world, payload(world, before, fields))

    return fill


def _prompt(world: World) -> str:
    return whole_output.prompt("Find every race.", os.path.join(world.repo, "findings.md"))


def asked_for_output(world: World) -> Mapping[str, object]:
    """The call that asks for a subagent, and for its output."""
    given = {
        "prompt": _prompt(world),
        "description": "review",
        "subagent_type": AGENT["agent_type"],
    }
    return {"tool_name": "Agent", "tool_input": given, "tool_use_id": "toolu_review"}


def stopped(world: World) -> Mapping[str, object]:
    """Its subagent stops."""
    path = os.path.join(world.root, "agent.jsonl")
    return {**AGENT, "stop_hook_active": False, "agent_transcript_path": path}


def _owing(world: World) -> None:
    """A subagent was asked for an output that is not there."""
    _begun(world)
    perform.hook(world, payload(world, "PreToolUse", asked_for_output(world)))
    perform.hook(world, payload(world, "SubagentStart", AGENT))
    said = {"type": "user", "message": {"role": "user", "content": _prompt(world)}}
    write(os.path.join(world.root, "agent.jsonl"), json.dumps(said) + "\n")


def _planned(world: World) -> None:
    """Work has begun, and somebody wrote a plan."""
    _begun(world)
    write(os.path.join(world.repo, PLAN_FILE), PLAN)
    write(os.path.join(world.repo, "one.md"), "Do one.\n")


WORLDS: dict[str, Callable[[World], None]] = {
    "fresh": _fresh,
    "begun": _begun,
    "waiting": _waiting,
    "aged": _aged,
    "told by the repository": _after_begun(_told),
    "checkpointed": _checkpointed,
    "taken away": taken_away,
    "noted since": noted_since,
    "off": _off,
    "staged": _staged,
    **{name: _after_begun(fill) for name, fill in (LANE_WORLDS | RUN_WORLDS).items()},
    "resuming": _resuming,
    "a section by hand": _edited,
    "a section of v1": _of_old,
    "documented": _documented,
    "compacted": _compacted,
    "reoriented": _reoriented,
    "installed": _installed,
    "planned": _planned,
    "an output is owed": _owing,
    "context": _context,
    "in a role": _in_role,
    "a state by hand": _edited_state,
    "saved": _saved,
    "compacting": _compacting,
    **{f"{event} is next": _asked(event) for event in BEFORE},
}


def waiting(name: str) -> tuple[tuple[str, str], ...]:
    """What the first command that can must take in, once each: the kind of event, and words."""
    if name == "laned":
        # While an agent's command runs nobody can tell whose hand it was: kept, and not taken.
        return (("checkpoint.passed", NOTE_BY_HAND),)
    if name != "waiting":
        return ()
    noted = "decision.noted"
    return ((noted, EDITED), (noted, POSTED), ("tool.started", SPOOLED))


def asked(name: str) -> str | None:
    """What a person is asked about there."""
    return DOUBT if name == "in doubt" else None


def gaps(name: str) -> int:
    """How many lost calls it must tell of."""
    return 1 if name == "waiting" else 0


def payload(
    world: World, event: str, fields: Mapping[str, object], *, session: str = SESSION
) -> bytes:
    """What a client gives a hook."""
    own = {"session_id": session, "cwd": world.repo, "hook_event_name": event}
    return json.dumps({**own, "transcript_path": "/nowhere.jsonl", **fields}).encode()


def journal(world: World) -> Journal:
    """The journal of this world."""
    return Journal(world.folder)
