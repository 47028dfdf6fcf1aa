"""Whatever breaks around a hook, the client is neither blocked nor told, and the truth survives.

A session is set up and works; then something breaks in the middle of it, hooks go on being
called, it is mended, and the next command is asked what happened: every call is an event, or is
told to be lost.
"""

import errno
import fcntl
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from itertools import product
from pathlib import Path
from time import perf_counter

import pytest

import standfast
from attacks import call, done, fair, unprivileged, with_mounts
from hook_calls import (
    PATIENCE_S,
    PAYLOADS,
    SESSION,
    Hooks,
    copy_of_everything,
    deadline_s,
    put_launcher,
)
from places import TESTS
from secret_samples import Planted, planted
from standfast import clock
from standfast.clients.claude.recipes import RECIPES
from standfast.clients.hooks import hook_call
from standfast.clients.hooks.deadline import WAKE_S
from standfast.journal import database
from standfast.journal.author import Author
from standfast.journal.fallback import spool
from standfast.journal.store import Journal
from standfast.journal.tables import schema

BASH: Mapping[str, object] = {"tool_name": "Bash", "tool_input": {"command": "make"}}
OK: Mapping[str, object] = {"tool_response": {"stdout": "ok", "stderr": ""}}
STARTED, ENDED = "tool.started", "tool.ended"


@pytest.fixture
def hooks(repo: Path, world: Path) -> Iterator[Hooks]:
    """Give a session that works."""
    found = Hooks(repo, put_launcher(world / "home" / ".local" / "share" / "standfast" / "hook"))
    found.begin()
    yield found
    found.rest()


def ids(hooks: Hooks, kind: str = STARTED) -> list[object]:
    return [fact.get("id") for fact in hooks.of(kind)]


def lost_marks(folder: Path) -> list[Path]:
    return sorted(folder.joinpath("standfast", "lost").glob("*"))


def state_home() -> Path:
    return Path(os.environ["XDG_STATE_HOME"])


# The program is gone.


def _says(script: str) -> Callable[[Path], None]:
    def put(folder: Path) -> None:
        (folder / "python").unlink()
        (folder / "python").write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        (folder / "python").chmod(0o755)

    return put


def _not_executable(folder: Path) -> None:
    _says("exit 0")(folder)
    (folder / "python").chmod(0o644)


def _without(*parts: str) -> Callable[[Path], None]:
    def take(folder: Path) -> None:
        path = folder.joinpath(*parts)
        shutil.rmtree(path) if path.is_dir() else path.unlink()

    return take


GONE: Mapping[str, Callable[[Path], None]] = {
    "the package": _without("site", "standfast"),
    "half of the package": _without("site", "standfast", "clients", "hooks", "hook_call.py"),
    "everything but the beginning": _without(
        "site", "standfast", "clients", "hooks", "deadline.py"
    ),
    "the library": _without("site", "apsw"),
    "the interpreter": _without("python"),
    "all of it": shutil.rmtree,
    "status 1": _says("exit 1"),
    "status 2": _says("exit 2"),
    "status 127": _says("exit 127"),
    "killed": _says("kill -9 $$"),
    "a fault": _says("kill -SEGV $$"),
    "not executable": _not_executable,
    "no program at all": _says("\x7fELF"),
}


@pytest.mark.sweep(4)
@pytest.mark.req("PLAT-01")
@pytest.mark.parametrize("what", GONE)
def test_a_program_that_is_gone_blocks_nobody_and_is_told_later(
    what: str, hooks: Hooks, tmp_path: Path
) -> None:
    text = copy_of_everything(tmp_path / "env")
    put_launcher(hooks.launcher, text)
    hooks.works()
    GONE[what](tmp_path / "env")

    calls = [hooks("PreToolUse", **BASH, tool_use_id=f"lost-{number}") for number in range(3)]
    calls.append(hooks("SessionStart", source="compact"))

    assert {called.out for called in calls} == {b""}
    assert len(lost_marks(state_home())) == 4
    assert hooks.gaps() == 4
    assert lost_marks(state_home()) == []
    shutil.rmtree(tmp_path / "env", ignore_errors=True)
    copy_of_everything(tmp_path / "env")
    hooks.works()
    assert hooks.gaps() == 4


@pytest.mark.req("PLAT-01")
def test_marks_are_found_whatever_the_umask_and_the_name_of_the_project(
    hooks: Hooks, tmp_path: Path
) -> None:
    """A folder that others may write is not believed, so the launcher must make it private."""
    project = tmp_path / "a b\n$(c) 'd'"
    shutil.copytree(hooks.repo, project)
    text = hooks.launcher.read_text("utf-8").replace("start.py", "gone.py")
    hooks.launcher.write_text(text, encoding="utf-8")
    odd = Hooks(project, hooks.launcher, through=("sh", "-c", 'umask 0; exec "$@"', "sh"))

    odd("PreToolUse", **BASH, tool_use_id="lost")

    assert odd.gaps() == 1
    assert hooks.gaps() == 0


@pytest.mark.req("PLAT-01")
def test_the_launcher_leaves_no_more_marks_than_say_something_new(hooks: Hooks) -> None:
    folder = state_home() / "standfast" / "lost"
    folder.mkdir(mode=0o700, parents=True)
    for number in range(256):
        (folder / str(number)).write_text(f"why\n{hooks.repo}\n", encoding="utf-8")
    text = hooks.launcher.read_text("utf-8").replace("start.py", "gone.py")
    hooks.launcher.write_text(text, encoding="utf-8")

    hooks("PreToolUse", **BASH, tool_use_id="lost")

    assert len(lost_marks(state_home())) == 256


