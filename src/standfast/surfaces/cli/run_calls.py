"""Taking runs on from the command line: begun, watched, stopped, and what is said at the end."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING

from standfast.effects import door
from standfast.errors.base import JournalGone, StandfastError
from standfast.errors.lanes import LaneEnded, RunBusy
from standfast.runs import baseline, run_locks, stale_section
from standfast.runs.active_run import Around, Going
from standfast.runs.engines.local import Engine
from standfast.runs.notification import Notifier
from standfast.runs.records import lane_records
from standfast.runs.records import run_records as told
from standfast.runs.rules.schedule import Outcome, in_short
from standfast.runs.section_updates import Documents
from standfast.surfaces.cli import grounds, lane_workers, run_summary, trust_question
from standfast.surfaces.cli.lane_workers import author
from standfast.surfaces.cli.run_display import Watch
from standfast.surfaces.cli.screen import speak

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from standfast.runs.records.run_records import Run
    from standfast.runs.rules.schedule import Name
    from standfast.surfaces.cli.command_context import Context

STATUSES: Mapping[Outcome, int] = {
    Outcome.DONE: 0,
    Outcome.FAILED: 1,
    Outcome.NEEDS: 115,
    Outcome.PARKED: 116,
    Outcome.STOPPED: 117,
}
STATUSES_TOLD = (
    "Exits 0 when all is done, 1 when a lane failed, 115 when a person is needed, 116 when lanes"
    " are parked, 117 when it was stopped (whatever failed in it before), 130 after Ctrl-C."
)


def take_on(
    context: Context,
    wanted: Sequence[Run],
    asked: Mapping[str, Sequence[Name]] | None = None,
    *,
    wait_s: float | None = None,
    phase: str | None = None,
    given: Sequence[str] = (),
) -> int:
    """Take runs on until each is over, and say how they ended; the worst gives the status.

    One that this user did not begin here is refused; where there are several, it takes no other
    along. *given*: the fingerprints that a person names.
    """
    for run in wanted:
        grounds.refuse_elsewhere(context, run.run_id, run.names)
    context.may_write()
    wanted, push_to, refused = _trusted(context, wanted, given)
    if refused is not None and not wanted:
        raise refused
    stale_section.refuse_stale(context.journal, context.place.root, context.config.session)
    with ExitStack() as held:
        wanted = [run for run in wanted if _holds(context, held, run, is_only=len(wanted) == 1)]
        _begin(context, wanted)
        watch = held.enter_context(Watch(context))
        goings = []
        for run in wanted:
            worker = lane_workers.worker(
                context, watch.teller(run), push_to=push_to, run_id=run.run_id
            )
            around = _around(context, run, watch)
            chosen = (asked or {}).get(run.run_id, ())
            goings.append(Going(context.journal, run, worker, around, chosen, wait_s=wait_s,
                                phase=phase))  # fmt: skip
        engine = Engine(goings, watch.look, lambda: _first(context, goings, watch))
        try:
            engine.run()
        except KeyboardInterrupt:
            _leave(context)
            raise
        except JournalGone:
            door.end_begun()
            raise
        outcomes = _close(context, goings)
        watch.faces.close()
    run_summary.tell(context, goings, outcomes)
    if engine.was_interrupted:
        raise KeyboardInterrupt
    if refused is not None:
        raise refused
    worst = next((outcome for outcome in Outcome if outcome in outcomes.values()), Outcome.DONE)
    return STATUSES[worst]


def _trusted(
    context: Context, wanted: Sequence[Run], given: Sequence[str]
) -> tuple[list[Run], tuple[str, ...], StandfastError | None]:
    """The runs that this user began here, where they push to, and why there are no others."""
    ours: list[Run] = []
    push_to: tuple[str, ...] = ()
    refused: StandfastError | None = None
    for run in wanted:
        specs = lane_records.of_run(context.journal, run.run_id)
        try:
            push_to = trust_question.see_to(context, specs, given) or push_to
        except StandfastError as error:
            if refused is not None:
                speak(refused.problem, sys.stderr)
            refused = error
            continue
        ours.append(run)
    return ours, push_to, refused


def _holds(context: Context, held: ExitStack, run: Run, *, is_only: bool) -> bool:
    """Take a run's lock; where there are several, one that is busy takes no other along."""
    try:
        held.enter_context(run_locks.taken(context.journal, run_locks.RUNS, run.run_id))
    except RunBusy as busy:
        if is_only:
            raise
        speak(busy.problem, sys.stderr)
        return False
    return True


def _leave(context: Context) -> None:
    """Somebody would not wait until what runs was ended."""
    if not context.json:
        words = "left at once; what runs is being ended: `standfast resume` begins it again"
        speak(f"{words}, `standfast ps` shows what is left", sys.stderr)
        for words in lane_workers.left(context):
            speak(words, sys.stderr)


def _first(context: Context, goings: Sequence[Going], watch: Watch) -> None:
    """The baseline of each; where there are several, one that fails takes no other along."""
    for going in goings:
        try:
            baseline.check(going, lane_workers.worker(context, watch.teller_at_once(going.run)))
        except LaneEnded:
            going.stop()
        except (StandfastError, OSError) as error:
            going.refuse(error)
            if len(goings) == 1:
                _close(context, goings)
                raise
    watch.begin(goings)


def _begin(context: Context, wanted: Sequence[Run]) -> None:
    """A run that somebody takes on again is not stopped any more."""
    with context.journal.writing() as tx:
        for run in wanted:
            is_known = told.word(context.journal, run.run_id).state == told.GOING
            if run.is_plan or not is_known:
                told.tell(tx, run.run_id, told.GOING, author(context))


def _around(context: Context, run: Run, watch: Watch) -> Around:
    who = author(context)
    root = context.place.main_root
    return Around(
        root=root,
        documents=Documents(root, run.run_id, who, watch.say(run)),
        notifier=Notifier(context.config.notify, dict(context.environ), who),
    )


def _close(context: Context, goings: Sequence[Going]) -> dict[str, Outcome]:
    """How each ended: told to the journal, then rendered."""
    ended = {each.run.run_id: each.over() for each in goings}
    with context.journal.writing() as tx:
        for each in goings:
            found = ended[each.run.run_id]
            is_stopped = told.word(context.journal, each.run.run_id).state == told.STOPPED
            if each.run.is_plan:
                state = told.DONE if each.is_done else told.STOPPED if is_stopped else told.GOING
                whys = {key: in_short(each.whys(stands)) for stands, key in told.WHYS.items()}
                told.tell(tx, each.run.run_id, state, author(context), outcome=found, **whys)
    return ended
