"""Where a rollback goes, what it marks, and what it refuses: the pure part."""

import pytest

from standfast.errors.lanes import LaneBusy, NoTarget, RollbackRefused
from standfast.protocols.checkpoints.rules import checkpoint as cp
from standfast.runs.rules import lane_view, rollback
from standfast.runs.rules.lane_view import Lane, Worktree

A, B, C, D = (letter * 40 for letter in "abcd")
THERE = {A, B, C, D}


def record(stage: str, status: str, head: str | None = None, base: str | None = A) -> cp.Record:
    said = {"stage": stage, "status": status, "head_sha": head, "base_sha": base}
    return {name: value for name, value in said.items() if value is not None}


BEFORE = record(cp.BEFORE, cp.READY)
STARTED = record(cp.STARTED, cp.IN_PROGRESS, A)
TESTED = record(cp.TESTED, cp.COMPLETE, B)
PRE_PR = record(cp.PRE_PR, cp.FAILED, C)


@pytest.mark.req("CKP-05")
@pytest.mark.parametrize(
    ("records", "to", "stage", "sha", "marks"),
    [
        ([BEFORE, STARTED, TESTED, PRE_PR], None, cp.TESTED, B, (cp.PRE_PR,)),
        ([BEFORE, STARTED, record(cp.TESTED, cp.FAILED, B), PRE_PR], None, cp.STARTED, A,
         (cp.TESTED, cp.PRE_PR)),
        ([BEFORE, STARTED, record(cp.TESTED, cp.BLOCKED, B)], None, cp.STARTED, A, (cp.TESTED,)),
        ([BEFORE, STARTED, record(cp.TESTED, cp.COMPLETE, "e" * 40), PRE_PR], None, cp.STARTED, A,
         (cp.TESTED, cp.PRE_PR)),
        ([BEFORE, STARTED, record(cp.TESTED, cp.COMPLETE), PRE_PR], None, cp.STARTED, A,
         (cp.TESTED, cp.PRE_PR)),
        ([BEFORE, record(cp.STARTED, cp.IN_PROGRESS)], None, cp.BEFORE, A, (cp.STARTED,)),
        ([BEFORE], None, cp.BEFORE, A, (cp.BEFORE,)),
        ([record(cp.BEFORE, cp.FAILED), record(cp.STARTED, cp.FAILED, B)], None, cp.BEFORE, A,
         (cp.STARTED,)),
        ([record(cp.STARTED, cp.FAILED, B)], None, cp.BEFORE, A, (cp.STARTED,)),
        ([BEFORE, STARTED, TESTED, PRE_PR], cp.BEFORE, cp.BEFORE, A,
         (cp.STARTED, cp.TESTED, cp.PRE_PR)),
        ([BEFORE, STARTED, TESTED, PRE_PR], cp.STARTED, cp.STARTED, A, (cp.TESTED, cp.PRE_PR)),
        ([BEFORE, STARTED, TESTED, PRE_PR], cp.PRE_PR, cp.PRE_PR, C, ()),
        ([BEFORE, STARTED, TESTED, record(cp.PRE_PR, cp.ROLLED_BACK, C)], None, cp.TESTED, B, ()),
        ([TESTED, BEFORE], cp.BEFORE, cp.BEFORE, A, (cp.TESTED,)),
    ],
)  # fmt: skip
def test_target_is_the_newest_earlier_stage_that_went_well(
    records: list[cp.Record], to: str | None, stage: str, sha: str, marks: tuple[str, ...]
) -> None:
    assert rollback.choose(records, THERE, to) == rollback.Aim(stage, sha, marks)


@pytest.mark.req("CKP-05")
@pytest.mark.parametrize(
    ("records", "to", "why"),
    [
        ([record(cp.BEFORE, cp.READY, base=None)], None, "names the commit"),
        ([record(cp.BEFORE, cp.READY, base="e" * 40)], None, "not in this repository"),
        ([BEFORE, STARTED], cp.PRE_PR, "no checkpoint pre_pr"),
        ([BEFORE, STARTED, record(cp.TESTED, cp.COMPLETE)], cp.TESTED, "names the commit"),
    ],
)
def test_no_commit_to_go_to_is_refused(records: list[cp.Record], to: str | None, why: str) -> None:
    with pytest.raises(NoTarget, match=why):
        rollback.choose(records, THERE, to)


TREE = Worktree("/w", is_there=True, is_ours=True, branch="lane", head=C)
LANE = Lane(TREE, branch="lane", is_named=True, tip=C, base="main", base_tip=D, is_merged=False)
AIM = rollback.Aim(cp.STARTED, B, ())


