"""The id of the workflow that a file leads: with the file's path it names a document.

Looked for line by line, so that a hook can afford it and a file that is half broken still has one.
What is written otherwise than people write it names none. Pure. Hook path.
"""

from __future__ import annotations

_KEY = "workflow"
_LONGEST = 200
_NEAR = 4_000  # characters of a mapping in braces


def document_name(file: str, workflow: str | None) -> str:
    """What a document is known by: its file, and its workflow where the file names one."""
    return file if workflow is None else f"{file}#{workflow}"


def workflow_id(text: str) -> str | None:
    """`workflow.id` of the top level; None where there is none that can be told."""
    text = text.removeprefix("\ufeff")
    if text.lstrip().startswith("{"):
        return _in_braces(text.partition(f'"{_KEY}"')[2] or text.partition(f"{_KEY}:")[2])
    lines = text.split("\n")
    for at, line in enumerate(lines):
        key, value = _entry(line)
        if key == _KEY and line[:1] not in {" ", "#"}:
            if value.startswith("{"):
                return _in_braces("\n".join([value, *lines[at + 1 : at + 40]]))
            return None if value else _in_block(lines[at + 1 :])
    return None


def _in_block(lines: list[str]) -> str | None:
    """The `id` of the entries that stand one step in."""
    step = 0
    for line in lines:
        words = line.strip()
        if not words or words.startswith("#"):
            continue
        indent = len(line) - len(line.lstrip(" "))
        step = step or indent
        if not indent or indent < step:
            return None
        key, value = _entry(words)
        if key == "id" and indent == step:
            return _scalar(value)
    return None


def _in_braces(text: str) -> str | None:
    """The `id` of the mapping that begins here, before another one begins in it."""
    inside = text[:_NEAR].partition("{")[2].partition("}")[0].partition("{")[0]
    for line in inside.split("\n"):
        for part in line.split(","):
            key, value = _entry(part.strip())
            if key == "id":
                return _scalar(value)
    return None


def _entry(words: str) -> tuple[str, str]:
    key, colon, value = words.partition(":")
    return (key.strip().strip("\"'"), _uncommented(value.strip())) if colon else ("", "")


def _uncommented(value: str) -> str:
    if value[:1] in {'"', "'"}:
        end = value.find(value[0], 1)
        return value if end < 0 else value[: end + 1]
    return "" if value.startswith("#") else value.partition(" #")[0].strip()


def _scalar(value: str) -> str | None:
    """A plain or quoted word; anything else names nothing."""
    said = value[1:-1] if value[:1] in {'"', "'"} and value[-1:] == value[0] else value
    if said in {"", "null", "~"} or said[0] in "[{&*|>!" or len(said) > _LONGEST:
        return None
    return said if said.isprintable() else None
