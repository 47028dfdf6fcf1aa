"""A night with the real clients: a slice of it, and that it would see what it looks for."""

import json
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.night import __main__ as program
from harness.night import mind, striking, world
from harness.night.campaign import Night
from harness.night.judge import judge
from harness.rig.clients import PINNED, NpmMissing, install

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="victims are looked for in /proc")
SEED = 72
ASKED = "Pay the bill P1-a.\n\nYou work on task task of lane a, phase P1, in the git worktree"
CUT_OFF = f"Your work on this was cut off, and you are to go on with it.\n\n{ASKED}"


@pytest.fixture
def clients() -> None:
    try:
        for name in world.CLIENTS:
            install(PINNED[name], client=name)
    except NpmMissing as missing:
        pytest.skip(str(missing))


@pytest.fixture
def night(clients: None, tmp_path: Path) -> Iterator[Night]:
    with Night(str(tmp_path), world.lanes(1, 2), kills=0, seed=1) as made:
        yield made


# The slice.


@pytest.mark.prove
@pytest.mark.req("RUN-02", "RUN-06", "RUN-07", "CKP-11")
def test_run_of_real_clients_is_killed_rebooted_and_parked_and_every_lane_merges_once(
    clients: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "night.json"
    small = ["--phases", "1", "--lanes", "2", "--kills", "3", "--parked", "1"]

    status = program.main([*small, "--seed", str(SEED), "--out", str(out)])

    said = capsys.readouterr().out
    found = json.loads(out.read_text(encoding="utf-8"))
    assert (status, found["problems"]) == (0, []), said
    assert (found["expected"], found["seen"], found["lost"], found["repeated"]) == (2, 2, 0, 0)
    assert (found["merged"], found["asked"], found["parked"]) == (2, 0, 1)
    assert found["kills"] == 3
    assert found["reboots"] == (0 if found["why_no_reboots"] else 1)
    assert "2  lanes merged of 2" in said


# What it would see.


def test_night_in_which_nothing_happened_has_lost_everything(night: Night) -> None:
    found = judge(night)

    assert (found.expected, found.seen, found.lost, found.merged) == (2, 0, 2, 0)
    assert not found.is_well


def test_bill_that_was_paid_twice_is_seen(night: Night) -> None:
    bill = night.world.lanes[0].bill
    Path(night.world.ledger).write_text(f"{bill}\n{bill}\n", encoding="utf-8")
    found = judge(night)

    assert (found.seen, found.lost, found.repeated) == (2, 1, 1)


def test_process_that_outlives_its_night_is_seen_and_ended(night: Night) -> None:
    env = {"PATH": "/usr/bin:/bin", **dict([night.world.mark.decode().split("=", 1)])}
    left = subprocess.Popen(["sleep", "600"], env=env)
    problems = judge(night).problems

    assert f"still alive: process {left.pid}" in problems
    striking.end(night.world)
    assert left.wait() == -9


def test_two_agents_in_one_lane_are_seen(night: Night) -> None:
    own = dict([night.world.mark.decode().split("=", 1)])
    lane = {"STANDFAST_PHASE": "P1", "STANDFAST_LANE": "a", "STANDFAST_TASK": "task"}
    both = [
        subprocess.Popen(
            ["sleep", "600"],
            env={"PATH": "/usr/bin:/bin", **own, **lane, "STANDFAST_EFFECT": effect},
        )
        for effect in ("1", "2")
    ]
    doubled = striking.look(night.world).doubled
    striking.end(night.world)

    assert doubled == ["P1-a"]
    assert [each.wait() for each in both] == [-9, -9]


def test_supervisor_is_struck_only_where_there_is_one(night: Night) -> None:
    life = subprocess.Popen(["sleep", "600"], start_new_session=True)
    struck = striking.strike(night.world, life.pid, striking.SUPERVISOR, random.Random(1))

    assert (struck, life.wait()) == (striking.ORCHESTRATOR, -9)


@pytest.mark.skipif(bool(world.why_no_boot()), reason=world.why_no_boot() or "-")
def test_reboot_is_seen_by_what_is_started_afterwards_and_by_nobody_else(night: Night) -> None:
    real = Path(world.BOOT_ID).read_text(encoding="ascii")
    seen = []
    for _ in range(2):
        night.world.boot()
        show = night.world.within(["cat", world.BOOT_ID])
        seen.append(subprocess.run(show, capture_output=True, check=True).stdout)

    assert len({*seen, real.encode()}) == 3
    assert Path(world.BOOT_ID).read_text(encoding="ascii") == real


# The careful model.


@pytest.mark.parametrize(
    ("told", "command"),
    [
        ([ASKED], "bill pay P1-a && bill write P1-a"),
        ([ASKED, CUT_OFF], "bill look P1-a"),
        ([CUT_OFF], "bill look P1-a"),
        ([CUT_OFF, "bill P1-a: open"], "bill pay P1-a && bill write P1-a"),
        ([CUT_OFF, "bill P1-a: paid"], "bill write P1-a"),
        ([CUT_OFF, "bill P1-a: open", CUT_OFF], "bill look P1-a"),
        ([ASKED, "bill P1-a: written", CUT_OFF], ""),
        ([ASKED, "sh: command not found"], "bill look P1-a"),
        ([f"{ASKED}\nEarlier runs of this lane failed."], "bill look P1-a"),
    ],
)
def test_careful_model_pays_only_what_it_knows_to_be_open(told: list[str], command: str) -> None:
    said = [("user", each) for each in told]

    assert mind.bill_of(said) == "P1-a"
    assert mind.decide("P1-a", said).command == command


def test_bill_of_a_lane_is_not_one_that_a_commit_names() -> None:
    said = [("user", "feat(P1-b): Pay the bill P1-b."), ("user", ASKED)]
    assert mind.bill_of(said) == "P1-a"


def test_limits_fall_on_both_clients_and_on_each_lane_once() -> None:
    chosen = program.limited(world.lanes(3, 4), 7, 5)
    assert len(set(chosen)) == 5
    assert sum("codex" in each for each in chosen) == 2
