"""What was tried and what was found: the counters of one run, and the file that carries them."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

KINDS = ("lost", "half", "wedged", "wrong")


@dataclass(slots=True)
class Canaries:
    """Bugs that were planted, and those of them that were caught."""

    planted: int = 0
    caught: int = 0


@dataclass(slots=True)
class Tally:
    """The counters of one run; the four kinds of findings must stay at zero."""

    commit: str
    seed: int
    injected: int = 0
    replayed: int = 0
    cuts: int = 0
    writers: int = 0
    flips: int = 0
    lost: int = 0
    half: int = 0
    wedged: int = 0
    wrong: int = 0
    canaries: Canaries = field(default_factory=Canaries)
    parts: dict[str, dict[str, object]] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    findings: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)  # canaries that nobody caught

    def find(self, findings: Iterable[str]) -> None:
        """Count what was found; each begins with its kind."""
        for finding in findings:
            kind = finding.split(" ", 1)[0]
            setattr(self, kind, getattr(self, kind) + 1)
            self.findings.append(finding)

    def canary(self, name: str, *, caught: bool) -> None:
        """Count a planted bug."""
        self.canaries.planted += 1
        self.canaries.caught += caught
        if not caught:
            self.missed.append(name)

    @property
    def is_clean(self) -> bool:
        """Nothing was found, and every canary was."""
        return not self.findings and not self.missed


def write(tally: Tally, path: str) -> None:
    """Leave the counters where others can read them."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(asdict(tally), file, indent=2)
        file.write("\n")
