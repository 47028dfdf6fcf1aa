"""The manifest and the tests agree in both directions, and no test reaches the real home.

Every claimed row has a test that names it; every named row exists; a run counts as proof only
what passed. Each check is also shown texts that it must refuse.
"""

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from places import ROOT, TESTS
from requirement_rows import (
    BadManifest,
    BadMark,
    Naming,
    Outcome,
    claimed_without_test,
    named_ahead_of_claim,
    named_but_unknown,
    namings_in,
    outcome_line,
    parse_manifest,
    parse_outcomes,
    proved_rows,
)

MANIFEST = ROOT / "docs" / "requirements.md"
SMALL_MANIFEST = """\
# Requirements

| id | claimed | promise |
|---|---|---|
| OUT-01 | yes | Kept. |
| OUT-02 | partly | Half kept. |

## Another family

| id | claimed | promise |
|---|---|---|
| SEC-01 | no | Not yet. |
"""
SMALL_SUITE = """\
import os

import pytest


@pytest.mark.req("OUT-01")
def test_together():
    assert os.environ.get("PYTEST_XDIST_WORKER")


@pytest.mark.prove
@pytest.mark.req("OUT-02", "SEC-01")
def test_by_itself():
    assert not os.environ.get("PYTEST_XDIST_WORKER")
"""


# The project's own manifest and tests.


def our_namings() -> list[Naming]:
    files = sorted(TESTS.rglob("test_*.py"))
    assert files
    return [
        naming
        for file in files
        for naming in namings_in(file.read_text(encoding="utf-8"), str(file.relative_to(ROOT)))
    ]


def test_every_claimed_row_has_a_test_that_names_it() -> None:
    rows = parse_manifest(MANIFEST.read_text(encoding="utf-8"))

    missing = claimed_without_test(rows, our_namings())

    assert not missing, f"claimed, but no test names them: {', '.join(missing)}"


def test_every_row_that_a_test_names_is_in_the_manifest() -> None:
    rows = parse_manifest(MANIFEST.read_text(encoding="utf-8"))

    unknown = named_but_unknown(rows, our_namings())

    assert not unknown, f"named, but not in the manifest: {unknown}"


def test_manifest_numbers_the_rows_of_each_family_without_gaps() -> None:
    rows = parse_manifest(MANIFEST.read_text(encoding="utf-8"))
    families = dict.fromkeys(row.family for row in rows)

    numbered = {family: [row.id for row in rows if row.family == family] for family in families}

    for family, ids in numbered.items():
        assert ids == [f"{family}-{number:02}" for number in range(1, len(ids) + 1)]


def test_partly_claimed_row_says_which_part_before_the_promise() -> None:
    rows = parse_manifest(MANIFEST.read_text(encoding="utf-8"))

    partly = [row for row in rows if row.claimed == "partly"]

    assert [row.id for row in partly if not row.promise.startswith("(")] == []


# Reading a manifest.


def test_manifest_gives_its_rows_in_order() -> None:
    rows = parse_manifest(SMALL_MANIFEST)

    assert [(row.id, row.family, row.claimed, row.promise) for row in rows] == [
        ("OUT-01", "OUT", "yes", "Kept."),
        ("OUT-02", "OUT", "partly", "Half kept."),
        ("SEC-01", "SEC", "no", "Not yet."),
    ]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("OUT-02", "OUT-01", "line 6: OUT-01 stands twice"),
        ("SEC-01", "OUT-01", "line 12: OUT-01 stands twice"),
        ("partly", "mostly", "line 6: claimed is `mostly`"),
        ("| yes |", "| Yes |", "line 5: claimed is `Yes`"),
        ("| yes | Kept. |", "| yes |", "line 5: not of the form"),
        ("| yes | Kept. |", "| yes |  |", "line 5: not of the form"),
        ("OUT-01", "out-01", "line 5: not of the form"),
        ("| SEC-01", "|  SEC-01", "line 12: not of the form"),
    ],
)
def test_manifest_is_refused_with_its_line_when_a_row_is_wrong(
    old: str, new: str, message: str
) -> None:
    text = SMALL_MANIFEST.replace(old, new)

    with pytest.raises(BadManifest, match=f"^{message}"):
        parse_manifest(text)


