"""Commands that never end, leave without a trace, say a gigabyte, or meet a disk that is full."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from effect_desk import Desk, until
from places import TESTS
from standfast.effects.effect_folder import ERR, EXIT, ORDER, OUT, ROOM, STARTED, SUP
from standfast.effects.streams import Stream
from standfast.errors.base import DiskFailed
from standfast.errors.lanes import NotBegun
from standfast.processes import programs

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="strays are found in /proc")

# A daemon by the book, and beyond: forks twice, a session of its own, no file of ours left open,
# an environment that says nothing.
DAEMON = """
import os, sys
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 1024)
        with open(sys.argv[1] + ".part", "w") as file:
            file.write(str(os.getpid()))
        os.rename(sys.argv[1] + ".part", sys.argv[1])
        os.execve("/bin/sleep", ["sleep", "1000"], {})
    os._exit(0)
os.wait()
while not os.path.exists(sys.argv[1]):
    pass
"""


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path)
    yield made
    made.gate.touch()
    made.journal.close()


# That never end, or leave.


@LINUX
@pytest.mark.req("EFF-01")
@pytest.mark.parametrize("script", ["kill -STOP $$", "trap '' TERM INT HUP; while :; do :; done"])
def test_command_that_never_ends_is_ended_when_its_time_is_up(desk: Desk, script: str) -> None:
    ended = desk.end("a", f"echo $$ > {desk.count}; {script}", timeout_s=0.3)

    assert (ended.how, ended.status) == ("timeout", -signal.SIGKILL)
    assert programs.identify(int(desk.count.read_text(encoding="utf-8"))) is None
    assert desk.end("a", "exit 0") == ended


@LINUX
@pytest.mark.req("EFF-01", "EFF-04")
def test_daemon_that_left_no_trace_is_ended_before_the_end_is_told(desk: Desk) -> None:
    argv = (sys.executable, "-c", DAEMON, str(desk.count))
    ended = desk.end("a", "", argv=argv)

    assert (ended.how, ended.status, ended.left) == ("exited", 0, 1)
    assert programs.identify(int(desk.count.read_text(encoding="utf-8"))) is None


@LINUX
@pytest.mark.req("EFF-01", "EFF-04")
def test_command_that_goes_on_forking_is_ended_whole(desk: Desk) -> None:
    script = "while :; do (setsid sh -c 'trap \"\" TERM; sleep 1000' &) ; sleep 0.01; done"
    ended = desk.end("a", script, timeout_s=0.5)

    assert ended.how == "timeout"
    assert ended.left > 2
    assert desk.folder("a").strays() == []


# That say too much.


def test_stream_gives_room_back_and_loses_no_word(tmp_path: Path) -> None:
    path, cap = tmp_path / "out", 1 << 20
    stream = Stream(str(path), cap)
    said = b""
    for number in range(200):
        words = f"{number:07d}\n".encode() * 8192
        said += words
        os.write(stream.fd, words)
        stream.bound()
        if sys.platform == "linux":
            assert path.stat().st_blocks * 512 <= 2 * cap + len(words) + 8192

    assert stream.size == len(said)
    assert said.decode().endswith(stream.tail())
    os.close(stream.fd)


def test_stream_on_a_disk_without_holes_starts_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("standfast.effects.streams._punch", lambda *_: False)
    path = tmp_path / "out"
    stream = Stream(str(path), 1000)
    for number in range(500):
        os.write(stream.fd, b"%09d\n" % number)
        stream.bound()

    assert path.stat().st_size <= 2010
    assert (stream.size, stream.tail()[-10:]) == (5000, "000000499\n")
    os.close(stream.fd)


@LINUX
@pytest.mark.req("EFF-01")
def test_gigabyte_of_words_is_counted_and_takes_little_room(desk: Desk) -> None:
    caller = desk.call("a", "head -c 1000000000 /dev/zero; echo END")
    folder = desk.folder("a")
    until(lambda: os.path.lexists(folder.at(STARTED)))
    caller.kill()
    caller.communicate()
    most = 0
    while not os.path.lexists(folder.at(EXIT)):
        with suppress(FileNotFoundError):
            most = max(most, os.stat(folder.at(OUT)).st_blocks * 512)
    until(lambda: not folder.is_held(SUP))
    left = set(os.listdir(folder.path))
    ended = desk.end("a", "exit 0")

    assert ended.sizes["out"] == 1_000_000_004
    assert ended.out.endswith("\0END\n")
    assert most < 500_000_000
    assert not left & {OUT, ERR, ROOM}, "they may be what keeps the end from being recorded"
    assert ORDER not in os.listdir(folder.path)


# That meet a full disk.

FULL = """
import json, os, subprocess, sys
from pathlib import Path
sys.path.insert(0, sys.argv[4])
from effect_desk import Desk
from standfast.errors.base import StandfastError

