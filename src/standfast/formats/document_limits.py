"""What every document from outside is held to before it is read: size, encoding, line ends.

JSON is read by json_text.py, YAML by yaml_text.py; neither opens a file.
"""

from standfast.errors.base import BadDocument, TooLarge

Value = None | bool | int | float | str | list["Value"] | dict[str, "Value"]

LIMIT = 4 * 1024 * 1024
DEEPEST = 64
LONGEST_NUMBER = 100

_BOM = b"\xef\xbb\xbf"


def decode(data: bytes | str, *, name: str, limit: int = LIMIT) -> str:
    """Return the text of *data*: UTF-8, without a byte order mark, CRLF turned into LF.

    Text is taken too and held to the same rules. *name* is the file that errors name.
    """
    if isinstance(data, str):
        data = data.encode("utf-8", "surrogatepass")  # lone surrogates are refused below
    if len(data) > limit:
        raise TooLarge(f"{len(data)} bytes; at most {limit} are read", file=name)
    data = data.removeprefix(_BOM)
    nul = data.find(b"\0")
    if nul >= 0:
        raise BadDocument("a NUL byte in the text", file=name, line=line_at(data, nul))
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = line_at(data, error.start)
        raise BadDocument("not UTF-8 text", file=name, line=line) from error
    return text.replace("\r\n", "\n")


def line_at(text: str | bytes, position: int) -> int:
    """Count the line, from 1, that *position* stands in."""
    if isinstance(text, bytes):
        return text.count(b"\n", 0, position) + 1
    return text.count("\n", 0, position) + 1
