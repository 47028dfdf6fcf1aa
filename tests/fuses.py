"""Death right after a real call was made, by an exception that nothing of ours catches."""

from collections.abc import Callable
from typing import Any


class Death(BaseException):
    """The process is gone here."""


class Fuse:
    """Lets *left* calls be made, and dies right after the last of them."""

    def __init__(self, left: int) -> None:
        self.left = left

    def on(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            done = real(*arguments, **named)
            self.left -= 1
            if self.left == 0:
                raise Death
            return done

        return call
