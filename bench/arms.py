"""The contenders. Each can be filled in bulk, append one record durably, and answer questions.

An arm is opened on a folder of its own. `fill` is allowed every shortcut; `append` is what a
user of that way of storing would call, and returns when the record survives a power cut.
"""

from __future__ import annotations

import json
import os
from itertools import cycle, islice
from typing import TYPE_CHECKING, Protocol

import apsw

from bench.records import DECIDED, DECISIONS, DONE, SESSIONS, as_json, record, session_of
from standfast.journal import questions
from standfast.journal.author import Author
from standfast.journal.store import Journal
from standfast.journal.tables import decision_records

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

PER_TRANSACTION = 10_000
NEWEST = 20
PAGE = 100
ASKED = session_of(7)  # the session that the questions are about

LAST = f"last {NEWEST} records"
LAST_OF_SESSION = "last record of a session"
DECIDED_LIST = "all decisions"
SESSION_PAGE = f"first {PAGE} of a session"
QUESTIONS = (LAST, LAST_OF_SESSION, DECIDED_LIST, SESSION_PAGE)


class Arm(Protocol):
    """One way to keep records."""

    def fill(self, count: int) -> None:
        """Bring an empty store to *count* records, by any means."""

    def append(self) -> None:
        """Add the next record durably."""

    def reads(self) -> Mapping[str, Callable[[], object]]:
        """The questions that can be asked."""

    def close(self) -> None:
        """Let go of the files."""


def batches(start: int, count: int) -> Iterator[range]:
    """The numbers from *start* to *count*, one range per transaction."""
    for first in range(start, count, PER_TRANSACTION):
        yield range(first, min(first + PER_TRANSACTION, count))


class JournalArm:
    """Standfast, through its public calls."""

    def __init__(self, folder: str) -> None:
        self._journal = Journal(os.path.join(folder, "journal"))
        self._authors = [Author("lead", session=session_of(n)) for n in range(SESSIONS)]
        self._count = 0

    def fill(self, count: int) -> None:
        """Append in large transactions."""
        for batch in batches(0, count):
            with self._journal.writing() as tx:
                for number in batch:
                    author = self._authors[number % SESSIONS]
                    if number < DECISIONS:
                        decision_records.note(tx, str(record(number)["text"]), author)
                    else:
                        tx.append(DONE, record(number), author)
        self._count = count

    def append(self) -> None:
        """Append as everybody does: redacted, numbered, chained, synced."""
        number = self._count
        self._journal.append(DONE, record(number), self._authors[number % SESSIONS])
        self._count += 1

    def reads(self) -> Mapping[str, Callable[[], object]]:
        """Ask through the same functions as the commands."""
        of_session = questions.Filter(session=ASKED)
        return {
            LAST: lambda: questions.last_events(self._journal, questions.Filter(), NEWEST),
            LAST_OF_SESSION: lambda: questions.last_events(self._journal, of_session, 1),
            DECIDED_LIST: lambda: questions.decisions(self._journal),
            SESSION_PAGE: lambda: first(questions.events(self._journal, of_session)),
        }

    def close(self) -> None:
        """Close the journal."""
        self._journal.close()


class RawSqlite:
    """The floor: one table, one INSERT per record, autocommit, WAL, synchronous=FULL."""

    def __init__(self, folder: str) -> None:
        self._db = apsw.Connection(os.path.join(folder, "raw.db"), vfs="unix")
        for setting in ("journal_mode=wal", "synchronous=FULL"):
            self._db.execute(f"PRAGMA {setting}").fetchall()
        self._db.execute("CREATE TABLE records (number INTEGER PRIMARY KEY, record TEXT)")
        self._texts = cycle([as_json(number) for number in range(DECISIONS, 1_000)])

    def fill(self, count: int) -> None:
        """Insert in large transactions."""
        for batch in batches(0, count):
            with self._db:
                self._db.executemany(
                    "INSERT INTO records (record) VALUES (?)", ((as_json(n),) for n in batch)
                )

    def append(self) -> None:
        """Insert one row, its text ready made: the floor has not even the JSON to do."""
        self._db.execute("INSERT INTO records (record) VALUES (?)", (next(self._texts),))

    def reads(self) -> Mapping[str, Callable[[], object]]:
        """Ask with SQL; there is no index but the number."""
        rows = "SELECT record FROM records"
        newest = "ORDER BY number DESC LIMIT"
        of_session = f"{rows} WHERE record ->> 'session' = '{ASKED}'"
        decided = f"{rows} WHERE record ->> 'kind' = '{DECIDED}'"
        return {
            LAST: lambda: self._ask(f"{rows} {newest} {NEWEST}"),
            LAST_OF_SESSION: lambda: self._ask(f"{of_session} {newest} 1"),
            DECIDED_LIST: lambda: self._ask(decided),
            SESSION_PAGE: lambda: self._ask(f"{of_session} ORDER BY number LIMIT {PAGE}"),
        }

    def _ask(self, sql: str) -> list[object]:
        return [json.loads(str(text)) for (text,) in self._db.execute(sql)]

    def close(self) -> None:
        """Close the database."""
        self._db.close()


