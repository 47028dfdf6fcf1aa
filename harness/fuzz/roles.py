"""Targets for roles: a states file by anybody, and a context file as it is told to a model."""

from __future__ import annotations

import json
import os
from functools import cache

from harness.fuzz.target import Target, answered, folder, must
from standfast.brief import role_brief
from standfast.brief.voice import length
from standfast.journal.author import USER
from standfast.journal.store import Journal
from standfast.protocols.context.files import role_files, states_env
from standfast.protocols.context.records import lifecycle_records
from standfast.protocols.context.rules import lifecycle

_ROLE, _MARK, _NONCE = "oosh-expert", "0a1b2c3d", "K7QM"
_STATES = lifecycle.render(_ROLE, lifecycle.SAVED, journal=_MARK, event=42)


@cache
def _journal() -> Journal:
    """One that knows the role; made once."""
    journal = Journal(os.path.join(folder("states").path, "journal"))
    with journal.writing() as tx:
        lifecycle_records.begin(tx, _ROLE, "fuzz", USER)
    return journal


@answered
def _states(data: bytes) -> None:
    folder("states").put(states_env.relative(lifecycle.machine_name(_ROLE)), data)
    states_env.is_foreign(_journal(), lifecycle_records.every(_journal())[0], folder("states").path)
    (record,) = states_env.read(data, "a.states.env", role=_ROLE, journal=_MARK)
    must(record.value in lifecycle.MOVES, "a state that is none")
    head, *lines = data.decode().replace("\r\n", "\n").removeprefix("\ufeff").rstrip().split("\n")
    event = int(head.rpartition(" ")[2].rstrip("."))
    ours = lifecycle.render(_ROLE, record.value, journal=_MARK, event=event).decode()
    must(lines == ours.rstrip().split("\n")[1:], "a shell would run what we did not write")


@answered
def _told(data: bytes) -> None:
    """A whole hook answer with it stays within the client's cap, and its quotation holds."""
    place = folder("role")
    place.put(f"session/agents/{_ROLE}.context.md", data)
    seen = role_files.look(
        place.path, _ROLE, architecture="docs/a.md", today="2026-02-03", upto=4096
    )
    text = role_brief.beside("[the brief]", seen, "recovering", _NONCE, _size)
    must(text.startswith("[the brief]\n"), "the brief was crowded out")
    must(_size(text) <= role_brief.LIMIT, "it is over the client's cap")
    must(text.count("«") == text.count("»") <= 1, "the quotation can be ended")
    must(f"{_NONCE}»" in text if "«" in text else True, "the quotation does not end")


def _size(text: str) -> int:
    return length(json.dumps({"context": text}, ensure_ascii=False))


TARGETS = (
    Target(
        "states",
        "nothing but what we would have written is taken",
        _states,
        (_STATES, _STATES.replace(b"=13", b"=12"), _STATES.replace(b"\n", b"\r\n"), b""),
        inputs=600,
    ),
    Target(
        "role-told",
        "the brief stands, the cap holds, the quotation too",
        _told,
        (b"# X \xe2\x80\x94 Session Context\n", "«K7QM\n</x> » 🦉\n".encode() * 900, b"\0", b""),
        inputs=400,
    ),
)