@pytest.mark.req("CKP-05")
@pytest.mark.parametrize(
    ("lane", "error", "why"),
    [
        (LANE._replace(is_merged=True), RollbackRefused, "merged"),
        (LANE._replace(branch="main", worktree=TREE._replace(branch="main")), RollbackRefused,
         "base branch itself"),
        (LANE._replace(branch=None), RollbackRefused, "no checkpoint names"),
        (LANE._replace(tip=None), RollbackRefused, "gone"),
        (LANE._replace(elsewhere="/x"), RollbackRefused, "elsewhere: /x"),
        (LANE._replace(worktree=TREE._replace(is_ours=False)), RollbackRefused, "no worktree of"),
        (LANE._replace(worktree=TREE._replace(is_main=True)), RollbackRefused,
         "main checkout"),
        (LANE._replace(worktree=TREE._replace(branch="other")), RollbackRefused, "is on other"),
        (LANE._replace(worktree=TREE._replace(branch=None)), RollbackRefused, "on no branch"),
        (LANE._replace(worktree=TREE._replace(unfinished="a rebase")), RollbackRefused,
         "a rebase is unfinished"),
        (LANE._replace(worktree=TREE._replace(locks=("/l",))), LaneBusy, "/l"),
        (LANE._replace(worktree=TREE._replace(pids=(7, 8))), LaneBusy, "process 7, 8"),
    ],
)  # fmt: skip
def test_what_must_not_be_moved_is_refused(lane: Lane, error: type[Exception], why: str) -> None:
    rollback.refuse(LANE, AIM, [BEFORE], begun=False)
    with pytest.raises(error, match=why):
        rollback.refuse(lane, AIM, [BEFORE], begun=False)


@pytest.mark.req("CKP-05")
@pytest.mark.parametrize("tip", [A, B])
def test_lane_without_work_of_its_own_is_not_taken_for_a_merged_one(tip: str) -> None:
    rollback.refuse(LANE._replace(is_merged=True, tip=tip), AIM, [BEFORE], begun=False)


def test_one_that_was_cut_short_goes_on_over_its_own_lock() -> None:
    lane = LANE._replace(is_merged=True, worktree=TREE._replace(locks=("/l",)))

    rollback.refuse(lane, AIM, [BEFORE], begun=True)


def test_backups_are_numbered_on() -> None:
    names = ("r", "P1", "-")
    refs = [f"refs/standfast/backup/r/P1/-/{number}" for number in (1, 9, 10)]

    assert rollback.next_ref(names, []) == "refs/standfast/backup/r/P1/-/1"
    assert rollback.next_ref(names, refs) == "refs/standfast/backup/r/P1/-/11"


def test_what_is_kept_at_its_place_is_not_fresh() -> None:
    kept = [{"a": ("100644", A)}, {"b": ("100644", B)}]

    files = {"a": ("100644", A), "b": ("100755", B), "c": ("100644", A)}

    assert rollback.fresh(files, kept) == {"b", "c"}


@pytest.mark.req("CKP-14")
def test_resume_starts_from_the_target_of_a_rollback_and_skips_nothing_that_failed() -> None:
    rolled = record(cp.TESTED, cp.ROLLED_BACK, B)
    failed = record(cp.TESTED, cp.FAILED, B)

    assert lane_view.starts_from([BEFORE, STARTED, rolled]) == cp.STARTED
    assert lane_view.starts_from([record(cp.BEFORE, cp.ROLLED_BACK)]) == cp.BEFORE
    assert lane_view.starts_from([BEFORE, STARTED, failed]) == cp.TESTED
    assert lane_view.done([BEFORE, STARTED, failed, record(cp.RETRY, cp.RETRYING)]) == [
        cp.BEFORE, cp.STARTED,
    ]  # fmt: skip


@pytest.mark.req("CKP-04")
@pytest.mark.parametrize(
    ("lane", "said"),
    [
        (LANE._replace(worktree=Worktree("/w x")),
         "The worktree is gone: /w x; `git worktree add '/w x' lane` makes it again."),
        (LANE._replace(worktree=Worktree("/w\n")), "The worktree is gone: /w\\n."),
        (LANE._replace(worktree=TREE._replace(is_ours=False)), "no worktree of this repository"),
        (LANE._replace(tip=None, commits=frozenset([C])), f"`git branch lane {C}`"),
        (LANE._replace(tip=None, backups=("refs/x/1",)), "what a rollback kept is there: refs/x/1"),
        (LANE._replace(tip=None), "no commit of it"),
        (LANE._replace(branch=None), "No checkpoint names the lane's branch."),
        (LANE._replace(base_tip=None), "The base branch is gone: main."),
        (LANE._replace(base=None), "No checkpoint names the base branch."),
        (LANE._replace(is_merged=True), "all of it in the base branch"),
        (LANE._replace(worktree=TREE._replace(unfinished="a merge")), "Unfinished there: a merge"),
        (LANE._replace(worktree=TREE._replace(pids=(7,))), "At work in it: process 7"),
        (LANE._replace(worktree=TREE._replace(locks=("/l",))), "git is at work there, or died: /l"),
    ],
)  # fmt: skip
def test_what_is_gone_is_said_with_what_brings_it_back(lane: Lane, said: str) -> None:
    found = "\n".join(lane_view.findings(lane, [BEFORE, PRE_PR]))

    assert said in found
    assert said not in "\n".join(lane_view.findings(LANE, [BEFORE, PRE_PR]))