def test_row_is_still_read_under_a_misspelt_header() -> None:
    text = SMALL_MANIFEST.replace("| id | claimed |", "| id | clamed |")

    rows = parse_manifest(text)

    assert [row.id for row in rows] == ["OUT-01", "OUT-02", "SEC-01"]


def test_manifest_without_any_row_is_refused() -> None:
    with pytest.raises(BadManifest, match="no row follows"):
        parse_manifest("# Requirements\n\n| family | about |\n|---|---|\n| OUT | outputs |\n")


# Finding who names a row.


def test_namings_are_found_on_tests_classes_parameters_and_the_file() -> None:
    source = """
pytestmark = [pytest.mark.prove, pytest.mark.req("SEC-01")]

@pytest.mark.req("OUT-01", "OUT-02")
async def test_one(): ...

@pytest.mark.req("OUT-03")
class TestTwo:
    @pytest.mark.req("OUT-04")
    def test_inside(self): ...

@pytest.mark.parametrize("n", [pytest.param(1, marks=pytest.mark.req("OUT-05"))])
def test_three(n): ...
"""

    namings = namings_in(source, "test_x.py")

    assert sorted((naming.row, naming.test) for naming in namings) == [
        ("OUT-01", "test_x.py::test_one"),
        ("OUT-02", "test_x.py::test_one"),
        ("OUT-03", "test_x.py::TestTwo"),
        ("OUT-04", "test_x.py::test_inside"),
        ("OUT-05", "test_x.py::test_three"),
        ("SEC-01", "test_x.py::pytestmark"),
    ]


@pytest.mark.parametrize(
    "source",
    [
        '@pytest.mark.req("OUT-01")\ndef helper(): ...',
        'pytestmark = pytest.mark.req("OUT-01")',
        'def test_one():\n    """pytest.mark.req("OUT-01")"""',
        'def test_one():\n    pytest.mark.req("OUT-01")',
        '@pytest.mark.other("OUT-01")\ndef test_one(): ...',
    ],
)
def test_row_is_not_named_where_no_test_carries_the_mark(source: str) -> None:
    namings = namings_in(source, "test_x.py")

    assert namings == ()


def test_mark_is_refused_with_its_line_when_it_is_no_literal() -> None:
    with pytest.raises(BadMark, match=r"^test_x.py:1: "):
        namings_in("@pytest.mark.req(ROW)\ndef test_one(): ...", "test_x.py")


# Judging.


def test_claimed_row_without_a_test_is_reported_whether_yes_or_partly() -> None:
    rows = parse_manifest(SMALL_MANIFEST)

    nothing_named = claimed_without_test(rows, [])
    one_named = claimed_without_test(rows, [Naming(row="OUT-01", test="t")])

    assert nothing_named == ("OUT-01", "OUT-02")
    assert one_named == ("OUT-02",)


def test_named_row_is_reported_when_the_manifest_lacks_it() -> None:
    known = Naming(row="SEC-01", test="t")
    unknown = Naming(row="SEC-09", test="t")

    reported = named_but_unknown(parse_manifest(SMALL_MANIFEST), [known, unknown])

    assert reported == (unknown,)


def test_row_that_is_named_but_not_claimed_is_listed() -> None:
    ahead = named_ahead_of_claim(parse_manifest(SMALL_MANIFEST), ["OUT-01", "SEC-01"])

    assert ahead == ("SEC-01",)


def test_row_is_proved_when_some_test_passed_and_none_failed() -> None:
    outcomes = [
        Outcome(test="a", result="passed", rows=("OUT-01", "OUT-02", "OUT-03")),
        Outcome(test="b", result="passed", rows=("OUT-01",)),
        Outcome(test="c", result="failed", rows=("OUT-02",)),
        Outcome(test="d", result="skipped", rows=("OUT-03", "OUT-04")),
    ]

    proved = proved_rows(outcomes)

    assert proved == {"OUT-01", "OUT-03"}


