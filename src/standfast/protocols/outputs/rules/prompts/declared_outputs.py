"""The files that a prompt tells its agent to leave behind, as the prompt names them. Hook path.

Only a prompt that orders the sentinel declares any. Our own paragraph is plain; everything else
is read as a person reads it (`prompt_lines`, `tokens`, `phrases`), and of several
ways to read it the one that holds nobody back.
"""

from __future__ import annotations

from standfast.protocols.outputs.rules import whole_output
from standfast.protocols.outputs.rules.prompts import (
    closing_clauses,
    phrases,
    prompt_lines,
    sentinel_orders,
)
from standfast.protocols.outputs.rules.prompts import phrase_words as words_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from standfast.protocols.outputs.rules.prompts.sentinel_orders import Order
    from standfast.protocols.outputs.rules.prompts.tokens import Token

    _Found = dict[int, dict[str, str]]

MOST = 200  # paths of one prompt that are judged
_WHOLE = 2 * 1024 * 1024  # characters of a prompt: more than any model is told at once
_LONGEST = 4096
_FAR = 2_000  # words of one line
_INSIDE = frozenset({"in", "inside", "into", "under", "within"})
_FOLDERS = frozenset({"folder", "directory", "dir", "location", "place"})
_ROOTS = frozenset({"root", "repo", "repository", "project", "current", "working", "top"})
_REPLIES = (
    *("in chat", "reply only", "only reply", "reply instead", "as your reply", "in your reply"),
    *("edit nothing", "write nothing", "change nothing", "answer here", "reply here", "answer in"),
    *("transcript", "reply yes", "yes or no", "yes/no"),
)
_RECORDS = ("status:", "reason:", "?", "tell me", "explain", "actual", "gate report")
_NEXT = 200  # characters between two labels of one file
_HEADS = ("from:", "subject:")  # of a mail that was pasted
_PARTS = frozenset(
    ("paragraph", "paragraphs", "line", "lines", "instruction", "instructions", "section", "part")
)
_WORDINGS = _PARTS | {"sentence", "sentences", "wording", "prompt", "phrase", "text", "order"}
_THESE = frozenset({"this", "these", "following", "below"})
_DROPS = frozenset({"ignore", "disregard", "skip", "forget", "follow", "apply", "applies", "mind"})
_NOT = frozenset({"not", "don't", "doesn't", "never", "ignore", "disregard", "skip"})
_SESSION = ("session dir", "session folder", "session_dir", "session-dir")


def declared(text: str) -> list[str]:
    """Every file once: absolute, below `~`, below some folder, or a bare name."""
    if whole_output.SENTINEL not in text or len(text) > _WHOLE:
        return []
    lines = list(prompt_lines.spoken(text))
    said = "".join(f"{each.said}\n" for each in lines)
    orders = sentinel_orders.orders(said)
    if not orders:
        return []
    ours = whole_output.paragraphs(said)
    if ours:
        return [each for each in ours if each.endswith(".md") and _is_path(each)]
    if _takes_back(said):
        return []
    found = _judged(said, [each.words for each in lines if each.words])
    return _owed(said, found, orders)


def _owed(text: str, found: _Found, orders: Sequence[Order]) -> list[str]:
    """What is to be written, as far as an order of the closing line is about it."""
    surest = max(each.strength for each in orders)
    told = found[phrases.SURELY] or _labelled(text, found[phrases.LABELLED], orders)
    if not told and len(found[phrases.PERHAPS]) == 1:
        told = found[phrases.PERHAPS]
    if surest == closing_clauses.PLAIN:
        return [path for path, raw in told.items() if any(each.is_of(raw) for each in orders)]
    work = {**found[phrases.PERHAPS], **found[phrases.WORK]}
    more = {path: raw for path, raw in work.items() if _is_closed(raw, orders, alone=not told)}
    return sorted({**told, **more}, key=lambda path: text.find({**told, **more}[path]))


def _labelled(text: str, found: dict[str, str], orders: Sequence[Order]) -> dict[str, str]:
    """Labels name what is there as well: only an order tells, or a label of the same kind."""
    if _wants_a_reply(text):
        return {}
    if any(each.strength == closing_clauses.STRONG for each in orders):
        return found
    labels = [each for each in orders if each.strength == closing_clauses.LABEL]
    is_record = any(each in text.lower() for each in _RECORDS)
    is_told = any(each.is_of(raw, far=_NEXT) for each in labels for raw in found.values())
    return found if is_told and not is_record else {}


