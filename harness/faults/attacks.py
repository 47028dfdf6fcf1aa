"""What somebody from outside did to runs, trust, words and copies: each attack, and its bug.

An attack goes through the command line, in a world of its own, and gives back what went wrong. The
bug planted for it takes away the one thing that holds it; without that thing it must be seen.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from harness.faults import perform, torn_attacks, worlds
from harness.faults.cuts import lane_scenes
from harness.faults.cuts.lane_after import git
from harness.faults.world import World, at, write
from standfast import authorship
from standfast.effects import ancestry
from standfast.git import push_address
from standfast.journal import agents_at_work, id_file
from standfast.plans import trust
from standfast.runs import vouched_lanes
from standfast.runs.lanes import base_history, shared_settings, torn_restore
from standfast.runs.rules import retest_rules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LANE = lane_scenes.LANE
_LOOK_AGAIN_S = 0.01
_BARE = ("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "PATH")
_SAID = 2
_PLANTED = "the repository says to skip the tests"


class Attack(NamedTuple):
    """What is done, and the bug without which it does no harm."""

    does: Callable[[World], Iterator[str]]
    bug: Callable[[], None]


def run(
    folder: str, *, names: tuple[str, ...] = (), plant: Callable[[], None] = lambda: None
) -> list[str]:
    """Try them all, or those named; what went wrong."""
    perform.load_everything()
    found = []
    for name in names or ATTACKS:
        place = worlds.make("fresh", os.path.join(folder, name.replace(" ", "-")))
        perform.PLANTED[:] = [plant]
        try:
            found += [f"{words} [attack: {name}]" for words in ATTACKS[name].does(place)]
        finally:
            perform.PLANTED.clear()
    return found


def _lane(world: World, *words: str) -> perform.Answer:
    return perform.command(world, "lane", "run", *LANE, "--task", "../home/one.md", *words)


def delivered(world: World) -> Iterator[str]:
    """A directory comes with its journal, in which a lane waits to be tried again."""
    lane_scenes.fill(world)
    ran = os.path.join(world.home, "ran")
    _lane(world, "--runner", f"echo ran >> '{ran}'; exit 7")
    os.unlink(ran)
    shutil.rmtree(os.path.join(world.home, ".local"))  # its receiver has begun nothing
    for words in (("resume",), ("lane", "resume", *LANE), ("lane", "run", *LANE)):
        perform.command(world, *words)
    if os.path.exists(ran):
        yield "wrong a command of a delivered journal was run"


def pushed(world: World) -> Iterator[str]:
    """The remote is a repository inside this one, with a hook."""
    lane_scenes.fill(world)
    ran, vendor = os.path.join(world.home, "ran"), os.path.join(world.repo, "vendor.git")
    git(world, "init", "-q", "--bare", vendor)
    hook = os.path.join(vendor, "hooks", "pre-receive")
    write(hook, f"#!/bin/sh\ntouch '{ran}'\n")
    os.chmod(hook, 0o755)
    git(world, "remote", "add", "origin", "./vendor.git")
    _lane(world, "--runner", "touch made", "--merge", "pr")
    if os.path.exists(ran):
        yield "wrong a push ran a hook that lies in the repository"


def beside(world: World) -> Iterator[str]:
    """A path that is nothing, and beside it the name that git tries next: it leads in here."""
    lane_scenes.fill(world)
    ran, vendor = os.path.join(world.home, "ran"), os.path.join(world.repo, "vendor.git")
    git(world, "init", "-q", "--bare", vendor)
    hook = os.path.join(vendor, "hooks", "pre-receive")
    write(hook, f"#!/bin/sh\ntouch '{ran}'\n")
    os.chmod(hook, 0o755)
    os.symlink(vendor, os.path.join(world.root, "team.git"))
    git(world, "remote", "add", "origin", os.path.join(world.root, "team"))
    _lane(world, "--runner", "touch made", "--merge", "pr")
    if os.path.exists(ran):
        yield "wrong a push ran a hook of the repository by another name"


def way_out(world: World) -> Iterator[str]:
    """The repository has a word in how its branch is pushed."""
    lane_scenes.fill(world)
    there = os.path.join(world.root, "team.git")
    git(world, "init", "-q", "--bare", there)
    git(world, "remote", "add", "origin", there)
    git(world, "config", "push.pushOption", "planted")  # this machine takes none: git gives up
    asked = _lane(world, "--runner", "touch made", "--merge", "pr").err
    mark = asked.partition("--trust ")[2][:64]
    _lane(world, "--runner", "touch made", "--merge", "pr", "--trust", mark)
    if not git(world, "--git-dir", there, "for-each-ref"):
        yield "wrong a push heeded a setting of the repository"


def together(world: World) -> Iterator[str]:
    """The base moves under a lane that is green alone, and red on what is there now."""
    lane_scenes.fill(world)
    os.environ["MAIN"] = world.repo
    moves = 'cd "$MAIN" && touch other && git add other && git commit -qm other'
    test = "! test -e other -a -e made"
    _lane(world, "--runner", f"touch made; {moves}", "--test", test)
    there = git(world, "ls-tree", "--name-only", "main").split()
    if {"made", "other"} <= set(there):
        yield "wrong what is red together is on the base"


def rewritten(world: World) -> Iterator[str]:
    """An agent sets the base branch to an unrelated commit: what was on it would be gone."""
    lane_scenes.fill(world)
    os.environ["MAIN"] = world.repo
    base = git(world, "rev-parse", "main").strip()
    evil = (
        'git -C "$MAIN" update-ref refs/heads/main $(git commit-tree -m evil'
        " $(git hash-object -t tree -w /dev/null))"
    )
    done = _lane(world, "--runner", f"touch made; {evil}")
    if done.status == 0:
        yield "wrong a lane landed on a base that an agent had rewritten"
    if base[:12] not in done.err:
        yield f"lost nobody is told where the base was: {done.err[-200:]}"


def steered(world: World) -> Iterator[str]:
    """An agent tells git to take both sides of a conflict, and another lane meets one."""
    lane_scenes.fill(world)
    os.environ["MAIN"] = world.repo
    write(os.path.join(world.repo, "both"), "x = 1\n")
    lane_scenes.commit(world)
    theirs = 'echo \'x = 3\' > "$MAIN/both"; git -C "$MAIN" commit -qam other'
    _lane(world, "--runner", f"git config merge.default union; echo 'x = 2' > both; {theirs}")
    if git(world, "show", "main:both").count("\n") != 1:
        yield "wrong both sides of a conflict were merged, as an agent told git"


def _origin(world: World, name: str, setting: str) -> World:
    """Another's repository, whose settings name a file of its own."""
    there = at(os.path.join(os.path.dirname(world.root), name))
    os.makedirs(there.repo)
    os.makedirs(there.home)
    git(there, "init", "-q", "-b", "main")
    write(os.path.join(there.repo, ".standfast.yaml"), setting)
    _be_somebody(there)
    return there


