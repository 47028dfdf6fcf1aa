"""Playing a scenario: a real client, a scripted model, and the list of what was not as told."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.rig.claude import DEADLINE_S, Claude, ClientFailed
from harness.rig.model import Model

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from harness.rig.place import Place
    from harness.rig.scenario import Expectation, Scenario, Step
    from harness.rig.seen import Request

LOOK_EVERY_S = 0.02


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """What came of it."""

    requests: Sequence[Request]
    session: str
    problems: Sequence[str]


def play(
    scenario: Scenario, program: str, place: Place, extra: Mapping[str, str] | None = None
) -> Played:
    """Let the client at *program* live through the story in *place*, and look at the requests."""
    with Model(scenario.rules) as model:
        with Claude(program, place, model.url, extra) as claude:
            claude.start()
            for step in scenario.steps:
                _take(claude, step)
        problems = [*_unlike_the_script(model), *_unmet(scenario, model.requests)]
    return Played(requests=tuple(model.requests), session=claude.session, problems=problems)


def _take(claude: Claude, step: Step) -> None:
    if step.verb == "prompt" and step.until:
        claude.say(step.value)
        _wait_for_file(os.path.join(claude.place.project, step.until))
    elif step.verb == "prompt":
        claude.send(step.value)
    elif step.verb == "kill":
        claude.kill(group=step.value == "group")
    elif step.verb == "resume":
        claude.resume()
    elif step.verb == "end":
        claude.end(by=signal.SIGTERM if step.value == "term" else None)
    else:
        for name, text in step.files:
            path = os.path.join(claude.place.project, name)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)


def _wait_for_file(path: str) -> None:
    until = time.monotonic() + DEADLINE_S
    while not os.path.exists(path):
        if time.monotonic() > until:
            raise ClientFailed(f"{os.path.basename(path)} did not appear within {DEADLINE_S} s")
        time.sleep(LOOK_EVERY_S)


def _unlike_the_script(model: Model) -> Iterator[str]:
    for request in model.script.unscripted:
        yield f"nothing was scripted for a request of {request.kind}: …{request.last_user[-200:]}"
    for rule in model.script.rules:
        if not rule.always:
            yield f"never asked for: to {rule.to}, when {rule.when!r}, {rule.reply}"


def _unmet(scenario: Scenario, requests: Sequence[Request]) -> Iterator[str]:
    for expected in scenario.expectations:
        name = f"{expected.to} request answering {expected.answering!r}"
        found = [
            request
            for request in requests
            if request.kind is expected.to and expected.answering in request.last_user
        ]
        if not found:
            yield f"no {name}"
        else:
            text = found[-1 if expected.last else 0].text
            yield from (f"{name} {problem}" for problem in differences(expected, text))


def differences(expected: Expectation, text: str) -> Iterator[str]:
    """Say how *text* is not what was expected."""
    for wanted in expected.has:
        if wanted not in text:
            yield f"lacks {wanted!r}"
    for unwanted in expected.lacks:
        if unwanted in text:
            yield f"has {unwanted!r}"
    for single in expected.once:
        if text.count(single) != 1:
            yield f"has {single!r} {text.count(single)} times, not once"
