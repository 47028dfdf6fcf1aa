"""Phases by themselves: begun, resumed and taken back alone, with records and triggers like all."""

import json
from pathlib import Path

import pytest

from run_worlds import Night, documented, night, section
from standfast import ids
from standfast.journal import questions

PLAN = "phases:\n  P1: {lanes: {a: Do a.}}\n  P2: {lanes: {b: {task: Do b., after: P1/a}}}\n"
WHOLE = {"before_lane_start": "ready", "after_lane_start": "in_progress",
         "after_lane_tests": "complete", "pre_pr": "complete"}  # fmt: skip
FAILED = {"before_lane_start": "ready", "after_lane_start": "in_progress",
          "after_lane_tests": "failed"}  # fmt: skip


@pytest.fixture
def world(tmp_path: Path) -> Night:
    return night(tmp_path)


def records(world: Night, phase: str) -> dict[str, str]:
    """The phase's own records: stage and status."""
    shown = json.loads(world.call("checkpoint", "list", "--run-id", "r", "--json").stdout)
    return {each["stage"]: each["status"] for each in shown["checkpoints"]
            if (each["phase"], each["lane"]) == (phase, ids.NO_LANE)}  # fmt: skip


def fired(world: Night) -> list[tuple[str, int]]:
    """T1 and T2 of the run, in order, each with its phase."""
    journal = world.journal()
    try:
        told = questions.events(journal, questions.Filter(kind="resumption.triggered"))
        said = [json.loads(each.payload)["trigger"] for each in told]
    finally:
        journal.close()
    found = [(each["trigger"], each["recovery_state"]["current_phase"]) for each in said]
    return [each for each in found if each[0] in ("T1", "T2") and each[1]]


def failing(world: Night, lane: str) -> None:
    world.agent(f'[ "$STANDFAST_LANE" != {lane} ] || exit 3')


@pytest.mark.req("CKP-12", "RES-03")
def test_phase_resumed_alone_waits_for_no_other_and_has_records_and_triggers(world: Night) -> None:
    documented(world)
    failing(world, "a")
    assert world.call("run", world.plan(PLAN), "--run-id", "r").returncode == 1
    done = world.call("run", "--resume", "--run-id", "r", "--phase", "P2")

    assert done.returncode == 0, done.stdout + done.stderr
    assert world.lanes("r") == {"a": "failed", "b": "done"}
    assert (records(world, "P1"), records(world, "P2")) == (FAILED, WHOLE)
    assert fired(world) == [("T1", 1), ("T1", 2), ("T2", 2)]
    assert section(world)["recovery_state"]["workflow_status"] == "ACTIVE"
    world.agent()
    assert world.call("resume", "r", "a").returncode == 0
    assert fired(world)[3:] == [("T2", 1)]
    assert section(world)["recovery_state"]["workflow_status"] == "COMPLETE"


@pytest.mark.sweep(3)
@pytest.mark.req("CKP-12", "RES-03")
@pytest.mark.parametrize(
    "back",
    [
        ("run", "--rollback", "--run-id", "r", "--phase", "P2"),
        ("rollback", "r", "b"),
        ("lane", "rollback", "--run-id", "r", "--phase", "P2", "--lane", "-"),
    ],
)
def test_phase_that_was_taken_back_begins_anew(world: Night, back: tuple[str, ...]) -> None:
    documented(world)
    failing(world, "b")
    assert world.call("run", world.plan(PLAN), "--run-id", "r").returncode == 1
    assert records(world, "P2") == FAILED
    done = world.call(*back)

    assert done.returncode == 0, done.stdout + done.stderr
    assert set(records(world, "P2").values()) == {"rolled_back"}
    assert records(world, "P1") == WHOLE
    again = world.call(*back)
    assert again.returncode == 0, again.stdout + again.stderr
    world.agent()
    words = ("lane", "resume", "--run-id", "r", "--phase", "P2", "--lane", "-")
    done = world.call(*words)
    assert done.returncode == 0, done.stdout + done.stderr
    assert records(world, "P2") == WHOLE
    assert fired(world) == [("T1", 1), ("T2", 1), ("T1", 2), ("T1", 2), ("T2", 2)]


@pytest.mark.req("CKP-12")
def test_phase_whose_lanes_all_stay_is_not_taken_back(world: Night) -> None:
    failing(world, "b")
    assert world.call("run", world.plan(PLAN), "--run-id", "r").returncode == 1

    assert world.call("run", "--rollback", "--run-id", "r", "--phase", "P1").returncode == 1
    assert (records(world, "P1"), records(world, "P2")) == (WHOLE, FAILED)
