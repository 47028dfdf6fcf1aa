"""Whether a prompt orders its agent to end a file in the sentinel. Hook path.

Only an order makes a file owed: `End your file with …`, `the last line must be …`, `Sentinel: …`.
Whoever only speaks of the line (skip it, see whether it is there, the file ends with it) orders
nothing, and neither does who wants it at the end of a reply.
"""

from __future__ import annotations

from standfast.protocols.outputs.rules.prompts.phrase_words import ARTICLES, NEVER, SPOKEN_OF, YET
from standfast.protocols.outputs.rules.whole_output import SENTINEL

NONE, WEAK, STRONG = 0, 1, 2  # weakly: a record of what is there may say the same
_MOST = 50  # times that one prompt names it
_FAR, _NEAR = 400, 9  # characters of a sentence; words between the verb and the line
_STOPS = (". ", "! ", "? ", "; ", ".) ", ".\n", "!\n", "?\n", "\n\n", "\n- ", "\n* ", "\n#")
_VERBS = frozenset({"end", "finish", "close", "terminate", "conclude", "add", "append", "put"})
_BEFORE_VERBS = frozenset({"and", "then", "must", "shall", "should", "please", "always", "finally"})
_MUST = frozenset({"must", "shall", "should", "be", "exactly", "to", "has", "needs", "read"})
_LAST = frozenset({"last", "final", "closing"})
_NAMES = frozenset({"sentinel", "marker"})
_SMALL = ARTICLES | {"exact", "exactly", "html", "comment", "string", "and", "with", "of", "file"}
_IN_A_REPLY = frozenset({"reply", "response", "answer", "message", "chat", "text"})
_MANNERS = frozenset({"pls", "please", "thx", "thanks"})
_EDGES = "`*,:;.\"'()[]_“”«»\u2039\u203a<>-\u2013—•→+"


def strongest(text: str) -> int:
    """How the lines that speak to the agent order it, if they do."""
    parts = text.replace("\u2019", "'").split(SENTINEL)[: _MOST + 1]
    return max(
        (
            _order(_last_sentence(parts[at]), _first_sentence(parts[at + 1]))
            for at in range(len(parts) - 1)
        ),
        default=NONE,
    )


def _last_sentence(text: str) -> list[str]:
    """A line that begins in lower case, or in the mark itself, goes on from the one before."""
    lines = text[-_FAR:].split("\n")
    at = len(lines) - 1
    while at and lines[at - 1].strip() and _goes_on(lines[at]):
        at -= 1
    near = " ".join(line.strip() for line in lines[at:]).lower()
    start = max(near.rfind(stop) + len(stop) if stop in near else 0 for stop in _STOPS)
    return near[start:].replace(">", "> ").split()


def _goes_on(line: str) -> bool:
    said = line.strip()
    return said.strip("`") == "" or (said[:1].islower() and not said.startswith(("- ", "* ")))


def _first_sentence(text: str) -> list[str]:
    near = text[:_FAR].lower()
    if near[:1] in {".", "!", ";"}:
        return []
    ends = [at for stop in _STOPS if (at := near.find(stop)) >= 0]
    asks = near.find("?")
    end = min(ends, default=len(near))
    return [_bare(each) for each in near[:end].split()] + (["whether"] if 0 <= asks <= end else [])


def _order(before: list[str], behind: list[str]) -> int:
    said = [_bare(each) for each in before]
    if not SPOKEN_OF.isdisjoint([*said, *behind]) or "by" in behind:
        return NONE
    if _is_told(before, said):
        return STRONG
    return _named(before, said)


def _is_told(before: list[str], said: list[str]) -> bool:
    """`End the file with …`, `the file must end with …`, `and finish with …`."""
    at = max((at for at, word in enumerate(said) if word in _VERBS), default=-1)
    if at < 0 or len(said) - at > _NEAR or not _IN_A_REPLY.isdisjoint(said[at:]):
        return False
    if not NEVER.isdisjoint(said[: at + 1]) and YET.isdisjoint(said[:at]):
        return False
    return _opens(before, said, at) or said[at - 1] in _BEFORE_VERBS or said[at - 1].isdigit()


def _opens(before: list[str], said: list[str], at: int) -> bool:
    """Whether a clause may begin here; hurried people put no full stop behind a path."""
    return (
        not at
        or not said[at - 1]
        or before[at - 1].endswith((",", ":", ".", ")", "|", "]"))
        or (before[at - 1][0] == "<" and before[at - 1][-1] == ">")
        or said[at - 1].endswith(".md")
    )


def _named(before: list[str], said: list[str]) -> int:
    """`The last line must be …`, `last line …`, `Ends with: …`; weakly, `Sentinel: …`."""
    if said[-2:] == ["ends", "with"] and before[-1].rstrip("*_").endswith(":"):
        return STRONG
    at = len(said)
    while at and (said[at - 1] in _MUST or said[at - 1] in _SMALL or not said[at - 1]):
        at -= 1
    if at and said[at - 1] == "line" and said[at - 2 : at - 1][:1] and said[at - 2] in _LAST:
        at -= 2
    elif at and said[at - 1] in _NAMES:
        at -= 1
    else:
        return NONE
    is_must = not _MUST.isdisjoint(said)
    while at and (said[at - 1] in _SMALL or not said[at - 1]):
        at -= 1
    is_free = _opens(before, said, at) or before[at].startswith("(")
    if not is_free and said[at - 1] not in _MANNERS:
        return NONE
    return STRONG if is_must or at else WEAK


def _bare(word: str) -> str:
    return word.strip(_EDGES)
