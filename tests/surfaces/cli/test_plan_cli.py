"""`plan check` tells every mistake with its line, `plan show` draws what will be done."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Cli
from places import TESTS
from plan_samples import EVERYTHING, SMALLEST

pytestmark = pytest.mark.req("RUN-01")

RING = "Take one of these dependencies out."
BAD = """\
lanes:
  a: {tsk: x}
  b: {task: x, after: c, owns: src}
  c: {task: x, after: b}
  d: {task: x, owns: src/d.py, runner: cluade}
"""


@pytest.fixture
def plans(repo: Path) -> Path:
    (repo / "prompts").mkdir()
    (repo / "prompts" / "review.md").write_text("Review it.\n", encoding="utf-8")
    for name, text in (("small", SMALLEST), ("all", EVERYTHING), ("bad", BAD)):
        (repo / f"{name}.yaml").write_text(text, encoding="utf-8")
    return repo


def test_good_plan_is_counted(cli: Cli, plans: Path) -> None:
    done = cli("plan", "check", "all.yaml", cwd=plans)

    assert done.returncode == 0
    assert done.stdout == "all.yaml: good, 2 phases, 3 waves, 3 lanes\n"


def test_every_mistake_is_a_line_that_editors_can_follow(cli: Cli, plans: Path) -> None:
    done = cli("plan", "check", "bad.yaml", cwd=plans)

    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "bad.yaml:2: `tsk` is not known here. Did you mean `task`?",
        "bad.yaml:2: the lane `a` has no `task`. Say what it is to do.",
        f"bad.yaml:3: the lane `b` waits for `c`, which waits for `b`. {RING}",
        "bad.yaml:5: there is no runner `cluade`. Did you mean `claude`?",
    ]


@pytest.mark.req("RUN-03")
def test_overlap_is_told_before_anything_starts(cli: Cli, plans: Path) -> None:
    (plans / "p.yaml").write_text(
        "lanes:\n  a: {task: x, owns: src}\n  b: {task: x, owns: src/b}\n", encoding="utf-8"
    )

    done = cli("plan", "check", "p.yaml", cwd=plans)

    assert done.returncode == 1
    assert done.stdout == (
        "p.yaml:3: `b` owns `src/b`, and `a`, which can run at the same time, owns `src` (line 2)."
        " Let one lane come `after` the other, or give the files to one of them.\n"
    )


def test_check_speaks_to_programs(cli: Cli, plans: Path) -> None:
    good = json.loads(cli("plan", "check", "all.yaml", "--json", cwd=plans).stdout)
    bad = cli("plan", "check", "bad.yaml", "--json", cwd=plans)
    told = json.loads(bad.stdout)

    assert (good["valid"], good["kind"], good["findings"]) == (True, "yaml", [])
    assert (bad.returncode, told["valid"], told["kind"]) == (1, False, None)
    assert told["findings"][0] == {
        "file": "bad.yaml",
        "line": 2,
        "problem": "`tsk` is not known here",
        "remedy": "Did you mean `task`?",
        "severity": "error",
    }


def test_warnings_do_not_fail_a_plan(cli: Cli, plans: Path) -> None:
    (plans / "p.yaml").write_text("pr: x\nlanes: {a: x}\n", encoding="utf-8")

    done = cli("plan", "check", "p.yaml", cwd=plans)

    assert done.returncode == 0
    assert done.stdout.startswith("p.yaml:1: warning: `pr`")


def test_prompt_file_that_is_gone_is_told_where_it_is_named(cli: Cli, plans: Path) -> None:
    (plans / "prompts" / "review.md").unlink()

    done = cli("plan", "check", "all.yaml", cwd=plans)

    assert (done.returncode, done.stdout) == (
        1,
        "all.yaml:36: there is no file `prompts/review.md`\n",
    )


@pytest.mark.req("RUN-01")
@pytest.mark.parametrize("gate", ["x", "x" * 3_000])
def test_prompts_of_a_lane_are_too_long_with_those_in_files_and_of_gates(
    cli: Cli, plans: Path, gate: str
) -> None:
    """What would be refused when the plan is run is told with its line before."""
    (plans / "prompts" / "long.md").write_text("x" * 130_000, encoding="utf-8")
    lanes = "{a: {tasks: {t: {prompt_file: prompts/long.md}, u: yyyyy}}, b: x}"
    text = f"phases:\n  P1:\n    gates: {{g: {{role: c, prompt: {gate}}}}}\n    lanes: {lanes}\n"
    (plans / "p.yaml").write_text(text, encoding="utf-8")

    done = cli("plan", "check", "p.yaml", cwd=plans)

    most = "the tasks of a lane and its gates are 131,072 characters at most, together"
    said = f"p.yaml:4: {most}\n" if len(gate) > 1 else "p.yaml: good, 1 phase, 1 wave, 2 lanes\n"
    assert done.stdout == said


def test_plan_is_found_from_where_the_command_is_called(cli: Cli, plans: Path) -> None:
    (plans / "below").mkdir()

    inside = cli("plan", "check", "../all.yaml", cwd=plans / "below")
    elsewhere = cli("-C", str(plans), "plan", "check", "all.yaml")

    assert (inside.returncode, elsewhere.returncode) == (0, 0)


def test_show_is_plain_in_a_pipe(cli: Cli, plans: Path) -> None:
    done = cli("plan", "show", "all.yaml", cwd=plans)

    assert done.stdout == (
        "auth-rework: 2 phases, 3 waves, 3 lanes; test: npm test\n"
        "P1 Foundation\n"
        "  wave 1\n"
        "    SL-DB  Add users and sessions tables.\n"
        "      owns migrations/**\n"
        "      test: make test-db\n"
        "  wave 2\n"
        "    SL-API  after SL-DB\n"
        "      owns src/auth/**\n"
        "      login  Login and logout as docs/auth.md says.\n"
        "      review (after login; reviewer; by codex)  prompts/review.md\n"
        "  gate QG-1: critic, 0.92\n"
        "P2\n"
        "  wave 1\n"
        "    SL-DOCS  Document every endpoint.\n"
    )


def test_show_draws_a_tree_in_colour_in_a_terminal(plans: Path) -> None:
    script = f"{sys.executable} -m standfast plan show small.yaml"
    done = subprocess.run(
        [sys.executable, "-c", "import pty, sys; pty.spawn(sys.argv[1:])", *script.split()],
        cwd=plans,
        env={**os.environ, "TERM": "xterm", "PYTHONUTF8": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )

    assert "\x1b[2m├─ \x1b[0mwave 1" in done.stdout
    assert "\x1b[2m│  └─ \x1b[0m\x1b[32mschema\x1b[0m" in done.stdout


def test_show_draws_for_mermaid(cli: Cli, plans: Path) -> None:
    done = cli("plan", "show", "all.yaml", "--mermaid", cwd=plans)

    assert done.stdout == (
        "flowchart LR\n"
        '  subgraph F1["P1 Foundation"]\n'
        '    L1["SL-DB"]\n'
        '    L2["SL-API"]\n'
        "  end\n"
        '  subgraph F2["P2"]\n'
        '    L3["SL-DOCS"]\n'
        "  end\n"
        "  L1 --> L2\n"
        "  F1 --> F2\n"
    )


def test_title_cannot_leave_its_label(cli: Cli, plans: Path) -> None:
    (plans / "p.yaml").write_text(
        "phases: {P1: {name: 'a\"]; click <b> `c` #', lanes: {a: x}}}\n", encoding="utf-8"
    )

    done = cli("plan", "show", "p.yaml", "--mermaid", cwd=plans)

    assert "  subgraph F1[\"P1 a#quot;]; click #lt;b> 'c' #35;\"]\n" in done.stdout


def test_show_speaks_to_programs_in_our_own_form(cli: Cli, plans: Path) -> None:
    sample = TESTS / "fixtures" / "markdown_plans" / "phase-10-not-parallel.md"
    text = sample.read_text(encoding="utf-8")
    (plans / "release.md").write_text(text, encoding="utf-8")

    told = json.loads(cli("plan", "show", "release.md", "--json", cwd=plans).stdout)

    assert told["kind"] == "phase"
    assert told["waves"][1] == {"phase": "Release", "lanes": ["SL-2"]}
    lanes = told["plan"]["phases"]["Release"]["lanes"]
    assert lanes["SL-2"]["after"] == ["SL-1"]


def test_show_of_a_bad_plan_tells_what_is_wrong(cli: Cli, plans: Path) -> None:
    done = cli("plan", "show", "bad.yaml", cwd=plans)

    assert done.returncode == 1
    assert done.stdout.startswith("bad.yaml:2: ")


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["plan", "check"], 2),
        (["plan", "check", "gone.yaml"], 13),
        (["plan", "check", "all.yaml", "--mermaid"], 2),
        (["plan", "show", "all.yaml", "--yes"], 2),
        (["plan", "trust", "bad.yaml", "--yes"], 110),
        (["plan", "check", "."], 30),
    ],
)
def test_wrong_calls_are_told(cli: Cli, plans: Path, arguments: list[str], status: int) -> None:
    done = cli(*arguments, cwd=plans)

    assert done.returncode == status, done.stderr
    assert done.stderr.startswith("error SF")


def test_ten_megabytes_are_refused_before_they_are_read(cli: Cli, plans: Path) -> None:
    with (plans / "big.yaml").open("wb") as file:
        file.truncate(10_000_000)

    done = cli("plan", "check", "big.yaml", cwd=plans)

    assert done.returncode == 14
    assert "it is over 2,097,152 bytes" in done.stderr


def test_plan_is_checked_outside_a_repository(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "p.yaml").write_text(SMALLEST, encoding="utf-8")

    assert cli("plan", "check", "p.yaml").returncode == 0
    assert cli("plan", "show", "p.yaml").returncode == 0
