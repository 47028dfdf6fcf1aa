"""The bundle: what a hook imports, compiled, in one file beside the launcher.

Forty small files cost a hook as much as a third of an interpreter start, and far more on a cold
disk. Each module carries the stamp of its source: one that was changed since is imported as
usual, so a bundle can be old but never wrong. `start` reads it.
"""

from __future__ import annotations
import __future__

import ast
import importlib.util
import marshal
import os
from typing import TYPE_CHECKING

import standfast

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType

FILE = "hook.modules"
PACKAGES = ("", "clients", "clients.claude", "files", "journal", "protocol", "redact", "wake")
MODULES = (
    *("clock", "disk", "errors", "followed", "xdg"),
    *("protocol.context_monitor", "protocol.declared_outputs", "protocol.ids"),
    *("protocol.output_clauses", "protocol.output_conditions", "protocol.output_phrases"),
    *("protocol.outputs", "protocol.phrase_words", "protocol.placeholders"),
    "protocol.prompt_before",
    *("protocol.prompt_intros", "protocol.prompt_lines", "protocol.prompt_tokens"),
    *("protocol.reinject", "protocol.sentinel_orders", "protocol.staleness", "protocol.text"),
    *("protocol.updated_at", "protocol.workflow_id"),
    *("clients.afterwards", "clients.checkout", "clients.commits", "clients.hook"),
    "clients.serve",
    *("clients.claude.answers", "clients.claude.chosen", "clients.claude.committing"),
    "clients.claude.payload",
    *("clients.claude.demands", "clients.claude.monitor", "clients.claude.outputs"),
    *("clients.claude.recipes", "clients.claude.recording", "clients.claude.reminders"),
    *("clients.claude.starting", "clients.claude.telling", "clients.claude.transcript"),
    "clients.claude.watching",
    *("files.output_file", "files.output_places"),
    *("journal.alive", "journal.author", "journal.chain", "journal.concerned", "journal.damage"),
    *("journal.database", "journal.folds", "journal.freshness"),
    *("journal.locks", "journal.lost", "journal.opening", "journal.payload", "journal.place"),
    *("journal.schema", "journal.session_folds", "journal.spool", "journal.store"),
    *("journal.turnstile", "journal.writing"),
    *("wake.brief", "wake.delivery", "wake.facts", "wake.open_outputs", "wake.plan"),
    *("wake.plan_sections", "wake.plans", "wake.sections", "wake.voice"),
)
_ROOT = os.path.dirname(os.path.abspath(standfast.__file__))
_NO_DOCSTRINGS = 2
_ANNOTATIONS = __future__.annotations.compiler_flag  # the one thing of the future that we use


def make() -> bytes:
    """The modules as their files are now: name → is a package, file, stamp, code."""
    made = {
        name: (
            os.path.basename(path) == "__init__.py",
            path,
            _stamp(path),
            marshal.dumps(_code(path)),
        )
        for name, path in _files()
    }
    finder = _code(os.path.join(_ROOT, "clients", "bundled.py"))
    return importlib.util.MAGIC_NUMBER + marshal.dumps((finder, made))


def is_current(data: bytes) -> bool:
    """Whether a bundle has every module as its file is now; no two of them have equal bytes."""
    if not data.startswith(importlib.util.MAGIC_NUMBER):
        return False
    try:
        _, held = marshal.loads(data[len(importlib.util.MAGIC_NUMBER) :])  # noqa: S302  # our own file
        return {name: found[1:3] for name, found in held.items()} == {
            name: (path, _stamp(path)) for name, path in _files()
        }
    except (ValueError, EOFError, TypeError, AttributeError, IndexError):
        return False


def _files() -> Iterator[tuple[str, str]]:
    for name in PACKAGES:
        folder = os.path.join(_ROOT, *name.split("."))
        yield f"standfast.{name}".rstrip("."), os.path.join(folder, "__init__.py")
    for name in MODULES:
        yield f"standfast.{name}", os.path.join(_ROOT, *name.split(".")) + ".py"


def _stamp(path: str) -> tuple[int, int]:
    found = os.stat(path)
    return found.st_mtime_ns, found.st_size


def _code(path: str) -> CodeType:
    with open(path, "rb") as file:
        tree = ast.parse(file.read(), path)
    tree.body = [each for each in tree.body if not _is_from_future(each)]
    code = compile(tree, path, "exec", _ANNOTATIONS, dont_inherit=True, optimize=_NO_DOCSTRINGS)
    return _without_lines(code)


def _is_from_future(statement: ast.stmt) -> bool:
    """Told to the compiler instead: where it stands, the module of that name would be loaded."""
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"


def _without_lines(code: CodeType) -> CodeType:
    """Nobody reads a traceback of a hook: what only tracebacks need is a quarter of the bytes."""
    inner = tuple(
        _without_lines(each) if isinstance(each, type(code)) else each for each in code.co_consts
    )
    return code.replace(co_consts=inner, co_linetable=b"")
