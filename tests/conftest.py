"""Every test runs in a world of its own, and says which requirement rows it proves.

The world: no real home, no real configuration, no identity, clock zone or locale of the person
who runs the tests. The rows: a `req` mark that names no row of docs/requirements.md fails
collection; outcomes are appended as JSON lines to the file that STANDFAST_REQ_REPORT names.
"""

import gc
import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Generator, Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Protocol

import pytest
from hypothesis import HealthCheck, settings

import kept_trials
import prepared
import warm_python
from harness.doubt import Doubt
from requirement_rows import BadManifest, Outcome, Result, outcome_line, parse_manifest

# A busy machine draws slowly: that says nothing about the code.
settings.register_profile("suite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")

MANIFEST = Path(__file__).parents[1] / "docs" / "requirements.md"
REPORT_VARIABLE = "STANDFAST_REQ_REPORT"
LAST_TRY_VARIABLE = "STANDFAST_LAST_TRY"  # a trial that is inconclusive again has failed
CLI_TIMEOUT_S = 60

FOREIGN_PREFIXES = ("STANDFAST_", "GIT_", "CLAUDE_", "CODEX_")
FOREIGN = {
    "CLAUDECODE",
    "HIVEMIND_ROLE",
    "CONFIG_PATH",
    "NO_COLOR",
    "FORCE_COLOR",
    "PYTHONUNBUFFERED",
    "PYTHONDONTWRITEBYTECODE",
}
PINNED = {
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_SYSTEM": "/dev/null",
    "GIT_AUTHOR_NAME": "Ada Author",
    "GIT_AUTHOR_EMAIL": "ada@example.invalid",
    "GIT_AUTHOR_DATE": "2026-01-02T03:04:05+00:00",
    "GIT_COMMITTER_NAME": "Carl Committer",
    "GIT_COMMITTER_EMAIL": "carl@example.invalid",
    "GIT_COMMITTER_DATE": "2026-01-02T03:04:05+00:00",
    "GIT_EDITOR": "true",
    "GIT_TERMINAL_PROMPT": "0",
    "TZ": "UTC",
    "LC_ALL": "C.UTF-8",
}
FOLDERS = {
    "HOME": "home",
    "XDG_CONFIG_HOME": "home/.config",
    "XDG_STATE_HOME": "home/.local/state",
    "XDG_DATA_HOME": "home/.local/share",
    "TMPDIR": "t",  # short: the path of a socket has about 100 bytes
}
COUNT = count()
ENDED = count(1)
TIDY_EVERY = 16
KNOWN_ROWS = pytest.StashKey[frozenset[str]]()
KEPT = pytest.StashKey[str]()
Collected = pytest.Item | pytest.Collector | list[pytest.Item | pytest.Collector] | None
SEVERITY: Mapping[Result, int] = {"passed": 0, "skipped": 1, "inconclusive": 2, "failed": 3}


# The rows that tests name.


def pytest_configure(config: pytest.Config) -> None:
    """Read the manifest; listen for outcomes in the one process that sees them all."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # started in the background by a shell:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # children would ignore it too
    config.stash[KNOWN_ROWS] = _known_rows()
    config.stash[KEPT] = os.environ.get(kept_trials.KEPT_VARIABLE, "")
    report = os.environ.get(REPORT_VARIABLE)
    if report and not hasattr(config, "workerinput"):
        config.pluginmanager.register(OutcomeLog(Path(report)), "standfast-outcomes")


@pytest.hookimpl(tryfirst=True)  # before `-m` chooses
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Speed comes first: after a storm of writers a disk is busy for a while.

    Of a sweep `make test` tries one case in so many, the last of each, and `make prove` the others.
    """
    items.sort(key=lambda item: "speed" not in item.path.name)
    sweeps: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("sweep"):
            sweeps.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for cases in sweeps.values():
        every = _every(cases[0])
        kept = cases[min(every, len(cases)) - 1 :: every] if every else []
        for item in cases:
            if item not in kept:
                item.add_marker("prove")


def _every(item: pytest.Item) -> int:
    """One case in so many is in `make test`; none is where nothing is said."""
    mark = item.get_closest_marker("sweep")
    return int(mark.args[0]) if mark and mark.args else 0


def _known_rows() -> frozenset[str]:
    try:
        rows = parse_manifest(MANIFEST.read_text(encoding="utf-8"))
    except (OSError, BadManifest) as problem:
        raise pytest.UsageError(f"{MANIFEST}: {problem}") from problem
    return frozenset(row.id for row in rows)


@pytest.hookimpl(wrapper=True)
def pytest_pycollect_makeitem(
    collector: pytest.Module | pytest.Class,
) -> Generator[None, Collected, Collected]:
    """Record each test's rows where they cross the border of a process; refuse unknown ones."""
    made = yield
    for item in made if isinstance(made, list) else []:
        if isinstance(item, pytest.Item):
            _record_rows(item, collector)
    return made


