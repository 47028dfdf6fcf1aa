"""Speed is a promise in ratios: to raw SQLite, a small journal, a bare interpreter, ruamel.yaml.

ratios.py says how each is measured. The strict figures are those of `make bench` on a machine
with nothing else to do.
"""

import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter

import apsw
import pytest
from ruamel.yaml import YAML

import ratios
from places import ROOT
from standfast.brief import brief_text, facts
from standfast.formats import yaml_sections
from standfast.formats.yaml_writer import write
from standfast.journal import questions
from standfast.journal.author import Author
from standfast.journal.store import MIRROR_EVERY, Journal

pytestmark = [pytest.mark.prove, pytest.mark.ratio]

BUILD = ROOT / "build"
TURN = MIRROR_EVERY  # holds the mirror's share, whenever it falls due
BRIEFS = 32
SESSIONS = [Author("lead", session=f"s{number}") for number in range(50)]
RECORD = {
    "tool": "Edit",
    "file": "src/shop/checkout/handlers.py",
    "summary": "replaced the endless retry by a bounded one, with its test",
    "ok": True,
    "ms": 412,
}
TEXT = json.dumps(RECORD, separators=(",", ":"))
BARE = [sys.executable, "-I", "-c", "pass"]
PROGRAMS = {
    "module": [sys.executable, "-m", "standfast"],
    "script": [os.path.join(os.path.dirname(sys.executable), "standfast")],
}


@pytest.fixture
def real_disk() -> Iterator[Path]:
    """Give a folder where a sync costs something: a temporary folder may be in memory."""
    BUILD.mkdir(exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="speed-", dir=BUILD))
    yield folder
    shutil.rmtree(folder)


@pytest.mark.req("PERF-02")
def test_append_reaches_seven_tenths_of_raw_sqlite(real_disk: Path) -> None:
    journal = journal_of(real_disk / "journal", events=1_000)
    append, raw = appender(journal), raw_sqlite(real_disk / "raw.db", rows=1_000)
    settle(append, raw)

    slower = ratios.decile(append, raw, bound=1 / 0.7)

    assert slower <= 1 / 0.7, f"an append reaches {1 / slower:.2f} x raw SQLite"
    journal.close()


@pytest.mark.req("PERF-02")
def test_append_and_brief_at_a_million_events_cost_what_they_cost_at_a_thousand(
    real_disk: Path,
) -> None:
    small = journal_of(real_disk / "small", events=1_000)
    large = journal_of(real_disk / "large", events=1_000_000)
    to_large, to_small = appender(large), appender(small)
    settle(to_large, to_small)

    growth = ratios.decile(to_large, to_small, bound=1.5)

    assert growth <= 1.5, f"an append at 1,000,000 events costs {growth:.2f} x one at 1,000"
    slower = ratios.summed(ratios.computed, briefer(large), briefer(small))
    assert slower <= 1.5, f"a brief at 1,000,000 events takes {slower:.2f} x one at 1,000"
    small.close()
    large.close()


@pytest.mark.req("PERF-07")
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("command", ["--help", "status"])
def test_command_starts_within_six_bare_interpreters(
    repo: Path, tmp_path: Path, program: str, command: str
) -> None:
    journal_of(repo / ".git" / "standfast", events=1_000).close()
    start = starter([*PROGRAMS[program], command], cwd=repo, bytecode=tmp_path / "bytecode")
    bare = starter(BARE, cwd=repo, bytecode=tmp_path / "bytecode")
    start()  # compiles what an installation brings compiled

    times = ratios.summed(ratios.of_the_tree, start, bare)

    assert times <= 6, f"{command} takes {times:.1f} x a bare interpreter"


@pytest.mark.req("PERF-03")
def test_brief_of_10_000_tasks_in_100_000_events_is_quick_and_small(repo: Path) -> None:
    journal = journal_at_work(repo / ".git" / "standfast", events=100_000, tasks=10_000)
    assert questions.last_seq(journal) == 100_000
    journal.close()

    seconds, megabytes = min(run_of_brief(repo) for _ in range(5))

    assert seconds < 0.5
    assert megabytes < 100


@pytest.mark.req("PERF-05")
def test_update_of_200_kb_of_yaml_takes_a_tenth_of_a_round_trip_by_ruamel() -> None:
    text = orchestration(size=200_000)
    found = yaml_sections.find(text, "resumption", "a.yaml")
    assert found is not None
    new = {**found.value, "updates": 2}  # type: ignore[dict-item]  # it is a mapping
    block = write({"resumption": new})

    def update() -> str:
        return yaml_sections.replace(text, "resumption", block, "a.yaml")

    def round_trip() -> str:
        ruamel = YAML()
        document = ruamel.load(text)
        document["resumption"]["updates"] = 2
        ruamel.dump(document, out := io.StringIO())
        return out.getvalue()

    assert update() == text.replace("updates: 1\n", "updates: 2\n")
    share = ratios.summed(ratios.computed, update, round_trip)
    assert share <= 0.1, f"an update takes {share:.3f} x a round trip"


