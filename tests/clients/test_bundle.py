"""The bundle makes hooks quicker and never wrong: a module that changed is not taken from it."""

import json
import marshal
import os
import shutil
import subprocess
import sys
from importlib.util import MAGIC_NUMBER
from pathlib import Path

import apsw
import pytest

import standfast
from resumption_world import FILE, HOUR_US, begun
from standfast.clients.hooks import bundle
from standfast.journal.store import Journal
from standfast.protocols.outputs.rules import whole_output

LIBRARIES = Path(apsw.__file__).parents[1]


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package that may be changed."""
    copy = tmp_path / "package" / "standfast"
    shutil.copytree(Path(standfast.__file__).parent, copy)
    return copy


def make(package: Path) -> Path:
    """The bundle of a copy, made by the copy itself."""
    code = (
        "import sys; from standfast.clients.hooks import bundle;"
        "sys.stdout.buffer.write(bundle.make())"
    )
    env = {**os.environ, "PYTHONPATH": str(package.parent)}
    made = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, check=True)
    path = package.parent / bundle.FILE
    path.write_bytes(made.stdout)
    return path


def call(package: Path, repo: Path, event: str, **fields: object) -> int:
    """One hook call with what the package has; its status."""
    start, modules = package / "clients" / "start.py", package.parent / bundle.FILE
    done = run(repo, [start, LIBRARIES, "1", modules], event, fields)
    return done.returncode


def run(
    repo: Path, arguments: list[str | Path], event: str, fields: dict[str, object]
) -> subprocess.CompletedProcess[str]:
    payload = {"session_id": "s1", "cwd": str(repo), "hook_event_name": event, **fields}
    alive, held = os.pipe()  # a hook may go on after it has answered
    done = subprocess.run(
        [sys.executable, "-I", "-S", *arguments],
        input=json.dumps(payload),
        env={**os.environ, "CLAUDE_PROJECT_DIR": str(repo)},
        capture_output=True,
        encoding="utf-8",
        check=False,
        pass_fds=[held],
    )
    os.close(held)
    os.read(alive, 1)  # the end of the last process that holds the other end
    os.close(alive)
    return done


SERVE = """
import marshal, os, sys
start, libraries, bundle = sys.argv[1:]
sys.path[:0] = [start.removesuffix("/standfast/clients/start.py"), libraries]
with open(bundle, "rb") as file:
    finder, modules = marshal.loads(file.read()[4:])
exec(finder, {"MODULES": modules, "__name__": "bundled"})
from standfast.clients.hooks import deadline
deadline._load()
from standfast.clients.hooks import hook_call
hook_call.serve("1", os.environ, os.open(os.devnull, os.O_WRONLY), b"")
"""


def files_read(package: Path, repo: Path, event: str, **fields: object) -> list[str]:
    """What a call reads of the package when nothing is hidden in a child."""
    start, modules = package / "clients" / "start.py", package.parent / bundle.FILE
    done = run(repo, ["-v", "-c", SERVE, start, LIBRARIES, modules], event, fields)
    return [
        line
        for line in done.stderr.splitlines()
        if line.startswith(("# code object from", "# /")) and f"{package}{os.sep}" in line
    ]


def recorded(repo: Path) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-m", "standfast", "-C", repo, "events", "--json", "-n", "0"],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    return [json.loads(line)["kind"] for line in done.stdout.splitlines()]


DELEGATED = {
    "tool_name": "Agent",
    "tool_use_id": "t0",
    "tool_input": {"prompt": whole_output.paragraph("nowhere/findings.md")},
}
STOPPED = {"agent_id": "a1", "agent_type": "Explore"}
STARTED = {"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "make"}}


@pytest.mark.req("PERF-01")
def test_hook_reads_no_file_of_the_package_but_where_it_starts(package: Path, repo: Path) -> None:
    make(package)
    call(package, repo, "SessionStart", source="startup")

    assert files_read(package, repo, "UserPromptSubmit", prompt="make it work") == []
    assert files_read(package, repo, "PreToolUse", **STARTED) == []
    assert recorded(repo)[-2:] == ["prompt", "tool.started"]
    assert files_read(package, repo, "PreToolUse", **DELEGATED) == []
    call(package, repo, "SubagentStart", **STOPPED)
    assert files_read(package, repo, "SubagentStop", **STOPPED) == []
    assert recorded(repo)[-3:] == ["agent.started", "output.checked", "output.held"]
    os.utime(package / "disk.py")
    assert len(files_read(package, repo, "PreToolUse", **STARTED)) == 1


HEAVY = ("__future__", "collections", "functools", "json", "pathlib", "re", "typing")
LOADED = (
    SERVE
    + f"""
