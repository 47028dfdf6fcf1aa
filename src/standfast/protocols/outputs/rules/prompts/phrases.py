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

# WORK is ordered, and nobody knows what for: an order of its closing line tells.
NO, WORK, PERHAPS, LABELLED, SURELY = range(5)
VERDICTS = (WORK, PERHAPS, LABELLED, SURELY)
_FAR = 60  # words: no sentence that a person follows is longer
_NEAR = 6


def judge(line: Sequence[Token], at: int, before: Sequence[int]) -> int:
    """Whether the path at *at* is the agent's own output; *before* holds the earlier verdicts."""
    start = at
    while start and not line[start - 1].ends and at - start < _FAR:
        start -= 1
    phrase, behind = line[start:at], _rest(line, at)
    if conditions.is_doubtful(line[at], phrase, behind):
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
        return WORK if len(phrase) == len(label) == 1 and parts <= words.FILES else None
    if is_within and _is_somebodys(phrase):
        return NO
    near = {each.word for each in behind[:_NEAR]}
    if not words.NOT_OURS.isdisjoint(parts | near) or not words.NEVER.isdisjoint(parts):
        return NO
    is_ours = not (words.ALONE if len(label) == 1 else words.OURS).isdisjoint(parts)
    is_ours = is_ours and parts <= words.LABELS
    if "of" in label and "your" not in label:
        return NO
    is_file = parts <= words.LABELS and not words.FILES.isdisjoint(parts)
    return LABELLED if is_ours else WORK if is_file else NO


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
    aside = at
    while aside > 0 and not (phrase[aside].opens or phrase[aside].path):
        aside -= 1
    at = aside - 1 if aside > 0 and phrase[aside].opens else at  # `a.md (your findings) and`
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
    return SURELY if in_session or is_told else WORK


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
    if {"what", "you"} <= set(about):  # `what you find`
        about.remove("what")
    about = about[:-2] if about[-2:] == ["to", "disk"] else about
    goes_on = behind and not phrase[link].ends and behind[0].word in words.FOR_ELSEWHERE
    goes_on = goes_on and [each.word for each in behind[:2]] != ["as", "you"]
    if at < 0 or phrase[at].word in words.SAYS or goes_on:
        return False
    known = words.THERE | (words.THOSE if phrase[at].word in words.WRITES_ANEW else words.THERE)
    return known.isdisjoint(about)


def _by_verb(phrase: Sequence[Token], last: int, link: int, *, has_colon: bool = False) -> int:
    """By the nearest verb before the link, unless another path has words of its own between."""
    at, passed, is_half = last, link, False
    while at >= 0 and not _is_verb(phrase, at):
        if phrase[at].path:
            between = {each.word for each in phrase[at + 1 : passed]} - {""}
            is_half = is_half or not between <= words.BETWEEN
            passed = at
        elif _is_another_verb(phrase, at):
            return NO
        at -= 1
    if at < 0 or not clauses.is_ours(phrase, at, link):
        return NO
    about = _object(phrase[(passed if passed < link else at) + 1 : link])
    verdict = _by_object(phrase[at].word, about, has_colon=has_colon)
    if is_half and verdict:
        return NO if phrase[at].word in words.GOES else WORK
    return verdict


def _is_another_verb(phrase: Sequence[Token], at: int) -> bool:
    """`the open questions` has none."""
    word, before = phrase[at].word, phrase[at - 1].word if at else ""
    is_noun = before in words.ARTICLES and word in words.ALSO_NOUNS
    return (word in words.OTHER_VERBS and not is_noun) or word in words.BE_WRITTEN


def _is_verb(phrase: Sequence[Token], at: int) -> bool:
    """Whether the word writes: `the report` is none, `was written` is over."""
    word, before = phrase[at].word, phrase[at - 1].word if at else ""
    if word in words.TURNS:
        return _begins(phrase, at)
    if word in words.WRITES | words.GOES | words.PUTS:
        is_noun = word in words.OUTPUTS | words.NOUNS and not _begins(phrase, at)
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


def _object(phrase: Sequence[Token]) -> set[str]:
    """What is written, without what it is for: `the prompts for the review stage`."""
    said, is_for = set(), False
    for at, each in enumerate(phrase):
        is_for = is_for or (at > 0 and each.word == "for")
        if not is_for:
            said.add(each.word)
        is_for = is_for and not each.comma
    return said


def _by_object(verb: str, about: set[str], *, has_colon: bool) -> int:
    """By what is to be written: findings, or some work of which nobody knows what it is for."""
    if "anything" in about and not about <= words.ALL | {"anything", "you", "find", "found"}:
        return NO  # `anything suspicious`: perhaps there is none
    if verb in words.GOES or verb in words.BE_WRITTEN or not words.OUTPUTS.isdisjoint(about):
        return SURELY
    work = WORK if has_colon or words.ASIDE.isdisjoint(about) else NO
    if verb in words.PUTS | words.TURNS:
        return work
    if has_colon:
        return SURELY
    is_all = verb == "overwrite" or not about or not words.ALL.isdisjoint(about)
    return PERHAPS if is_all else work
