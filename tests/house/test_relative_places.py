"""No path that depends on where a command is called leads to a program, to settings or to trust."""

import os
from pathlib import Path

import pytest

import attacks
from attacks import Answer
from standfast import xdg
from standfast.errors.base import BadConfig

pytestmark = pytest.mark.req("SEC-03", "SEC-06")


@pytest.fixture
def planted(repo: Path) -> Path:
    """A repository with a program, a home and settings that have a canary."""
    evil = repo / "evil"
    evil.write_text(f'#!/bin/sh\ntouch "{repo}/ran"\nexec git "$@"\n', encoding="utf-8")
    evil.chmod(0o755)
    settings = repo / ".config" / "standfast" / "config.yaml"
    settings.parent.mkdir(parents=True)
    settings.write_text(f"git: {evil}\n", encoding="utf-8")
    (repo / "standfast").mkdir()
    (repo / "standfast" / "config.yaml").write_text(f"git: {evil}\n", encoding="utf-8")
    return repo


COMMANDS = (("status",), ("note", "x"), ("ps",), ("resume",), ("plan", "check", "x"))


def calls(planted: Path, *before: str, **env: str | None) -> list[Answer]:
    found = [attacks.run(*before, *words, cwd=planted, env=env) for words in COMMANDS]
    assert not (planted / "ran").exists()
    return found


@pytest.mark.sweep(3)
@pytest.mark.parametrize("program", ["./evil", "../repo/evil", "x/../evil"])
def test_program_of_the_repository_is_not_taken_for_git(planted: Path, program: str) -> None:
    for told in (calls(planted, STANDFAST_GIT=program), calls(planted, "--set", f"git={program}")):
        for answer in told:
            attacks.refused(answer, BadConfig)


def test_user_may_have_git_anywhere_of_their_own(planted: Path) -> None:
    for program in ("git", "/usr/bin/git" if os.access("/usr/bin/git", os.X_OK) else "git"):
        attacks.done(attacks.run("status", cwd=planted, env={"STANDFAST_GIT": program}))


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", [*xdg.FOLDERS, *xdg.FILES])
@pytest.mark.parametrize("path", [".", "x", "../repo"])
def test_relative_home_is_refused_by_its_name(planted: Path, name: str, path: str) -> None:
    without: dict[str, str | None] = {"XDG_CONFIG_HOME": None, "XDG_STATE_HOME": None}
    for answer in calls(planted, **{**without, name: path}):
        attacks.refused(answer, BadConfig)
        assert name in answer.err
    assert not (planted / ".local").exists()


def test_hook_goes_on_with_the_home_that_the_system_knows(planted: Path) -> None:
    assert os.path.isabs(xdg.state_home({"HOME": "."}))
    assert xdg.temporaries({"TMPDIR": "."}) == ("/tmp",)
    assert xdg.home({"HOME": "/h"}) == "/h"


@pytest.mark.parametrize("words", [("--help",), ("--version",)])
def test_help_is_always_there(planted: Path, words: tuple[str, ...]) -> None:
    attacks.done(attacks.run(*words, cwd=planted, env={"HOME": "."}))
