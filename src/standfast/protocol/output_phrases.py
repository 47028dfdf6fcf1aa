"""Whether a sentence makes a path the file that its agent is to leave behind. Hook path.

What stands right before the path decides (to, as, a colon), then the verb that it belongs to,
then who is meant. Wherever a person would hesitate, it is not: an agent that is held for a file
that nobody asked it for has been stopped for nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from standfast.protocol.prompt_tokens import Token

NO, PERHAPS, SURELY = 0, 1, 2
_FAR = 60  # words: no sentence that a person follows is longer
_NEAR = 6


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_OUTPUTS = _words("""output outputs finding findings result results report analysis verdict review
    answer summary assessment research conclusion conclusions deliverable everything outputfile
    output_file output-file output_path outputpath""")
_NO_LABEL = _words("""format schema style spec template input inputs previous prior earlier last old
    existing example other others reference read source their his her""")
_WRITES = _words("""write overwrite save store persist put place output record emit dump deliver
    produce create submit export report leave generate writing saving storing persisting
    producing""")
_BE_WRITTEN = _words("written saved stored persisted placed recorded delivered produced put")
_WORKS = _words("create produce generate put place")  # what they make may be the work itself
_GOES = _words("go goes belong belongs")
_OTHER_VERBS = _words("""
    read reading reads reviewing see seeing check checking use using uses follow compare
    compares comparing consult load open look looking examine inspect cite refer refers
    summarise summarize extract edit editing update updating fix fixing modify add adding append
    appending rename renames move moves copy copies delete remove commit push writes wrote saves
    saved written stored persisted stores puts produces creates created outputs reports made was
    were
""")
_ARTICLES = _words("the a an your its this that one complete full final whole entire own")
_FILLERS = _words("""the a an this that exact exactly file files path absolute relative following
    output new markdown named called own your session's session also both at: .md""")
_AND, _OR = _words("and & plus + then"), _words("or")
_BETWEEN = _AND | _OUTPUTS | _FILLERS | _words("to into in as well its with risks notes")
_TO_NO_FILE = _words("""according similar compared compares comparable relative respect refer refers
    reference references related due next adhere link links linked apply applies conform addition
    response change changes edit edits update updates path pointer access close contrary prior
    corresponding equal up back closest go-to""")
_IN_NO_FILE = _words("found shown given seen is are such same like defined as")
_NEVER = _words("""not don't dont never avoid without instead nor cannot can't mustn't shouldn't
    won't no neither refrain refuse decline forbidden prohibited nobody before than""")
_YET = _words("forget fail until unless hesitate neglect just only skip")
_NOTHING = _words("nothing no not never none")
_DOUBTS = _words("""example e.g instance imagine optionally optional whether why asked who would
    suppose""")
_MAYBE = _words("may might could can feel")
_OTHERS = _words("""agent agents subagent subagents sub-agent sub-agents reviewer reviewers
    researcher researchers they lead orchestrator other others another i we he she it parent someone
    script pipeline hook user caller system validator test""")
_NOT_US = _words("other others another they i we he she all it lead orchestrator parent")
_MUST = _words("must shall should to will")
_YOU = _words("you your yourself")
_SURE = _words("sure ensure certain must")
_CONDITIONS = _words("if unless")
_OURS = _words("output outputs deliverable your write save")
_DASHES = frozenset({"-", "\u2013", "—"})
_AT_LAST = _words("finish finished done end stop return complete")


def judge(line: Sequence[Token], at: int, before: Sequence[int]) -> int:
    """Whether the path at *at* is the agent's own output; *before* holds the earlier verdicts."""
    start = at
    while start and not line[start - 1].ends and at - start < _FAR:
        start -= 1
    phrase, behind = line[start:at], _rest(line, at)
    if _is_asked(line[at], behind) or _is_doubtful([each.word for each in phrase]):
        return NO
    if _is_one_of_two(line[at], behind):
        return NO
    if _exists_at_last([each.word for each in behind]):
        return SURELY
    if not phrase:
        return NO
    has_label = phrase[-1].colon or phrase[-1].raw in _DASHES
    if has_label and (verdict := _by_label(phrase, behind)) is not None:
        return verdict
    return _by_link(phrase, before[start:])


def _rest(line: Sequence[Token], at: int) -> Sequence[Token]:
    end = at
    while end + 1 < len(line) and not line[end].ends and end - at < _FAR:
        end += 1
    return line[at + 1 : end + 1]


def _is_asked(path: Token, behind: Sequence[Token]) -> bool:
    return path.asks or bool(behind and behind[-1].asks)


def _is_one_of_two(path: Token, behind: Sequence[Token]) -> bool:
    """`a or b`, or only on a condition."""
    words = [each.word for each in behind[:3]]
    if not _CONDITIONS.isdisjoint(words[:1] if not path.comma else words[:2]):
        return True
    return words[:1] == ["or"] and any(each.path for each in behind[1:3])


def _is_doubtful(words: Sequence[str]) -> bool:
    """Examples and conditions: `even if` is none."""
    if not _DOUBTS.isdisjoint(words):
        return True
    return any(
        word == "if" and (not at or words[at - 1] != "even") for at, word in enumerate(words)
    )


def _exists_at_last(words: Sequence[str]) -> bool:
    return list(words[:2]) == ["must", "exist"] and not _AT_LAST.isdisjoint(words)


