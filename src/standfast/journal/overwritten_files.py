"""What is about to be written over is kept first: a file's contents, in the journal, in parts.

Text is kept as text, so that `events` and the mirror show it; bytes that are no text as base64.
Secrets are taken out of the whole before it is cut: a part of one would not look like one.
"""

from __future__ import annotations

import base64
import hashlib
import json
from typing import TYPE_CHECKING

from standfast.journal.author import USER
from standfast.redaction.redactor import redact

if TYPE_CHECKING:
    from standfast.journal.author import Author
    from standfast.journal.store import Journal
    from standfast.journal.transaction import Writing

KIND = "file.kept"
_PART = 32 * 1024  # characters: as escapes they are six times as many, and one fact has its limit


def keep(tx: Writing, path: str, data: bytes, why: str, author: Author = USER) -> str:
    """Keep what stands at *path*; returns the digest that it can be asked for by."""
    digest = hashlib.sha256(data).hexdigest()
    clean = redact(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
    try:
        form, text = "text", clean.decode("utf-8")
    except UnicodeDecodeError:
        form, text = "base64", base64.b64encode(clean).decode("ascii")
    parts = [text[at : at + _PART] for at in range(0, len(text), _PART)] or [""]
    for number, part in enumerate(parts, 1):
        about = {"path": path, "digest": digest, "part": number, "parts": len(parts)}
        tx.append(KIND, {**about, "why": why, form: part}, author)
    return digest


def kept(journal: Journal, digest: str) -> bytes | None:
    """The contents that were last kept under *digest*; None if there are none."""
    rows = journal.query(
        "SELECT payload FROM events WHERE kind = ? AND payload ->> 'digest' = ? ORDER BY seq",
        (KIND, digest),
    )
    parts = {int(found["part"]): found for found in (json.loads(str(row[0])) for row in rows)}
    if not parts or len(parts) != parts[1]["parts"]:
        return None
    found = [parts[number] for number in sorted(parts)]
    if "text" in found[0]:
        return "".join(part["text"] for part in found).encode("utf-8", "surrogatepass")
    return base64.b64decode("".join(part["base64"] for part in found))
