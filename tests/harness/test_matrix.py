"""The crash matrix: a slice of it, and that it would see what it looks for.

Every effect counts itself in a file outside. Kills come from outside, at moments drawn at random
and where the journal has its boundaries; the count says what they did.
"""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from harness.matrix import __main__ as program
from harness.matrix import arms, report, striking, work
from harness.matrix.campaign import Campaign, course
from harness.matrix.confidence import per_kill
from harness.matrix.places import BEGIN, JournalPlaces, LedgerPlaces, label
from harness.matrix.striking import Strike
from harness.matrix.trial import Told, Trial

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="victims are looked for in /proc")


class Careless(arms.Scripted):
    """Effects without the door, and kills that always take the orchestrator."""

    victims = (striking.ORCHESTRATOR,)


class Forgetful(arms.Scripted):
    """A lane that says it is done and has done nothing."""

    def begin(self, room: work.Room) -> list[str]:
        return ["true", room.path]


# The slice.


@pytest.mark.sweep
@LINUX
@pytest.mark.prove
@pytest.mark.req("EFF-05", "EFF-01", "EFF-02", "CKP-11")
def test_kills_anywhere_in_a_lane_lose_nothing_and_repeat_nothing(tmp_path: Path) -> None:
    done = Campaign(arms.STANDFAST, str(tmp_path), 8, 20261116, everywhere=False).run()

    found = report.figures(done)
    assert found["problems"] == []
    assert found["kills"] >= 8
    assert (found["lost"], found["repeated"]) == (0, 0)
    assert found["asked"] <= found["supervisors_killed"]


@pytest.mark.sweep
@LINUX
@pytest.mark.prove
def test_a_lane_without_the_door_is_seen_to_repeat(tmp_path: Path) -> None:
    done = Campaign(Careless("bare", "bare_lane"), str(tmp_path), 6, 1, everywhere=False).run()

    found = report.figures(done)
    assert found["problems"] == []
    assert found["repeated"] > 0
    assert found["victims"] == {"orchestrator": found["kills"]}


@LINUX
def test_a_lane_that_did_nothing_is_seen_to_have_lost_everything(tmp_path: Path) -> None:
    done = Campaign(Forgetful("nothing", "-"), str(tmp_path), 1, 1).run()

    assert sum(each.lost for each in done.told) == 8
    assert "did not do its work once" in report.figures(done)["problems"][0]


@LINUX
def test_the_program_leaves_its_figures(tmp_path: Path) -> None:
    out = tmp_path / "build" / "matrix.json"

    status = program.main(["--arm", "bare", "--peer-kills", "1", "--seed", "7", "--out", str(out)])

    kept = json.loads(out.read_text(encoding="utf-8"))
    assert status == 0  # only Standfast is held to anything
    assert kept["seed"] == 7
    assert {"kills", "expected", "lost", "repeated", "asked"} <= kept["arms"]["bare"].keys()
    assert sum(kept["arms"]["bare"]["places"].values()) == kept["arms"]["bare"]["kills"]


# Whom a kill strikes.


@LINUX
def test_a_tree_is_struck_alone_and_its_failure_is_told(tmp_path: Path) -> None:
    from harness.matrix.trial import Plan

    room = work.furnish(str(tmp_path / "room"))
    trial = Trial(arms.BARE, room)
    places = LedgerPlaces(room.ledger)

    told = trial.run([Plan(1, 0.04, striking.TREE)], places, {"after 1 effects": 1})

    assert [strike.victim for strike in told.strikes] == ["tree"]
    assert (told.failed, told.repeated, told.lost) == (1, 0, 0)


@LINUX
def test_nobody_is_struck_who_is_not_of_the_trial(tmp_path: Path) -> None:
    room, other = work.Room(str(tmp_path / "room")), work.Room(str(tmp_path / "room2"))
    with (
        subprocess.Popen(["sleep", "60"], env=room.environment()) as ours,
        subprocess.Popen(["sleep", "60"], env=other.environment()) as theirs,
    ):
        striking.end(room)

        assert ours.wait() == -9
        assert theirs.poll() is None
        assert not striking.wait(other, 0)
        theirs.kill()