def _by_label(phrase: Sequence[Token], behind: Sequence[Token]) -> int | None:
    """A label such as `Output file:`; None where it is no label but a sentence."""
    label: list[str] = []
    for each in reversed(phrase[:-1]):
        if each.path or each.comma or each.colon:
            break
        label.insert(0, each.word)
    label = [word for word in (*label, phrase[-1].word) if any(map(str.isalnum, word))]
    parts = {part for word in label for part in word.replace("-", "_").split("_")}
    if not _TO.isdisjoint(label) or len(label) > _NEAR or _OUTPUTS.isdisjoint(parts):
        return None
    if not _NO_LABEL.isdisjoint(parts) or not _NO_LABEL.isdisjoint(each.word for each in behind):
        return NO
    is_ours = len(label) == 1 or not _OURS.isdisjoint(parts)
    return SURELY if is_ours and ("of" not in label or "your" in label) else NO


_TO = _words("to into in at as under")


def _by_link(phrase: Sequence[Token], before: Sequence[int]) -> int:
    """By the word that ties the path to its sentence."""
    at = len(phrase) - 1
    has_colon = phrase[at].colon
    while at >= 0 and phrase[at].word in _FILLERS:
        at -= 1
    if at < 0:
        return NO
    link = phrase[at]
    if link.path or link.word in _AND:
        return _by_list(phrase, at, before)
    if link.word in {"is", "be"}:
        return _by_name([each.word for each in phrase])
    if link.word in _WRITES:
        return _by_verb(phrase, at, at, has_colon=has_colon)
    if link.word in _TO and _is_way(phrase, at):
        return _by_verb(phrase, at - 1, at, has_colon=has_colon)
    return _by_verb(phrase, at, at + 1, has_colon=True) if has_colon else NO


def _by_list(phrase: Sequence[Token], at: int, before: Sequence[int]) -> int:
    """`a and b`: as the one before it."""
    while at >= 0 and phrase[at].word in _AND | _FILLERS and not phrase[at].path:
        at -= 1
    return before[at] if at >= 0 and phrase[at].path else NO


def _by_name(words: Sequence[str]) -> int:
    """`Your output file is …`."""
    is_ours = "your" in words and not _OUTPUTS.isdisjoint(words)
    return SURELY if is_ours and (_NO_LABEL | _NEVER).isdisjoint(words) else NO


def _is_way(phrase: Sequence[Token], at: int) -> bool:
    """Whether `to`, `in` or `as` leads to a file here: `according to` does not."""
    before = phrase[at - 1].word if at else ""
    if phrase[at].word in {"to", "into"}:
        return before not in _TO_NO_FILE
    if before in _BE_WRITTEN:
        return True
    return before not in _IN_NO_FILE and not before.endswith("ed")


def _by_verb(phrase: Sequence[Token], last: int, link: int, *, has_colon: bool) -> int:
    """By the nearest verb before the link: whether it writes, whose it is, and whether at all."""
    at, passed = last, link
    while at >= 0:
        word = phrase[at].word
        if phrase[at].path:
            if any(each.word and each.word not in _BETWEEN for each in phrase[at + 1 : passed]):
                return PERHAPS  # another thing to write
            passed = at
        elif _is_verb(phrase, at):
            break
        elif word in _OTHER_VERBS or word in _BE_WRITTEN:
            return NO
        at -= 1
    if at < 0 or not _is_meant(phrase, at, link):
        return NO
    verb = phrase[at].word
    about = {each.word for each in phrase[: link + 1]}
    if verb in _GOES:
        return NO if _OUTPUTS.isdisjoint(about) else SURELY
    if not _OUTPUTS.isdisjoint({each.word for each in phrase[passed if passed < link else at :]}):
        return SURELY
    return SURELY if has_colon and verb not in _WORKS else PERHAPS


def _is_verb(phrase: Sequence[Token], at: int) -> bool:
    """Whether the word writes: `the report` is none, `was written` is over."""
    word, before = phrase[at].word, phrase[at - 1].word if at else ""
    if word in _WRITES or word in _GOES:
        return before not in _ARTICLES and not phrase[at].colon
    if word not in _BE_WRITTEN:
        return False
    is_asked = before in {"is", "are"} and not _SURE.isdisjoint(each.word for each in phrase[:at])
    return before in {"be", "being"} or is_asked


def _is_meant(phrase: Sequence[Token], at: int, link: int) -> bool:
    """Whether the verb is said to the agent, without a no."""
    if not _NOTHING.isdisjoint(each.word for each in phrase[at + 1 : link]):
        return False
    clause: list[str] = []
    for each in reversed(phrase[:at]):
        if each.comma or each.colon or each.path:
            break
        clause.insert(0, each.word)
    return not _is_negated(clause) and not _is_others(clause)


def _is_negated(clause: Sequence[str]) -> bool:
    near: list[str] = []
    for word in reversed(clause[-_NEAR:]):
        if word in _WRITES | _OTHER_VERBS and near:
            return False  # the no is another verb's
        if word in _NEVER:
            return _YET.isdisjoint(near)
        near.append(word)
    return False


def _is_others(clause: Sequence[str]) -> bool:
    """Whether somebody else writes, or nobody must."""
    own = clause
    for at in range(len(clause) - 1, -1, -1):
        if clause[at] in _AND:
            own = clause[at + 1 :]
            break
    if not _MAYBE.isdisjoint(own):
        return True
    if _OTHERS.isdisjoint(own) or not _YOU.isdisjoint(own):
        return False
    return own[-1] not in _MUST or not _NOT_US.isdisjoint(own)