def _record_rows(item: pytest.Item, collector: pytest.Collector) -> None:
    marks = item.iter_markers("req")
    for row in dict.fromkeys(str(row) for mark in marks for row in mark.args):
        if row not in item.config.stash[KNOWN_ROWS]:
            # Here and not later: an error after collection loses its message in a worker.
            raise collector.CollectError(f"{item.nodeid} names {row}: no row of {MANIFEST.name}")
        item.user_properties.append(("req", row))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A ratio or a deadline that was missed, or a harness in doubt, says nothing of the product."""
    report = yield
    if report.failed and call.excinfo and item.get_closest_marker("prove"):
        if top := item.config.stash[KEPT]:
            kept_trials.keep(top, report, getattr(item, "funcargs", {}))
        is_ratio = item.get_closest_marker("ratio") is not None and call.when == "call"
        if is_ratio or call.excinfo.errisinstance((Doubt, subprocess.TimeoutExpired)):
            report.user_properties.append(("inconclusive", True))
    return report


class OutcomeLog:
    """Keeps the worst result of each test's phases, and appends them to *path* at the end."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.results: dict[str, Result] = {}
        self.rows: dict[str, tuple[str, ...]] = {}
        self.is_last_try = LAST_TRY_VARIABLE in os.environ

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take one phase of one test."""
        rows = tuple(str(value) for key, value in report.user_properties if key == "req")
        # The report of a worker that died has no rows; the set-up before it had.
        self.rows[report.nodeid] = rows or self.rows.get(report.nodeid, ())
        # A passed set-up proves nothing: the test itself may never have run.
        if report.when == "call" or not report.passed:
            is_doubtful = ("inconclusive", True) in report.user_properties and not self.is_last_try
            outcome = "inconclusive" if report.failed and is_doubtful else report.outcome
            self._keep_worst(report.nodeid, outcome)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Take a file that could not be collected, or skips itself, as one test."""
        if not report.passed:
            self._keep_worst(report.nodeid, report.outcome)

    def _keep_worst(self, test: str, result: Result) -> None:
        before = self.results.get(test, "passed")
        self.results[test] = max(before, result, key=SEVERITY.__getitem__)

    def pytest_sessionfinish(self) -> None:
        """Append all lines; a second run adds to what the first one wrote."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as lines:
            for test, result in self.results.items():
                rows = self.rows.get(test, ())
                lines.write(outcome_line(Outcome(test=test, result=result, rows=rows)))


# The world that tests run in.


@pytest.fixture(scope="session", autouse=True)
def world_of_the_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Pin the world for fixtures that outlive one test."""
    with pytest.MonkeyPatch.context() as patch:
        _pin_world(patch, tmp_path_factory.mktemp("w"))
        prepared.live_in(tmp_path_factory.mktemp("prepared"))
        gc.freeze()  # what lives as long as this process: it is not looked at again and again
        yield


@pytest.fixture(autouse=True)
def world(world_of_the_session: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Give each test a fresh home, state and temporary folder, beside its empty tmp_path."""
    folder = tmp_path_factory.mktemp(f"x{next(COUNT)}", numbered=False)
    with pytest.MonkeyPatch.context() as patch:
        _pin_world(patch, folder)
        yield folder
    if next(ENDED) % TIDY_EVERY == 0:
        # A journal that was not closed stays open until then. Each start of a process goes through
        # all open files, and they became thousands.
        gc.collect()


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As pytest's own, which looks at the folders of all tests before for a free number."""
    name = re.sub(r"\W", "_", request.node.name)[:30]
    return tmp_path_factory.mktemp(f"{name}-{next(COUNT)}", numbered=False)


def _pin_world(patch: pytest.MonkeyPatch, folder: Path) -> None:
    for name in list(os.environ):
        if name.startswith(FOREIGN_PREFIXES) or name in FOREIGN:
            patch.delenv(name)
    for name, value in PINNED.items():
        patch.setenv(name, value)
    for name, relative in FOLDERS.items():
        (folder / relative).mkdir(parents=True)
        patch.setenv(name, str(folder / relative))
    patch.setattr(tempfile, "tempdir", str(folder / FOLDERS["TMPDIR"]))
    time.tzset()


# What many tests need.


class Cli(Protocol):
    """Runs `standfast ARGS` as a process of its own; *env* is added to the pinned world."""

    def __call__(
        self,
        *args: str,
        cwd: Path | None = None,
        input: str | None = None,  # noqa: A002  # the name that subprocess.run gives it
        env: Mapping[str, str] | None = None,
    ) -> subprocess.CompletedProcess[str]: ...


@pytest.fixture
def repo(world: Path, tmp_path: Path) -> Path:
    """Make a git repository with one commit on `main`."""
    folder = tmp_path / "repo"
    prepared.repository(_first_commit, folder)
    return folder


def _first_commit(folder: Path) -> None:
    (folder / "README.md").write_text("A repository to test in.\n", encoding="utf-8")
    for arguments in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "first"]):
        subprocess.run(["git", *arguments], cwd=folder, check=True, stdin=subprocess.DEVNULL)


@pytest.fixture
def cli(world: Path, tmp_path: Path) -> Cli:
    """Give the command line; without *cwd* it runs in tmp_path, never in this checkout."""

    def run(
        *args: str,
        cwd: Path | None = None,
        input: str | None = None,  # noqa: A002  # the name that subprocess.run gives it
        env: Mapping[str, str] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        return warm_python.run(
            *args,
            cwd=cwd or tmp_path,
            given=input or "",
            env={**os.environ, **(env or {})},
            timeout=CLI_TIMEOUT_S,
        )

    return run
