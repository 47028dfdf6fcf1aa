r"""A scripted agent: does what a file says, run by run, so that lanes can be tried without a model.

`python -m standfast.testing.agent SCRIPT.yaml` as a lane's `--runner`. The script is a list of runs
for each task (or under `any`); the nth run does the nth, and the last one stands for all after it:

    one:
    - write: {made.txt: "half of it\n"}
      say: I could not finish.
      exit: 3
    - write: {made.txt: "all of it\n"}
      commit: the rest
      outputs: Looks good.

Files are written below the current folder, `outputs` into every file that the prompt asks for, with
its closing line. Nothing else is done, and nothing that the script does not say.
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, NamedTuple

from standfast import disk, ids
from standfast.errors.base import StandfastError, WrongUsage
from standfast.formats.yaml_text import read_yaml
from standfast.protocols.outputs.rules import whole_output
from standfast.protocols.outputs.rules.prompts import declared_outputs
from standfast.testing.page import Page

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from standfast.formats.yaml_text import Path

ANY = "any"
_KEYS = ("write", "delete", "commit", "outputs", "say", "exit")


class Run(NamedTuple):
    """What one run does, in this order."""

    write: tuple[tuple[str, str], ...] = ()
    delete: str = ""
    commit: str = ""
    outputs: str = ""
    say: str = ""
    exit: int = 0


def read_script(data: bytes | str, *, name: str) -> dict[str, tuple[Run, ...]]:
    """The runs of each task, or what is wrong with the script in which line."""
    page = Page(read_yaml(data, name=name), name)
    return {
        task: tuple(_run(page, (task, number)) for number in page.indexes((task,)))
        for task in page.mapping(())
    }


def _run(page: Page, at: Path) -> Run:
    page.only(at, *_KEYS)
    files = tuple(
        (ids.relative_path(path, what="file"), page.text((*at, "write", path)))
        for path in (page.mapping((*at, "write")) if page.has((*at, "write")) else ())
    )
    return Run(
        write=files,
        delete=page.text((*at, "delete")),
        commit=page.text((*at, "commit")),
        outputs=page.text((*at, "outputs")),
        say=page.text((*at, "say")),
        exit=page.number((*at, "exit"), 0),
    )


def due(script: Mapping[str, Sequence[Run]], task: str, attempt: int) -> Run:
    """What the nth run of a task does."""
    runs = script.get(task) or script.get(ANY) or ()
    if not runs:
        raise WrongUsage(f"the script says nothing of task `{task}`")
    return runs[min(attempt, len(runs)) - 1]


def act(run: Run, prompt: str) -> int:
    """Do it here and now."""
    for path, text in run.write:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        disk.replace(path, text.encode(), mode=0o644)
    if run.delete:
        os.unlink(ids.relative_path(run.delete, what="file"))
    if run.commit:
        _git("add", "-A")
        _git("commit", "-q", "-m", run.commit)
    for path in declared_outputs.declared(prompt) if run.outputs else []:
        disk.replace(path, f"{run.outputs}\n\n{whole_output.SENTINEL}\n".encode(), mode=0o644)
    if run.say:
        print(run.say, file=sys.stderr if run.exit else sys.stdout)
    return run.exit


def _git(*words: str) -> None:
    subprocess.run(["git", *words], check=True, stdin=subprocess.DEVNULL)


def main(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Read the script and the prompt, and do what is due."""
    try:
        script = read_script(disk.read_regular(argv[0]), name=argv[0])
        task, attempt = environ.get("STANDFAST_TASK", ANY), environ.get("STANDFAST_ATTEMPT", "1")
        return act(due(script, task, int(attempt)), sys.stdin.read())
    except (StandfastError, OSError) as error:
        print(error, file=sys.stderr)
        return 70


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
