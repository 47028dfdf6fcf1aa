"""Context files, right and wrong, as agents write them."""

import re

ROLE = "oosh-expert"
NOW = "2026-02-03T13:00Z"
VALID = """\
# OOSH Expert Agent — Session Context

**Updated**: 2026-02-03T12:15Z
**Role**: oosh-expert (implementation & architecture)
**Pane**: 0.4 in cursorOrchestrator

## Recovery Steps
1. Read this file
2. Ask the orchestrator for the next task

## Completed Work
### Task 8: Navigation by name (DONE — commit c2c326f)
- the tree is printed
- the registry knows it

### Task 9: A trainer (DONE)
1. a detail with a number

## Pending
- remove the flag

## Key Files
- `hiveMind`, the registry
"""
_HEAD = VALID.partition("## ")[0]
_BODY = VALID.split("\n\n", 2)[2]
_META = "\n".join(VALID.split("\n")[2:5])

# What real files get wrong, each in its own way.
WRONG: dict[str, str] = {
    "nothing at all": "",
    "only blank lines": "\n\n  \n",
    "a hyphen in the title": VALID.replace(" — S", " - S", 1),
    "an en dash in the title": VALID.replace(" — S", " \u2013 S", 1),
    "two hyphens in the title": VALID.replace(" — S", " -- S", 1),
    "a colon in the title": VALID.replace(" — S", ": S", 1),
    "no title": VALID.split("\n", 2)[2],
    "the title below a line": "Some words first.\n" + VALID,
    "the title below front matter": "---\nrole: x\n---\n" + VALID,
    "a title of level 2": "#" + VALID,
    "a title without its last word": VALID.replace("Session Context", "Notes", 1),
    "a title of a dash": VALID.replace("# OOSH Expert Agent — Session Context", "# — Context", 1),
    "metadata as a list": VALID.replace("\n**", "\n- **"),
    "metadata in lower case": re.sub(r"\*\*(\w+)\*\*", lambda key: f"**{key[1].lower()}**", VALID),
    "the colon within the bold": re.sub(r"\*\*(\w+)\*\*:", r"**\1:**", VALID),
    "metadata without bold": VALID.replace("**", ""),
    "metadata on one line": VALID.replace("\n**R", " **R").replace("\n**P", " **P"),
    "no metadata": VALID.replace(f"{_META}\n\n", ""),
    "no pane": VALID.replace("**Pane**: 0.4 in cursorOrchestrator\n", ""),
    "an empty pane": VALID.replace(" 0.4 in cursorOrchestrator", ""),
    "metadata below line 6": VALID.replace(_META, f"A\n\nB\n\nC\n\n{_META}"),
    "metadata at the end": VALID.replace(f"{_META}\n\n", "") + f"\n{_META}\n",
    "metadata in a fence": VALID.replace(_META, f"```\n{_META}\n```"),
    "a day that does not exist": VALID.replace("2026-02-03", "2026-02-30"),
    "words for a date": VALID.replace("2026-02-03T12:15Z", "yesterday evening"),
    "a date in words": VALID.replace("2026-02-03T12:15Z", "Feb 3, 2026"),
    "a last update above": VALID.replace("**Updated**:", "Last updated:"),
    "an update as a section": VALID.replace("**Updated**: 2026-02-03T12:15Z\n", "")
    + "\n## Updated\n2026-02-03 12:15\n",
    "a date in the title": VALID.replace(
        "— Session Context", "Context — saved 2026-02-03", 1
    ).replace("**Updated**: 2026-02-03T12:15Z\n", ""),
    "a role in words": VALID.replace("**Role**: oosh-expert (", "Role: OOSH Expert ("),
    "Recovery": VALID.replace("## Recovery Steps", "## Recovery"),
    "Recovery Steps with more words": VALID.replace("very Steps", "very Steps after compact"),
    "recovery steps in lower case": VALID.replace("## Recovery Steps", "## recovery steps"),
    "Recovery Steps of level 3": VALID.replace("## Recovery Steps", "### Recovery Steps"),
    "Completed This Session": VALID.replace("## Completed Work", "## Completed This Session"),
    "Completed": VALID.replace("## Completed Work", "## Completed"),
    "Done": VALID.replace("## Completed Work", "## Done"),
    "no recovery steps": VALID.replace("## Recovery Steps\n1. Read this file\n2. Ask", "Ask"),
    "steps in bullets": VALID.replace("1. Read", "- Read").replace("2. Ask", "- Ask"),
    "steps only in a fence": VALID.replace("1. Read", "```\n1. Read").replace(
        "\n\n## C", "\n```\n## C"
    ),
    "no sections": _HEAD,
    "headings only in a fence": _HEAD + f"```markdown\n{_BODY}```\n",
    "a fence that nothing closes": VALID.replace("## Recovery Steps", "```\n## Recovery Steps"),
    "another kind of fence inside": _HEAD + f"~~~~\n```\n{_BODY}~~~\n",
    "only a title": "# OOSH Expert - Session Context\n",
    "only words": "I was here and fixed the parser",
    "no recommended sections": VALID.partition("## Pending")[0],
}
# Every one of them may come from Windows, with a byte order mark, or without its last line end.
for _name, _text in list(WRONG.items()):
    WRONG[f"{_name}, CRLF"] = _text.replace("\n", "\r\n")
    WRONG[f"{_name}, a byte order mark"] = "\ufeff" + _text
    WRONG[f"{_name}, no last line end"] = _text.rstrip("\n")


def lines_of(text: str) -> list[str]:
    """The lines of a text, without what is around them."""
    lines = text.removeprefix("\ufeff").split("\n")
    return [line.removesuffix("\r") for line in (lines if lines[-1] else lines[:-1])]
