"""Runners are the user's own: checked word by word, found by name, and here before a run begins."""

from pathlib import Path

import pytest

from standfast import config
from standfast.errors.base import BadConfig
from standfast.errors.lanes import RunnerMissing, UnknownRunner
from standfast.runners import runner_settings
from standfast.runners.registry import KNOWN, Runner
from standfast.runs import runner_choice

EVERYTHING = """
runner: mine
runners:
  claude:
    command: [claude, --permission-mode, acceptEdits, --max-turns, 50]
    env: {ANTHROPIC_MODEL: opus, RETRIES: 3}
    time: 90m
  careful:
    kind: codex
  mine:
    command: [/opt/agent, "--file={prompt}"]
    resume: [/opt/agent, --again, "{session}"]
    time: 45
"""


def loaded(folder: Path, text: str, **environ: str) -> config.Config:
    file = folder / ".config" / "standfast" / "config.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return config.load(str(folder), {"HOME": str(folder), **environ})


@pytest.mark.req("RUN-02")
def test_a_user_configures_runners_by_name(tmp_path: Path) -> None:
    found = loaded(tmp_path, EVERYTHING)

    assert found.runners == {
        "claude": Runner(
            "claude",
            "claude",
            ("claude", "--permission-mode", "acceptEdits", "--max-turns", "50"),
            env={"ANTHROPIC_MODEL": "opus", "RETRIES": "3"},
            time_s=5400.0,
        ),
        "careful": Runner("careful", "codex", ("codex", "exec")),
        "mine": Runner(
            "mine",
            "shell",
            ("/opt/agent", "--file={prompt}"),
            ("/opt/agent", "--again", "{session}"),
            time_s=45.0,
        ),
    }
    assert runner_choice.resolve("", found).name == "mine"
    assert runner_choice.resolve("claude", found).time_s == 5400
    assert runner_choice.resolve("gemini", found) == KNOWN["gemini"]


@pytest.mark.req("RUN-02")
def test_who_configures_nothing_has_claude() -> None:
    bare = config.without_files({"HOME": "/nowhere"})

    assert runner_choice.resolve("", bare) == KNOWN["claude"]


@pytest.mark.req("RUN-02")
def test_an_unknown_runner_is_refused_with_the_names_of_the_known(tmp_path: Path) -> None:
    found = loaded(tmp_path, EVERYTHING)

    with pytest.raises(UnknownRunner, match="no runner `aider`") as caught:
        runner_choice.resolve("aider", found)

    assert "careful, claude, codex, gemini, mine, opencode, shell" in caught.value.problem
    assert caught.value.code == "SF521"


@pytest.mark.req("RUN-10")
@pytest.mark.parametrize("key", ["runner: codex", "runners: {claude: {command: [./evil]}}"])
def test_a_repository_names_no_runner(key: str, tmp_path: Path) -> None:
    (tmp_path / ".standfast.yaml").write_text(f"{key}\n", encoding="utf-8")

    with pytest.raises(BadConfig, match="may not be set by a repository"):
        config.load(str(tmp_path), {"HOME": str(tmp_path)})


def test_a_variable_names_no_runner(tmp_path: Path) -> None:
    evil = {"STANDFAST_RUNNER": "evil", "STANDFAST_RUNNERS": "evil"}

    assert loaded(tmp_path, "", **evil).runner == "claude"
    assert loaded(tmp_path, "", **evil).runners == {}


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("[claude]", "not a mapping"),
        ("{claude: claude}", "`claude`: kind, command, resume, env, time are given as a mapping"),
        ("{claude: {comand: [x]}}", "`claude`: `comand` is none of"),
        ("{claude: {command: claude --yes}}", "`command` is a list of 1 to 200 words"),
        ("{claude: {command: []}}", "`command` is a list of 1 to 200 words"),
        ("{claude: {command: [claude, [x]]}}", "holds what is no word"),
        ("{claude: {command: [claude, yes, true]}}", "holds what is no word: True"),
        ("{claude: {command: ['']}}", "begins with no program"),
        ("{mine: {kind: cursor, command: [x]}}", "`kind` is one of claude, codex"),
        ("{mine: {time: 5m}}", "`mine`: a `command` is needed"),
        ("{mine: {command: [x], resume: [x]}}", "says nowhere `{session}`"),
        ("{claude: {env: [A=b]}}", "`env` is a mapping"),
        ("{claude: {env: {A B: c}}}", "`A B` is no variable"),
        ("{claude: {env: {A: true}}}", "`A` is no text; put it into quotes"),
        ("{claude: {time: soon}}", "`time` is said as 45s, 90m or 2h"),
        ("{claude: {time: 0}}", "`time` is said as"),
        ("{claude: {time: 200h}}", "at most 168h"),
        ("{'a b': {command: [x]}}", "runner"),
    ],
)
@pytest.mark.req("RUN-02")
def test_what_is_wrong_with_a_runner_is_said(said: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(BadConfig) as caught:
        loaded(tmp_path, f"\nrunners: {said}\n")

    assert why in caught.value.problem
    assert caught.value.line == 2


def test_one_runner_of_each_known_name_reads_as_it_is() -> None:
    assert runner_settings.check({name: {} for name in KNOWN}) == dict(KNOWN)


@pytest.mark.req("RUN-02")
def test_a_program_that_is_not_installed_is_told_before_anything_begins(tmp_path: Path) -> None:
    program = tmp_path / "claude"
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    claude, path = KNOWN["claude"], str(tmp_path)

    with pytest.raises(RunnerMissing, match="`claude`, which the runner `claude` needs") as caught:
        runner_choice.installed(claude, path)  # nobody may run it yet
    program.chmod(0o755)

    assert caught.value.code == "SF522"
    assert runner_choice.installed(claude, path) == str(program)
    assert runner_choice.installed(claude._replace(env={"PATH": path}), "/nowhere") == str(program)
    for gone in (claude, claude._replace(command=("/nowhere/claude",))):
        with pytest.raises(RunnerMissing):
            runner_choice.installed(gone, "/nowhere")