def _be_somebody(world: World) -> None:
    for words in (("user.name", "x"), ("user.email", "x")):
        git(world, "config", *words)


def _clone(there: World, world: World) -> None:
    lane_scenes.commit(there)
    shutil.rmtree(world.repo)
    git(there, "clone", "-q", there.repo, world.repo)
    _be_somebody(world)


def checkpoints(world: World) -> Iterator[str]:
    """A clone brings checkpoints that name a worktree and a branch of its owner's."""
    there = _origin(world, "sender", "checkpoints_file: cp.json\n")
    lane_scenes.commit(there)
    first, tree = git(there, "rev-parse", "HEAD").strip(), os.path.join(world.repo, "tree")
    names = {"run_id": "r1", "phase": "P1", "lane": "SL-1", "base_branch": "main"}
    planted = {**names, "worktree_path": tree, "branch": "work", "base_sha": first}
    stages = (("before_lane_start", "ready"), ("after_lane_tests", "failed"))
    records = [{**planted, "stage": stage, "status": status} for stage, status in stages]
    write(os.path.join(there.repo, "cp.json"), json.dumps(records))
    _clone(there, world)
    git(world, "worktree", "add", "-q", "-b", "work", tree)
    git(world, "-C", tree, "commit", "-q", "--allow-empty", "-m", "of its owner")
    before = git(world, "rev-parse", "work")
    perform.command(world, "note", "mine")
    perform.command(world, "lane", "rollback", *LANE)
    if git(world, "rev-parse", "work") != before:
        yield "wrong a branch was moved by the checkpoints of a clone"


def words(world: World) -> Iterator[str]:
    """A clone brings a status file, and settings that name it."""
    there = _origin(world, "origin", "status_file: STATUS.md\n")
    write(os.path.join(there.repo, "STATUS.md"), f"## Decisions\n\n- {_PLANTED}\n")
    _clone(there, world)
    perform.command(world, "note", "mine")
    decided = perform.facts(perform.command(world, "status", "--json"))["decisions"]
    assert isinstance(decided, list)
    by = {each["text"]: each["by"] for each in decided}
    if by.get(_PLANTED) == "user":
        yield "wrong words of a clone are the user's"
    if by.get("mine") != "user":
        yield "lost the user's own decision is not theirs"