# What is counted.


def test_lost_and_repeated_are_what_the_ledger_says() -> None:
    told = Told(counted={**dict.fromkeys(work.NAMES, 1), "t1": 0, "t2": 3, "pr": 2})

    assert (told.lost, told.repeated) == (1, 3)


@pytest.mark.parametrize(
    ("events", "low", "high"),
    [(0, 0.0, 0.03689), (1, 0.00025, 0.05572), (10, 0.04795, 0.18390), (400, 3.6176, 4.4118)],
)
def test_intervals_are_the_exact_ones(events: int, low: float, high: float) -> None:
    assert per_kill(events, 100) == pytest.approx((low, high), abs=0.0001)


def fine(**other: object) -> dict[str, object]:
    return {
        "lost": 0, "repeated": 0, "asked": 3, "supervisors_killed": 3, "missed": [], "problems": [],
        **other,
    }  # fmt: skip


@pytest.mark.parametrize(
    "wrong",
    [{"lost": 1}, {"repeated": 1}, {"asked": 4}, {"missed": [BEGIN]}, {"problems": ["stuck"]}],
)
def test_what_may_not_be_is_a_finding(wrong: dict[str, object]) -> None:
    assert report.findings({"standfast": fine()}) == []
    assert len(report.findings({"standfast": fine(**wrong)})) == 1


def test_a_peer_may_repeat_but_not_get_stuck() -> None:
    assert report.findings({"dbos": fine(repeated=9)}) == []
    assert report.findings({"dbos": fine(problems=["stuck"])}) == ["dbos: stuck"]


# Where a kill strikes.


def test_attempts_of_an_effect_are_one_place() -> None:
    key = "lane/M1/P1/SL-1/task-t3"

    labels = {label("effect.intended", {"key": f"{key}{n}"}) for n in ("/1", "/2", "/1#2", "")}

    assert labels == {"effect.intended task-t3"}


def test_events_of_one_transaction_are_one_place(tmp_path: Path) -> None:
    from standfast.journal.store import Journal

    journal = Journal(str(tmp_path / "journal"))
    places = JournalPlaces(journal.path)
    seen = [places.now()]
    journal.append("effect.intended", {"key": "a"})
    seen.append(places.now())
    with journal.writing() as tx:
        tx.append("lane.step", {"step": "pr", "state": "begun"})
        tx.append("checkpoint.written", {"stage": "pre_pr", "status": "ready"})
    seen.append(places.now())
    journal.close()

    assert seen == [
        BEGIN,
        "effect.intended a",
        "lane.step pr begun + checkpoint.written pre_pr ready",
    ]


def test_a_course_tells_how_long_each_place_lasted() -> None:
    way = course([("a", 0), ("b", 1_000_000), ("a", 1_500_000), ("c", 4_500_000)])

    assert way.order == {"a": 0, "b": 1, "c": 2}
    assert way.widths[:2] == (3.0, 0.5)


def test_the_plan_goes_where_fewest_kills_have_struck() -> None:
    campaign = Campaign(arms.BARE, "nowhere", 1, 1)
    campaign.intervals = course([(name, n * 1_000_000) for n, name in enumerate("abcdef")])
    struck = [Strike("all", place=name) for name in "abdef"]
    campaign.told.append(Told(strikes=struck))

    planned = [campaign._plans(campaign.intervals, adaptive=True) for _ in range(9)]

    assert campaign.missed() == ["c"]
    assert all(2 in [plan.index for plan in plans] for plans in planned)
    assert all(plans == sorted(plans, key=lambda plan: plan.index) for plans in planned)
    assert {len(plans) for plans in planned} == {1, 2, 3}


def test_what_was_asked_is_counted_by_the_kill_before_it() -> None:
    campaign = Campaign(arms.BARE, "nowhere", 1, 1)
    campaign.told = [Told(asked=Counter(all=2)), Told(asked=Counter(supervisor=1))]

    found = report.figures(campaign)

    assert (found["asked"], found["asked_after"]) == (3, {"all": 2, "supervisor": 1})
