"""A plan read from its file, together with the prompts that it names: what is run is what was read.

Everything is read once. Its fingerprint is that of these very bytes, so that nothing can be changed
between the moment at which it is found to be trusted and the moment at which it is run.
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, NamedTuple

from standfast import disk
from standfast.errors.base import NothingFound, StandfastError
from standfast.errors.plans import PlanInvalid
from standfast.plans.checks import plan_checks
from standfast.plans.findings import Finding, errors, in_order, line_of
from standfast.plans.plan_commands import prompt_files
from standfast.plans.readers import plan_reader

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from standfast.plans.model import Plan, Task

_LONGEST_PROMPT = 128 * 1024


class Loaded(NamedTuple):
    """A plan, or None; what is to be said of it; and the bytes that it was made of."""

    file: str  # as it was named
    plan: Plan | None
    findings: list[Finding]
    prompts: Mapping[str, str]  # file -> text
    fingerprint: str

    def need(self) -> Plan:
        """The plan, or PlanInvalid with the first thing that is wrong."""
        if self.plan is not None:
            return self.plan
        wrong = errors(self.findings)
        more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        raise PlanInvalid(f"{wrong[0]}{more}", file=self.file, line=wrong[0].line)


def load(path: str, root: str, *, runners: Collection[str] | None = None) -> Loaded:
    """Read a plan that somebody named, and its prompt files below *root*."""
    try:
        data = disk.read_regular(os.path.realpath(path), limit=plan_reader.LIMIT)
    except FileNotFoundError:
        raise NothingFound("there is no such plan", file=path,
                           remedy="Check the name of the file.") from None  # fmt: skip
    plan, found = plan_reader.read(data, path, runners=runners)
    prompts: dict[str, str] = {}
    digest = hashlib.sha256()
    _add(digest, "plan", data)
    for file in prompt_files(plan) if plan else ():
        text = _prompt(root, file, plan, found)
        prompts[file] = text.decode("utf-8", "replace")
        _add(digest, file, text)
    found += plan_checks.too_long(plan, prompts) if plan else ()
    if errors(found):
        plan = None
    return Loaded(path, plan, in_order(found), prompts, digest.hexdigest())


def _add(digest: hashlib._Hash, name: str, data: bytes) -> None:
    """Names and sizes are part of it: no byte can move from one file to another."""
    head = f"{len(os.fsencode(name))}:{len(data)}:".encode()
    digest.update(head + os.fsencode(name) + data)


def _prompt(root: str, file: str, plan: Plan | None, found: list[Finding]) -> bytes:
    """The bytes of a prompt file; one that cannot be read is told where it was named."""
    try:
        data = disk.read_beneath(root, file, limit=_LONGEST_PROMPT)
    except FileNotFoundError:
        found += [Finding(line, f"there is no file `{file}`") for line in _lines(plan, file)]
        return b""
    except StandfastError as error:
        problem = f"`{file}`: {error.problem}"
        found += [Finding(line, problem, error.remedy) for line in _lines(plan, file)]
        return b""
    if b"\0" in data or not data.strip():
        what = "has a NUL byte" if data.strip() else "is empty"
        found += [Finding(line, f"the file `{file}` {what}") for line in _lines(plan, file)]
    return data


def _lines(plan: Plan | None, file: str) -> list[int]:
    tasks: list[Task] = [task for _, lane in plan.lanes() for task in lane.tasks] if plan else []
    return [line_of(task, "prompt_file") for task in tasks if task.prompt_file == file]
