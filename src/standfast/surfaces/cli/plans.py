"""Plans as commands meet them: read from a file, with all that is wrong, and what they name."""

from __future__ import annotations

import os
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from standfast import disk
from standfast.errors import StandfastError, WrongUsage
from standfast.protocol import plan_reading
from standfast.protocol.plan_findings import errors
from standfast.protocol.runners import KNOWN

if TYPE_CHECKING:
    from collections.abc import Mapping

    from standfast.protocol.plan import Plan
    from standfast.surfaces.cli.context import Context

_PROMPT_LIMIT = 1024 * 1024


class Read(NamedTuple):
    """A plan that can be run, and the files that it names."""

    plan: Plan
    file: str  # as it was named
    digest: str  # of the plan and of its prompts
    prompts: Mapping[str, str]  # by file


def read_good(context: Context, file: str) -> Read:
    """The plan in a file; an error with every finding where it cannot be run."""
    path = os.path.join(context.directory, file)
    try:
        data = disk.read_regular(path, limit=plan_reading.LIMIT)
    except FileNotFoundError as error:
        raise WrongUsage("there is no such file", file=path) from error
    known = {*KNOWN, *context.config.runners}
    plan, found = plan_reading.read(data, path, runners=known)
    if plan is None:
        first = errors(found)[0]
        raise WrongUsage(str(first), file=path, line=first.line)
    prompts = _prompts(context, plan)
    parts = [data, *(f"{name}\0{text}".encode() for name, text in sorted(prompts.items()))]
    digest = sha256(b"".join(sha256(part).digest() for part in parts)).hexdigest()
    return Read(plan, file, digest, prompts)


def _prompts(context: Context, plan: Plan) -> dict[str, str]:
    """The prompts that stand in files of their own, below the root of the repository."""
    named = {task.prompt_file for _, lane in plan.lanes() for task in lane.tasks}
    found = {}
    for name in sorted(named - {""}):
        try:
            data = disk.read_beneath(context.place.root, name, limit=_PROMPT_LIMIT)
        except (OSError, StandfastError) as error:
            said = getattr(error, "problem", None) or getattr(error, "strerror", "")
            raise WrongUsage(f"the prompt cannot be read: {said}", file=name) from error
        found[name] = data.decode("utf-8", "replace")
    return found
