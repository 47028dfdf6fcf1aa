"""A command line taken apart, as far as it is nothing but programs one after the other.

What a shell would do beyond that (pipes, redirections, expansions, substitutions, lists) makes it
a line of which nothing is said: whoever asks wants to be sure of every program that runs.
"""

from __future__ import annotations

_SPECIAL = frozenset(";|&<>()`$\n\r#*?[]{}!")
_EXPANDED = frozenset("`$")  # also between double quotes
_ESCAPED = frozenset('`$"\\')  # there, by a backslash
_AND = "&&"
_GAPS = (" ", "\t", "\\\n", _AND)


class _No(Exception):  # it never leaves this module
    pass


def simple_commands(line: str) -> list[list[str]] | None:
    """The words of each command of `A && B && C`; None for any line that is more than that."""
    commands: list[list[str]] = [[]]
    at, is_inside = 0, False  # of a word
    try:
        while at < len(line.rstrip()):
            if gap := next((each for each in _GAPS if line.startswith(each, at)), None):
                at, is_inside = at + len(gap), False
                commands += [[]] if gap == _AND else []
                continue
            at, part = _part(line, at)
            if is_inside:
                part = commands[-1].pop() + part
            commands[-1].append(part)
            is_inside = True
    except (_No, IndexError):
        return None
    return commands if all(commands) else None


def _part(line: str, at: int) -> tuple[int, str]:
    """One character that stands for itself, or what is quoted, and what follows it."""
    char = line[at]
    if char == "'":
        end = line.find("'", at + 1)
        if end < 0:
            raise _No
        return end + 1, line[at + 1 : end]
    if char == '"':
        return _quoted(line, at + 1)
    if char == "\\":
        return at + 2, line[at + 1]
    if char in _SPECIAL:
        raise _No
    return at + 1, char


def _quoted(line: str, at: int) -> tuple[int, str]:
    found = ""
    while line[at] != '"':
        if line[at] in _EXPANDED:
            raise _No
        if line[at] == "\\":
            at += 1
            if line[at] not in _ESCAPED:
                raise _No  # the backslash stays or the line goes on
        found += line[at]
        at += 1
    return at + 1, found
