"""What the shim writes down is all that happened: the model that follows it holds the same."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.faults import shim
from harness.faults.power import disk_log
from harness.faults.power.disk_model import Cut, crash, prefixes
from harness.faults.shim import Op

pytestmark = [
    pytest.mark.req("REL-02"),
    pytest.mark.skipif(shim.compiler() is None, reason="there is no C compiler here"),
]

# A process under the shim does what it is told below ./disk, and the log goes to ./log.
DOER = """
import os, sys
from harness.faults.shim import Shim
os.chdir(sys.argv[1])
log = os.open("log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
shim = Shim()
shim.arm(os.path.realpath("disk"), log=log)
os.chdir("disk")
exec(sys.argv[2])
shim.disarm()
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> str:
    return shim.build(str(tmp_path_factory.mktemp("shim")))


def do(library: str, folder: Path, code: str) -> tuple[disk_log.Disk, list[disk_log.Record]]:
    (folder / "disk").mkdir(exist_ok=True)
    disk = disk_log.Disk(os.path.realpath(folder / "disk"))
    environment = shim.environment(library)
    subprocess.run([sys.executable, "-c", DOER, str(folder), code], env=environment, check=True)
    records = list(disk_log.read((folder / "log").read_bytes()))
    for record in records:
        disk.follow(record)
    return disk, records


def kept(disk: disk_log.Disk) -> dict[str, bytes | None]:
    """Everything is kept: as if the power had stayed on."""
    return crash(disk.now(), prefixes(disk.now())[-1])


def lost(disk: disk_log.Disk) -> dict[str, bytes | None]:
    """Nothing is kept that was not synced."""
    return crash(disk.now(), Cut(0))


def real(folder: Path) -> dict[str, bytes | None]:
    return {
        str(path.relative_to(folder / "disk")): None if path.is_dir() else path.read_bytes()
        for path in (folder / "disk").rglob("*")
    }


def test_what_was_there_is_durable(library: str, tmp_path: Path) -> None:
    (tmp_path / "disk" / "d").mkdir(parents=True)
    (tmp_path / "disk" / "d" / "f").write_bytes(b"old")
    disk, records = do(library, tmp_path, "")

    assert records == []
    assert lost(disk) == kept(disk) == {"d": None, "d/f": b"old"}


def test_sync_of_a_file_keeps_its_data_and_not_its_name(library: str, tmp_path: Path) -> None:
    code = "f = os.open('f', os.O_CREAT | os.O_WRONLY); os.write(f, b'x'); os.fsync(f)"
    disk, _ = do(library, tmp_path, code)

    assert (lost(disk), kept(disk)) == ({}, {"f": b"x"})


def test_sync_of_a_folder_keeps_its_names_and_not_the_data(library: str, tmp_path: Path) -> None:
    code = (
        "f = os.open('f', os.O_CREAT | os.O_WRONLY); os.write(f, b'x')\n"
        "os.fsync(os.open('.', os.O_RDONLY))"
    )
    disk, _ = do(library, tmp_path, code)

    assert (lost(disk), kept(disk)) == ({"f": b""}, {"f": b"x"})


def test_file_made_without_a_name_is_followed_to_the_one_it_gets(
    library: str, tmp_path: Path
) -> None:
    code = (
        "f = os.open('.', os.O_TMPFILE | os.O_WRONLY); os.write(f, b'x'); os.fsync(f)\n"
        "os.link(f'/proc/self/fd/{f}', 'f', src_dir_fd=0)\n"
        "os.rename('f', 'g')\n"
        "os.fsync(os.open('.', os.O_RDONLY))"
    )
    disk, _ = do(library, tmp_path, code)

    assert lost(disk) == kept(disk) == {"g": b"x"}


def test_file_that_was_replaced_while_it_is_open_is_another(library: str, tmp_path: Path) -> None:
    code = (
        "f = os.open('f', os.O_CREAT | os.O_WRONLY); os.write(f, b'old')\n"
        "g = os.open('g', os.O_CREAT | os.O_WRONLY); os.write(g, b'new')\n"
        "os.rename('g', 'f'); os.write(f, b'er'); os.unlink('f')\n"
        "h = os.open('f', os.O_CREAT | os.O_WRONLY); os.write(h, b'third')"
    )
    disk, _ = do(library, tmp_path, code)

    assert kept(disk) == {"f": b"third"}


def test_number_that_is_given_out_again_is_another_file(tmp_path: Path) -> None:
    root = os.path.realpath(tmp_path)
    disk = disk_log.Disk(root)
    for op, name, data in (
        (Op.CREATE, "f", b""),
        (Op.WRITE, "f", b"old"),
        (Op.UNLINK, "f", b""),
        (Op.CREATE, "g", b""),
    ):
        disk.follow(disk_log.Record(op, f"{root}/{name}", "", 4711, 0, data))

    assert kept(disk) == {"g": b""}


def test_rename_onto_another_name_of_the_same_file_does_nothing(
    library: str, tmp_path: Path
) -> None:
    code = "os.close(os.open('f', os.O_CREAT)); os.link('f', 'g'); os.rename('f', 'g')"
    disk, _ = do(library, tmp_path, code)

    assert kept(disk) == real(tmp_path) == {"f": b"", "g": b""}


def test_words_to_the_outside_are_told_and_change_nothing(library: str, tmp_path: Path) -> None:
    disk, records = do(library, tmp_path, "os.write(os.pipe()[1], b'done')")

    assert [(record.op.name, record.data) for record in records] == [("MARK", b"done")]
    assert kept(disk) == {}


NAMES = st.sampled_from(["a", "b", "d/a", "d/b"])
STEPS = st.one_of(
    st.tuples(st.just("write"), NAMES, st.integers(0, 1100), st.binary(min_size=1, max_size=700)),
    st.tuples(st.just("append"), NAMES, st.binary(min_size=1, max_size=20)),
    st.tuples(st.just("cut"), NAMES, st.integers(0, 900)),
    st.tuples(st.sampled_from(["rename", "exchange", "link"]), NAMES, NAMES),
    st.tuples(st.sampled_from(["unlink", "sync", "empty"]), NAMES),
    st.tuples(st.just("sync"), st.sampled_from([".", "d"])),
)
PLAY = """
import ctypes
libc = ctypes.CDLL(None)
os.makedirs('d', exist_ok=True)
for what, name, *rest in {steps!r}:
    try:
        if what == 'write':
            fd = os.open(name, os.O_RDWR | os.O_CREAT)
            os.pwrite(fd, rest[1], rest[0])
            os.close(fd)
        elif what == 'append':
            fd = os.open(name, os.O_WRONLY | os.O_APPEND); os.write(fd, rest[0]); os.close(fd)
        elif what == 'cut':
            fd = os.open(name, os.O_RDWR); os.ftruncate(fd, rest[0]); os.close(fd)
        elif what == 'rename':
            os.rename(name, rest[0])
        elif what == 'exchange':
            libc.renameat2(-100, name.encode(), -100, rest[0].encode(), 2)
        elif what == 'link':
            os.link(name, rest[0])
        elif what == 'unlink':
            os.unlink(name)
        elif what == 'empty':
            os.close(os.open(name, os.O_WRONLY | os.O_TRUNC))
        else:
            fd = os.open(name, os.O_RDONLY); os.fsync(fd); os.close(fd)
    except FileNotFoundError:
        pass
    except FileExistsError:
        pass
"""


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=st.lists(STEPS, min_size=1, max_size=40))
def test_whatever_is_done_the_model_holds_what_the_disk_holds(
    library: str, tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[object, ...]]
) -> None:
    folder = tmp_path_factory.mktemp("play")
    disk, _ = do(library, folder, PLAY.replace("{steps!r}", repr(steps)))

    assert kept(disk) == real(folder)
