"""What is wrong with context files, as people and programs are told."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from standfast import clock, disk
from standfast.errors.base import StandfastError, UnsafePath
from standfast.protocols.context.files import context_files
from standfast.protocols.context.rules.context_checks import Finding, validate
from standfast.protocols.context.rules.context_schema import CONTENT, MISSING, finding
from standfast.text import printable

if TYPE_CHECKING:
    from standfast.protocols.context.files.role_files import Seen
    from standfast.surfaces.cli.command_context import Context
    from standfast.surfaces.cli.screen import Screen

_SHOWN = 100  # findings of one file that are printed; `--json` has all
ABSENT, UNREADABLE = "file.missing", "file.unreadable"


class Checked(NamedTuple):
    """One file, and everything that is wrong with it."""

    file: str
    findings: tuple[Finding, ...]

    @property
    def errors(self) -> int:
        """How many findings make it invalid."""
        return sum(each.is_error for each in self.findings)

    @property
    def warnings(self) -> int:
        """How many do not."""
        return len(self.findings) - self.errors

    @property
    def is_read(self) -> bool:
        """Whether there was a text to look at."""
        return not any(each.rule in {ABSENT, UNREADABLE} for each in self.findings)

    def as_dict(self) -> dict[str, object]:
        """For `--json`."""
        return {
            "file": self.file,
            "valid": not self.errors,
            "errors": self.errors,
            "warnings": self.warnings,
            "findings": [
                {"file": self.file, **each._asdict(), "error": each.is_error}
                for each in self.findings
            ],
        }


def minute() -> str:
    """Now, as context files say it."""
    return clock.rfc3339(clock.now_us())[:16] + "Z"


def checked(context: Context, given: str) -> Checked:
    """Look at one file; one that cannot be read is a finding too, never the end of the others."""
    path, data = given, b""
    try:
        path, data = _read(context, given)
        text = context_files.text_of(data, path)
    except FileNotFoundError:
        return Checked(path, (absent("ROLE"),))
    except StandfastError as error:
        return Checked(path, (_unreadable(error),))
    role = context_files.role_of(path)
    found = validate(text, role=role, today=minute())
    if role is None:
        found += (finding("file.name", 1, "the file is not named after a role"),)
    return Checked(path, found)


def of_role(seen: Seen) -> Checked:
    """The same of a role's file that was looked at already."""
    if seen.data is None:
        return Checked(seen.file, (absent(seen.role),))
    if seen.fault is not None:
        return Checked(seen.file, (_unreadable(seen.fault),))
    return Checked(seen.file, seen.findings)


def absent(role: str) -> Finding:
    """That there is no file, and what to do."""
    remedy = f"Check the name, or write the file with `standfast context write {role}`."
    return Finding(MISSING, ABSENT, 1, "there is no such file", remedy)


def _unreadable(error: StandfastError) -> Finding:
    return Finding(CONTENT, UNREADABLE, error.line or 1, error.problem, error.remedy)


def _read(context: Context, given: str) -> tuple[str, bytes]:
    """What somebody named, from the root where it is below that; no link is followed there."""
    root = context.place.root
    try:
        inside = context_files.below(root, context.directory, given)
    except UnsafePath:  # only looked at: that may be anywhere
        path = os.path.join(context.directory, given)
        return given, disk.read_regular(path, limit=context_files.LIMIT)
    return inside, disk.read_beneath(root, inside, limit=context_files.LIMIT)


def told(screen: Screen, each: Checked) -> str:
    """Every finding with its place, its rule and what to do; then whether the file passes."""
    file = printable(each.file)
    lines = []
    for found in each.findings[:_SHOWN]:
        tag = screen.paint(found.tag, "bad" if found.is_error else "dim")
        lines.append(f"{file}:{found.line}: {tag} {found.rule}: {printable(found.says)}")
        lines.append(f"    {printable(found.remedy)}")
    if len(each.findings) > _SHOWN:
        lines.append(f"    and {len(each.findings) - _SHOWN:,} more: `--json` has all of them")
    word = screen.paint("FAIL", "bad") if each.errors else screen.paint("PASS", "good")
    counts = f"{_count(each.errors, 'error')}, {_count(each.warnings, 'warning')}"
    return "\n".join([*lines, f"{word} {file}: {counts}"])


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number:,} {what}s"