def _is_closed(raw: str, orders: Sequence[Order], *, alone: bool) -> bool:
    """`Write x.md. It must end with …`: the closing line tells that it is the output."""
    return any(
        each.strength >= closing_clauses.LABEL
        and (each.about == sentinel_orders.ALL or (alone and each.about == sentinel_orders.IT))
        and each.is_of(raw, far=_LONGEST)
        for each in orders
    )


def _judged(text: str, lines: Sequence[Sequence[Token]]) -> _Found:
    """The paths that are meant, by how sure that is; and how each is named."""
    found: _Found = {each: {} for each in phrases.VERDICTS}
    seen = 0
    for line in lines:
        verdicts: list[int] = []
        for at, token in enumerate(line[:_FAR]):
            verdict = phrases.judge(line, at, verdicts) if token.path else phrases.NO
            verdicts.append(verdict)
            path = _whole(text, line, at) if verdict else ""
            if path and _is_path(path):
                found[verdict][path] = token.path
            seen += bool(token.path)
        if seen >= MOST:
            break
    return found


def _takes_back(text: str) -> bool:
    """`Ignore the two lines above`, `do not follow the paragraph below`; and a mail, pasted."""
    lines = text.lower().replace("\u2019", "'").replace(". ", "\n").replace("? ", "?\n").split("\n")
    if all(any(line.startswith(head) for line in lines) for head in _HEADS):
        return True
    for line in lines:
        said = {word.strip("*_()[].,:;!?") for word in line.split()}
        if line.endswith("?") and not any(map(said.isdisjoint, (_THESE, _WORDINGS))):
            return True  # `Is this sentence clear?`
        is_near = "above" in said or "below" in said
        if is_near and not any(each.isdisjoint(said) for each in (_PARTS, _DROPS, _NOT)):
            return True
    return False


def _wants_a_reply(text: str) -> bool:
    """Who is to answer in words alone was given a file to read, whatever its label says."""
    said = text.lower()
    return any(each in said for each in _REPLIES)


def _whole(text: str, line: Sequence[Token], at: int) -> str:
    """A bare name may have its folder behind it, or the prompt its session directory elsewhere."""
    path = line[at].path
    if "/" in path:
        return path
    while at + 2 < len(line) and line[at + 1].word in words_of.AND and line[at + 2].path:
        at += 2  # `a.md and b.md in docs/`
    words = line[at + 1 :]
    if line[at].ends or line[at].comma or not words or words[0].word not in _INSIDE:
        return _in_session(text, path)
    for each in words[1:]:
        folder = each.raw.strip("`\"'")
        if "/" in folder and not each.path:
            return f"{folder.rstrip('/')}/{path}" if _is_plain(folder) else ""
        if each.ends or each.word == "session":
            break
    told = {each.word for each in words[1:5]}
    if "session" in told:
        return _in_session(text, path)
    if not _ROOTS.isdisjoint(told):
        return f"./{path}"
    return path if _FOLDERS.isdisjoint(told) else ""


def _in_session(text: str, path: str) -> str:
    """Where the prompt says which directory is the session's, it is that one."""
    lower = text.lower()
    for name in _SESSION:
        at = lower.find(name)
        end = lower.find("\n", at)
        words = text[at : end if end > 0 else at + _LONGEST].split() if at >= 0 else ()
        for word in words:
            folder = word.strip("`\"'.,;:()*")
            if "/" in folder and not folder.endswith(".md"):
                if word.lstrip("`\"'(*").startswith((".", "~", "/")):
                    folder = word.strip("`\"',;:()*").rstrip(".")
                return f"{folder.rstrip('/')}/{path}" if _is_plain(folder) else path
    return path


def _is_path(path: str) -> bool:
    """Whether a system may know it."""
    return len(path) <= _LONGEST and path.isprintable()


def _is_plain(folder: str) -> bool:
    return not any(char in "{}<>[]$*?|\\…" for char in folder) and "://" not in folder
