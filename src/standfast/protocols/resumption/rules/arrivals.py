"""What a file's section says that ours does not, judged by values, unit by unit. Pure.

Nobody says whether a hand, a pull or a switch brought a value, and it makes no difference. A value
that we once had is an old copy. One that was made to a state of ours is an edit, if ours is still
as it was then. Of the rest the newer section wins, and the loser is kept: whoever knows both
sections decides the same. Logs lose nothing: they are united, see log_union.py.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, NamedTuple

from standfast.protocols.resumption.rules.hand_edits import adopt
from standfast.protocols.resumption.rules.log_union import Kept, Logs, unite
from standfast.protocols.resumption.rules.section_schema import SUB_SECTIONS
from standfast.protocols.resumption.rules.staleness import AHEAD_S, seconds

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from standfast.protocols.resumption.rules.section_schema import Section
    from standfast.protocols.resumption.rules.section_units import Path

STATE = "recovery_state"
QUALITY, DEFECTS = "quality_trajectory", "defect_summary"
WHOLE = ("files_to_read", QUALITY, DEFECTS)
UNITS = (STATE, *WHOLE)
_MADE = ("last_checkpoint", "updated_at")  # by us, whoever writes the state
_AHEAD = "is of a time that lies ahead of this machine's clock"
_OLDER = "is older than what stands here"
_NEWER = "was replaced by a newer one"
_SAID = "was replaced because a person said that the file is right"
_BOTH = "was edited here while it changed in the journal"
_REMEDY = "Say it again with `standfast resumption trigger`, if it still holds."
_CHECKPOINT = "names another checkpoint than the latest"


class Base(NamedTuple):
    """The first state of ours with the `updated_at` that a file has: what an edit is an edit of."""

    state: Mapping[str, Any]
    digests: Mapping[str, str]  # of the units
    counts: tuple[int, int, int]  # decisions, agents, compactions


class Past(NamedTuple):
    """What the journal remembers that matters for one file."""

    held: frozenset[str] = frozenset()  # units whose value in the file we had once
    came: frozenset[str] = frozenset()  # units of ours that a file brought, and nobody here said
    base: Base | None = None


class Arrival(NamedTuple):
    """Our section with what a file brought, and what became of the rest of it."""

    section: Section
    taken: tuple[Path, ...] = ()  # records that the file brought
    kept: tuple[Kept, ...] = ()  # what lost, theirs and ours
    old: tuple[str, ...] = ()  # units of the file that are old copies
    is_edit: bool = False  # somebody changed a state of ours: it gets a time of its own
    logs: Logs | None = None

    @property
    def is_old(self) -> bool:
        """Whether the file is nothing but an earlier state of ours."""
        return bool(self.old) and not (self.taken or self.kept)


def digest(value: object) -> str:
    """By which values are told apart, in every clone the same."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def digests(section: Section) -> dict[str, str]:
    """The units of a section; the checkpoint in its state is each journal's own."""
    state = {name: value for name, value in section[STATE].items() if name != "last_checkpoint"}
    return {STATE: digest(state), **{name: digest(section[name]) for name in WHOLE}}


def base_of(section: Section) -> Base:
    """What has to be remembered of a state, so that an edit of it can be told."""
    events = section["compaction_events"]["events"]
    counts = (len(section["decision_log"]), len(section["agent_summaries"]), len(events))
    return Base(section[STATE], digests(section), counts)


def stamp(now_s: int, last: object) -> int:
    """The second of a new state: never before the last, unless that one is not to be believed."""
    before = seconds(last)
    return now_s if before is None or before > now_s + AHEAD_S else max(now_s, before + 1)


def judge(ours: Section, theirs: Section, past: Past, now_s: int) -> Arrival:
    """What becomes of a section that was found in the file."""
    wins = _wins(ours, theirs, past, now_s)
    walk = _Walk(ours, theirs, past, wins)
    walk.state()
    for unit in WHOLE:
        walk.unit(unit)
    walk.own_keys()
    counts = None if past.base is None else past.base.counts
    logs = unite(ours, theirs, counts, theirs_first=wins == _WON)
    kept = (*walk.kept, *logs.kept)
    section = {**ours, **walk.new, **logs.section}
    taken = (*walk.taken, *logs.taken)
    return Arrival(section, taken, kept, tuple(walk.old), walk.is_edit, logs)


def rewound(ours: Section, theirs: Section) -> Arrival:
    """Their section, because a person says so, an old copy as well; no log loses anything by it."""
    now, found = digests(ours), digests(theirs)
    changed = [unit for unit in UNITS if now[unit] != found[unit]]
    new = {unit: theirs[unit] for unit in changed}
    if STATE in new:
        own = {"last_checkpoint": ours[STATE]["last_checkpoint"]}
        new[STATE] = {**_own(ours[STATE], theirs[STATE]), **theirs[STATE], **own}
    kept = tuple(Kept((unit,), ours[unit], _SAID, _REMEDY, is_ours=True) for unit in changed)
    taken = [path for unit in changed for path in _paths(unit, ours[unit], theirs[unit])]
    logs = unite(ours, theirs, None, theirs_first=True)
    own_keys = _own_keys(ours, theirs)
    taken += [(name,) for name in own_keys]
    section = {**ours, **new, **own_keys, **logs.section}
    return Arrival(section, (*taken, *logs.taken), kept, is_edit=True, logs=logs)


_WON, _LOST, _UNBELIEVED = "won", "lost", "ahead"


