"""Whose journal this is: its id, where it is at home, where it was, and what was lost before it.

A journal that is gone leaves its id behind, so absence is told from a beginning. One that names
another home was moved, if nobody answers there; where the same id answers, this is a copy.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

UNKNOWN = "unknown"  # the id of a file that cannot be read: something was here
MOST_LOST = MOST_NAMES = 20
_ESCAPES = (("%", "%25"), ("\n", "%0A"), ("\r", "%0D"))


class Original:
    """What a copy was made of: whose events the journal holds up to *through*."""

    __slots__ = ("journal", "path", "through")

    def __init__(self, journal: str, path: str, through: int) -> None:
        self.journal = journal
        self.path = path
        self.through = through


class Identity:
    """A journal as its id file tells of it; without a name the next one is not made yet."""

    __slots__ = ("before", "home", "lost", "mark", "name", "original", "was")

    def __init__(
        self,
        name: str = "",
        home: str = "",
        *,
        was: Iterable[str] = (),
        lost: Iterable[str] = (),
        original: Original | None = None,
        mark: str = "",
        before: Iterable[str] = (),
    ) -> None:
        self.name = name
        self.home = home  # the git directory, or the journal's own folder where there is none
        self.mark = mark  # by which the very folder is known: one that was unpacked has another
        self.was = tuple(was)  # homes before
        self.lost = tuple(lost)  # journals that were here and are gone, until a person says so
        self.original = original
        self.before = tuple(before)  # what it was called by whoever had it before


def read(data: bytes) -> Identity:
    """What an id file says; whatever cannot be read still says that a journal was here."""
    found: dict[str, list[str]] = {}
    for line in data.decode("utf-8", "surrogateescape").split("\n"):
        word, _, said = line.partition(" ")
        found.setdefault(word, []).append(_plain(said))
    lost = [name for name in found.get("lost", []) if _is_name(name)]
    name = found.get("journal", [""])[-1]
    if not _is_name(name):
        name = "" if lost else UNKNOWN
    home = found.get("home", [""])[-1]
    original = _original(found.get("copy", [""])[-1])
    mark = found.get("folder", [""])[-1]
    before = [each for each in found.get("before", []) if _is_name(each)]
    return Identity(name, home, was=found.get("was", ()), lost=lost, original=original, mark=mark,
                    before=before[-MOST_NAMES:])  # fmt: skip


def write(identity: Identity) -> bytes:
    """The same as bytes: a word and what it says on each line."""
    lines = [f"journal {identity.name}", f"home {_escaped(identity.home)}"] if identity.name else []
    lines += [f"folder {identity.mark}"] if identity.name and identity.mark else []
    lines += [f"was {_escaped(path)}" for path in identity.was]
    lines += [f"lost {name}" for name in identity.lost]
    lines += [f"before {name}" for name in identity.before]
    if (copied := identity.original) is not None:
        lines.append(f"copy {copied.through} {copied.journal} {_escaped(copied.path)}")
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape")


def _original(said: str) -> Original | None:
    through, _, rest = said.partition(" ")
    name, _, path = rest.partition(" ")
    is_whole = _is_number(through) and _is_name(name)
    return Original(name, path, int(through)) if is_whole else None


def _is_number(said: str) -> bool:
    return said.isascii() and said.isdigit() and len(said) < 20  # noqa: PLR2004  # what SQLite can count


def _is_name(said: str) -> bool:
    return 0 < len(said) <= 64 and said.isascii() and said.isalnum()  # noqa: PLR2004  # ours have 20


def _escaped(path: str) -> str:
    for plain, escape in _ESCAPES:
        path = path.replace(plain, escape)
    return path


def _plain(said: str) -> str:
    for plain, escape in reversed(_ESCAPES):
        said = said.replace(escape, plain)
    return said


def gone(identity: Identity) -> Identity:
    """The journal of this id is not there: what comes next begins with saying so."""
    names = [name for name in (*identity.lost, identity.name) if name]
    lost = list(dict.fromkeys(names))[-MOST_LOST:]
    return Identity(was=_homes(identity), lost=lost)


class Here:
    """Where a journal is now: its home, the mark of the folder, and the id if it has none yet."""

    __slots__ = ("home", "mark", "new")

    def __init__(self, home: str, mark: str, new: str) -> None:
        self.home = home
        self.mark = mark
        self.new = new


def at_home(
    known: Identity | None, now: Here, *, copied: int | None, is_taken: bool = False
) -> Identity:
    """The id of a journal that is here now: given, kept by one that moved, new for a copy.

    *copied* is the last event of a copy, None where nobody else answers to the same id. One that
    was others' and *is taken* gets another name too: the one before is theirs.
    """
    name, was, lost, original = now.new, list[str](), tuple[str, ...](), None
    before = tuple[str, ...]()
    if known is not None:
        was, lost = [path for path in _homes(known) if path != now.home], known.lost
        is_named = known.name not in {"", UNKNOWN}
        before = known.before
        if is_named and copied is None:
            name, original = known.name if not is_taken else now.new, known.original
        elif is_named and copied is not None:
            original = Original(known.name, known.home, copied)
        if is_named and name != known.name:
            names = [*(each for each in before if each != known.name), known.name]
            before = tuple(names[-MOST_NAMES:])
    return Identity(name, now.home, was=was, lost=lost, original=original, mark=now.mark,
                    before=before)  # fmt: skip


def _homes(identity: Identity) -> list[str]:
    return list(dict.fromkeys(path for path in (*identity.was, identity.home) if path))


def here(path: str, was: Iterable[str], now: str) -> str:
    """A path below a home of before, as it is now; any other stays as it is."""
    at = top(now)
    for root in sorted(map(top, was), key=len, reverse=True):
        is_inside = root != at and is_below(root, at)  # it was moved up, out of a folder of its own
        if is_below(path, root) and (is_inside or not is_below(path, at)):
            return at.rstrip("/") + path[len(root.rstrip("/")) :]
    return path


def top(home: str) -> str:
    """The main checkout of a git directory; one that stands alone is its own."""
    return home.removesuffix("/.git") or "/"


def is_below(path: str, root: str) -> bool:
    """Whether a path is a folder or inside it, by their words alone."""
    return bool(root) and (path == root or path.startswith(root.rstrip("/") + "/"))
