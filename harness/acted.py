"""The story with the real Claude Code; only the model is scripted, on this machine."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from harness import story
from harness.rig.claude import Claude
from harness.rig.model import Model
from harness.rig.script import AGENT, Reply, Rule
from harness.rig.seen import Kind, messages

if TYPE_CHECKING:
    from collections.abc import Mapping

    from harness.rig.place import Place
    from harness.rig.seen import Request
    from standfast.formats.document_limits import Value

# As the client's own log tells of a hook that it called.
_TOOK = re.compile(r"\bHooks: \S+ \[\S+/standfast/hook claude\] finished with status 0 \((\d+)ms\)")


def _bash(command: str, why: str, *, hold: bool = False) -> Reply:
    return Reply(calls=(("Bash", {"command": command, "description": why}),), hold=hold)


def _delegate(name: str, task: str) -> Reply:
    given = {"description": name, "prompt": task, "subagent_type": "general-purpose"}
    return Reply(calls=((AGENT, given),))


RULES = (
    Rule(when=story.ASKED, reply=_bash(story.NOTE, "note it")),
    Rule(when="Recorded RD-", reply=_bash(story.COMMIT, "commit it")),
    Rule(when=story.COMMITTED, reply=Reply(text=story.FIXED)),
    Rule(when=story.ALSO, reply=_bash(story.REFUNDS, "test refunds")),
    Rule(when=story.WRONG, reply=_delegate(story.AUDIT_NAME, story.AUDIT_ASKED)),
    Rule(to=Kind.AGENT, when=story.AUDIT_ASKED, reply=Reply(text=story.AUDITED)),
    Rule(when=story.AUDITED, reply=Reply(text=story.REPORTED)),
    Rule(to=Kind.SUMMARY, reply=Reply(text=f"<summary>{story.SUMMARY}</summary>")),
    Rule(when=story.ALL_ASKED, reply=_bash(story.ALL, "run all tests", hold=True)),
    Rule(when=story.WOKEN, reply=Reply(text="In the middle of a run of all tests.")),
)


class Acted:
    """The program at *program* in *place*."""

    source = "what Standfast put into the next request, as the model received it"

    def __init__(self, program: str, place: Place, extra: Mapping[str, str]) -> None:
        self._logs = [os.path.join(place.folder, f"life-{life}.log") for life in (1, 2)]
        self._place = place
        self._model = Model(RULES)
        self._claude = Claude(program, place, self._model.url, extra)

    def work(self) -> None:
        """Two requests of the user, done."""
        self._claude.start("--debug-file", self._logs[0])
        self._claude.send(story.ASKED)
        self._claude.send(story.ALSO)

    def compact(self) -> story.Left:
        """What was sent to the model tells what it saw before, and what it sees now."""
        said = "\n".join(_spoken(self._model.of(Kind.MAIN)[-1]))
        self._claude.send("/compact")
        self._claude.say(story.ALL_ASKED)
        after = self._model.wait_for(
            lambda request: request.kind is Kind.MAIN and story.ALL_ASKED in _spoken(request)
        )
        left = "\n".join(_spoken(after))
        kept = sum(len(line) for line in said.splitlines() if line in left)
        return story.Left(
            left, f"of {len(said):,} characters of the conversation the model still sees {kept}"
        )

    def kill(self) -> None:
        """The client alone: what it started is left to itself, as in life."""
        self._model.let_go()
        story.wait_until_started(self._place)
        self._claude.kill()

    def wake(self) -> str:
        """`claude --resume`, and every word of the request that follows."""
        self._claude.start("--resume", self._claude.session, "--debug-file", self._logs[1])
        self._claude.send(story.WOKEN)
        shown = self._model.of(Kind.MAIN)[-1].text
        self._claude.end()
        return shown

    def hook_times_ms(self) -> list[int]:
        """As the client itself timed them, in its log."""
        logs = "".join(_read(path) for path in self._logs)
        return [int(took) for took in _TOOK.findall(logs)]

    def close(self) -> None:
        """End client, model and whatever the client left."""
        self._claude.close()
        self._model.close()


def _spoken(request: Request) -> list[str]:
    """What user and model said, without what the client adds for itself in tags."""
    listed = request.body.get("messages")
    parts = [
        text
        for message in (listed if isinstance(listed, list) else [])
        if isinstance(message, dict) and message.get("role") in {"user", "assistant"}
        for block in _blocks(message.get("content"))
        for _, text in messages({"messages": [{"role": "user", "content": [block]}]})
    ]
    return [text for text in parts if text and not text.startswith("<")]


def _blocks(content: Value) -> list[Value]:
    return content if isinstance(content, list) else [content]


def _read(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()
