"""Writes what is made: docs/reference/*.md, schemas, reliability, matrix. `--check` compares."""

import json
import os
import sys
from pathlib import Path

from standfast import config
from standfast.errors import base, lanes, plans
from standfast.errors.base import StandfastError
from standfast.plans import plan_schema
from standfast.protocols.checkpoints.rules import checkpoint_fields
from standfast.protocols.resumption.rules import section_schema
from standfast.redaction.patterns import odd_kinds
from standfast.redaction.secret_flags import commands as commands_with_secrets
from standfast.redaction.secret_formats import Format, characters, formats
from standfast.surfaces.cli import frame

sys.path.insert(0, str(Path(__file__).parent))

import matrix_page  # these stand beside this file
import reliability
import resumption_page

FOLDER = Path(__file__).parents[1] / "docs" / "reference"
NOTE = "<!-- Made by `make docs` from the code; edit there. -->\n"


def commands() -> str:
    """Every command with its own help."""
    os.environ["COLUMNS"] = "96"  # argparse folds its text to the terminal
    parts = ["# Commands\n", NOTE, f"```text\n{frame.help_text()}```\n"]
    for command in frame.commands():
        parser, _ = frame.load(command.name)
        parts.append(f"## {command.name}\n\n```text\n{parser.format_help()}```\n")
    parts.append(
        "With `--json` a command prints one JSON object (`events`: one a line). An error is "
        '`{"error": {"code", "exit_status", "problem", "file", "line", "remedy"}}` on stdout.\n'
        "Readers ignore fields that they do not know.\n"
    )
    return "\n".join(parts)


def error_table() -> str:
    """Every error's code, exit status, cause and remedy."""
    rows = [
        f"| `{error.code}` | {error.exit_status} | {error.__doc__} | {error.remedy} |"
        for error in all_errors()
    ]
    head = "| code | exit status | cause | remedy (the message may say more) |\n|---|--:|---|---|\n"
    return (
        f"# Errors and exit statuses\n\n{NOTE}\n"
        "0 is done, 1 a check that failed or a gate that is closed, 2 wrong usage, 75 a gate that "
        "is not decided yet, 130 an interrupt; the others each have one cause:\n\n"
        + head
        + "\n".join(rows)
        + "\n"
    )


def all_errors() -> list[type[StandfastError]]:
    """The classes in the order of their codes."""
    found = (
        value
        for value in {**vars(base), **vars(lanes), **vars(plans)}.values()
        if isinstance(value, type) and issubclass(value, StandfastError)
    )
    return sorted((e for e in found if e is not StandfastError), key=lambda error: error.code)


def settings() -> str:
    """Every setting, its default, and where it may stand."""
    defaults = config.Config._field_defaults
    rows = [
        f"| `{key.name}` | `{defaults[key.name]}` | {'yes' if key.project else '**no**'} "
        f"| {f'`STANDFAST_{key.name.upper()}`' if key.variable else '**none**'} | {key.says} |"
        for key in config.KEYS
    ]
    head = (
        "| key | default | in a project's file? | variable | what it is |\n|---|---|---|---|---|\n"
    )
    return (
        f"# Configuration\n\n{NOTE}\n"
        f"Defaults < `$XDG_CONFIG_HOME/{config.USER_FILE}` < `{config.PROJECT_FILE}` in the "
        "repository < environment < `--set KEY=VALUE`. Both files are YAML, one mapping.\n\n"
        + head
        + "\n".join(rows)
        + "\n\nA repository's file may never name a program to run. "
        "`NO_COLOR` and `FORCE_COLOR` are honoured; `STANDFAST_SESSION` or the client's own "
        "variable names the session a note belongs to. `HIVEMIND_ROLE` is the role of an agent, "
        "and `CONFIG_PATH` the folder of `stateMachines/` (by default "
        "`$XDG_CONFIG_HOME/standfast`).\n"
    )


def secrets() -> str:
    """Every format of a secret that is known."""
    known = formats()
    rows = [
        f"| {each.name} | {_marks(each)} | `{characters(each.alphabet)}` | {_length(each)} |"
        for each in known
    ]
    odd = ", ".join(kind for kind in odd_kinds() if kind not in {each.name for each in known})
    return (
        f"# Secrets that are recognised\n\n{NOTE}\n"
        f"{len(known)} formats by what a key begins with, or by whose name stands beside it as in "
        "`NAME: 'key'`; each has a sample and a near miss in"
        " `tests/redaction/test_secret_formats.py`.\n\n"
        "| format | begins with, or stands beside | then | characters |\n|---|---|---|--:|\n"
        + "\n".join(rows)
        + f"\n\nBy a shape of their own, or by what surrounds them: {odd}; blocks of private keys; "
        "values under names such as `password`, `api_key`, `DB_PASS`, `--token`, `Authorization`, "
        "`Cookie`: quoted, bare, in brackets, in a list or on the next line; and what these "
        f"commands are given: {_called()}.\n\nNot recognised: a random "
        "string with neither a beginning of its own nor a name beside it.\n"
    )


def _called() -> str:
    return ", ".join(
        f"`{' '.join((each.programs[0], each.subcommand)).strip()} {each.flags[0]}`"
        for each in commands_with_secrets()
    )


def _marks(each: Format) -> str:
    marks = each.literals or tuple(
        f"{word} … {beginning}".rstrip() for word in each.words for beginning in each.beginnings
    )
    return ", ".join(f"`{mark}`" for mark in marks)


def _length(each: Format) -> str:
    return f"{each.lengths[0]} or more" if each.literals else " or ".join(map(str, each.lengths))


def resumption_schema_text() -> str:
    """The JSON Schema of the resumption section, for editors and other programs."""
    return json.dumps(section_schema.PUBLISHED, indent=2, ensure_ascii=False) + "\n"


def checkpoints() -> str:
    """What checkpoints.json holds, for other tools."""
    return json.dumps(checkpoint_fields.schema(), indent=2) + "\n"


def plan() -> str:
    """The JSON Schema of plans in YAML, for editors."""
    return json.dumps(plan_schema.PLAN, indent=2, ensure_ascii=False) + "\n"


PAGES = {
    "commands.md": commands,
    "errors.md": error_table,
    "configuration.md": settings,
    "secrets.md": secrets,
    "resumption.md": lambda: resumption_page.page(NOTE),
    "resumption.schema.json": resumption_schema_text,
    "checkpoints.schema.json": checkpoints,
    "plan.schema.json": plan,
    "../reliability.md": reliability.page,
    "../crash-matrix.md": matrix_page.page,
}


def main(arguments: list[str]) -> int:
    """Write the pages, or say which are out of date."""
    stale = []
    for name, page in PAGES.items():
        path, text = FOLDER / name, page()
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
            if "--check" not in arguments:
                path.write_text(text, encoding="utf-8")
    if stale:
        verb = "out of date, run `make docs`" if "--check" in arguments else "written"
        print(f"{', '.join(stale)}: {verb}")
    return 1 if stale and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
