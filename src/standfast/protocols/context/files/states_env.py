"""The states files: a view of each role's lifecycle that a shell can source.

`<config path>/stateMachines/<machine>.states.env`, one for each machine, so that two agents never
write each other's. A number edited by hand is a move like any other: taken in if it is legal,
refused with its line if not. A file that another repository, or another worktree of this one,
keeps there is left alone; each linked worktree has a folder of its own unless CONFIG_PATH is set.
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, NamedTuple

from standfast import disk
from standfast import journal_id as rules
from standfast.errors.base import BadDocument, FaceInvalid, NothingFound, StandfastError, UnsafePath
from standfast.formats.document_limits import decode
from standfast.journal import id_file, questions
from standfast.journal.author import USER
from standfast.protocols.context.records import lifecycle_records
from standfast.protocols.context.records.lifecycle_records import MAIN, Here
from standfast.protocols.context.rules import lifecycle

if TYPE_CHECKING:
    from standfast.faces.face import Face
    from standfast.faces.merge import Changes, Known, Record
    from standfast.faces.publish import Outcome
    from standfast.journal.store import Journal
    from standfast.journal.transaction import Writing
    from standfast.protocols.context.records.lifecycle_records import Lifecycle

FOLDER = "stateMachines"
SUFFIX = ".states.env"
_HOME = "home:states"
_WORKTREES = "worktrees"
_WORKTREES_KNOWN = """
    SELECT DISTINCT ifnull(value ->> 'worktree', '') FROM cells
    WHERE key >= 'lifecycle:' AND key < 'lifecycle;'"""


def relative(machine: str) -> str:
    """Where a machine's file is below the config path."""
    return f"{FOLDER}/{machine}{SUFFIX}"


class Shown(NamedTuple):
    """The file that stands where a machine's is to be, and whether another repository keeps it."""

    path: str
    is_foreign: bool


def shown(journal: Journal, found: Lifecycle, root: str, here: Here = MAIN) -> Shown | None:
    """What a shell would source; None where there is no such file."""
    path = os.path.join(root, relative(found.machine))
    return Shown(path, is_foreign(journal, found, root, here)) if os.path.lexists(path) else None


def home(journal: Journal, default: str, chosen: str | None = None, here: Here = MAIN) -> str:
    """The one folder where a checkout's files live: *chosen*, else as before, else default.

    As before is where a file was last kept, so that a command from another shell does not keep a
    second set elsewhere.
    """
    return os.path.realpath(chosen or _remembered(journal, here) or default)


def default(journal: Journal, config_home: str, here: Here) -> str:
    """Where the files are of who chose nothing: each linked worktree has a folder of its own."""
    if not here.worktree:
        return config_home
    return os.path.join(config_home, _WORKTREES, _mark(journal, here))


def _home(here: Here) -> str:
    return f"{_HOME}/{here.worktree}" if here.worktree else _HOME


def _recorded(journal: Journal, here: Here) -> str | None:
    found = questions.cell(journal, _home(here))
    return str(found[0].get("root")) if found else None


def _remembered(journal: Journal, here: Here) -> str | None:
    """Where it is now: a folder inside a repository goes where that goes, and is not made anew."""
    recorded = _recorded(journal, here)
    return recorded and id_file.here(journal, recorded)


def _remember(journal: Journal, root: str, here: Here) -> None:
    """Only once a file is kept there: a folder that cannot be used is nobody's home."""
    if root != _remembered(journal, here):
        with journal.writing() as tx:
            tx.set(_home(here), {"root": root})


def refuse_taken(journal: Journal, role: str, root: str, here: Here = MAIN) -> None:
    """Before a lifecycle begins: its file would be the one that another worktree keeps."""
    file = relative(lifecycle.machine_name(role))
    named = _journal_in(root, file)
    if named in _others(journal, here):
        raise UnsafePath(
            f"another worktree of this repository keeps the states of its role `{role}` here",
            file=os.path.join(root, file),
            remedy="Give this worktree a folder of its own: set another CONFIG_PATH, or none.",
        )


def _others(journal: Journal, here: Here) -> set[str]:
    """The marks that files of other checkouts of this repository bear."""
    rows = journal.query(_WORKTREES_KNOWN) if journal.exists else []
    marks = {_mark(journal, Here(str(row[0]))) for row in rows}
    return marks - {_mark(journal, here)}


def keep(journal: Journal, role: str, root: str, here: Here = MAIN) -> Outcome | None:
    """Bring one role's file up to date; None where it says already what it should."""
    found = lifecycle_records.of(journal, role, here)
    if found is None:
        return None
    if _is_settled(journal, found, root, here):
        _remember(journal, root, here)
        return None
    from standfast.faces import publish
    from standfast.faces.look import Became

    file = os.path.join(root, relative(found.machine))
    if is_foreign(journal, found, root, here):
        refused = UnsafePath(
            f"another repository or worktree keeps the states of its role `{role}` here",
            file=file,
            remedy="Give this one a folder of its own: set CONFIG_PATH.",
        )
        return publish.Outcome(became=Became.EDITED, refused=refused)
    try:
        disk.make_folder(os.path.dirname(file))
    except OSError as error:
        raise disk.disk_error(error, os.path.dirname(file)) from error
    outcome = publish.keep(journal, face(journal, role, root, here))
    if outcome.refused is None:
        _remember(journal, root, here)
    return outcome


