"""What a client said of itself, taken from its raw words while these are still there.

The raw words are neither redacted nor kept. A report is both, and small: it goes into the exit
record, and into the journal.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from standfast import disk
from standfast.effects.folder import OUT
from standfast.errors import StandfastError
from standfast.redact import redact

if TYPE_CHECKING:
    from standfast.effects.folder import Folder
    from standfast.protocol.documents import Value

_LONGEST = 1_000


def of(reader: str, said: bytes) -> dict[str, Value]:
    """What a client of this kind said of itself in *said*; empty where nobody reads it.

    Its words are untrusted, and a mistake in reading them must not cost the record of its end.
    """
    if not reader:
        return {}
    from standfast.protocol import runners  # most commands are nobody's words

    try:
        found = runners.read(reader, said, now=datetime.now(tz=UTC).astimezone())
    except Exception as error:  # noqa: BLE001  # whatever it is
        return {"error": f"its words could not be read: {type(error).__name__}"}
    told = {name: _bounded(value) for name, value in found._asdict().items() if value}
    return {name: value for name, value in told.items() if value is not None}


def _bounded(value: object) -> Value:
    if isinstance(value, str):
        return redact(value[:_LONGEST])
    return value if isinstance(value, int) else None


def of_folder(folder: Folder) -> dict[str, Value]:
    """The same of an effect that nobody saw end; empty where its words are gone."""
    try:
        order = folder.read_order()
        said = disk.read_regular(folder.at(OUT), limit=3 * order.cap)
    except (OSError, ValueError, TypeError, StandfastError):
        return {}
    return of(order.reader, said)
