"""What a clause says of the closing line: that it is ordered, or how it is. Hook path.

By its verb (`end the file with …`), by its subject (`the last line must be …`), or by the place
where the line is put (`… as its last line`).
"""

from __future__ import annotations

from standfast.protocols.outputs.rules.prompts import phrase_words as words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# By how much it binds: a record of what is there may say NAMED, and a plain sentence PLAIN.
NONE, PLAIN, NAMED, LABEL, STRONG = range(5)
_NEAR, _CLOSE = 9, 4  # words between the verb and the line
_EDGES = "`*,:;.\"'()[]_“”«»\u2039\u203a<>-\u2013—•→+|="
_ENDS = (",", ":", ".", ")", "|", "]", ";", "\u2013", "—")


class Clause:
    """The words before a sentinel, as they stand there and without marks; and those behind it."""

    def __init__(self, before: list[str], behind: list[str]) -> None:
        self._before, self.behind = before, behind
        self.said = [bare(each) for each in before]

    def start(self, end: int | None = None) -> int:
        """Where the last clause begins: behind a comma, a path or an `and`."""
        at = len(self.said) if end is None else end
        while at and self._opens(at):  # `last line: …`
            at -= 1
        while at and not self._opens(at) and self.said[at - 1] not in words.AND:
            at -= 1
        return at

    def heard(self) -> list[str]:
        """The words that may speak of the line: none that stand before a new order in it.

        `Find out why, write what you find to x.md, end it with …`.
        """
        said, at = self.said, len(self.said) - 1
        while at > 0 and not (self._before[at - 1].endswith(",") and self._orders(at)):
            at -= 1
        at = max(at, 0)
        heard = [
            word
            for at, word in enumerate(said[at:], at)
            if word != "if" and said[at - 1 : at] != ["you"]
        ]
        return [*heard, *self._conditions()]

    def _conditions(self) -> list[str]:
        """`If …`, wherever it stands; not `it only counts if …`."""
        pairs = zip(("", *self.said), self.said, strict=False)
        return [word for before, word in pairs if word == "if" and before not in words.COUNTS]

    def _orders(self, at: int) -> bool:
        near = self.said[at : at + _CLOSE]
        first = next((word for word in near if word not in words.BEFORE_CLOSING), "")
        return first in words.WRITES | words.PUTS | words.CLOSES

    def is_told(self) -> bool:
        """`Each prompt must say: …`."""
        return any(
            each.endswith(":") and not words.SAYING.isdisjoint(self.said[max(at - 2, 0) : at + 1])
            for at, each in enumerate(self._before)
        )

    def strength(self) -> int:
        """How much it binds."""
        return max(self._by_verb(), self._by_line(), self._by_place())

    def _by_verb(self) -> int:
        """`End the file with …`, `the file must end with …`, `make sure that it ends with …`."""
        said = self.said
        at = _last(said, words.CLOSES)
        if at < 0 or len(said) - at > _NEAR or self._is_of_a_reply(at) or self._is_forbidden(at):
            return NONE
        if said[at] in words.IT_CLOSES:
            return self._by_third_person(at)
        if said[at] in words.CLOSED_BY:
            return PLAIN if at and self._before[at - 1].endswith(",") else NONE
        if not self._is_order(at):
            return NONE
        return PLAIN if said[at] in words.CLOSING else STRONG

    def _is_of_a_reply(self, at: int) -> bool:
        """Of one that is its object, or its subject."""
        near = {*self.said[at:], *self.behind[:_NEAR]}
        subject = self.said[self.start(at) : at]
        return not (words.IN_A_REPLY.isdisjoint(near) and words.REPLIES.isdisjoint(subject))

    def _is_order(self, at: int) -> bool:
        """By what stands before the verb: `must itself`, `remember to`, a step's number."""
        said = self.said
        while at and said[at - 1] in words.ITSELF:
            at -= 1
        if self._opens(at):
            return True
        before = said[at - 1]
        is_to = before == "to" and at > 1 and said[at - 2] in words.BEFORE_TO
        return is_to or before in words.BEFORE_CLOSING or before.isdigit()

    def _by_third_person(self, at: int) -> int:
        """`Make sure that it ends with …`, `Ends with: …`; `it ends with …` says how it is."""
        said = self.said
        if said[at + 1 :] == ["with"] and self._before[-1].rstrip("*_|").endswith(":"):
            return STRONG
        near = said[max(at - _NEAR, 0) : at]
        if not words.SEES_TO_IT.isdisjoint(near) or " see to " in f" {' '.join(near)} ":
            return STRONG
        before = said[at - 1] if at else "it"
        return PLAIN if before in words.CLOSED or before.endswith(".md") else NONE

    def _is_forbidden(self, at: int) -> bool:
        """`Do not end …`, `without ending …`; a no before a comma is another clause's."""
        said = self.said
        near = said[max(at - 2, 0) : at]
        if not words.NOT_TO_CLOSE.isdisjoint(near[-1:]) or near == ["instead", "of"]:
            return True
        while at:
            at -= 1
            if said[at] in words.FORBIDS | {"nor", "no", "without"}:
                return words.YET.isdisjoint(said[at:])
            is_end = self._before[at].endswith((",", ";", ":"))
            if is_end and said[max(at - 1, 0) : at] not in (["not"], ["never"]):
                return False
        return False

    def _opens(self, at: int) -> bool:
        """Whether a clause may begin here; hurried people put no full stop behind a path."""
        if not at:
            return True
        before, word = self._before[at - 1], self.said[at - 1]
        is_tag = before[0] == "<" and before[-1] == ">"
        return not word or is_tag or before.endswith(_ENDS) or word.endswith(".md")

    def _by_line(self) -> int:
        """`The last line must be …`, `its last line is …`, `last line …`; `Sentinel: …`."""
        at, is_line = self._named()
        begin = at
        while begin > 0 and self.said[begin - 1] in words.OWNERS | {""}:
            begin -= 1
        is_free = at >= 0 and (self._opens(begin) or self._before[begin].startswith("("))
        if at < 0 or not (is_free or self.said[begin - 1] in words.BEFORE_THE_LINE):
            return NONE
        if not words.MUST_CLOSE.isdisjoint(self.said[begin:]):
            return STRONG
        if not words.IS.isdisjoint(self.said[at:]):
            return PLAIN
        if begin:
            return STRONG
        return LABEL if is_line or _is_at_the_end(self.behind[:_NEAR]) else NAMED

    def _named(self) -> tuple[int, bool]:
        """Where the line is named, and whether as one that is last; -1 where it is not."""
        said, at = self.said, len(self.said)
        while at and not _is_last_line(said, at) and self._may_name(at - 1):
            at -= 1
        if _is_last_line(said, at):
            return at - 2, True
        return next((at for at in range(at, len(said)) if said[at] in words.MARKS), -1), False

    def _may_name(self, at: int) -> bool:
        """`of your notes`: any noun behind an article or a pronoun."""
        said = self.said
        is_noun = at > 1 and said[at - 1] in words.OWNERS and said[at - 2] in {"of", "in"}
        is_noun = is_noun and words.IN_A_REPLY.isdisjoint(said[at : at + 1])
        return said[at] in words.NAMING | {""} or (is_noun and not self._opens(at + 1))

    def _by_place(self) -> int:
        """`… must be the last line`, `write … on its last line`, `with … as the last line`."""
        said, behind = self.said, self.behind[:_NEAR]
        if not words.IN_A_REPLY.isdisjoint(behind):
            return NONE
        is_subject = words.NAMING.issuperset(filter(None, said))
        if is_subject and behind[:1] and behind[0] in words.MUST_CLOSE | words.GOES:
            return STRONG if _is_at_the_end(behind) and words.NEVER.isdisjoint(behind) else NONE
        if self._is_put_at_the_end(behind):
            return STRONG
        is_with = said[-1:] in ([], ["with"], ["plus"]) or self._before[-1].endswith((",", "("))
        return PLAIN if is_with and _is_at_the_end(behind) else NONE

    def _is_put_at_the_end(self, behind: Sequence[str]) -> bool:
        said, at = self.said, _last(self.said, words.WRITES | words.PLACES)
        is_near = at >= 0 and len(said) - at <= _CLOSE and words.REPLIES.isdisjoint(said[at:])
        if not is_near or self._is_forbidden(at):
            return False
        is_order = self._opens(at) or said[at - 1] in words.BEFORE_CLOSING
        return _is_at_the_end(said[:at]) or (is_order and _is_at_the_end(behind))


def bare(word: str) -> str:
    """The word without the marks around it."""
    return word.strip(_EDGES)


def _last(said: Sequence[str], known: frozenset[str]) -> int:
    return max((at for at, word in enumerate(said) if word in known), default=-1)


def _is_last_line(said: Sequence[str], end: int) -> bool:
    return end > 1 and said[end - 1] == "line" and said[end - 2] in words.LAST


def _is_at_the_end(said: Sequence[str]) -> bool:
    return not words.AT_THE_END.isdisjoint(said)
