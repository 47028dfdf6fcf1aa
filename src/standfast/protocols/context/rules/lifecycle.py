"""Where a role is between two compactions: its states, the legal moves, and the states file.

A role has a machine of its own: active → saving → saved → compacting → recovering → active. A
save that fails goes back to where it came from, what was saved may be saved again, and work may
go on after it. Whoever wants to be elsewhere goes there by legal moves, one after the other.

The file is shell: sourcing it sets variables and does nothing else. A role and its machine are
allow-listed names, so nothing in them can end a word. Pure; hooks of agents with a role load it.
"""

from __future__ import annotations

from standfast import ids
from standfast.errors.base import FaceInvalid, IllegalMove
from standfast.text import one_line

ACTIVE, SAVING, SAVED = "active", "saving", "saved"
COMPACTING, RECOVERING = "compacting", "recovering"

# By the number that a shell knows each by: those below 11 are not ours to give.
STATES = {11: ACTIVE, 12: SAVING, 13: SAVED, 14: COMPACTING, 15: RECOVERING}

MOVES = {
    ACTIVE: (SAVING,),
    SAVING: (SAVED, ACTIVE),
    SAVED: (COMPACTING, SAVING, ACTIVE),
    COMPACTING: (RECOVERING,),
    RECOVERING: (ACTIVE,),
}

LIMIT = 64 * 1024
_STATE = 2  # the line of the file that may be another one
_NUMBERS = {state: number for number, state in STATES.items()}


def machine_name(role: str) -> str:
    """The name of a role's machine; other roles may have the same, so it is given out once."""
    return ids.role(role).replace("-", "_")


def check(before: str, after: str, role: str = "") -> None:
    """Refuse a move that is not legal, naming those that are."""
    if after in MOVES[before]:
        return
    whose = f"`{role}` is" if role else "it is"
    legal = " or ".join(MOVES[before])
    raise IllegalMove(f"{whose} {before} and cannot be {after} next; from here: {legal}")


def path(before: str, after: str) -> tuple[str, ...]:
    """The shortest way by legal moves; nothing for who is there already."""
    ways: list[tuple[str, ...]] = [(before,)]
    for way in ways:  # it grows behind us; every state can be reached from every other
        if way[-1] == after:
            return way[1:]
        ways += [(*way, state) for state in MOVES[way[-1]] if state not in way]
    raise IllegalMove(f"there is no state `{one_line(after, 40)}`")


# The states file.


def render(role: str, state: str, *, journal: str, event: int) -> bytes:
    """The file, the same bytes for the same facts; *journal* tells repositories apart."""
    head = f"{_head(role, journal)}{event}."
    return "\n".join([head, f"{_current(role)}{_NUMBERS[state]}", *_names(role), ""]).encode()


_BEGINS = "# Kept by Standfast: the lifecycle of "


def _head(role: str, journal: str) -> str:
    return f"{_BEGINS}{ids.role(role)}, journal {journal}, event "


def journal_of(head: str) -> str | None:
    """Which journal a file's first line names; None for a file that is no states file."""
    _, named, rest = head.partition(", journal ")
    return rest.partition(",")[0] if head.startswith(_BEGINS) and named else None


def _names(role: str) -> tuple[str, str, str]:
    """What the numbers mean: a list, and an array by number for a shell that has such a thing.

    Others stop reading before it: it would be a syntax error there.
    """
    name = f"STATES_{variable(role)}"
    by_number = " ".join(f"[{number}]={state}" for number, state in STATES.items())
    return (
        f"{name}='{' '.join(STATES.values())}'",
        '[ -n "${BASH_VERSION-}" ] || return 0',
        f"{name}=({by_number})",
    )


def _current(role: str) -> str:
    return f"STATE_ID_{variable(role)}="


def variable(role: str) -> str:
    """A machine's name as part of a variable's: a dot cannot stand there.

    Two machines may come to the same: a shell that sources both would mix them up.
    """
    return machine_name(role).replace(".", "_dot_")


def read(text: str, role: str, *, journal: str, file: str) -> tuple[str, int]:
    """The state that a file shows, and its line; FaceInvalid for anything that we did not write.

    Only the number of the state may be another one: a shell would run whatever else stands there.
    """
    lines = text.split("\n")
    event = lines[0].removeprefix(_head(role, journal)).removesuffix(".")
    if event == lines[0] or not (event.isascii() and event.isdigit()):
        raise FaceInvalid(_not_ours(lines[0], role), file=file, line=1)
    current = lines[_STATE - 1] if len(lines) >= _STATE else ""
    found = _by_number(current.removeprefix(_current(role)))
    if not current.startswith(_current(role)) or found is None:
        raise FaceInvalid("this is no state; see `standfast context lifecycle.status`",
                          file=file, line=_STATE)  # fmt: skip
    for line, wanted in enumerate((*_names(role), ""), _STATE + 1):
        if line > len(lines) or lines[line - 1] != wanted:
            raise FaceInvalid("only the number of the state may be changed", file=file, line=line)
    if any(each.strip() for each in lines[line:]):
        raise FaceInvalid("nothing may follow the states", file=file, line=line + 1)
    return found, _STATE


def _by_number(text: str) -> str | None:
    return STATES.get(int(text)) if text in {str(number) for number in STATES} else None


def _not_ours(line: str, role: str) -> str:
    if line.startswith(_BEGINS):
        return f"this shows another role or repository, not `{role}` here"
    return "this is not a states file of ours"
