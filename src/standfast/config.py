"""The one reader of settings: defaults < user file < project file < environment < flags.

A project file comes with a repository, so it is untrusted: it may say where a file goes
inside the repository and how long to wait, never which program to run or where to write
outside. Every key says so itself, in `KEYS`; the reference page is made from that table.
"""

from __future__ import annotations

import os
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from standfast import disk, ids, xdg
from standfast.errors.base import BadConfig, StandfastError, UnsafePath

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from standfast.runners.registry import Runner

USER_FILE = "standfast/config.yaml"
PROJECT_FILE = ".standfast.yaml"
ROLE = "HIVEMIND_ROLE"  # these two are the words of those whose files they are
_CONFIG_PATH = "CONFIG_PATH"
_SIZE_LIMIT = 64 * 1024
_LONGEST_WAIT_S = 3600
_MOST_DIGITS = 7


class Source(StrEnum):
    """Where a value was said; each overrules the ones before."""

    DEFAULT = "default"
    USER = "user file"
    PROJECT = "project file"
    ENVIRONMENT = "environment"
    FLAG = "flag"


class Config(NamedTuple):
    """Everything that can be set, and what the environment says of where we are."""

    state_home: str
    temporaries: tuple[str, ...]
    session: str | None
    sources: Mapping[str, Source]
    git: str = "git"
    lock_timeout_s: float = 10.0
    status_file: str | None = None
    checkpoints_file: str | None = None
    orchestration_file: str = "ORCHESTRATION.yaml"
    keep_days: int = 30
    keep_mb: int = 500
    stages: Mapping[str, object] | None = None
    context_window: int | None = None
    context_tiers: tuple[float, ...] = (0.55, 0.70, 0.80, 0.88)
    reinject_tokens: int = 850
    guard_resumption: bool = False
    notify: str | None = None
    architecture_doc: str = "docs/oosh-architecture.md"
    worktree_roots: tuple[str, ...] = ()
    runner: str = "claude"
    runners: Mapping[str, Runner] = {}
    role: str | None = None  # as the environment says it: nobody has checked it
    config_path: str | None = None  # where the states files are to be, if somebody said so
    config_home: str = ""


def _seconds(value: object) -> float:
    try:
        number = float(value) if isinstance(value, int | float | str) else -1.0
    except ValueError:
        number = -1.0
    if isinstance(value, bool) or not 0 <= number <= _LONGEST_WAIT_S:
        raise ValueError(f"is not a number of seconds from 0 to {_LONGEST_WAIT_S}")
    return number


def _whole(value: object) -> int:
    """A whole number, as YAML or a flag gives it."""
    text = str(value) if isinstance(value, int | str) and not isinstance(value, bool) else ""
    if not (text.isascii() and text.isdigit() and len(text) < _MOST_DIGITS):
        raise ValueError("is not a whole number from 0 on; 0 is for ever")
    return int(text)


def _window(value: object) -> int:
    return _between(value, 1_000, 100_000_000)


def _tokens(value: object) -> int:
    return _between(value, 0, 1_500)  # more than that no hook can hand over


def _between(value: object, least: int, most: int) -> int:
    text = str(value) if isinstance(value, int | str) and not isinstance(value, bool) else ""
    is_number = text.isascii() and text.isdigit() and len(text) <= len(str(most))
    if not is_number or not least <= int(text) <= most:
        raise ValueError(f"is not a number of tokens from {least:,} to {most:,}")
    return int(text)


def _shares(value: object) -> tuple[float, ...]:
    from standfast.protocols.resumption.rules.context_monitor import (
        check_thresholds,  # most commands ask for none
    )

    return check_thresholds(value)


def _switch(value: object) -> bool:
    said = str(value).lower() if isinstance(value, bool | str) else ""
    if said not in {"true", "false"}:
        raise ValueError("is neither true nor false")
    return said == "true"


def _program(value: object) -> str:
    if not isinstance(value, str) or not value or "\0" in value:
        raise ValueError("is not the name or path of a program")
    if "/" in value and not os.path.isabs(value):
        raise ValueError("is a path that depends on where we are: a repository may be there")
    return value


def _line(value: object) -> str:
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise ValueError("is not a line that a shell could run")
    return value


