"""What the model will say, as data: an ordered list of rules, each for one request.

The first rule that fits and was not used yet answers. What no rule answers is kept apart, so
that a test can tell a client that asked more than the story has.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from harness.rig.seen import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from harness.rig.seen import Request
    from standfast.formats.document_limits import Value

TOKENS = 1000
Call: TypeAlias = tuple[str, "Mapping[str, Value]"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """Text, calls of tools, and what it is said to have cost; or an error of the API."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    tokens: int = TOKENS
    status: int = 200
    resets_s: int = 0  # with 429: a usage limit, which ends then, as the service would say it
    hold: bool = False  # said only when the story lets go: time to kill the client in

    @property
    def tasks(self) -> tuple[str, ...]:
        """The prompts that this reply gives to subagents."""
        return tuple(str(given.get("prompt", "")) for name, given in self.calls if name == AGENT)


AGENT = "Agent"  # its name today; the server says Task to clients that know it so


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Which request, and what it gets."""

    reply: Reply
    to: Kind = Kind.MAIN
    when: str = ""  # stands in the last message of the user
    always: bool = False

    def fits(self, request: Request) -> bool:
        """Is *request* one that this rule speaks of."""
        return request.kind is self.to and self.when in request.last_user


UNSCRIPTED = Reply(text="Nothing is scripted for this request.")
_UNASKED = {
    Kind.SUMMARY: Reply(text="<summary>The story so far.</summary>"),
    Kind.SIDE: Reply(text="none"),
}


@dataclass(slots=True)
class Script:
    """Rules, and which of them were used."""

    rules: list[Rule]
    unscripted: list[Request] = field(default_factory=list)

    def __init__(self, rules: Iterable[Rule] = ()) -> None:
        self.rules = list(rules)
        self.unscripted = []

    def answer(self, request: Request) -> Reply:
        """Say what *request* gets, and use the rule up."""
        for rule in self.rules:
            if rule.fits(request):
                if not rule.always:
                    self.rules.remove(rule)
                return rule.reply
        if request.kind in _UNASKED:
            return _UNASKED[request.kind]
        self.unscripted.append(request)
        return UNSCRIPTED
