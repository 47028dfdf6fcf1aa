"""What went wrong: lost, half, wedged or wrong, and nothing else is looked for.

*Lost*: a fact that was there, or whose success was told, is gone. *Half*: a file that is replaced
as a whole is neither the old nor the new one. *Wedged*: the next commands do not work. *Wrong*:
something is there twice, does not verify, or was told with a traceback.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from harness.faults import perform, worlds
from harness.faults.act import NEXT
from harness.faults.look import Seen, litter, look, whole_files
from standfast.journal.fallback import spool
from standfast.journal.tables import decision_records
from standfast.journal.verification import verify

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.faults.act import Act
    from harness.faults.perform import Answer
    from harness.faults.world import World

_INTERNAL = "SF000"


class Before(NamedTuple):
    """What a trial is measured against: the world before it, and after an act without faults."""

    seen: Seen
    files: dict[str, bytes | None]
    after: dict[str, bytes | None]


class Finding(NamedTuple):
    """One promise that was broken."""

    what: str  # lost, half, wedged or wrong
    words: str


def half_files(world: World, before: Before) -> list[Finding]:
    """Right after the fault, before anything heals it."""
    return [
        Finding("half", f"{name} is neither the old file nor the new one")
        for name, data in whole_files(world).items()
        if data not in (before.files[name], before.after[name])
    ]


def spoken(act: Act, answer: Answer) -> list[Finding]:
    """What no user may ever be told, whatever happened."""
    if answer.status == perform.WEDGED:
        return [Finding("wedged", "it did not end")]
    if "Traceback" in answer.err or _INTERNAL in answer.err:
        return [Finding("wrong", f"a bug was told: {answer.err.strip()[-300:]}")]
    if act.is_hook and answer.err:
        return [Finding("wrong", f"a hook spoke: {answer.err.strip()[-300:]}")]
    return []


def recovered(world: World, act: Act, before: Before, *, acknowledged: bool) -> list[Finding]:
    """After the next command of any kind, as a user would call it."""
    if act.recovery != NEXT:
        perform.command(world, *act.recovery)
    answer = perform.command(world, "status", "--json")
    if answer.status != 0:
        return [Finding("wedged", f"status: {answer.status} {(answer.err or answer.out)[-300:]}")]
    if act.holds is not None and acknowledged:  # whoever reads does not end a publish cut short
        perform.command(world, "checkpoint", "keep")
    if act.world != "fresh" and needs(act, answer, answered=acknowledged):
        return [Finding("wedged", f"status needs somebody: {answer.out[-300:]}")]
    found: list[Finding] = []
    judged = perform.apart(world, lambda: _judge(world, act, before, acknowledged=acknowledged))
    for line in judged.out.splitlines():
        what, _, words = line.partition(" ")
        found.append(Finding(what, words))
    if judged.status != 0:
        found.append(Finding("wedged", f"cannot be looked at: {judged.status} {judged.err[-300:]}"))
    if litter(world) or not (acknowledged or act.dear):
        found += _repeated(world, act)
    return found


def needs(act: Act, answer: Answer, *, answered: bool) -> list[str]:
    """What is asked of a person, but for what they were asked before and have not answered."""
    asked = None if answered else worlds.asked(act.world)
    problems = perform.needs(answer)
    return [problem for problem in problems if asked is None or asked not in problem]


def _repeated(world: World, act: Act) -> list[Finding]:
    """Whoever does it again succeeds, and a draft that a crash left is gone then."""
    answer = act.perform(world)
    if answer.status != 0 and act.repeats:
        return [Finding("wedged", f"again: {answer.status} {(answer.err or answer.out)[-300:]}")]
    return [Finding("half", f"{name} was left behind") for name in litter(world)]


def _judge(world: World, act: Act, before: Before, *, acknowledged: bool) -> int:
    journal = worlds.journal(world)
    seen = look(journal)
    found = [*base(act, seen, before), *_new(act, seen, before, acknowledged=acknowledged)]
    if acknowledged and act.holds is not None and not act.holds(world, seen):
        found.append(Finding("lost", "it was told as done, and is not"))
    if journal.exists:
        with journal.writing() as tx:  # and it goes on from here
            decision_records.note(tx, "and on it goes")
        found += [Finding("wrong", problem) for problem in verify(journal).problems]
        if spool.is_used(world.folder):
            found.append(Finding("wedged", "what was taken in still holds its slot in the spool"))
    journal.close()
    for finding in found:
        print(*finding)
    return 0


def base(act: Act, seen: Seen, before: Before) -> Iterator[Finding]:
    """What was there stays there, and what waited is taken in once."""
    kept = before.seen.since(seen.first)
    if seen.events[: len(kept)] != kept or (seen.first > before.seen.first and not act.drops):
        yield Finding("lost", "events from before are not as they were")
    for key, text in before.seen.decisions.items():
        if seen.decisions.get(key) != text:
            yield Finding("lost", f"decision {key}: {text}")
    numbers = sorted(int(key.removeprefix("RD-")) for key in seen.decisions)
    if numbers != list(range(1, len(numbers) + 1)):
        yield Finding("wrong", f"ids with gaps: {numbers}")
    for kind, text in worlds.waiting(act.world):
        times = sum(one == kind and text in payload for one, _, payload in seen.events)
        if times != 1:
            yield Finding("wrong" if times else "lost", f"{text}: {times} times")


def _new(act: Act, seen: Seen, before: Before, *, acknowledged: bool) -> Iterator[Finding]:
    """The act's own fact: once if its success was told, once at most if not."""
    if act.new is None:
        return
    new = act.new(seen) - act.new(before.seen)
    if new not in {0, 1}:
        yield Finding("wrong", f"the new fact is there {new} times")
    told_as_gap = act.is_hook and seen.gaps > before.seen.gaps + worlds.gaps(act.world)
    if acknowledged and not new and not told_as_gap:
        yield Finding("lost", "it was acknowledged, and nothing knows of it")
