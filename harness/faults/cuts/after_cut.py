"""What is there after a power cut, held against what had been told before it."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from harness.faults import perform, worlds
from harness.faults.cuts import busy
from harness.faults.look import look
from standfast.decisions import status_md
from standfast.journal import questions
from standfast.journal.tables import decision_records
from standfast.journal.verification import verify

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from harness.faults.world import World
    from standfast.journal.store import Journal

_WORD = re.compile(r"cut-\d+-\d+-\d+\b")
_FACTS = ("decision.noted", "tool.started")


class Told:
    """What the processes of one round said before the cut, and what they tried after that.

    Nobody says anything after a real power cut; here processes run on for an instant, and a
    filesystem that is being shut down may call a sync done that it has dropped (xfs does). So
    only what was heard before is a promise.
    """

    def __init__(self, before: bytes, after: bytes) -> None:
        early = before.decode().split("\n")[:-1]
        everything = (before + after).decode().split("\n")[:-1]
        self.acknowledged = sum(line.startswith("!") for line in early)
        self.promised = set(_words("!fact", early))
        self.tried = set(_words("?fact", everything))
        self.settings = _words("?settings", everything)
        self.kept_settings = _words("!settings", early)
        turned = [line for line in everything if line[1:] in {"off", "on"}]
        last = turned[-1] if turned else None
        # `off`, `on`, or None when it was being turned
        self.switch = last[1:] if last is not None and last[0] == "!" and last in early else None


def _words(kind: str, lines: list[str]) -> list[str]:
    return [line.removeprefix(kind + " ") for line in lines if line.startswith(kind + " ")]


class Kept(NamedTuple):
    """What a round leaves, and every later one must find again."""

    words: list[str]
    events: int
    last: str  # the hash of the last event
    settings: str


def judge(
    world: World, told: Told, kept: Kept | None, plant: Callable[[], None]
) -> tuple[list[str], Kept | None]:
    """Recover as a user would, then look: what is wrong, and what is there now."""
    answer = perform.apart(world, lambda: _judge(world, told, kept, plant))
    lines = answer.out.splitlines()
    if answer.status != 0:
        return [f"wedged status: {answer.status} {(answer.err or answer.out)[-300:]}"], None
    findings, now = json.loads(lines[-1])
    if needs := json.loads(lines[0])["needs_you"]:
        findings.append(f"wedged status needs somebody: {needs}")
    if answer.err:
        findings.append(f"wrong status complains: {answer.err[-300:]}")
    return findings, Kept(*now)


def _judge(world: World, told: Told, kept: Kept | None, plant: Callable[[], None]) -> int:
    plant()
    face, settings = _read(_face(world)), _read(_settings(world))
    is_off = os.path.exists(os.path.join(world.folder, "off"))
    whole = [*_whole_export(world), *_whole_settings(told, kept, settings)]
    if told.switch is not None and (told.switch == "off") != is_off:
        whole.append(f"lost the switch was turned {told.switch}")
    status = perform.call("status", "--json")
    if status != 0:
        return status
    journal = worlds.journal(world)
    findings = [*whole, *_whole_face(journal, told, face), *_facts(journal, told, kept)]
    findings += _goes_on(world, journal, is_off=is_off)
    now = _now(journal, settings)
    journal.close()
    print(json.dumps([findings, now]))
    return 0


def _face(world: World) -> str:
    return os.path.join(world.folder, status_md.FILE)


def _settings(world: World) -> str:
    return os.path.join(world.home, ".claude", "settings.json")


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def _whole_export(world: World) -> Iterator[str]:
    text = _read(os.path.join(world.root, "export.jsonl"))
    try:
        for line in text.splitlines():
            json.loads(line)
    except ValueError:
        yield "half export.jsonl holds a line that is none"
    if text and not text.endswith("\n"):
        yield "half export.jsonl ends within a line"


def _whole_settings(told: Told, kept: Kept | None, found: str) -> Iterator[str]:
    """One of the texts that were written, and none older than the last that was acknowledged."""
    before = [] if kept is None else [kept.settings]
    texts = before + [busy.SETTINGS.format(word=word) for word in told.settings]
    if kept is None and not told.settings:
        return
    if found not in texts:
        if kept is not None or found != worlds.SETTINGS:
            yield f"half settings.json: {found[:100]!r}"
    elif told.kept_settings:
        newest = busy.SETTINGS.format(word=told.kept_settings[-1])
        if texts.index(found) < texts.index(newest):
            yield "lost settings.json is older than what was acknowledged"


def _whole_face(journal: Journal, told: Told, found: str) -> Iterator[str]:
    """As it was rendered at some time: the journal is always ahead of it."""
    all_of_them = questions.decisions(journal)
    if any(decision.origin for decision in all_of_them[-len(told.tried) - 1 :]):
        return  # a person wrote into it, and people do not sync
    renders = {status_md.render(all_of_them[:end]).decode() for end in range(len(all_of_them) + 1)}
    if found not in renders:
        yield f"half status.md: {found[-100:]!r}"


def _facts(journal: Journal, told: Told, kept: Kept | None) -> Iterator[str]:
    seen = look(journal)
    times = Counter(
        word for kind, _, text in seen.events if kind in _FACTS for word in _WORD.findall(text)
    )
    if missing := sorted(word for word in told.promised if not times[word]):
        yield f"lost {len(missing)} that were acknowledged: {missing[:5]}"
    for word, often in times.items():
        if often > 1:
            yield f"wrong {word} is there {often} times"
    numbers = sorted(int(key.removeprefix("RD-")) for key in seen.decisions)
    if numbers != list(range(1, len(numbers) + 1)):
        yield f"wrong ids with gaps: {numbers}"
    if kept is None:
        texts = list(seen.decisions.values())
        if [text for text in worlds.DECISIONS if text not in texts]:
            yield "lost decisions of the base"
        return
    rows = journal.query("SELECT hash FROM events WHERE seq = ?", (kept.events,))
    if kept.events and (not rows or rows[0][0].hex() != kept.last):
        yield f"lost event {kept.events} is not as it was"
    if lost := [word for word in kept.words if not times[word]]:
        yield f"lost from earlier rounds: {lost[:5]}"


def _goes_on(world: World, journal: Journal, *, is_off: bool) -> Iterator[str]:
    if is_off and perform.call("on") != 0:
        yield "wedged the switch cannot be turned on"
    if _read(_face(world)) != status_md.render(questions.decisions(journal)).decode():
        yield "wrong status.md does not say what the journal says"
    with journal.writing() as tx:
        decision_records.note(tx, "and on it goes")
    yield from (f"wrong {problem}" for problem in verify(journal).problems)


def _now(journal: Journal, settings: str) -> Kept:
    seen = look(journal)
    ((last, link),) = journal.query("SELECT seq, hash FROM events ORDER BY seq DESC LIMIT 1")
    words = [w for kind, _, text in seen.events if kind in _FACTS for w in _WORD.findall(text)]
    return Kept(words, last, link.hex(), settings)
