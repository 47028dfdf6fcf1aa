"""All targets of the fuzzer, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.fuzz import (
    agents,
    checkpoints,
    contexts,
    documents,
    identities,
    lanes,
    orchestration,
    outside,
    plans,
    recorded,
    resumption,
    roles,
    runners,
    sections,
    told,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from harness.fuzz.target import Target

_MODULES = (
    *(documents, sections, contexts, roles, recorded, identities),
    *(told, agents, checkpoints, resumption, orchestration, lanes, runners, plans, outside),
)
TARGETS: Mapping[str, Target] = {
    target.name: target for module in _MODULES for target in module.TARGETS
}
