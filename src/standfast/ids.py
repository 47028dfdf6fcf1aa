"""Names and paths that come from outside, allow-listed: what passes can be part of a path or a ref.

Hooks load this module, so it is cheap to import.
"""

from standfast.errors.base import BadName
from standfast.text import is_hidden, one_line

TYPE_CHECKING = False  # importing typing for this one name would cost every hook milliseconds
if TYPE_CHECKING:
    from typing import NewType

    SessionId = NewType("SessionId", str)
    RunId = NewType("RunId", str)
    Role = NewType("Role", str)
    Lane = NewType("Lane", str)
    Slug = NewType("Slug", str)
else:
    SessionId = RunId = Role = Lane = Slug = str

LONGEST_NAME = 64
LONGEST_PATH = 1024
LONGEST_COMPONENT = 255
LONGEST_NUMBER = 9
NO_LANE = "-"  # a record that belongs to a whole phase

_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_DIGITS = frozenset("0123456789")
_ALLOWED = _LETTERS | _DIGITS | frozenset("._-")
_DEVICES = frozenset(
    ["con", "prn", "aux", "nul"]
    + [f"{port}{number}" for port in ("com", "lpt") for number in range(1, 10)]
)
_GIT_FOLDERS = frozenset([".git", "git~1"])
# HFS+ leaves joiners out when it compares names, so that `.g\u200cit` opens `.git` there; the
# others that it leaves out are hidden characters, refused in every path.
_WITHOUT_JOINERS = str.maketrans("", "", "\u200c\u200d")
_ID_REMEDY = "Write it like `RD-007`."
_PATH_REMEDY = "Name a file inside the folder, with `/` between the parts."


def name(text: object, *, what: str) -> str:
    """Return *text* if it may be a name, or say which rule *what* breaks."""
    if not isinstance(text, str):
        raise BadName(f"{what} must be text, not {type(text).__name__}")
    fault = _name_fault(text)
    if fault is not None:
        raise BadName(f"{what} `{one_line(text, 80)}` {fault}")
    return text


def session_id(text: object) -> SessionId:
    """Check the id a client gave its session."""
    return SessionId(name(text, what="session id"))


def run_id(text: object) -> RunId:
    """Check the id of a run."""
    return RunId(name(text, what="run id"))


def role(text: object) -> Role:
    """Check the name of a role."""
    return Role(name(text, what="role"))


def lane(text: object) -> Lane:
    """Check the name of a lane; `-` stands for no lane."""
    return Lane(NO_LANE if text == NO_LANE else name(text, what="lane"))


def slug(text: object) -> Slug:
    """Check the short name of a plan."""
    return Slug(name(text, what="slug"))


def format_id(prefix: str, number: int) -> str:
    """Write a sequence id: `RD` and 7 give `RD-007`."""
    text = f"{prefix}-{number:03d}"
    parse_id(text)
    return text


def parse_id(text: object) -> tuple[str, int]:
    """Split a sequence id into prefix and number, which is also its sort key."""
    prefix, dash, digits = name(text, what="id").rpartition("-")
    if not dash or prefix[0] not in _LETTERS or not set(prefix) <= _LETTERS | _DIGITS:
        raise BadName(f"id `{text}` is not letters, a dash and a number", remedy=_ID_REMEDY)
    if not digits or len(digits) > LONGEST_NUMBER or not set(digits) <= _DIGITS:
        raise BadName(
            f"id `{text}` does not end in a number of at most {LONGEST_NUMBER} digits",
            remedy=_ID_REMEDY,
        )
    return prefix, int(digits)


def relative_path(text: object, *, what: str) -> str:
    """Return *text* if it is a POSIX path that stays inside its folder and out of git's own."""
    if not isinstance(text, str):
        raise BadName(f"{what} must be text, not {type(text).__name__}", remedy=_PATH_REMEDY)
    fault = _path_fault(text)
    if fault is not None:
        raise BadName(f"{what} `{one_line(text, 120)}` {fault}", remedy=_PATH_REMEDY)
    return text


def _name_fault(text: str) -> str | None:
    if not text:
        return "is empty"
    if len(text) > LONGEST_NAME:
        return f"is longer than {LONGEST_NAME} characters"
    if not set(text) <= _ALLOWED:
        return "may hold only ASCII letters, digits, `.`, `_` and `-`"
    if text[0] in "._-":
        return "must start with a letter or digit"
    return _reserved_name_fault(text.lower())


def _reserved_name_fault(text: str) -> str | None:
    """Names of allowed characters that git or a filesystem gives another meaning."""
    if ".." in text:
        return "may not hold `..`"
    if text.endswith("."):
        return "may not end in `.`"
    if text.endswith(".lock"):
        return "may not end in `.lock`, which git keeps for itself"
    if text.split(".", 1)[0] in _DEVICES:
        return "is the name of a device on Windows"
    return None


def _path_fault(text: str) -> str | None:
    if not text:
        return "is empty"
    if text.startswith("/"):
        return "is absolute"
    if "\\" in text:
        return "holds a backslash"
    if any(map(is_hidden, set(text))):
        return "holds a control or invisible character"
    if len(text.encode()) > LONGEST_PATH:
        return f"is longer than {LONGEST_PATH} bytes"
    return next(filter(None, map(_component_fault, text.split("/"))), None)


def _component_fault(component: str) -> str | None:
    if component in ("", ".", ".."):
        return f"has the component `{component}`, so it does not say plainly where it leads"
    if len(component.encode()) > LONGEST_COMPONENT:
        return f"has a component longer than {LONGEST_COMPONENT} bytes"
    if _opens_git_folder(component):
        return "leads into a git directory"
    return None


def _opens_git_folder(component: str) -> bool:
    """Whether some filesystem takes *component* for `.git`: NTFS ignores its end, HFS+ its middle.

    A colon begins a stream of the same file on NTFS.
    """
    plain = component.translate(_WITHOUT_JOINERS).lower()
    return plain.split(":", 1)[0].rstrip(" .") in _GIT_FOLDERS
