"""What a model's server must know of one API: which paths, how a request reads, how a reply goes.

Each dialect is a module. What it heard is told in the form of the Messages API, so that scripts
and tests speak of every client in the same words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    from harness.rig.script import Reply
    from standfast.formats.document_limits import Value

OK, BAD_REQUEST, NOT_FOUND, TOO_LARGE, TOO_MANY = 200, 400, 404, 413, 429


class Answer(NamedTuple):
    """What goes out."""

    data: bytes
    status: int = OK
    kind: str = "application/json"
    headers: Mapping[str, str] = {}


class Dialect(Protocol):
    """A module wire*.py."""

    def serves(self, path: str) -> bool:
        """Is *path* of this API."""
        ...

    def heard(self, path: str, body: Mapping[str, Value]) -> Mapping[str, Value]:
        """What was asked: `system`, `messages` and `tools`, as the Messages API has them."""
        ...

    def answer(self, reply: Reply, path: str, body: Mapping[str, Value]) -> Answer:
        """What goes out for *reply* to *body*."""
        ...

    def error(self, status: int, message: str) -> bytes:
        """An error of the API."""
        ...