def test_the_launcher_follows_no_link_in_a_temporary_folder(hooks: Hooks, tmp_path: Path) -> None:
    shutil.rmtree(state_home() / "standfast", ignore_errors=True)
    (state_home() / "standfast").write_text("in the way", encoding="utf-8")
    (tmp_path / "target").mkdir()
    planted_link = temporary() / f"standfast-lost-{os.geteuid()}"
    planted_link.symlink_to(tmp_path / "target")

    Hooks(hooks.repo, broken_launcher(hooks))("PreToolUse", **BASH, tool_use_id="lost")

    assert list((tmp_path / "target").iterdir()) == []


@pytest.mark.req("PLAT-01")
def test_a_journal_of_a_newer_version_is_left_alone_until_it_can_be_read(hooks: Hooks) -> None:
    def set_version(version: int) -> None:
        connection = database.connect(str(hooks.folder / "journal.db"))
        connection.execute(f"PRAGMA user_version={version}").fetchall()
        connection.close()

    set_version(schema.VERSION + 1)
    hooks("PreToolUse", **BASH, tool_use_id="future")
    hooks("PostToolUse", **BASH, **OK, tool_use_id="future")
    refused = fair(call("-C", str(hooks.repo), "status"))
    assert "NEEDS YOU" in refused.out or refused.code is not None
    set_version(schema.VERSION)

    assert ids(hooks) == ["before", "future"]
    assert ids(hooks, ENDED) == ["before", "future"]
    assert hooks.gaps() == 0
    hooks.works()


# The journal is busy.


@contextmanager
def held(path: Path) -> Iterator[None]:
    with path.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@contextmanager
