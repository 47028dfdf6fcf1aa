"""Whether a verb is said to the agent itself: an order to it, or what must be done. Hook path.

`Write …`, `you must write …`, `your findings must be written …`. Everything else (`explain how to
write`, `the lead writes`, `do not write`, `you may write`) is said of others, or of nothing that
has to be there.
"""

from __future__ import annotations

from standfast.protocols.outputs.rules.prompts import conditions
from standfast.protocols.outputs.rules.prompts import phrase_words as words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from standfast.protocols.outputs.rules.prompts.tokens import Token

_NEAR = 6


def is_ours(phrase: Sequence[Token], at: int, link: int) -> bool:
    """Whether the verb at *at*, of what the *link* ties the path to, is an order to the agent."""
    if not words.NOTHING.isdisjoint(each.word for each in phrase[at + 1 : link]):
        return False
    before, clause = _clause(phrase[:at])
    verb = phrase[at].word
    if not _is_open(phrase[:at]) or _is_by_others([each.word for each in phrase[:at]]):
        return False
    if _is_forbidden(phrase[:at]) or conditions.depend(phrase[:at]):
        return False
    if _is_negated(clause) or (verb in words.GERUNDS and clause[-1:] != ["by"]):
        return False
    if verb in words.GOES or verb in words.BE_WRITTEN:
        return _is_about_outputs(clause, verb)
    return _is_order(clause) and words.ELSEWHERE.isdisjoint(before)


def _clause(phrase: Sequence[Token]) -> tuple[list[str], list[str]]:
    """The words of the clause that the verb is in; and those that an `and` ties it to."""
    parts: list[list[str]] = [[]]
    for each in reversed(phrase):
        if each.comma or each.colon or (each.path and not parts[1:]):
            break
        if each.word in words.AND:
            parts.append([])
        elif each.word == "i" or (len(each.word) > 1 and any(map(str.isalnum, each.word))):
            parts[-1].insert(0, each.word)
    return [word for part in parts[1:] for word in part], parts[0]


def _is_open(phrase: Sequence[Token]) -> bool:
    """Whether what stands before a colon leaves the order to the agent: `Lead: write` does not."""
    at = max((at for at, each in enumerate(phrase) if each.colon), default=-1)
    said = {each.word for each in phrase[: at + 1]}
    if not said.isdisjoint({"|", "than"}):  # `More than five findings: …`
        return False  # a cell of a table tells what somebody does
    if not words.FOR_OTHERS.isdisjoint(said) and not said & {"this", "following"}:
        return False  # `TODO for me: …`
    is_judged = at >= 0 and phrase[0].word in words.LOOKS | words.REWORDS
    if is_judged and not words.ORDERS.isdisjoint(said):
        return False  # `Review this instruction: …`
    said = {word for word in said if any(map(str.isalpha, word))}
    theirs = words.LEADERS | words.NOT_OURS | words.THEIRS
    return not said or (
        not said.isdisjoint((words.OPENS | words.OPENS_ANEW) - words.ARTICLES)
        and said.isdisjoint(theirs)
    )


def _is_by_others(said: Sequence[str]) -> bool:
    return any(
        word == "by" and not words.LEADERS.isdisjoint(said[at : at + 3])
        for at, word in enumerate(said)
    )


def _is_negated(clause: Sequence[str]) -> bool:
    near: list[str] = []
    for word in reversed(clause[-_NEAR:]):
        if near and word in words.WRITES | words.PUTS | words.OTHER_VERBS:
            return False  # the no is another verb's
        if word in words.NEVER:
            return words.YET.isdisjoint(near)
        near.append(word)
    return False


def _is_forbidden(phrase: Sequence[Token]) -> bool:
    """A no that reaches the verb: over an aside in commas, and over every `or`."""
    for at, each in enumerate(phrase):
        rest = [later.word for later in phrase[at + 1 :]]
        if each.word not in words.FORBIDS or not words.BUT.isdisjoint(rest):
            continue
        is_list = not {"or", "nor"}.isdisjoint(rest[-2:])
        is_aside = each.comma or rest[:1] == [""] or not words.ASIDES.isdisjoint(rest[:1])
        if is_list or (is_aside and words.YET.isdisjoint(rest[:1])):
            return True
    return False


def _is_about_outputs(clause: Sequence[str], verb: str) -> bool:
    """`All findings go`, `your report must be written`: of outputs, and as an order."""
    known = words.OUTPUTS | words.FILLERS | words.ARTICLES | words.MUST_BE | {"all", "be", "make"}
    known |= {"are", "is", "have", "need"}
    is_order = verb in words.GOES or not words.MUST_BE.isdisjoint(clause)
    return is_order and not words.OUTPUTS.isdisjoint(clause) and known.issuperset(clause)


def _is_order(clause: Sequence[str]) -> bool:
    """By what stands before the verb: nothing but manners, `you must`, `remember to`."""
    if words.POLITE.issuperset(clause):
        return True
    if clause[-1:] == ["or"]:  # `create or overwrite`
        return (words.MAKES | words.WRITES).issuperset(clause[-2:-1])
    if not words.YOU.isdisjoint(clause):
        said = clause[max(at for at, word in enumerate(clause) if word in words.YOU) + 1 :]
        if not words.BETWEEN_YOU.issuperset(said):
            return False
        return words.MAYBE.isdisjoint(clause) or clause[-2:] == ["need", "to"]
    if any(tuple(clause[-len(end) :]) == end for end in words.TOLD):
        return words.EXPECTS.isdisjoint(clause)
    first, second, third = [*clause, "", "", ""][:3]
    is_agent = first in words.THIS and second in words.AGENT
    return is_agent and third in words.MUST and third == clause[-1]
