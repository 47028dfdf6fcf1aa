"""A story in a file: what the model says, what is done to the client, what must be shown.

The language is in scenarios/README.md; reading refuses whatever it does not know.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.rig.script import AGENT, TOKENS, Reply, Rule
from harness.rig.seen import Kind
from standfast.formats.yaml_text import read_yaml
from standfast.testing.page import Page

if TYPE_CHECKING:
    from harness.rig.script import Call
    from standfast.formats.document_limits import Value
    from standfast.formats.yaml_text import Path

STEPS: dict[str, tuple[str, ...]] = {
    "prompt": (),
    "kill": ("client", "group"),
    "resume": ("last",),
    "end": ("input", "term"),
    "write": (),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One thing done to the client."""

    verb: str
    value: str = ""
    until: str = ""
    files: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """What one request must have shown."""

    to: Kind
    answering: str
    last: bool
    has: tuple[str, ...]
    lacks: tuple[str, ...]
    once: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A whole story."""

    about: str
    rules: tuple[Rule, ...]
    steps: tuple[Step, ...]
    expectations: tuple[Expectation, ...]


def read_scenario(data: bytes | str, *, name: str) -> Scenario:
    """Read a story, or say what is wrong with it in which line."""
    page = Page(read_yaml(data, name=name), name)
    page.only((), "about", "model", "steps", "expect")
    return Scenario(
        about=page.text(("about",)),
        rules=tuple(_rule(page, ("model", n)) for n in page.indexes(("model",))),
        steps=tuple(_step(page, ("steps", n)) for n in page.indexes(("steps",))),
        expectations=tuple(_expectation(page, ("expect", n)) for n in page.indexes(("expect",))),
    )


def _rule(page: Page, at: Path) -> Rule:
    page.only(
        at, "to", "when", "always", "text", "bash", "agent", "tool", "tokens", "error", "hold"
    )
    reply = Reply(
        text=page.text((*at, "text")),
        calls=_calls(page, at),
        tokens=page.number((*at, "tokens"), TOKENS),
        status=page.number((*at, "error"), 200),
        hold=page.flag((*at, "hold")),
    )
    return Rule(
        reply=reply,
        to=_kind(page, (*at, "to")),
        when=page.text((*at, "when")),
        always=page.flag((*at, "always")),
    )


def _calls(page: Page, at: Path) -> tuple[Call, ...]:
    calls: list[Call] = []
    if page.has((*at, "bash")):
        calls.append(("Bash", {"command": page.text((*at, "bash")), "description": "a step"}))
    if page.has((*at, "agent")):
        page.only((*at, "agent"), "prompt", "type")
        given: dict[str, Value] = {
            "description": "a task",
            "prompt": page.text((*at, "agent", "prompt")),
            "subagent_type": page.text((*at, "agent", "type")) or "general-purpose",
        }
        calls.append((AGENT, given))
    if page.has((*at, "tool")):
        page.only((*at, "tool"), "name", "input")
        calls.append((page.text((*at, "tool", "name")), page.mapping((*at, "tool", "input"))))
    return tuple(calls)


def _step(page: Page, at: Path) -> Step:
    page.only(at, *STEPS, "until")
    verbs = [verb for verb in page.mapping(at) if verb in STEPS]
    if len(verbs) != 1:
        page.refuse(at, f"a step does one thing: {', '.join(STEPS)}")
    (verb,) = verbs
    if verb == "write":
        files = ((name, page.text((*at, verb, name))) for name in page.mapping((*at, verb)))
        return Step(verb=verb, files=tuple(files))
    value = page.text((*at, verb))
    if STEPS[verb] and value not in STEPS[verb]:
        page.refuse((*at, verb), f"`{verb}` takes {' or '.join(STEPS[verb])}")
    if page.has((*at, "until")) and verb != "prompt":
        page.refuse((*at, "until"), "only a prompt has an `until`")
    return Step(verb=verb, value=value, until=page.text((*at, "until")))


def _expectation(page: Page, at: Path) -> Expectation:
    page.only(at, "to", "answering", "last", "has", "lacks", "once")
    return Expectation(
        to=_kind(page, (*at, "to")),
        answering=page.text((*at, "answering")),
        last=page.flag((*at, "last")),
        has=page.texts((*at, "has")),
        lacks=page.texts((*at, "lacks")),
        once=page.texts((*at, "once")),
    )


def _kind(page: Page, at: Path) -> Kind:
    """The kind of request named at *at*, the main one's if none is."""
    named = page.text(at) or Kind.MAIN
    if named not in set(Kind):
        page.refuse(at, f"`to` is one of {', '.join(Kind)}")
    return Kind(named)
