"""Who wrote what is new in a face: looks at git and at what agents were seen doing.

`authorship` decides. Git has a short time for it: what it cannot tell by then is the
repository's. Nothing here writes.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from standfast import authorship, clock
from standfast.authorship import REPOSITORY, Known
from standfast.errors.base import BadDocument, StandfastError
from standfast.faces import look
from standfast.faces.merge import Changes
from standfast.journal import agents_at_work, session_process
from standfast.journal.author import Author
from standfast.journal.tables.folds import ARRIVED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from standfast.faces.face import Face
    from standfast.faces.merge import Record
    from standfast.git.line_origins import Change, Timed
    from standfast.journal.store import Journal

SECONDS = 3.0
OF_REPOSITORY = Author(REPOSITORY)
_AT_ONCE = 64  # versions of a file
_SLACK_US = 50_000  # a filesystem's clock runs in steps
_WRITES = "('Write', 'Edit', 'MultiEdit', 'NotebookEdit')"

# A call that writes is the agent's also where its end was not recorded.
_WROTE = f"""
    SELECT agent, session FROM (
      SELECT agent, session, ended AS seq FROM work
      WHERE what = 'file' AND state = 'edited' AND key IN (?1, ?2, ?3) AND ended > ?4
      UNION ALL
      SELECT agent, work.session, begun FROM work JOIN events ON events.seq = work.begun
      WHERE what = 'call' AND words IN (?1, ?2, ?3) AND begun > ?4
        AND events.payload ->> 'tool' IN {_WRITES})
    ORDER BY seq DESC LIMIT 1"""  # noqa: S608  # our own words

_AT_WORK = """
    SELECT work.state, sessions.process, sessions.ended FROM work
    JOIN events AS began ON began.seq = work.begun
    LEFT JOIN events AS over ON over.seq = work.ended
    LEFT JOIN sessions ON sessions.session = work.session
    WHERE work.what = 'call' AND began.payload ->> 'tool' = 'Bash' AND began.at <= ?1
      AND (work.state IN ('open', 'background') OR over.at >= ?2)"""

_MADE = "SELECT key, agent, session FROM work WHERE what = 'commit'"


def of(
    journal: Journal, face: Face, values: Iterable[str], *, written_us: int | None
) -> dict[str, Author]:
    """The author of each of these; *written_us*: when the file was last written, if known."""
    words = {value: face.judged_as(value) for value in values}
    if not words:
        return {}
    sessions: dict[str, str] = {}
    try:
        wanted = frozenset(words.values())
        known, commits = _look(journal, face, wanted, sessions, written_us)
    except (StandfastError, ValueError):
        return dict.fromkeys(words, OF_REPOSITORY)
    return {value: _author(commits[said], known, sessions) for value, said in words.items()}


def _author(commits: set[str] | None, known: Known, sessions: dict[str, str]) -> Author:
    name = authorship.author(commits, known)
    return Author(name, session=sessions.get(name))


def _look(
    journal: Journal,
    face: Face,
    wanted: frozenset[str],
    sessions: dict[str, str],
    written_us: int | None,
) -> tuple[Known, dict[str, set[str] | None]]:
    wrote = _wrote(journal, face, sessions)
    when = clock.now_us() if written_us is None else written_us
    is_doubtful = _is_doubtful(journal, when)
    if _came_along(journal, face):
        return Known(), dict.fromkeys(wanted)
    if not face.in_git:
        known = Known(wrote=wrote, is_doubtful=is_doubtful)
        return known, dict.fromkeys(wanted, _outside_git(journal, face, when))
    if _is_nested(face):
        return Known(), dict.fromkeys(wanted)
    from pathlib import Path

    from standfast.git.command import Git
    from standfast.git.line_origins import Timed

    timed = Timed(Git(directory=Path(face.root)), SECONDS)
    moves = authorship.moves(timed.head_log())
    made = {}
    for commit, agent, session in journal.query(_MADE) if journal.exists else ():
        made[str(commit)] = str(agent)
        sessions.setdefault(str(agent), str(session))
    known = Known(moves=moves, made_by=made, wrote=wrote, is_doubtful=is_doubtful,
                  is_shallow=timed.is_shallow())  # fmt: skip
    return known, _brought(timed, face, wanted, known)


def _brought(
    timed: Timed, face: Face, wanted: frozenset[str], known: Known
) -> dict[str, set[str] | None]:
    """The commits that brought each of these.

    Most files are either all ours or all theirs: then not every version has to be read.
    """
    changes = timed.changes(face.relative, [commit for commit, _ in known.moves])
    ours = authorship.made_here({change.commit for change in changes}, known)
    if len(ours) == len(changes) and not ours & known.made_by.keys():
        return {value: set() for value in wanted}
    from standfast.git.changes import converted

    if changes and converted(timed.git, face.relative):
        return dict.fromkeys(wanted)
    holds: dict[str, frozenset[str] | None] = {"": frozenset()}
    left = set(wanted)
    for name, data in _versions(timed, changes):
        held = holds[name] = _held(face, data)
        left = set() if held is None else left - held
        if not (ours or left):
            return dict.fromkeys(wanted)
    return {value: authorship.brought(value, changes, holds) for value in wanted}


def _versions(timed: Timed, changes: list[Change]) -> Iterator[tuple[str, bytes]]:
    """Every version of a file, the newest first, a few at a time."""
    every = [blob for change in changes for blob in (change.after, *change.before)]
    readable = [blob for blob in dict.fromkeys(every) if blob and " " not in blob]
    for at in range(0, len(readable), _AT_ONCE):
        for version in timed.contents(readable[at : at + _AT_ONCE]).items():
            timed.left()
            yield version


def _held(face: Face, data: bytes) -> frozenset[str] | None:
    """Everything that a version of the file says; None where it cannot be read."""
    try:
        return frozenset(face.judged_as(record.value) for record in face.read(data, face.path))
    except (StandfastError, BadDocument):
        return None


def _is_nested(face: Face) -> bool:
    """Whether the file is of another repository in this one, a submodule: its git was not asked."""
    folder = os.path.dirname(face.relative)
    while folder:
        if os.path.lexists(os.path.join(face.root, folder, ".git")):
            return True
        folder = os.path.dirname(folder)
    return False


def _came_along(journal: Journal, face: Face) -> bool:
    """Whether the journal arrived with its directory, and this file was not looked at here since.

    Its own memory of the file is the sender's too, and so are the drafts beside it.
    """
    if not journal.exists:
        return False
    if journal.is_anothers:
        return True
    rows = journal.query("SELECT max(seq) FROM events WHERE kind = ?", (ARRIVED,))
    return bool(rows and rows[0][0]) and look.known_since(journal, face.name) < int(rows[0][0])


def _outside_git(journal: Journal, face: Face, written_us: int) -> set[str] | None:
    """The first that is seen of a file may have come from anywhere.

    Beside the journal only people and agents of this machine write, since it was begun there.
    """
    if face.root == journal.folder and journal.exists:
        ((began_us,),) = journal.query("SELECT min(at) FROM events")
        if began_us is not None and began_us <= written_us:
            return set()
    is_known = journal.exists and look.remembered(journal, face).digest is not None
    return set() if is_known else None


def _wrote(journal: Journal, face: Face, sessions: dict[str, str]) -> str | None:
    """The agent that was last seen writing the file since the journal knew it."""
    if not journal.exists:
        return None
    paths = (face.relative, face.path, f".git/standfast/{face.relative}")
    for agent, session in journal.query(_WROTE, (*paths, look.known_since(journal, face.name))):
        sessions[str(agent)] = str(session)
        return str(agent)
    return None


def _is_doubtful(journal: Journal, written_us: int) -> bool:
    """Whether a command of an agent ran at that moment: it may have written anything.

    Of a client's that its hooks told of, or one that we run.
    """
    if not journal.exists:
        return False
    first, last = written_us - _SLACK_US, written_us + _SLACK_US
    rows = journal.query(_AT_WORK, (last, first))
    return agents_at_work.was(journal, first, last) or any(
        state not in {"open", "background"}
        or (ended is None and not session_process.is_gone(process))
        for state, process, ended in rows
    )


def signed(changes: Changes, by: dict[str, Author]) -> Changes:
    """The changes with their authors.

    The repository's is what nobody judged, and what stands for the first time among its words:
    a journal that lost it finds it there.
    """

    def sign(each: Record, *, is_foreign: bool) -> Record:
        return each._replace(by=OF_REPOSITORY if is_foreign else by.get(each.value, OF_REPOSITORY))

    return Changes(
        added=tuple(sign(each, is_foreign=each.is_foreign) for each in changes.added),
        amended=tuple(sign(each, is_foreign=False) for each in changes.amended),
    )


def written_us(path: str) -> int | None:
    """When a file was last written or put in its place, by the system's own clock."""
    try:
        return os.stat(path, follow_symlinks=False).st_ctime_ns // 1000
    except OSError:
        return None
