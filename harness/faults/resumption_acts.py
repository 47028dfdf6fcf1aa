"""What `resumption` and `gate` write, once each, as acts."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from harness.faults import worlds
from harness.faults.act import WORD, Act, command, decided
from standfast.formats import yaml_sections
from standfast.protocols.resumption.rules import section_check
from standfast.protocols.resumption.rules.quality_gates import WEIGHTS

if TYPE_CHECKING:
    from harness.faults.look import Seen
    from harness.faults.world import World


def _triggered(seen: Seen) -> int:
    kind = "resumption.triggered"
    return sum(kind == one and WORD in payload for one, _, payload in seen.events)


def _adopted(seen: Seen) -> int:
    kind = "resumption.adopted"
    return sum(kind == one and worlds.EDITED in payload for one, _, payload in seen.events)


def _in_section(world: World, _seen: Seen) -> bool:
    """The file shows the new fact once, in a whole section, and every word of a person's."""
    with open(os.path.join(world.repo, worlds.SECTION_FILE), encoding="utf-8") as file:
        text = file.read()
    return text.startswith(worlds.AROUND) and _is_whole(text) and text.count(WORD) == 1


def _migrated(world: World, seen: Seen) -> bool:
    with open(os.path.join(world.repo, worlds.SECTION_FILE), encoding="utf-8") as file:
        text = file.read()
    was = any(kind == "file.kept" and "two agents" in had for kind, _, had in seen.events)
    return was and text.startswith(worlds.AROUND) and _is_whole(text)


def _is_whole(text: str) -> bool:
    span = yaml_sections.find(text, "resumption", worlds.SECTION_FILE)
    return span is not None and not section_check.validate(span.value, span.lines)


def _resumption(name: str, action: str, world: str, *arguments: str, **more: Any) -> Act:  # noqa: ANN401  # fields of Act
    verb = "gate" if action.startswith("gate ") else "resumption"
    what = action.removeprefix("gate ")
    return Act(name, f"{verb} {what}", world, command(verb, what, *arguments), **more)


_SCORES = tuple(f"{name}=0.9" for name in WEIGHTS)

RESUMPTIONS: tuple[Act, ...] = (
    _resumption("first-trigger", "trigger", "begun", "T1", "--phase", "1", "--next-step", WORD,
                new=_triggered),
    _resumption("trigger", "trigger", "resuming", "T2", "--next-step", WORD,
                new=_triggered, holds=_in_section),
    _resumption("decide", "decide", "resuming", WORD, new=decided, holds=_in_section),
    _resumption("agent-summary", "trigger", "resuming", "T4", "--agent", "a", "--result", "DONE",
                "--finding", WORD, new=_triggered, holds=_in_section),
    _resumption("migrate-section", "migrate", "a section of v1",
                new=lambda seen: seen.number("resumption.migrated"), holds=_migrated),
    _resumption("adopt-section", "adopt", "a section by hand", new=_adopted),
    _resumption("show-edited-section", "show", "a section by hand"),
    _resumption("show-section", "show", "resuming"),
    _resumption("validate-section", "validate", "resuming"),
    _resumption("staleness", "staleness", "resuming"),
    _resumption("score", "gate record", "resuming", "QG-1", "traceability=0.7",
                new=lambda seen: seen.number("gate.scored")),
    _resumption("last-score", "gate record", "resuming", "QG-1", *_SCORES,
                "--primary", WORD, new=_triggered, holds=_in_section),
    _resumption("show-gate", "gate show", "resuming"),
)  # fmt: skip
