"""An editor that saves a file of a checkout when it is told to: `saving_editor.py rename|inplace`.

For each line `FILE WAIT` that it reads, it waits as many microseconds, saves new words there, and
prints them. In place, the file is open for a while before its words are written, as on a slow disk.
"""

import os
import sys
import time
from pathlib import Path


def spin(us: int) -> None:
    until = time.perf_counter_ns() + us * 1000
    while time.perf_counter_ns() < until:
        pass


def save(path: Path, words: str, how: str, us: int) -> None:
    if how == "rename":
        draft = path.with_name(f".{path.name}~")
        draft.write_text(words, encoding="utf-8")
        os.replace(draft, path)
    else:
        with path.open("w", encoding="utf-8") as file:
            spin(us)
            file.write(words)


def main(how: str) -> None:
    for number, line in enumerate(sys.stdin):
        name, _, us = line.rstrip("\n").rpartition(" ")
        spin(int(us))
        save(Path(name), f"save {number}, {how}\n", how, int(us) // 8)
        print(f"save {number}, {how}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