def _wins(ours: Section, theirs: Section, past: Past, now_s: int) -> str:
    """Which section is the newer one; a time that lies ahead is nobody's.

    One of our own times is believed: our clock may have been wrong when it was written.
    """
    theirs_at, ours_at = (seconds(each[STATE]["updated_at"]) or 0 for each in (theirs, ours))
    if theirs_at > now_s + AHEAD_S and past.base is None:
        return _UNBELIEVED
    if ours_at > now_s + AHEAD_S and past.base is None:
        return _WON
    if theirs_at != ours_at:
        return _WON if theirs_at > ours_at else _LOST
    return _WON if digests(theirs)[STATE] > digests(ours)[STATE] else _LOST


class _Walk:
    """One look at every unit that is overwritten as a whole."""

    def __init__(self, ours: Section, theirs: Section, past: Past, wins: str) -> None:
        self.ours, self.theirs, self.past, self.wins = ours, theirs, past, wins
        self.base = past.base
        self.now, self.found = digests(ours), digests(theirs)
        self.new: dict[str, Any] = {}
        self.taken: list[Path] = []
        self.kept: list[Kept] = []
        self.old: list[str] = []
        self.is_edit = False

    def state(self) -> None:
        """An edit is taken field by field; another state as a whole."""
        mine, other = self.ours[STATE], self.theirs[STATE]
        if self.base is not None:
            self._checkpoint(mine, other, self.base.state)
        if self.found[STATE] == self.now[STATE]:
            return
        if STATE in self.past.held:
            self.old.append(STATE)
        elif self.base is not None:
            self._edit_state(mine, other, self.base.state)
        elif self.wins == _WON:
            named = {"last_checkpoint": mine["last_checkpoint"] or other["last_checkpoint"]}
            self._take(STATE, {**_own(mine, other), **other, **named})
        else:
            self._keep((STATE,), other)

    def _checkpoint(self, mine: Section, other: Section, before: Mapping[str, Any]) -> None:
        said = other["last_checkpoint"]
        if said not in (mine["last_checkpoint"], before["last_checkpoint"]):
            self.kept.append(Kept((STATE, "last_checkpoint"), said, _CHECKPOINT, _REMEDY))

    def _edit_state(self, mine: Section, other: Section, before: Mapping[str, Any]) -> None:
        state = dict(mine)
        for field, said in other.items():
            if field in _MADE or said in (before.get(field), mine.get(field)):
                continue
            if mine.get(field) == before.get(field):
                state[field] = said
                self.taken.append((STATE, field))
            else:
                self.kept.append(Kept((STATE, field), said, _BOTH, _REMEDY))
        if state != mine:
            self.new[STATE], self.is_edit = state, True

    def unit(self, name: str) -> None:
        """One of those that have no time of their own."""
        value, mine = self.theirs[name], self.ours[name]
        if self.found[name] == self.now[name]:
            return
        if name in self.past.held and not self._came_back(name):
            self.old.append(name)
        elif self.base is not None and self.now[name] == self.base.digests[name]:
            self._edit(name, value)
        elif self._beats(name):
            self._take(name, value)
            self.kept.append(Kept((name,), mine, _NEWER, _REMEDY, is_ours=True))
        else:
            self._keep((name,), value)

    def own_keys(self) -> None:
        """Keys of the project's own have no rules, and none is taken away by being left out."""
        for name, value in _own_keys(self.ours, self.theirs).items():
            if name in self.ours and self.old:
                self.old.append(name)
            elif name not in self.ours or self.base is not None or self.wins == _WON:
                self.new[name] = value
                self.taken.append((name,))
                self.is_edit = self.is_edit or self.base is not None
            else:
                self._keep((name,), value)

    def _beats(self, name: str) -> bool:
        if self.base is None:
            return self.wins == _WON
        is_tie = self.theirs[STATE]["updated_at"] == self.ours[STATE]["updated_at"]
        return is_tie and self.found[name] > self.now[name]

    def _came_back(self, name: str) -> bool:
        """Whether a newer section means what we had before, and has not merely missed ours.

        A file brought ours, so a later one may take it away again. Both units that an iteration
        of a gate writes come together.
        """
        if self.base is not None or self.wins != _WON:
            return False
        return name in self.past.came or (name == DEFECTS and QUALITY in self.new)

    def _edit(self, name: str, value: object) -> None:
        allowed = adopt(self.ours, {**self.ours, name: value})
        for fault in allowed.left:
            self.kept.append(Kept((name,), value, fault.problem, fault.remedy))
        if not allowed.left:
            self.new[name], self.is_edit = value, True
            self.taken += _paths(name, self.ours[name], value)

    def _take(self, name: str, value: Any) -> None:  # noqa: ANN401  # a unit
        self.new[name] = value
        self.taken += _paths(name, self.ours[name], value)
        if name == STATE:
            self.kept.append(Kept((name,), self.ours[name], _NEWER, _REMEDY, is_ours=True))

    def _keep(self, path: Path, value: object) -> None:
        why = _AHEAD if self.wins == _UNBELIEVED else _OLDER
        self.kept.append(Kept(path, value, why if self.base is None else _BOTH, _REMEDY))


def _own_keys(ours: Section, theirs: Section) -> dict[str, Any]:
    """What else their section says, otherwise than ours does."""
    return {
        name: value
        for name, value in theirs.items()
        if name not in SUB_SECTIONS and (name not in ours or ours[name] != value)
    }


def _own(mine: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """What their state does not speak of stays: fields that not everybody writes."""
    return {name: value for name, value in mine.items() if name not in other}


def _paths(name: str, before: Any, after: Any) -> Iterator[Path]:  # noqa: ANN401  # units
    """The records of a unit that changed: an author is known for each."""
    if not isinstance(after, dict):
        yield (name,)
        return
    for field, value in after.items():
        if field not in before or before[field] != value:
            yield (name, field)
