"""Where a fact goes that the journal does not take: the spool, else a mark.

Loaded only then: a hook whose journal answers needs none of it.
"""

from __future__ import annotations

from standfast import disk, xdg
from standfast.clients.claude import derived_facts
from standfast.clients.hooks.hook_call import LOCK_S
from standfast.errors.base import JournalBusy, StandfastError
from standfast.journal import place
from standfast.journal.author import Author
from standfast.journal.fallback import lost_calls, spool
from standfast.journal.store import Journal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from standfast.clients.claude.hook_facts import Fact
    from standfast.clients.claude.hook_payload import Payload
    from standfast.clients.hooks.hook_call import Call
    from standfast.journal.place import Place

_SPOOL_TRIES = 300  # of a tenth of a second each


def keep(call: Call, found: list[Fact], error: Exception) -> bool:
    """The spool, else a mark: the client is never told, the next command is. False: neither."""
    if all(_is_spooled(call, fact, last=True) for fact in found):
        return True
    why = error.problem if isinstance(error, StandfastError) else str(error)
    return lost_calls.mark(call.environ, call.place.root, f"{call.event}: {why}")


def unspooled(call: Call, found: list[Fact]) -> list[Fact]:
    """What the spool has no room for now; who asks will try again, so no gap is counted."""
    return [fact for fact in found if not _is_spooled(call, fact, last=False)]


def _is_spooled(call: Call, fact: Fact, *, last: bool) -> bool:
    return all(_spool(call, one, last=last) for one in _alone(fact, call))


def _alone(fact: Fact, call: Call) -> list[Fact]:
    """A fact completed without a journal to ask; kept as it is told where that cannot be done."""
    try:
        return derived_facts.complete([fact], call, _nobody) or [fact]
    except (StandfastError, OSError):
        return [fact]


def _nobody(_sql: str, _values: tuple[str | int, ...]) -> list[tuple[object, ...]]:
    return []


def _spool(call: Call, fact: Fact, *, last: bool) -> bool:
    """Whether the spool knows of it now: at the *last* try it counts what finds no room.

    On a disk that hangs others wait at the spool too, and here nobody is kept waiting any more.
    """
    author, at = call.author(fact.actor), call.began
    for _ in range(_SPOOL_TRIES):
        try:
            disk.refuse_link(call.place.folder)
            place.refuse_foreign(call.place)
            text = call.payload.write(fact.fields)
            kept = spool.keep(call.place.folder, fact.kind, text, author, at=at, count_gap=last)
        except JournalBusy:
            continue
        except (StandfastError, OSError):
            return False
        return kept or last
    return False


def tell_garbled(
    given: Payload, here: Place, environ: Mapping[str, str], error: StandfastError
) -> None:
    """A payload that cannot be read is a gap, and said to be one."""
    if here.is_off:
        return
    why = f"a hook payload of {given.size:,} bytes could not be read: {error.problem}"
    home = xdg.state_home(environ)
    journal = Journal(here.folder, lock_timeout_s=LOCK_S, checkpoint=False, state_home=home)
    try:
        place.refuse_foreign(here)
        journal.append("gap", given.write({"facts": 1, "why": why}), Author("standfast"))
    except (StandfastError, OSError):
        lost_calls.mark(environ, here.root, why)
    finally:
        journal.let_go()
