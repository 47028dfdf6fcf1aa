"""The settings of the user, in the configuration of a test's own world."""

import os
from pathlib import Path


def set_by_user(text: str) -> None:
    """From now on, these are all the settings of the user."""
    folder = Path(os.environ["XDG_CONFIG_HOME"]) / "standfast"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.yaml").write_text(text, encoding="utf-8")
