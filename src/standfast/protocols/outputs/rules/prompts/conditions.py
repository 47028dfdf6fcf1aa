"""Whether an order holds in every case: `in case`, `should you`, `after`. Hook path.

An agent that finds nothing has rightly written nothing where it was told to write what it finds.
That its own work comes to an end is no condition.
"""

from __future__ import annotations

from standfast.protocols.outputs.rules.prompts import phrase_words as words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from standfast.protocols.outputs.rules.prompts.tokens import Token

_SKIPPED = words.AND | {"only", "also", "just", "please", "so", "finally", "not", "", "("}
_TIMES = frozenset({"when", "once", "after", "before", "as"})
_OF_ITS_OWN = (
    words.ENDING | words.OUTPUTS | {"you", "you've", "you're", "your", "that", "this", "anything"}
)
_ANYWHERE = frozenset({"in", "on", "upon", "for", "with", "without", "under", "at"})


def depend(phrase: Sequence[Token]) -> bool:
    """Whether one of the clauses before the order makes it depend on something."""
    return any(is_condition(clause) for clause in _clauses(phrase))


def depends_behind(behind: Sequence[Token]) -> bool:
    """Whether what follows does: `… if needed`, `… for each bug`, `… after the user confirms`."""
    return is_condition(next(filter(None, _clauses(behind)), []))


def _clauses(phrase: Sequence[Token]) -> Iterator[list[str]]:
    clause: list[str] = []
    for each in phrase:
        if each.word in words.AND:
            yield clause
            clause = []
        else:
            clause.append(each.word)
        if each.comma or each.colon or each.ends:
            yield clause
            clause = []
    yield clause


def is_condition(clause: Sequence[str]) -> bool:
    """Whether these words are a condition, a case, or a time that is not the agent's own end."""
    said = list(clause)
    while said and said[0] in _SKIPPED:
        said.pop(0)
    head, rest = (said[0], said[1:]) if said else ("", [])
    if head == "even" or head not in words.CONDITIONS | {"as"}:
        return False
    if head == "as":
        head, rest = ("once", rest[2:]) if rest[:1] == ["soon"] else ("", [])
    if head in _TIMES:
        return not _is_its_own_end(rest)
    if head in _ANYWHERE:
        return not words.CASES.isdisjoint(rest[:4])
    return bool(head)


def _is_its_own_end(said: Sequence[str]) -> bool:
    """`… you are done`, `… reading it`; not `… the user is done`, not `… you find one`."""
    if said[:1] in (["that"], ["this"], ["anything"]):
        return True
    first = next((word for word in said if word not in {"the", "all", "both"}), "")
    return first in _OF_ITS_OWN and not words.ENDING.isdisjoint(said)
