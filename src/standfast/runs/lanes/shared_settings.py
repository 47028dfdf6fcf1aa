"""What all worktrees share, as it was when a run began: what steers a merge needs a person since.

The first lane of a run notes it, and the others go by that: an agent of the first one may have
changed it before they begin. A person's word makes what is there now what all of them go by.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from standfast.git import steering_settings
from standfast.runs.lanes.lane_context import log, recording, resume, step
from standfast.runs.records import lane_records as told
from standfast.runs.rules.lane_steps import CONFIG, OK
from standfast.text import a_few

if TYPE_CHECKING:
    from standfast.journal.transaction import Writing
    from standfast.runs.lanes.lane_context import Work


def look(work: Work) -> str:
    """How it is for the lanes of this run: as it was for the first of them, or is now."""
    for facts in told.settings(work.journal, work.spec.run_id).values():
        if "seen" in facts:
            return facts["seen"]
    return _now(work)


def note(work: Work, tx: Writing, seen: str) -> None:
    """The lane begins, and goes by this."""
    step(work, tx, CONFIG, 1, OK, {"seen": seen})


def changed(work: Work) -> list[str]:
    """The names of what is not as it was; told once for each change."""
    facts = told.settings(work.journal, work.spec.run_id).get(work.spec.names)
    if facts is None or "seen" not in facts:
        return []
    found = steering_settings.changed(json.loads(facts["seen"]), json.loads(_now(work)))
    names = a_few(found)
    if names != facts.get("changed", ""):
        with recording(work) as tx:
            number = told.last_number(work.journal, work.spec, CONFIG)
            step(work, tx, CONFIG, number, OK, {**facts, "changed": names})
        if names:
            log(work, "config_changed", notes=f"git's shared settings were changed: {names}")
    return found


def steered(work: Work) -> str | None:
    """What is wrong, where what is merged or written may be another than it would have been."""
    found = [name for name in changed(work) if steering_settings.steers(name)]
    if not found:
        return None
    return f"settings that steer what git merges and writes were changed: {a_few(found)}"


def way_back(work: Work) -> str:
    """What helps: a person knows whether it was meant."""
    return (
        "See `git config --list --show-origin` and what is in `.git/info`. If nobody meant it, put"
        " back what is named and resume; if you did it:"
        f" `{resume(work.spec)} --settings-changed`."
    )


def accept(work: Work) -> None:
    """A person says that they are as they should be: all lanes of the run go by that."""
    seen = _now(work)
    known = told.settings(work.journal, work.spec.run_id)
    with recording(work) as tx:
        for spec in told.of_run(work.journal, work.spec.run_id):
            if spec.names in known:
                number = told.last_number(work.journal, spec, CONFIG)
                step(work._replace(spec=spec), tx, CONFIG, number, OK, {"seen": seen})
    log(work, "settings_accepted", notes="as a person says")


def _now(work: Work) -> str:
    return json.dumps(steering_settings.digests(work.git, work.spec.base, work.spec.worktree))
