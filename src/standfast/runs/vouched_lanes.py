"""Which lanes this user began here: looked up by what they are to do, not by what a journal says.

A lane that is begun is vouched for before its first command; whoever goes on with it, takes it
back or settles what it left looks it up first. Where it may work is looked at as well: a person
who trusts a lane need not see through a path.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from standfast import clock
from standfast.errors.lanes import WorktreeElsewhere
from standfast.git import outgoing_push, push_address
from standfast.plans import lane_spec, trust, trust_marks
from standfast.redaction.redactor import redact_value
from standfast.runs.lanes.pull_request import REMOTE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from standfast.git.command import Git
    from standfast.plans.lane_spec import Spec

ADDRESSES = "push"  # what is trusted by its name, for whatever run


class Where(NamedTuple):
    """Whose word is looked up, for which journal, and where lanes may work."""

    state_home: str
    journal: str  # its folder
    root: str  # the main checkout
    roots: tuple[str, ...] = ()  # the user's own other choices


class Unknown(NamedTuple):
    """What nobody vouches for."""

    specs: list[Spec]
    addresses: tuple[str, ...]
    fingerprint: str

    def __bool__(self) -> bool:
        return bool(self.specs or self.addresses)


def unknown(where: Where, specs: Sequence[Spec], addresses: Sequence[str] = ()) -> Unknown:
    """The lanes of one run, and the addresses that they would push to, which are not known."""
    if not specs:
        return Unknown([], (), "")
    known = trust.vouched(where.state_home, where.journal, _group(specs))
    lanes = {trust_marks.of_lane(each, where.root): each for each in specs}
    places = {trust_marks.of_address(each): each for each in addresses}
    new = {mark for mark in (*lanes, *places) if mark not in known}
    return Unknown(
        [each for mark, each in lanes.items() if mark in new],
        tuple(each for mark, each in places.items() if mark in new),
        trust_marks.together(new) if new else "",
    )


def vouch(where: Where, specs: Sequence[Spec], addresses: Sequence[str], by: str) -> None:
    """Remember that this user began these lanes of one run, or trusts them."""
    marks = [trust_marks.of_lane(each, where.root) for each in specs]
    marks += [trust_marks.of_address(each) for each in addresses]
    at = clock.rfc3339(clock.now_us())
    if specs:
        trust.vouch(where.state_home, where.journal, _group(specs), marks, at=at, by=by)


def _group(specs: Sequence[Spec]) -> str:
    return f"run/{specs[0].run_id}"


def is_vouched(where: Where, run_id: str, mark: str) -> bool:
    """Whether this user has said so of something in a run, by its fingerprint."""
    return mark in trust.vouched(where.state_home, where.journal, f"run/{run_id}")


def vouch_for(where: Where, run_id: str, mark: str, by: str) -> None:
    """Remember that they have."""
    at = clock.rfc3339(clock.now_us())
    trust.vouch(where.state_home, where.journal, f"run/{run_id}", [mark], at=at, by=by)


def as_kept(specs: Iterable[Spec]) -> list[Spec]:
    """Lanes as the journal will give them back: it keeps no secrets."""
    return [_kept(each) for each in specs]


def _kept(spec: Spec) -> Spec:
    clean = redact_value(spec.as_dict())
    assert isinstance(clean, dict)  # noqa: S101  # as it was given
    return lane_spec.read(clean)


def strangers(where: Where, addresses: Iterable[str]) -> tuple[str, ...]:
    """Places on this machine that nobody has trusted by their name: git runs the hooks there."""
    known = trust.vouched(where.state_home, where.journal, ADDRESSES)
    local = filter(push_address.runs_hooks_here, addresses)
    return tuple(each for each in local if trust_marks.of_address(each) not in known)


def trust_addresses(where: Where, addresses: Sequence[str], by: str) -> None:
    """A person has seen where branches would be pushed to."""
    marks = [trust_marks.of_address(each) for each in addresses]
    at = clock.rfc3339(clock.now_us())
    if marks:
        trust.vouch(where.state_home, where.journal, ADDRESSES, marks, at=at, by=by)


def addresses(git: Git, specs: Iterable[Spec]) -> tuple[str, ...]:
    """Where the branches of these lanes would be pushed to now, if any is."""
    if not any(map(trust_marks.pushes, specs)):
        return ()
    found = git.push_addresses(REMOTE)
    outgoing_push.refuse_inside(git, found)
    return found


def refuse_elsewhere(where: Where, specs: Iterable[Spec]) -> None:
    """A worktree is where the user would look for one."""
    for spec in specs:
        refuse_place((where.root, *where.roots), spec.worktree)


def refuse_place(allowed: Iterable[str], path: str) -> None:
    """Below the main checkout, or a folder of the user's own configuration, links resolved."""
    real = os.path.realpath(path)
    tops = [os.path.realpath(each) for each in allowed]
    if not any(real == top or real.startswith(f"{top.rstrip('/')}/") for top in tops):
        raise WorktreeElsewhere("the worktree of a lane would be here", file=path)
