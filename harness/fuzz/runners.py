"""Targets for what runs agents: what clients print, and what a person configures of them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from harness.fuzz.target import Target, answered, folder, must, text_of
from standfast import config
from standfast.runners import permissions, registry
from standfast.runners.registry import KINDS, KNOWN, SHELL, Call
from standfast.runners.templates import LATEST_S, LONGEST_NAME, LONGEST_WORDS
from standfast.runs import runner_choice as found

if TYPE_CHECKING:
    from collections.abc import Callable

_NOW = datetime(2026, 11, 16, 3, 30, tzinfo=UTC)


def _reading(kind: str) -> Callable[[bytes], None]:
    def read(data: bytes) -> None:
        out, _, err = data.partition(b"\n---\n")
        report = registry.read(kind, out, err, _NOW)
        must(0 <= report.limit_until_s < LATEST_S, "a limit without an end")
        must(report.tokens_in >= 0 <= report.tokens_out, "fewer tokens than none")
        must(Decimal(report.cost_usd or 0) >= 0, "money that is earned")
        must(not (report.limit and report.error), "a limit that is an error too")
        shown = (report.limit, report.error, report.last)
        must(all(len(each) <= LONGEST_WORDS and "\n" not in each for each in shown), "many lines")
        must(not report.session.startswith("-"), "a session that is a flag")
        must(len(report.session) <= LONGEST_NAME, "a session without bounds")
        call = Call("/prompt", report.session, is_resumed=True)
        must("\0" not in "".join(registry.argv(KNOWN[kind], call)), "words that no program takes")
        registry.spent([(kind, report), (kind, report)])

    return read


@answered
def _configured(data: bytes) -> None:
    at = folder("runners")
    at.put(f".config/{config.USER_FILE}", data)
    found_there = config.load(None, {"HOME": at.path})
    for runner in found_there.runners.values():
        must(runner.kind in KINDS and runner.command, "a runner that runs nothing")
        must(runner.time_s is None or runner.time_s > 0, "a time that is none")
        must(all("\0" not in word for word in runner.command), "a word that no program takes")
        must(runner.kind == SHELL or not registry.takes_script(runner), "a client that is a shell")
        permissions.judge(runner, [])


def _allowed(data: bytes) -> None:
    at = folder("allowed")
    for name in (".claude/settings.json", ".codex/config.toml", ".gemini/settings.json"):
        at.put(name, data)
    at.put("opencode.json", data)
    words = tuple(text_of(data).split())
    for kind in KINDS:
        runner = KNOWN[kind]._replace(command=(kind, *words))
        for each in (runner, KNOWN[kind]):
            said = found.could_edit(each, at.path, {"HOME": at.path})
            must(said is None or said.says, "a finding without words")


def _lines(*said: object) -> bytes:
    return b"\n".join(json.dumps(each).encode() for each in said)


_ERR = b"\n---\n"
_SEEDS: dict[str, tuple[bytes, ...]] = {
    "claude": (
        _lines({"type": "system", "session_id": "1-2"},
               {"type": "assistant", "message": {"id": "m", "usage": {"input_tokens": 5},
                                                 "content": [{"text": "x"}]}},
               {"type": "result", "is_error": False, "total_cost_usd": 0.5, "result": "done"}),
        _lines({"type": "rate_limit_event", "rate_limit_info": {"status": "rejected",
                                                                "resetsAt": 1794806790}},
               {"type": "result", "is_error": True, "api_error_status": 429, "result": "limit"}),
        _lines({"type": "system", "subtype": "api_retry", "error_status": 429, "error": "x"}),
        _lines({"type": "result", "is_error": True, "result": "usage limit reached|1794806790"}),
        _lines({"type": "result", "model_usage_since_last_result": {"m": {"costUSD": 1}}}),
        b"x" + _ERR + b"Error: no such option\nbye\n",
    ),
    "codex": (
        _lines({"type": "thread.started", "thread_id": "1-2"},
               {"type": "item.completed", "item": {"type": "agent_message", "text": "x"}},
               {"type": "turn.completed", "usage": {"input_tokens": 5, "output_tokens": 5}}),
        _lines({"type": "turn.failed", "error": {"message":
               "usage limit, try again at Nov 19th, 2026 12:29 AM."}}),
        _lines({"type": "error", "message": "usage limit, try again at 5:29 AM."}),
    ),
    "gemini": (
        _lines({"type": "init", "session_id": "1-2"},
               {"type": "message", "role": "assistant", "content": "x"},
               {"type": "result", "status": "success", "stats": {"input_tokens": 5}}),
        _lines({"type": "result", "status": "error", "error": {"message": "daily quota"}})
        + _ERR + b"message: 'Please retry in 7198.5s.'",
        _ERR + b"Attempt 4 failed with status 429. Retrying with backoff... x\n",
    ),
    "opencode": (
        _lines({"type": "text", "sessionID": "ses_1", "timestamp": 1, "part": {"text": "x"}},
               {"type": "step_finish", "part": {"cost": 0.5, "tokens": {"input": 5}}}),
        _lines({"type": "error", "error": {"data": {"statusCode": 429, "message": "limit",
                                                    "responseHeaders": {"retry-after": "60"}}}}),
        _ERR + b'timestamp=2026-11-16T03:38:31.217Z level=ERROR message="stream error" '
        b'session.id=ses_1 small=false agent=build error.error="AI_APICallError: usage limit"\n',
    ),
    "shell": (b"one\ntwo\n\n", b"\xff\n"),
}  # fmt: skip

TARGETS = (
    *(
        Target(f"runner-{kind}", "a report within bounds", _reading(kind), seeds)
        for kind, seeds in _SEEDS.items()
    ),
    Target(
        "runner-settings",
        "runners that run something, or our error",
        _configured,
        (
            b"runner: codex\nrunners: {mine: {command: [a, '{prompt}'], time: 90m, env: {A: b}}}\n",
            b"runners: {claude: {command: [claude, 5], resume: [claude, '{session}'], time: 5}}\n",
        ),
        inputs=1_000,
    ),
    Target(
        "runner-permissions",
        "a finding with words, or none",
        _allowed,
        (
            b'{"permissions": {"allow": ["Edit"], "deny": ["Write"], "defaultMode": "plan"}}',
            b'sandbox_mode = "workspace-write"\n',
            b"--permission-mode=acceptEdits --allowedTools Edit,Bash -s read-only --yolo",
            b'{"permission": {"edit": "ask"}}',
        ),
        inputs=500,
    ),
)
