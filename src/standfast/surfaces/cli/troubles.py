"""What stood in the way after the acknowledgement: told once each, on stderr, and never fatal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from standfast.text import printable

if TYPE_CHECKING:
    from standfast.surfaces.cli.command_context import Context


def tell(context: Context) -> None:
    """Print every trouble that was met; several faces may have met the same one."""
    lines = [printable(f"but {each.where}: {each.problem}") for each in context.trouble]
    for line in dict.fromkeys(lines):
        print(line, file=sys.stderr)
