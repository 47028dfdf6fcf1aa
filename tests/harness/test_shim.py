"""The shim does to a call what it is told, to that call alone, and counts across processes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.faults import shim
from harness.faults.shim import Fault, Kind, Op

pytestmark = pytest.mark.skipif(shim.compiler() is None, reason="there is no C compiler here")

PROGRAM = """
import json, os, sys
from harness.faults.shim import Shim, parse
os.chdir(sys.argv[1])
watched = Shim()
outside = os.path.dirname(sys.argv[1])
log = os.open(outside + "/log", os.O_WRONLY | os.O_CREAT) if sys.argv[3:] else -1
watched.arm(sys.argv[1], parse(sys.argv[2]) if sys.argv[2] else None, log=log)
told = []
def do(call, *given):
    try:
        told.append(call(*given))
    except OSError as error:
        told.append(error.strerror)
fd = os.open("a", os.O_RDWR | os.O_CREAT)          # 1
do(os.write, fd, b"0123456789")                    # 2
do(os.fsync, fd)                                   # 3
do(os.rename, "a", "b")                            # 4
if os.fork() == 0:
    do(os.pwrite, fd, b"AB", 4)                    # 5
    os._exit(0)
os.wait()
do(os.unlink, "b")                                 # 6
do(os.mkdir, "c")                                  # 7
open(outside + "/elsewhere", "w").close()
watched.disarm()
print(json.dumps({"told": told, "ops": [op.name for op in watched.ops()], "fired": watched.fired}))
"""


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> str:
    return shim.build(str(tmp_path_factory.mktemp("shim")))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "root").mkdir()
    return tmp_path / "root"


def run(
    library: str, root: Path, fault: Fault | None, *more: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, str(root), str(fault or ""), *more],
        env=shim.environment(library),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def test_without_a_fault_every_call_is_counted_and_none_touched(library: str, root: Path) -> None:
    done = json.loads(run(library, root, None).stdout)

    assert done["ops"] == ["CREATE", "WRITE", "SYNC", "RENAME", "WRITE", "UNLINK", "MKDIR"]
    assert done["told"] == [10, None, None, None, None]
    assert not done["fired"]
    assert sorted(os.listdir(root)) == ["c"]


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (Fault(Kind.EIO, 3), [10, "Input/output error", None, None, None]),
        (Fault(Kind.ENOSPC, 2), ["No space left on device", None, None, None, None]),
        (Fault(Kind.SHORT, 2), [5, None, None, None, None]),
        (Fault(Kind.EROFS_ON, 4), [10, None, *["Read-only file system"] * 3]),
        (Fault(Kind.ENOSPC_ON, 6), [10, None, None, *["No space left on device"] * 2]),
        (Fault(Kind.EINTR, 2), [10, None, None, None, None]),  # Python tries again by itself
    ],
)
def test_fault_happens_to_the_call_it_is_meant_for(
    library: str, root: Path, fault: Fault, told: list[object]
) -> None:
    done = json.loads(run(library, root, fault).stdout)

    assert done["told"] == told
    assert done["fired"]


@pytest.mark.parametrize(
    ("fault", "names", "data"),
    [
        (Fault(Kind.KILL_BEFORE, 4), ["a"], b"0123456789"),
        (Fault(Kind.KILL_AFTER, 4), ["b"], b"0123456789"),
        (Fault(Kind.TORN, 2), ["a"], b"01234"),
        (Fault(Kind.KILL_BEFORE, 2), ["a"], b""),
    ],
)
def test_kill_leaves_exactly_what_was_done_before(
    library: str, root: Path, fault: Fault, names: list[str], data: bytes
) -> None:
    done = run(library, root, fault)

    assert done.returncode == -9
    assert os.listdir(root) == names
    assert (root / names[0]).read_bytes() == data


def test_kill_in_a_child_leaves_its_parent_alone(library: str, root: Path) -> None:
    done = run(library, root, Fault(Kind.KILL_BEFORE, 5))

    assert json.loads(done.stdout)["ops"] == [
        *("CREATE", "WRITE", "SYNC", "RENAME", "WRITE", "UNLINK", "MKDIR")
    ]


def test_log_tells_every_change_with_its_bytes(library: str, root: Path) -> None:
    run(library, root, None, "log")

    log = (root.parent / "log").read_bytes()
    assert log.count(str(root / "a").encode()) >= 3
    assert b"0123456789" in log
    assert b"AB" in log
    assert b"elsewhere" not in log


def test_fault_and_its_name_are_the_same() -> None:
    for kind in Kind:
        assert shim.parse(str(Fault(kind, 7))) == Fault(kind, 7)
    assert Op.WRITE.name == "WRITE"
