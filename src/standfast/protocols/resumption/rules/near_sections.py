"""What looks like a resumption section and is none: in another case, or within another key. Pure.

Nobody may put a second section beside one that a person takes for it.
"""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any, NamedTuple

from standfast.errors.base import StandfastError
from standfast.formats.json_schema import shown
from standfast.formats.yaml_text import read_yaml
from standfast.protocols.resumption.rules.migration.key_case import folded
from standfast.protocols.resumption.rules.migration.recovery_state import CALLED
from standfast.protocols.resumption.rules.section_schema import SUB_SECTIONS, V1_FIELDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from standfast.formats.yaml_text import Path

KEY = "resumption"
_NAMES = {KEY, "resumption_section", "resumption_state", "session_resumption"}
_FIELDS = {*SUB_SECTIONS, *V1_FIELDS, *CALLED}
_ALIKE = 0.85  # `resumtion`
_DEEPEST = 3


class Near(NamedTuple):
    """A key that was meant as the section, and its line."""

    path: Path
    line: int

    @property
    def problem(self) -> str:
        """What is wrong with it."""
        return f"the file has no resumption section, but `{shown(self.path)}` looks like it"

    @property
    def remedy(self) -> str:
        """What makes it one."""
        how = "Move it to the top level as" if len(self.path) > 1 else "Call it"
        return f"{how} `{KEY}:`, then run `standfast resumption show`; the file was left as it is."


def near(text: str) -> Near | None:
    """The first such key of a file that has no section; of what is no YAML nobody can tell."""
    try:
        read = read_yaml(text, name=KEY, any_keys=True)
    except StandfastError:
        return None
    path = next(_meant(read.value, ()), None)
    return None if path is None else Near(path, read.line_of(path))


def _meant(value: object, path: Path) -> Iterator[Path]:
    for key, each in value.items() if isinstance(value, dict) else ():
        if (path or key != KEY) and _is_name(str(key)) and _looks_like(each):
            yield (*path, key)
        elif len(path) + 1 < _DEEPEST:
            yield from _meant(each, (*path, key))


def _is_name(key: str) -> bool:
    name = folded(key)
    return name in _NAMES or SequenceMatcher(None, name, KEY).ratio() > _ALIKE


def _looks_like(value: Any) -> bool:  # noqa: ANN401  # anything
    return isinstance(value, dict) and any(folded(str(key)) in _FIELDS for key in value)
