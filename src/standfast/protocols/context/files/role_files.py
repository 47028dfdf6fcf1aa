"""Looking at a role: its context file, checked, and the documents that its recovery names."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from standfast import disk, ids
from standfast.errors.base import StandfastError
from standfast.formats.markdown import BOM
from standfast.protocols.context.files import context_files
from standfast.protocols.context.rules import recovery_steps
from standfast.protocols.context.rules.context_checks import validate

if TYPE_CHECKING:
    from standfast.protocols.context.rules.context_checks import Finding


class Seen(NamedTuple):
    """One role as its files are now."""

    role: str
    file: str  # from the root of the repository
    data: bytes | None  # None: there is no such file
    text: str
    fault: StandfastError | None  # why the file cannot be read as text
    findings: tuple[Finding, ...]  # warnings among them
    skill: str
    architecture: str
    missing: frozenset[str]  # of the two documents

    @property
    def errors(self) -> tuple[Finding, ...]:
        """What makes the file invalid."""
        return tuple(finding for finding in self.findings if finding.is_error)

    @property
    def stops(self) -> tuple[Finding, ...]:
        """What stands between the file and `saved`: what is to be filled in too."""
        return tuple(finding for finding in self.findings if finding.stops_saving)

    @property
    def passes(self) -> bool:
        """Whether the file is there and may be called saved."""
        return self.data is not None and self.fault is None and not self.stops


def look(
    root: str, role: str, *, architecture: str, today: str, upto: int = context_files.LIMIT
) -> Seen:
    """Read and check; nothing is written. *upto*: how many characters there is time to check."""
    skill = recovery_steps.skill_path(ids.role(role))
    file = context_files.relative(role)
    data, text, fault = _read(root, role, file)
    checked = data is not None and fault is None and upto > 0
    return Seen(
        role=role,
        file=file,
        data=data,
        text=text,
        fault=fault,
        findings=validate(text[:upto], role=role, today=today) if checked else (),
        skill=skill,
        architecture=architecture,
        missing=frozenset(path for path in (skill, architecture) if not _is_there(root, path)),
    )


def _read(root: str, role: str, file: str) -> tuple[bytes | None, str, StandfastError | None]:
    try:
        data = context_files.read(root, role)
    except FileNotFoundError:
        return None, "", None
    except StandfastError as error:
        return b"", "", error
    try:
        return data, context_files.text_of(data, file).removeprefix(BOM), None
    except StandfastError as error:
        return data, "", error


def _is_there(root: str, path: str) -> bool:
    try:
        os.close(disk.open_beneath(root, path))
    except (OSError, StandfastError):
        return False
    return True


def make_durable(root: str, seen: Seen) -> None:
    """Sync a file before it is called saved: who wrote it did not."""
    try:
        fd = disk.open_beneath(root, seen.file)
    except FileNotFoundError:
        return  # gone since: the next look will say so
    try:
        disk.sync_and_close(fd)
    except OSError as error:
        raise disk.disk_error(error, seen.file) from error
