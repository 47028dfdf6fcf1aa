"""Whether an agent will be let to edit files, as far as its flags and settings tell. Pure.

Nobody is there to be asked at night: a client that would ask refuses instead, and its agent ends
well without having changed anything. No flag is ever added for that: it is the user's to allow.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from standfast.runners.registry import CLAUDE, CODEX, GEMINI, OPENCODE
from standfast.runners.templates import get, text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from standfast.formats.document_limits import Value
    from standfast.runners.registry import Runner

    Settings = Sequence[Mapping[str, Value]]


class Finding(NamedTuple):
    """Why an agent may be unable to edit."""

    is_sure: bool
    says: str


def judge(runner: Runner, settings: Settings) -> Finding | None:
    """None if nothing speaks against it; *settings* are the client's, the strongest last."""
    ask = _ASKED.get(runner.kind)
    found = ask(runner.command[1:], settings) if ask else None
    return found or (_untrusted(runner, settings) if runner.kind == GEMINI else None)


def _claude(flags: Sequence[str], settings: Settings) -> Finding | None:
    mode = _value(flags, "--permission-mode") or _last(settings, "permissions", "defaultMode")
    allowed = [*_listed(flags, "--allowedTools", "--allowed-tools"),
               *_all(settings, "permissions", "allow")]  # fmt: skip
    denied = [*_listed(flags, "--disallowedTools", "--disallowed-tools"),
              *_all(settings, "permissions", "deny")]  # fmt: skip
    if mode == "plan" or _EDITS & set(denied):
        return Finding(is_sure=True, says="its flags or settings forbid it to edit")
    may = mode in _OPEN or any(each.partition("(")[0] in _EDITS for each in allowed)
    if may or "--dangerously-skip-permissions" in flags or "--permission-prompt-tool" in flags:
        return None
    return Finding(
        is_sure=not {"--settings", "--setting-sources"} & set(flags),
        says="`claude -p` refuses every edit that is not allowed beforehand:"
        " give it `--permission-mode acceptEdits` in `runners`, or allow `Edit` in its settings",
    )


_EDITS = frozenset({"Edit", "Write", "MultiEdit"})
_OPEN = frozenset({"acceptEdits", "bypassPermissions", "auto"})


def _codex(flags: Sequence[str], settings: Settings) -> Finding | None:
    mode = _value(flags, "--sandbox", "-s") or _last(settings, "sandbox_mode")
    overridden = [word for word in flags if word.startswith(("sandbox_mode=", "--profile", "-p"))]
    if mode in ("workspace-write", "danger-full-access") or overridden:
        return None
    if {"--dangerously-bypass-approvals-and-sandbox", "--approve-for-me", "--full-auto"} & set(
        flags
    ):
        return None
    return Finding(
        is_sure=mode == "read-only" or not any(each.get("projects") for each in settings),
        says="`codex exec` works in a sandbox that is read-only:"
        " give it `--sandbox workspace-write` in `runners`",
    )


def _gemini(flags: Sequence[str], settings: Settings) -> Finding | None:
    mode = _value(flags, "--approval-mode") or _last(settings, "general", "defaultApprovalMode")
    allowed = [*_listed(flags, "--allowed-tools"), *_all(settings, "tools", "allowed")]
    is_open = mode in ("auto_edit", "yolo") or {"write_file", "replace"} & set(allowed)
    if is_open or {"--yolo", "-y"} & set(flags):
        return None
    return Finding(
        is_sure=not any(word.startswith(("--policy", "--admin-policy")) for word in flags),
        says="Gemini CLI has no tool that edits where nobody can be asked:"
        " give it `--approval-mode auto_edit` in `runners`",
    )


def _untrusted(runner: Runner, settings: Settings) -> Finding | None:
    """A worktree is a folder that nobody has been asked about yet."""
    trust = [get(dict(each), "security", "folderTrust", "enabled") for each in settings]
    if "--skip-trust" in runner.command or "GEMINI_CLI_TRUST_WORKSPACE" in runner.env:
        return None
    if False in trust:
        return None
    return Finding(
        is_sure=False,
        says="Gemini CLI does not start in a folder that it was not told to trust: give it"
        " `--skip-trust` in `runners`, or have it trust the folder of the repository",
    )


def _opencode(flags: Sequence[str], settings: Settings) -> Finding | None:
    asked = _last(settings, "permission", "edit") or _last(settings, "permission")
    if asked == "deny" or (asked == "ask" and "--auto" not in flags):
        return Finding(is_sure=True, says=f"its settings say `{asked}` of edits")
    return None


_ASKED: Mapping[str, Callable[[Sequence[str], Settings], Finding | None]] = {
    CLAUDE: _claude,
    CODEX: _codex,
    GEMINI: _gemini,
    OPENCODE: _opencode,
}


def _value(flags: Sequence[str], *names: str) -> str:
    """The value of a flag, given as `--flag value` or `--flag=value`; the last one holds."""
    found = ""
    for word, following in pairwise((*flags, "")):
        flag, equals, value = word.partition("=")
        if flag in names:
            found = value if equals else following
    return found


def _listed(flags: Sequence[str], *names: str) -> Iterator[str]:
    """The values of a flag that takes several, with commas or spaces between them."""
    is_open = False
    for word in flags:
        flag, _, value = word.partition("=")
        if word.startswith("-"):
            is_open = flag in names
            word = value  # noqa: PLW2901  # what is left of it
        if is_open:
            yield from word.replace(",", " ").split()


def _last(settings: Settings, *path: str) -> str:
    said = [text(dict(each), *path) for each in settings]
    return next((each for each in reversed(said) if each), "")


def _all(settings: Settings, *path: str) -> Iterator[str]:
    for each in settings:
        found = get(dict(each), *path)
        yield from (str(one) for one in (found if isinstance(found, list) else []))