print(*sorted(set(sys.modules) & set({HEAVY})), file=sys.__stdout__)
import collections.abc
assert collections.OrderedDict and collections.abc.Mapping
"""
)


@pytest.mark.req("PERF-01")
def test_hook_loads_nothing_that_it_cannot_afford(package: Path, repo: Path) -> None:
    start, modules = package / "clients" / "start.py", make(package)
    call(package, repo, "SessionStart", source="startup")
    begun = run(repo, ["-c", LOADED, start, LIBRARIES, modules], "PreToolUse", dict(STARTED))
    ended = run(repo, ["-c", LOADED, start, LIBRARIES, modules], "PostToolUse", dict(STARTED))

    assert (begun.stdout, begun.stderr) == (ended.stdout, ended.stderr) == ("\n", "")


@pytest.mark.req("PERF-01", "RES-20")
def test_hook_that_a_document_concerns_reads_and_loads_no_more(package: Path, repo: Path) -> None:
    start, modules = package / "clients" / "start.py", make(package)
    begun(Journal(str(repo / ".git" / "standfast")), repo, ago=HOUR_US)
    call(package, repo, "SessionStart", source="startup")
    (repo / "CLAUDE.md").write_text('<!-- L2-REINJECT: rank=1, content="so" -->\n', "utf-8")
    asked = {"prompt": "make it work"}
    write = {"tool_name": "Write", "tool_use_id": "t2",
             "tool_input": {"file_path": str(repo / FILE)}}  # fmt: skip

    for event, fields in (
        ("UserPromptSubmit", asked),
        ("PreToolUse", STARTED),
        ("PreToolUse", write),
    ):
        assert files_read(package, repo, event, **fields) == []
        loaded = run(repo, ["-c", LOADED, start, LIBRARIES, modules], event, dict(fields))
        assert (loaded.stdout, loaded.stderr) == ("\n", "")


def test_every_module_of_the_bundle_is_there_for_a_reason() -> None:
    missing = [name for name in bundle.MODULES if not is_module(name)]

    assert missing == []
    assert len(set(bundle.MODULES)) == len(bundle.MODULES)


def is_module(name: str) -> bool:
    return (Path(standfast.__file__).parent / f"{name.replace('.', '/')}.py").is_file()


@pytest.mark.req("PLAT-01")
def test_module_that_changed_is_taken_from_its_file(package: Path, repo: Path) -> None:
    make(package)
    changed = package / "clients" / "claude" / "recipes.py"
    text = changed.read_text(encoding="utf-8")
    changed.write_text(text.replace('"tool.started"', '"tool.begun"'), encoding="utf-8")

    call(package, repo, "PreToolUse", **STARTED)

    assert recorded(repo) == ["tool.begun"]


@pytest.mark.sweep(3)
@pytest.mark.req("PLAT-01")
@pytest.mark.parametrize(
    "harm", ["gone", "empty", "of another Python", "of other homes", "cut", "a folder"]
)
def test_bundle_that_is_no_good_is_done_without(package: Path, repo: Path, harm: str) -> None:
    path = make(package)
    data = path.read_bytes()
    path.unlink()
    if harm == "a folder":
        path.mkdir()
    elif harm != "gone":
        before_the_move = marshal.dumps(
            (compile("raise SystemExit(2)", "finder", "exec"), {"standfast.clients.hook": ()})
        )
        harmed = {
            "empty": b"",
            "of another Python": b"\0\0\r\n" + data[4:],
            "of other homes": MAGIC_NUMBER + before_the_move,
            "cut": data[:5000],
        }
        path.write_bytes(harmed[harm])

    call(package, repo, "PreToolUse", **STARTED)

    assert recorded(repo) == ["tool.started"]


@pytest.mark.req("PLAT-01")
def test_package_that_is_gone_is_not_played_from_the_bundle(package: Path, repo: Path) -> None:
    make(package)
    before = call(package, repo, "PreToolUse", **STARTED)
    shutil.rmtree(package / "journal")

    after = call(package, repo, "PreToolUse", **STARTED)

    assert before == 0
    assert after != 0  # of which the launcher makes a mark
    assert recorded(repo) == ["tool.started"]
