"""A lane without the door: a list of what is done, written after each effect.

It shows that the matrix sees repeats: this loop must have some.
"""

from __future__ import annotations

import os
import subprocess
import sys

from harness.matrix.work import NAMES, Room


def main(path: str) -> None:
    """Do what the list does not name yet."""
    room = Room(path)
    with open(room.at("done"), "a+", encoding="utf-8") as file:
        file.seek(0)
        done = file.read().splitlines()
        for name in NAMES:
            if name not in done:
                subprocess.run(room.effect(name), cwd=room.repo, check=True)
                file.write(f"{name}\n")
                file.flush()
                os.fsync(file.fileno())


if __name__ == "__main__":
    main(sys.argv[1])
