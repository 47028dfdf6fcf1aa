"""What a fuzz target is: a parser, the bytes to begin with, and what must be true of any bytes."""

from __future__ import annotations

import os
import tempfile
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from standfast.errors.base import StandfastError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SCRATCH = "STANDFAST_FUZZ_SCRATCH"
_MEMORY = "/dev/shm"


class Target(NamedTuple):
    """*run* returns for every input of which *says* is true, and raises for any other."""

    name: str
    says: str
    run: Callable[[bytes], None]
    seeds: tuple[bytes | Callable[[], bytes], ...]  # what must be made first is made when asked for
    inputs: int = 2_000  # how many the tests try; fewer where one takes long

    def starts(self) -> tuple[bytes, ...]:
        """The bytes to begin with."""
        return tuple(seed() if callable(seed) else seed for seed in self.seeds)


class Untrue(AssertionError):
    """What a target says is not so for this input."""


def must(truth: object, otherwise: str) -> None:
    """Refuse to go on where the invariant does not hold; `assert` can be switched off."""
    if not truth:
        raise Untrue(otherwise)


def answered(run: Callable[[bytes], None]) -> Callable[[bytes], None]:
    """An error of ours is an answer: it has a code, a place and a remedy. No other is."""

    def either(data: bytes) -> None:
        try:
            run(data)
        except StandfastError as error:
            must(error.problem and error.remedy, f"{error!r} says nothing")

    return either


@contextmanager
def taken() -> Iterator[None]:
    """From here on an error of ours is none: what was taken must do for all that follows."""
    try:
        yield
    except StandfastError as error:
        raise Untrue(f"taken, and then refused: {error}") from error


def text_of(data: bytes) -> str:
    """Any text: what is not UTF-8 becomes lone surrogates, as in names of files."""
    return data.decode("utf-8", "surrogateescape")


class Folder(NamedTuple):
    """A folder of a target's own, for parsers that read files."""

    path: str

    def put(self, name: str, data: bytes) -> str:
        """One file with these bytes."""
        path = os.path.join(self.path, name)
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)
        return path


_kept: list[tempfile.TemporaryDirectory[str]] = []  # removed when the process ends


def scratch(name: str, within: str | None = None) -> tempfile.TemporaryDirectory[str]:
    """A folder that goes with its owner; libFuzzer ends a process without a word, so *within*."""
    memory = _MEMORY if os.access(_MEMORY, os.W_OK) else None
    return tempfile.TemporaryDirectory(prefix=f"standfast-fuzz-{name}-", dir=within or memory)


@cache
def folder(name: str) -> Folder:
    """The folder of one target, the same for all inputs; in memory where there is some."""
    made = scratch(name, within=os.environ.get(SCRATCH))
    _kept.append(made)
    return Folder(made.name)
