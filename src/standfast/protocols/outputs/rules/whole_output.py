"""The files that agents leave behind: when one is whole, what it is called, how it is asked for.

The one place that knows the sentinel. An output is whole when it says something and its last
line is the sentinel: an agent that was cut off has written neither. Hook path.
"""

from __future__ import annotations

from standfast import ids

SENTINEL = "<!-- AGENT_COMPLETE -->"
LIMIT = 16 * 1024 * 1024
LAUNCHES = 2  # the first, and one more

# Why an output is not valid: always exactly one of these.
MISSING = "missing"
EMPTY = "empty"
SENTINEL_ONLY = "sentinel-only"
NO_SENTINEL = "no-sentinel"
NOT_A_FILE = "not-a-file"
TOO_LARGE = "too-large"
UNREADABLE = "unreadable"
REASONS = (MISSING, EMPTY, SENTINEL_ONLY, NO_SENTINEL, NOT_A_FILE, TOO_LARGE, UNREADABLE)
IN_THE_WAY = (NOT_A_FILE, UNREADABLE)  # no agent could write there either

_END = SENTINEL.encode()
_BOM = b"\xef\xbb\xbf"
_BLANK = b" \t\r\n"


def fault(data: bytes) -> str | None:
    """Why these contents are not a valid output; None when they are one.

    Blank lines may follow the sentinel, and its own line end may be missing; nothing else may
    stand on its line, not even a blank.
    """
    if len(data) > LIMIT:
        return TOO_LARGE
    text = data.removeprefix(_BOM).rstrip(_BLANK)
    if not text:
        return EMPTY
    if not text.endswith(_END):
        return NO_SENTINEL
    before = text.removesuffix(_END)
    behind = data.removeprefix(_BOM)[len(text) :].split(b"\n", 1)[0]
    if behind not in {b"", b"\r"} or not (before == b"" or before.endswith(b"\n")):
        return NO_SENTINEL
    return None if _says_something(before) else SENTINEL_ONLY


def _says_something(before: bytes) -> bool:
    return bool(before.replace(_END, b"").strip(_BLANK))


def file_name(skill: str, role: str, suffix: str = "") -> str:
    """What an agent's output is called: from its maker alone, so that a relaunch finds it."""
    return ids.name(f"{skill}-{role}{suffix}.md", what="output")


def paragraph(path: str) -> str:
    """What every prompt for an agent carries: where its findings go and how they must end."""
    return (
        f"Write your complete findings to: {path}\n"
        "That file is your result: what you only say in reply is not read. It must exist when you\n"
        f"finish, and its last line must be exactly `{SENTINEL}`, with nothing after it.\n"
    )


def prompt(task: str, path: str) -> str:
    """A task with the paragraph; one that carries it already is left as it is."""
    about = paragraph(path)
    return task if about in task else f"{task.rstrip()}\n\n{about}".lstrip()


def paragraphs(text: str) -> list[str]:
    """The paths in every such paragraph of ours, where a line begins with it."""
    before, behind = paragraph("\n").split("\n\n")
    lines = (part.rpartition("\n")[2] for part in text.split(f"\n{behind}")[:-1])
    return list(dict.fromkeys(each[len(before) :] for each in lines if each.startswith(before)))


def remedy(path: str, why: str) -> str:
    """What to tell an agent whose output is not valid."""
    return f"{wrong(path, why)}. {paragraph(path)}"


def wrong(path: str, why: str) -> str:
    """What is not valid, for people and for an agent that is told anew what to write anyway."""
    says = {
        MISSING: "does not exist",
        EMPTY: "is empty",
        SENTINEL_ONLY: "holds nothing but the closing line",
        NO_SENTINEL: "does not end in the closing line",
        NOT_A_FILE: "is not a regular file",
        UNREADABLE: "may not be read by you: look at its rights and those of its folder",
        TOO_LARGE: f"is over {LIMIT // (1024 * 1024)} MiB",
    }[why]
    return f"{path} {says}"