def stopped_holder(path: Path) -> Iterator[None]:
    script = (
        "import fcntl, os, signal, sys; file = open(sys.argv[1], 'rb');"
        " fcntl.flock(file, fcntl.LOCK_EX); print('held', flush=True);"
        " os.kill(os.getpid(), signal.SIGSTOP)"
    )
    argv = [sys.executable, "-c", script, str(path)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield
        finally:
            process.kill()


@contextmanager
def shell_of_sqlite(path: Path) -> Iterator[None]:
    connection = database.connect(str(path.with_name("journal.db")))
    connection.execute("BEGIN EXCLUSIVE")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")
        connection.close()


HELD: Mapping[str, tuple[Callable[[Path], object], str]] = {
    "writer": (held, "writer.lock"),
    "turnstile": (held, "turnstile.lock"),
    "a stopped writer": (stopped_holder, "writer.lock"),
    "a stopped waiter": (stopped_holder, "turnstile.lock"),
}


@pytest.mark.prove
@pytest.mark.parametrize("who", HELD)
def test_a_journal_that_somebody_holds_is_not_waited_for(who: str, hooks: Hooks) -> None:
    holder, name = HELD[who]
    with holder(hooks.folder / name):  # type: ignore[attr-defined]
        calls = [
            hooks("PreToolUse", **BASH, tool_use_id="one"),
            hooks("PostToolUse", **BASH, **OK, tool_use_id="one"),
            hooks("PreToolUse", **BASH, tool_use_id="two"),
        ]
        kept = [stray for _, stray in spool.strays(str(hooks.folder))]

    assert len(kept) == 3
    assert min(called.seconds for called in calls) < deadline_s()
    assert [event["kind"] for event in hooks.events()[-3:]] == [STARTED, ENDED, STARTED]
    times = [int(str(event["at_us"])) for event in hooks.events()]
    assert times == sorted(times)
    assert ids(hooks) == ["before", "one", "two"]
    assert not spool.is_used(str(hooks.folder))
    hooks.works()


@pytest.mark.req("REL-12")
def test_a_pipe_where_sqlite_would_wait_for_ever_costs_no_prompt_and_leaves_no_process(
    hooks: Hooks,
) -> None:
    os.mkfifo(hooks.folder / "journal.db-journal")

    hooks("UserPromptSubmit", prompt="kept apart")  # called to its very end

    done(call("-C", str(hooks.repo), "journal", "repair"))
    assert [each["text"] for each in hooks.of("prompt")][1:] == ["kept apart"]
    assert hooks.gaps() == 0
    hooks.works()


@pytest.mark.prove
def test_a_shell_of_sqlite_in_the_way_delays_no_client(hooks: Hooks) -> None:
    with shell_of_sqlite(hooks.folder / "journal.db"):
        data = [
            json.dumps(hooks.payload("PreToolUse", **BASH, tool_use_id=use)).encode()
            for use in ("one", "two")
        ]
        calls = [hooks.silently(each) for each in data]
    hooks.rest()

    assert min(called.seconds for called in calls) < deadline_s()
    found = [event for event in hooks.events() if event["kind"] == STARTED]
    by_time = sorted(found, key=lambda event: int(str(event["at_us"])))
    assert [dict(event["payload"])["id"] for event in by_time] == ["before", "one", "two"]  # type: ignore[call-overload]
    hooks.works()


def test_a_spool_that_somebody_holds_too_is_waited_for_by_nobody_but_the_hook(
    hooks: Hooks,
) -> None:
    with held(hooks.folder / "writer.lock"):
        with held(hooks.folder / "spool"):
            hooks.silently(_started(hooks, "one"))
            hooks.silently(_started(hooks, "two"))
        hooks.rest()

    assert ids(hooks) == ["before", "one", "two"]  # by when they were told, not by who was first
    assert hooks.gaps() == 0


def test_a_late_begin_does_not_open_again_what_has_ended(hooks: Hooks) -> None:
    with held(hooks.folder / "writer.lock"):
        hooks("PreToolUse", **BASH, tool_use_id="late")
        kept = (hooks.folder / "spool").read_bytes()
        blank = bytes(len(kept))
    (hooks.folder / "spool").write_bytes(blank)  # as if its slot could not be read meanwhile
    hooks("PostToolUse", **BASH, **OK, tool_use_id="late")
    (hooks.folder / "spool").write_bytes(kept)

    assert ids(hooks) == ["before", "late"]
    state = Journal(str(hooks.folder)).query("SELECT state FROM work WHERE key = 'late'")
    assert state == [("done",)]


def test_what_was_spooled_is_merged_in_the_order_of_its_times(hooks: Hooks) -> None:
    author = Author("claude", session=SESSION)
    for number in (3, 1, 2):
        at = clock.now_us() - (10 - number) * clock.MICROSECONDS
        spool.keep(str(hooks.folder), STARTED, {"id": f"at-{number}"}, author, at=at)

    assert ids(hooks) == ["before", "at-1", "at-2", "at-3"]


def test_a_list_of_tasks_that_cannot_be_read_whole_deletes_none(hooks: Hooks) -> None:
    def write(todos: object) -> list[tuple[str, ...]]:
        hooks("PostToolUse", tool_name="TodoWrite", tool_input={"todos": todos}, tool_use_id="todo")
        sql = "SELECT DISTINCT state FROM work WHERE what = 'task' ORDER BY state"
        return Journal(str(hooks.folder)).query(sql)

    some = [{"content": f"task {number}", "status": "pending"} for number in range(3)]
    for todos in (some, None, "none", {"a": 1}, some * 20, some[:1] * 51):
        assert write(todos) == [("pending",)], todos
    assert write(some[:1]) == [("deleted",), ("pending",)]
    assert write([]) == [("deleted",)]


def test_a_late_start_of_a_session_does_not_undo_its_end_and_owes_nothing(hooks: Hooks) -> None:
    with held(hooks.folder / "writer.lock"):
        hooks("SessionStart", source="resume")
        kept = (hooks.folder / "spool").read_bytes()
    (hooks.folder / "spool").write_bytes(bytes(len(kept)))
    hooks("SessionStart", source="resume")
    hooks("SessionEnd", reason="other")
    (hooks.folder / "spool").write_bytes(kept)

    assert len(hooks.of("session.started")) == 3
    journal = Journal(str(hooks.folder))
    assert journal.query("SELECT ended FROM sessions") == [("other",)]
    assert journal.query("SELECT count(*) FROM briefs") == [(1,)]


def test_a_session_whose_first_hook_was_spooled_is_known_all_the_same(hooks: Hooks) -> None:
    with held(hooks.folder / "writer.lock"):
        hooks("SessionStart", source="startup", session_id="second")
        hooks("UserPromptSubmit", prompt="and now this", session_id="second")
        hooks("SubagentStart", agent_id="a1", agent_type="Explore", session_id="second")

    hooks.events()

    journal = Journal(str(hooks.folder))
    rows = journal.query("SELECT client, branch FROM sessions WHERE session = 'second'")
    assert rows == [("claude", "main")]
    assert journal.query("SELECT what, key FROM work WHERE session = 'second'") == [("agent", "a1")]


# The disk is frozen, full, or may not be written.


def in_mounts(function: Callable[..., None], *arguments: Path) -> None:
    """Run a function of this file where it may mount, and everything is unmounted after it."""
    elsewhere(function, *arguments, through=with_mounts())


def elsewhere(
    function: Callable[..., None], *arguments: str | Path, through: Sequence[str] = ()
) -> None:
    """Run a function of this file in a process of its own."""
    ours = Path(__file__)
    paths = [str(each) for each in (ours.parent, TESTS, Path(standfast.__file__).parents[1])]
    script = (
        f"import sys; sys.path[:0] = {paths!r}; import {ours.stem} as here;"
        f" here.{function.__name__}(*sys.argv[1:])"
    )
    argv = [*through, sys.executable, "-c", script, *map(str, arguments)]
    ended = subprocess.run(argv, capture_output=True, timeout=2 * PATIENCE_S, check=False)
    assert ended.returncode == 0, ended.stderr.decode()


def mount(*arguments: str) -> None:
    subprocess.run(["mount", *arguments], check=True)


def session_in(folder: str, launcher: str) -> Hooks:
    repo = Path(folder, "repo")
    subprocess.run(["git", "init", "-q", str(repo)], check=True)
    hooks = Hooks(repo, Path(launcher))
    hooks.begin()
    return hooks


@pytest.mark.prove
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may freeze a filesystem")
@pytest.mark.skipif(shutil.which("fsfreeze") is None, reason="fsfreeze is not installed")
def test_a_frozen_disk_delays_no_client_and_loses_nothing(hooks: Hooks, tmp_path: Path) -> None:
    image, disk = tmp_path / "image", tmp_path / "disk"
    disk.mkdir()
    with image.open("wb") as file:
        file.truncate(64 * 1024 * 1024)
    subprocess.run(["mkfs.ext4", "-q", str(image)], check=True)
    probe = [*with_mounts(), "mount", "-o", "loop", str(image), str(disk)]
    if subprocess.run(probe, capture_output=True, check=False).returncode != 0:
        pytest.skip("this system has no loop devices to mount")

    in_mounts(frozen, disk, hooks.launcher)


def frozen(disk: str, launcher: str) -> None:
    mount("-o", "loop", str(Path(disk).with_name("image")), disk)
    hooks = session_in(disk, launcher)
    with frozen_now(disk):
        tool = [hooks.silently(_started(hooks, f"frozen-{number}")) for number in range(3)]
        wake = hooks.silently(json.dumps(hooks.payload("SessionStart", source="compact")).encode())
    hooks.rest()

    extra = deadline_s()
    assert min(called.seconds for called in tool) < extra
    assert wake.seconds < WAKE_S + extra
    assert sorted(map(str, ids(hooks))) == ["before", "frozen-0", "frozen-1", "frozen-2"]
    assert len(hooks.of("session.started")) == 2
    assert hooks.gaps() == 0
    hooks.works()


@contextmanager
def frozen_now(disk: str) -> Iterator[None]:
    """Freeze, and thaw whatever happens: what waits for a frozen disk cannot even be killed."""
    thaw = ["fsfreeze", "--unfreeze", disk]
    subprocess.run(["fsfreeze", "--freeze", disk], check=True)
    guard = threading.Timer(PATIENCE_S / 2, lambda: subprocess.run(thaw, check=False))
    guard.start()
    try:
        yield
    finally:
        guard.cancel()
        subprocess.run(thaw, check=True)


def _started(hooks: Hooks, use: str) -> bytes:
    return json.dumps(hooks.payload("PreToolUse", **BASH, tool_use_id=use)).encode()


def test_a_full_disk_is_what_the_spool_is_for(hooks: Hooks, tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    in_mounts(full, tmp_path / "disk", hooks.launcher)


def full(disk: str, launcher: str) -> None:
    mount("-t", "tmpfs", "-o", "size=8m", "none", disk)
    hooks = session_in(disk, launcher)
    big = "many words " * 60
    fill(Path(disk, "filler"))
    calls = 0
    while not spool.is_used(str(hooks.folder)):  # first what room the journal's own files have
        hooks("PostToolUse", **BASH, tool_response={"stdout": big}, tool_use_id=f"call-{calls}")
        calls += 1
    for number in range(spool.SLOTS - 6):
        assert spool.keep(str(hooks.folder), "tool.kept", {"number": number})
    for number in range(8):
        hooks("PreToolUse", **BASH, tool_use_id=f"last-{number}")
    Path(disk, "filler").unlink()

    assert ids(hooks, ENDED) == ["before", *(f"call-{number}" for number in range(calls))]
    kept = [use for use in map(str, ids(hooks)) if use.startswith("last-")]
    assert kept == [f"last-{number}" for number in range(len(kept))]
    assert 1 <= len(kept) < 8
    assert len(kept) + hooks.gaps() == 8
    hooks.works()


def fill(path: Path) -> None:
    """Take every byte that is left."""
    with path.open("wb", buffering=0) as file:
        for size in (65536, 1):
            try:
                while file.write(b"x" * size):
                    pass
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise


def test_a_repository_that_its_modes_protect_is_told_of_by_marks(hooks: Hooks) -> None:
    hooks.through = unprivileged()
    set_modes(hooks.folder, file=0o400, folder=0o500)
    hooks("PreToolUse", **BASH, tool_use_id="lost")
    hooks("PostToolUse", **BASH, **OK, tool_use_id="lost")
    set_modes(hooks.folder, file=0o600, folder=0o700)

    assert hooks.gaps() == 2
    hooks.works()


def set_modes(top: Path, *, file: int, folder: int) -> None:
    top.chmod(0o700)
    for path in top.iterdir():
        path.chmod(folder if path.is_dir() else file)
    top.chmod(folder)


def test_a_read_only_repository_is_told_of_by_marks(hooks: Hooks) -> None:
    in_mounts(read_only, hooks.repo, hooks.launcher, broken_launcher(hooks))

    assert hooks.gaps() == 4
    hooks.works()


def broken_launcher(hooks: Hooks) -> Path:
    """A launcher that finds no program."""
    text = hooks.launcher.read_text("utf-8").replace("start.py", "gone.py")
    return put_launcher(hooks.launcher.with_name("broken"), text)


def temporary() -> Path:
    return Path(os.environ["TMPDIR"])


def read_only(repo: str, launcher: str, broken: str) -> None:
    hooks = Hooks(Path(repo), Path(launcher))
    read_only_now(repo)
    hooks("PreToolUse", **BASH, tool_use_id="one")
    assert len(lost_marks(state_home())) == 1
    read_only_now(str(state_home()))  # now the folder of marks too
    hooks("PostToolUse", **BASH, **OK, tool_use_id="one")
    hooks("SessionStart", source="compact")
    Hooks(Path(repo), Path(broken))("PreToolUse", **BASH, tool_use_id="two")
    assert len(list(temporary().glob("standfast-lost-*/*"))) == 3
    for folder in (repo, str(state_home())):
        mount("-o", "remount,bind,rw", folder)

    assert hooks.gaps() == 4
    assert ids(hooks) == ["before"]
    assert list(temporary().glob("standfast-lost-*/*")) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may make every folder read-only")
def test_where_nothing_can_be_written_a_hook_is_silent(hooks: Hooks) -> None:
    in_mounts(all_read_only, hooks.repo, hooks.launcher, broken_launcher(hooks))

    assert hooks.gaps() == 0
    hooks.works()


def all_read_only(repo: str, launcher: str, broken: str) -> None:
    for folder in {"/", "/tmp", tempfile.gettempdir(), str(temporary()), str(state_home()), repo}:
        read_only_now(folder)
    for each in (launcher, broken):
        hooks = Hooks(Path(repo), Path(each))
        assert hooks("PreToolUse", **BASH, tool_use_id="three").out == b""
        assert hooks("SessionStart", source="compact").out == b""


def read_only_now(folder: str) -> None:
    mount("--bind", folder, folder)
    mount("-o", "remount,bind,ro", folder)


# The payload is huge.


HUGE = "fifty million characters " * 2_000_000


@pytest.mark.prove
@pytest.mark.parametrize(
    ("event", "fields", "words"),
    [
        ("PostToolUse", {**BASH, "tool_response": {"stdout": HUGE, "stderr": ""}}, "make"),
        ("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": HUGE}}, "fifty million"),
        ("UserPromptSubmit", {"prompt": HUGE}, "fifty million"),
    ],
    ids=["output", "input", "prompt"],
)
def test_fifty_megabytes_are_a_few_hundred_bytes_in_the_journal(
    event: str, fields: dict[str, object], words: str, hooks: Hooks
) -> None:
    data = json.dumps(hooks.payload(event, **fields, tool_use_id="huge")).encode()
    before = sum(path.stat().st_size for path in hooks.folder.iterdir())

    called = hooks.silently(data)
    hooks.rest()

    grown = sum(path.stat().st_size for path in hooks.folder.iterdir()) - before
    assert grown < 64 * 1024
    assert called.seconds < deadline_s() + 1  # the client itself is busy writing most of the time
    newest = hooks.events()[-1]
    assert newest["session"] == SESSION
    payload = json.dumps(newest["payload"])
    assert words in payload
    assert len(payload) < 6_000
    if event != "UserPromptSubmit":
        assert '"id": "huge"' in payload
    hooks.works()