def test_outcomes_read_back_as_they_were_written() -> None:
    outcomes = (
        Outcome(test="tests/test_a.py::test_b[ü\u2028]", result="passed", rows=("OUT-01",)),
        Outcome(test="tests/test_c.py", result="failed", rows=()),
    )

    again = parse_outcomes("".join(outcome_line(outcome) for outcome in outcomes))

    assert again == outcomes


# The runner, on a small project of its own.


@pytest.fixture
def small_project(tmp_path: Path) -> Path:
    """Copy the machinery around two tests and three rows."""
    root = tmp_path / "project"
    for folder in ("docs", "tests", "tools", "src"):
        (root / folder).mkdir(parents=True)
    (root / "docs" / "requirements.md").write_text(SMALL_MANIFEST, encoding="utf-8")
    (root / "tests" / "test_small.py").write_text(SMALL_SUITE, encoding="utf-8")
    modules = ("conftest", "kept_trials", "prepared", "requirement_rows", "warm_python")
    machinery = ("pyproject.toml", "tools/run_tests.py")
    for file in (*machinery, *(f"tests/{name}.py" for name in modules)):
        shutil.copy(ROOT / file, root / file)
    runner = root / "tools" / "run_tests.py"
    text = runner.read_text(encoding="utf-8")
    assert "REST_S = 120" in text
    runner.write_text(text.replace("REST_S = 120", "REST_S = 0"), encoding="utf-8")
    return root


def run_python(
    root: Path, *arguments: str, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    # This suite may itself run in a worker; the small one must not take itself for one.
    ours = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=root,
        env={**ours, **(env or {})},
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )


def run_tests(root: Path) -> tuple[subprocess.CompletedProcess[str], ...]:
    """Both tiers, as CI runs them."""
    return run_python(root, "tools/run_tests.py", "test"), run_tier(root)


def run_tier(root: Path) -> subprocess.CompletedProcess[str]:
    return run_python(root, "tools/run_tests.py", "prove")


def edit_suite(root: Path, old: str, new: str) -> None:
    suite = root / "tests" / "test_small.py"
    text = suite.read_text(encoding="utf-8")
    assert old in text
    suite.write_text(text.replace(old, new), encoding="utf-8")


def test_runner_proves_rows_across_workers_and_alone(small_project: Path) -> None:
    together, alone = run_tests(small_project)

    lines = alone.stdout.splitlines()
    assert (together.returncode, alone.returncode) == (0, 0), together.stdout + alone.stdout
    assert "left to the other tier: OUT-02\n" in together.stdout
    assert together.stdout.endswith("\n1 passed, 0 failed, 0 skipped\n")
    assert [line.split() for line in lines if line.startswith(("OUT ", "SEC ", "all "))] == [
        ["OUT", "2", "2", "2"],
        ["SEC", "1", "0", "1"],
        ["all", "3", "2", "3"],
    ]
    assert "claimed but not proved: none" in lines
    assert "named by a test, not claimed yet: SEC-01" in lines
    assert lines[-1] == "1 passed, 0 failed, 0 skipped"


def test_runner_fails_when_a_claimed_row_was_not_proved(small_project: Path) -> None:
    edit_suite(small_project, "def test_by_itself", "def test_more(): ...\n\n\ndef do_by_itself")
    edit_suite(small_project, '@pytest.mark.req("OUT-02", "SEC-01")\n', "")
    edit_suite(small_project, "@pytest.mark.prove", "@pytest.mark.prove  # nobody names OUT-02")

    _, ended = run_tests(small_project)

    assert ended.returncode == 1
    assert "claimed but not proved: OUT-02\n" in ended.stdout
    assert ended.stdout.endswith("\n1 passed, 0 failed, 0 skipped\n")


