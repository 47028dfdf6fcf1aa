"""Whatever is wrong around a program, the answer is clear, or a wait, and nothing is lost.

A slice of what `make faults` does to every act, by the system's own means; each test that follows
is one thing that this has found, or that shows that it would find it.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.faults import perform
from harness.faults.acts import ACTS
from harness.faults.around import bench, conditions, surroundings
from harness.faults.around import canaries as bugs
from standfast.clients.claude import settings_file
from standfast.clients.hooks import hook_call

SLICE = 4
EDITS = 200


@pytest.fixture
def folder() -> Iterator[str]:
    """Give a folder in memory where there is one; a late hook may still write while it goes."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory, ignore_cleanup_errors=True) as found:
        yield found


def tried(
    folder: str,
    name: str,
    *,
    budget: int,
    bug: Callable[[], None] | None = None,
) -> list[str]:
    """The findings of one condition; skips with its reason what this machine cannot make."""
    counted = surroundings.run(
        *(folder, 5, lambda _: None),
        budget=budget,
        plant=bug or (lambda: None),
        only=name,
        until_found=bug is not None,
    )
    if counted.skipped:
        pytest.skip(counted.skipped[0])
    assert 0 < counted.trials[name] <= budget
    return counted.findings


@pytest.mark.prove
@pytest.mark.req("REL-05")
@pytest.mark.parametrize("name", surroundings.CONDITIONS)
def test_nothing_is_lost_whatever_is_wrong_around_it(folder: str, name: str) -> None:
    assert tried(folder, name, budget=SLICE) == []


# The harness would find it.


@pytest.mark.prove
@pytest.mark.req("REL-07")
@pytest.mark.parametrize("bug", bugs.CANARIES)
def test_planted_bug_is_found(folder: str, bug: str) -> None:
    name, plant = bugs.CANARIES[bug]
    assert tried(folder, name, budget=60, bug=plant)


# What it has found.


@pytest.mark.req("REL-05")
def test_a_hook_that_can_keep_its_fact_nowhere_leaves_it_to_the_launcher(folder: str) -> None:
    """No file may grow: neither journal, spool nor mark can be written, and an answer would lie."""
    act = ACTS["Stop"]
    world = bench.Bench(folder, lambda: None).fresh(act)

    def work() -> int:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
        hears, answers = os.pipe()
        hook_call.serve("1", os.environ, answers)
        os.set_blocking(hears, False)
        try:
            return len(os.read(hears, 10))
        except BlockingIOError:
            return 42

    assert perform.apart(world, work, given=act.given(world)).status == 42


@pytest.mark.req("REL-05")
def test_who_holds_the_way_to_a_lock_is_named_too(folder: str) -> None:
    act, here = ACTS["note"], bench.Bench(folder, lambda: None)
    world = here.fresh(act)

    with conditions._holder(os.path.join(world.folder, "turnstile.lock")) as pid:
        answer = here.perform(act, world, conditions._impatient)

    assert f"process {pid} holds it" in answer.err


# A racing editor of a client's settings. (Of faces: test_faces.)


EDITOR = """
import json, os, random, sys
path, dice, saved = sys.argv[1], random.Random(1), {}
for number, _ in enumerate(iter(lambda: sys.stdin.buffer.read(1), b"")):
    for _ in range(dice.randrange(20_000)):
        pass
    saved[f"edit {number}"] = True
    with open(path + "~", "w", encoding="utf-8") as file:
        json.dump(saved, file)
    os.rename(path + "~", path)
    print(flush=True)
"""


@pytest.mark.prove
@pytest.mark.req("REL-05", "REL-08")
def test_what_an_editor_saves_is_never_written_over_by_us(tmp_path: Path) -> None:
    """It saves once while we change the file once; whoever was first, its words are there."""
    path = tmp_path / "settings.json"
    path.write_text("{}", encoding="utf-8")
    file = settings_file.SettingsFile(str(path), str(path))

    def add(text: str | None) -> str:
        return json.dumps({**json.loads(text or "{}"), "ours": os.urandom(4).hex()})

    argv = [sys.executable, "-c", EDITOR, str(path)]
    on_top = 0
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) as editor:
        assert editor.stdin is not None
        assert editor.stdout is not None
        for number in range(EDITS):
            editor.stdin.write(b"x")
            settings_file.change(file, add)
            editor.stdout.readline()
            kept = json.loads(path.read_text(encoding="utf-8"))
            assert f"edit {number}" in kept
            on_top += "ours" in kept
        editor.stdin.close()

    assert 0 < on_top < EDITS  # it was a race: each was first now and then
