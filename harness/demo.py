"""`make wake`: Claude Code works, is compacted, is killed with -9, and is told where it was.

The client is the real one; the model is a script on this machine. Everything happens in a
temporary folder. Without npm the same story is told from recorded payloads.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import statistics
import subprocess
import sys
from typing import TYPE_CHECKING, NamedTuple

from harness import story
from harness.acted import Acted
from harness.recorded import STAND_IN, Recorded
from harness.rig.clients import CACHE, install
from harness.rig.rig_error import RigError
from harness.stage import Stage
from standfast.testing.apart import leave_person_alone, temporary_folder
from standfast.text import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.rig.place import Place
    from harness.story import Cast, Fact, Left

INTERRUPTED = 130
_ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_INSTALL_TIMEOUT_S = 120
_REASON = 300  # characters of npm's complaint
_QUICK_NPM = {"npm_config_fetch_retries": "1", "npm_config_fetch_retry_mintimeout": "1000"}


class World(NamedTuple):
    """Where the story takes place, and the program that plays the client."""

    place: Place
    program: str
    extra: dict[str, str]


def main(argv: Sequence[str] | None = None, facts: Sequence[Fact] = story.FACTS) -> int:
    """Tell the story; 0 if every one of *facts* was shown to the woken model, once."""
    parser = argparse.ArgumentParser(prog="standfast-demo", description=__doc__)
    parser.add_argument(
        "--recorded", action="store_true", help="from recorded payloads, even if there is npm"
    )
    recorded = parser.parse_args(argv).recorded
    stage = Stage()
    for ending in _ENDINGS:
        signal.signal(ending, _stop)
    _leave_person_alone()
    try:
        with temporary_folder() as folder:
            return _tell(stage, folder, facts, recorded=recorded)
    except RigError as error:
        stage.say(f"The demo itself failed: {error}", "bold red")
        return 1
    except KeyboardInterrupt:
        Stage().say("Stopped. Nothing is left behind.")  # the other may have half a line
        return INTERRUPTED


def _stop(*_: object) -> None:
    """Go and clean up; who is impatient then is not heard, or something would be left behind."""
    for ending in _ENDINGS:
        signal.signal(ending, signal.SIG_IGN)
    raise KeyboardInterrupt


def _leave_person_alone() -> None:
    """And npm is not to try for long where it cannot be reached."""
    leave_person_alone()
    os.environ.update({n: v for n, v in _QUICK_NPM.items() if n not in os.environ})


def _tell(stage: Stage, folder: str, facts: Sequence[Fact], *, recorded: bool) -> int:
    stage.say("A coding agent loses its context, then its life. Does it know where it was?", "bold")
    program, why = ("", "as you asked") if recorded else _claude(stage)
    if program:
        stage.say(f"Claude Code {story.VERSION} is real; the model it talks to is a script here.")
    else:
        stage.say(f"RECORDED payloads are played, no client runs: {why}.", "bold yellow")
    stage.say(f"All of it in {folder}: your settings and repositories are not touched.", "dim")
    world = _world(folder, program)
    cast: Cast = (Acted if program else Recorded)(world.program, world.place, world.extra)
    try:
        _install(stage, world)
        shown = _play(stage, world.place, cast)
    finally:
        cast.close()
    stage.console.print()
    stage.panel(cast.source, shown or "nothing")
    return _judge(stage, shown, facts, cast.hook_times_ms())


def _claude(stage: Stage) -> tuple[str, str]:
    """The program, from npm if it is not here yet; or why it cannot be had."""
    if os.path.isdir(os.path.join(CACHE, story.VERSION)):
        return install(story.VERSION), ""
    if shutil.which("npm") is None:
        return "", "npm is missing"
    try:
        with stage.waiting(f"Getting Claude Code {story.VERSION} from npm (once), into {CACHE}"):
            return install(story.VERSION), ""
    except RigError as error:
        return "", f"npm could not get the client ({one_line(str(error), _REASON)})"


def _world(folder: str, program: str) -> World:
    place = story.set_up(folder)
    programs, temporary = os.path.join(folder, "bin"), os.path.join(folder, "t")
    os.mkdir(programs)
    os.mkdir(temporary)
    claude = os.path.join(programs, "claude")
    if program:
        os.symlink(program, claude)
    else:
        with open(claude, "w", encoding="utf-8") as file:
            file.write(STAND_IN)
        os.chmod(claude, 0o755)
    path = os.pathsep.join([programs, os.path.dirname(sys.executable), os.environ["PATH"]])
    return World(place, claude, {"PATH": path, "TMPDIR": temporary})


def _install(stage: Stage, world: World) -> None:
    argv = ["standfast", "install", "claude", "--yes"]
    stage.step(f"$ {' '.join(argv)}")
    done = subprocess.run(
        [sys.executable, "-m", *argv],
        cwd=world.place.project,
        env=world.place.environment("http://127.0.0.1:9", world.extra),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=_INSTALL_TIMEOUT_S,
        check=False,
    )
    stage.quote(done.stdout)
    if done.returncode:
        raise RigError(f"standfast install gave status {done.returncode}")


def _play(stage: Stage, place: Place, cast: Cast) -> str:
    """The story up to its end; what Standfast put into the request after it woke up."""
    stage.step("The session, as the journal gets it")
    with stage.following(os.path.join(place.project, ".git", "standfast")) as follower:
        cast.work()
        follower.catch_up()
        stage.step("/compact: the context is emptied")
        left = cast.compact()
        follower.catch_up()
        _show_left(stage, left)
        stage.step(f"kill -9, while `{story.ALL}` runs")
        cast.kill()
        follower.catch_up()
        stage.say("   dead: no hook was called, nothing tells how the command ended", "red")
        stage.now("claude is dead")
        stage.step("claude --resume")
        stage.now("claude starts")
        shown = cast.wake()
        follower.catch_up()
    return story.told_by_standfast(shown)


def _show_left(stage: Stage, left: Left) -> None:
    stage.say(f"   {left.measured}")
    stage.say(f"   the client's summary: “{story.SUMMARY}” (scripted)")
    words = sum(fact.words in left.text for fact in story.REQUESTS)
    facts = sum(fact.words in left.text for fact in story.BEFORE_COMPACTION)
    total = len(story.BEFORE_COMPACTION)
    stage.say(
        f"   left are {words} of the user's requests, {facts} of {total} facts in all", "bold"
    )


def _judge(stage: Stage, shown: str, facts: Sequence[Fact], took_ms: Sequence[int]) -> int:
    copies = {fact: shown.count(fact.words) for fact in facts}
    rows = [
        (fact.what, fact.words, "yes" if count else "NO", str(count))
        for fact, count in copies.items()
    ]
    stage.step("What the model knows again")
    stage.table(("fact", "its words", "shown", "copies"), rows)
    stage.console.print()
    lost = sum(not count for count in copies.values())
    repeated = sum(count > 1 for count in copies.values())
    median = f"{statistics.median(took_ms):.0f} ms" if took_ms else "-"
    numbers = [
        (f"{lost}", f"facts lost of {len(facts)}"),
        (f"{repeated}", "told more than once"),
        (f"{len(shown):,}", "characters of the context used for it"),
        (median, f"for a hook: the median of {len(took_ms)} calls"),
    ]
    stage.counted(numbers, "bold red" if lost or repeated else "bold green")
    if lost or repeated:
        stage.say("\nThe model was not told what it should have been.", "bold red")
        return 1
    stage.say(
        "\nFor your own sessions:  .venv/bin/standfast install claude    (undo: uninstall claude)"
    )
    stage.say("More:                   docs/tutorial.md, and `make storm` for the journal alone")
    return 0


if __name__ == "__main__":
    sys.exit(main())