def test_what_a_huge_input_names_is_not_taken_for_the_clients_own_word(hooks: Hooks) -> None:
    given = {"agent_id": "evil", "session_id": "evil", "cwd": "/evil", "tool_use_id": "evil"}
    fields = {**BASH, "tool_name": "mcp__x", "tool_input": {**given, "text": "x " * 1_200_000}}

    hooks("PreToolUse", **fields, tool_use_id="real")

    newest = hooks.events()[-1]
    assert (newest["session"], newest["actor"]) == (SESSION, "claude")
    assert ids(hooks)[-1] == "real"


@pytest.mark.prove
def test_a_long_output_full_of_secrets_is_not_read_while_others_wait(hooks: Hooks) -> None:
    """Redacting two megabytes takes seconds; nobody may wait for that at the journal's door."""
    secret = planted(5)[0].text
    fields = {**BASH, "tool_response": {"stdout": f"export TOKEN={secret} and so on\n" * 9_000}}

    began = perf_counter()
    hooks("PostToolUse", **fields, tool_use_id="long")
    seconds = perf_counter() - began

    assert seconds < 2 * deadline_s()
    assert ids(hooks, ENDED)[-1] == "long"
    assert "characters cut" in str(hooks.of(ENDED)[-1]["out"])


# The payload is garbage.


