"""What a client said of itself, taken from its raw words while these are still there.

The raw words are neither redacted nor kept. A report is both, and small: it goes into the exit
record, and into the journal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast import disk
from standfast.effects.effect_folder import ERR, OUT
from standfast.errors.base import StandfastError
from standfast.redaction.redactor import redact

if TYPE_CHECKING:
    from standfast.effects.effect_folder import Folder, Order
    from standfast.formats.document_limits import Value

_LONGEST = 1_000


def of(order: Order, out: bytes, err: bytes) -> dict[str, Value]:
    """What a client said of itself on both streams; empty where nobody reads them.

    Its words are untrusted, and a mistake in reading them must not cost the record of its end.
    """
    if not order.reader:
        return {}
    from datetime import UTC, datetime  # most commands are nobody's words

    from standfast.runners import registry

    try:
        found = registry.read(order.reader, out, err, datetime.now(tz=UTC).astimezone())
    except Exception as error:  # noqa: BLE001  # whatever it is
        found = registry.Report(error=f"its words could not be read: {type(error).__name__}")
    said = found._replace(session=found.session or order.session)._asdict()
    told = {name: _bounded(value) for name, value in said.items() if value}
    return {"kind": order.reader, **{name: each for name, each in told.items() if each is not None}}


def _bounded(value: object) -> Value:
    if isinstance(value, str):
        return redact(value[:_LONGEST])
    return value if isinstance(value, int) else None


def of_folder(folder: Folder) -> dict[str, Value]:
    """The same of an effect that nobody saw end; empty where its words are gone."""
    try:
        order = folder.read_order()
    except (ValueError, TypeError, StandfastError):
        return {}
    return of(order, *(_words(folder.at(name), 3 * order.cap) for name in (OUT, ERR)))


def _words(path: str, limit: int) -> bytes:
    try:
        return disk.read_regular(path, limit=limit)
    except (OSError, StandfastError):
        return b""
