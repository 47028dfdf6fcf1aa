"""Whether an order holds in every case, and is none of two: `in case`, `or`, `after`. Hook path.

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
_FEW = 4  # words
_ANYWHERE = frozenset({"in", "on", "upon", "for", "with", "without", "under", "at"})


def is_doubtful(path: Token, phrase: Sequence[Token], behind: Sequence[Token]) -> bool:
    """Questions, examples, conditions (`even if` is none), one of two, and what others will do."""
    said, near = _heard(phrase), [each.word for each in behind[:_FEW]]
    return (
        path.asks
        or bool(behind and behind[-1].asks)
        or not words.DOUBTS.isdisjoint(said)
        or _has_condition(said)
        or near[:1] in ([word] for word in words.OLD)
        or depends_behind(behind)
        or _has_a_choice(behind)
        or ("by" in near[:2] and near[0] not in words.CLOSED_BY)
        or (near[:1] == ["in"] and "old" in near[:3])
    )


def _heard(phrase: Sequence[Token]) -> list[str]:
    """The words before the path; what was asked before a new order is no doubt."""
    at = len(phrase) - 1
    while at > 0 and not (
        phrase[at - 1].comma and _first(phrase[at:]) in words.WRITES | words.PUTS
    ):
        at -= 1
    asked = {each.word for each in phrase[: max(at, 0)]} & words.ASKED
    return [each.word for each in phrase if each.word not in asked]


def _first(phrase: Sequence[Token]) -> str:
    return next((each.word for each in phrase if each.word not in words.BEFORE_CLOSING), "")


def _has_a_choice(behind: Sequence[Token]) -> bool:
    """`… or b.md`, `… / b.md`, `…, or if that is taken b.md`; `… or reply`, `… as you like`."""
    said = " ".join(each.word for each in behind)
    if any(each in said for each in words.AS_IT_LIKES):
        return True
    tie = {each.word for each in behind[:3]} - {"and"} if behind else set()
    first = behind[0].word if behind else ""
    is_tied = first in words.OR or (first == "and" and not words.OR.isdisjoint(tie))
    is_left = not words.INSTEAD.isdisjoint(each.word for each in behind[1:_FEW])
    return is_tied and (is_left or any(each.path for each in behind))


def _has_condition(said: Sequence[str]) -> bool:
    """`If …`, wherever it stands; not `even if …`."""
    return any(word == "if" and said[max(at - 1, 0)] != "even" for at, word in enumerate(said))


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
