"""Private key blocks: whole, cut off before their end, indented, numbered or JSON-escaped."""

import re

_BEGIN = re.compile(
    r"-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}|Private-Lines: \d+", re.ASCII
)
_END = re.compile(r"-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}", re.ASCII)
_BASE64_RUN = re.compile(r"[A-Za-z0-9+/=]{16}", re.ASCII)

# Between two lines: breaks, escaped or not, and what diffs, quotes and listings put in front.
_BETWEEN = r"(?:[\s>|+*#\"',\-]|\\+[nrt]|\\*u2192|\d{1,6}(?:→|\t|:|\\+t|\\+u2192)){0,32}+"
_HEADER = r"(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset):[^\r\n\\]{0,200}"
_CUT_OFF = re.compile(
    rf"(?:{_BETWEEN}(?:{_HEADER}|[A-Za-z0-9+/=]{{20,}}+))*(?:(?:\s|\\+[nr])+[A-Za-z0-9+/=]{{1,19}}+)?",
    re.ASCII,
)

_LONGEST_BLOCK = 65536


def private_keys(text: str) -> str:
    """*text* with private key blocks replaced, from the first dash to the last."""
    begins = list(_BEGIN.finditer(text))
    pieces: list[str] = []
    done = 0
    limits = [*(begin.start() for begin in begins[1:]), len(text)]
    for begin, limit in zip(begins, limits, strict=False):
        end = _block_end(text, begin.end(), min(limit, begin.end() + _LONGEST_BLOCK))
        if end is None:
            continue
        pieces += (text[done : begin.start()], "[redacted:private-key]")
        done = end
    return "".join((*pieces, text[done:]))


def _block_end(text: str, start: int, limit: int) -> int | None:
    """Where the block ends, or None if only its first line is mentioned."""
    end = _END.search(text, start, limit)
    if end is not None:
        return end.end() if _BASE64_RUN.search(text, start, end.start()) else None
    body = _CUT_OFF.match(text, start, limit)
    if body is None or not _BASE64_RUN.search(text, start, body.end()):
        return None
    return body.end()