class JsonLines:
    """One line per record, synced each time."""

    def __init__(self, folder: str) -> None:
        self._path = os.path.join(folder, "records.jsonl")
        self._file = open(self._path, "ab", buffering=0)  # noqa: SIM115  # open as long as the arm
        self._count = 0

    def fill(self, count: int) -> None:
        """Write many lines at once."""
        for batch in batches(0, count):
            self._file.write("".join(f"{as_json(n)}\n" for n in batch).encode())
        os.fsync(self._file.fileno())
        self._count = count

    def append(self) -> None:
        """Write and sync one line."""
        self._file.write(f"{as_json(self._count)}\n".encode())
        os.fsync(self._file.fileno())
        self._count += 1

    def reads(self) -> Mapping[str, Callable[[], object]]:
        """Ask by reading: the newest from the end, the rest from the start."""
        session = f'"session":"{ASKED}"'.encode()
        return {
            LAST: lambda: self._newest(b"", NEWEST),
            LAST_OF_SESSION: lambda: self._newest(session, 1),
            DECIDED_LIST: lambda: list(self._matching(f'"{DECIDED}"'.encode())),
            SESSION_PAGE: lambda: first(self._matching(session)),
        }

    def _newest(self, holding: bytes, wanted: int) -> list[object]:
        """Enough for what we ask: the last 64 KiB hold hundreds of lines."""
        with open(self._path, "rb") as file:
            file.seek(-min(64 * 1024, os.path.getsize(self._path)), os.SEEK_END)
            lines = [line for line in file.read().splitlines()[1:] if holding in line]
        return [json.loads(line) for line in lines[-wanted:]]

    def _matching(self, holding: bytes) -> Iterator[object]:
        with open(self._path, "rb") as file:
            yield from (json.loads(line) for line in file if holding in line)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class JsonArray:
    """One JSON file with everything, written anew for each record and moved into place."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._path = os.path.join(folder, "records.json")
        self._records: list[dict[str, object]] = []

    def fill(self, count: int) -> None:
        """Write the file once."""
        self._records = [record(n) for n in range(count - 1)]
        self.append()

    def append(self) -> None:
        """Write everything again: contents, then the name, both synced."""
        self._records.append(record(len(self._records)))
        with open(f"{self._path}.new", "w", encoding="utf-8") as file:
            file.write(json.dumps(self._records, separators=(",", ":")))
            file.flush()
            os.fsync(file.fileno())
        os.replace(f"{self._path}.new", self._path)
        folder = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
        os.fsync(folder)
        os.close(folder)

    def reads(self) -> Mapping[str, Callable[[], object]]:
        """Ask by loading the whole file."""
        return {
            LAST: lambda: self._load()[-NEWEST:],
            LAST_OF_SESSION: lambda: self._where("session", ASKED)[-1],
            DECIDED_LIST: lambda: self._where("kind", DECIDED),
            SESSION_PAGE: lambda: self._where("session", ASKED)[:PAGE],
        }

    def _load(self) -> list[dict[str, object]]:
        with open(self._path, encoding="utf-8") as file:
            found: list[dict[str, object]] = json.load(file)
        return found

    def _where(self, name: str, value: str) -> list[dict[str, object]]:
        return [entry for entry in self._load() if entry[name] == value]

    def close(self) -> None:
        """Nothing is open between calls."""


def first(found: Iterator[object]) -> list[object]:
    """One page of what comes."""
    return list(islice(found, PAGE))
