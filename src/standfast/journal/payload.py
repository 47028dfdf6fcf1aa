"""What an event carries: JSON text without secrets, bounded. Hook path."""

from __future__ import annotations

from standfast.errors.base import BadDocument, TooLarge
from standfast.redaction.redactor import might_hold_secret, redact_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

LIMIT = 256 * 1024
DEEPEST = 500  # levels: SQLite takes 1,000, and whoever reads it in Python gives up before that


class Redacted(str):
    """JSON text made of nothing but what the journal holds: redacted when it came in."""

    __slots__ = ()


_encoder: Callable[[object], str] | None = None


def encode(payload: Mapping[str, object] | str) -> str:
    """The text to be written. Text is taken to be JSON already, as hooks give it."""
    text = payload if isinstance(payload, str) else _dump(payload)
    if "\n" in text or "\r" in text:  # given as text over several lines: one line is one event
        text = _dump(_load(text))
    if not isinstance(payload, Redacted) and might_hold_secret(text):
        text = _dump(redact_value(_load(text) if isinstance(payload, str) else payload))
    if not text.isascii():  # a lone surrogate has no UTF-8; as an escape it is still JSON
        text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    if len(text) > LIMIT:
        raise TooLarge(f"one fact may hold {LIMIT:,} characters, this one has {len(text):,}")
    if text.count("[") + text.count("{") > DEEPEST and _depth(text) > DEEPEST:
        raise BadDocument(f"the payload is nested deeper than {DEEPEST} levels")
    return text


def _depth(text: str) -> int:
    """How deep JSON text is nested: brackets count where no quotes are around them."""
    depth = deepest = 0
    plain = text.replace("\\\\", "").replace('\\"', "").split('"')[::2]
    for bracket in "".join(plain):
        if bracket in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif bracket in "]}":
            depth -= 1
    return deepest


def _dump(value: object) -> str:
    global _encoder  # noqa: PLW0603  # made once
    if _encoder is None:
        _encoder = _make_encoder()
    try:
        return _encoder(value)
    except (ValueError, RecursionError) as error:
        raise BadDocument("the payload cannot be written as JSON") from error


def _make_encoder() -> Callable[[object], str]:
    """What `json.dumps` makes anew for every call, at more than the encoding's own cost."""
    from json import encoder  # costs a hook more than the rest of it

    plain = encoder.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    make = getattr(encoder, "c_make_encoder", None)  # CPython's own; others do without
    if make is None:
        return plain.encode
    quote = encoder.encode_basestring
    chunks = make(None, plain.default, quote, None, ":", ",", False, False, False)  # noqa: FBT003
    return lambda value: "".join(chunks(value, 0))


def _load(text: str) -> object:
    import json

    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:  # nested too deep is as good as none
        raise BadDocument("the payload is not JSON") from error
