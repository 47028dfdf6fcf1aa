"""Effects in doubt: settled by a look at the world, else by policy, else by a person.

Each attempt has a key of its own and is begun at most once. One whose end nobody saw is probed;
what the probe says is journalled before anything follows from it, so that a death in between
leads to the same place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from standfast.effects import client_reports, door
from standfast.effects.effect_folder import ERR, OUT, Folder
from standfast.effects.rules import Probe, Verdict, attempt_of, run_of, settle
from standfast.effects.streams import last_words
from standfast.errors.base import NothingFound, WrongUsage
from standfast.errors.lanes import EffectInDoubt
from standfast.redaction.redactor import redact

if TYPE_CHECKING:
    from collections.abc import Callable

    from standfast.effects.effect_folder import Order
    from standfast.effects.rules import Ended
    from standfast.journal.author import Author
    from standfast.journal.store import Journal

_VERDICT = "SELECT ifnull(value ->> 'verdict', '-') FROM cells WHERE key = ?"
_SESSION = "SELECT ifnull(value ->> '$.report.session', '') FROM cells WHERE key = ?"


class Effect(NamedTuple):
    """A command that must not happen twice, and how one finds out whether it happened."""

    order: Order  # its key is the name of the effect, without the attempt
    kind: str
    probe: Callable[[], Probe] = lambda: Probe.UNKNOWN
    repeatable: bool = False
    again: Callable[[str, str], Order] | None = None  # goes on: by the next key, in this session
    ready: Callable[[Folder], None] = lambda _: None  # for each attempt, right before it begins


class Done(NamedTuple):
    """What became of an effect: its end as it was recorded, or None where only a probe knows."""

    ended: Ended | None
    attempt: int


def perform(journal: Journal, effect: Effect, author: Author) -> Done:
    """Let an effect happen once; EffectInDoubt where only a person can say whether it did."""
    attempt, order, session = 1, effect.order, ""
    while True:
        verdict = settled(journal, order.key)
        if verdict is None:
            outcome = door.run(journal, order, author, kind=effect.kind, ready=effect.ready)
            if outcome.ended is not None:
                return Done(outcome.ended, attempt)
            verdict = _settle(journal, order, effect, author)
        Folder(journal.folder, order.key).clear()  # whoever answered may have died right after
        if verdict is Verdict.DONE:
            return Done(None, attempt)
        attempt += 1
        # One that was killed before it said a word was still to go on with the session before it.
        session = _cell(journal, f"effect.settled:{order.key}", _SESSION) or session
        order = _following(effect, attempt, session)


def _following(effect: Effect, attempt: int, session: str) -> Order:
    """The next attempt: the same once more, or what goes on where the one before was cut off."""
    key = attempt_of(effect.order.key, attempt)
    if effect.again is None:
        return effect.order._replace(key=key)
    return effect.again(key, session)._replace(key=key)


def _settle(journal: Journal, order: Order, effect: Effect, author: Author) -> Verdict:
    verdict = settle(effect.probe(), repeatable=effect.repeatable)
    if verdict is Verdict.ASK and effect.again is not None:
        return answer(journal, order.key, Verdict.AGAIN, author, by="session")
    if verdict is Verdict.ASK:
        _ask(journal, order, effect.kind, author)
    return answer(journal, order.key, verdict, author, by="probe")


def _ask(journal: Journal, order: Order, kind: str, author: Author) -> None:
    if not _cell(journal, f"effect.asked:{order.key}"):
        told = {"key": order.key, "kind": kind, "argv": order.argv}
        journal.append("effect.asked", told, author.in_run(run_of(order.key)))
    raise EffectInDoubt(
        f"nobody saw how `{order.key}` ended, and nothing here can tell whether it took effect",
        remedy="Look whether it did (`standfast ps` lists it), then say so with `settle`.",
    )


def answer(journal: Journal, key: str, verdict: Verdict, author: Author, *, by: str) -> Verdict:
    """Journal what is done about an effect in doubt; the first answer counts, and is handed back.

    Two may answer at once: both look inside the transaction. Its last words go with the answer, and
    what it said of itself; the raw ones go away.
    """
    if verdict is Verdict.ASK:
        raise WrongUsage("an answer is that it took effect, or that it is to be begun again")
    folder = Folder(journal.folder, key)
    said = {name: redact(last_words(folder.at(name))) for name in (OUT, ERR)}
    report = client_reports.of_folder(folder)
    with journal.writing() as tx:
        found = tx.execute(_VERDICT, (f"effect.settled:{key}",))
        if found:
            return Verdict[str(found[0][0])]
        told = {"key": key, "verdict": verdict.name, "by": by, **said, "report": report}
        tx.append("effect.settled", told, author.in_run(run_of(key)))
    folder.clear()
    return verdict


def settled(journal: Journal, key: str) -> Verdict | None:
    """What was said of an effect in doubt, if anything."""
    found = _cell(journal, f"effect.settled:{key}")
    return Verdict[found] if found else None


def last_attempt(journal: Journal, name: str) -> int:
    """The number of the attempt that is due, runs or has ended; those before it were cut off."""
    attempt = 1
    while settled(journal, attempt_of(name, attempt)) is Verdict.AGAIN:
        attempt += 1
    return attempt


def _cell(journal: Journal, key: str, what: str = _VERDICT) -> str:
    try:
        rows = journal.query(what, (key,))
    except NothingFound:
        return ""
    return str(rows[0][0]) if rows else ""