def keep_all(journal: Journal, default: str, here: Here = MAIN) -> list[Outcome]:
    """Bring every file up to date that is ours, in the folder where this journal's files live."""
    found = lifecycle_records.every(journal, here)
    root = home(journal, default, here=here) if found else ""
    ours = [each for each in found if not is_foreign(journal, each, root, here)]
    kept = [keep(journal, each.role, root, here) for each in ours]
    return [outcome for outcome in kept if outcome is not None]


def is_foreign(journal: Journal, found: Lifecycle, root: str, here: Here = MAIN) -> bool:
    """Two repositories or worktrees may have a role of one name: the first has the file.

    A repository that was moved knows its file by the bytes; so does a copy, but not as its own.
    """
    try:
        data = disk.read_beneath(root, relative(found.machine), limit=lifecycle.LIMIT)
    except (OSError, StandfastError):
        return False  # whoever writes there will find out why
    known = "SELECT 1 FROM faces WHERE face = ? AND digest = ?"
    values = (_name(journal, found.role, root, here), hashlib.sha256(data).hexdigest())
    named = _journal_of(data)
    if named in {None, _mark(journal, here)}:
        return False
    return named == _original_mark(journal, root, here) or not journal.query(known, values)


def _journal_in(root: str, file: str) -> str | None:
    try:
        return _journal_of(disk.read_beneath(root, file, limit=lifecycle.LIMIT))
    except (OSError, StandfastError):
        return None


def _journal_of(data: bytes) -> str | None:
    return lifecycle.journal_of(data.partition(b"\n")[0].decode("utf-8", "replace"))


def _mark(journal: Journal, here: Here) -> str:
    """What tells this checkout's files from another's."""
    return _mark_of(journal.folder, here)


def _original_mark(journal: Journal, root: str, here: Here) -> str | None:
    """What the files of the original bear where this is a copy; those inside it are copies too."""
    known = journal.identity
    if known.original is None or rules.is_below(root, rules.top(known.home)):
        return None
    return _mark_of(os.path.join(known.original.path, os.path.basename(journal.folder)), here)


def _mark_of(folder: str, here: Here) -> str:
    said = f"{folder}\0{here.worktree}" if here.worktree else folder
    return hashlib.sha256(os.fsencode(said)).hexdigest()[:8]


def _name(journal: Journal, role: str, root: str, here: Here) -> str:
    """By the folder as it was called when its files were first kept: they go on after a move."""
    recorded = _recorded(journal, here)
    if recorded and id_file.here(journal, recorded) == root:
        root = recorded
    return f"states/{role}{f'/{here.worktree}' if here.worktree else ''} in {root}"


def _is_settled(journal: Journal, found: Lifecycle, root: str, here: Here) -> bool:
    """Whether the file says what it should, found out without loading the mechanism."""
    known = journal.query(
        "SELECT digest FROM faces"
        " WHERE face = ? AND draft IS NULL AND refused IS NULL AND unsettled IS NULL",
        (_name(journal, found.role, root, here),),
    )
    try:
        present = disk.read_beneath(root, relative(found.machine), limit=lifecycle.LIMIT)
    except (OSError, StandfastError):
        return False
    digest = hashlib.sha256(present).hexdigest()
    return bool(known) and known[0][0] == digest and present == _render(journal, found, here)


def _render(journal: Journal, found: Lifecycle, here: Here) -> bytes:
    mark = _mark(journal, here)
    return lifecycle.render(found.role, found.state, journal=mark, event=found.seq)


def face(journal: Journal, role: str, root: str, here: Here = MAIN) -> Face:
    """The declaration: everything else is the mechanism's."""
    from standfast.faces.face import Face

    found = _of(journal, role, here)
    return Face(
        name=_name(journal, role, root, here),
        root=root,
        relative=relative(found.machine),
        in_git=False,
        render=lambda journal, _: _render(journal, _of(journal, role, here), here),
        read=lambda data, path: read(data, path, role=role, journal=_mark(journal, here)),
        known=lambda journal: _known(_of(journal, role, here)),
        record=lambda tx, changes, origin: _record(tx, changes, origin, role, root, here),
        is_judged=True,
        limit=lifecycle.LIMIT,
    )


def _of(journal: Journal, role: str, here: Here) -> Lifecycle:
    found = lifecycle_records.of(journal, role, here)
    if found is None:
        raise NothingFound(f"role `{role}` has no lifecycle here")
    return found


def read(data: bytes, path: str, *, role: str, journal: str) -> tuple[Record, ...]:
    """The one record of a file: its machine's state."""
    from standfast.faces.merge import Record

    try:
        text = decode(data, name=path, limit=lifecycle.LIMIT)
    except BadDocument as error:
        raise FaceInvalid(error.problem, file=path, line=error.line) from error
    state, line = lifecycle.read(text, role, journal=journal, file=path)
    return (Record(key=lifecycle.machine_name(role), value=state, line=line),)


def _known(found: Lifecycle) -> Known:
    from standfast.faces.merge import Known

    return Known(present={found.machine: found.state}, ever=frozenset())


def _record(tx: Writing, changes: Changes, origin: str, role: str, root: str, here: Here) -> None:
    """A number that somebody changed is a move, if nothing moved meanwhile and it is legal."""
    path = os.path.join(root, relative(lifecycle.machine_name(role)))
    now = lifecycle_records.find(tx.execute, role, here)
    for new in changes.added:
        if now is not None and new.value != now.state:
            problem = f"`{new.value}` was written here while the role became {now.state}"
            raise FaceInvalid(problem, file=path, line=new.line)
    for other in changes.amended:
        try:
            lifecycle_records.move(tx, role, other.value, origin, other.by or USER, here)
        except StandfastError as error:
            raise FaceInvalid(error.problem, file=path, line=other.line) from error