WRONG: tuple[object, ...] = (
    *(None, 7, -1.5e300, True, [], ["x", 1, ["y"], {}], {}, {"a": {"b": None}}),
    *("", "x" * 10_000, "../../etc", "\x1b[31mred\x1b[0m", "a\0b", "\ud83d", "two\nlines"),
)
NAMES = {"session_id", "hook_event_name", "agent_id"}  # without these there is nothing to record
TOLD_ONLY_WITH_OTHERS = {"SubagentStart", "SubagentStop"}


def garbage() -> Iterator[tuple[str, bytes]]:
    real = json.dumps(PAYLOADS["PostToolUse:Bash"]).encode()
    yield "nothing", b""
    yield "no JSON", b"the quick brown fox"
    yield "an array", b"[1, 2]"
    yield "a number", b"42"
    yield "a string", b'"PreToolUse"'
    yield "null", b"null"
    yield "NUL bytes", real.replace(b"Bash", b"B\0sh")
    yield "only NUL bytes", bytes(1000)
    yield "no UTF-8", real.replace(b"echo", b"\xff\xfe\xc3")
    yield "half a character", real.replace(b"echo", b"\\ud83d")
    yield "half a character and no JSON", real.replace(b"echo", b"\\ud83d")[:-1]
    yield "too deep", b'{"a":' * 1_001 + b"1" + b"}" * 1_001
    yield "much too deep", b"[" * 200_000
    yield "huge numbers", real.replace(b'"duration_ms": 7', b'"duration_ms": ' + b"9" * 5_000)
    yield "no number", real.replace(b'"toolu_6342cfa537e5446390cd"', b"1e999")
    yield "no session", real.replace(b"session_id", b"session_xx")
    yield "no event", real.replace(b"hook_event_name", b"hook_event_nam_")
    for name in (b"../../etc", b"", b"-rf", b"a" * 65, b"\\u0000", b"con", b"a b"):
        yield f"session {name!r}", real.replace(str(session_of(real)).encode(), name)
    for end in range(1, len(real), 20):
        yield f"the first {end} bytes", real[:end]


