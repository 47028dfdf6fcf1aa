"""A world for one client: its home, its configuration and a project, all in one folder.

The questions of a first start are answered beforehand, nothing leaves the machine, and every
process that is started here can be found again by a mark in its environment.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from standfast.formats.document_limits import Value

KEY = "rig-key"
MARK = "RIG_PLACE"
COMPACT_WINDOW = 100_000  # tokens; newer versions compact by themselves above it
OLD_COMPACT_WINDOW = 190_000  # 2.0.76 knows no setting: this is above its own

_FOREIGN = (
    *("CLAUDE", "ANTHROPIC", "AI_AGENT", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"),
    *("OPENAI", "CODEX", "GEMINI", "GOOGLE", "OPENCODE", "HIVEMIND_ROLE", "CONFIG_PATH"),
)
_QUIET = {
    "DISABLE_TELEMETRY": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "IS_SANDBOX": "1",  # root may then go without permission prompts
    "CLAUDE_CODE_AUTO_COMPACT_WINDOW": str(COMPACT_WINDOW),
    "NO_PROXY": "127.0.0.1",
}


@dataclass(frozen=True, slots=True)
class Place:
    """The folders of one client."""

    folder: str

    @property
    def home(self) -> str:
        """What the client takes for the user's home."""
        return os.path.join(self.folder, "home")

    @property
    def config(self) -> str:
        """The client's own settings and transcripts."""
        return os.path.join(self.home, ".claude")

    @property
    def project(self) -> str:
        """A git repository to work in."""
        return os.path.join(self.folder, "project")

    def use_settings(self, settings: Mapping[str, Value]) -> None:
        """Write the project's settings, hooks among them."""
        folder = os.path.join(self.project, ".claude")
        os.makedirs(folder, exist_ok=True)
        _write_json(os.path.join(folder, "settings.json"), settings)

    def environment(self, url: str, extra: Mapping[str, str] | None = None) -> dict[str, str]:
        """What the client is started with: the model at *url*, and *extra*."""
        own = {
            "HOME": self.home,
            "CLAUDE_CONFIG_DIR": self.config,
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": KEY,
            MARK: self.folder,
        }
        around = {
            name: value
            for name, value in os.environ.items()
            if not name.upper().startswith(_FOREIGN)
        }
        return {**around, **_QUIET, **own, **(extra or {})}

    def end_leftovers(self) -> None:
        """Kill what outlived its client here, until it is gone: a tool's shell survives a kill."""
        while left := list(self.leftovers()):  # the killed die when they are next scheduled
            for pid in left:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def leftovers(self) -> Iterator[int]:
        """Processes that were started in this place; only Linux lets them be found."""
        mark = os.fsencode(f"{MARK}={self.folder}")
        for name in os.listdir("/proc") if os.path.isdir("/proc/self") else []:
            if name.isdecimal() and int(name) != os.getpid():
                with suppress(OSError), open(f"/proc/{name}/environ", "rb") as file:
                    if mark in file.read().split(b"\0"):
                        yield int(name)


def make_place(folder: str) -> Place:
    """Make the folders, the repository and the answers to a first start's questions."""
    place = Place(os.path.realpath(folder))
    os.makedirs(place.config)
    os.makedirs(place.project)
    trusted: Value = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
    answers: dict[str, Value] = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "bypassPermissionsModeAccepted": True,
        "officialMarketplaceAutoInstallAttempted": True,  # older versions would reach out for it
        "officialMarketplaceAutoInstalled": True,
        "customApiKeyResponses": {"approved": [KEY], "rejected": []},
        "projects": {place.project: trusted},
    }
    _write_json(os.path.join(place.config, ".claude.json"), answers)
    identity = ["-c", "user.name=Rig", "-c", "user.email=rig@example.invalid"]
    for arguments in (
        ["init", "-q", "-b", "main"],
        [*identity, "commit", "-q", "--allow-empty", "-m", "first"],
    ):
        subprocess.run(["git", *arguments], cwd=place.project, stdin=subprocess.DEVNULL, check=True)
    return place


def _write_json(path: str, value: Mapping[str, Value]) -> None:
    with open(path, "w", encoding="utf-8") as file:
        json.dump(value, file, indent=1)
