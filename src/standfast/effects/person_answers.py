"""What a person says of an effect in doubt: taken once, and only where there is a doubt.

A wrong answer makes a command happen twice or never. So nothing is believed of an effect that
lives, has ended, never began, or was spoken of before in another way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast.effects import door, orphans, settlement
from standfast.effects.effect_folder import Folder
from standfast.effects.rules import Step, Verdict, decide, key
from standfast.errors.base import NothingFound
from standfast.errors.lanes import NotInDoubt

if TYPE_CHECKING:
    from standfast.journal.author import Author
    from standfast.journal.store import Journal

_PERSON = "person"


def say(journal: Journal, name: str, verdict: Verdict, author: Author) -> None:
    """Journal a person's answer; the same one twice is one."""
    if is_open(journal, name):
        settlement.answer(journal, name, verdict, author, by=_PERSON)
    said = settlement.settled(journal, key(name))
    if said is not verdict:
        raise NotInDoubt(f"of `{name}` it was said before: {said}")


def close(journal: Journal, prefix: str, author: Author, *, by: str) -> None:
    """What is taken back is nobody's doubt any more; its last words are kept, the raw ones go."""
    for each in orphans.every(journal):
        if each.state == orphans.IN_DOUBT and each.key.startswith(prefix):
            settlement.answer(journal, each.key, Verdict.DONE, author, by=by)


def is_open(journal: Journal, name: str) -> bool:
    """Whether an answer is due; what nobody can doubt is refused."""
    if settlement.settled(journal, key(name)) is not None:
        return False
    _refuse_known(journal, name)
    return True


def _refuse_known(journal: Journal, name: str) -> None:
    step = decide(door.look(journal, Folder(journal.folder, name), name))
    if step in {Step.BEGIN, Step.REFUSE}:
        raise NothingFound(f"no command was begun under `{name}`", remedy="See `standfast ps`.")
    if step is Step.WAIT:
        raise NotInDoubt(f"`{name}` is still running")
    if step is not Step.SETTLE:
        raise NotInDoubt(f"how `{name}` ended is known")
