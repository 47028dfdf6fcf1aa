"""How a brief speaks: within its size, and with everybody else's words fenced. Pure.

Everything that somebody else wrote is quoted between «NONCE and NONCE», on one line, with the
nonce and the quotes themselves taken out of it: nothing quoted can end its quotation, and no tag
in it the one that a client puts around our text. Hook path.
"""

from __future__ import annotations

from standfast.text import one_line

_ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
_NAMES = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
_LONGEST_NAME = 24
_BEGINS_NO_TAG = frozenset(" \t\n<=(-0123456789")
_LEFT_OUT = " [cut] "


class Size:
    """How much a brief may hold, in all and of each kind: *vital* is what the user said.

    And of one text: the newest prompt, one that matters, any other.
    """

    __slots__ = ("characters", "items", "long", "newest", "short", "vital")

    def __init__(
        self, *, characters: int, vital: int, items: int, newest: int, long: int, short: int
    ) -> None:
        self.characters = characters
        self.vital = vital
        self.items = items
        self.newest = newest
        self.long = long
        self.short = short


# All of it in the vital first 2,000; the client cuts at 10,000.
SHORT = Size(characters=1_950, vital=30, items=6, newest=340, long=280, short=100)
MORE = Size(characters=9_900, vital=100, items=40, newest=4_000, long=900, short=300)


class Voice:
    """How one brief speaks: its nonce, and how long it may be."""

    __slots__ = ("mark", "size")

    def __init__(self, mark: str, size: Size) -> None:
        self.mark = mark
        self.size = size

    def quote(self, text: str, limit: int | None = None) -> str:
        """Somebody's words, fenced: on one line, and unable to close the fence."""
        words = _within(plain(text), limit or self.size.short).replace(self.mark, "····")
        return f"«{self.mark} {words} {self.mark}»"

    def quote_both_ends(self, text: str, limit: int) -> str:
        """A request often ends with what matters: of a long one the middle is left out."""
        line = " ".join(text.split())
        if length(line) <= limit:
            return self.quote(line, limit)
        half = (limit - len(_LEFT_OUT)) // 2
        tail = line[-half:] if line.isascii() else line[-(half // 2) :]
        return self.quote(_within(line, half) + _LEFT_OUT + tail, limit)

    def name(self, text: str) -> str:
        """A name as it is, where it can be nothing else; otherwise quoted."""
        is_plain = 0 < len(text) <= _LONGEST_NAME and _NAMES.issuperset(text)
        return text if is_plain and self.mark not in text else self.quote(text, 2 * _LONGEST_NAME)


def plain(text: str) -> str:
    """Words that can neither end a quotation nor look like a tag."""
    return _without_tags(text.replace("«", "<").replace("»", ">"))


def _without_tags(text: str) -> str:
    """Clients put our text between tags: none that is quoted may look like theirs."""
    first, *rest = text.split("<")
    parts = (part if not part or part[0] in _BEGINS_NO_TAG else f" {part}" for part in rest)
    return "<".join([first, *parts])


def _within(text: str, limit: int) -> str:
    """One line of at most *limit* units, where a character may count as two."""
    line = one_line(text, limit)
    if length(line) <= limit:
        return line
    wide = length(line) - len(line)
    return one_line(line, max(limit - wide, limit // 2))


def nonce(seed: bytes) -> str:
    """Four characters that the quoted text cannot have known."""
    number = int.from_bytes(seed[:8], "big")
    return "".join(_ALPHABET[number >> shift & 31] for shift in (0, 5, 10, 15))


def length(text: str) -> int:
    """As the client counts: in UTF-16 units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
