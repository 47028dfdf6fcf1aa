"""What a journal says and this user did not begin here: shown, and begun only if a person says so.

In a terminal they are asked, and no answer is a no. Without one they name the fingerprint of what
they have seen. An agent cannot say it for them.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from standfast import xdg
from standfast.errors.lanes import PushRefused, RunUntrusted
from standfast.git.command import Git
from standfast.plans import trust_marks
from standfast.runs import vouched_lanes
from standfast.runs.records import lane_records
from standfast.runs.vouched_lanes import Where
from standfast.surfaces.cli import consent, persons
from standfast.surfaces.cli.screen import speak
from standfast.text import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from standfast.plans.lane_spec import Spec
    from standfast.runs.lanes.lane_rollback import Foreign
    from standfast.runs.vouched_lanes import Unknown
    from standfast.surfaces.cli.command_context import Context
    from standfast.surfaces.cli.frame import Parser


def configure(parser: Parser) -> None:
    """How a person says it who has no terminal."""
    parser.add_argument("--trust", metavar="FINGERPRINT", action="append", default=[],
                        help="what was refused may be run: I have read it")  # fmt: skip


def where(context: Context) -> Where:
    """Whose word counts here."""
    home, root = xdg.state_home(context.environ), context.place.main_root
    folder = os.path.realpath(context.place.folder)
    return Where(home, folder, root, context.config.worktree_roots)


def addresses(context: Context, specs: Sequence[Spec]) -> tuple[str, ...]:
    """Where these lanes would push to, if any does."""
    return vouched_lanes.addresses(Git(directory=Path(context.place.main_root)), specs)


def began(context: Context, specs: Sequence[Spec], given: Sequence[str]) -> None:
    """This user begins these lanes: that is what is looked up later.

    Where they push to is the repository's word: a path of this machine is trusted by its name.
    """
    here, kept = where(context), vouched_lanes.as_kept(specs)
    vouched_lanes.refuse_elsewhere(here, kept)
    found = addresses(context, kept)
    strange = vouched_lanes.strangers(here, found)
    if strange:
        mark = trust_marks.together(map(trust_marks.of_address, strange))
        names = ", ".join(map(printable, strange))
        words = f"the branch would be pushed to {names} on this machine, where hooks are run"
        if not _says_so(context, given, mark, f"{words}. May it be?"):
            raise PushRefused(f"{words}, and nobody has trusted that",
                              remedy=f"If it may be, call this with `--trust {mark}`.")  # fmt: skip
        vouched_lanes.trust_addresses(here, strange, persons.who(context, None))
    vouched_lanes.vouch(here, kept, found, persons.who(context, None))


def see_to(
    context: Context, specs: Sequence[Spec], given: Sequence[str], *, pushes: bool = True
) -> tuple[str, ...]:
    """Refuse lanes of one run that this user did not begin here; where the others push to."""
    here = where(context)
    found = addresses(context, specs) if pushes else ()
    new = vouched_lanes.unknown(here, specs, found)
    if not new:
        vouched_lanes.refuse_elsewhere(here, specs)
        return found
    _show(new)
    names = f"run {printable(specs[0].run_id)}" if len(specs) > 1 else "/".join(specs[0].names)
    question = "This was not begun by you, here. May it be run on this machine?"
    if not _says_so(context, given, new.fingerprint, question):
        raise RunUntrusted(
            f"{names} was not begun here by this user, or it is another one now: its fingerprint is"
            f" {new.fingerprint}",
            remedy="Read what it would do, above; what its journal says was done is taken as done."
            f" If it may, call this again in a terminal, or with `--trust {new.fingerprint}`.",
        )
    vouched_lanes.refuse_elsewhere(here, specs)
    vouched_lanes.vouch(here, new.specs, new.addresses, persons.who(context, None))
    return found


def see_to_command(context: Context, key: str, given: Sequence[str]) -> None:
    """The same for the lane that a command belongs to, by its key."""
    kind, *names = key.split("/")
    if kind != "lane" or not names:
        return
    spec = lane_records.find(context.journal, names[:3])
    specs = [spec] if spec is not None else lane_records.of_run(context.journal, names[0])
    see_to(context, specs, given, pushes=False)


def see_to_records(context: Context, found: Foreign, given: Sequence[str]) -> None:
    """Refuse to move by what the repository says, unless a person has read what and where."""
    here, (run_id, *name) = where(context), found.names
    mark = trust_marks.of_records(found.records, here.root)
    if vouched_lanes.is_vouched(here, run_id, mark):
        return
    for each in trust_marks.of_checkpoints(found.records, "/".join(name), found.lane.tip):
        speak(f"not moved: {each}", sys.stderr)
    whose = f"the checkpoints of {'/'.join(found.names)} are the repository's"
    if not _says_so(context, given, mark, f"{whose}. May its lane be moved by them?"):
        raise RunUntrusted(
            f"{whose}, and nobody has trusted them: their fingerprint is {mark}",
            remedy="Read what would be moved, above. If it may, call this again in a terminal, or"
            f" with `--trust {mark}`.",
        )
    vouched_lanes.vouch_for(here, run_id, mark, persons.who(context, None))


def _show(new: Unknown) -> None:
    for each in trust_marks.covered(new.specs, new.addresses):
        speak(f"not run: {each}", sys.stderr)


def _says_so(context: Context, given: Sequence[str], mark: str, question: str) -> bool:
    """Whether a person says that it may be: by its fingerprint, or in the terminal."""
    if mark in given:
        persons.refuse_agents(context)
        return True
    if context.json or not sys.stdin.isatty():
        return False
    persons.refuse_agents(context)
    return consent.ask(question, usual=False)
