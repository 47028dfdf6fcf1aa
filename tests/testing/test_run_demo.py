"""The demo of runs: killed with -9 again and again, it counts every effect, once each."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from standfast.testing.run_demo import KILLS, Demo

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="whom to kill is found in /proc")


@pytest.mark.sweep
@LINUX
@pytest.mark.prove
@pytest.mark.req("RUN-08", "CKP-11")
def test_every_effect_of_a_killed_run_is_counted_once() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "standfast", "demo", "--seed", "11"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    said = [line.strip() for line in done.stdout.splitlines()]

    assert done.returncode == 0, done.stdout + done.stderr
    figures = ["12  effects expected", "12  effects seen", "0  lost", "0  repeated"]
    kills = sum("kill -9" in line for line in said)  # a machine may be done before the last
    assert said[-6:] == [f"{kills}  kills with -9", *figures, "6  lanes merged of 6"]
    assert KILLS // 2 <= kills <= KILLS
    assert os.listdir(os.environ["TMPDIR"]) == []


def test_demo_fails_when_something_was_lost_or_repeated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    demo = Demo(str(tmp_path), 1)
    demo.build()
    Path(demo.ledger).write_text("api/build\napi/build\n", encoding="utf-8")

    assert demo.judge() == 1
    said = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["11", "lost"] in said
    assert ["1", "repeated"] in said
