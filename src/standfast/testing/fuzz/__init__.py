"""Every parser of outside input, with what must be true whatever the bytes are.

`make fuzz`, or `python -m standfast.testing.fuzz --seconds 60 --seed 1 json yaml`: guided by
coverage where atheris is installed, from a seed elsewhere. A parser without a target fails
tests/test_fuzz.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast.testing.fuzz import (
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

    from standfast.testing.fuzz.target import Target

_MODULES = (
    *(documents, sections, contexts, roles, recorded, identities),
    *(told, agents, checkpoints, resumption, orchestration, lanes, runners, plans, outside),
)
TARGETS: Mapping[str, Target] = {
    target.name: target for module in _MODULES for target in module.TARGETS
}
