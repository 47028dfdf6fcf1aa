"""A disk that fills up in the middle of a lane: said clearly, and resumed once there is room."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a small disk is mounted for it")

SCRIPT = """
set -u
mount -t tmpfs -o size=6m none "$1" || exit 99
cd "$1"; mkdir repo; cd repo; git init -q -b main
for i in $(seq 20); do seq 100 > f$i; done; git add -A; git commit -qm first; echo do > ../one.md
lane() { "$PYTHON" -m standfast lane "$@" --run-id r1 --phase P1 --lane SL-1; }
export FILL="$1/fill" ONCE="$1/once"
lane run --runner "$2" --task ../one.md > ../said 2>&1; echo "first $?"
grep -E '^error|Traceback' ../said
rm -f "$FILL"
for i in 1 2 3; do lane resume > ../said 2>&1; s=$?; grep -E '^error|Traceback' ../said
[ $s = 0 ] && break; done
echo "then $s"; echo "made $(git show HEAD:made)"; echo "runs $(cat "$ONCE")"
"$PYTHON" -m standfast journal verify | tail -1
"""


def on_small_disk(folder: Path, runner: str) -> list[str]:
    if shutil.which("unshare") is None:
        pytest.skip("no unshare here")
    words = ["unshare", "-rm", "bash", "-c", SCRIPT, "-", str(folder), runner]
    env = {"PYTHON": sys.executable}
    done = subprocess.run(
        words, env={**os.environ, **env}, capture_output=True, encoding="utf-8", check=False
    )
    if done.returncode == 99 or "unshare" in done.stderr:
        pytest.skip(f"no small disk may be mounted here: {done.stderr.strip()}")
    return done.stdout.splitlines()


@pytest.mark.sweep(3)
@pytest.mark.req("EFF-01")
@pytest.mark.parametrize(
    "fills",
    ['head -c 20M /dev/zero > "$FILL"', "head -c 20M /dev/zero", "head -c 20M /dev/zero >&2"],
)
def test_agent_that_fills_the_disk_is_run_once_and_its_work_merged(
    tmp_path: Path, fills: str
) -> None:
    runner = f'echo whole > made; echo x >> "$ONCE"; {fills}; exit 0'
    told = on_small_disk(tmp_path, runner)

    assert "then 0" in told, told
    assert [line for line in told if "Traceback" in line] == []
    assert told[-1].endswith("kept every promise.")
    assert "made whole" in told, "what it wrote is on the base"
    assert "runs x" in told, "and it was run once"
