"""Look: a resumption section that stands in a file and in no journal, as far as it can be read.

It is told beside what is journalled, with what it is instead of v2.0; nothing of it is taken over
by being told. For commands: hooks tell what is journalled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast.authorship import REPOSITORY
from standfast.brief import live_plans
from standfast.errors.base import StandfastError
from standfast.journal.tables.document_folds import Document
from standfast.protocols.resumption.files import section_file
from standfast.protocols.resumption.records import document_records, freshness
from standfast.protocols.resumption.records.unrecorded_document import journalled
from standfast.protocols.resumption.rules.migration.phase_prose import other_phase
from standfast.protocols.resumption.rules.repository_labels import DECISIONS, label
from standfast.protocols.resumption.rules.staleness import FRESH, SECOND_US, judge, seconds
from standfast.protocols.resumption.rules.update_matrix import Resumption

if TYPE_CHECKING:
    from standfast.brief.facts import Ask, Facts
    from standfast.brief.plan_summary import Plan
    from standfast.journal.store import Journal


def add(
    found: Facts, ask: Ask, journal: Journal, root: str, file: str, *, now: int, most: int
) -> None:
    """Add the plan of a file that no document is known of; what cannot be read is left out."""
    read = _seen(journal, root, file) if document_records.find(ask, file) is None else None
    if read is None:
        return
    document, kind = read
    for plan in live_plans.gather(journalled(document), root, None, now, most=most):
        began = freshness.session_start(ask, found.session)
        age = judge(plan.updated_at, now_us=now, session_started_us=began)
        plan.level, plan.reason = age.level, age.reason
        _add(found, plan, document, kind)
        _add_decisions(found, plan, document, most)


def add_over(
    found: Facts, ask: Ask, journal: Journal, root: str, file: str, *, now: int, most: int
) -> None:
    """Add the plan of a file that leads nobody any more: that it is over is worth knowing too.

    It is as the journal has it, where it has it: a copy in another worktree may be from before.
    """
    known = document_records.find(ask, file)
    read = _seen(journal, root, file) if known is None else None
    document, kind = (known, "") if read is None else read
    if document is None:
        return
    for plan in live_plans.gather(
        journalled(document), root, None, now, most=most, everywhere=True, over=True
    ):
        plan.level = FRESH  # it is not to be brought up to date
        _add(found, plan, document, kind)
        if known is None:
            _add_decisions(found, plan, document, most)


def _seen(journal: Journal, root: str, file: str) -> tuple[Document, str] | None:
    """What a file's section says, and what it is instead of v2.0."""
    try:
        seen = section_file.look(root, file)
        if not seen.has_section:
            return None
        moved = seen.readable
        whose = section_file.whose_as_read(journal, seen, root)
    except (StandfastError, OSError):
        return None  # whoever asks for the section is told what is wrong with it
    theirs = frozenset(label(path) for path, by in whose.items() if by.actor == REPOSITORY)
    document = Document(file, root, Resumption(moved.section), foreign=theirs)
    return document, "" if seen.is_valid else seen.kind


def _add(found: Facts, plan: Plan, document: Document, kind: str) -> None:
    plan.words_of = other_phase(document.section["recovery_state"])
    plan.untaken = kind
    plan.all_plans = len(found.plans) + 1
    found.plans.append(plan)


def _add_decisions(found: Facts, plan: Plan, document: Document, most: int) -> None:
    """Beside the journal's own, whose ids may be the same: these are named with their file."""
    file, said = document.file, seconds(plan.updated_at)  # of a decision alone no file tells it
    at = said * SECOND_US if said else found.upto
    for each in document.section[DECISIONS][::-1]:
        row = (f"{file} {each['id']}", each["decision"], "user", at, file)
        if f"{DECISIONS}.{each['id']}" in document.foreign:
            found.foreign = [*found.foreign, row][:most]
            found.all_foreign += 1
        else:
            found.decisions = [*found.decisions, row][:most]
            found.all_decisions += 1
