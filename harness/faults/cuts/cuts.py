"""Real power cuts: writers at work on ext4 or xfs, the shutdown ioctl, and what is there after it.

A round lets some processes work, hears what they acknowledge, cuts the power at a random moment,
mounts again, calls `status` as a user would, and judges: what was acknowledged is there once,
files are whole, the journal verifies, the next command works. The world goes on from round to
round, so a cut hits what a cut left; now and then it is made anew to stay small.
"""

from __future__ import annotations

import json
import os
import random
import select
import shutil
import time
import traceback
from typing import TYPE_CHECKING, NamedTuple, Protocol

from harness.faults import loops, perform, world, worlds
from harness.faults.cuts import busy
from harness.faults.cuts.after_cut import Kept, Told, judge
from standfast.journal.fallback import inbox

if TYPE_CHECKING:
    from collections.abc import Callable

    from harness.faults.world import World

FILESYSTEMS = loops.FILESYSTEMS
_LANES = 2  # a cut waits for the kernel more than it computes
_ROUNDS_OF_A_WORLD = 40
_LONGEST_WORK_S = 1.0
_AT_ONCE: tuple[tuple[str, ...], ...] = (
    ("notes",), ("notes",), ("hooks",), ("hooks",), ("spooled",), ("edits",), ("files",),
    ("notes", "hooks"), ("notes", "notes", "hooks", "hooks"), ("notes", "spooled", "hooks"),
    ("spooled", "files"), ("holding", "spooled"),
)  # fmt: skip
_LONGEST_FINDING = 600


class Counted(NamedTuple):
    """What one run did and found."""

    cuts: int
    acknowledged: int
    findings: list[str]
    skipped: str | None = None


def run(
    folder: str,
    seed: int,
    cuts: int,
    filesystem: str,
    tell: Callable[[str], None],
    *,
    plant: Callable[[], None] = lambda: None,
    until_found: bool = False,
) -> Counted:
    """Cut the power *cuts* times on one kind of filesystem; *folder* is for images and copies."""

    def lane(place: str, dice: str) -> Lane:
        return Lane(place, dice, filesystem, plant, until_found=until_found)

    return spread(folder, seed, cuts, filesystem, tell, lane, until_found=until_found)


class Cutting(Protocol):
    """Whoever has a disk to cut."""

    def run(self, rounds: int, telling: int) -> None:
        """Cut so often, and tell of each in a line."""


def spread(
    folder: str,
    seed: int,
    cuts: int,
    filesystem: str,
    tell: Callable[[str], None],
    make: Callable[[str, str], Cutting],
    *,
    until_found: bool = False,
) -> Counted:
    """Share the cuts out among a few processes, each with a disk of its own.

    *until_found*: one alone, which stops at the first finding.
    """
    why = loops.lacking(folder, filesystem)
    if why is not None:
        return Counted(0, 0, [], why)
    perform.load_everything()
    said, telling = os.pipe()
    lanes = 1 if until_found else min(_LANES, cuts)
    pids = []
    for number in range(lanes):
        share = cuts // lanes + (number < cuts % lanes)
        lane = make(os.path.join(folder, f"lane-{number}"), f"{seed}/{number}")
        pids.append(_start(lane, share, telling, said))
    os.close(telling)
    counted = _hear(said, lambda done: tell(f"{filesystem}: {done} of {cuts} cuts"))
    for pid in pids:
        os.waitpid(pid, 0)
    if counted.cuts < cuts and not (until_found and counted.findings):
        counted.findings.append(f"wedged the harness ended after {counted.cuts} cuts")
    return counted


def _start(lane: Cutting, rounds: int, telling: int, said: int) -> int:
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.close(said)
            loops.die_with(parent)
            loops.private_mounts()
            lane.run(rounds, telling)
            status = 0
        except BaseException:  # noqa: BLE001  # said here, or nobody would know why it ended
            traceback.print_exc()
        finally:
            os._exit(status)
    return pid