def spoken(world: World) -> Iterator[str]:
    """A lane's agent notes a decision without its variables, and writes one into the face."""
    lane_scenes.fill(world)
    perform.command(world, "note", "mine")
    kept = " ".join(f'{name}="${name}"' for name in _BARE)
    note = f"env -i {kept} '{sys.executable}' -m standfast note '{_PLANTED}'"
    face = os.path.join(world.folder, "status.md")
    _lane(world, "--runner", f"cd '{world.repo}'; {note}; echo '- {_PLANTED}, twice' >> '{face}'")
    decided = perform.facts(perform.command(world, "status", "--json"))["decisions"]
    assert isinstance(decided, list)
    by = {each["text"]: each["by"] for each in decided}
    if by.pop("mine", None) != "user" or len(by) != _SAID:
        yield f"lost of what was said there is {by}"
    if "user" in by.values():
        yield "wrong an agent's words are the user's"


def copied(world: World) -> Iterator[str]:
    """A copy of a repository with a lane in the middle, while the original is there."""
    lane_scenes.fill(world)
    _lane(world, "--runner", "exit 7")
    copy = os.path.join(world.root, "copy")
    shutil.copytree(world.repo, copy, symlinks=True)
    before = git(world, "for-each-ref") + git(world, "worktree", "list")
    known = id_file.read(world.folder)
    here = _Elsewhere(world.root, world.temporary)
    for said in (("note", "in the copy"), ("lane", "rollback", *LANE), ("resume",), ("reap",)):
        perform.command(here, *said)
    mine = id_file.read(here.folder)
    if git(world, "for-each-ref") + git(world, "worktree", "list") != before:
        yield "wrong a copy changed its original"
    if mine is None or known is None or mine.name == known.name:
        yield "wrong a copy goes by the name of its original"


class _Elsewhere(World):
    """The same user, in the copy."""

    @property
    def repo(self) -> str:
        return os.path.join(self.root, "copy")


# The bugs.


def _nothing(*_: Any, **__: Any) -> None:  # noqa: ANN401  # whatever it is called with
    """Do nothing, and say that nothing is wrong."""


class _Everything(frozenset[str]):
    """Holds whatever it is asked for."""

    def __contains__(self, _: object) -> bool:
        return True


def journal_believed() -> None:
    """Whatever a journal says was begun by this user."""
    trust.vouched = lambda *_: _Everything()


def pushed_anywhere() -> None:
    """A remote is whatever the repository says."""
    push_address.refuse_inside = _nothing
    vouched_lanes.strangers = lambda *_: ()


def first_name_alone() -> None:
    """A path is what it is called, whatever git makes of it."""
    vars(push_address)["opened"] = _nothing
    push_address.refuse_absent = _nothing
    vouched_lanes.strangers = lambda *_: ()


def heeds_repository() -> None:
    """What the repository says of the way out holds there."""
    push_address.OWN = frozenset({"system", "global", "local"})
    push_address.files_of = lambda origins: [
        os.path.abspath(each.removeprefix("file:")) for each in origins
    ]


def landed_untested() -> None:
    """Tests of a lane count for whatever it is put on top of."""
    retest_rules.is_wanted = lambda spec: False  # noqa: ARG005  # as it is called


def any_base() -> None:
    """The base is taken as it is."""
    base_history.rewritten = base_history.strange = _nothing


def any_settings() -> None:
    """Whatever steers git is taken as it is."""
    shared_settings.steered = _nothing


def everybody_is_user() -> None:
    """Whatever stands in a file that people edit was written by the user."""
    authorship.author = lambda *_: "user"


def nobody_is_an_agent() -> None:
    """Whoever calls is the user, and nobody was at work when a file was written."""
    ancestry.agent = lambda *_: None
    agents_at_work.was = lambda *_: False


def no_copies() -> None:
    """A copy is taken for the original, which has moved."""
    id_file._answers = lambda *_: False  # noqa: SLF001  # a bug is planted


def torn_is_work() -> None:
    """What a power cut tore is taken for an agent's work."""
    torn_restore.restore = _nothing


ATTACKS: dict[str, Attack] = {
    "a delivered journal": Attack(delivered, journal_believed),
    "a hook of a remote": Attack(pushed, pushed_anywhere),
    "a hook beside a remote": Attack(beside, first_name_alone),
    "a way out": Attack(way_out, heeds_repository),
    "green alone": Attack(together, landed_untested),
    "a base rewritten": Attack(rewritten, any_base),
    "settings that steer": Attack(steered, any_settings),
    "words of a clone": Attack(words, everybody_is_user),
    "checkpoints": Attack(checkpoints, everybody_is_user),
    "words of an agent": Attack(spoken, nobody_is_an_agent),
    "a copy": Attack(copied, no_copies),
    "a torn file": Attack(torn_attacks.torn, torn_is_work),
    "a torn middle": Attack(torn_attacks.gaps, torn_attacks.gaps_are_work),
    "torn attributes": Attack(torn_attacks.attributes, torn_attacks.by_torn_attributes),
    "emptied before": Attack(torn_attacks.undone, torn_attacks.forgetful),
}
