"""What an edited face means: pure rules over records.

Disk wins, but only as far as someone said something. A record that is missing was not
deleted: an old copy, a branch or an editor opened an hour ago lacks it just as well. Words
that were recorded before are never recorded twice, whatever id they stand under.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from standfast.journal.author import Author


class Record(NamedTuple):
    """One entry of a face: its id, if it has one, and its words."""

    key: str | None
    value: str
    line: int
    is_foreign: bool = False  # it stands among what the repository says
    by: Author | None = None  # who wrote it, where that was judged


class Known(NamedTuple):
    """What the journal holds: the present words of every id, and all words there ever were."""

    present: Mapping[str, str]
    ever: frozenset[str]


class Changes(NamedTuple):
    """What a file says that the journal does not."""

    added: tuple[Record, ...] = ()
    amended: tuple[Record, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.amended)


def by_hand(base: Iterable[Record], theirs: Iterable[Record], ours: Known) -> Changes:
    """A person's edit of what was last published: three ways, nobody's words lost.

    A record that they changed and we did not is amended. One that both changed, or that stands
    there twice, keeps our words, and theirs become a record of their own. Words of before are
    an old copy, not an amendment.
    """
    theirs = tuple(theirs)
    published = {record.key: record.value for record in base}
    times = Counter(record.key for record in theirs)
    added: list[Record] = []
    amended: list[Record] = []
    for record in theirs:
        before = published.get(record.key) if record.key is not None else None
        if record.value in ours.ever or record.value == before:
            continue
        unchanged_by_us = before is not None and ours.present.get(record.key or "") == before
        if unchanged_by_us and times[record.key] == 1:
            amended.append(record)
        else:
            added.append(record)
    return Changes(added=_distinct(added), amended=tuple(amended))


def through_git(theirs: Iterable[Record], ours: Known) -> Changes:
    """A version that git brought: only additions count, and an id taken twice gets a new one."""
    return Changes(added=_distinct([record for record in theirs if record.value not in ours.ever]))


def _distinct(records: Iterable[Record]) -> tuple[Record, ...]:
    return tuple({record.value: record for record in reversed(list(records))}.values())[::-1]
