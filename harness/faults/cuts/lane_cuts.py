"""Real power cuts under a lane: while it starts, works, merges, and is rolled back.

What the journal shows to a reader before the cut is a promise: it was synced before it could be
seen. Each round begins with the same repository, cuts at a random moment, mounts again, looks,
takes the lane up as a person would, and looks once more.
"""

from __future__ import annotations

import ctypes
import json
import os
import random
import shutil
import signal
import time
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from harness.faults import loops, perform, world, worlds
from harness.faults.cuts import cuts, lane_after, lane_scenes
from standfast.errors.base import NothingFound
from standfast.journal.verification import verify
from standfast.processes import programs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from harness.faults.cuts.cuts import Counted
    from harness.faults.cuts.lane_scenes import Scene
    from harness.faults.world import World

    Event = tuple[int, str, str, str]  # seq, hash, kind, payload

_SUBREAPER = 36
_LOOK_AGAIN_S = 0.002
_PATIENCE_S = 30.0
_COMMITS = ("base_sha", "head_sha")


def run(
    folder: str,
    seed: int,
    number: int,
    filesystem: str,
    tell: Callable[[str], None],
    *,
    plant: Callable[[], None] = lambda: None,
    scenes: tuple[Scene, ...] = lane_scenes.SCENES,
    until_found: bool = False,
) -> Counted:
    """Cut the power *number* times on one kind of filesystem, under each scene in turn."""

    def bench(place: str, dice: str) -> Bench:
        return Bench(place, dice, filesystem, plant, scenes, until_found=until_found)

    return cuts.spread(folder, seed, number, filesystem, tell, bench, until_found=until_found)


class Played(NamedTuple):
    """A scene that was played once: its files, and when its events came when nothing was cut."""

    copy: str
    before: lane_after.Before
    times: list[tuple[float, int, str]]


class Stage(NamedTuple):
    """One scene made ready."""

    scene: Scene
    played: Played
    after: int  # the cut comes when so many events are there
    span_s: float


class Bench:
    """One disk, and cut after cut under the same few scenes."""

    def __init__(
        self,
        folder: str,
        seed: str,
        filesystem: str,
        plant: Callable[[], None],
        scenes: tuple[Scene, ...],
        *,
        until_found: bool = False,
    ) -> None:
        self._folder = folder
        self._where = f"[lane on {filesystem}, seed {seed}"
        self._dice = random.Random(f"{seed}/{filesystem}")
        self._filesystem = filesystem
        self._plant = plant
        self._scenes = scenes
        self._until_found = until_found
        half = len(scenes) // 2
        self._first = int(seed.rpartition("/")[2]) * half  # who begins elsewhere sees more, sooner
        self._played: dict[tuple[object, ...], Played] = {}

    def run(self, rounds: int, telling: int) -> None:
        """Cut *rounds* times, and tell of each."""
        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)  # a supervisor outlives its caller
        os.makedirs(self._folder, exist_ok=True)
        self._disk = loops.Disk(self._folder, self._filesystem)
        self._trial = os.path.join(self._disk.root, "trial")
        stages = [self._prepared(scene) for scene in self._scenes]
        for number in range(rounds):
            stage = stages[(number + self._first) % len(stages)]
            seen, found = self._round(stage)
            said = [f"{one} {self._where}, cut {number}: {stage.scene.name}]" for one in found]
            os.write(telling, json.dumps([seen, said[:3]]).encode() + b"\n")
            if found and self._until_found:
                return

    # Before the cuts.

    def _prepared(self, scene: Scene) -> Stage:
        """Scenes with the same work on the same files are played once."""
        play = (scene.fill, scene.work)
        if play not in self._played:
            self._played[play] = self._play(scene)
        played = self._played[play]
        times = played.times
        first = _index(times, scene.from_event, 0)
        last = _index(times, scene.to_event, len(times) - 1)
        span_s = times[last][0] - times[first][0]
        return Stage(scene, played, times[first][1] if first else 0, span_s)

    def _play(self, scene: Scene) -> Played:
        """Make the scene, and play it without a cut to know when what comes."""
        shutil.rmtree(self._trial, ignore_errors=True)
        place = worlds.make("fresh", self._trial)
        scene.fill(place)
        copy = os.path.join(self._folder, scene.name)
        shutil.copytree(self._trial, copy, symlinks=True)
        before = lane_after.before(place)
        return Played(copy, before, self._rehearse(place, scene, before))

    def _rehearse(
        self, place: World, scene: Scene, before: lane_after.Before
    ) -> list[tuple[float, int, str]]:
        """When which event was seen; the first is the beginning, the last the end."""
        began, at_first = time.monotonic(), len(_events(place))
        child = self._begin(place, scene, plant=lambda: None)
        times = [(0.0, at_first, "")]
        while not _is_over(child):
            for seq, _, kind, payload in _events(place)[times[-1][1] :]:
                times.append((time.monotonic() - began, seq, f"{kind} {payload}"))
            time.sleep(_LOOK_AGAIN_S)
        os.waitpid(child, 0)
        found = [*scene.holds(place, before)]
        assert not found, f"without any cut: {found}"
        return [*times, (time.monotonic() - began, len(_events(place)), "")]

    # One cut.

    def _round(self, stage: Stage) -> tuple[int, list[str]]:
        place = self._fresh(stage)
        at_first = len(_events(place))
        child = self._begin(place, stage.scene, self._plant)
        try:
            self._wait_for(place, stage, child)
            time.sleep(self._dice.uniform(0, stage.span_s * 1.05))
            seen = _events(place)
            self._disk.cut()
        finally:
            _kill_all()
        self._disk.again()
        loops.another_boot(self._folder)
        found = [*_promises(place, seen)]
        found += _taken_up(place, self._plant, stage) if not found else []
        found += _promises(place, seen) if not found else []
        return len(seen) - at_first, found

    def _fresh(self, stage: Stage) -> World:
        shutil.rmtree(self._trial, ignore_errors=True)
        shutil.copytree(stage.played.copy, self._trial, symlinks=True)
        self._disk.sync()
        return world.at(self._trial)

    def _begin(self, place: World, scene: Scene, plant: Callable[[], None]) -> int:
        parent = os.getpid()
        child = os.fork()
        if child == 0:
            try:
                loops.die_with(parent)
                os.setsid()
                null = os.open(os.devnull, os.O_RDWR)
                for stream in range(3):
                    os.dup2(null, stream)
                perform.own_streams()
                place.enter()
                os.environ["MAIN"] = place.repo
                plant()
                scene.beside()
                perform.call(*scene.work)
            finally:
                os._exit(0)
        return child

    def _wait_for(self, place: World, stage: Stage, child: int) -> None:
        until = time.monotonic() + _PATIENCE_S
        while (
            stage.after
            and len(_events(place)) < stage.after
            and not _is_over(child)
            and time.monotonic() < until
        ):
            time.sleep(_LOOK_AGAIN_S)


