"""The homes of the other clients in a place: their settings name the model, and nothing else.

Each function writes what its client reads and gives back the environment to start it with.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from harness.rig.place import KEY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from harness.rig.place import Place
    from standfast.formats.document_limits import Value

MODEL = "rig-model"
_CODEX = """\
model = "{model}"
model_provider = "rig"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.rig]
name = "rig"
base_url = "{url}/v1"
env_key = "RIG_KEY"
wire_api = "responses"
request_max_retries = 1
stream_max_retries = 1
supports_websockets = false
"""


def codex(place: Place, url: str, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Codex, with a provider of its own."""
    folder = os.path.join(place.home, ".codex")
    _write(os.path.join(folder, "config.toml"), _CODEX.format(model=MODEL, url=url))
    return place.environment(url, {"CODEX_HOME": folder, "RIG_KEY": KEY, **(extra or {})})


def gemini(place: Place, url: str, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Gemini CLI, with an API key, in a folder that it trusts."""
    folder = os.path.join(place.home, ".gemini")
    settings: dict[str, Value] = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "model": {"name": "gemini-2.5-flash"},
    }
    _write(os.path.join(folder, "settings.json"), json.dumps(settings))
    _write(os.path.join(folder, "trustedFolders.json"), json.dumps({place.folder: "TRUST_FOLDER"}))
    own = {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": url, "GEMINI_CLI_HOME": place.home}
    return place.environment(url, {**own, **(extra or {})})


def opencode(place: Place, url: str, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Opencode, with a provider of its own."""
    provider: Value = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "rig",
        "options": {"baseURL": f"{url}/v1", "apiKey": KEY},
        "models": {
            MODEL: {
                "name": MODEL,
                "cost": {"input": 3, "output": 15},
                "limit": {"context": 200_000, "output": 8_000},
            }
        },
    }
    settings: dict[str, Value] = {
        "model": f"rig/{MODEL}",
        "autoupdate": False,
        "share": "disabled",
        "provider": {"rig": provider},
    }
    home = place.home
    _write(os.path.join(home, ".config", "opencode", "opencode.json"), json.dumps(settings))
    own = {
        "XDG_CONFIG_HOME": f"{home}/.config",
        "XDG_DATA_HOME": f"{home}/.local/share",
        "XDG_STATE_HOME": f"{home}/.local/state",
        "XDG_CACHE_HOME": f"{home}/.cache",
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        "PWD": place.project,
    }
    return place.environment(url, {**own, **(extra or {})})


def _write(path: str, text: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
