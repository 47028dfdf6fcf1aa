"""How lanes and effects can fail: apart from the other errors, because hooks need none of them."""

from __future__ import annotations

from standfast.errors.base import StandfastError

# Effects.


class EffectInDoubt(StandfastError):
    """Nobody can say whether a command took effect."""

    code = "SF134"
    exit_status = 91
    remedy = "Look whether it did (`standfast ps` lists it), then say so with `settle`."


class StillRunning(StandfastError):
    """A process that was to be ended lives on."""

    code = "SF135"
    exit_status = 92
    remedy = "It may wait for a disk that hangs: see `standfast ps` in a while."


class NotInDoubt(StandfastError):
    """There is nothing to be said of this command: it runs, its end is known, or it was said."""

    code = "SF139"
    exit_status = 103
    remedy = "See `standfast ps`."


class PowerFailed(StandfastError):
    """The power failed under a command: it counts as done once you know what may be torn."""

    code = "SF142"
    exit_status = 123
    remedy = "Look whether the work is whole (`git status`), mend what is not, then answer again."


class NotBegun(StandfastError):
    """A command could not be begun; nothing of it was run."""

    code = "SF140"
    exit_status = 104
    remedy = "Mend what is named (`df` shows whether a disk is full), then call this again."


# Rollback.


class RollbackRefused(StandfastError):
    """A lane cannot be rolled back as it stands; nothing was changed."""

    code = "SF136"
    exit_status = 93
    remedy = "See how it stands with `standfast lane resume`."


class LaneBusy(StandfastError):
    """Somebody is at work in a lane's worktree, so that nothing in it may be moved now."""

    code = "SF137"
    exit_status = 94
    remedy = "Let it finish, or end it; then call this again."


class NoTarget(StandfastError):
    """A lane's checkpoints name no commit that is there to go back to; nothing was changed."""

    code = "SF138"
    exit_status = 95
    remedy = "See `standfast checkpoint list`; write one with `--base-sha` and `--head-sha`."


# Lanes, and the branches they go to: SF5xx.


class LaneFailed(StandfastError):
    """The agent or the tests of a lane failed, and no retry is left."""

    code = "SF501"
    exit_status = 1
    remedy = "Read the end of its log, mend what it shows, then resume the lane."


class LaneBlocked(StandfastError):
    """A lane cannot go on until somebody has seen to something."""

    code = "SF502"
    exit_status = 96
    remedy = "See to what is named, then resume the lane."


class LaneParked(StandfastError):
    """A lane waits for the end of a usage limit; nothing failed, and no retry is used."""

    code = "SF509"
    exit_status = 105
    remedy = "Resume the lane when that time has come: it goes on where it was."

    def __init__(
        self,
        problem: str,
        *,
        since_us: int = 0,
        until_us: int | None = None,
        remedy: str | None = None,
    ) -> None:
        super().__init__(problem, remedy=remedy)
        self.since_us, self.until_us = since_us, until_us  # None: until somebody says so


class LaneEnded(StandfastError):
    """Somebody ended a command of a lane; nothing failed, and no retry is used."""

    code = "SF510"
    exit_status = 106
    remedy = "Resume the lane: it goes on from there."


class LaneChanged(StandfastError):
    """A lane that has begun was called with another task, command or branch."""

    code = "SF503"
    exit_status = 97
    remedy = "Resume the lane as it is, or start another under another run id."


class BranchTaken(StandfastError):
    """The branch that a lane would make is there already, and is not the lane's."""

    code = "SF504"
    exit_status = 98
    remedy = "Look at that branch, rename or remove it if it is yours to do so, then resume."


class InTheWay(StandfastError):
    """Something that is not the lane's stands where its worktree should be."""

    code = "SF505"
    exit_status = 99
    remedy = "Look at that folder, move it away if it is yours to move, then resume."


class BaseMoved(StandfastError):
    """A branch is no longer where it was when the merge was prepared."""

    code = "SF506"
    exit_status = 100
    remedy = "Resume the lane: it is brought up to date with the branch first."


class BaseRefused(StandfastError):
    """The checkout of the base branch cannot take the merge as it stands."""

    code = "SF507"
    exit_status = 101
    remedy = "Run `git status` in that checkout, put its changes away, then resume the lane."


class GitTooOld(StandfastError):
    """This git lacks what a lane needs."""

    code = "SF508"
    exit_status = 102
    remedy = "Install git 2.38 or newer."


# What runs agents: SF52x.


class UnknownRunner(StandfastError):
    """No runner of this name is known or configured."""

    code = "SF521"
    exit_status = 121
    remedy = "Name one that is known, or put it into `runners` of your own configuration."


class RunnerMissing(StandfastError):
    """The program of a runner is not installed here; nothing was begun."""

    code = "SF522"
    exit_status = 122
    remedy = "Install it, or name another `command` for the runner in your own configuration."


# Runs: SF53x.


class RunBusy(StandfastError):
    """Another process takes this run on."""

    code = "SF530"
    exit_status = 118
    remedy = "Watch it with `standfast status`, or end it with `standfast stop`."


class RunElsewhere(StandfastError):
    """This repository is a copy, and the run was begun in the original: it is left to that."""

    code = "SF538"
    exit_status = 109
    remedy = "Go on with it in the original, or begin another run here with `--run-id`."


class RunChanged(StandfastError):
    """A run that has begun was called with another plan."""

    code = "SF531"
    exit_status = 119
    remedy = "Resume the run as it is, or start another with `--run-id`."


class RunUnknown(StandfastError):
    """There is no run of this name."""

    code = "SF532"
    exit_status = 112
    remedy = "See `standfast status`."


class BaselineFailed(StandfastError):
    """Setup or tests fail where no agent has changed anything; none was begun."""

    code = "SF533"
    exit_status = 113
    remedy = "Mend it on the base branch, then call this again."


class NothingToStart(StandfastError):
    """A run cannot begin as things are; nothing was begun."""

    code = "SF534"
    exit_status = 114
    remedy = "See to what is named, then call this again."


class RunUntrusted(StandfastError):
    """The journal holds a lane that this user did not begin here; nothing of it was begun."""

    code = "SF535"
    exit_status = 120
    remedy = "Read what it would do, above; call this again in a terminal, or with `--trust`."


class PushRefused(StandfastError):
    """A branch would be pushed to where nobody has said that it may be; nothing was pushed."""

    code = "SF536"
    exit_status = 107
    remedy = "See `git remote --verbose` and `git config --show-origin --get-regexp url`."


class WorktreeElsewhere(StandfastError):
    """A lane's worktree is neither below the main checkout nor in a folder of your own choice."""

    code = "SF537"
    exit_status = 108
    remedy = "If it is meant to be there, name its folder in `worktree_roots` of your settings."
