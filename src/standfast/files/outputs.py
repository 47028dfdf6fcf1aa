"""What is on disk of the outputs that a stage expects, beside what the journal knows of them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from standfast import disk
from standfast.errors import WrongUsage
from standfast.files import output_file
from standfast.journal import outputs as recorded
from standfast.protocol import outputs, stages
from standfast.protocol.gates import Output

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from standfast.files.output_file import Seen
    from standfast.journal.author import Author
    from standfast.journal.store import Journal
    from standfast.protocol.stages import Stage


class Wanted(NamedTuple):
    """Which outputs are asked about: a stage's own, those that were launched, and any others."""

    stage: Stage
    folder: str  # the session's directory
    mode: str = stages.DEEP
    launched: tuple[str, ...] = ()  # roles, where somebody says which
    others: tuple[str, ...] = ()  # roles that the stage does not declare

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
    found = []
    for role in _roles(wanted):
        output = _output(journal, wanted, role, (inputs or {}).get(role, ""))
        if _is_expected(wanted, output):
            found.append(output)
    return found


def _roles(wanted: Wanted) -> list[str]:
    roles = [*wanted.stage.tiers, *wanted.launched, *wanted.others]
    _refuse_shared_names(wanted.stage, wanted.launched)
    _refuse_shared_names(wanted.stage, wanted.others)
    return list(dict.fromkeys(roles))


def _refuse_shared_names(stage: Stage, roles: Iterable[str]) -> None:
    """Two agents that would write one file are refused before either begins."""
    taken: set[str] = set()
    for role in roles:
        name = stage.output(role)
        if name.lower() in taken:  # some filesystems do not mind the case
            raise WrongUsage(f"two agents of stage `{stage.name}` would both write {name}")
        taken.add(name.lower())


def _is_expected(wanted: Wanted, output: Output) -> bool:
    """A stage may expect only what was begun: by its own word, the journal's, or a file's."""
    if output.role in wanted.others or output.role in wanted.launched:
        return True
    if wanted.launched or wanted.stage.expects == stages.LAUNCHED:
        return output.launches > 0 or (not wanted.launched and output.fault != outputs.MISSING)
    return not (wanted.mode == stages.LIGHT and output.fault == outputs.MISSING)


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
        launches=known.launches,
        granted=known.granted,
        accepted=str(known.accepted["by"]) if known.accepted else "",
        stale=bool(seen.fault is None and inputs and made_from and made_from != inputs),
    )


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
