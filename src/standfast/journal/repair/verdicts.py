"""Which claims are believed: pure rules over hashes.

The hash of an event covers the one before it in its stream, so what follows from the chain is
proved. After a missing event the next one of its stream can follow from nothing that is left:
it is believed if a checksum of its own speaks for it, and *sealed*, so that it cannot be
changed later. A claim that the chain contradicts is never believed.

Where database and mirror both prove another event for one number, the journal was put back and
written on, or the mirror is another journal's. The database is the truth and the mirror its
copy: from that fork on, lines that do not follow from the database are *forked*, and named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from standfast.journal import chain

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from standfast.journal.repair.evidence import Claim, Claims
    from standfast.journal.tables.folds import Row

Range = tuple[int, int]


class Start(NamedTuple):
    """Where a journal begins: the last event that is not in it any more, and each chain's end."""

    last: int = 0
    heads: Mapping[str, bytes] = {}
    fork: int | None = None  # from where on the mirror is known to be of another journal


FROM_THE_START = Start()


class Fork(NamedTuple):
    """Events that stand only in a file of the mirror, and are none of this journal's."""

    first: int
    last: int
    file: str


class Chosen(NamedTuple):
    """What is believed, and what is known to be lost."""

    events: int
    last: int  # the highest number that was ever given out, as far as anything tells
    heads: dict[str, bytes]
    missing: list[Range]
    sealed: list[tuple[int, str]]
    forked: list[Fork]


def choose(claims: Claims, take: Callable[[Row], bool], base: Start = FROM_THE_START) -> Chosen:
    """Offer *take* what is to be believed, in order; it may refuse what fits nowhere."""
    choice = _Choice(base)
    for seq in sorted(claims.by_seq):
        if seq > base.last:
            choice.consider(seq, claims.by_seq[seq], take)
    choice.end(max(claims.known, claims.end or 0, choice.numbered(claims)))
    return Chosen(
        *(choice.events, choice.last, choice.heads),
        *(choice.missing, choice.sealed, choice.forked),
    )


def seal(row: Row) -> str:
    """What an event says, whatever came before it."""
    seq, at, _, run, session, actor, subdir, kind, origin, payload, _ = row
    return chain.link(
        chain.START, seq, at, run, session, actor, subdir, kind, origin, payload
    ).hex()


def follows(row: Row, before: bytes) -> bool:
    """Whether an event's hash is the one that its contents have after *before*."""
    seq, at, _, run, session, actor, subdir, kind, origin, payload, link = row
    return link == chain.link(before, seq, at, run, session, actor, subdir, kind, origin, payload)


class _Choice:
    """How far the choice has come."""

    def __init__(self, base: Start) -> None:
        self.base = base
        self.events = 0
        self.last = base.last
        self.considered = base.last
        self.unknown = 0  # the newest number of which no trustworthy word is left
        self.heads = dict(base.heads)
        self.seen: dict[str, int] = {}
        self.disbelieved: dict[str, list[bytes]] = {}
        self.missing: list[Range] = []
        self.sealed: list[tuple[int, str]] = []
        self.fork = base.fork  # the first number that database and mirror tell differently
        self.forked: list[Fork] = []
        self.foreign: set[int] = set()  # numbers of which only a fork tells

    def consider(self, seq: int, claims: list[Claim], take: Callable[[Row], bool]) -> None:
        """Believe one of the claims for this number, or none."""
        claims = self._ours(seq, claims)
        if not claims:
            self.foreign.add(seq)
            return
        if seq > self.considered + 1:
            self.unknown = seq - 1
        self.considered = seq
        proved = [claim for claim in claims if self._is_proved(claim.row)]
        proved.sort(key=lambda claim: not claim.mirrored)
        for claim in proved or claims:
            likely = bool(proved) or (self._may_follow(claim.row) and claim.is_likely)
            if likely and take(claim.row):
                self._believe(claim.row)
                return
        self._disbelieve(seq, claims)

    def _ours(self, seq: int, claims: list[Claim]) -> list[Claim]:
        """The claims without those of another history, which are set apart."""
        lines = [claim for claim in claims if claim.is_only_mirrored]
        if self.fork is None and lines and any(claim.is_sound for claim in claims):
            sound = [claim for claim in claims if claim.is_sound and self._is_proved(claim.row)]
            if sound and any(self._is_proved(claim.row) for claim in lines):
                self.fork = seq
        if self.fork is None:
            return claims
        others = [claim for claim in lines if not self._is_since(self.fork, claim.row)]
        for claim in others:
            self._set_apart(seq, claim.file)
        return [claim for claim in claims if claim not in others]

    def _is_since(self, fork: int, row: Row) -> bool:
        """Whether an event follows from one that the database has had since the fork."""
        stream = row[2]
        return self.seen.get(stream, 0) >= fork and follows(row, self.heads[stream])

    def _set_apart(self, seq: int, file: str) -> None:
        before = self.forked[-1] if self.forked else None
        if before is not None and before.file == file and before.last >= seq - 1:
            self.forked[-1] = before._replace(last=seq)
        else:
            self.forked.append(Fork(seq, seq, file))

    def numbered(self, claims: Claims) -> int:
        """Events that nobody believes were still recorded, if they follow without a gap."""
        last = self.last
        while last + 1 in claims.by_seq and last + 1 not in self.foreign:
            last += 1
        return last

    def _disbelieve(self, seq: int, claims: list[Claim]) -> None:
        """Its words are not to be had; but its hash may be right, and then ties the next."""
        for claim in claims:
            self.disbelieved.setdefault(claim.row[2], []).append(claim.row[10])
        if not any(claim.is_likely for claim in claims):
            self.unknown = seq

    def _is_proved(self, row: Row) -> bool:
        stream = row[2]
        before = [self.heads.get(stream, chain.START), *self.disbelieved.get(stream, ())]
        return any(follows(row, hash_before) for hash_before in before)

    def _may_follow(self, row: Row) -> bool:
        """Whether something of this stream may be missing before it of which nothing is known."""
        return self.unknown > self.seen.get(row[2], self.base.last)

    def _believe(self, row: Row) -> None:
        seq, stream = row[0], row[2]
        if seq > self.last + 1:
            self._miss(self.last + 1, seq - 1)
        if not follows(row, self.heads.get(stream, chain.START)):
            self.sealed.append((seq, seal(row)))
        self.events += 1
        self.last = seq
        self.heads[stream], self.seen[stream] = row[10], seq
        self.disbelieved.pop(stream, None)

    def end(self, known: int) -> None:
        """Nothing more is told of: what is known to have come after is missing."""
        if known > self.last:
            self._miss(self.last + 1, known)
            self.last = known

    def _miss(self, first: int, last: int) -> None:
        self.missing.append((first, last))
