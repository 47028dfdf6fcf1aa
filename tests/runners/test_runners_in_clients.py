"""The real clients do a task in a worktree, are killed, go on, and are held up by limits.

Each is started as a runner starts it; the model is played. What it prints is read by the same
functions that read it at night.
"""

import os
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from harness.rig import homes, wire, wire_chat, wire_gemini, wire_responses
from harness.rig.clients import PINNED, NpmMissing, install
from harness.rig.dialect import Dialect
from harness.rig.model import Model
from harness.rig.place import Place, make_place
from harness.rig.printing import Printing
from harness.rig.script import Reply, Rule
from standfast.runners import permissions, registry
from standfast.runners.registry import KNOWN, Call, Report, Runner

SESSION = "5f0c0000-1111-4222-8333-444455556666"
NOBODY = "http://127.0.0.1:9"
TASK, GO_ON = "Write made.txt, as the plan says.", "You were cut off. Look at what is done first."


class Kind(NamedTuple):
    """What differs between the clients."""

    dialect: Dialect
    home: Callable[[Place, str, Mapping[str, str]], dict[str, str]]
    flags: tuple[str, ...]  # as a user would configure it
    edit: Callable[[str], tuple[str, Mapping[str, Any]]]
    edited: str  # what its tool says then
    extra: Mapping[str, str] = {}


def _claude(place: Place, url: str, extra: Mapping[str, str]) -> dict[str, str]:
    return place.environment(url, extra)


CLIENTS = {
    "claude": Kind(
        wire,
        _claude,
        ("--permission-mode", "acceptEdits"),
        lambda path: ("Write", {"file_path": path, "content": "made\n"}),
        "created successfully",
        {"CLAUDE_CODE_MAX_RETRIES": "1"},
    ),
    "codex": Kind(
        wire_responses,
        homes.codex,
        ("exec", "--sandbox", "workspace-write"),
        lambda _: ("exec_command", {"cmd": "echo made > made.txt; echo all went well"}),
        "all went well",
    ),
    "gemini": Kind(
        wire_gemini,
        homes.gemini,
        ("--approval-mode", "auto_edit"),
        lambda path: ("write_file", {"file_path": path, "content": "made\n"}),
        "wrote to new file",
        {"GEMINI_CLI_NO_RELAUNCH": "true"},
    ),
    "opencode": Kind(
        wire_chat,
        homes.opencode,
        ("run",),
        lambda path: ("write", {"filePath": path, "content": "made\n"}),
        "Wrote file",
    ),
}
RECORDS = {
    "claude": ".claude/projects/*/*.jsonl",
    "codex": ".codex/sessions/**/*.jsonl",
    "gemini": ".gemini/tmp/*/chats/*",
    "opencode": ".local/share/opencode/opencode.db*",
}
LATE = {"gemini", "opencode"}  # they wait long before they ask again
EACH = pytest.mark.parametrize(
    "name",
    [pytest.param(each, marks=pytest.mark.sweep if each in LATE else ()) for each in CLIENTS],
)


