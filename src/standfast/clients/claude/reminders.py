"""L2-REINJECT markers of a repository's rules files, said again with every prompt. Hook path.

The files are those that the client itself loads as rules. They come with the repository: few of
them are read, none that is large, and none through a link; what a marker may say is said by
`reinject_markers`.
"""

from __future__ import annotations

import os

from standfast import linked_files
from standfast.errors.base import StandfastError
from standfast.protocols.resumption.rules import reinject_markers
from standfast.redaction.redactor import might_hold_secret, redact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from standfast.clients.claude.call_notices import Watch
    from standfast.protocols.resumption.rules.reinject_markers import Marker, Refused

FILES = ("CLAUDE.md", ".claude/CLAUDE.md")
RULES = ".claude/rules"

_NAME = b"L2-REINJECT:"
_HEAD = "Standing reminders of this repository:\n"
_HELD_BACK = "its content looks like a secret"
_MOST_FILES, _MOST_FOLDERS = 60, 30
_READ = 256 * 1024


def words(watch: Watch, before: str) -> str:
    """The reminders that the budget has room for, and the client after what is said *before*."""
    found, watch.call.refused = look(watch.call.place.root)
    if watch.call.documents:
        found += reinject_markers.parse(reinject_markers.DEFAULT)[0]
    if not found:
        return ""
    said, _ = reinject_markers.choose(_each_once(found), watch.settings.reinject_tokens)
    while said and not watch.fits(before + _written(said)):
        said.pop()  # the least of them
    return _written(said) if said else ""


def _written(said: list[Marker]) -> str:
    return _HEAD + "".join(f"- {marker.content}\n" for marker in said)


def _each_once(found: list[Marker]) -> list[Marker]:
    return list({marker.content: marker for marker in reversed(found)}.values())[::-1]


def look(root: str) -> tuple[list[Marker], list[tuple[str, bytes, list[Refused]]]]:
    """Every marker of the rules files, and by file what was refused of which contents."""
    markers: list[Marker] = []
    refused: list[tuple[str, bytes, list[Refused]]] = []
    for file in files(root):
        try:
            data = linked_files.read(root, file, limit=_READ)
        except FileNotFoundError:
            continue
        except (StandfastError, OSError) as error:
            problem = error.problem if isinstance(error, StandfastError) else "it cannot be read"
            refused.append((file, problem.encode(), [reinject_markers.Refused(0, problem)]))
            continue
        if _NAME in data:
            good, bad = reinject_markers.parse(data.decode("utf-8", "replace"))
            secret = [each for each in good if _is_secret(each)]
            bad += [reinject_markers.Refused(each.line, _HELD_BACK) for each in secret]
            markers += [each for each in good if each not in secret]
            if bad:
                refused.append((file, data, bad))
    return markers, refused


def _is_secret(marker: Marker) -> bool:
    """What the journal would not hold goes to no model either."""
    return might_hold_secret(marker.content) and redact(marker.content) != marker.content


def files(root: str) -> Iterator[str]:
    """The rules files in the order of their names, also those behind links that stay below."""
    yield from FILES
    folders, left = [RULES], _MOST_FILES
    seen: set[tuple[int, int]] = set()
    for _ in range(_MOST_FOLDERS):
        if not folders:
            return
        folder = folders.pop(0)
        for name, is_folder in _entries(root, folder, seen):
            if is_folder:
                folders.append(f"{folder}/{name}")
            elif name.endswith(".md") and left:
                left -= 1
                yield f"{folder}/{name}"


def _entries(root: str, folder: str, seen: set[tuple[int, int]]) -> list[tuple[str, bool]]:
    """What is in a folder that was not *seen*, and whether that is one itself."""
    try:
        fd = linked_files.open_folder(root, folder)
    except (StandfastError, OSError):
        return []
    try:
        facts = os.fstat(fd)
        if (facts.st_dev, facts.st_ino) in seen:
            return []
        seen.add((facts.st_dev, facts.st_ino))
        with os.scandir(fd) as found:
            entries = [(each.name, _is_folder(each)) for each in found]
    except OSError:
        return []
    finally:
        os.close(fd)
    return sorted(entry for entry in entries if entry[0].isprintable())


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """A link may be one: then its name is not that of a rules file, and opening it will tell."""
    is_link = entry.is_symlink() and not entry.name.endswith(".md")
    return is_link or entry.is_dir(follow_symlinks=False)
