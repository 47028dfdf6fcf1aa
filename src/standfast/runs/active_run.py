"""A run that is being taken on: how its lanes stand, what holds for it, and taking one of them on.

Everything is looked up when it is begun, and the journal is told of all that follows; what is kept
here is what a schedule needs at hand.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from standfast import clock, disk
from standfast.errors.base import DiskFailed, Exhausted, StandfastError
from standfast.errors.lanes import InTheWay, LaneEnded, LaneFailed, LaneParked
from standfast.plans.lane_spec import NONE, PR
from standfast.runs.lanes import lane_loop as lanes
from standfast.runs.lanes import lane_watch
from standfast.runs.lanes.lane_progress import look, state_of
from standfast.runs.notification import FINISHED, NEEDS, PARKED
from standfast.runs.phase_records import Phases
from standfast.runs.records import cost_records, lane_records, run_records
from standfast.runs.rules.schedule import Lane, Outcome, Rules, State, outcome
from standfast.runs.run_locks import ask_commands, end_commands

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from standfast.journal.store import Journal
    from standfast.journal.transaction import Writing
    from standfast.plans.lane_spec import Gate, Spec
    from standfast.runs.lanes.lane_context import Work
    from standfast.runs.notification import Notifier
    from standfast.runs.records.run_records import Run
    from standfast.runs.rules.lane_steps import Standing
    from standfast.runs.rules.schedule import Name
    from standfast.runs.section_updates import Documents

    Worker = Callable[[Journal, Spec], Work]

_EVENTS = {State.FAILED: NEEDS, State.NEEDS: NEEDS, State.PARKED: PARKED}
_PAY = "Resume it; `--cost-limit` says what it may cost for that call."
_DONE = {NONE: "done, and left on its branch", PR: "done, its pull request is open"}
_SUMMED_UP = {State.DONE: "Completed", State.FAILED: "Failed", State.NEEDS: "Blocked"}


class Told(NamedTuple):
    """Something about a lane that somebody may want to see."""

    run_id: str
    name: Name
    lane: Lane


class Around(NamedTuple):
    """What follows a run: the documents of its repository, and whom its user wants told."""

    root: str
    documents: Documents
    notifier: Notifier


class Going:
    """One run, from the first look until it is over."""

    def __init__(
        self,
        journal: Journal,
        run: Run,
        worker: Worker,
        around: Around,
        asked: Sequence[Name] = (),
        *,
        wait_s: float | None = None,
        phase: str | None = None,
    ) -> None:
        self.journal = journal
        self.run = run
        self.graph = run.graph if phase is None else run.graph.only(phase)
        self._worker = worker
        self._around = around
        self._wait_s = wait_s  # how long lanes may be parked with nothing else to do
        self._waiting_since = 0.0
        self._asked = set(asked)  # lanes whose failure somebody has seen to
        self._stopping = ""  # why nothing more is begun
        self._is_limited = False  # that is a limit, and no person
        self._is_ended = False  # somebody would not wait for what runs
        self._is_hasty = False  # nor for its end
        self._until_ns = clock.monotonic_ns() + int(run.time_s * 1e9) if run.time_s else 0
        self.lanes = look(journal, run, self._asked)
        self.heard: Callable[[Told], None] = lambda _: None
        self._phases = Phases(journal, run, around.root, worker, around.documents)

    def rules(self) -> Rules:
        """What holds now: somebody may have stopped it, or a limit is reached."""
        if not self._stopping:
            self._stopping = self._why_to_stop()
        if self._is_ended or self._stopping == run_records.STOPPED:
            self.stop()  # each time: a lane may have been between two commands
        return Rules(self.run.at_once, self.run.stops_at_failure, bool(self._stopping))

    def _why_to_stop(self) -> str:
        # it was told to go on under its lock: whoever stops it comes after that
        if self._is_told_to_stop(self.journal):
            return run_records.STOPPED
        is_late = 0 < self._until_ns <= clock.monotonic_ns()
        self._is_limited = is_late or self._waited_long()
        if not self._is_limited:
            return ""
        return "its time is up" if is_late else "it waited as long as it was to"

    def _waited_long(self) -> bool:
        """Whether nothing has run for longer than anybody wants to wait for parked lanes."""
        now = clock.monotonic_ns() / 1e9
        if any(lane.state is State.RUNNING for lane in self.lanes.values()):
            self._waiting_since = 0.0
            return False
        self._waiting_since = self._waiting_since or now
        return self._wait_s is not None and now - self._waiting_since > self._wait_s

    def stop(self, *, is_hasty: bool = False) -> None:
        """Begin nothing more, and end what runs: whoever resumes goes on from there.

        Whoever is in haste asks it to end, and leaves the rest to those who supervise it.
        """
        self._stopping, self._is_ended = self._stopping or "stopped", True
        self._is_hasty = self._is_hasty or is_hasty
        (ask_commands if self._is_hasty else end_commands)(self.journal, self.run.run_id)

    def refuse(self, why: StandfastError | OSError) -> None:
        """Begin nothing of it, and say why at the lane that would have been the first."""
        error = _told(why)
        self._stopping = error.problem
        first = next(name for name, lane in self.lanes.items() if lane.state is State.WAITING)
        self.lanes[first] = Lane(State.NEEDS, why=error.problem, remedy=error.remedy)
        self._around.notifier.tell(self.journal, NEEDS, self.run.run_id, error.problem)

    def take_on(self, name: Name) -> Lane:
        """Take a lane as far as it goes, in a thread of its own, and tell who wants to know.

        A writer who takes long says nothing of the lane: it is waited for, and told of.
        """
        journal = self.journal.another(lock_timeout_s=None)
        try:
            found = self._take_on(journal, name)
            self._notify(journal, name, found)
            return found
        finally:
            journal.close()

    def _take_on(self, journal: Journal, name: Name) -> Lane:
        """Whatever happens to it, it comes back."""
        try:
            spec = lane_records.find(journal, (self.run.run_id, *name))
            assert spec is not None  # noqa: S101  # told in one transaction with its run
            done = self._go(self._work(journal, spec), is_asked=name in self._asked)
            return state_of(done, is_asked=False)
        except (StandfastError, OSError) as error:
            return self._as_known(journal, name, self._after(_told(error)))
        except Exception as error:  # noqa: BLE001  # one lane's bug must not take the others along
            if (told := Exhausted.of(error)) is not None:
                return self._as_known(journal, name, self._after(told))
            return Lane(State.NEEDS, why=f"a bug in Standfast: {type(error).__name__}: {error}")

    def _as_known(self, journal: Journal, name: Name, found: Lane) -> Lane:
        """In the words that whoever looks at it later finds in the journal, where it has some."""
        if found.state not in (State.FAILED, State.NEEDS):
            return found
        try:
            spec = lane_records.find(journal, (self.run.run_id, *name))
            if spec is None:
                return found
            known = state_of(lane_records.standing(journal, spec), is_asked=False)
        except (StandfastError, OSError):  # the journal itself is in trouble
            return found
        return found._replace(why=known.why) if known.state is found.state else found

    def _go(self, work: Work, *, is_asked: bool) -> Standing:
        """A command begun before this call, and not ended by it, says nothing about this call.

        Whoever left may have told it to end, which takes a while: it need not be over yet.
        """
        before = lane_watch.begun_before(work.journal, work.spec)
        try:
            return lanes.run(work, asked=is_asked)
        except LaneEnded:
            is_older = before and lane_watch.ended_last(work.journal, work.spec) == before
            if not is_older or self._is_stopping(work.journal):
                raise
            return lanes.run(work)

    def _is_stopping(self, journal: Journal) -> bool:
        """Also where somebody has just said so, and the schedule has not looked yet."""
        return self._is_told_to_stop(journal) or bool(self._stopping)

    def _is_told_to_stop(self, journal: Journal) -> bool:
        return run_records.word(journal, self.run.run_id).state == run_records.STOPPED

    def _work(self, journal: Journal, spec: Spec) -> Work:
        """What a lane works with, and what it asks and tells the run."""

        def gated(tx: Writing, gate: Gate, known: str, scores: Mapping[str, Decimal]) -> str:
            is_only = sum(phase == spec.phase for phase, _ in self.lanes) == 1
            name = gate.name if is_only else f"{gate.name}-{spec.lane}"
            return self._around.documents.gate_scored(tx, spec, name, known, scores)

        work = self._worker(journal, spec)
        return work._replace(may_begin=lambda: self._why_none(journal), gated=gated,
                             is_stopped=lambda: self._is_ended)  # fmt: skip

    def _why_none(self, journal: Journal) -> str:
        """Why no further agent may be begun; those that run are never ended for a limit."""
        if self._stopping or not self.run.cost_usd:
            return self._stopping
        spent = cost_records.spent(journal, self.run.run_id).cost_usd
        if spent < Decimal(self.run.cost_usd):
            return ""
        return f"the run has cost {spent} $ of {self.run.cost_usd} $"

    def _after(self, error: StandfastError) -> Lane:
        is_stopped = self._stopping and not self._is_limited
        if isinstance(error, LaneEnded) or (is_stopped and isinstance(error, LaneParked)):
            return Lane(State.ENDED, why=self._stopping or error.problem)
        if isinstance(error, LaneParked):
            remedy = error.remedy if error.until_us or self._stopping else _PAY
            return Lane(State.PARKED, error.until_us or 0, error.problem, remedy, error.since_us)
        state = State.FAILED if isinstance(error, LaneFailed) else State.NEEDS
        return Lane(state, why=error.problem, remedy=error.remedy)

    def _notify(self, journal: Journal, name: Name, lane: Lane) -> None:
        """Once for each time that a lane came to stand like this."""
        event = _EVENTS.get(lane.state)
        if event is None:
            return
        where = "/".join((self.run.run_id, *name))
        self._around.notifier.tell(journal, event, where, lane.why)

    @property
    def is_done(self) -> bool:
        """Whether every lane is, those too that this call was not to begin."""
        return all(lane.state is State.DONE for lane in self.lanes.values())

    def whys(self, state: State) -> dict[str, str]:
        """The lanes that stand like this, and why: no step of theirs may say so."""
        return {
            "/".join(name): lane.why
            for name, lane in self.lanes.items()
            if lane.state is state and not lane.until_us  # a step says until when
        }

    def look(self) -> None:
        """Write down what follows from how the lanes stand; who did it before may have died."""
        with self.journal.writing() as tx:
            for name, lane in self.lanes.items():
                self._sum_up(tx, name, lane, is_news=False)
        for name, lane in self.lanes.items():
            self._notify(self.journal, name, lane)
        self.begun()

    def look_at(self, name: Name) -> None:
        """A lane of which nobody heard how it ended stands as the journal says."""
        self.lanes[name] = look(self.journal, self.run)[name]

    def begun(self) -> None:
        """Something was begun, or ended: its phase may have, with it."""
        if self.run.is_plan:  # lanes that were begun one by one make no phase
            self._phases.look(self.lanes)

    def ended(self, name: Name, lane: Lane) -> None:
        """A lane came back: it is told to whoever listens."""
        self._asked.discard(name)
        self.lanes[name] = lane
        with self.journal.writing() as tx:
            self._sum_up(tx, name, lane, is_news=True)
        self.begun()
        self.heard(Told(self.run.run_id, name, lane))

    def _sum_up(self, tx: Writing, name: Name, lane: Lane, *, is_news: bool) -> None:
        if lane.state in _SUMMED_UP:
            words = (_SUMMED_UP[lane.state], lane.why or self._how_done(name))
            self._around.documents.agent_ended(tx, "/".join(name), *words, is_news=is_news)

    def _how_done(self, name: Name) -> str:
        spec = lane_records.find(self.journal, (self.run.run_id, *name))
        return _DONE.get(spec.merge, "merged") if spec else ""

    def over(self) -> Outcome:
        """How it ended, told once to whoever wants to know."""
        found = outcome({name: self.lanes[name] for name in self.graph.after})
        if found is not Outcome.DONE and self._is_told_to_stop(self.journal):
            return Outcome.STOPPED  # whatever failed in it: it is not over, as `status` says too
        if found is Outcome.PARKED and self._is_ended:
            found = Outcome.STOPPED  # somebody would not wait for the limit either
        elif found is Outcome.STOPPED and self._is_limited and not self._is_ended:
            found = Outcome.PARKED
        if found in (Outcome.DONE, Outcome.FAILED, Outcome.NEEDS):
            self._around.notifier.tell(self.journal, FINISHED, self.run.run_id, found)
        return found


def _told(error: StandfastError | OSError) -> StandfastError:
    """What the system refused, in the user's terms; a lane has one line, so the file is in it."""
    if isinstance(error, OSError):
        error = disk.disk_error(error, str(error.filename or ""))
    if isinstance(error, DiskFailed | InTheWay) and error.file:
        return type(error)(f"{error.problem}: {error.file}", remedy=error.remedy)
    return error
