"""Act: a brief that is owed is made, recorded as given, and handed to whoever prints it.

What a model still sees is not said again: the brief before it, where the client kept it, is
only added to. Hook path.
"""

from __future__ import annotations

from standfast.brief import brief_text
from standfast.brief.brief_text import length
from standfast.brief.facts import gather
from standfast.journal.payload import Redacted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from standfast.brief.facts import Ask
    from standfast.journal.author import Author
    from standfast.journal.transaction import Writing

# Those since the last compaction, which took all before it out of the context.
_GIVEN = """
    SELECT briefs.nonce, events.payload ->> 'text' FROM briefs
    JOIN events ON events.seq = briefs.given
    WHERE briefs.session = ?1 AND briefs.agent = ?2 AND briefs.owed >= (
      SELECT ifnull(max(owed), 0) FROM briefs
      WHERE session = ?1 AND agent = ?2 AND why = 'compact')
    ORDER BY briefs.owed DESC LIMIT 8"""

_HEAD = "SELECT hash FROM events ORDER BY seq DESC LIMIT 1"


def give(
    tx: Writing,
    author: Author,
    owed: tuple[int, str],
    encode: Callable[[dict[str, str | int]], str],
    shown: Callable[[], bytes],
    root: str,
) -> str:
    """Make the brief that is owed and record it; *shown* reads what the context still holds.

    *root* is the session's checkout: plans that are at home there lead it.
    """
    session, agent = str(author.session), author.actor
    wake, why = owed
    mark, known = make_nonce(tx.execute), _known(tx, session, agent, shown)
    facts = gather(tx.execute, session, agent, why, most=brief_text.SHORT.vital, root=root)
    told = [line.replace(old, mark) for old, text in known for line in text.splitlines()]
    text = brief_text.render(facts, mark, brief_text.SHORT, known=told)
    fields: dict[str, str | int] = {
        "owed": wake,
        "nonce": mark,
        "characters": length(text),
        "text": text,
    }
    tx.append("brief.given", Redacted(encode(fields)), author)
    return text


def make_nonce(ask: Ask) -> str:
    """From the newest link of the chain: the same journal gives the same brief."""
    rows = ask(_HEAD, ())
    seed = rows[0][0] if rows else b""
    return brief_text.nonce(seed if isinstance(seed, bytes) else b"")


def _known(
    tx: Writing, session: str, agent: str, shown: Callable[[], bytes]
) -> list[tuple[str, str]]:
    """The briefs before that the agent still sees."""
    rows = [(str(mark), str(text)) for mark, text in tx.execute(_GIVEN, (session, agent))]
    seen = shown() if rows else b""
    return [(mark, text) for mark, text in rows if f"standfast {mark} ".encode() in seen]
