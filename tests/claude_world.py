"""The real Claude Code with Standfast installed in it; several tests play in such a world."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from harness import rig
from harness.rig.clients import NpmMissing, install
from harness.rig.place import Place, make_place
from harness.rig.play import Played, play
from harness.rig.scenario import read_scenario

STORIES = Path(rig.__file__).parent / "scenarios" / "woken"
STANDFAST = Path(sys.executable).with_name("standfast")
OLDER = pytest.param("2.0.76", marks=pytest.mark.sweep)
VERSIONS = ("2.1.325", OLDER)
# A brief begins with its header; what follows it belongs to it up to the end of the message.
BRIEF = re.compile(r"\[standfast (\w{4}) · .*?\nMore: standfast brief --more", re.DOTALL)
ADDITION = re.compile(
    r"\(standfast \w{4} · adds to the brief above .*\)(?:\n.*«\w{4} .*|\n[A-Z].*)*"
)


class World:
    """A client with Standfast installed by its own command, in a repository of its own."""

    def __init__(self, version: str, folder: Path) -> None:
        self.program = program_of(version)
        self.place: Place = make_place(str(folder / "place"))
        programs = folder / "bin"
        programs.mkdir()
        (programs / "claude").symlink_to(self.program)
        self.extra = {
            "PATH": f"{programs}:{STANDFAST.parent}:{os.environ['PATH']}",
            "XDG_STATE_HOME": f"{self.place.home}/.local/state",
            "XDG_DATA_HOME": f"{self.place.home}/.local/share",
        }

    def standfast(self, *arguments: str) -> str:
        done = subprocess.run(
            [STANDFAST, *arguments],
            cwd=self.place.project,
            env=self.place.environment("http://127.0.0.1:9", self.extra),
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def play(self, name: str) -> Played:
        story = STORIES / name
        scenario = read_scenario(story.read_bytes(), name=story.name)
        return play(scenario, self.program, self.place, self.extra)

    def events(self, *arguments: str) -> list[Mapping[str, Any]]:
        said = self.standfast("events", "--json", "-n", "0", *arguments)
        return [json.loads(line) for line in said.splitlines()]


OURS = ".local/share/standfast"
WRITTEN = (".claude/settings.json", f"{OURS}/hook", f"{OURS}/hook.modules")  # by `install`
_KEPT: dict[str, tuple[str, dict[str, tuple[int, bytes]]]] = {}


def installed(version: str, folder: Path) -> World:
    """Give a world with Standfast in it.

    `install` asks the client and tries every hook, which takes as long as a short session. It is
    called once for each version in each process; what it wrote is put into the other worlds.
    """
    made = World(version, folder)
    if version in _KEPT:
        _put(made.place, *_KEPT[version])
        return made
    assert "hooks answered" in made.standfast("install", "claude", "--yes")
    paths = {name: Path(made.place.home, name) for name in WRITTEN}
    kept = {name: (path.stat().st_mode, path.read_bytes()) for name, path in paths.items()}
    _KEPT[version] = (made.place.folder, kept)
    return made


def _put(place: Place, first: str, kept: Mapping[str, tuple[int, bytes]]) -> None:
    for name, (mode, data) in kept.items():
        path = Path(place.home, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.replace(first.encode(), place.folder.encode()))
        path.chmod(mode)


def program_of(version: str) -> str:
    try:
        return install(version)
    except NpmMissing as missing:
        pytest.skip(str(missing))


def told(text: str) -> str:
    """Everything that Standfast says in a request."""
    return "\n".join(match[0] for match in (*BRIEF.finditer(text), *ADDITION.finditer(text)))
