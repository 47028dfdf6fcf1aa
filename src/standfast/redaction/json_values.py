"""JSON-like values: strings are redacted, and those under a secret-looking key wholly replaced."""

from standfast.redaction.redactor import redact
from standfast.redaction.secret_flags import kind_after
from standfast.redaction.secret_names import (
    holds_many,
    is_placeholder,
    kind_of_flag,
    kind_of_name,
    looks_random,
)

# A value nested deeper than this is not looked into; it is replaced as a whole.
MAX_DEPTH = 64

_USER_FLAGS = ("-u", "--user", "--proxy-user")

_TOO_DEEP = "[redacted:depth]"


def walk(value: object, kind: str | None, depth: int) -> object:
    """*value* redacted; *kind* is set when the key above it says that it is a secret."""
    if isinstance(value, dict | list | tuple) and depth >= MAX_DEPTH:
        return _TOO_DEEP
    if isinstance(value, dict):
        return _walk_dict(value, kind, depth)
    if isinstance(value, list):
        return _walk_items(value, kind, depth)
    if isinstance(value, tuple):
        return tuple(_walk_items(value, kind, depth))
    return _leaf(value, kind)


def _leaf(value: object, kind: str | None) -> object:
    if isinstance(value, str):
        if kind is None:
            return redact(value)
        if kind == "auth":
            return _auth_leaf(value)
        return value if is_placeholder(value) else f"[redacted:{kind}]"
    if kind == "password" and isinstance(value, int) and not isinstance(value, bool):
        return "[redacted:password]"
    return value


def _auth_leaf(value: str) -> str:
    """`auth` names a method as often as a credential: only what looks like one is replaced."""
    return "[redacted:credential]" if looks_random(value) else redact(value)


def _walk_dict(value: dict[object, object], kind: str | None, depth: int) -> dict[object, object]:
    named = _kind_of_named_pair(value)
    cleaned: dict[object, object] = {}
    for key, item in value.items():
        below = kind_of_name(key) if isinstance(key, str) else None
        if isinstance(item, dict) and not holds_many(str(key)) and "value" not in item:
            below = None  # a schema or a record about the secret, with keys of its own
        if key == "value":
            below = below or named
        cleaned[_free_key(cleaned, key)] = walk(item, below or kind, depth + 1)
    return cleaned


def _kind_of_named_pair(value: dict[object, object]) -> str | None:
    """The kind of `{"name": "DB_PASSWORD", "value": ...}`, as container manifests write it."""
    name = value.get("name", value.get("key"))
    return kind_of_name(name) if isinstance(name, str) and "value" in value else None


def _free_key(taken: dict[object, object], key: object) -> object:
    if not isinstance(key, str):
        return key
    cleaned = redact(key)
    # Two keys that held different secrets must not fall onto each other.
    return cleaned if cleaned not in taken else f"{cleaned} {len(taken) + 1}"


def _walk_items(
    items: list[object] | tuple[object, ...], kind: str | None, depth: int
) -> list[object]:
    """The items redacted; one that follows a flag such as `--password` is its value."""
    cleaned: list[object] = []
    words = [item for item in items if isinstance(item, str)]
    before: object = None
    for item in items:
        if kind is None and before in _USER_FLAGS and isinstance(item, str) and "curl" in items:
            cleaned.append(_without_password(item))
        else:
            follows = (
                _kind_after(before, words) if isinstance(item, str) and item[:1] != "-" else None
            )
            cleaned.append(walk(item, kind or follows, depth + 1))
        before = item
    return cleaned


def _kind_after(before: object, words: list[str]) -> str | None:
    if not isinstance(before, str) or before[:1] != "-":
        return None
    return kind_of_flag(before) or kind_after(before, words)


def _without_password(user_and_password: str) -> str:
    user, colon, password = user_and_password.partition(":")
    if is_placeholder(password):
        return redact(user_and_password)
    return f"{redact(user)}{colon}[redacted:password]"
