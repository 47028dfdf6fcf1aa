"""The demo in a pipe: it counts what the woken model was shown, and fails when it was not."""

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from harness.rig.clients import CACHE, NpmMissing, install
from harness.rig.place import Place
from harness.story import FACTS, VERSION

DEMO = ["-m", "harness.demo"]
PATIENCE_S = 120
FOLDER = re.compile(r"^All of it in (\S+): ", re.MULTILINE)
NEEDED = ("git", "sh", "sleep", "touch")


def watch(*arguments: str, env: Mapping[str, str] | None = None) -> tuple[int, str]:
    """Run the demo to its end; it may leave nothing, and take nothing from who watches."""
    done = subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "STANDFAST_CLIENT_CACHE": CACHE, **(env or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.stderr == ""
    assert_nothing_is_left(done.stdout)
    return done.returncode, done.stdout


def assert_nothing_is_left(shown: str) -> None:
    (folder,) = FOLDER.findall(shown)
    assert os.listdir(os.environ["TMPDIR"]) == []
    assert not os.path.lexists(folder)
    assert list(Place(os.path.join(folder, "place")).leftovers()) == []
    home = Path(os.environ["HOME"])
    assert [path for path in home.rglob("*") if path.is_file()] == []


def rows(shown: str) -> list[tuple[str, str]]:
    """Whether each fact was shown, and how often."""
    return re.findall(r"  (yes|NO) +(\d+) *$", shown, re.MULTILINE)


def assert_all_is_told(shown: str) -> None:
    assert rows(shown) == [("yes", "1")] * len(FACTS)
    assert f"       0  facts lost of {len(FACTS)}\n" in shown
    assert "       0  told more than once\n" in shown
    assert re.search(r"\d+ ms  for a hook: the median of \d\d calls\n", shown)
    assert "   left are 0 of the user's requests, 0 of 6 facts in all\n" in shown
    assert "\x1b" not in shown


@pytest.mark.req("WAKE-01")
def test_real_client_is_killed_and_told_everything_once() -> None:
    try:
        install(VERSION)
    except NpmMissing as missing:
        pytest.skip(str(missing))

    status, shown = watch(*DEMO)

    assert_all_is_told(shown)
    assert status == 0
    assert f"Claude Code {VERSION} is real" in shown
    assert "RECORDED" not in shown
    assert re.search(r"of 1,\d{3} characters of the conversation the model still sees 0\n", shown)


def test_recorded_payloads_tell_the_same() -> None:
    status, shown = watch(*DEMO, "--recorded")

    assert_all_is_told(shown)
    assert status == 0
    assert "\nRECORDED payloads are played, no client runs: as you asked.\n" in shown


def test_without_npm_the_recording_is_played_and_said_to_be_one(tmp_path: Path) -> None:
    status, shown = watch(*DEMO, env=without_client(tmp_path))

    assert_all_is_told(shown)
    assert status == 0
    assert "\nRECORDED payloads are played, no client runs: npm is missing.\n" in shown


def test_recording_is_played_when_the_registry_cannot_be_reached(tmp_path: Path) -> None:
    env = without_client(tmp_path)
    npm = tmp_path / "bin" / "npm"
    npm.write_text("#!/bin/sh\necho nobody answers >&2\nexit 1\n", encoding="utf-8")
    npm.chmod(0o755)

    status, shown = watch(*DEMO, env=env)

    assert_all_is_told(shown)
    assert status == 0
    assert f"Getting Claude Code {VERSION} from npm (once), into {tmp_path}" in shown
    assert "npm could not get the client (npm failed: nobody answers)." in shown


def without_client(folder: Path) -> dict[str, str]:
    """A machine with neither npm nor a client."""
    programs = folder / "bin"
    programs.mkdir()
    for name in NEEDED:
        (programs / name).symlink_to(str(shutil.which(name)))
    return {"PATH": str(programs), "STANDFAST_CLIENT_CACHE": str(folder / "cache")}


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    ("words", "row"),
    [("the tests are green", ("NO", "0")), ("refund", ("yes", "6"))],
    ids=["never-said", "said-often"],
)
def test_fact_that_is_not_told_once_fails_the_demo(words: str, row: tuple[str, str]) -> None:
    code = (
        "import sys\nfrom harness import demo, story\n"
        f"facts = (*story.FACTS, story.Fact('planted', {words!r}))\n"
        "sys.exit(demo.main(['--recorded'], facts))\n"
    )

    status, shown = watch("-c", code)

    assert status == 1
    assert rows(shown) == [*[("yes", "1")] * len(FACTS), row]
    assert f"       {int(row[0] == 'NO')}  facts lost of 8\n" in shown
    assert "was not told what it should have been" in shown


def test_agent_that_switches_standfast_off_fails_the_demo() -> None:
    code = (
        "import sys\nfrom harness import demo, story\n"
        "story.NOTE = 'standfast off'\n"
        "sys.exit(demo.main(['--recorded']))\n"
    )

    status, shown = watch("-c", code)

    assert status == 1
    assert rows(shown) == [("NO", "0")] * len(FACTS)
    assert "\n   | nothing\n" in shown


@pytest.mark.sweep(2)
@pytest.mark.parametrize("heading", ["2  The session", "5  claude --resume"])
def test_interrupted_demo_leaves_nothing_behind(heading: str) -> None:
    with subprocess.Popen(
        [sys.executable, *DEMO, "--recorded"], stdout=subprocess.PIPE, encoding="utf-8"
    ) as demo:
        assert demo.stdout is not None
        shown = ""
        for line in demo.stdout:
            shown += line
            if line.startswith(heading):
                demo.send_signal(signal.SIGINT)
        status = demo.wait(PATIENCE_S)

    assert status == 130
    assert "Stopped. Nothing is left behind." in shown
    assert_nothing_is_left(shown)
