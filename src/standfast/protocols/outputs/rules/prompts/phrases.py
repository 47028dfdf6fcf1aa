"""Whether a sentence makes a path the file that its agent is to leave behind. Hook path.

What stands right before the path decides (to, as, a colon), then the verb that it belongs to and
what that verb is about, then whether it is an order (`clauses`). Wherever a person would
hesitate, it is not: an agent that is held for a file that nobody asked it for was stopped for
nothing.
"""

from __future__ import annotations

from standfast.protocols.outputs.rules.prompts import clauses, conditions
from standfast.protocols.outputs.rules.prompts import phrase_words as words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from standfast.protocols.outputs.rules.prompts.tokens import Token

NO, PERHAPS, LABELLED, SURELY = 0, 1, 2, 3
VERDICTS = (PERHAPS, LABELLED, SURELY)
_FAR = 60  # words: no sentence that a person follows is longer
_NEAR = 6


def judge(line: Sequence[Token], at: int, before: Sequence[int]) -> int:
    """Whether the path at *at* is the agent's own output; *before* holds the earlier verdicts."""
    start = at
    while start and not line[start - 1].ends and at - start < _FAR:
        start -= 1
    phrase, behind = line[start:at], _rest(line, at)
    if _is_doubtful(line[at], [each.word for each in phrase], behind):
        return NO
    if _exists_at_last([each.word for each in behind]):
        return SURELY
    if not phrase:
        return NO
    has_label = phrase[-1].colon or phrase[-1].raw in words.DASHES
    if has_label and (verdict := _by_label(phrase, behind)) is not None:
        return verdict
    return _by_link(phrase, behind, before[start:])


def _rest(line: Sequence[Token], at: int) -> Sequence[Token]:
    end = at
    while end + 1 < len(line) and not line[end].ends and end - at < _FAR:
        end += 1
    return line[at + 1 : end + 1]


def _is_doubtful(path: Token, said: Sequence[str], behind: Sequence[Token]) -> bool:
    """Questions, examples, conditions (`even if` is none), one of two, and what others will do."""
    near = [each.word for each in behind[:_NEAR]]
    return (
        path.asks
        or bool(behind and behind[-1].asks)
        or not words.DOUBTS.isdisjoint(said)
        or _has_condition(said)
        or near[:1] in ([word] for word in words.OLD)
        or conditions.depends_behind(behind)
        or _has_a_choice(behind)
        or "by" in near[:2]
    )


def _has_a_choice(behind: Sequence[Token]) -> bool:
    """`… or b.md`, `… and/or b.md`, `… / b.md`, `…, or if that is taken b.md`."""
    tie = {each.word for each in behind[:3]} - {"and"} if behind else set()
    first = behind[0].word if behind else ""
    is_tied = first in words.OR or (first == "and" and not words.OR.isdisjoint(tie))
    return is_tied and any(each.path for each in behind)


def _has_condition(said: Sequence[str]) -> bool:
    """`If …`, wherever it stands; not `even if …`."""
    return any(word == "if" and said[max(at - 1, 0)] != "even" for at, word in enumerate(said))


def _exists_at_last(behind: Sequence[str]) -> bool:
    """`x.md must exist when you finish`."""
    return list(behind[:2]) == ["must", "exist"] and not words.AT_LAST.isdisjoint(behind)


def _by_label(phrase: Sequence[Token], behind: Sequence[Token]) -> int | None:
    """A label such as `Output file:`; None where it is no label but a sentence."""
    label: list[str] = []
    is_within = False
    for each in reversed(phrase[:-1]):
        is_within = each.colon and not each.comma
        if each.path or each.comma or each.colon:
            break
        label.insert(0, each.word)
    label = [word for word in (*label, phrase[-1].word) if any(map(str.isalnum, word))]
    parts = {part for word in label for part in word.replace("-", "_").split("_")}
    if phrase[-1].opens and not {phrase[-1].word} <= words.LABELS:
        return NO  # `(template: x.md)` is an aside
    if not words.TO.isdisjoint(label) or len(label) > _NEAR or words.OUTPUTS.isdisjoint(parts):
        return None
    if is_within and _is_somebodys(phrase):
        return NO
    near = {each.word for each in behind[:_NEAR]}
    if not words.NOT_OURS.isdisjoint(parts | near) or not words.NEVER.isdisjoint(parts):
        return NO
    is_ours = not (words.ALONE if len(label) == 1 else words.OURS).isdisjoint(parts)
    is_ours = is_ours and parts <= words.LABELS
    return LABELLED if is_ours and ("of" not in label or "your" in label) else NO


def _is_somebodys(phrase: Sequence[Token]) -> bool:
    """`Previously: Output: …`."""
    return not words.THEIRS.isdisjoint(each.word for each in phrase)


def _by_link(phrase: Sequence[Token], behind: Sequence[Token], before: Sequence[int]) -> int:
    """By the word that ties the path to its sentence."""
    at = len(phrase) - 1
    has_colon = phrase[at].colon
    while at >= 0 and phrase[at].word in words.FILLERS:
        at -= 1
    if at < 0:
        return NO
    link = phrase[at]
    if link.path or link.word in words.AND:
        return _by_list(phrase, at, before)
    if link.word in words.WITHIN and not has_colon and not _is_put_there(phrase, at, behind):
        return NO
    if has_colon or (link.word in words.TO and _is_way(phrase, at)):
        return _by_verb(phrase, at - 1 if link.word in words.TO else at, at, has_colon=has_colon)
    return _by_noun(phrase, at, [each.word for each in behind])


