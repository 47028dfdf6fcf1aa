"""What an index says of a lane besides its order: whose files, which tests, what for. Pure.

The lane's own section comes first; where both say it otherwise, that is told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast.plans.findings import quoted, warning
from standfast.plans.readers import plan_words
from standfast.plans.readers.markdown_plan import unmarked
from standfast.plans.readers.phase import task_columns

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from standfast.plans.findings import Finding
    from standfast.plans.readers.markdown_plan import Field
    from standfast.plans.readers.phase.lane_index import Entry
    from standfast.plans.readers.phase.lane_tasks import Swimmer

FILES, TESTS = "owned files", "test command"
_SAME = {
    **dict.fromkeys((FILES, "owns", "files owned", "owned", "files", "paths", "folders"), FILES),
    **dict.fromkeys((TESTS, "test commands", "tests", "test", "verify", "verification"), TESTS),
    "scope": "scope",
    "goal": "goal",
}
KEYS = frozenset(_SAME)
_OF_ALL = {FILES: (FILES, "owns", "files owned", "owned", "files"),
           TESTS: (TESTS, "test commands", "tests", "test", "verify", "verification",
                   "validation", "validate", "validation commands")}  # fmt: skip


def fact(head: str) -> str:
    """What a column or a key says of a lane, by the name under which a lane has it."""
    if head in _SAME:
        return _SAME[head]
    means = {task_columns.SCOPE: FILES, task_columns.TEST: TESTS}
    return means.get(task_columns.meaning(head), "")


def give(swimmers: Sequence[Swimmer], entries: Mapping[str, Entry], found: list[Finding]) -> None:
    """Each lane what only the index says of it."""
    for swimmer in swimmers:
        said = entries[swimmer.name].fields if swimmer.name in entries else {}
        for key in (each for each in said if each in _SAME.values()):
            own = swimmer.first(_OF_ALL.get(key, (key,)))
            if own is None and not plan_words.is_none(said[key].value):
                swimmer.fields[key] = said[key]
            elif own is not None and _words(own) != _words(said[key]):
                problem = f"{quoted(said[key].name)} of {quoted(swimmer.name)} is said otherwise in"
                remedy = "What its own section says counts."
                found.append(warning(said[key].line, f"{problem} line {own.line}", remedy))


def _words(field: Field) -> list[str]:
    texts = [field.value, *(line.words for line in field.more)]
    return sorted(each for text in texts for each in plan_words.apart(unmarked(text)))
