"""One target under atheris, guided by coverage; run as a script, so that it can instrument first.

`python guided.py TARGET SECONDS SEED FOLDER`. It prints each finding as a line of JSON; libFuzzer
prints how many inputs it tried.
"""

from __future__ import annotations

import importlib
import json
import os
import sys


def main(name: str, seconds: str, seed: str, folder: str) -> None:
    """Fuzz until the time is up; libFuzzer ends the process itself."""
    atheris = importlib.import_module("atheris")
    with atheris.instrument_imports(include=["standfast"]):
        from harness.fuzz.findings import Search
        from harness.fuzz.targets import TARGETS
    target = TARGETS[name]
    corpus = os.path.join(folder, "corpus", name)
    os.makedirs(corpus, exist_ok=True)
    for number, data in enumerate(target.starts()):
        with open(os.path.join(corpus, f"seed-{number}"), "wb") as file:
            file.write(data)
    search = Search(target, folder)

    def attempt(data: bytes) -> None:
        finding = search.attempt(data)
        if finding is not None:
            print(json.dumps(finding), flush=True)

    limits = (f"-max_total_time={seconds}", f"-seed={seed}", "-max_len=8192", "-timeout=20")
    atheris.Setup([name, corpus, *limits, "-print_final_stats=1", "-verbosity=0"], attempt)
    atheris.Fuzz()


if __name__ == "__main__":
    main(*sys.argv[1:])