def _by_noun(phrase: Sequence[Token], at: int, behind: Sequence[str]) -> int:
    """Without a link: `your output file is x.md`, `write your report x.md`, `create x.md with`."""
    word = phrase[at].word
    if word in {"is", "be"}:
        return _by_name([each.word for each in phrase])
    if word in words.MAKES:
        return _by_contents(phrase, at, behind)
    is_ours = word in words.OUTPUTS and at and phrase[at - 1].word == "your"
    return _by_verb(phrase, at - 1, at + 1) if is_ours else NO


def _by_list(phrase: Sequence[Token], at: int, before: Sequence[int]) -> int:
    """`a and b`: as the one before it."""
    while at >= 0 and phrase[at].word in words.AND | words.FILLERS and not phrase[at].path:
        at -= 1
    return before[at] if at >= 0 and phrase[at].path else NO


def _by_name(said: Sequence[str]) -> int:
    """`Your output file is …`."""
    is_ours = list(said[:1]) == ["your"] and not words.OUTPUTS.isdisjoint(said)
    return SURELY if is_ours and (words.NOT_OURS | words.NEVER).isdisjoint(said) else NO


def _by_contents(phrase: Sequence[Token], at: int, behind: Sequence[str]) -> int:
    """`Create x.md with …`, or in the session directory: what follows tells what it is."""
    if not (_is_verb(phrase, at) and clauses.is_ours(phrase, at, at)):
        return NO
    in_session = behind[:1] == ["in"] and "session" in behind[:4]
    is_told = behind[:1] == ["with"] and not words.OUTPUTS.isdisjoint(behind[:_NEAR])
    return SURELY if in_session or is_told else NO


def _is_way(phrase: Sequence[Token], at: int) -> bool:
    """Whether `to`, `in` or `as` leads to a file here: `according to` does not."""
    before = phrase[at - 1].word if at else ""
    if phrase[at].word in {"to", "into"}:
        return before not in words.TO_NO_FILE
    if before in words.BE_WRITTEN:
        return True
    return before not in words.IN_NO_FILE and not before.endswith("ed")


def _is_put_there(phrase: Sequence[Token], link: int, behind: Sequence[Token]) -> bool:
    """`Save your report in x.md`; what is `the findings in x.md` stands there already."""
    at = link - 1
    while at >= 0 and not _is_verb(phrase, at):
        at -= 1
    about = [each.word for each in phrase[at + 1 : link]]
    about = about[:-2] if about[-2:] == ["to", "disk"] else about
    goes_on = behind and not phrase[link].ends and behind[0].word in words.FOR_ELSEWHERE
    if at < 0 or phrase[at].word in words.SAYS or goes_on:
        return False
    known = words.THERE | (words.THOSE if phrase[at].word in words.WRITES_ANEW else words.THERE)
    return known.isdisjoint(about)


def _by_verb(phrase: Sequence[Token], last: int, link: int, *, has_colon: bool = False) -> int:
    """By the nearest verb before the link, unless another path has words of its own between."""
    at, passed = last, link
    while at >= 0 and not _is_verb(phrase, at):
        word = phrase[at].word
        if phrase[at].path:
            if any(
                each.word and each.word not in words.BETWEEN for each in phrase[at + 1 : passed]
            ):
                return NO
            passed = at
        elif word in words.OTHER_VERBS or word in words.BE_WRITTEN:
            return NO
        at -= 1
    if at < 0 or not clauses.is_ours(phrase, at, link):
        return NO
    about = {each.word for each in phrase[(passed if passed < link else at) + 1 : link]}
    return _by_object(phrase[at].word, about, has_colon=has_colon)


def _is_verb(phrase: Sequence[Token], at: int) -> bool:
    """Whether the word writes: `the report` is none, `was written` is over."""
    word, before = phrase[at].word, phrase[at - 1].word if at else ""
    if word in words.WRITES | words.GOES | words.PUTS:
        is_noun = word in words.OUTPUTS | {"record"} and not _begins(phrase, at)
        return not (is_noun or before in words.ARTICLES or phrase[at].colon)
    if word not in words.BE_WRITTEN:
        return False
    is_asked = {"sure", "ensure"} & {each.word for each in phrase[:at]}
    return before in {"be", "being"} or (before in {"is", "are"} and bool(is_asked))


def _begins(phrase: Sequence[Token], at: int) -> bool:
    """Whether a clause may begin here: what stands before `report` in `a short report` is none."""
    if not at:
        return True
    before = phrase[at - 1]
    is_end = before.comma or before.colon or bool(before.path)
    return is_end or before.word in words.AND | words.YOU | words.POLITE - {"the"} | {"to"}


def _by_object(verb: str, about: set[str], *, has_colon: bool) -> int:
    """By what is to be written: findings, or some work of which nobody knows what it is for."""
    if "anything" in about and not about <= words.ALL | {"anything", "you", "find", "found"}:
        return NO  # `anything suspicious`: perhaps there is none
    if verb in words.GOES or verb in words.BE_WRITTEN or not words.OUTPUTS.isdisjoint(about):
        return SURELY
    if verb in words.PUTS:
        return NO
    if has_colon:
        return SURELY
    return PERHAPS if verb == "overwrite" or not about or not words.ALL.isdisjoint(about) else NO
