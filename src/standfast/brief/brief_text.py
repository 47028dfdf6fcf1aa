"""Decide: facts become a bounded text for a model, ranked, in a fixed order. Pure.

The same facts give the same bytes. `brief_sections` says what is told, `voice` how. Hook path.
"""

from __future__ import annotations

from standfast.brief import brief_sections
from standfast.brief.voice import MORE, SHORT, Size, Voice, length, nonce

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from standfast.brief.brief_sections import Section
    from standfast.brief.facts import Facts

__all__ = ["MORE", "SHORT", "Size", "Voice", "length", "nonce", "render"]

_FOOT = "More: standfast brief --more"
_HEAD = 60


def render(facts: Facts, mark: str, size: Size, *, known: Sequence[str] = ()) -> str:
    """The brief; with *known* lines, which the model still sees, only what they do not say."""
    voice = Voice(mark, size)
    head, foot = brief_sections.head(facts, voice), [_FOOT] if size is SHORT else []
    room = size.characters - sum(length(line) + 1 for line in (*head, *foot))
    fitted = _fit([section(facts, voice) for section in brief_sections.SECTIONS], room)
    if known:
        return _addition(facts, mark, fitted, set(known))
    body = [line for title, lines in fitted for line in _titled(title, lines)]
    return "\n".join([*head, *body, *foot])


def _addition(facts: Facts, mark: str, fitted: list[tuple[str, list[str]]], known: set[str]) -> str:
    heads = {line[:_HEAD] for line in known if line.startswith(" ")}  # a prompt may be cut anew
    new = [
        line
        for title, lines in fitted
        for line in _titled(title, [x for x in lines if x not in known and x[:_HEAD] not in heads])
    ]
    said = brief_sections.freshness(facts) if new else "nothing was recorded since"
    return "\n".join([f"(standfast {mark} · adds to the brief above · {said})", *new])


def _titled(title: str, lines: list[str]) -> list[str]:
    return [title, *lines] if title and lines else lines


def _fit(told: Sequence[Section], room: int) -> list[tuple[str, list[str]]]:
    """As much as there is room for: the best ranked of every section first, in their order."""
    ranked = sorted(
        (rank, place, number)
        for place, (_, lines, _) in enumerate(told)
        for number, (rank, _) in enumerate(lines)
    )
    chosen: set[tuple[int, int]] = set()
    for _, place, number in ranked:
        title, lines, total = told[place]
        opens = title and not any(each == place for each, _ in chosen)
        cost = length(lines[number][1]) + 1
        cost += length(_more(title, total)) + 1 if opens else 0
        if cost <= room:
            room -= cost
            chosen.add((place, number))
    fitted = []
    for place, (title, lines, total) in enumerate(told):
        kept = [line for number, (_, line) in enumerate(lines) if (place, number) in chosen]
        fitted.append((_more(title, total - len(kept)), kept))
    return fitted


def _more(title: str, left_out: int) -> str:
    """A title that says how much of its section found no room."""
    return f"{title}, {left_out} more not shown" if left_out > 0 else title