desk = Desk(Path(sys.argv[1]))
small = os.path.join(desk.journal.folder, "effects")
os.makedirs(small)
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=" + sys.argv[2], "none", small], check=True)
before, script = sys.argv[3].split("|")
subprocess.run(["sh", "-c", before], cwd=small, check=False, stderr=subprocess.DEVNULL)

def tell():
    try:
        ended = desk.end("a", script, env={"PATH": os.environ["PATH"], "SMALL": small})
        print(json.dumps([ended.how, ended.status, ended.err]), flush=True)
    except StandfastError as error:
        print(json.dumps([error.code, error.exit_status, error.problem]), flush=True)

tell()
assert not [names for _, _, names in os.walk(small) if "room" in names], "it eats up the rest"
for name in ("fill", "more"):
    if os.path.exists(os.path.join(small, name)):
        os.unlink(os.path.join(small, name))
tell()
desk.journal.close()
"""


def on_small_disk(folder: Path, size: str, script: str) -> list[tuple[str, int, str]]:
    """Run a script under a key, twice, with the effects of its journal on a small disk.

    What stands before `|` is run there first, and its files are removed before the second time.
    """
    apart = ["unshare", "-rm"]
    if shutil.which("unshare") is None or subprocess.run([*apart, "true"], check=False).returncode:
        pytest.skip("no namespace of mounts may be made here")
    words = [sys.executable, "-c", FULL, str(folder), size, script, str(TESTS)]
    done = subprocess.run([*apart, *words], capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    return [tuple(json.loads(line)) for line in done.stdout.splitlines()]


@LINUX
@pytest.mark.req("EFF-01", "REL-05")
@pytest.mark.parametrize("left", ["0", "4k", "12k", "24k", "48k", "68k"])
def test_effect_that_finds_the_disk_full_is_not_begun_and_begins_later(
    tmp_path: Path, left: str
) -> None:
    fill = f"head -c {left} /dev/zero > more; head -c 1M /dev/zero > fill; rm more"
    count = tmp_path / "count"
    first, again = on_small_disk(tmp_path, "256k", f"{fill}|echo x >> {count}; exit 5")

    assert first[0] == (DiskFailed.code if left == "0" else NotBegun.code)
    assert "No space left" in first[2]
    assert again[:2] == ("exited", 5)
    assert count.read_text(encoding="utf-8") == "x\n"


@LINUX
@pytest.mark.req("EFF-01", "REL-05")
@pytest.mark.parametrize(
    "script",
    [
        "|head -c 1M /dev/zero; exit 6",
        "|head -c 1M /dev/zero >&2; exit 6",
        "|head -c 1M /dev/zero > $SMALL/fill; printf '\\377\\0%.0s' $(seq 9000); exit 6",
    ],
)
def test_command_that_fills_the_disk_has_an_end_all_the_same(tmp_path: Path, script: str) -> None:
    first, again = on_small_disk(tmp_path, "256k", script)

    assert first[:2] == ("exited", 6)
    assert again == first
