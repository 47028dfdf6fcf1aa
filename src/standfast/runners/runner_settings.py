"""Runners as a person configures them, checked; and the one that a plan means by a name. Pure.

`NAME: {kind, command, resume, env, time}`. The name of a client changes how that client is run;
any other name is a command of the user's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast import ids
from standfast.errors.lanes import UnknownRunner
from standfast.formats import durations
from standfast.formats.value_places import Faulty, within
from standfast.runners.registry import KINDS, KNOWN, SHELL, Runner
from standfast.text import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

KEYS = ("kind", "command", "resume", "env", "time")
MOST_RUNNERS = 100
MOST_WORDS = 200
LONGEST_WORD = 8 * 1024


def check(said: object) -> dict[str, Runner]:
    """Every runner that *said* has, by name; a ValueError says which is wrong, and how."""
    if not isinstance(said, dict) or len(said) > MOST_RUNNERS:
        raise ValueError(f"is not a mapping of at most {MOST_RUNNERS} names to runners")
    found = {}
    for name, given in said.items():
        with within(name):
            found[ids.name(name, what="runner")] = _runner(name, given)
    return found


def resolve(name: str, own: Mapping[str, Runner]) -> Runner:
    """The runner of this name: the user's *own* before the known ones."""
    found = own.get(name) or KNOWN.get(name)
    if found is None:
        known = ", ".join(sorted({*own, *KNOWN}))
        raise UnknownRunner(f"there is no runner `{one_line(name, 60)}`; there are: {known}")
    return found


def _runner(name: str, given: object) -> Runner:
    if not isinstance(given, dict):
        raise ValueError(f"`{name}`: {', '.join(KEYS)} are given as a mapping")  # noqa: TRY004  # one kind of refusal
    unknown = [str(key) for key in given if key not in KEYS]
    if unknown:
        words = f"`{name}`: `{one_line(unknown[0], 60)}` is none of {', '.join(KEYS)}"
        raise Faulty(words, (unknown[0],))
    kind = given.get("kind", name if name in KINDS else SHELL)
    if kind not in KINDS:
        raise Faulty(f"`{name}`: `kind` is one of {', '.join(KINDS)}", ("kind",))
    command = given.get("command")
    if command is None and name not in KINDS and kind == SHELL:
        raise ValueError(f"`{name}`: a `command` is needed")
    return Runner(
        name=name,
        kind=kind,
        command=KNOWN[kind].command if command is None else _words(name, "command", command),
        resume=_resume(name, given.get("resume")),
        env=_env(name, given.get("env")),
        time_s=_time(name, given.get("time")),
    )


def _words(name: str, key: str, given: object) -> tuple[str, ...]:
    words = given if isinstance(given, list) else []
    if not 0 < len(words) <= MOST_WORDS:
        problem = f"is a list of 1 to {MOST_WORDS} words: [program, --flag, value]"
        raise Faulty(f"`{name}`: `{key}` {problem}", (key,))
    for number, word in enumerate(words):
        is_word = isinstance(word, int | str) and not isinstance(word, bool)
        if not is_word or "\0" in str(word) or len(str(word)) > LONGEST_WORD:
            problem = f"holds what is no word: {one_line(repr(word), 60)}"
            raise Faulty(f"`{name}`: `{key}` {problem}", (key, number))
    if not str(words[0]).strip():
        raise Faulty(f"`{name}`: `{key}` begins with no program", (key, 0))
    return tuple(str(word) for word in words)


def _resume(name: str, given: object) -> tuple[str, ...]:
    if given is None:
        return ()
    words = _words(name, "resume", given)
    if not any("{session}" in word for word in words):
        words_of_it = f"`{name}`: `resume` says nowhere `{{session}}`, which is its id"
        raise Faulty(words_of_it, ("resume",))
    return words


def _env(name: str, given: object) -> dict[str, str]:
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise Faulty(f"`{name}`: `env` is a mapping of variables to text", ("env",))
    for variable, value in given.items():
        is_text = isinstance(value, int | str) and not isinstance(value, bool)
        if not str(variable).isidentifier() or not str(variable).isascii():
            words = f"`{name}`: `{one_line(str(variable), 60)}` is no variable"
            raise Faulty(words, ("env", variable))
        if not is_text or "\0" in str(value):
            words = f"`{name}`: `{variable}` is no text; put it into quotes"
            raise Faulty(words, ("env", variable))
    return {str(variable): str(value) for variable, value in given.items()}


def _time(name: str, given: object) -> float | None:
    if given is None:
        return None
    found = durations.seconds(given)
    if found is None:
        raise Faulty(f"`{name}`: `time` is said as 45s, 90m or 2h, at most 168h", ("time",))
    return found
