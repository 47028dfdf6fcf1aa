"""The models of the night: careful ones, that look before they do again what cannot be undone.

Each bill is paid by a line in a ledger outside. Who was cut off does not know whether it paid: it
looks there first, as the prompt asks. All that such a model knows stands in what its client shows
it, which is the session that was gone on with.
"""

from __future__ import annotations

import re
import threading
import time
from typing import TYPE_CHECKING, NamedTuple

from harness.rig.dialect import TOO_MANY
from harness.rig.model import Model
from harness.rig.script import Reply
from harness.rig.seen import Kind, messages

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from harness.rig.dialect import Dialect
    from harness.rig.script import Call
    from harness.rig.seen import Request
    from standfast.formats.document_limits import Value

PROMPT = "Pay the bill {name}."  # what a plan asks for
_LANE = re.compile(r"of lane ([A-Za-z0-9-]+), phase ([A-Za-z0-9]+),")  # as every prompt says
_DOUBTS = ("Your work on this was cut off", "Earlier runs of this lane failed")
_PATIENCE = 100  # messages: a model that learns nothing by looking gives up
_RESETS_S = 4  # what a limit says of its end
_UNASKED = Reply(text="none")
Words = tuple[str, str]  # a role, and what it said


class Step(NamedTuple):
    """What a careful model does next: a command, or the end."""

    command: str = ""
    says: str = ""


def bill_of(said: list[Words]) -> str:
    """Which bill a conversation is about; clients show other commits too, which name theirs."""
    found = (_LANE.search(text) for role, text in said if role == "user")
    return next((f"{match[2]}-{match[1]}" for match in found if match), "")


def decide(name: str, said: list[Words], bill: str = "bill") -> Step:
    """By what it was shown: done is done, a doubt is looked at, and only then is it paid."""
    told = [text for role, text in said if role == "user"]
    if any(f"bill {name}: written" in text for text in told):
        return Step(says=f"The bill {name} is paid.")
    last = told[-1] if told else ""
    if len(told) > _PATIENCE:
        return Step(says="I cannot find out whether it is paid.")
    if f"bill {name}: paid" in last:
        return Step(f"{bill} write {name}")
    if f"bill {name}: open" in last:
        return Step(f"{bill} pay {name} && {bill} write {name}")
    if any(doubt in last for doubt in _DOUBTS) or _LANE.search(last) is None:
        return Step(f"{bill} look {name}")
    return Step(f"{bill} pay {name} && {bill} write {name}")


class Limits:
    """Who is at a usage limit; the same for every model, and changed from outside."""

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._lock = threading.Lock()
        self.told = 0

    def begin(self, *names: str) -> None:
        """From now on these are refused."""
        with self._lock:
            self._names.update(names)

    def end(self, name: str) -> None:
        """It may go on."""
        with self._lock:
            self._names.discard(name)

    def refuses(self, name: str) -> bool:
        """Whether it is at its limit; counted if so."""
        with self._lock:
            self.told += name in self._names
            return name in self._names


class Mind:
    """What stands for the script of a model's server."""

    def __init__(self, tool: Callable[[str], Call], bill: str, limits: Limits) -> None:
        self.unscripted: list[Request] = []
        self._bill = bill  # the program
        self._tool = tool
        self._limits = limits

    def answer(self, request: Request) -> Reply:
        """What this request gets."""
        said = messages(request.body)
        name = bill_of(said)
        if request.kind is not Kind.MAIN or not name:
            return _UNASKED
        if self._limits.refuses(name):
            resets = int(time.time()) + _RESETS_S
            return Reply(status=TOO_MANY, text="The usage limit is reached.", resets_s=resets)
        step = decide(name, said, self._bill)
        return Reply(calls=(self._tool(step.command),)) if step.command else Reply(text=step.says)


class Thinking(Model):
    """A model that takes its time, so that kills find its client at work."""

    def __init__(self, mind: Mind, dialect: Dialect, think: Callable[[], float]) -> None:
        super().__init__((), dialect)
        self.script = mind  # type: ignore[assignment]  # it answers as a script does
        self._think = think

    def hear(self, path: str, headers: dict[str, str], body: Mapping[str, Value]) -> Reply:
        """Take one request in, and answer it after a while."""
        reply = super().hear(path, headers, dict(body))
        time.sleep(self._think())
        return reply


def for_claude(command: str) -> Call:
    """A command, as Claude Code's tool takes it."""
    return "Bash", {"command": command, "description": "The bill"}


def for_codex(command: str) -> Call:
    """A command, as Codex's tool takes it."""
    return "exec_command", {"cmd": command}
