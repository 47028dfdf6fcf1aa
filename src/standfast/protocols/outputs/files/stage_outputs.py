"""What is on disk of the outputs that a stage expects, beside what the journal knows of them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from standfast import disk
from standfast.errors.base import DiskFailed, WrongUsage
from standfast.protocols.outputs.files import output_file
from standfast.protocols.outputs.records import launch_records as recorded
from standfast.protocols.outputs.rules import stages, whole_output
from standfast.protocols.outputs.rules.persistence_gate import Output

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from standfast.journal.author import Author
    from standfast.journal.store import Journal
    from standfast.protocols.outputs.files.output_file import Seen
    from standfast.protocols.outputs.rules.stages import Stage


class Wanted(NamedTuple):
    """Which outputs are asked about: those of a stage, or of some roles of it alone."""

    stage: Stage
    folder: str  # the session's directory
    mode: str = stages.DEEP
    only: tuple[str, ...] = ()  # roles, where somebody says which were begun
    next: tuple[str, ...] = ()  # roles that are about to be launched

    def path(self, role: str) -> str:
        """Where the output of a role belongs."""
        return os.path.join(self.folder, self.stage.output(role))


def look(folder: str, name: str) -> Seen:
    """Read one output of a session's directory."""
    return output_file.look(os.path.join(folder, name))


def expected(
    journal: Journal, wanted: Wanted, inputs: Mapping[str, str] | None = None
) -> list[Output]:
    """Every output that the stage expects now, with all that is known of it.

    *inputs* holds the fingerprint of what each role's output is to be made from.
    """
    every = [
        _output(journal, wanted, role, (inputs or {}).get(role, ""))
        for role in _roles(journal, wanted)
    ]
    if wanted.only:
        return every
    begun = [each for each in every if _is_begun(wanted, each)]
    if wanted.stage.expects == stages.LAUNCHED or wanted.mode == stages.LIGHT:
        return begun
    return begun or every if wanted.stage.expects == stages.PICKED else every


def _roles(journal: Journal, wanted: Wanted) -> list[str]:
    _refuse_shared_names(wanted.stage, wanted.only)
    _refuse_shared_names(wanted.stage, wanted.next)
    if wanted.only:
        return list(wanted.only)
    return list(dict.fromkeys([*wanted.stage.tiers, *wanted.next, *_begun(journal, wanted)]))


def _begun(journal: Journal, wanted: Wanted) -> Iterator[str]:
    """Roles of this stage that were launched before, declared or not: none is forgotten."""
    for path, stage in recorded.launched_in(journal, wanted.folder):
        role = wanted.stage.role_of(os.path.basename(path))
        if role is not None and stage in {None, wanted.stage.name}:
            yield role


def _refuse_shared_names(stage: Stage, roles: Iterable[str]) -> None:
    """Two agents that would write one file are refused before either begins."""
    taken: set[str] = set()
    for role in roles:
        name = stage.output(role)
        if name.lower() in taken:  # some filesystems do not mind the case
            raise WrongUsage(f"two agents of stage `{stage.name}` would both write {name}")
        taken.add(name.lower())


def _is_begun(wanted: Wanted, output: Output) -> bool:
    """By somebody's word, the journal's, or a file's."""
    return output.role in wanted.next or output.launches > 0 or output.fault != whole_output.MISSING


def _output(journal: Journal, wanted: Wanted, role: str, inputs: str) -> Output:
    path = wanted.path(role)
    seen = look(wanted.folder, wanted.stage.output(role))
    known = recorded.known(journal, path)
    made_from = (known.receipt or {}).get("inputs")
    return Output(
        role=role,
        name=wanted.stage.output(role),
        path=path,
        tier=wanted.stage.tier(role, wanted.mode),
        fault=seen.fault,
        digest=seen.digest,
        size=seen.size,
        launches=max(known.launches, int(role in wanted.only)),  # it was said to be begun
        granted=known.granted,
        accepted=str(known.accepted["by"]) if known.accepted else "",
        stale=bool(seen.fault is None and inputs and made_from and made_from != inputs),
    )


def refuse_unwritable(folder: str) -> None:
    """Before a launch is counted: an agent whose file cannot be written works for nothing."""
    try:
        _try_to_write(folder)
    except OSError as error:
        raise DiskFailed(
            f"the session directory cannot be written: {error.strerror}; nothing was launched",
            file=folder,
            remedy="See whose it is with `ls -ld`, or name another with --session-dir.",
        ) from error


def _try_to_write(folder: str) -> None:
    """Rights do not tell: a filesystem may be read-only or full, whoever asks."""
    path = os.path.join(folder, f".standfast-{os.urandom(6).hex()}")
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        os.unlink(path)  # first: a crash leaves nothing behind
        os.write(fd, b"\n")
    finally:
        os.close(fd)


def receive(journal: Journal, output: Output, author: Author, inputs: str = "") -> bool:
    """Make a valid output durable, then keep its receipt; False if that one is known already."""
    disk.sync_and_close(disk.open_regular(output.path))
    disk.sync_folder(os.path.dirname(output.path))
    receipt: dict[str, object] = {
        "digest": output.digest,
        "size": output.size,
        "attempt": output.launches,
    }
    if inputs:
        receipt["inputs"] = inputs
    return recorded.receive(journal, output.path, receipt, author)
