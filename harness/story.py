"""The story that the demo tells: what is said and done in it, and what must not be lost of it.

Told by the real Claude Code (`acted`) or from payloads that it once sent (`recorded`).
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from typing import TYPE_CHECKING, NamedTuple, Protocol

from harness.rig.place import make_place
from harness.rig.rig_error import RigError

if TYPE_CHECKING:
    from harness.rig.place import Place

VERSION = "2.1.325"

ASKED = "The checkout test is flaky. Find out why, and leave the public API alone."
NOTED = "keep the old timeout: two customers rely on it"
COMMITTED = "checkout: wait until the basket has settled"
FIXED = "It guessed how long a basket takes. Now it waits."
ALSO = "Same for the refunds, please."
WRONG, WRONG_STATUS = "2 of 14 refunds are wrong", 3
AUDIT_NAME, AUDIT_ASKED = "audit of the refund tests", "Audit every refund test for races."
AUDITED = "Two races: refund_twice and refund_late."
REPORTED = "The audit is in."
SUMMARY = "The user and the assistant worked on tests."
ALL_ASKED = "Now run everything."
WOKEN = "Where were we?"

NOTE = f'standfast note "{NOTED}"'
COMMIT = f'echo "wait until settled" >checkout-test && git commit -am "{COMMITTED}"'
REFUNDS = "sh run-tests refunds"
ALL = "sh run-tests all"
STARTED = "started"  # the file that shows that the long command runs

_FILES = {
    "checkout-test": "wait 0.3 s\n",
    "run-tests": f"""\
case $1 in
refunds) echo "{WRONG}"; exit {WRONG_STATUS} ;;
all) touch {STARTED}; n=0; while [ $n -lt 600 ]; do sleep 0.1; n=$((n + 1)); done ;;
esac
""",
}
_IDENTITY = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "Demo"), ("EMAIL", "demo@example.invalid"))
}
_DEADLINE_S, _LOOK_EVERY_S = 60, 0.02
# A brief begins with its header and ends with its foot; what adds to one has lines of its forms.
_BRIEF = re.compile(r"\[standfast \w{4} · .*?\nMore: standfast brief --more", re.DOTALL)
_ADDITION = re.compile(r"\(standfast \w{4} · adds to .*\)(?:\n.*«\w{4} .*|\n[A-Z].*)*")


class Fact(NamedTuple):
    """What happened before the kill, and the words that tell of it."""

    what: str
    words: str


REQUESTS = (Fact("first request", ASKED), Fact("second request", ALSO))
FACTS = (
    *REQUESTS,
    Fact("decision", NOTED),
    Fact("commit", COMMITTED),
    Fact("failing test", WRONG),
    Fact("subagent's result", AUDITED),
    Fact("command in flight", ALL),
)
BEFORE_COMPACTION = FACTS[:-1]


class Left(NamedTuple):
    """What a compaction left of the conversation, the client's summary among it."""

    text: str
    measured: str


class Cast(Protocol):
    """Whoever plays the client."""

    source: str  # where what the model is shown was seen

    def work(self) -> None:
        """Everything up to the compaction."""

    def compact(self) -> Left:
        """Empty the context, and go on to the long command."""

    def kill(self) -> None:
        """Kill -9, while the command runs."""

    def wake(self) -> str:
        """Resume the session; what the model is then shown."""

    def hook_times_ms(self) -> list[int]:
        """How long each call of a hook took."""

    def close(self) -> None:
        """Leave no process behind."""


def set_up(folder: str) -> Place:
    """A home and a small repository of its own, below *folder*."""
    os.environ.update(_IDENTITY)
    place = make_place(os.path.join(folder, "place"))
    for name, text in _FILES.items():
        with open(os.path.join(place.project, name), "w", encoding="utf-8") as file:
            file.write(text)
    for arguments in (["add", "."], ["commit", "-q", "-m", "a shop and its tests"]):
        subprocess.run(["git", *arguments], cwd=place.project, stdin=subprocess.DEVNULL, check=True)
    return place


def wait_until_started(place: Place) -> None:
    """Wait for the long command to run."""
    until = time.monotonic() + _DEADLINE_S
    while not os.path.exists(os.path.join(place.project, STARTED)):
        if time.monotonic() > until:
            raise RigError(f"{ALL!r} did not start within {_DEADLINE_S} s")
        time.sleep(_LOOK_EVERY_S)


def told_by_standfast(text: str) -> str:
    """Everything in *text* that Standfast put there, and nothing else."""
    return "\n".join(found[0] for form in (_BRIEF, _ADDITION) for found in form.finditer(text))