def _taken_up(place: World, plant: Callable[[], None], stage: Stage) -> list[str]:
    """Take it up again, and hold it against what it was to be."""
    perform.PLANTED[:] = [plant, lambda: os.environ.update(MAIN=place.repo)]
    try:
        found = [*lane_scenes.finish(place, stage.scene)]
        return found or [*stage.scene.holds(place, stage.played.before)]
    except (RuntimeError, OSError, ValueError) as error:
        return [f"wrong {type(error).__name__}: {error}"]
    finally:
        perform.PLANTED.clear()


def _index(times: list[tuple[float, int, str]], event: str, otherwise: int) -> int:
    """Where an event that is told in these words first came."""
    if not event:
        return otherwise
    return next(place for place, (_, _, said) in enumerate(times) if event in said)


def _events(place: World) -> list[Event]:
    """What a reader sees now: it was synced before. In a process of its own: it lets go of all."""
    said = perform.apart(place, lambda: _print_events(place))
    return [(seq, link, kind, payload) for seq, link, kind, payload in json.loads(said.out or "[]")]


def _print_events(place: World) -> int:
    asked = "SELECT seq, hex(hash), kind, payload FROM events ORDER BY seq"
    with suppress(NothingFound):
        print(json.dumps(worlds.journal(place).query(asked)))
    return 0


def _promises(place: World, seen: list[Event]) -> Iterator[str]:
    """Every event that was seen is there, and every commit that a checkpoint names is whole."""
    now = {seq: link for seq, link, _, _ in _events(place)}
    if lost := [seq for seq, link, _, _ in seen if now.get(seq) != link]:
        yield f"lost {len(lost)} events that were seen, from {lost[0]}"
    yield from perform.apart(place, lambda: _print_problems(place)).out.splitlines()
    for commit in sorted(set(_named(seen))):
        yield from lane_after.whole(place, commit)


def _print_problems(place: World) -> int:
    journal = worlds.journal(place)
    if journal.exists:
        for problem in verify(journal).problems:
            print(f"wrong {problem}")
    return 0


def _named(seen: list[Event]) -> Iterator[str]:
    for _, _, kind, payload in seen:
        if kind == "checkpoint.written":
            record = json.loads(payload).get("record") or json.loads(payload)
            yield from (str(record[name]) for name in _COMMITS if record.get(name))


def _is_over(child: int) -> bool:
    ended = os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    return ended is not None


def _kill_all() -> None:
    """The power is gone for all of them; those who were left by others have become ours."""
    until = time.monotonic() + _PATIENCE_S
    while time.monotonic() < until:
        for pid in programs.descendants():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return