def orchestration(*, size: int) -> str:
    """A file as an orchestrator keeps it: phases with agents, comments, the section at the end."""
    head = "# the plan\nschema_version: '1.0'\nworkflow: {id: wf-1, status: ACTIVE}\npipelines:\n"
    agent = (
        "      - id: agent-{0}-{1}\n        status: COMPLETE  # done\n        score: 0.93\n"
        '        artifact: "docs/phase-{0}/agent-{1}.md"\n'
    )
    phase = "  # phase {0}\n  - id: phase-{0}\n    name: 'Phase {0}: build'\n    agents:\n"
    phases, number = [head], 0
    while sum(map(len, phases)) < size:
        phases.append(phase.format(number) + "".join(agent.format(number, n) for n in range(3)))
        number += 1
    section = "# kept by the orchestrator\nresumption:\n  # for whoever comes next\n  updates: 1\n"
    summaries = "".join(f'    agent-{n}: "PASS. {n} files."\n' for n in range(100))
    return "".join([*phases, section, "  agent_summaries:\n", summaries, "\nmetrics: {a: 1}\n"])


def journal_at_work(folder: Path, *, events: int, tasks: int) -> Journal:
    """A session that has called tools all along and has a list of tasks, half of them done."""
    journal = Journal(str(folder))
    agent = Author("claude", session="mine")
    told = [
        {"id": f"{n}", "words": f"task {n}", "status": "completed" if n % 2 else "pending"}
        for n in range(tasks)
    ]
    with journal.writing() as tx:
        tx.append("session.started", {"source": "startup", "client": "claude"}, agent)
        for first in range(0, tasks, 100):
            tx.append("tasks.told", {"tasks": told[first : first + 100]}, agent)
    left = events - 1 - tasks // 100
    for first in range(0, left, 10_000):
        with journal.writing() as tx:
            for number in range(first, min(first + 10_000, left)):
                call = {
                    "id": f"t{number // 2}",
                    "tool": "Bash",
                    "words": f"make part-{number // 2}",
                }
                tx.append("tool.ended" if number % 2 else "tool.started", call, agent)
    return journal


PEAK = """
import re, sys
from standfast.surfaces.cli.entry import main
status = main(["brief", "mine"])
with open("/proc/self/status", encoding="utf-8") as told:
    print(re.search(r"VmHWM:\\s+(\\d+)", told.read())[1], file=sys.stderr)
sys.exit(status)
"""


def run_of_brief(repo: Path) -> tuple[float, float]:
    """How long the command takes, and the most memory it has."""
    began = perf_counter()
    ran = subprocess.run([sys.executable, "-c", PEAK], cwd=repo, capture_output=True, check=True)
    seconds = perf_counter() - began
    assert b"task 0" in ran.stdout, ran.stdout.decode()
    return seconds, int(ran.stderr) / 1024


def journal_of(folder: Path, *, events: int) -> Journal:
    journal = Journal(str(folder))
    for first in range(0, events, 10_000):
        with journal.writing() as tx:
            for number in range(first, min(first + 10_000, events)):
                tx.append("tool.done", RECORD, SESSIONS[number % len(SESSIONS)])
    return journal


def briefer(journal: Journal) -> Callable[[], object]:
    """Tell one session's work after all the rest, and make its brief."""
    agent, user = Author("claude", session="mine"), Author("user", session="mine")
    journal.append("session.started", {"source": "startup", "client": "claude"}, agent)
    for number in range(20):
        call = {"id": f"t{number}", "tool": "Bash", "words": f"make test-{number}"}
        journal.append("prompt", {"text": f"make number {number} work"}, user)
        journal.append("tool.started", call, agent)
        journal.append("tool.ended", call, agent)

    def make() -> None:
        for _ in range(BRIEFS):
            found = facts.gather(journal.query, "mine", "claude", "compact", most=30)
            brief_text.render(found, "7Q4K", brief_text.SHORT)

    return make


def appender(journal: Journal) -> Callable[[], object]:
    """A turn of appends as the public call does them, to the sessions one after another."""

    def append() -> None:
        for number in range(TURN):
            journal.append("tool.done", RECORD, SESSIONS[number % len(SESSIONS)])

    return append


def raw_sqlite(path: Path, *, rows: int) -> Callable[[], object]:
    """Insert the same record as one would by hand: a row of JSON, with nothing else around it."""
    database = apsw.Connection(str(path), vfs="unix")
    for setting in ("journal_mode=wal", "synchronous=FULL"):
        database.execute(f"PRAGMA {setting}").fetchall()
    database.execute("CREATE TABLE events (number INTEGER PRIMARY KEY, payload TEXT)")
    insert = "INSERT INTO events (payload) VALUES (?)"
    with database:
        database.executemany(insert, [(TEXT,)] * rows)

    def append() -> None:
        for _ in range(TURN):
            database.execute(insert, (json.dumps(RECORD, separators=(",", ":")),))

    return append


def settle(*appends: Callable[[], object]) -> None:
    """Two turns each: a WAL grows until its first checkpoint, and syncing that costs more."""
    for append in appends:
        append()
        append()


def starter(command: list[str], *, cwd: Path, bytecode: Path) -> Callable[[], object]:
    """Run a program to its end; `-I` ignores Python's variables, so ours gets none that matter."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environ["PYTHONPYCACHEPREFIX"] = str(bytecode)
    return lambda: subprocess.run(
        command,
        cwd=cwd,
        env=environ,
        check=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
