"""The inbox: where a process that may not write the journal leaves what it has to say.

Inside a client's sandbox the git directory is read-only, a temporary folder is not. One file
per fact, `<temporary>/standfast-<id of the journal>/<stray id>.json`, merged by the next
command as *unverified*: anything of this user could have written it, so only kinds that add
and never change are taken, and only as strict, small JSON.
"""

from __future__ import annotations

import os
import re
import stat
from types import NoneType
from typing import TYPE_CHECKING, Any

from standfast import clock, disk
from standfast.errors.base import BadDocument, DiskFailed, StandfastError, UnsafePath
from standfast.journal.author import USER, Author, check
from standfast.journal.chain import sha256
from standfast.journal.fallback.spool import Stray, boot_id
from standfast.journal.payload import encode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from standfast.formats.document_limits import Value

ORIGIN = "inbox, unverified"
KINDS = frozenset({"decision.noted"})
SIZE_LIMIT = 64 * 1024
_NAME = re.compile(r"[0-9a-f]{16}\.json", re.ASCII)
_FIELDS: Mapping[str, tuple[type, ...]] = {
    "kind": (str,),
    "at": (int,),
    "boot": (str,),
    "since_boot": (int,),
    "run": (str, NoneType),
    "session": (str, NoneType),
    "actor": (str,),
    "subdir": (str,),
    "payload": (dict,),
}


def folder_for(journal_folder: str, temporary: str) -> str:
    """The inbox of one journal under one temporary folder."""
    digest = sha256(os.fsencode(os.path.realpath(journal_folder))).hexdigest()[:16]
    return os.path.join(temporary, f"standfast-{digest}")  # no uid: a sandbox may see another


def leave(
    journal_folder: str,
    temporaries: Sequence[str],
    kind: str,
    payload: Mapping[str, object],
    author: Author = USER,
) -> str:
    """Leave one fact in the first temporary folder that can be written; returns the file."""
    check(author, kind)
    stray: dict[str, Value] = {
        "kind": kind,
        "at": clock.now_us(),
        "boot": boot_id(),
        "since_boot": clock.monotonic_ns(),
        "run": author.run,
        "session": author.session,
        "actor": author.actor,
        "subdir": author.subdir,
    }
    from standfast.formats.json_text import write_json

    text = f'{write_json(stray)[:-1]},"payload":{encode(payload)}}}'
    refused: Exception | None = None
    for temporary in temporaries:
        folder = folder_for(journal_folder, temporary)
        path = os.path.join(folder, f"{os.urandom(8).hex()}.json")
        try:
            disk.make_folder(folder)
            _refuse_shared(folder)
            disk.replace(path, text.encode())
        except (OSError, StandfastError) as error:
            refused = error
        else:
            return path
    raise UnsafePath(f"no temporary folder can be written: {refused}")


def _refuse_shared(folder: str) -> None:
    """A temporary folder is everybody's: somebody else may have made ours first."""
    facts = os.lstat(folder)
    private = stat.S_ISDIR(facts.st_mode) and not facts.st_mode & 0o077
    if not private or facts.st_uid != os.geteuid():
        raise UnsafePath("the inbox is not a private folder of this user", file=folder)


def strays(journal_folder: str, temporaries: Sequence[str]) -> Iterator[tuple[str, Stray | str]]:
    """Every file in the inbox: what it says, or why it is refused."""
    for temporary in dict.fromkeys(temporaries):
        folder = folder_for(journal_folder, temporary)
        try:
            _refuse_shared(folder)
            names = sorted(os.listdir(folder))
        except (OSError, UnsafePath):
            continue
        for name in names:
            found = _read(folder, name) if _NAME.fullmatch(name) else None  # else: not left by us
            if found is not None:
                yield os.path.join(folder, name), found


def _read(folder: str, name: str) -> Stray | str | None:
    """What a file says, or why it is refused; None when it cannot be read just now."""
    from standfast.formats.json_text import read_json  # most inboxes are empty

    try:
        found = read_json(disk.read_beneath(folder, name, limit=SIZE_LIMIT), name=name)
        return _stray(name.removesuffix(".json"), found)
    except DiskFailed:
        return None
    except StandfastError as error:
        return error.problem
    except OSError as error:
        return None if disk.is_passing(error) else f"cannot read it: {error.strerror}"


def _stray(stray: str, found: Any) -> Stray:  # noqa: ANN401  # checked field by field
    if not isinstance(found, dict) or set(found) != set(_FIELDS):
        raise BadDocument("it is not an object with exactly the fields of an inbox entry")
    if found["kind"] not in KINDS:
        raise BadDocument("the inbox takes decisions only")
    if not all(
        isinstance(found[field], kinds) and not isinstance(found[field], bool)
        for field, kinds in _FIELDS.items()
    ):
        raise BadDocument("a field has a value of another type")
    if not all(0 <= found[field] < 1 << 62 for field in ("at", "since_boot")):
        raise BadDocument("a time is out of range")
    author = Author(
        found["actor"], run=found["run"], session=found["session"], subdir=found["subdir"]
    )
    from standfast.formats.json_text import write_json

    return Stray(
        stray,
        found["kind"],
        write_json(found["payload"]),
        author,
        at=found["at"],
        boot=found["boot"],
        since_boot=found["since_boot"],
    )
