"""A YAML plan that is asked for one thing at a time; whatever is wrong is noted, none is the last.

Every question has an answer that can be gone on with, so that a plan with ten mistakes is told all
ten at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast import ids
from standfast.errors.base import BadName
from standfast.formats import durations
from standfast.plans.findings import Finding, nearest, quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from standfast.formats.document_limits import Value
    from standfast.formats.yaml_text import Document, Path

_WORDS = {dict: "a mapping", list: "a list", bool: "true or false", type(None): "nothing"}
_QUOTES = "Put the value in quotes."
_BY_NAME = "Write `NAME:` for each, with its keys below, and not `- id: NAME`."
# What others call our keys: names that look alike may mean something else.
_MEANT: Mapping[str, tuple[str, ...]] = {
    "after": ("depends_on", "depends", "dependencies", "deps", "needs", "requires", "blocked_by",
              "wait_for", "waits_for"),
    "owns": ("files", "owned_files", "paths", "scope", "files_in_scope", "owned"),
    "test": ("tests", "verify", "check", "test_command", "test_commands", "validate",
             "validation"),
    "prompt": ("task", "description", "instructions", "do", "what", "run", "command", "goal"),
    "task": ("prompt", "description", "instructions", "do", "what", "goal", "steps"),
    "run": ("name", "plan", "id", "run_id", "plan_name"),
    "base": ("branch", "base_branch", "target", "into", "target_branch"),
    "time": ("timeout", "time_limit", "max_time"),
    "retries": ("max_retries", "retry", "attempts"),
    "runner": ("agent", "client", "cli", "model"),
    "phases": ("phase", "waves", "stages"),
    "lanes": ("jobs", "swim_lanes", "workstreams"),
    "setup": ("prepare", "install", "before", "before_script"),
}  # fmt: skip
_FOR_THE_PROMPT = ("title", "acceptance", "acceptance_criteria", "done_when", "criteria", "notes",
                   "name", "id", "description", "goal", "objective", "context")  # fmt: skip


class Page:
    """A document that was read, and what was found to be wrong with it so far."""

    def __init__(self, document: Document) -> None:
        self.findings: list[Finding] = []
        self._document = document

    def line(self, at: Path) -> int:
        """Where *at* stands."""
        return self._document.line_of(at)

    def wrong(self, at: Path, problem: str, remedy: str = "") -> None:
        """Note what is wrong at *at*."""
        self.findings.append(Finding(self.line(at), problem, remedy))

    def get(self, at: Path) -> Value:
        """The value at *at*, or None."""
        return self._document.at(at)

    def has(self, at: Path) -> bool:
        """Is there such a key, whatever it holds."""
        around = self.get(at[:-1])
        return isinstance(around, dict) and at[-1] in around

    def is_mapping(self, at: Path) -> bool:
        """Is it a mapping, even an empty one."""
        return isinstance(self.get(at), dict)

    def mapping(self, at: Path, known: Sequence[str] = ()) -> Mapping[str, Value]:
        """The mapping at *at*; for a key that is not *known*, the nearest that is gets named."""
        value = self.get(at)
        if not isinstance(value, dict):
            by_name = _BY_NAME if isinstance(value, list) and not known else ""
            self._not(at, value, "a mapping of keys to values", by_name)
            return {}
        for key in value:
            if known and key not in known:
                self.wrong((*at, key), f"{quoted(key)} is not known here", _instead(key, known))
        return value

    def text(self, at: Path, *, may_be_empty: bool = False) -> str:
        """The text at *at*, empty if it is not there."""
        value = self.get(at)
        if not self.has(at):
            return ""
        if not isinstance(value, str):
            self._not(at, value, "text", _QUOTES if isinstance(value, int | float) else "")
            return ""
        if not (value.strip() or may_be_empty):
            self.wrong(at, f"{quoted(at[-1])} is empty", "Write something, or leave the key out.")
        return value

    def optional(self, at: Path) -> str | None:
        """The text at *at*, which may be empty; None if the key is not there."""
        return self.text(at, may_be_empty=True) if self.has(at) else None

    def texts(self, at: Path) -> list[tuple[str, Path]]:
        """One text or a list of them, each with its place."""
        value = self.get(at)
        if not self.has(at):
            return []
        if isinstance(value, str):
            return [(value, at)]
        if not isinstance(value, list):
            self._not(at, value, "text or a list of texts")
            return []
        places: list[Path] = [(*at, number) for number in range(len(value))]
        return [(self._item(place), place) for place in places]

    def _item(self, at: Path) -> str:
        value = self.get(at)
        if isinstance(value, str):
            return value
        self._not(at, value, "text", _QUOTES if isinstance(value, int | float) else "")
        return ""

    def choice(self, at: Path, known: Sequence[str], otherwise: str) -> str:
        """One of some words."""
        found = self.text(at)
        if not found:
            return otherwise
        if found not in known:
            self.wrong(at, f"{quoted(at[-1])} cannot be {quoted(found)}", nearest(found, known))
            return otherwise
        return found

    def number(self, at: Path, least: float, most: float) -> int | float | None:
        """A number between two others; None if there is none."""
        value = self.get(at)
        if not self.has(at):
            return None
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not least <= value <= most:  # type: ignore[operator]  # looked at before
            self.wrong(at, f"{quoted(at[-1])} is not a number from {least} to {most}")
            return None
        return value  # type: ignore[return-value]  # the same

    def whole(self, at: Path, least: int, most: int) -> int | None:
        """A whole number between two others; None if there is none."""
        found = self.number(at, least, most)
        if found is None or isinstance(found, int):
            return found
        self.wrong(at, f"{quoted(at[-1])} is not a whole number")
        return None

    def time(self, at: Path) -> float | None:
        """A time in seconds; None if there is none."""
        if not self.has(at):
            return None
        found = durations.seconds(self.get(at))
        if found is None:
            self.wrong(at, f"{quoted(at[-1])} is no time such as 90s, 45m or 2h, up to a week")
        return found

    def checked(self, at: Path, found: str, check: Callable[..., str], what: str) -> str:
        """A name or path by the rules of `ids`; what breaks them is noted, and empty."""
        try:
            return check(found, what=what)
        except BadName as error:
            self.wrong(at, error.problem, error.remedy)
            return ""

    def name(self, at: Path, what: str) -> str:
        """The last key of *at* as a name."""
        return self.checked(at, str(at[-1]), ids.name, what)

    def _not(self, at: Path, value: Value, wanted: str, remedy: str = "") -> None:
        found = _WORDS.get(type(value)) or ("text" if isinstance(value, str) else "a number")
        what = quoted(at[-1]) if at and isinstance(at[-1], str) else "this"
        self.wrong(at, f"{what} is {found}, not {wanted}", remedy)


def _instead(key: object, known: Sequence[str]) -> str:
    """What to write in the place of a key that is not known."""
    said = str(key).lower().replace("-", "_").replace(" ", "_")
    meant = next((own for own, others in _MEANT.items() if own in known and said in others), "")
    if meant:
        return f"Write {quoted(meant)}."
    if said in _FOR_THE_PROMPT:
        return "There is no key for it: say it in the prompt, or behind a `#`."
    return nearest(str(key), known)