class World:
    """One client in a place of its own, which works in a worktree."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.kind = CLIENTS[name]
        self.program = program_of(name)
        self.place = make_place(str(folder / "place"))
        self.worktree = f"{self.place.folder}/lane"
        git = [
            "git",
            "-C",
            self.place.project,
            "worktree",
            "add",
            "-q",
            "-b",
            "lane",
            self.worktree,
        ]
        subprocess.run(git, check=True)
        self.made = Path(self.worktree, "made.txt")
        self.calls = 0

    def begin(self, url: str, prompt: str, call: Call, *flags: str, **extra: str) -> Printing:
        """Start it as a runner does."""
        self.calls += 1
        file = Path(self.place.folder, f"prompt{self.calls}")
        file.write_text(prompt, encoding="utf-8")
        command = (self.program, *(flags or self.kind.flags))
        runner = Runner(self.name, self.name, command)
        own = {"TMPDIR": self.place.folder, **self.kind.extra, **extra}
        env = self.kind.home(self.place, url, own)
        argv = registry.argv(runner, call._replace(prompt=str(file)))
        return Printing(argv, cwd=self.worktree, env=env, prompt=str(file))

    def read(self, printing: Printing) -> Report:
        return registry.read(self.name, *printing.said, datetime.now().astimezone())

    def has_written(self, words: str) -> bool:
        """Whether its own record of the session, which it would go on from, holds *words*."""
        records = Path(self.place.home).glob(RECORDS[self.name])
        return any(words.encode() in record.read_bytes() for record in records)

    def edits(self) -> Rule:
        return Rule(reply=Reply(calls=(self.kind.edit(str(self.made)),)), when=TASK)


def program_of(name: str) -> str:
    try:
        return install(PINNED[name], client=name)
    except NpmMissing as missing:
        pytest.skip(str(missing))


@pytest.fixture
def world(name: str, tmp_path: Path) -> Iterator[World]:
    made = World(name, tmp_path)
    yield made
    made.place.end_leftovers()


@EACH
@pytest.mark.req("RUN-02")
@pytest.mark.req("RUN-10")
def test_an_agent_that_was_killed_goes_on_with_its_session(world: World) -> None:
    held = Rule(reply=Reply(text="never said", hold=True), when=world.kind.edited)
    with (
        Model([world.edits(), held], world.kind.dialect) as model,
        world.begin(model.url, TASK, Call("", SESSION)) as first,
    ):
        model.wait_for(lambda request: world.kind.edited in request.last_user)
        first.wait_until(lambda: world.has_written(world.kind.edited))  # it asks first, then writes
        first.kill()
    cut_off = world.read(first)

    assert world.made.read_text(encoding="utf-8") == "made\n"
    assert cut_off.session
    assert (cut_off.limit, cut_off.error) == ("", "")

    ends = Rule(reply=Reply(text="It was done already.", tokens=2000), when=GO_ON)
    with (
        Model([ends], world.kind.dialect) as model,
        world.begin(model.url, GO_ON, Call("", cut_off.session, is_resumed=True)) as second,
    ):
        status = second.wait()
        shown = model.wait_for(lambda request: GO_ON in request.last_user).text
    report = world.read(second)

    assert (status, model.script.unscripted) == (0, [])
    assert TASK in shown
    assert (report.session, report.last) == (cut_off.session, "It was done already.")
    assert (report.limit, report.error) == ("", "")
    assert report.tokens_in == (
        3000 if world.name == "codex" else 2000
    )  # which counts from the start
    assert report.tokens_out >= 10
    assert (float(report.cost_usd or 0) > 0) == (world.name in ("claude", "opencode"))


@pytest.mark.parametrize("name", ["claude", "codex", "gemini"])
@pytest.mark.req("RUN-07")
def test_a_session_of_which_nothing_was_written_is_gone(world: World) -> None:
    ends = Rule(reply=Reply(text="Nothing to do."), when=TASK)
    with (
        Model([ends], world.kind.dialect) as model,
        world.begin(model.url, TASK, Call("", SESSION)) as first,
    ):
        assert first.wait() == 0
    (record,) = Path(world.place.home).glob(RECORDS[world.name])
    record.write_bytes(b"")

    begun = world.read(first).session
    with (
        Model([], world.kind.dialect) as model,
        world.begin(model.url, GO_ON, Call("", begun, is_resumed=True)) as second,
    ):
        assert second.wait() != 0
    assert world.read(second).is_gone
    assert model.script.unscripted == []


@pytest.mark.parametrize("name", ["claude", "codex", "gemini"])
@pytest.mark.req("RUN-06")
def test_a_usage_limit_is_recognised_with_the_time_it_ends(world: World) -> None:
    ends_s = int(time.time()) + 7200
    limit = Rule(
        reply=Reply(status=429, text="The limit is reached.", resets_s=ends_s), always=True
    )
    # Only a subscription is told of such limits, and Claude Code asks what it is.
    as_subscriber = {"ANTHROPIC_API_KEY": "", "CLAUDE_CODE_OAUTH_TOKEN": "rig-token"}
    with (
        Model([limit], world.kind.dialect) as model,
        world.begin(model.url, TASK, Call("", SESSION), **as_subscriber) as printing,
    ):
        status = printing.wait()
    report = world.read(printing)

    assert status != 0
    assert report.limit
    assert report.error == ""
    assert 0 <= report.limit_until_s - ends_s <= 62  # Codex tells the minute


@pytest.mark.parametrize("name", ["claude", "codex", "gemini"])
@pytest.mark.req("RUN-06")
def test_no_network_is_an_error_and_no_limit(world: World) -> None:
    with world.begin(NOBODY, TASK, Call("", SESSION)) as printing:
        printing.wait_until(lambda: bool(world.read(printing).error))
        printing.kill()  # Codex and Gemini CLI would wait on
    report = world.read(printing)

    assert report.error
    assert (report.limit, report.limit_until_s) == ("", 0)


@pytest.mark.sweep
@pytest.mark.parametrize("name", ["opencode"])
@pytest.mark.req("RUN-06")
def test_opencode_which_waits_by_itself_tells_what_for(world: World) -> None:
    limit = Rule(reply=Reply(status=429, text="You reached the usage limit."), always=True)
    with Model([limit], world.kind.dialect) as model:
        printing = world.begin(model.url, TASK, Call("", SESSION))
        with printing:
            printing.wait_until(lambda: bool(world.read(printing).limit))
            limited = world.read(printing)
            model.close()
            printing.wait_until(lambda: bool(world.read(printing).error))
            printing.kill()
        alone = world.read(printing)

    assert limited.session == alone.session != ""
    assert (limited.error, alone.limit) == ("", "")


@pytest.mark.parametrize("name", ["claude", "codex"])
@pytest.mark.req("RUN-10")
def test_an_agent_that_is_said_to_be_unable_to_edit_is(world: World) -> None:
    flags = KNOWN[world.name].command[1:] or ("--verbose",)
    found = permissions.judge(Runner(world.name, world.name, (world.name, *flags)), [])
    ends = Rule(reply=Reply(text="I could not."))
    with (
        Model([world.edits(), ends], world.kind.dialect) as model,
        world.begin(model.url, TASK, Call("", SESSION), *flags) as printing,
    ):
        status = printing.wait()

    assert found is not None
    assert found.is_sure
    assert (status, world.read(printing).last) == (0, "I could not.")
    assert os.listdir(world.worktree) == [".git"]