def session_of(payload: bytes) -> object:
    return json.loads(payload)["session_id"]


def test_garbage_is_told_as_a_gap_or_recorded_and_the_next_call_works(hooks: Hooks) -> None:
    for what, data in garbage():
        before = len(hooks.events())
        called = hooks.silently(data)
        hooks.rest()
        assert called.out == b"", what
        after = hooks.events()
        assert len(after) == before + 1, what
        assert after[-1]["kind"] in {"gap", ENDED}, what
    assert lost_marks(state_home()) == []
    hooks.works()


def fields_of(payload: Mapping[str, object]) -> Iterator[tuple[str, ...]]:
    for name, value in payload.items():
        yield (name,)
        if isinstance(value, dict):
            yield from ((name, inner) for inner in value)
    yield ("agent_id",)


def with_wrong(
    payload: Mapping[str, object], path: tuple[str, ...], wrong: object
) -> dict[str, object]:
    changed: dict[str, object] = json.loads(json.dumps(payload))
    at = changed
    for name in path[:-1]:
        at = at[name]  # type: ignore[assignment]
    at[path[-1]] = wrong
    return changed


DIFFERENT = {
    name: payload
    for name, payload in PAYLOADS.items()
    if ":in-agent" not in name
    and "mcp" not in name
    and not name.startswith(("PreToolUse:Task", "PreToolUse:Tool", "PreToolUse:Send"))
    and payload["hook_event_name"] in RECIPES
}

PARTS = 6  # each is a process, and what it leaves is looked at once


@pytest.mark.sweep(6)
@pytest.mark.parametrize("part", range(PARTS))
def test_no_wrong_type_in_any_field_is_more_than_a_hook_can_take(
    part: int, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(repo))
    elsewhere(all_wrong, repo, *list(DIFFERENT)[part::PARTS])

    assert lost_marks(state_home()) == []
    done(call("-C", str(repo), "journal", "verify"))
    for command in ("status", "brief", "events"):
        fair(call("-C", str(repo), command))


