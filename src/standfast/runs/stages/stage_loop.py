"""One stage, always in the same four steps: look, launch what is lacking, look again, gate.

Starting and resuming are one call. Nothing is kept in memory that a crash could take: what was
launched is in the journal, what was made is on disk.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from standfast.protocols.outputs.files import stage_outputs as files
from standfast.protocols.outputs.records import launch_records as recorded
from standfast.protocols.outputs.rules import persistence_gate, stages, whole_output
from standfast.runs.stages.launches import Job, at_work, launch_all, wait_until_idle

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from standfast.journal.author import Author
    from standfast.journal.store import Journal
    from standfast.protocols.outputs.files.stage_outputs import Wanted
    from standfast.protocols.outputs.rules.persistence_gate import Gate, Output
    from standfast.runs.stages.launches import Agents


def fingerprint(role: str, prompt: str, agent: str = "", inputs: Sequence[bytes] = ()) -> str:
    """What an output is made from, and by whom: change any of it, and it is a stale one."""
    texts = [text.encode("utf-8", "surrogatepass") for text in (role, prompt, agent)]
    parts = [*texts, *inputs]
    return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()


def run(
    journal: Journal,
    wanted: Wanted,
    tasks: Mapping[str, str],
    agents: Agents,
    author: Author,
    *,
    inputs: Sequence[bytes] = (),
    stale_too: bool = False,
    tell: Callable[[str], None] = lambda _: None,
) -> tuple[list[Output], Gate]:
    """Take a stage through its gate: *tasks* holds what each role is asked to do."""
    prompts = {role: whole_output.prompt(task, wanted.path(role)) for role, task in tasks.items()}
    made_from = {
        role: fingerprint(role, text, agents.name, inputs) for role, text in prompts.items()
    }
    found = _settled(journal, wanted, author, made_from, agents, tell)
    for round_ in range(whole_output.LAUNCHES):
        lacking = [
            Job(each, prompts[each.role], made_from[each.role], granted=each.stale)
            for each in persistence_gate.to_launch(found, stale_too=stale_too and round_ == 0)
            if each.role in prompts and not recorded.busy_session(journal, each.path)
        ]
        if not lacking:
            break
        files.refuse_unwritable(wanted.folder)
        launch_all(journal, wanted.stage.name, lacking, agents, author, tell)
        found = _settled(journal, wanted, author, made_from, agents, tell)
    return found, gate(journal, wanted, found, author)


def _settled(
    journal: Journal,
    wanted: Wanted,
    author: Author,
    made_from: Mapping[str, str],
    agents: Agents,
    tell: Callable[[str], None],
) -> list[Output]:
    """What is there once no agent is at work any more: one may have outlived whoever began it."""
    found = look(journal, wanted, author, made_from)
    begun = [each.path for each in found if each.launches and not each.is_valid]
    for path in begun:
        wait_until_idle(journal, path, agents.time_s, tell)
    # Again, even if nobody was there: it may have ended right after the first look.
    return look(journal, wanted, author, made_from) if begun else found


def look(
    journal: Journal, wanted: Wanted, author: Author, made_from: Mapping[str, str] | None = None
) -> list[Output]:
    """What is there, with a receipt for everything that is valid."""
    found = files.expected(journal, wanted, made_from)
    for output in found:
        if output.is_valid:
            files.receive(journal, output, author)
    return with_work(journal, found)


def with_work(journal: Journal, found: Sequence[Output]) -> list[Output]:
    """The same, with who is at work on what is not valid."""
    return [
        each if each.is_valid else each._replace(at_work=at_work(journal, each.path))
        for each in found
    ]


def decide(wanted: Wanted, found: Sequence[Output]) -> Gate:
    """Whether a stage goes on with what was found."""
    return persistence_gate.decide(found, skips=wanted.stage.expects == stages.LAUNCHED)


def gate(journal: Journal, wanted: Wanted, found: Sequence[Output], author: Author) -> Gate:
    """Decide, and let the journal know."""
    decided = decide(wanted, found)
    about = {
        "stage": wanted.stage.name,
        "dir": wanted.folder,
        "gate": decided.verdict,
        "failed": {each.name: each.fault for each in decided.failed},
        "omitted": {each.name: each.fault for each in decided.omitted},
        "pending": {each.name: each.fault for each in decided.pending},
    }
    journal.append("stage.gated", about, author)
    return decided