def test_runner_forgets_what_an_earlier_run_proved(small_project: Path) -> None:
    run_tests(small_project)

    again = run_python(small_project, "tools/run_tests.py", "test")

    assert "left to the other tier: OUT-02\n" in again.stdout


def test_runner_names_a_claimed_row_that_this_machine_cannot_prove(small_project: Path) -> None:
    edit_suite(small_project, "def test_by_itself", "@pytest.mark.skip\ndef test_by_itself")

    _, ended = run_tests(small_project)

    assert ended.returncode == 0
    assert "skipped on this machine: OUT-02, SEC-01\n" in ended.stdout
    assert ended.stdout.endswith("\n0 passed, 0 failed, 1 skipped\n")


def test_runner_counts_a_test_as_failed_when_its_worker_dies(small_project: Path) -> None:
    another = '@pytest.mark.req("OUT-01")\ndef test_that_passes(): ...\n\n\n@pytest.mark.prove'
    edit_suite(small_project, "@pytest.mark.prove", another)
    edit_suite(small_project, 'assert os.environ.get("PYTEST_XDIST_WORKER")', "os._exit(1)")

    together, alone = run_tests(small_project)

    assert together.returncode == 1
    assert together.stdout.endswith("\n1 passed, 1 failed, 0 skipped\n")
    assert "claimed but not proved: OUT-01\n" in alone.stdout


# What is inconclusive.

AT_FIRST = """
    tried = os.path.join(os.path.dirname(__file__), "tried")
    if not os.path.exists(tried):
        os.mkdir(tried)
        {first}
"""
MISSES = "assert not 'the bound'"
DOUBTS = "raise __import__('harness.doubt').doubt.Doubt"
LATE = "raise __import__('subprocess').TimeoutExpired('x', 5)"


@pytest.mark.sweep(3)
@pytest.mark.parametrize(
    ("mark", "first"),
    [("@pytest.mark.ratio\n", MISSES), ("", DOUBTS), ("", LATE)],
    ids=["a ratio misses", "the harness doubts", "a deadline is missed"],
)
def test_inconclusive_trial_is_tried_once_more(small_project: Path, mark: str, first: str) -> None:
    edit_suite(small_project, "@pytest.mark.prove\n", f"@pytest.mark.prove\n{mark}")
    old = 'assert not os.environ.get("PYTEST_XDIST_WORKER")'
    edit_suite(small_project, old, AT_FIRST.format(first=first))

    ended = run_tier(small_project)

    assert ended.returncode == 0, ended.stdout
    assert "== inconclusive: once more" in ended.stdout
    assert ended.stdout.endswith("\n1 passed, 0 failed, 0 skipped\n")


def test_trial_that_is_inconclusive_twice_has_failed(small_project: Path) -> None:
    edit_suite(small_project, "@pytest.mark.prove\n", "@pytest.mark.prove\n@pytest.mark.ratio\n")
    edit_suite(small_project, 'assert not os.environ.get("PYTEST_XDIST_WORKER")', MISSES)

    ended = run_tier(small_project)

    assert ended.returncode == 1
    assert ended.stdout.endswith("\n0 passed, 1 failed, 0 skipped\n")


def test_failure_is_red_at_once_also_beside_an_inconclusive_trial(small_project: Path) -> None:
    another = "@pytest.mark.prove\ndef test_loses(): assert False\n\n\n@pytest.mark.prove\n"
    edit_suite(small_project, "@pytest.mark.prove\n", f"{another}@pytest.mark.ratio\n")
    old = 'assert not os.environ.get("PYTEST_XDIST_WORKER")'
    edit_suite(small_project, old, AT_FIRST.format(first=MISSES))

    ended = run_tier(small_project)

    assert ended.returncode == 1
    assert ended.stdout.endswith("\n1 passed, 1 failed, 0 skipped\n")