def all_wrong(repo: str, *names: str) -> None:
    """Serve each wrong payload as the forked child would, but let what goes wrong be seen."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)  # a hook leaves its files to its end
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    journal = Journal(os.path.join(repo, ".git", "standfast"))
    journal.append("begin", {})
    places = [(name, path) for name in names for path in fields_of(DIFFERENT[name])]
    for (name, path), wrong in product(places, WRONG):
        before = told(journal)
        payload = with_wrong(DIFFERENT[name], path, wrong)
        served(json.dumps(payload).encode())
        event = str(payload["hook_event_name"])
        if event in RECIPES and event not in TOLD_ONLY_WITH_OTHERS:
            assert told(journal) > before, (name, path, wrong)
            assert path[0] in NAMES or not is_gap(journal), (name, path, wrong)
    assert not spool.is_used(journal.folder)


def told(journal: Journal) -> int:
    ((last,),) = journal.query("SELECT max(seq) FROM events")
    return int(last)


def is_gap(journal: Journal) -> bool:
    ((newest,),) = journal.query("SELECT kind FROM events ORDER BY seq DESC LIMIT 1")
    return str(newest) == "gap"


def served(data: bytes) -> None:
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.seek(0)
        os.dup2(file.fileno(), 0)
        hook_call.serve("1", os.environ, os.open(os.devnull, os.O_WRONLY))


# The client is strange: its folders, its pipes, its end.


def test_a_folder_that_is_gone_is_no_reason_to_lose_a_call(hooks: Hooks, tmp_path: Path) -> None:
    removed = ("sh", "-c", 'rmdir "$PWD"; exec "$@"', "sh")
    for number, cwd in enumerate(("/nowhere/at/all", "/etc/passwd", "a\0b", "", "relative", None)):
        (tmp_path / "cwd").mkdir()
        strange = Hooks(hooks.repo, hooks.launcher, through=removed, cwd=tmp_path / "cwd")
        payload = hooks.payload("PreToolUse", **BASH, tool_use_id=f"strange-{number}", cwd=cwd)
        assert strange.send(json.dumps(payload).encode()).status == 0  # sh itself complains
        strange.rest()

    assert ids(hooks)[1:] == [f"strange-{number}" for number in range(6)]
    hooks.works()


@pytest.mark.parametrize("project", [None, "", ".", "./", "nowhere/yet"])
def test_the_project_is_found_without_or_with_half_a_name(
    project: str | None, hooks: Hooks
) -> None:
    hooks.env["CLAUDE_PROJECT_DIR"] = project

    hooks("PreToolUse", **BASH, tool_use_id="here")

    assert ids(hooks) == ["before", "here"]


def test_a_project_that_does_not_exist_blocks_nobody(hooks: Hooks) -> None:
    for project in ("/nowhere/at/all", "/etc/passwd", "/" + "x" * 5_000, "/\n", "/\x1b[31m"):
        hooks.env["CLAUDE_PROJECT_DIR"] = project
        hooks("PreToolUse", **BASH, tool_use_id="elsewhere")
    hooks.env.clear()

    assert ids(hooks) == ["before"]
    hooks.works()


def test_a_project_with_blanks_and_line_ends_in_its_name_is_like_any_other(
    hooks: Hooks, tmp_path: Path
) -> None:
    odd = Hooks(tmp_path / "a b\nc\t'd' $(e)", hooks.launcher)
    shutil.copytree(hooks.repo, odd.repo)

    odd.bash("odd", "make")

    assert ids(odd, ENDED) == ["before", "odd"]
    assert ids(hooks, ENDED) == ["before"]


@pytest.mark.prove
@pytest.mark.parametrize("event", ["PreToolUse", "SessionStart"])
def test_a_client_that_writes_slowly_is_not_kept_waiting(event: str, hooks: Hooks) -> None:
    fields = {"source": "compact"} if event == "SessionStart" else {**BASH, "tool_use_id": "slow"}
    data = json.dumps(hooks.payload(event, **fields)).encode()
    began = perf_counter()
    with hooks.start() as process:
        assert process.stdin is not None
        process.stdin.write(data[:100])
        process.stdin.flush()
        assert process.wait(PATIENCE_S) == 0
        seconds = perf_counter() - began
        process.stdin.write(data[100:])
        process.stdin.close()
        hooks.rest()

    assert seconds < 2 * deadline_s()
    assert hooks.kinds().count(STARTED if event == "PreToolUse" else "session.started") == 2
    assert ("brief.missed" in hooks.kinds()) == (event == "SessionStart")
    hooks.works()


def test_a_hook_that_fails_when_its_parent_has_left_still_leaves_a_mark(
    hooks: Hooks, tmp_path: Path
) -> None:
    (tmp_path / "cwd").mkdir()
    removed = ("sh", "-c", 'rmdir "$PWD"; exec "$@"', "sh")
    nowhere: dict[str, str | None] = {"CLAUDE_PROJECT_DIR": "."}
    lost = Hooks(hooks.repo, hooks.launcher, nowhere, through=removed, cwd=tmp_path / "cwd")
    with lost.start() as process:
        assert process.wait(PATIENCE_S) == 0
        assert lost_marks(state_home()) == []
        assert process.stdin is not None
        process.stdin.write(_started(lost, "lost"))
        process.stdin.close()
        lost.rest()

    assert len(lost_marks(state_home())) == 1


def test_a_client_that_never_says_anything_leaves_a_gap_and_no_process(hooks: Hooks) -> None:
    with hooks.start() as process:
        assert process.wait(PATIENCE_S) == 0
        assert process.stdin is not None
        process.stdin.close()
        hooks.rest()

    assert hooks.gaps() == 1
    hooks.works()


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-", "<&- >&-"])
def test_closed_streams_are_no_reason_to_fail(closed: str, hooks: Hooks) -> None:
    hooks.through = ("sh", "-c", f'exec "$@" {closed}', "sh")
    called = hooks.send(_started(hooks, "closed"))
    hooks.rest()

    assert (called.status, called.out, called.err) == (0, b"", b"")
    assert lost_marks(state_home()) == []  # it is in the journal itself
    assert (ids(hooks) == ["before", "closed"]) == ("<" not in closed)
    assert hooks.gaps() == ("<" in closed)
    hooks.through = ()
    hooks.works()


def test_a_client_that_no_longer_reads_does_no_harm(hooks: Hooks) -> None:
    with hooks.start() as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.close()
        process.stdin.write(json.dumps(hooks.payload("SessionStart", source="compact")).encode())
        process.stdin.close()
        assert process.wait(PATIENCE_S) == 0
        assert process.stderr is not None
        assert process.stderr.read() == b""

    hooks.works()


@pytest.mark.prove
def test_kills_at_any_moment_leave_a_journal_that_verifies(hooks: Hooks) -> None:
    dice = random.Random(7)
    for number in range(40):
        with hooks.start() as process:
            assert process.stdin is not None
            process.stdin.write(_started(hooks, f"killed-{number}"))
            process.stdin.close()
            try:
                process.wait(dice.uniform(0, 0.08))
            except subprocess.TimeoutExpired:
                victims = [pid for pid in offspring(process.pid) if b"start.py" in command_of(pid)]
                if victims:
                    with suppress(ProcessLookupError):
                        os.kill(dice.choice(victims), signal.SIGKILL)
            process.wait(PATIENCE_S)
    hooks.rest()

    found = ids(hooks)
    assert len(found) == len(set(found))
    lost = {f"killed-{number}" for number in range(40)} - set(map(str, found))
    assert len(lost) <= hooks.gaps()
    hooks.works()


def offspring(pid: int) -> Iterator[int]:
    """Processes that a process began, and theirs; none where the kernel does not list them."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()
    except OSError:
        return
    for child in map(int, children):
        yield child
        yield from offspring(child)


