"""Targets in `journal/`: what lies beside the journal, where anything may write."""

from __future__ import annotations

import json
import os
import shutil
import zlib
from functools import cache, partial

from harness.fuzz.target import Target, answered, folder, must, taken, text_of
from standfast import disk
from standfast.errors.base import StandfastError
from standfast.journal import mirror, place, questions
from standfast.journal.fallback import inbox, lost_calls, spool, strays
from standfast.journal.payload import LIMIT, encode
from standfast.journal.repair.journal_repair import repair
from standfast.journal.retention import dropped_events
from standfast.journal.store import Journal
from standfast.journal.verification import verify

_EVENT = questions.Event(1, 2, None, "s-1", "user", "docs", "x", None, "{}", b"\1" * 32)


def _mirror_line(data: bytes) -> None:
    mirror.parse(data)
    body = data.rpartition(b',"crc":"')[0] or data  # and as somebody would forge it
    forged = mirror.parse(body + b',"crc":"%08x"}\n' % zlib.crc32(body))
    must(forged is None or type(forged["seq"]) is int, "an event without a number")
    try:
        value = json.loads(data)
        payload = json.dumps(value, ensure_ascii=False, allow_nan=False)
        line = mirror.line_of(_EVENT._replace(payload=payload, subdir=payload))
    except (ValueError, RecursionError):
        return
    event = mirror.parse(line)
    must(event is not None and event["payload"] == value, "an event does not come back")


@answered
def _mirror_file(data: bytes) -> None:
    at = folder("mirror")
    at.put(f"mirror/{1:012d}.jsonl", data)
    last = mirror.last_seq(at.path)
    whole = [event for _, _, line in mirror.lines(at.path) if (event := mirror.parse(line))]
    must(bool(last) <= bool(whole), "the last line is none of the lines")
    must(not whole or last == whole[-1]["seq"], "the last line is another")
    path, length, _ = mirror._mended(at.path)  # noqa: SLF001  # as the next batch finds its place
    must(path is None or 0 < length <= len(data), "a place to go on that is outside")


@cache
def _journal(name: str) -> Journal:
    journal = Journal(os.path.join(folder(name).path, "standfast"))
    journal.append("model.begins", {})
    return journal


def _count(journal: Journal) -> int:
    return questions.last_seq(journal)


def _spool_slot(data: bytes) -> None:
    """The bytes of a slot with a sum that is right, as no accident would leave them."""
    journal = _journal("spool")
    body = data[: spool.BODY_LIMIT]
    header = b"SFSPOOL1" + len(body).to_bytes(4, "big") + zlib.crc32(body).to_bytes(4, "big")
    with open(os.path.join(journal.folder, spool.FILE), "r+b") as file:
        file.seek(spool.SLOT_BYTES)
        file.write(header + body)
        file.seek(2 * spool.SLOT_BYTES)
        file.write((data + bytes(16))[: spool.SLOT_BYTES])
    before = _count(journal)
    new = strays.merge(journal, [])
    must(_count(journal) == before + new, "what came home is not in the journal, or twice")
    must(strays.merge(journal, []) == 0, "it came home a second time")
    must(not spool.is_used(journal.folder), "its slot was not freed")


def _inbox_entry(data: bytes) -> None:
    journal = _journal("inbox")
    box = inbox.folder_for(journal.folder, folder("inbox").path)
    name = f"{zlib.crc32(data):016x}.json"
    os.makedirs(box, mode=0o700, exist_ok=True)
    with open(os.path.join(box, name), "wb") as file:
        file.write(data)
    before = _count(journal)
    new = strays.merge(journal, [folder("inbox").path])
    must(_count(journal) == before + new, "what came home is not in the journal, or twice")
    must(not os.path.exists(os.path.join(box, name)), "it still waits in the inbox")
    disk.forget(os.path.join(box, name.replace(".json", ".refused")))


def _lost_mark(data: bytes) -> None:
    at = folder("lost")
    mark = at.put("standfast/lost/1-1", data)
    environ = {"XDG_STATE_HOME": at.path, "HOME": at.path, "TMPDIR": at.path}
    for path, why in lost_calls.marks(environ, place.find(at.path, state_home=at.path).folder):
        must(path == mark and data.startswith(os.fsencode(why)), "a reason that nobody gave")


@answered
def _payload(data: bytes) -> None:
    text = encode(text_of(data))
    must("\n" not in text and "\r" not in text and len(text) <= LIMIT, "no line of JSON")
    must(len(text.encode()) >= len(text), "it has no bytes")
    must(encode(text) == text, "it is another when it is written again")


@answered
def _event(data: bytes) -> None:
    """As SQLite would take it: what `json_valid` lets in must be told again."""
    journal, text = _journal("event"), text_of(data)
    seq = journal.append("model.said", text)
    (event,) = questions.events(journal, questions.Filter(after=seq - 1))
    must(event.as_dict()["seq"] == seq, "another event")
    must(mirror.parse(mirror.line_of(event)) is not None, "the mirror cannot hold it")


@answered
def _base(data: bytes) -> None:
    """With a sum that is right: what is taken as a base is written as one again."""
    body = data.rpartition(b',"crc":"')[0] or data
    found = dropped_events.read(body + b',"crc":"%08x"}\n' % zlib.crc32(body))
    with taken():
        again = found.document()
        must(dropped_events.read(again).document() == again, "a base reads back as another")
        must(dropped_events.load(_journal("event").connection).through == 0, "a base where none is")


