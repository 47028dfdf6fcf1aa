"""The records that every contender stores: what an agent's tool call leaves behind."""

from __future__ import annotations

import json

SESSIONS = 50
DECISIONS = 20  # the first records of every store are decisions
DECIDED = "decision.noted"
DONE = "tool.done"


def session_of(number: int) -> str:
    """The session that a record belongs to: they take turns."""
    return f"s{number % SESSIONS:02d}"


def record(number: int) -> dict[str, object]:
    """One record, about 200 bytes of JSON; it carries its kind and session for those who filter."""
    if number < DECISIONS:
        return {
            "kind": DECIDED,
            "session": session_of(number),
            "text": f"{number}: retries are bounded, and the bound is a setting",
        }
    return {
        "kind": DONE,
        "session": session_of(number),
        "call": number,
        "tool": "Edit",
        "file": "src/shop/checkout/handlers.py",
        "summary": "replaced the endless retry by a bounded one, with its test",
        "ok": True,
        "ms": number % 997,
    }


def as_json(number: int) -> str:
    """The record as one line of compact JSON."""
    return json.dumps(record(number), separators=(",", ":"))
