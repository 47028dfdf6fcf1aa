"""Two supervise a command: whichever of them is killed, and whenever, its end is recorded once."""

import os
import signal
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from effect_desk import Desk, until
from harness.faults.shim import compiler
from lane_killing import FORMAT, SELF, SOURCE, has_fired
from standfast.effects.effect_folder import SUP, TREE
from standfast.effects.streams import Stream
from standfast.processes import programs

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="orphans are adopted on Linux")


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path)
    yield made
    made.gate.touch()
    made.journal.close()


@pytest.mark.req("EFF-01", "EFF-02", "EFF-05")
@pytest.mark.parametrize("which", [0, 1])
def test_supervisor_that_is_killed_alone_leaves_nothing_in_doubt(desk: Desk, which: int) -> None:
    caller = desk.call("a", desk.waiting())
    until(lambda: desk.counted() == 1)
    victim = desk.supervisors("a")[which]
    programs.send(victim, signal.SIGKILL)
    caller.kill()
    caller.communicate()
    until(lambda: programs.liveness(victim) is programs.Liveness.DEAD)
    assert desk.folder("a").is_held(SUP), "the other one is there"
    desk.gate.touch()

    assert desk.end("a", "exit 0").status == 7
    assert desk.counted() == 2, "it came to its end, and was not begun again"


@pytest.mark.req("EFF-01")
def test_who_goes_on_ends_a_command_that_takes_too_long(desk: Desk) -> None:
    order = desk.order("a", f"echo begun >> {desk.count}; {LOOP}", timeout_s=3.0)
    folder = desk.folder("a")
    folder.write_order(order)
    desk.journal.append("effect.intended", {"key": "a", "argv": order.argv})
    sup = folder.take(SUP)
    assert sup is not None
    words = [sys.executable, "-I", "-m", "standfast.effects.supervisor", folder.path, str(sup)]
    waiting = subprocess.Popen(words, pass_fds=(sup,), stdin=subprocess.PIPE)
    os.close(sup)
    assert waiting.stdin is not None
    with waiting.stdin as pipe:
        pipe.write(order.whole())
    until(lambda: desk.counted() == 1)
    programs.send(desk.supervisors("a")[1], signal.SIGKILL)

    assert waiting.wait() == 0
    assert desk.end("a", "exit 0").how == "timeout"
    assert not folder.is_held(TREE)


LOOP = "while :; do sleep 0.02; done"


@pytest.mark.req("EFF-01", "EFF-05")
def test_supervisor_killed_at_any_call_that_changes_a_file(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library, shared = tmp_path / "shim.so", tmp_path / "shared"
    command = [str(compiler()), "-shared", "-fPIC", "-O2", "-o", str(library), str(SOURCE)]
    subprocess.run([*command, "-ldl"], check=True)
    plain = dict(os.environ)
    monkeypatch.setenv("LD_PRELOAD", str(library))
    monkeypatch.setenv("KILL_SHIM_FILE", str(shared))
    nth = 0
    fired = True
    while fired:
        nth += 1
        shared.write_bytes(struct.pack(FORMAT, 1, nth, 0, SELF, 0, 0))
        ended = desk.end(f"a{nth}", f"echo x >> {desk.count}; echo said; exit 5", env=plain)
        assert (ended.how, ended.status, ended.out) == ("exited", 5, "said\n"), nth
        assert desk.counted() == nth
        fired = has_fired(shared)

    assert nth > 10, "it was killed at none of its calls"


@pytest.mark.req("EFF-01")
def test_words_that_were_let_go_of_are_gone_for_whoever_goes_on_too(tmp_path: Path) -> None:
    path, cap = str(tmp_path / "out"), 64 * 1024
    first = Stream(path, cap)
    os.write(first.fd, b"old" * cap + b"new" * cap)
    if not first.bound() or first.size != 6 * cap:
        pytest.skip("files have no holes here")
    second = Stream(path, cap)

    assert (second.size, second.digest()) == (first.size, first.digest())


FINDS = """
import os, subprocess, sys
from standfast.effects.supervision import _status_of, first_child
from standfast.effects.supervisor import _adopt_orphans

_adopt_orphans()
assert first_child() is None
child = os.fork()
if child == 0:
    other = subprocess.Popen(["sh", "-c", sys.argv[1]], start_new_session=True)
    os.kill(os.getpid(), 9)
os.waitpid(child, 0)
print(_status_of(first_child()))
"""


@pytest.mark.parametrize(
    ("script", "status"), [("exit 3", 3), ("sleep 0.2; exit 4", 4), ("kill -15 $$", -15)]
)
def test_command_is_found_by_one_who_was_not_told_its_number(script: str, status: int) -> None:
    words = [sys.executable, "-c", FINDS, script]
    found = subprocess.run(words, check=True, stdout=subprocess.PIPE, encoding="utf-8", timeout=60)

    assert int(found.stdout) == status
