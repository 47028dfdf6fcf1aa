"""What an agent with a role is told beside its brief after a compaction: bounded, and fenced. Pure.

The five steps, where the documents are, and as much of the context file as there is room for.
The file is the agent's own, but it comes from a repository: it is quoted between «NONCE and
NONCE», with nonce and quotes taken out of it, so that nothing in it can end its quotation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast.brief.voice import SHORT, Voice, plain
from standfast.protocols.context.rules import recovery_steps
from standfast.redaction.redactor import redact
from standfast.text import printable

if TYPE_CHECKING:
    from collections.abc import Callable

    from standfast.protocols.context.files.role_files import Seen

LIMIT = 10_000  # UTF-16 units of everything that a hook prints: the client's own cap
_LOOKED = 64 * 1024
_LONGEST = 120
_TITLE = "THE CONTEXT (quoted from a file of the repository)"
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/")


def beside(brief: str, seen: Seen, state: str, mark: str, size: Callable[[str], int]) -> str:
    """The brief as it is, and after it as much of the role as fits; *size* measures the whole.

    What the brief says comes first and is never cut: if nothing fits beside it, it stands alone.
    """
    head = "\n".join([brief, *_head(seen, state, mark, recovery_steps.CHECKLIST[0])])
    text = _quotable(seen.text, mark)
    low, high = 0, min(len(text), LIMIT)
    while low < high:
        middle = (low + high + 1) // 2
        fits = size(_whole(head, text[:middle], text, seen, mark)) <= LIMIT
        low, high = (middle, high) if fits else (low, middle - 1)
    shown = _whole_lines(text[:low], text)
    if shown:
        return _whole(head, shown, text, seen, mark)
    alone = "\n".join([brief, *_head(seen, state, mark, _instead(seen))])
    return alone if size(alone) <= LIMIT else brief


def _instead(seen: Seen) -> str:
    """The first step where nothing of the context follows: it does not fit, or is not there."""
    is_there = seen.data is not None
    return recovery_steps.elsewhere(seen.file) if is_there else recovery_steps.nowhere(seen.role)


def _head(seen: Seen, state: str, mark: str, first: str) -> list[str]:
    document, missing = recovery_steps.document, seen.missing
    architecture = _path(seen.architecture, Voice(mark, SHORT))
    is_there = "" if seen.data is not None else f" {recovery_steps.NOT_FOUND}"
    return [
        f"ROLE {seen.role}, lifecycle {state}; its context: {seen.file}{is_there}",
        *recovery_steps.steps(first),
        document("SKILL.md", seen.skill, is_there=seen.skill not in missing),
        document("Architecture", architecture, is_there=seen.architecture not in missing),
        f"This makes you active again: standfast context recover {seen.role}",
    ]


def _path(path: str, voice: Voice) -> str:
    """A repository may name any document: one whose name is a sentence is quoted."""
    return path if _PLAIN.issuperset(path) and len(path) <= _LONGEST else voice.quote(path, 200)


def _quotable(text: str, mark: str) -> str:
    """The beginning of the file without secrets, as a quotation can hold it."""
    safe = printable(redact(text[:_LOOKED]), keep_newlines=True)
    return plain(safe).replace(mark, "····").rstrip()


def _whole(head: str, shown: str, text: str, seen: Seen, mark: str) -> str:
    is_cut = len(shown) < len(text) or len(seen.text) > _LOOKED
    rest = f"\nCut here; of {len(seen.text):,} characters. The rest is in {seen.file}"
    quoted = f"{_TITLE}\n«{mark}\n{shown}\n{mark}»"
    return f"{head}\n{quoted}{rest if is_cut else ''}"


def _whole_lines(shown: str, text: str) -> str:
    """Cut at the end of a line where that costs little."""
    line = shown.rfind("\n")
    return shown[:line] if len(shown) < len(text) and line > len(shown) // 2 else shown
