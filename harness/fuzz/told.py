"""Targets in `clients/`: what a coding agent hands over, and the files that it keeps."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from harness.fuzz.target import Target, answered, folder, must, text_of
from standfast import authorship
from standfast.brief.brief_sections import _outcome
from standfast.brief.voice import SHORT, Voice, length, nonce
from standfast.clients.claude import (
    client_version,
    hook_facts,
    hook_payload,
    settings_file,
    settings_text,
    subagent_outputs,
    transcript,
)
from standfast.clients.claude.abilities import Abilities
from standfast.clients.claude.derived_facts import _tool_ended
from standfast.clients.claude.recipes import RECIPES
from standfast.clients.hooks import commits
from standfast.clients.hooks.checkout import Checkout
from standfast.clients.hooks.deadline import _has_time
from standfast.clients.hooks.hook_call import Call
from standfast.git import line_origins
from standfast.journal import session_process
from standfast.journal.payload import encode
from standfast.protocols.outputs.rules.whole_output import SENTINEL, paragraph

if TYPE_CHECKING:
    from collections.abc import Iterator

_EVENTS = tuple(RECIPES)
_LAUNCHER = "/data/standfast/hook"


def _read(data: bytes | None) -> hook_payload.Payload:
    """As the client would write it; None reads what is there already."""
    if data is not None:
        folder("hook").put("stdin", data)
    fd = os.open(os.path.join(folder("hook").path, "stdin"), os.O_RDONLY)
    try:
        return hook_payload.read(fd)
    finally:
        os.close(fd)


def _facts(given: hook_payload.Payload, event: str) -> Iterator[hook_facts.Fact]:
    """Everything that a recipe makes of a payload can be written, and read by anybody."""
    for fact in hook_facts.facts(given, event, "claude", "/project"):
        text = encode(given.write(fact.fields))
        must(isinstance(json.loads(text), dict), f"{fact.kind} is no object")
        yield fact


@answered
def _hook_call(data: bytes) -> None:
    _has_time(data)
    given = _read(data)
    place = folder("hook").path
    call = Call(given, "1", {"CLAUDE_PROJECT_DIR": place, "HOME": place})
    must(os.path.isabs(call.cwd) and call.session, "a call from nowhere")
    list(_facts(given, _EVENTS[len(data) % len(_EVENTS)]))
    for fact in _facts(given, call.event):
        if fact.kind in {"tool.ended", "tool.failed"}:
            _tool_ended(fact, call, lambda *_: [])
            must(0 <= int(fact.fields.get("status", 0)) < 1000, "no status")  # three digits


@answered
def _long_hook_call(data: bytes) -> None:
    """The same with more in its middle than is ever looked at: of that only the size counts."""
    half, blanks = len(data) // 2, b" " * (16 * 1024)
    with open(folder("hook").put("stdin", data[:half] + blanks), "ab") as file:
        file.truncate(hook_payload.LIMIT + len(blanks))
        file.seek(0, os.SEEK_END)
        file.write(blanks + data[half:])
    given = _read(None)
    must(len(given.text) < hook_payload.LIMIT // 8, "a large payload was kept whole")
    if _is_object(data[:half] + b" " + data[half:]):
        must(_is_object(given.text), "what is kept of an object is none")
    list(_facts(given, _EVENTS[len(data) % len(_EVENTS)]))


def _is_object(text: str | bytes) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _transcript(data: bytes) -> None:
    at = folder("transcript").put("t.jsonl", data)
    must(transcript.tail(at) == data, "its end is another")
    must(data.endswith(transcript.since_compaction(at)), "what is shown is not its end")
    found = transcript.tokens(data)
    must(found is None or 0 <= found < 10**13, "no number of tokens")
    newest, model = transcript.newest(data)
    must(newest is None or newest > 0, "a reply that was given nothing")
    must(len(model) <= 200, "a model's name that is none")
    window = transcript.window({"CLAUDE_CODE_AUTO_COMPACT_WINDOW": text_of(data)})
    must(0 <= window < 10**10, "no window")


def _declared(data: bytes) -> None:
    """What a prompt declares are paths, whether it is told in a call or in a transcript."""
    said = {"type": "user", "message": {"role": "user", "content": text_of(data)}}
    for line in (data, json.dumps(said).encode() + b"\n" + data):
        at = folder("transcript").put("agent.jsonl", line)
        for path in subagent_outputs._declared(at) or []:  # noqa: SLF001  # where outside text is taken apart
            must(path.endswith(".md"), "no file of ours")
            must("\0" not in path and "\n" not in path, "no system knows such a path")


@answered
def _settings(data: bytes) -> None:
    real = folder("settings").put("settings.json", data)
    file = settings_file.SettingsFile("~/settings.json", real)
    text = settings_file.text_of(settings_file.read(file), file)
    settings_text.others(text, name="s")
    if any(settings_text.find(text, name="s")):
        settings_text.without_hooks(text, name="s")
        return
    events = ("SessionStart", "Stop", "PreToolUse")
    for exec_form in (True, False):
        abilities = Abilities(events=events, exec_form=exec_form)
        ours = settings_text.with_hooks(text, _LAUNCHER, abilities, name="s")
        found = sorted(each.event for each in settings_text.find(ours, name="s"))
        must(found == sorted(events), f"hooks for {found}")
        again = settings_text.with_hooks(ours, _LAUNCHER, abilities, name="s")
        must(again == ours, "a second time changes it")
        must(settings_text.without_hooks(ours, name="s") == text, "it is not as it was before")


def _version(data: bytes) -> None:
    found = client_version.told(data)
    must(found is None or ".".join(map(str, found)).encode()[:1] in data, "a number nobody said")


@answered
def _checkout(data: bytes) -> None:
    at = folder("checkout")
    at.put("tree/.git/HEAD", data)
    at.put("tree/.git/logs/HEAD", data)
    here = Checkout(os.path.join(at.path, "tree"))
    branch = here.branch()
    must(branch is None or len(branch) < 300, "the branch has no bounds")
    moves = here.moves_since(0)
    made, gone = commits.read(moves, [("a" * 40, "b" * 40, "subject")])
    must(len(made) + len(gone) <= len(moves) + 1 + len(made), "commits from nowhere")
    must(all(seen.commit for seen in made), "a commit without a name")


@answered
def _history(data: bytes) -> None:
    text = text_of(data)
    moves = authorship.moves(text)
    must(len(moves) <= text.count("\t"), "a move from nowhere")
    found = line_origins.changes(text)
    must(all(change.before for change in found), "a change of nothing")
    held = line_origins.contents(data)
    must(sum(map(len, held.values())) <= len(data), "contents from nowhere")


def _process_mark(data: bytes) -> None:
    text = text_of(data)
    session_process.is_gone(text)
    session_process.arguments(text)
    session_process.mark(text)


def _quoted(data: bytes) -> None:
    """Whatever is quoted in a brief cannot end its quotation."""
    text = text_of(data)
    mark = nonce(data[:8].ljust(8, b"x"))
    voice = Voice(mark, SHORT)
    must(_outcome("failed", 1, text, voice).count("»") == 1, "an outcome with two quotations")
    must(_outcome("ended", None, text, voice).count("»") <= 1, "an outcome with two quotations")
    for quoted in (voice.quote(text), voice.quote(text, 40), voice.quote_both_ends(text, 120)):
        words = quoted.removeprefix(f"«{mark} ").removesuffix(f" {mark}»")
        must(len(words) < len(quoted) - 8, "it is not quoted")
        must(not {"«", "»", "\n"} & set(words) and mark not in words, "it ends its quotation")
    must(length(voice.quote(text, 40)) <= 40 + 2 * len(mark) + 4, "it is over its limit")
    name = voice.name(text)
    must(name == text or name.startswith("«"), "a name that is none is not quoted")


_ABOUT = (
    b'"session_id":"5d0c1f6e-7a34-4b7e-9c55-2f81d6a3e904","transcript_path":"/t.jsonl","cwd":"/p"'
)
_CALLS = (
    b'{%s,"hook_event_name":"SessionStart","source":"resume","context_tokens":1010}' % _ABOUT,
    b'{%s,"hook_event_name":"UserPromptSubmit","prompt":"do \\ud83d\\ude00 this"}' % _ABOUT,
    b'{%s,"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"make",'
    b'"description":"x"},"tool_use_id":"toolu_01"}' % _ABOUT,
    b'{%s,"hook_event_name":"PostToolUse","tool_name":"TodoWrite","tool_input":{"todos":[{'
    b'"content":"one","status":"pending"}]},"tool_response":{"stdout":"ok","stderr":""}}' % _ABOUT,
    b'{%s,"hook_event_name":"PostToolUseFailure","tool_name":"Bash","tool_input":{},'
    b'"error":"Exit code 2\\nno","is_interrupt":false,"agent_id":"a@b"}' % _ABOUT,
    b'{%s,"hook_event_name":"Stop","last_assistant_message":"done","background_tasks":[{"id":"b1"}]}'
    % _ABOUT,
    b'{%s,"hook_event_name":"PostToolUse","tool_name":"TaskList","tool_response":{"tasks":[{"id":'
    b'"1","subject":"s","status":"open"}]}}' % _ABOUT,
    b'{%s,"hook_event_name":"UserPromptSubmit","prompt":"cut \\ud83d"}' % _ABOUT,
    b'{%s,"hook_event_name":"PostToolUse","tool_name":"TodoWrite","tool_input":{"todos":[%s]}}'
    % (_ABOUT, b",".join([b'{"content":"%s","status":"pending"}' % (b"long " * 60)] * 40)),
)
_LOG = (
    b"%s %s A U <a@b> 1700000000 +0000\tcommit: first\n" % (b"0" * 40, b"a" * 40)
    + b"%s %s A U <a@b> 1700000001 +0000\tcommit (amend): second\n" % (b"a" * 40, b"c" * 40)
    + b"%s %s A U <a@b> 1700000002 +0000\treset: moving to HEAD~1\n" % (b"c" * 40, b"b" * 40)
)

TARGETS = (
    Target("hook-call", "facts that are JSON within limits, or our error", _hook_call, _CALLS),
    Target("long-hook-call", "its few fields as an object", _long_hook_call, _CALLS[:3], 200),
    Target(
        "transcript",
        "a number of tokens or none; what is shown is its end",
        _transcript,
        (
            (
                b'{"type":"assistant","message":{"usage":{"input_tokens":12,"cache_read_input_tokens":'
                b' 34,"x":5}}}\n{"type":"system","subtype":"compact_boundary"}\n{"a":1}\n'
            ),
            b'{"message":{"model":"m[1m]","usage":{"input_tokens":5}}}\n{"usage":{"input_tokens":0}}',
        ),
    ),
    Target(
        "declared-outputs",
        "paths of files, or none",
        _declared,
        (
            f"Look.\n{paragraph('/tmp/a.md')}".encode(),
            f'Write "it" to: `~/a b.md`, b/[x](c.md) or d.md?\n> {SENTINEL}'.encode(),
            (
                b'{"type":"system"}\n{"type":"user","message":{"content":[{"type":"text","text":"write'
                b' /a.md %s \\ud83d"}]}}\n' % SENTINEL.encode()
            ),
        ),
    ),
    Target(
        "settings",
        "our hooks once each, and without them every byte as before, or our error",
        _settings,
        (
            (
                b'{\n  "model": "opus", // mine\n  "hooks": {\n    "Stop": [\n'
                b'      {"hooks": [{"type": "command", "command": "true"}]}\n    ],\n  },\n}\n'
            ),
            b"{}",
            b"",
            b'{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "echo \'"}]}]}}',
            b' \n\t{"a":[],"hooks":{}}',
            (
                b'{"hooks": {"Stop": [{"hooks": [{"type": "command", "command":'
                b' "/d/standfast/hook claude"}]}]}, "statusLine": {}, "disableAllHooks": true}'
            ),
        ),
    ),
    Target(
        "client-version", "three numbers or none", _version, (b"2.1.325 (Claude Code)\n", b"1.0")
    ),
    Target(
        "head-log",
        "moves and the commits that they made",
        _checkout,
        (_LOG, b"ref: refs/heads/a\n"),
    ),
    Target(
        "history",
        "moves, changes and contents that are in it, or our error",
        _history,
        (
            _LOG,
            b"%s\n:100644 100644 %s %s M\tf\n" % (b"a" * 40, b"b" * 40, b"0" * 40),
            b"%s blob 3\na\nb\n%s blob 0\n\n" % (b"a" * 40, b"b" * 40),
        ),
    ),
    Target(
        "process-mark",
        "an answer, whatever is in its place",
        _process_mark,
        (b"1 2 3f1c-boot pid:[4026531836]", b"%d" % os.getpid(), b"self 1 b n"),
    ),
    Target(
        "quotation",
        "fenced, on one line, within its limit",
        _quoted,
        ("do «this» </system> now".encode(), b"a <b>c</b> \n" * 30, "👩\u200d💻".encode() * 80),
    ),
)
