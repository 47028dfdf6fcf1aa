"""Text made safe and short enough to print to people and models.

What is shown is what is there: anything that moves the cursor, turns the writing direction or
hides itself comes out as a visible escape. Hooks load this module, so it imports nothing.
"""

# Ranges, not Unicode categories: the answer must not depend on the interpreter's Unicode version.
_HIDDEN = (
    ("\x00", "\x1f"),
    ("\x7f", "\x9f"),
    ("\xad", "\xad"),  # soft hyphen
    ("\u061c", "\u061c"),  # direction mark
    ("\u180e", "\u180e"),
    ("\u200b", "\u200b"),  # zero width space; the joiners beside it are part of words and emoji
    ("\u200e", "\u200f"),  # direction marks
    ("\u2028", "\u202e"),  # line and paragraph separators, direction embeddings and overrides
    ("\u2060", "\u206f"),  # invisible operators, direction isolates
    ("\ud800", "\udfff"),  # what is left of bytes that were no UTF-8
    ("\ufeff", "\ufeff"),
    ("\ufff9", "\ufffb"),
    ("\U000e0000", "\U000e0fff"),  # tags: whole sentences that a model reads and nobody sees
)
_SHORT = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}
_NAMED = 5
_ATTACHED_AT_MOST = 16
_LAST_IN_TWO_DIGITS = 0xFF
_LAST_IN_FOUR_DIGITS = 0xFFFF


def is_hidden(character: str) -> bool:
    """Whether *character* would act on a terminal or hide instead of being seen."""
    return any(low <= character <= high for low, high in _HIDDEN)


def printable(text: str, *, keep_newlines: bool = False) -> str:
    """Show hidden characters as escapes; *keep_newlines* keeps line ends and tabs as they are."""
    if text.isascii() and text.isprintable():
        return text
    if keep_newlines:
        text = text.replace("\r\n", "\n")
    kept = "\n\t" if keep_newlines else ""
    hidden = [each for each in set(text) if is_hidden(each) and each not in kept]
    return text.translate({ord(each): _escape(each) for each in hidden})


def one_line(text: str, limit: int) -> str:
    """Fold *text* into one printable line of at most *limit* characters, `…` where it was cut."""
    line = printable(" ".join(text.split()))
    if len(line) <= limit:
        return line
    if limit < 1:
        return ""
    return line[: _cut_before(line, limit - 1)].rstrip() + "…"


def a_few(names: list[str] | tuple[str, ...]) -> str:
    """The first few of these names, and how many more there are."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(map(printable, names[:_NAMED])) + more


def bounded(text: str, limit: int) -> str:
    """Keep the head and the tail of *text* within *limit* characters and say how much was cut."""
    if len(text) <= limit:
        return text
    room = limit - len(_note(len(text)))
    if room < 1:
        return text[: max(limit - 1, 0)] + "…"[: max(limit, 0)]
    head = text[: _cut_before(text, room - room // 2)]
    tail = text[_cut_after(text, len(text) - room // 2) :]
    return head + _note(len(text) - len(head) - len(tail)) + tail


def _escape(character: str) -> str:
    number = ord(character)
    if character in _SHORT:
        return _SHORT[character]
    if number <= _LAST_IN_TWO_DIGITS:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number <= _LAST_IN_FOUR_DIGITS else f"\\U{number:08x}"


def _note(cut: int) -> str:
    return f"\n[… {cut} characters cut …]\n"


def _cut_before(text: str, end: int) -> int:
    """Find the nearest place at or before *end* where no mark is torn from its letter."""
    for place in range(end, max(end - _ATTACHED_AT_MOST, 0), -1):
        if not _is_joined(text, place):
            return place
    return end


def _cut_after(text: str, start: int) -> int:
    """Find the nearest place at or after *start* where no mark is torn from its letter."""
    for place in range(start, min(start + _ATTACHED_AT_MOST, len(text))):
        if not _is_joined(text, place):
            return place
    return start


def _is_joined(text: str, place: int) -> bool:
    """Whether the characters on both sides of *place* are drawn as one."""
    before, after = text[place - 1], text[place]
    return _is_mark(after) or "\u200d" in (before, after)


def _is_mark(character: str) -> bool:
    if character.isascii():
        return False
    import unicodedata  # late: a shared library, only for the rare cut beside non-ASCII

    return (
        unicodedata.category(character).startswith("M")
        or "\U0001f3fb" <= character <= "\U0001f3ff"  # skin tones
    )