def _hear(said: int, progress: Callable[[int], None]) -> Counted:
    """Take in what the lanes tell, a line for each cut, until all have ended."""
    cuts, acknowledged, findings = 0, 0, []
    with open(said, encoding="utf-8") as lines:
        for line in lines:
            heard, found = json.loads(line)
            cuts, acknowledged = cuts + 1, acknowledged + heard
            findings += found
            if cuts == 1 or cuts % 100 == 0:
                progress(cuts)
    return Counted(cuts, acknowledged, findings)


class Lane:
    """One disk, one world on it, and cut after cut."""

    def __init__(
        self,
        folder: str,
        seed: str,
        filesystem: str,
        plant: Callable[[], None],
        *,
        until_found: bool,
    ) -> None:
        self._folder = folder
        self._until_found = until_found
        self._where = f"[{filesystem}, seed {seed}"
        self._dice = random.Random(f"{seed}/{filesystem}")
        self._filesystem = filesystem
        self._plant = plant
        self._kept: Kept | None = None

    def run(self, rounds: int, telling: int) -> None:
        """Cut *rounds* times, and tell of each."""
        os.makedirs(self._folder, exist_ok=True)
        self._disk = loops.Disk(self._folder, self._filesystem)
        worlds.make("begun", os.path.join(self._disk.root, "trial"))
        shutil.copytree(os.path.join(self._disk.root, "trial"), f"{self._folder}/begun")
        for number in range(rounds):
            if number % _ROUNDS_OF_A_WORLD == 0:
                self._make_anew()
            told = self._round(number)
            findings, self._kept = judge(self._world, told, self._kept, self._plant)
            if findings:
                self._make_anew()
            said = [
                f"{one} {self._where}, cut {number}: {self._kinds}]"[-_LONGEST_FINDING:]
                for one in findings
            ]
            os.write(telling, json.dumps([told.acknowledged, said[:3]]).encode() + b"\n")
            if findings and self._until_found:
                break
        # Commands that still ran when the disk was gone turned to the machine's own folder.
        shutil.rmtree(inbox.folder_for(self._world.folder, "/tmp"), ignore_errors=True)

    def _make_anew(self) -> None:
        trial = os.path.join(self._disk.root, "trial")
        shutil.rmtree(trial, ignore_errors=True)
        shutil.copytree(f"{self._folder}/begun", trial)
        self._disk.sync()
        self._kept = None
        self._world: World = world.at(trial)

    def _round(self, number: int) -> Told:
        """Let them work, cut, and come up again."""
        kinds = self._dice.choice(_AT_ONCE)
        self._kinds = " + ".join(kinds)
        enough, more_s = self._dice.randint(0, 3 * len(kinds)), self._dice.uniform(0, 0.012)
        said, tell = os.pipe()
        workers = [
            busy.begin(self._world, f"cut-{number}-{who}", kind, (said, tell), self._plant)
            for who, kind in enumerate(kinds)
        ]
        os.close(tell)
        try:
            before = _listen(said, enough)
            time.sleep(more_s)  # the moment is the point: anywhere in what they do next
            before += _what_is_there(said)
            self._disk.cut()
        finally:
            for worker in workers:
                busy.kill(worker)
        with open(said, "rb") as rest:  # its end is the end of the last process
            told = Told(before, rest.read())
        self._disk.again()
        return told


def _listen(said: int, enough: int) -> bytes:
    """Hear so many acknowledgements, or what there is before nobody says any more."""
    heard = b""
    until = time.monotonic() + _LONGEST_WORK_S
    while (
        heard.count(b"!") < enough
        and select.select([said], [], [], max(0, until - time.monotonic()))[0]
    ):
        part = os.read(said, 65536)
        if not part:
            break
        heard += part
    return heard


def _what_is_there(said: int) -> bytes:
    return os.read(said, 65536) if select.select([said], [], [], 0)[0] else b""