_PIECES = ("journal.db", "journal.db-wal", f"mirror/{1:012d}.jsonl", "damaged")


@cache
def _whole() -> str:
    """A journal with a few events, mirrored, as nobody has it open."""
    at = os.path.join(folder("whole").path, "standfast")
    journal = Journal(at)
    for number in range(4):
        journal.append("model.said", {"number": number})
    journal.close()
    return at


@cache
def _truth() -> set[bytes]:
    journal = Journal(_whole())
    found = {event.hash for event in questions.events(journal, questions.Filter())}
    journal.let_go()
    return found


def _piece(number: int) -> bytes:
    with open(os.path.join(_whole(), _PIECES[number]), "rb") as file:
        return bytes([number]) + file.read()


@answered
def _damaged(data: bytes) -> None:
    """One piece of a journal replaced: it is repaired, and nothing in it is made up."""
    at = os.path.join(folder("damaged").path, "standfast")
    shutil.rmtree(at, ignore_errors=True)
    shutil.copytree(_whole(), at)
    with open(os.path.join(at, _PIECES[data[0] % len(_PIECES) if data else 0]), "wb") as file:
        file.write(data[1:])
    journal = Journal(at)
    try:
        questions.last_seq(journal)
    except StandfastError:
        pass  # then it is named
    repair(journal)
    with taken():
        kept = list(questions.events(journal, questions.Filter()))
        made_up = [e for e in kept if e.kind == "model.said" and e.hash not in _truth()]
        must(not made_up, "an event that nobody recorded")
        must(not verify(journal).problems, "a repaired journal does not verify")
        journal.let_go()


@answered
def _git_pointer(data: bytes) -> None:
    at = folder("place")
    at.put("tree/.git", data)
    at.put("other/commondir", data)
    at.put("other/HEAD", b"ref: refs/heads/main\n")
    start = os.path.join(at.path, "tree")
    found = place.find(start, state_home=at.path)
    must(os.path.isabs(found.folder), "a journal nowhere")
    pointed = place.git_dir(start)
    must(pointed is None or os.path.isabs(pointed), "a git directory nowhere")
    at.put("tree/.git", b"gitdir: ../other\n")
    must(os.path.isabs(place.find(start, state_home=at.path).folder), "a journal nowhere")


_LINE = mirror.line_of(_EVENT._replace(payload='{"id":"RD-001","text":"caf\u00e9"}'))
_DEEP = b'{"a":' * 990 + b"1" + b"}" * 990
_BASE = dropped_events.Base().document()

TARGETS = (
    Target(
        "mirror-line", "the event of the line, or nothing", _mirror_line, (_LINE, b'{"a":[1,2]}')
    ),
    Target(
        "mirror-file", "its last whole line is found", _mirror_file, (_LINE + _LINE, _LINE * 40)
    ),
    Target(
        "spool-slot",
        "in the journal once, as a fact or as refused, and its slot is free",
        _spool_slot,
        (
            b'00ff\n1\nboot\n1\n\ns-1\nuser\ndocs\ntool.used\n{"output":"some"}',
            b'00fe\n1\nboot\n1\nr\n\nuser\n\ndecision.noted\n{"text":"words"}',
            b'00fd\n9\nb\n1\n\n\nuser\n\ncell.set\n{"key":"k","value":{}}',
            b'00fc\n1\nb\n1\n\ns\nclaude\n\nsession.started\n{"source":"startup"}',
        ),
    ),
    Target(
        "inbox-entry",
        "in the journal once, as a fact or as refused",
        _inbox_entry,
        (
            (
                b'{"kind":"decision.noted","at":1700000000000000,"boot":"boot","since_boot":1,"run":null,'
                b'"session":"s-1","actor":"user","subdir":"docs","payload":{"text":"posted"}}'
            ),
        ),
    ),
    Target(
        "lost-mark", "its first line, or nothing", _lost_mark, (b"no room\n/a/project\n", b"why")
    ),
    Target(
        "payload",
        "one line of JSON within its limit that stays as it is, or our error",
        _payload,
        (b'{"a": "b",\n "c": [1]}', b'{"password": "hunter2hunter2"}', _DEEP, _DEEP + b"\n"),
    ),
    Target(
        "event",
        "what the journal takes it can tell again, or our error",
        _event,
        (b'{"a":1}', b'"words"', _DEEP, b'{"a":1e400}', b'{"a":%s}' % (b"9" * 30)),
    ),
    Target(
        "damaged",
        "a journal that verifies and tells nothing but the truth, or our error",
        _damaged,
        (
            *(partial(_piece, n) for n in range(3)),
            b"\3why\n20260101T000000.000000Z\nmore\n",
            b"\0",
            b"\2",
        ),
        20,
    ),
    Target("base", "a base that reads back the same, or our error", _base, (_BASE,), 400),
    Target(
        "git-pointer",
        "an absolute place or none",
        _git_pointer,
        (b"gitdir: ../other\n", b"gitdir: /nowhere/.git/worktrees/a\n", b"../..\n"),
    ),
)
