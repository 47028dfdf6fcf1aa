"""What every part of a lane's way needs at hand: the journal, the repository, and whom to tell."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from standfast import clock
from standfast.effects.settlement import perform
from standfast.errors.base import StandfastError
from standfast.errors.lanes import LaneBusy, LaneEnded
from standfast.git import worktree_state
from standfast.protocols.checkpoints.records import checkpoint_records as recorded
from standfast.protocols.checkpoints.rules import checkpoint_fields as fields
from standfast.protocols.resumption.records.followers import follow
from standfast.runs import run_locks
from standfast.runs.lanes import files_before
from standfast.runs.records import lane_records as told
from standfast.runs.records import run_log
from standfast.runs.rules import lane_steps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from decimal import Decimal

    from standfast.effects.effect_folder import Folder
    from standfast.effects.rules import Ended
    from standfast.effects.settlement import Effect
    from standfast.formats.document_limits import Value
    from standfast.git.command import Git
    from standfast.journal.author import Author
    from standfast.journal.store import Journal
    from standfast.journal.transaction import Writing
    from standfast.plans.lane_spec import Gate, Spec
    from standfast.protocols.checkpoints.rules.checkpoint import Record
    from standfast.runs.rules.lane_steps import Standing


class Work(NamedTuple):
    """One lane that is being taken on, and everything around it."""

    journal: Journal
    spec: Spec
    git: Git  # of the main checkout
    log_path: str
    author: Author
    environ: Mapping[str, str]
    claim: Callable[[Writing], None]  # the checkpoint file is wanted from now on
    render: Callable[[], None]
    tell: Callable[[str], None]
    hide: Callable[[], None] = lambda: None  # files that are about to be made, from `git status`
    spare: Sequence[str] = ()  # files of ours that are never committed, relative
    push_to: Sequence[str] = ()  # the only addresses that its branch may be pushed to
    may_begin: Callable[[], str] = lambda: ""  # why no further agent may be begun, if none may
    is_stopped: Callable[[], bool] = lambda: False  # by a person: then no further step is taken
    # Each iteration of a gate, in one transaction with it; gives what the gate is known by then.
    gated: Callable[[Writing, Gate, str, Mapping[str, Decimal]], str] = lambda *_: ""

    @property
    def root(self) -> str:
        """The main checkout."""
        return str(self.git.directory)

    @property
    def tree(self) -> Git:
        """The lane's worktree, as it is now: an agent may have put another one there."""
        return self.git.at(self.spec.worktree)

    def standing(self) -> Standing:
        """How the lane stands now."""
        return told.standing(self.journal, self.spec)

    def own_folder(self) -> str:
        """Where prompts of this lane are kept, beside the journal."""
        return os.path.join(
            self.journal.folder, run_locks.LANES, run_locks.digest(*self.spec.names)
        )


def is_taken(journal: Journal, names: Sequence[str]) -> bool:
    """Whether somebody takes this lane on at the moment."""
    return run_locks.is_taken(journal, run_locks.LANES, *names)


def free_of_locks(work: Work, tree: Git) -> None:
    """Wait for a git that outlived its caller; locks of one that died with it are taken away."""
    own, common = tree.git_directory(), tree.common_directory()
    branch = common / "refs" / "heads" / f"{work.spec.branch}.lock"
    busy = worktree_state.clear((own / "index.lock", own / "HEAD.lock", branch))
    if busy is not None:
        raise LaneBusy(f"git is at work in the lane's worktree: {busy}", file=work.spec.worktree)


@contextmanager
def recording(work: Work) -> Iterator[Writing]:
    """One transaction; the faces follow once something is waited for, or the lane's way ends."""
    work.hide()
    with work.journal.writing() as tx:
        yield tx
        follow(tx, work.author)
        work.claim(tx)


def see_to(work: Work, effect: Effect) -> Ended | None:
    """Let an effect happen once, and wait for it; None where only a look at the world knows."""
    work.render()

    def ready(attempt: Folder) -> None:
        effect.ready(attempt)
        files_before.note(work.tree, attempt)

    return perform(work.journal, effect._replace(ready=ready), work.author).ended


def resume(spec: Spec) -> str:
    """How a person goes on with this lane."""
    run_id, phase, lane = spec.names
    return f"standfast lane resume --run-id {run_id} --phase {phase} --lane {lane}"


def step(
    work: Work,
    tx: Writing,
    name: str,
    number: int,
    state: str,
    facts: Mapping[str, str] | None = None,
) -> None:
    """Tell of one step of the lane."""
    told.tell(tx, work.spec, name, number, state, work.author, facts)


def leave(work: Work, name: str, number: int, facts: Mapping[str, str]) -> NoReturn:
    """Somebody ended a command: no failure of the work, and whoever resumes goes on from here."""
    with recording(work) as tx:
        step(work, tx, name, number, lane_steps.ENDED, facts)
    raise LaneEnded(f"{'/'.join(work.spec.names)} was stopped: {name} was ended from outside")


def checkpoint(work: Work, tx: Writing, stage: str, status: str, **said: Value) -> None:
    """Write one record of the protocol, whole."""
    spec = work.spec
    before = recorded.latest_own(work.journal, *spec.names)
    carried: Record = {}
    if before is not None and "base_sha" in before.record:
        carried["base_sha"] = before.record["base_sha"]
    record: Record = {
        **carried,
        "run_id": spec.run_id,
        "phase": spec.phase,
        "lane": spec.lane,
        "stage": stage,
        "status": status,
        "base_branch": spec.base,
        "worktree_path": spec.worktree,
        "log_path": work.log_path,
        "branch": spec.branch,
        "notes": "",
        "timestamp": clock.rfc3339(clock.now_us()),
        **{name: value for name, value in said.items() if value is not None},
    }
    record = fields.in_order(fields.noted(record))
    fields.check(record)
    recorded.upsert(tx, record, work.author)


def log(work: Work, event: str, status: str = "ok", task: str = "-", **more: Value) -> None:
    """One line in the run log, and the same for who watches; a log in trouble stops nothing."""
    spec = work.spec
    entry = {
        "ts": clock.rfc3339(clock.now_us()),
        "run_id": spec.run_id,
        "phase": spec.phase,
        "lane": spec.lane,
        "task": task,
        "event": event,
        "status": status,
        **{name: value for name, value in more.items() if value is not None},
    }
    try:
        work.hide()
        run_log.append(work.log_path, entry, run_log.key(work.journal.folder, may_make=True))
    except (StandfastError, OSError) as error:
        why = getattr(error, "problem", None) or str(error)
        work.tell(f"the run log cannot be written: {why}")
    said = str(more.get("notes") or more.get("cmd") or "").splitlines()
    work.tell(f"{event:<20} {task if task != '-' else ''} {said[0] if said else ''}".rstrip())
