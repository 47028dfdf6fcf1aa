"""Files that a session had agents launched for, and of which there is no receipt yet.

Hook path.
"""

from __future__ import annotations

from standfast import clock

TYPE_CHECKING = False
if TYPE_CHECKING:
    from standfast.brief.brief_sections import Lines, Section
    from standfast.brief.facts import Ask, Facts
    from standfast.brief.voice import Voice

    Output = tuple[
        str, int, int
    ]  # the file below the checkout, launches so far, the last one's time

_OPEN = """
    SELECT launched.value ->> 'path', CAST(launched.value ->> 'times' AS INTEGER), launched.at
    FROM cells AS launched JOIN events ON events.seq = launched.seq
    WHERE launched.key >= 'output.launched:' AND launched.key < 'output.launched;'
      AND events.session = ? AND NOT EXISTS (SELECT 1 FROM cells AS got
        WHERE got.key IN (
          'output.received:' || substr(launched.key, 17),
          'output.accepted:' || substr(launched.key, 17)))
    ORDER BY launched.seq DESC LIMIT ?"""


def gather(ask: Ask, root: str, session: str, *, most: int) -> list[Output]:
    """Those of one session, the newest first."""
    return [
        (str(path).removeprefix(f"{root}/"), int(str(times)), int(str(at)))
        for path, times, at in ask(_OPEN, (session, most))
    ]


def section(facts: Facts, voice: Voice) -> Section:
    """Whoever launches a second agent for a file has the first one's work written over."""
    lines: Lines = [
        (rank + 2, f"- {voice.quote(path)}, launch {times} at {clock.local_clock(at)}")
        for rank, (path, times, at) in enumerate(facts.open_outputs[: voice.size.items])
    ]
    title = "OUTPUTS launched, no receipt yet: look before you launch again"
    return title, lines, len(facts.open_outputs)
