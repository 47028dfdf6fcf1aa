"""Kill -9 at any moment between launch and validation: never a third launch, nothing lost.

Agents are left alive by the kill or killed with it. Each agent writes down that it began and what
it found in its place, so what is asserted was seen from the outside.
"""

import contextlib
import json
import os
import random
import signal
import subprocess
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from harness.faults.world import quick_folder
from standfast.journal import overwritten_files, questions
from standfast.journal.author import STANDFAST
from standfast.journal.store import Journal
from standfast.processes.running_program import Running
from standfast.protocols.outputs.files.stage_outputs import Wanted
from standfast.protocols.outputs.rules import stages
from standfast.protocols.outputs.rules.whole_output import SENTINEL, fault
from standfast.runs.stages import stage_loop
from standfast.runs.stages.launches import Agents, Launch

KILLS = [30, pytest.param(200, marks=pytest.mark.sweep)]
ROLES = {"good": "critical", "torn-once": "critical", "always-torn": "soft", "old": "critical"}
OLD = b"cut off yesterd"
STAGE = stages.Stage("audit", "audit", ROLES)
AGENT = f"""
echo $$ >> pids
out="$STANDFAST_OUTPUT"
if [ -s "$out" ]; then cp "$out" "found/$STANDFAST_ROLE.$$"; fi
echo "$STANDFAST_ROLE" >> launches
printf 'half of %s by %s' "$STANDFAST_ROLE" $$ > "$out"
sleep 0.0$(( $$ % 4 ))
case "$STANDFAST_ROLE.$STANDFAST_ATTEMPT" in always-torn.*|torn-once.1) exit 3;; esac
printf '\\n{SENTINEL}\\n' >> "$out"
"""


class Ground:
    """One session's directory, its journal and its agents."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.session = folder / "session"
        self.session.mkdir()
        (folder / "found").mkdir()
        self.journal_folder = str(folder / "journal")
        self.wanted = Wanted(STAGE, str(self.session))
        (self.session / "audit-old.md").write_bytes(OLD)

    def begin(self, launch: Launch) -> Running:
        told = {
            "STANDFAST_OUTPUT": launch.path,
            "STANDFAST_ROLE": launch.role,
            "STANDFAST_ATTEMPT": str(launch.attempt),
        }
        return Running.begin(
            ["sh", "-c", AGENT],
            cwd=str(self.folder),
            env={**os.environ, **told},
            keep_open=[launch.lock],
        )

    def run(self) -> str:
        journal = Journal(self.journal_folder)
        tasks = dict.fromkeys(ROLES, "Look.")
        _, gate = stage_loop.run(
            journal, self.wanted, tasks, Agents(self.begin, 2, 30.0), STANDFAST
        )
        journal.close()
        return gate.verdict

    def lines(self, name: str) -> list[str]:
        path = self.folder / name
        return path.read_text(encoding="utf-8").split() if path.exists() else []

    def kill_agents(self) -> None:
        for pid in self.lines("pids"):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(int(pid), signal.SIGKILL)


def apart(act: Callable[[], str]) -> tuple[int, int]:
    """Do it in a process of its own; its number, and a pipe that tells what it gave back."""
    mine, its = os.pipe()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.close(mine)
            os.write(its, act().encode())
            status = 0
        except BaseException:
            traceback.print_exc()
            raise
        finally:
            os._exit(status)
    os.close(its)
    return pid, mine


def ended(pid: int, pipe: int) -> str:
    with os.fdopen(pipe, encoding="utf-8") as told:
        said = told.read()
    _, status = os.waitpid(pid, 0)
    assert status == 0, "the stage did not come to its end"
    return said


@pytest.fixture
def ground_after() -> Iterator[Callable[[], Ground]]:
    with tempfile.TemporaryDirectory(dir=quick_folder(), ignore_cleanup_errors=True) as top:
        numbers = iter(range(10_000))

        def make() -> Ground:
            folder = Path(top, str(next(numbers)))
            folder.mkdir()
            return Ground(folder)

        yield make


@pytest.mark.req("OUT-04", "OUT-05", "OUT-06", "OUT-11")
@pytest.mark.parametrize("most", KILLS)
def test_killed_at_any_moment_nothing_is_launched_a_third_time_or_lost(
    ground_after: Callable[[], Ground], most: int
) -> None:
    began = time.monotonic()
    assert ended(*apart(ground_after().run)) == "SOFT_CONTINUE"
    whole = time.monotonic() - began
    dice = random.Random(20261115)
    kills = 0
    while kills < most:
        ground = ground_after()
        for _ in range(dice.randint(1, 3)):
            kills += is_killed(ground, dice.uniform(0, whole), with_agents=dice.random() < 0.5)
        verdict = ended(*apart(ground.run))
        judge(ground, verdict)


def is_killed(ground: Ground, after_s: float, *, with_agents: bool) -> bool:
    """Begin the stage and kill it after a while; False if it had come to its end by then."""
    pid, pipe = apart(ground.run)
    with contextlib.suppress(subprocess.TimeoutExpired):
        wait_for_end(pipe, after_s)
    os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    os.close(pipe)
    if with_agents:
        ground.kill_agents()
    return os.WIFSIGNALED(status)


def wait_for_end(pipe: int, most_s: float) -> None:
    import select

    watch = select.poll()
    watch.register(pipe, select.POLLIN)
    watch.poll(most_s * 1000)


def judge(ground: Ground, verdict: str) -> None:
    times = Counter(ground.lines("launches"))
    assert max(times.values(), default=0) <= 2, times
    journal = Journal(ground.journal_folder)
    kept = {
        json.loads(event.payload)["digest"]
        for event in questions.events(journal, questions.Filter(kind=overwritten_files.KIND))
    }
    for found in (ground.folder / "found").iterdir():
        data = found.read_bytes()
        assert fault(data) is not None, "a valid output was written over"
        assert sha256(data).hexdigest() in kept, "what was written over is not in the journal"
    if times["old"]:
        assert sha256(OLD).hexdigest() in kept, "what was taken away is not in the journal"
    for role, launched in times.items():
        known = journal.query("SELECT value ->> 'times' FROM cells WHERE key = ?", (
            f"output.launched:{ground.wanted.path(role)}",))  # fmt: skip
        assert known[0][0] >= launched, "a launch was not counted before it began"
    bad = [role for role in ROLES if fault_of(ground, role) and ROLES[role] == "critical"]
    assert (verdict == "HARD_FAIL") == bool(bad)
    journal.close()


def fault_of(ground: Ground, role: str) -> str | None:
    path = Path(ground.wanted.path(role))
    return fault(path.read_bytes()) if path.exists() else "missing"


@pytest.mark.req("OUT-06", "OUT-11")
def test_eight_processes_run_one_stage_and_each_agent_is_launched_once(
    ground_after: Callable[[], Ground],
) -> None:
    ground = ground_after()

    begun = [apart(ground.run) for _ in range(8)]
    verdicts = [ended(*each) for each in begun]

    # One that looked while another had an agent at work says so, and leaves that to it.
    assert set(verdicts) <= {"SOFT_CONTINUE", "PENDING"}
    assert verdicts.count("SOFT_CONTINUE") > 0
    assert Counter(ground.lines("launches")) == {
        "good": 1, "torn-once": 2, "always-torn": 2, "old": 1,
    }  # fmt: skip
    journal = Journal(ground.journal_folder)
    counted = [event.kind for event in questions.events(journal, questions.Filter())]
    assert counted.count("output.launched") == 6
    assert counted.count("output.received") == 3
    assert counted.count("stage.gated") == 8
    journal.close()
