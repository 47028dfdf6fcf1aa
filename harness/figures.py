"""Figures of a long trial: which commit they are of, and the file that keeps them."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def commit() -> str:
    """The commit that is tried; empty where there is no repository."""
    done = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, encoding="utf-8",
                          check=False)  # fmt: skip
    return done.stdout.strip()


def keep(told: Mapping[str, object], path: str) -> None:
    """Write them down; a trial that is broken off leaves what it has."""
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(told, file, indent=1, ensure_ascii=False)
        file.write("\n")
