"""A contender of its own: LangGraph's checkpoints in SQLite, as its users write them.

It keeps a graph's whole small state per step, where the others keep what happened; for one who
asks "what does it cost to be able to go on after a crash?" it is the nearest peer.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from bench.arms import ASKED, LAST_OF_SESSION, PAGE, SESSION_PAGE, batches
from bench.records import record, session_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_COLUMNS = "thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint"


class LangGraph:
    """SqliteSaver on a connection of its own making, or with synchronous=FULL said aloud."""

    full = False

    def __init__(self, folder: str) -> None:
        from langgraph.checkpoint.sqlite import SqliteSaver

        self._opened = SqliteSaver.from_conn_string(os.path.join(folder, "checkpoints.sqlite"))
        self._saver = self._opened.__enter__()
        self._saver.setup()
        if self.full:
            self._saver.conn.execute("PRAGMA journal_mode=WAL").fetchall()
            self._saver.conn.execute("PRAGMA synchronous=FULL").fetchall()
        self._count = 0

    def fill(self, count: int) -> None:
        """Insert the rows that `put` would, many to a transaction."""
        sql = f"INSERT INTO checkpoints ({_COLUMNS}, metadata) VALUES (?, '', ?, NULL, ?, ?, ?)"
        for batch in batches(0, count):
            with self._saver.conn:
                self._saver.conn.executemany(sql, (self._row(n) for n in batch))
        self._count = count

    def _row(self, number: int) -> tuple[object, ...]:
        checkpoint = _checkpoint(number)
        kind, data = self._saver.serde.dumps_typed(checkpoint)
        metadata = json.dumps(_metadata(number)).encode()
        return session_of(number), checkpoint["id"], kind, data, metadata

    def append(self) -> None:
        """Save one checkpoint."""
        number = self._count
        self._saver.put(
            _config(session_of(number)), _checkpoint(number), _metadata(number), {"record": number}
        )
        self._count += 1

    def reads(self) -> Mapping[str, Callable[[], object]]:
        """Ask for a thread's checkpoints; it has no list over all threads by time, no decisions."""
        config = _config(ASKED)
        return {
            LAST_OF_SESSION: lambda: self._saver.get_tuple(config),
            SESSION_PAGE: lambda: list(self._saver.list(config, limit=PAGE)),
        }

    def close(self) -> None:
        """Close the connection."""
        self._opened.__exit__(None, None, None)


class LangGraphFull(LangGraph):
    """The same with WAL and synchronous=FULL, whatever the default of the build is."""

    full = True


def _config(thread: str) -> Any:  # noqa: ANN401  # a dict of its own kind
    return {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}


def _checkpoint(number: int) -> Any:  # noqa: ANN401  # as above
    from langgraph.checkpoint.base import empty_checkpoint

    checkpoint = empty_checkpoint()  # with a fresh id that sorts by time
    checkpoint["channel_values"] = {"record": record(number)}
    checkpoint["channel_versions"] = {"record": number}
    return checkpoint


def _metadata(number: int) -> Any:  # noqa: ANN401  # as above
    return {"source": "loop", "step": number, "parents": {}}
