"""Where in a value something is wrong: whoever checks a part of it says which part that is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast.errors.base import StandfastError

if TYPE_CHECKING:
    from types import TracebackType

Path = tuple[str | int, ...]


class Faulty(ValueError):
    """What is wrong, and with which value: the keys that lead to it."""

    def __init__(self, words: str, path: Path) -> None:
        super().__init__(words)
        self.path = path


class within:  # noqa: N801  # a statement, as in `with within("outputs")`
    """What is refused in here is wrong below these keys."""

    def __init__(self, *keys: str | int) -> None:
        self._keys = keys

    def __enter__(self) -> None:
        pass

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        if isinstance(error, ValueError | StandfastError):
            raise Faulty(str(error), (*self._keys, *path_of(error))) from error


def path_of(error: BaseException) -> Path:
    """The keys that lead to what is wrong, as far as anybody said."""
    return error.path if isinstance(error, Faulty) else ()