def command_of(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


# A person says no, or somebody puts something in our place.


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_off_means_that_not_a_byte_is_written(hooks: Hooks) -> None:
    done(call("-C", str(hooks.repo), "off"))
    before = bytes_of(hooks.folder), bytes_of(state_home())

    hooks.bash("off", "make")
    hooks("SessionStart", source="compact")
    hooks.silently(b"garbage")
    hooks.rest()

    assert (bytes_of(hooks.folder), bytes_of(state_home())) == before
    done(call("-C", str(hooks.repo), "on"))
    assert ids(hooks) == ["before"]
    hooks.works()


@pytest.mark.sweep(4)
@pytest.mark.parametrize("kind", ["link", "link to nothing", "FIFO"])
@pytest.mark.parametrize("name", ["journal.db", "spool", "off", "writer.lock", "."])
def test_what_stands_in_our_place_is_neither_followed_nor_waited_for(
    kind: str, name: str, hooks: Hooks, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(hooks.folder, elsewhere)
    before = bytes_of(elsewhere)
    place, aside = hooks.folder / name, tmp_path / "aside"
    if place.exists():
        place.rename(aside)
    stand_in(kind, place, elsewhere / name)

    hooks("PreToolUse", **BASH, tool_use_id="strange")
    hooks("SessionStart", source="compact")

    assert bytes_of(elsewhere) == before
    assert not (elsewhere / "nothing").exists()
    put_back(place, aside)
    if name == "off":
        assert ids(hooks) == ["before"]
    else:
        assert ("strange" in ids(hooks)) != (hooks.gaps() > 0)
    hooks.works()


def stand_in(kind: str, place: Path, target: Path) -> None:
    if kind == "FIFO":
        os.mkfifo(place)
    else:
        place.symlink_to(target if kind == "link" else target.with_name("nothing"))


def put_back(place: Path, aside: Path) -> None:
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    else:
        place.unlink()
    if aside.exists():
        aside.rename(place)


def test_a_session_in_a_submodule_or_elsewhere_goes_by_its_project(
    hooks: Hooks, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    shutil.copytree(hooks.repo, other, ignore=shutil.ignore_patterns("standfast"))
    allowed = ["git", "-c", "protocol.file.allow=always", "-C", str(hooks.repo)]
    subprocess.run([*allowed, "submodule", "--quiet", "add", str(other), "part"], check=True)

    for number, cwd in enumerate((hooks.repo / "part", other, tmp_path)):
        inside = Hooks(hooks.repo, hooks.launcher, cwd=cwd)
        inside("PreToolUse", **BASH, tool_use_id=f"in-{number}", cwd=str(cwd))
    alone = Hooks(other, hooks.launcher, env={"CLAUDE_PROJECT_DIR": None})
    alone("PreToolUse", **BASH, tool_use_id="alone")

    assert ids(hooks) == ["before", "in-0", "in-1", "in-2"]
    assert ids(alone) == ["alone"]
    assert not (hooks.repo / ".git" / "modules" / "part" / "standfast").exists()


# Secrets.


KINDS = (
    *("github-personal", "anthropic", "openai-project", "aws-id", "slack-bot", "jwt", "pem"),
    *("postgres", "env", "bearer", "stripe-live", "header"),
)


def hiding(secret: Planted, number: int) -> Iterator[tuple[str, dict[str, object]]]:
    """Calls that bring one secret in, also where a field is cut, and where it is not read whole."""
    text = secret.text
    yield "UserPromptSubmit", {"prompt": f"use {text} for it"}
    yield "PreToolUse", {"tool_name": "Bash", "tool_input": {"command": f"echo '{text}'"}}
    yield "PreToolUse", {"tool_name": "Odd", "tool_input": {"odd": [text]}}
    yield "PostToolUseFailure", {**BASH, "error": f"Exit code 1\n{text}"}
    yield "Stop", {"last_assistant_message": text, "background_tasks": [{"id": text}]}
    todos = [{"content": f"{pad(150)} {text} {pad(900)}", "status": "pending"} for _ in range(12)]
    yield "PostToolUse", {"tool_name": "TodoWrite", "tool_input": {"todos": todos}}
    for before in (240, 262, 275, 290, 24_550, 16_380)[number % 3 :: 3]:
        out = {"stdout": f"{pad(before)} {text} {pad(70_000)}", "stderr": text}
        yield "PostToolUse", {**BASH, "tool_response": out}
        end = f"{pad(70_000)} {text} {pad(before)}"
        yield "PostToolUse", {**BASH, "tool_response": {"stdout": end}}
    yield "UserPromptSubmit", {"prompt": f"{pad(4_070)} {text} {pad(2_100_000)}"}


def pad(length: int) -> str:
    return "some words " * (length // 11) + " " * (length % 11)


def traces(secret: Planted) -> tuple[bytes, ...]:
    """The secret, and what a cut would leave of it at either end."""
    body = secret.secret
    return tuple(each.encode() for each in (body, body[:12], body[-12:]))


GARBLED = 2


@pytest.mark.req("SEC-04")
@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.sweep)])
def test_no_secret_is_left_of_what_hooks_are_given(repo: Path, world: Path, every: int) -> None:
    hooks = Hooks(repo, put_launcher(world / "hook"))
    hooks.begin()
    assert len(KINDS) == 12
    secrets = list({each.kind: each for each in planted(99) if each.kind in KINDS}.values())[
        ::every
    ]
    for number, secret in enumerate(secrets):
        with held(hooks.folder / "writer.lock") if number % 2 else nullcontext():
            for event, fields in hiding(secret, number):
                hooks(event, tool_use_id=f"use-{number}", **fields)
            if number < GARBLED:  # such a call waits for the lock for as long as it can
                hooks("PreToolUse", **BASH, session_id=secret.text, tool_use_id="x")
        if number >= GARBLED:
            hooks("PreToolUse", **BASH, session_id=secret.text, tool_use_id="x")
        assert left(hooks, world, secret) == []
        hooks.events()
    for secret in secrets:
        assert left(hooks, world, secret) == []
    hooks.works()


def left(hooks: Hooks, world: Path, secret: Planted) -> list[str]:
    files = [*hooks.folder.rglob("*"), *world.rglob("*")]
    return [
        f"{secret.kind} in {path.name}: {trace!r}"
        for path in files
        if path.is_file()
        for trace in traces(secret)
        if trace in path.read_bytes()
    ]
