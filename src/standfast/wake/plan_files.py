"""Look: a resumption section that stands in a file and in no journal, as far as it can be read.

It is told beside what is journalled, with what it is instead of v2.0; nothing of it is taken over
by being told. For commands: hooks tell what is journalled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast.errors import StandfastError
from standfast.files import resumption_files
from standfast.journal import freshness, resumption
from standfast.journal.as_if import journalled
from standfast.journal.resumption_folds import Document
from standfast.protocol.authorship import REPOSITORY
from standfast.protocol.resumption import Resumption
from standfast.protocol.resumption_labels import DECISIONS, label
from standfast.protocol.resumption_prose import other_phase
from standfast.protocol.staleness import SECOND_US, judge, seconds
from standfast.wake import plans

if TYPE_CHECKING:
    from standfast.journal.store import Journal
    from standfast.protocol.resumption_schema import Section
    from standfast.wake.facts import Ask, Facts


def add(
    found: Facts, ask: Ask, journal: Journal, root: str, file: str, *, now: int, most: int
) -> None:
    """Add the plan of a file that no document is known of; what cannot be read is left out."""
    try:
        if resumption.find(ask, file) is not None:
            return
        seen = resumption_files.look(root, file)
        if not seen.has_section:
            return
        section = seen.readable.section
        whose = resumption_files.whose_as_read(journal, seen, root)
    except (StandfastError, OSError):
        return  # whoever asks for the section is told what is wrong with it
    theirs = frozenset(label(path) for path, by in whose.items() if by.actor == REPOSITORY)
    document = Document(file, root, Resumption(section), foreign=theirs)
    for plan in plans.gather(journalled(document), root, None, now, most=most):
        began = freshness.session_start(ask, found.session)
        age = judge(plan.updated_at, now_us=now, session_started_us=began)
        plan.level, plan.reason = age.level, age.reason
        plan.words_of = other_phase(section["recovery_state"])
        plan.untaken = "" if seen.is_valid else seen.kind
        plan.all_plans = len(found.plans) + 1
        found.plans.append(plan)
        said = seconds(plan.updated_at)  # of a decision alone no file tells the time
        at = found.upto if said is None else said * SECOND_US
        _add_decisions(found, file, section[DECISIONS], theirs, at=at, most=most)


def _add_decisions(
    found: Facts, file: str, log: list[Section], theirs: frozenset[str], *, at: int, most: int
) -> None:
    """Beside the journal's own, whose ids may be the same: these are named with their file."""
    for each in log[::-1]:
        row = (f"{file} {each['id']}", each["decision"], "user", at, file)
        if f"{DECISIONS}.{each['id']}" in theirs:
            found.foreign = [*found.foreign, row][:most]
            found.all_foreign += 1
        else:
            found.decisions = [*found.decisions, row][:most]
            found.all_decisions += 1
