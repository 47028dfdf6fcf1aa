"""`standfast context`: the files by which agents with a role survive a compaction.

The words are those of the scripts that such agents know: `lifecycle.pre.compact`, `validate.all`.
With blanks and dashes between them they mean the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast.errors.base import WrongUsage
from standfast.text import one_line

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from standfast.surfaces.cli.command_context import Context

_CHECKS = ("validate", "validate.all", "schema", "migrate", "write")
_CYCLE = (
    *("save", "recover", "lifecycle.init", "lifecycle.save", "lifecycle.status"),
    *("lifecycle.pre.compact", "lifecycle.recover"),
)
_SHIM = "shim"
_LIFECYCLE = "lifecycle"
ACTIONS = (*_CHECKS, *_CYCLE, _SHIM)
_MOST_WORDS = max(action.count(".") for action in ACTIONS) + 1


def configure(parser: argparse.ArgumentParser) -> None:
    """What to do, and with which role or file."""
    parser.add_argument("action", choices=ACTIONS, metavar="ACTION", help=", ".join(ACTIONS))
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="a role (else HIVEMIND_ROLE), or files to check"
    )
    parser.add_argument(
        "--hook", action="store_true", help="shim: write the PreCompact hook of this checkout too"
    )


def rewrite(arguments: Sequence[str]) -> list[str]:
    """The words of an action as one: `lifecycle pre-compact` is `lifecycle.pre.compact`."""
    found = list(arguments)
    first = next((n for n, word in enumerate(found) if not word.startswith("-")), len(found))
    for count in range(min(_MOST_WORDS, len(found) - first), 0, -1):
        name = ".".join(found[first : first + count]).replace("-", ".")
        if name in ACTIONS:
            return [*found[:first], name, *found[first + count :]]
    return _half(found, first)


def _half(words: list[str], first: int) -> list[str]:
    """`lifecycle` and nothing after it, or no action of it: which there are is said."""
    begun, _, rest = words[first].partition(".") if first < len(words) else ("", "", "")
    if begun != _LIFECYCLE:
        return words
    if not {"-h", "--help"}.isdisjoint(words):
        return ["--help"]
    follows = [rest] if rest else [word for word in words[first + 1 :] if not word.startswith("-")]
    wrong = f"`{one_line(follows[0], 80)}` is no action of `lifecycle`" if follows else ""
    there_are = ", ".join(action for action in _CYCLE if action.startswith(f"{_LIFECYCLE}."))
    raise WrongUsage(
        wrong or "`lifecycle` is no action by itself",
        remedy=f"There are {there_are}; see `standfast context --help`.",
    )


def run(context: Context, arguments: argparse.Namespace) -> int:
    """Load what does it, and do it."""
    name = arguments.action.replace(".", "_")
    if arguments.action in _CHECKS:
        from standfast.surfaces.cli import context_commands

        return int(getattr(context_commands, name)(context, arguments))
    if arguments.action == _SHIM:
        from standfast.surfaces.cli import context_shim

        return int(context_shim.shim(context, arguments))
    from standfast import config
    from standfast.surfaces.cli import context_cycle

    config.refuse_relative_config_path(context.environ)
    return int(getattr(context_cycle, name)(context, arguments))
