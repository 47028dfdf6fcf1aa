"""Many processes decide at once, and die at any moment: no id is lost, skipped or given twice."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conftest import Cli
from resumption_files import FILE, section

pytestmark = pytest.mark.prove

PROCESSES, EACH, KILLS = 8, 20, 40
MANY = """
import sys
from standfast.surfaces.cli.entry import main
for number in range(int(sys.argv[2])):
    status = main(["resumption", "decide", f"decision {sys.argv[1]}-{number}"])
    if status:
        sys.exit(status)
"""


def numbered(count: int) -> list[str]:
    return [f"RD-{number:03}" for number in range(1, count + 1)]


def in_section(repo: Path) -> dict[str, str]:
    log = section(repo)["decision_log"]
    assert [entry["id"] for entry in log] == numbered(len(log))
    return {entry["id"]: entry["decision"] for entry in log}


def in_journal(cli: Cli, repo: Path) -> dict[str, str]:
    lines = cli(
        "events", "--json", "-n", "0", "--kind", "decision.noted", cwd=repo
    ).stdout.splitlines()
    noted = [json.loads(line)["payload"] for line in lines]
    return {each["id"]: each["text"] for each in noted}


@pytest.mark.req("RES-06")
def test_many_processes_leave_no_gap_and_lose_nothing(repo: Path, cli: Cli) -> None:
    several = [
        subprocess.Popen(
            [sys.executable, "-c", MANY, str(name), str(EACH)],
            cwd=repo, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
        )
        for name in range(PROCESSES)
    ]  # fmt: skip
    told = [each.communicate(timeout=300) for each in several]

    assert [each.returncode for each in several] == [0] * PROCESSES, told
    acknowledged = sorted(line for out, _ in told for line in out.splitlines())
    assert acknowledged == [f"Recorded {each}" for each in numbered(PROCESSES * EACH)]
    assert cli("resumption", "trigger", "T7", cwd=repo).returncode == 0
    log = section(repo)["decision_log"]
    assert [entry["id"] for entry in log] == numbered(PROCESSES * EACH)
    said = {entry["decision"] for entry in log}
    assert said == {f"decision {n}-{m}" for n in range(PROCESSES) for m in range(EACH)}
    assert in_journal(cli, repo) == {entry["id"]: entry["decision"] for entry in log}
    assert cli("journal", "verify", cwd=repo).returncode == 0
    assert cli("resumption", "validate", cwd=repo).returncode == 0


@pytest.mark.req("RES-06")
def test_next_trigger_heals_what_a_kill_left_behind(repo: Path, cli: Cli) -> None:
    dice = random.Random(5)
    cli("resumption", "decide", "the first", cwd=repo)
    began = time.monotonic()  # of a Python that starts, as those do that are killed
    start = [sys.executable, "-m", "standfast", "resumption", "decide"]
    subprocess.run([*start, "the second"], cwd=repo, check=True, stdout=subprocess.DEVNULL)
    usual = time.monotonic() - began
    acknowledged = {"RD-001": "the first", "RD-002": "the second"}
    for number in range(KILLS):
        child = subprocess.Popen(
            [*start, f"killed {number}"], cwd=repo, stdout=subprocess.PIPE, encoding="utf-8"
        )
        try:
            out, _ = child.communicate(timeout=usual * dice.uniform(0.3, 1.2))
        except subprocess.TimeoutExpired:
            os.kill(child.pid, signal.SIGKILL)
            out, _ = child.communicate()
        acknowledged |= {line.split()[1]: f"killed {number}" for line in out.splitlines()}
        if number % 4 == 0:
            healed = cli("resumption", "trigger", "T7", cwd=repo)
            assert healed.returncode == 0, healed.stderr
            assert acknowledged.items() <= in_section(repo).items()

    assert cli("resumption", "decide", "the last", cwd=repo).stderr == ""
    assert acknowledged.items() <= in_section(repo).items()
    assert in_journal(cli, repo) == in_section(repo)
    assert cli("journal", "verify", cwd=repo).returncode == 0
    assert cli("resumption", "validate", cwd=repo).returncode == 0
    others = {name for name in os.listdir(repo) if name.startswith((FILE, ".ORCH"))}
    assert others == {FILE}
