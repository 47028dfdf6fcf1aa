"""The work that every arm does: eight effects that can be neither probed nor repeated.

Each appends its name to a file outside the repository, the ledger, in the middle of its work, at
a moment that differs from effect to effect. How often a name stands there is how often it
happened. What a person says was done already, an effect does not do again: it is in `told`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass

TASKS = tuple(f"t{number}" for number in range(1, 8))
PR = "pr"
NAMES = (*TASKS, PR)
LANE = ("M1", "P1", "SL-1")  # run, phase and lane, the same in every trial
MARK = "CRASH_MATRIX"  # in the environment of every process of one trial
SCRIPT = """\
name=$1 ledger=$2 told=$3
if grep -qx "$name" "$told"; then exit 0; fi
case $name in t?) n=${name#t};; *) n=8;; esac
sleep 0.0$n
echo "$name" >> "$ledger"
sleep 0.0$((9 - n))
case $name in t?) echo "$name" > "$name.txt";; esac
"""
_GIT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_AUTHOR_NAME": "Matrix",
    "GIT_AUTHOR_EMAIL": "matrix@example.invalid",
    "GIT_COMMITTER_NAME": "Matrix",
    "GIT_COMMITTER_EMAIL": "matrix@example.invalid",
}


@dataclass(frozen=True, slots=True)
class Room:
    """The folder of one trial: a repository, and outside of it what is counted."""

    path: str

    def at(self, name: str) -> str:
        """Something in it."""
        return os.path.join(self.path, name)

    @property
    def repo(self) -> str:
        """The repository, and the folder in which effects work where an arm knows no lanes."""
        return self.at("repo")

    @property
    def script(self) -> str:
        """The program of every effect."""
        return self.at("effect.sh")

    @property
    def ledger(self) -> str:
        """What the effects wrote, one line each."""
        return self.at("ledger")

    @property
    def mark(self) -> str:
        """What the processes of this trial have in their environment, and no others."""
        return f"{MARK}={self.path}"

    def effect(self, name: str) -> list[str]:
        """The command of one effect."""
        return ["sh", self.script, name, self.ledger, self.at("told")]

    def environment(self) -> dict[str, str]:
        """The environment of everything in this trial: nobody's home, nobody's settings."""
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
        home = self.at("home")
        places = {"HOME": home, "XDG_STATE_HOME": home, "XDG_CONFIG_HOME": home}
        return {**kept, **_GIT, **places, MARK: self.path}

    def tell(self, name: str) -> None:
        """Say, as a person who has looked, that an effect needs no second time."""
        with open(self.at("told"), "a", encoding="utf-8") as file:
            file.write(f"{name}\n")

    def counted(self) -> dict[str, int]:
        """How often each effect happened."""
        with open(self.ledger, encoding="utf-8") as file:
            lines = file.read().splitlines()
        return {name: lines.count(name) for name in NAMES}


def furnish(path: str) -> Room:
    """A new room, its repository with one commit."""
    room = Room(path)
    os.makedirs(room.at("home"))
    for name in ("ledger", "told"):
        _write(room.at(name), "")
    _write(room.script, SCRIPT)
    for name in TASKS:
        _write(room.at(f"{name}.md"), f"Do {name}, once.\n")
    os.makedirs(room.repo)
    _write(os.path.join(room.repo, "README"), "A repository.\n")
    for words in (("init", "-q", "-b", "main"), ("add", "."), ("commit", "-q", "-m", "begin")):
        subprocess.run(["git", *words], cwd=room.repo, env=room.environment(), check=True)
    return room


def clear(room: Room) -> None:
    """Take a room away."""
    shutil.rmtree(room.path, ignore_errors=True)


def _write(path: str, text: str) -> None:
    with open(path, "x", encoding="utf-8") as file:
        file.write(text)
