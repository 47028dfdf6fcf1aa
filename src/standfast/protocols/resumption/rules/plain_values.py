"""What a person reads in a value that was written in a hurry: a number, a share, a status. Pure.

Each says None where a person could not tell either: who asks decides what follows, and says so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from standfast.formats import stated_times
from standfast.protocols.resumption.rules.staleness import seconds
from standfast.text import printable

_STATUSES: Mapping[str, str] = {
    "ACTIVE": "ACTIVE IN_PROGRESS INPROGRESS RUNNING STARTED ONGOING EXECUTING WORKING RESUMED WIP",
    "PAUSED": "PAUSED ON_HOLD WAITING AWAITING BLOCKED SUSPENDED PENDING PLANNED NOT_STARTED"
    " QUEUED READY STOPPED IDLE PARKED INTERRUPTED HALTED",
    "COMPLETE": "COMPLETE COMPLETED DONE FINISHED CLOSED SUCCESS SUCCEEDED SUCCESSFUL PASSED PASS"
    " DELIVERED SHIPPED",
    "FAILED": "FAILED FAIL FAILURE ERROR ABORTED CRASHED REJECTED",
    "CANCELLED": "CANCELLED CANCELED ABANDONED DROPPED",
}
_STATUS = {word: status for status, words in _STATUSES.items() for word in words.split()}
NONE = {"none", "n/a", "na", "null", "nil", "unknown", "-", "--", "tbd", "nothing"}
_NONE_YET = re.compile(
    r"(?:none|nothing|not|n/a)(?: (?:yet|so far|recorded|known|found|open|left|for now|at all))+"
)
_GOES_ON = re.compile(r"_(?:ON|BY|FOR|UNTIL|TILL|SINCE|PENDING)_.*")  # why it does not go on
_YES = {"true", "yes", "y", "applied", "done", "1", "implemented", "acknowledged", "complete"}
_NO = {"false", "no", "n", "pending", "0", "not applied", "deferred", "open", "not yet", "none"}
_PHASE = re.compile(r"phase[\s_#:.-]{0,3}(\d{1,6})(?![\d])", re.IGNORECASE | re.ASCII)
_SHORT_PHASE = re.compile(r"\s*(?:P|Ph\.?)?[\s_#-]{0,2}(\d{1,6})(?!\d)", re.IGNORECASE | re.ASCII)
_NUMBER = re.compile(r"[~<>=\u2248\s]*(\d{1,9}(?:\.\d{1,9})?)\s*(%|/\s*(\d{1,4}))?", re.ASCII)
_PERCENT, _SURELY_PERCENT = 100, 10
_LONGEST = 2_000  # characters of a text in which a number is looked for
_EPOCH = (10**9, 4 * 10**9)  # seconds that are a time of these decades


class Phase(NamedTuple):
    """The number of a phase, and what else was said of it."""

    number: int | None
    name: str = ""


def spoken(value: object) -> str:
    """Anything as one line of prose."""
    if value is None:
        return ""
    if isinstance(value, Mapping):
        return "; ".join(f"{spoken(key)}: {spoken(each)}" for key, each in value.items())
    if isinstance(value, list):
        return "; ".join(map(spoken, value))
    if isinstance(value, bool):
        return "true" if value else "false"
    return printable(" ".join(str(value).split()))


def is_none(value: object) -> bool:
    """Whether it says that there is none: in YAML's word for it, or in another."""
    if not isinstance(value, str):
        return value is None
    words = value.strip().lower().rstrip(".!")
    return words in {"", *NONE} or _NONE_YET.fullmatch(words) is not None


def number(value: object) -> int | None:
    """A whole number from 0 on: as one, or as the text of one."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, (int, float)):
        return int(value) if value >= 0 and value % 1 == 0 else None
    found = _NUMBER.match(value) if isinstance(value, str) else None
    is_whole = found is not None and "." not in found[1] and found[2] != "%"
    return int(found[1]) if found and is_whole else None


def share(value: object, *, percent_from: float = 1) -> float | None:
    """A share of 1: `0.62`, `62%`, `62`, `4.6/5`. Below *percent_from* a bare number is none."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    found = _NUMBER.match(str(value)[:_LONGEST])
    if found is None or str(value).lstrip().startswith("-"):
        return None
    read, of = float(found[1]), float(found[3] or 0)
    if of:
        read /= of
    elif found[2] or percent_from < read <= _PERCENT:
        read /= _PERCENT
    return round(read, 6) if read <= 1 else None


def score(value: object) -> float | None:
    """A share too; but 4.6 may be of 5 or of 10, and is none."""
    return share(value, percent_from=_SURELY_PERCENT)


def flag(value: object) -> bool | None:
    """Whether it is so."""
    if isinstance(value, bool):
        return value
    text = spoken(value).lower().rstrip(".!")
    return True if text in _YES else False if text in _NO else None


def status(value: object) -> str | None:
    """The protocol's word for the state of a workflow: `COMPLETED - all gates` is COMPLETE."""
    text = re.sub(r"^[^A-Za-z]+", "", spoken(value)[:_LONGEST])
    head = re.split(r"\s-\s|\s\u2013|\s?\u2014|[(:,;./!]", text, maxsplit=1)[0]
    word = re.sub(r"[\s-]+", "_", head.strip()).upper()
    word = word.removeprefix("WORKFLOW_")
    told = _STATUS.get(_GOES_ON.sub("", word))
    return _STATUS.get(word) if told == "COMPLETE" else told


def phase(value: object) -> Phase:
    """The number and name of a phase: `Phase 3: review`, `phase-3`, `P3`, `3 of 5`."""
    if isinstance(value, Mapping):
        found = next((value[key] for key in ("id", "number", "phase") if key in value), None)
        named = spoken(value.get("name"))
        return Phase(phase(found).number, named or phase(found).name)
    if isinstance(value, list):
        every = [phase(each) for each in value]
        return max(every, key=lambda each: each.number or 0, default=Phase(None))
    if not isinstance(value, str):
        return Phase(number(value))
    text = spoken(value)[:_LONGEST]
    found = _PHASE.search(text) or _SHORT_PHASE.match(text)
    if found is None:
        return Phase(None, text)
    rest = re.sub(r"^\s*(?:of|/)\s*\d{1,6}|^\.\d+", "", text[found.end() :])
    name = rest.strip(" :._-\u2013\u2014()")
    return Phase(int(found[1]), name if len(name) > 1 else "")  # `2b` has no name


def time(value: object) -> str | None:
    """A time with whole seconds, in the protocol's form."""
    if isinstance(value, str) and seconds(value) is not None:
        return value
    if isinstance(value, int) and not isinstance(value, bool) and _EPOCH[0] < value < _EPOCH[1]:
        return stated_times.rfc3339(datetime.fromtimestamp(value, UTC))
    found = stated_times.first(value[:_LONGEST]) if isinstance(value, str) else None
    return None if found is None else stated_times.rfc3339(found.when)


def named(value: Mapping[str, Any], *names: str) -> Any:  # noqa: ANN401  # anything that YAML says
    """The first of these keys that says something."""
    return next((value[name] for name in names if value.get(name) not in (None, "", [], {})), None)