def test_failed_trial_leaves_its_report_and_its_folders_until_the_next_run(
    small_project: Path,
) -> None:
    old = 'assert not os.environ.get("PYTEST_XDIST_WORKER")'
    edit_suite(small_project, old, '(tmp_path / "disk.img").write_bytes(b"x"); assert not "seed 7"')
    edit_suite(small_project, "def test_by_itself(", "def test_by_itself(tmp_path")

    assert run_tier(small_project).returncode == 1

    (kept,) = (small_project / "build" / "prove").iterdir()
    assert "seed 7" in (kept / "report.txt").read_text(encoding="utf-8")
    assert (kept / "tmp_path" / "disk.img").read_text(encoding="utf-8") == "x"
    edit_suite(small_project, 'assert not "seed 7"', "")
    assert run_tier(small_project).returncode == 0
    assert not (small_project / "build" / "prove").exists()


def test_tier_for_any_machine_tries_nothing_twice(small_project: Path) -> None:
    edit_suite(small_project, 'assert os.environ.get("PYTEST_XDIST_WORKER")', DOUBTS)

    ended = run_python(small_project, "tools/run_tests.py", "test")

    assert ended.returncode == 1
    assert "inconclusive" not in ended.stdout
    assert ended.stdout.endswith("\n0 passed, 1 failed, 0 skipped\n")


@pytest.mark.parametrize("workers", ["0", "1"])
def test_unknown_row_fails_collection_and_is_named(small_project: Path, workers: str) -> None:
    edit_suite(small_project, '"SEC-01"', '"SEC-09"')

    ended = run_python(small_project, "-m", "pytest", "-n", workers)

    assert ended.returncode != 0
    assert "test_by_itself names SEC-09: no row of requirements.md" in ended.stdout


# The world that tests run in.


def test_real_home_is_out_of_reach_as_a_default(world: Path) -> None:
    real_home = Path(pwd.getpwuid(os.getuid()).pw_dir)

    asked = "import os; print(os.path.expanduser('~'), os.environ['XDG_STATE_HOME'], sep='\\n')"
    child = subprocess.run(
        [sys.executable, "-c", asked], capture_output=True, encoding="utf-8", check=True
    )

    home, state = map(Path, child.stdout.splitlines())
    assert home == Path.home() == world / "home" != real_home
    assert state == Path(os.environ["XDG_STATE_HOME"])
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "TMPDIR"):
        assert Path(os.environ[name]).is_relative_to(world)
    assert Path(tempfile.gettempdir()).is_relative_to(world)


def test_world_is_the_same_whatever_the_caller_had_set(small_project: Path) -> None:
    planted = {
        "STANDFAST_X": "1",
        "GIT_DIR": "/nowhere",
        "CLAUDE_X": "1",
        "CODEX_X": "1",
        "NO_COLOR": "1",
        "TZ": "Asia/Kathmandu",
        "LC_ALL": "C",
        "GIT_AUTHOR_NAME": "Mallory",
    }
    edit_suite(
        small_project,
        'assert os.environ.get("PYTEST_XDIST_WORKER")',
        f"assert not [n for n in {list(planted)[:5]} if n in os.environ]\n"
        '    assert os.environ["TZ"] == "UTC" and __import__("time").localtime(0).tm_hour == 0\n'
        '    assert os.environ["LC_ALL"] == "C.UTF-8"\n'
        '    assert os.environ["GIT_AUTHOR_NAME"] == "Ada Author"\n'
        '    assert os.environ["GIT_CONFIG_GLOBAL"] == "/dev/null"',
    )

    ended = run_python(small_project, "-m", "pytest", "-k", "together", env=planted)

    assert ended.returncode == 0, ended.stdout


def test_time_zone_is_utc_in_this_process() -> None:
    assert time.tzname[0] == "UTC"


def test_tmp_path_starts_empty(tmp_path: Path) -> None:
    assert list(tmp_path.iterdir()) == []


def test_repo_has_one_commit_by_the_pinned_author(repo: Path) -> None:
    shown = subprocess.run(
        ["git", "log", "--all", "--format=%an %cn %aI %D"],
        cwd=repo,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )

    assert shown.stdout == "Ada Author Carl Committer 2026-01-02T03:04:05+00:00 HEAD -> main\n"
