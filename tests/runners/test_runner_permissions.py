"""An agent that could not edit is found before the night, by its flags and its settings."""

import json
from pathlib import Path
from typing import Any

import pytest

from standfast.runners.permissions import judge
from standfast.runners.registry import KNOWN
from standfast.runs import runner_choice

CODEX, GEMINI, TRUSTED = ("codex", "exec"), ("gemini",), ("gemini", "--skip-trust")


def verdict(kind: str, command: str, *settings: Any) -> str:
    words = tuple(command.split())
    found = judge(KNOWN[kind]._replace(command=words), settings)
    return "may" if found is None else "cannot" if found.is_sure else "perhaps not"


@pytest.mark.req("RUN-10")
@pytest.mark.parametrize("kind", ["claude", "codex", "gemini"])
def test_a_client_that_nobody_allowed_to_edit_cannot(kind: str) -> None:
    found = judge(KNOWN[kind], [])

    assert found is not None
    assert found.is_sure
    assert "runners" in found.says


@pytest.mark.req("RUN-10")
@pytest.mark.parametrize(
    ("command", "settings", "expected"),
    [
        ("claude --permission-mode acceptEdits", {}, "may"),
        ("claude --permission-mode=acceptEdits", {}, "may"),
        ("claude --permission-mode plan", {}, "cannot"),
        ("claude --permission-mode dontAsk", {}, "cannot"),
        ("claude --allowedTools Bash Edit --verbose", {}, "may"),
        ("claude --allowedTools Bash,Write", {}, "may"),
        ("claude --allowed-tools=Edit(src/**)", {}, "may"),
        ("claude --allowedTools Bash --model Edit", {}, "cannot"),
        ("claude --permission-mode acceptEdits --disallowedTools Edit", {}, "cannot"),
        ("claude --dangerously-skip-permissions", {}, "may"),
        ("claude --settings x.json", {}, "perhaps not"),
        ("claude", {"permissions": {"defaultMode": "acceptEdits"}}, "may"),
        ("claude", {"permissions": {"allow": ["Write"]}}, "may"),
        ("claude", {"permissions": {"allow": "Write"}}, "cannot"),
        ("claude", {"permissions": {"allow": ["Edit"], "deny": ["Edit"]}}, "cannot"),
        ("claude --permission-mode plan", {"permissions": {"allow": ["Edit"]}}, "cannot"),
    ],
)
def test_claude(command: str, settings: Any, expected: str) -> None:
    assert verdict("claude", command, settings) == expected


@pytest.mark.req("RUN-10")
@pytest.mark.parametrize(
    ("command", "settings", "expected"),
    [
        ("codex exec --sandbox workspace-write", {}, "may"),
        ("codex exec -s danger-full-access", {}, "may"),
        ("codex exec -s read-only", {"sandbox_mode": "workspace-write"}, "cannot"),
        ("codex exec -c sandbox_mode=workspace-write", {}, "may"),
        ("codex exec", {"sandbox_mode": "workspace-write"}, "may"),
        ("codex exec", {"projects": {"/p": {"trust_level": "trusted"}}}, "perhaps not"),
        ("codex exec --dangerously-bypass-approvals-and-sandbox", {}, "may"),
    ],
)
def test_codex(command: str, settings: Any, expected: str) -> None:
    assert verdict("codex", command, settings) == expected


@pytest.mark.req("RUN-10")
@pytest.mark.parametrize(
    ("command", "settings", "expected"),
    [
        ("gemini --skip-trust --approval-mode auto_edit", {}, "may"),
        ("gemini --approval-mode auto_edit", {}, "perhaps not"),  # the folder is not trusted
        ("gemini -y", {"security": {"folderTrust": {"enabled": False}}}, "may"),
        ("gemini --skip-trust --policy p.toml", {}, "perhaps not"),
        ("gemini --skip-trust", {"general": {"defaultApprovalMode": "auto_edit"}}, "may"),
        ("gemini --skip-trust --allowed-tools write_file", {}, "may"),
        ("gemini --skip-trust --approval-mode plan", {}, "cannot"),
    ],
)
def test_gemini(command: str, settings: Any, expected: str) -> None:
    assert verdict("gemini", command, settings) == expected


@pytest.mark.req("RUN-10")
@pytest.mark.parametrize(
    ("command", "settings", "expected"),
    [
        ("opencode run", {}, "may"),
        ("opencode run", {"permission": {"edit": "ask"}}, "cannot"),
        ("opencode run --auto", {"permission": {"edit": "ask"}}, "may"),
        ("opencode run --auto", {"permission": "deny"}, "cannot"),
    ],
)
def test_opencode(command: str, settings: Any, expected: str) -> None:
    assert verdict("opencode", command, settings) == expected


def test_of_a_command_of_the_users_own_nothing_is_known() -> None:
    assert verdict("shell", "agent --read-only") == "may"


@pytest.mark.req("RUN-10")
def test_settings_are_looked_up_where_the_client_does(tmp_path: Path) -> None:
    home, root = tmp_path / "home", tmp_path / "root"
    environ = {"HOME": str(home)}

    def write(path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def may(kind: str) -> bool:
        return runner_choice.could_edit(KNOWN[kind], str(root), environ) is None

    root.mkdir()
    before = [may(kind) for kind in ("claude", "codex", "opencode")]
    write(home / ".claude" / "settings.json", json.dumps({"permissions": {"allow": ["Edit"]}}))
    write(home / ".codex" / "config.toml", 'sandbox_mode = "workspace-write"\n')
    write(root / "opencode.json", '{"permission": {"edit": "deny"}}')

    assert before == [False, False, True]
    assert [may(kind) for kind in ("claude", "codex", "opencode")] == [True, True, False]
    write(root / ".claude" / "settings.json", '{"permissions": {"deny": ["Edit"]}}')
    write(home / ".codex" / "config.toml", "sandbox_mode = [torn")
    assert [may("claude"), may("codex")] == [False, False]
    write(root / ".claude" / "settings.json", "[" * 100_000)
    assert may("claude")
    assert runner_choice.could_edit(
        KNOWN["claude"]._replace(env={"CLAUDE_CONFIG_DIR": "/nowhere"}), str(root), environ
    )
