"""Where a lane is, seen from outside: after which event of its journal, after which effect.

A kill is planned for a place, and counted at the place where it struck. Between two journalled
events is a place of its own; the adaptive plan sees that every one of them is struck.
"""

from __future__ import annotations

import json
import os
import re
from itertools import groupby
from typing import Any, Protocol

import apsw

from harness.matrix.work import LANE
from standfast import clock
from standfast.errors.base import StandfastError
from standfast.journal import database

BEGIN = "(before the first)"
EFFECT = "effect.intended"  # after it an effect is about to run, or runs
_LINE = 3  # bytes of a line in the ledger: every name has two letters
_TOLD = ("key", "step", "state", "stage", "status", "verdict", "path")
_ATTEMPT = re.compile(r"(/\d+)?(#\d+)?$")
_LANE = f"lane/{'/'.join(LANE)}/"


class Places(Protocol):
    """Something that grows while a lane goes on."""

    passed: list[tuple[str, int]]  # each place, and since when the lane was there, in µs

    def now(self) -> str:
        """The latest of it."""


class LedgerPlaces:
    """After how many effects: what every arm has."""

    def __init__(self, ledger: str) -> None:
        self._ledger = ledger
        self.passed = [(after(0), clock.now_us())]

    def now(self) -> str:
        """So many lines are in the ledger."""
        for count in range(len(self.passed), os.path.getsize(self._ledger) // _LINE + 1):
            self.passed.append((after(count), clock.now_us()))
        return self.passed[-1][0]


def after(count: int) -> str:
    """The place after so many effects."""
    return f"after {count} effects"


class JournalPlaces:
    """After which event: what the Standfast arm has.

    Events of one transaction have one time, and nothing can strike between them.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._connection: apsw.Connection | None = None
        self._seq = 0
        self.passed = [(BEGIN, clock.now_us())]

    def now(self) -> str:
        """The latest transaction, as a label that is the same in every trial."""
        for at, rows in groupby(self._rows(), key=lambda row: row[1]):
            told = [label(kind, json.loads(payload)) for _, _, kind, payload in rows]
            self.passed.append((" + ".join(told), at))
        return self.passed[-1][0]

    def _rows(self) -> list[tuple[int, int, str, str]]:
        try:
            if self._connection is None:
                if not os.path.exists(self._path):
                    return []
                self._connection = database.connect(self._path, checkpoint=False)
            sql = "SELECT seq, at, kind, payload FROM events WHERE seq > ? ORDER BY seq"
            rows: list[tuple[Any, ...]] = self._connection.execute(sql, (self._seq,)).fetchall()
        except (apsw.Error, StandfastError):
            return []  # it is just being made
        told = [(int(seq), int(at), str(kind), str(what)) for seq, at, kind, what in rows]
        self._seq = told[-1][0] if told else self._seq
        return told


def label(kind: str, payload: dict[str, object]) -> str:
    """What an event is about, without what differs from trial to trial."""
    told = [_short(str(payload[name])) for name in _TOLD if payload.get(name) not in {None, ""}]
    return " ".join([kind, *told])


def _short(text: str) -> str:
    """A key without its attempts and without the lane that all have in common."""
    return _ATTEMPT.sub("", text).removeprefix(_LANE)
