"""Targets for everything else: settings, faces, git, the system, the command line, the rig."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path

from harness.fuzz.target import Target, answered, folder, must, text_of
from harness.rig.scenario import read_scenario
from harness.rig.seen import received
from standfast import config, filesystems, linked_files
from standfast.clients.claude import hook_settings
from standfast.decisions import status_md
from standfast.errors.base import BadConfig
from standfast.faces import drafts
from standfast.git import (
    armour,
    branch_moves,
    push_address,
    shared_config,
    steering_settings,
    worktrees,
)
from standfast.git.command import checked_ref, entries
from standfast.git.git_output import failure
from standfast.journal.questions import Decision
from standfast.processes import occupants, process_identity
from standfast.processes.programs import Finished
from standfast.redaction.redactor import redact, redact_value
from standfast.surfaces.cli import frame


@answered
def _settings_file(data: bytes) -> None:
    at = folder("config")
    guarded = hook_settings.is_guarded_by(data)
    must(not guarded or hook_settings.GUARD in data, "a guard that nobody spoke of")
    at.put(config.PROJECT_FILE, data)
    found = config.load(at.path, {"HOME": at.path})
    must(found.git == "git", "a repository chose a program")
    must(0 <= found.lock_timeout_s <= 3600, "a time without bounds")
    must(not found.guard_resumption, "a repository switched a guard on")


def _shared_settings(data: bytes) -> None:
    at = Path(folder("shared").path, ".git")
    at.mkdir(exist_ok=True)
    (at / "config").write_bytes(data)
    (at / "index").touch()
    said = [value for key, value in shared_config.pairs(text_of(data)) if key == "core.bare"]
    must(not shared_config.is_called_bare(at) or bool(said), "bare, and nobody said so")
    for key, _ in shared_config.pairs(text_of(data)):
        must(key == key.strip() and "." in key, "a key without a section")
        must(steering_settings.changed({key: "x"}, {key: "x"}) == [], "changed by nobody")
        must(steering_settings.steers(key) in (True, False), "a key that is not judged")


def _reflog(data: bytes) -> None:
    at = folder("reflog")
    at.put("log", data)
    for move in branch_moves.logged(Path(at.path, "log")):
        must(" " not in move.old + move.new, "an id of two words")
        must("\n" not in move.words, "words on two lines")


@answered
def _link(data: bytes) -> None:
    at = folder("links")
    at.put("outside/file", b"outside")
    at.put("in/side/file", b"inside")
    link = Path(at.path, "in", "link")
    link.unlink(missing_ok=True)
    try:
        link.symlink_to(text_of(data))
    except (OSError, ValueError):
        return  # no link can say that
    with contextlib.suppress(FileNotFoundError):
        must(linked_files.read(f"{at.path}/in", "link", limit=99) == b"inside", "it leads out")


@answered
def _push_address(data: bytes) -> None:
    found = push_address.resolved(text_of(data), "/r")
    push_address.refuse_inside([found], "/r")
    if push_address.is_local(found):
        must(found.startswith("/"), "a path that depends on where one stands")
        must(push_address.resolved(found, "/elsewhere") == found, "a path that leads elsewhere")


@answered
def _settings_words(data: bytes) -> None:
    text = text_of(data)
    home = {"HOME": folder("config").path}
    value = text.partition("=")[2]
    for key in config.KEYS:
        with contextlib.suppress(BadConfig):
            config.load(None, {**home, f"STANDFAST_{key.name.upper()}": value})
    config.load(None, {**home, "STANDFAST_SESSION": value})
    config.load(None, home, flags=[text])


@answered
def _face(data: bytes) -> None:
    records = status_md.read(data, "status.md")
    for record in records:  # in words of ours it is always taken
        found = Decision(record.key or "RD-001", record.value, "user", "", None, 0)
        (again,) = status_md.read(status_md.render([found]), "status.md")
        must(again.value == record.value, "a record reads back as another")


def _redacted(data: bytes) -> None:
    text = text_of(data)
    clean = redact(text)
    must(redact(clean) == clean, "a second pass changes it")
    must((drafts.without_secrets(data) == data) == (clean == text), "bytes are treated otherwise")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return
    must(redact_value(redact_value(value)) == redact_value(value), "a value is changed again")


@answered
def _git_output(data: bytes) -> None:
    list(entries(data))
    must(all(each.path for each in worktrees.read_list(text_of(data))), "a worktree nowhere")
    done = Finished(argv=("git", "status"), status=128, stdout=data, stderr=data, truncated=False)
    said = str(failure(done, Path("/repo")))
    must(said.isprintable() and len(said) < 2000, "git's words could steer a terminal")
    keys = [key for key in text_of(data).split("\0") if key]
    armour.neutralise(keys)
    armour.spare_submodules(keys)
    ref = checked_ref(text_of(data))
    must(not ref.startswith("-"), "a name is an option")


def _proc(data: bytes) -> None:
    text = text_of(data)
    for seen in (process_identity.read_proc_stat(text), process_identity.read_ps(text)):
        must(seen is None or seen.state, "a process without a state")
    must(occupants.read_parent(text) >= 0, "a parent that is a group")
    must(all(pid > 0 for pid in process_identity.read_locks(text, device=2049, inode=7)), "no pid")
    filesystems.kind_of("/", mounts=text)
    at = Path(folder("proc").put("id", data))
    must(process_identity.machine_id([at]) and process_identity.boot_id(at), "no name")
    try:
        who = process_identity.Identity.from_text(text)
    except ValueError:
        return
    must(who.as_text() == text, "an identity does not come back")


_COMMANDS = tuple(command.name for command in frame.commands())


@answered
def _command_line(data: bytes) -> None:
    name, *words = text_of(data).split("\0")
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            parser, _ = frame.load(name if name in _COMMANDS else _COMMANDS[len(data) % 3])
            parser.parse_args(words)
    except SystemExit as asked:
        must(asked.code == 0, "argparse left by itself")


@answered
def _scenario(data: bytes) -> None:
    found = read_scenario(data, name="story.yaml")
    must(all(step.verb for step in found.steps), "a step that does nothing")


def _request(data: bytes) -> None:
    try:
        body = json.loads(data)
    except (ValueError, RecursionError):
        return
    if isinstance(body, dict):
        seen = received("/v1/messages", {"X-A": "b"}, body, ["a task"])
        must(isinstance(seen.text + seen.last_user + seen.system, str), "no words")


_FACE = status_md.render(
    [Decision(f"RD-00{n}", f"words {n}", "user", "", None, 0) for n in range(1, 4)]
)
_SECRETS = (
    b"token = next_token, after\npassword = password)\n",
    b'export API_KEY=abcdef0123456789abcdef && curl -H "Authorization: Bearer abc.def.ghi"',
    b'{"password": "hunter2 hunter2", "url": "https://user:secretsecret@host/x"}',
    b"sk-ant-api03-" + b"aB3" * 30,
    b"see https://somebody:words@host/ there",
    b'{"auth": "somebody:words", "argv": ["curl", "-u", "somebody:words", "--user", "a:b"]}',
    b"call SK" + b"0123456789abcdef" * 2,
    b"see MTIzNDU2Nzg5MDEyMzQ1Njc4.GabcdE.abcdefghijklmnopqrstuvwxyz0123",
    b"-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk\n-----END OPENSSH PRIVATE KEY-----\n",
)

TARGETS = (
    Target(
        "settings-file",
        "settings in their bounds, no program, or our error",
        _settings_file,
        (
            b"lock_timeout_s: 2\n",
            b"# ours\nstatus_file: docs/status.md\nlock_timeout_s: 0.5\n",
            b"",
        ),
    ),
    Target(
        "settings-words",
        "settings from the environment and from flags, or our error",
        _settings_words,
        (b"lock_timeout_s=2", b"status_file=docs/s.md", b"git=/usr/bin/git", b"lock_timeout_s=1e3"),
    ),
    Target(
        "face",
        "records that read back the same, or our error",
        _face,
        (_FACE, b"## Decisions\n1. x\n"),
    ),
    Target("redact", "a second pass changes nothing", _redacted, _SECRETS),
    Target(
        "push-address",
        "an address of another machine, a whole path, or our error",
        _push_address,
        (
            b"../team.git",
            b"file:///srv/a%20b%00.git",
            b"git@host:team.git",
            b"https://host/team.git",
            b"ssh://ann@localhost:22/~/team.git",
            b"[::1]:team.git",
        ),
    ),
    Target(
        "git-settings",
        "keys with a digest each, whatever an agent wrote there",
        _shared_settings,
        (
            b'[core]\n\tbare = false\n[remote "origin"]\n\turl = x\n\turl = y \\\n z\n[a.b] c\n',
            b'[filter "\xff\xfe"] clean = \xe9\n',
        ),
    ),
    Target(
        "reflog",
        "moves from an id to another, whatever an agent wrote there",
        _reflog,
        (
            b"0000 1234 a <a@b> 1 +0000\tcommit (initial): x\n1234 5678 a <a@b> 2 +0000\n",
            b"1234\n\t\n 5678 9 \xff\tpull: Fast-forward\x00\n",
        ),
    ),
    Target(
        "link",
        "what lies below, or our error",
        _link,
        (b"side/file", b"./side/../side//file", b"../outside/file", b"link", b"/etc/passwd"),
    ),
    Target(
        "git-output",
        "entries, and words that no terminal obeys",
        _git_output,
        (
            b"100644 blob e69de29bb2d1d6434b8b29ae775ad8c2e48c5391\tdocs/a.md\0",
            b"fatal: not a git repository\nhint: x\n",
            b"worktree /r\0HEAD 12\0branch refs/heads/main\0\0worktree /w\0detached\0\0",
            b"filter.lfs.clean\0merge.x.driver\0submodule.a.b.update\0include.path",
        ),
    ),
    Target(
        "proc",
        "what the system shows of a process, or nothing",
        _proc,
        (
            b"12 (a) b) S 1 12 12 0 -1 4194560 1 2 3 4 5 6 7 8 9 10 11 12 1234 5 6\n",
            b"Ss   12 Mon Jan  5 10:00:00 2026\n",
            b"1: FLOCK ADVISORY WRITE 123 08:01:7 0 E\n1: -> FLOCK ADVISORY WRITE 9 08:01:7 0 E\n",
            b"22 1 8:1 / / rw shared:1 - ext4 /dev/sda1 rw\n23 22 0:5 / /a\\040b rw - tmpfs t rw\n",
            b"0f3a/4026531836/b00t-1d/123/456",
            b"0123456789abcdef0123456789abcdef\n",
        ),
    ),
    Target(
        "command-line",
        "arguments, a help page or our error",
        _command_line,
        (
            b"status\0--all\0--json\0--dir\0docs/a",
            b"note\0--by\0user\0--run\0run-1\0some words",
            b"events\0--kind\0decision\0--after\x000\0-n\x005\0--json",
            b"journal\0export\0--output\0out.jsonl",
            b"doctor\0--help",
        ),
    ),
    Target(
        "scenario",
        "a story, or our error",
        _scenario,
        (
            (
                b"about: a story\nmodel:\n  - {when: hi, text: hello}\n  - {bash: ls, to: agent}\n"
                b"steps:\n  - prompt: hi\n  - kill: group\n  - resume: last\n  - write: {a: x}\n"
                b"expect:\n  - {answering: hi, has: [a], lacks: [b], once: [c]}\n"
            ),
        ),
    ),
    Target(
        "model-request",
        "words, whatever the client sends",
        _request,
        (
            (
                b'{"model":"m","max_tokens":9,"system":[{"type":"text","text":"s"}],"tools":[{}],"messages":'
                b'[{"role":"user","content":[{"type":"tool_result","content":"r"},{"type":"tool_use","input":{}}]}]}'
            ),
        ),
    ),
)
