"""`standfast context validate`, `validate.all`, `schema`, `migrate` and `write`: the files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from standfast.errors.base import WrongUsage
from standfast.protocols.context.files import context_files
from standfast.protocols.context.rules.context_checks import SCHEMA, VERSION
from standfast.surfaces.cli.context_findings import checked, told
from standfast.surfaces.cli.screen import json_line

if TYPE_CHECKING:
    import argparse

    from standfast.surfaces.cli.command_context import Context


def validate(context: Context, arguments: argparse.Namespace) -> int:
    """Check the files that are named; several are one document for machines, as all of them are."""
    if not arguments.names:
        raise WrongUsage("name a file to validate, or say `validate.all`")
    found = [checked(context, name) for name in arguments.names]
    passed = sum(not each.errors for each in found)
    if context.json:
        files = [each.as_dict() for each in found]
        several = {"passed": passed, "total": len(found), "files": files}
        print(json_line(several if len(found) > 1 else files[0]))
    else:
        print("\n".join(told(context.screen, each) for each in found))
    return 0 if passed == len(found) else 1


def validate_all(context: Context, arguments: argparse.Namespace) -> int:
    """Check every context file of the repository; each is told before the next is read."""
    _refuse_names(arguments)
    passed, files = 0, []
    paths = context_files.listed(context.place.root)
    for path in paths:
        each = checked(context, os.path.join(context.place.root, path))
        passed += not each.errors
        if context.json:
            files.append(each.as_dict())
        else:
            print(told(context.screen, each))
    if context.json:
        print(json_line({"passed": passed, "total": len(paths), "files": files}))
    else:
        print(f"{passed}/{len(paths)} passed")
    return 0 if passed == len(paths) else 1


def schema(context: Context, arguments: argparse.Namespace) -> int:
    """Print the rules."""
    _refuse_names(arguments)
    print(json_line({"version": VERSION, "text": SCHEMA}) if context.json else SCHEMA.rstrip("\n"))
    return 0


def migrate(context: Context, arguments: argparse.Namespace) -> int:
    """Make a file valid and show how."""
    from standfast.surfaces.cli import context_changes

    if len(arguments.names) != 1:
        raise WrongUsage("name the one file to migrate")
    return context_changes.migrate(context, arguments.names[0])


def write(context: Context, arguments: argparse.Namespace) -> int:
    """Write what the journal knows into a role's file."""
    from standfast.surfaces.cli import context_changes

    names = arguments.names or [context.environ.get("HIVEMIND_ROLE", "")]
    if len(names) != 1 or not names[0]:
        raise WrongUsage("name the one role to write for, or set HIVEMIND_ROLE")
    return context_changes.write(context, names[0])


def _refuse_names(arguments: argparse.Namespace) -> None:
    if arguments.names:
        raise WrongUsage(f"`{arguments.action}` takes no names")