def _inside(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("is not a path inside the repository")  # noqa: TRY004  # one kind of refusal
    return ids.relative_path(value, what="the path")


def _folders(value: object) -> tuple[str, ...]:
    found = value if isinstance(value, list) else [value]
    whole = [each for each in found if isinstance(each, str) and os.path.isabs(each)]
    if len(whole) < len(found) or any("\0" in each for each in whole):
        raise ValueError("is not a list of folders, each with its whole path")
    return tuple(whole)


def _stages(value: object) -> object:
    from standfast.protocols.outputs.rules import stages  # most commands ask for none

    return stages.check(value)


def _runner(value: object) -> str:
    return ids.name(value if isinstance(value, str) else "", what="runner")


def _runners(value: object) -> object:
    from standfast.runners import runner_settings  # most commands ask for none

    return runner_settings.check(value)


class Key(NamedTuple):
    """One setting: how a value is checked, and whether a repository may bring it.

    A repository can also bring variables: a coding agent's settings in it set them.
    """

    name: str
    check: Callable[[object], object]
    project: bool
    says: str
    variable: bool = True


KEYS: tuple[Key, ...] = (
    Key(
        name="git",
        check=_program,
        project=False,
        says="The git that commands run; hooks take the one in `PATH`.",
    ),
    Key(
        name="lock_timeout_s",
        check=_seconds,
        project=True,
        says="How many seconds a command waits for another writer of the journal.",
    ),
    Key(
        name="status_file",
        check=_inside,
        project=True,
        says="A file in the work tree that is kept as a second face of the status.",
    ),
    Key(
        name="architecture_doc",
        check=_inside,
        project=True,
        says="The document that an agent with a role is told to read when it recovers.",
    ),
    Key(
        name="checkpoints_file",
        check=_inside,
        project=True,
        says="Where checkpoints are kept as a JSON array, from the first command on.",
    ),
    Key(
        name="orchestration_file",
        check=_inside,
        project=True,
        says="The file whose `resumption:` section is kept, unless a command names another.",
    ),
    Key(
        name="keep_days",
        check=_whole,
        project=False,
        says="How many days events are kept; decisions stay. 0 is for ever.",
        variable=False,
    ),
    Key(
        name="keep_mb",
        check=_whole,
        project=False,
        says="How many MB database and mirror may take together; the oldest go. 0 is no limit.",
        variable=False,
    ),
    Key(
        name="stages",
        check=_stages,
        project=True,
        says="Stages of your own, or other tiers: `NAME: {outputs: {ROLE: critical or soft}}`.",
        variable=False,
    ),
    Key(
        name="context_window",
        check=_window,
        project=False,
        says="How many tokens the model's context holds, where its name does not tell.",
    ),
    Key(
        name="context_tiers",
        check=_shares,
        project=True,
        says="Where LOW, WARNING, CRITICAL and EMERGENCY begin, as shares of the context.",
        variable=False,
    ),
    Key(
        name="reinject_tokens",
        check=_tokens,
        project=False,
        says="How many tokens of L2-REINJECT reminders go with each prompt; 0 is none.",
        variable=False,
    ),
    Key(
        name="guard_resumption",
        check=_switch,
        project=False,
        says="Whether tool calls are denied while a resumption section is CRITICAL.",
        variable=False,
    ),
    Key(
        name="runner",
        check=_runner,
        project=False,
        says="What runs an agent where a plan does not say it: the name of a runner.",
        variable=False,
    ),
    Key(
        name="runners",
        check=_runners,
        project=False,
        says="How agents are run: `NAME: {kind: …, command: […], resume: […], env: {…}, time: 90m}`"
        " (docs/how-to/choose-a-runner.md).",
        variable=False,
    ),
    Key(
        name="worktree_roots",
        check=_folders,
        project=False,
        says="Folders in which a lane may have its worktree, besides the main checkout.",
        variable=False,
    ),
    Key(
        name="notify",
        check=_line,
        project=False,
        says="A shell line that is called once when a run needs you, is parked or has finished.",
        variable=False,
    ),
)
_BY_NAME = {key.name: key for key in KEYS}


def load(root: str | None, environ: Mapping[str, str], *, flags: Sequence[str] = ()) -> Config:
    """The settings for a command in *root*; None leaves the project file out."""
    values: dict[str, object] = {}
    sources: dict[str, Source] = {}

    def take(found: Mapping[str, object], source: Source) -> None:
        values.update(found)
        sources.update(dict.fromkeys(found, source))

    take(
        _from_file(xdg.base(environ, "XDG_CONFIG_HOME", ".config"), USER_FILE, Source.USER),
        Source.USER,
    )
    if root is not None:
        take(_from_file(root, PROJECT_FILE, Source.PROJECT), Source.PROJECT)
    take(_from_environment(environ), Source.ENVIRONMENT)
    take(_from_flags(flags), Source.FLAG)
    config = without_files(environ)._replace(session=_session(environ), sources=sources)
    return config._replace(**values)  # type: ignore[arg-type]  # each value went through its check


def load_if_readable(root: str, environ: Mapping[str, str]) -> Config:
    """The same for hooks: a file that cannot be read is told by commands, not by them."""
    try:
        return load(root, environ)
    except StandfastError:
        return without_files(environ)


def without_files(environ: Mapping[str, str]) -> Config:
    """The defaults, where the environment says we are: for who must not fail."""
    return Config(
        state_home=xdg.state_home(environ),
        temporaries=xdg.temporaries(environ),
        session=None,
        sources={},
        role=environ.get(ROLE) or None,
        config_path=_absolute(environ.get(_CONFIG_PATH)),
        config_home=os.path.join(xdg.base(environ, "XDG_CONFIG_HOME", ".config"), "standfast"),
    )


def refuse_relative_homes(environ: Mapping[str, str]) -> None:
    """For commands: a repository would bring the user's settings, trust and keys. Hooks go on."""
    for name in xdg.relative(environ):
        raise BadConfig(
            "a relative path would be a folder of whatever repository we are in",
            file=name,
            remedy=f"Set {name} to a whole path, from `/` on, or unset it.",
        )


def refuse_relative_config_path(environ: Mapping[str, str]) -> None:
    """For the commands that use it; hooks and others, which must not fail, take it for unset."""
    given = environ.get(_CONFIG_PATH)
    if given and not os.path.isabs(given):
        raise BadConfig(
            "a relative path would be another folder for each directory",
            file=_CONFIG_PATH,
            remedy="Set CONFIG_PATH to the whole path of a folder, from `/` on, or unset it.",
        )


def _from_file(folder: str, name: str, source: Source) -> dict[str, object]:
    path = os.path.join(folder, name)
    try:
        data = _read(folder, name, source)
    except FileNotFoundError:
        return {}
    except UnsafePath as error:
        raise BadConfig(f"the {source}: {error.problem}", file=path) from error
    from standfast.formats.yaml_text import read_yaml  # most people have no such file

    document = read_yaml(data, name=path)
    if document.value is None:
        return {}
    if not isinstance(document.value, dict):
        raise BadConfig("the settings are not a mapping of keys to values", file=path, line=1)
    return {
        name: _checked(name, value, source, file=path, line_of=document.line_of)
        for name, value in document.value.items()
    }


def _read(folder: str, name: str, source: Source) -> bytes:
    """A person may keep their own file behind links; a repository may not lead us anywhere."""
    if source is Source.PROJECT:
        return disk.read_beneath(folder, name, limit=_SIZE_LIMIT)
    return disk.read_regular(os.path.realpath(os.path.join(folder, name)), limit=_SIZE_LIMIT)


def _checked(
    name: str,
    value: object,
    source: Source,
    *,
    file: str | None = None,
    line_of: Callable[[tuple[str | int, ...]], int | None] = lambda _: None,
) -> object:
    key, line = _BY_NAME.get(name), line_of((name,))
    if key is None:
        raise BadConfig(f"there is no setting `{name}`", file=file, line=line)
    if source is Source.PROJECT and not key.project:
        raise BadConfig(
            f"`{name}` may not be set by a repository: it decides what runs on this machine,"
            " what is kept of its history, or what its agents may do",
            file=file,
            line=line,
            remedy="Set it in your own configuration if you want it, and ask who put it here.",
        )
    try:
        return key.check(value)
    except (ValueError, StandfastError) as error:
        below = getattr(error, "path", ())  # a check that looks into its value says where
        raise BadConfig(f"`{name}` {error}", file=file, line=line_of((name, *below))) from error


def _from_environment(environ: Mapping[str, str]) -> dict[str, object]:
    return {
        key.name: _checked(key.name, environ[variable], Source.ENVIRONMENT, file=variable)
        for key in KEYS
        if key.variable and (variable := f"STANDFAST_{key.name.upper()}") in environ
    }


def _from_flags(flags: Sequence[str]) -> dict[str, object]:
    found: dict[str, object] = {}
    for flag in flags:
        name, equals, value = flag.partition("=")
        if not equals:
            raise BadConfig("a setting is given as --set KEY=VALUE")
        found[name] = _checked(name, value, Source.FLAG)
    return found


def _absolute(path: str | None) -> str | None:
    """As for the XDG folders: a relative path there is void."""
    return path if path and os.path.isabs(path) else None


def _session(environ: Mapping[str, str]) -> str | None:
    found = environ.get("STANDFAST_SESSION") or environ.get("CLAUDE_CODE_SESSION_ID")
    return ids.name(found, what="session") if found else None
