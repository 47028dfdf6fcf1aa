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
MODULES = (
    *("clock", "disk", "ids", "linked_files", "text", "xdg"),
    *("brief.brief_sections", "brief.brief_text", "brief.delivery", "brief.facts"),
    *("brief.live_plans", "brief.open_outputs", "brief.plan_sections", "brief.plan_summary"),
    "brief.voice",
    *("clients.claude.answers", "clients.claude.call_notices"),
    *("clients.claude.derived_facts", "clients.claude.fill_monitor"),
    *("clients.claude.hook_facts", "clients.claude.hook_payload"),
    *("clients.claude.hook_settings", "clients.claude.recipes", "clients.claude.reminders"),
    *("clients.claude.session_commits", "clients.claude.session_start"),
    *("clients.claude.subagent_outputs", "clients.claude.tool_guard"),
    "clients.claude.transcript",
    *("clients.hooks.aftermath", "clients.hooks.checkout", "clients.hooks.commits"),
    *("clients.hooks.deadline", "clients.hooks.hook_call"),
    *("errors.base", "redaction.redactor"),
    *("journal.author", "journal.chain", "journal.damage", "journal.database"),
    *("journal.journal_file", "journal.locks", "journal.payload", "journal.place"),
    *("journal.own_journals", "journal.session_process", "journal.store", "journal.transaction"),
    "journal.writer_queue",
    *("journal.fallback.lost_calls", "journal.fallback.spool"),
    *("journal.tables.folds", "journal.tables.schema", "journal.tables.session_folds"),
    *("protocols.outputs.files.output_file", "protocols.outputs.files.output_places"),
    "protocols.outputs.rules.prompts.clauses",
    "protocols.outputs.rules.prompts.closing_clauses",
    "protocols.outputs.rules.prompts.conditions",
    "protocols.outputs.rules.prompts.declared_outputs",
    "protocols.outputs.rules.prompts.intros",
    "protocols.outputs.rules.prompts.line_context",
    "protocols.outputs.rules.prompts.phrase_words",
    "protocols.outputs.rules.prompts.phrases",
    "protocols.outputs.rules.prompts.placeholders",
    "protocols.outputs.rules.prompts.prompt_lines",
    "protocols.outputs.rules.prompts.sentinel_orders",
    "protocols.outputs.rules.prompts.tokens",
    "protocols.outputs.rules.whole_output",
    "protocols.resumption.records.freshness",
    "protocols.resumption.records.live_documents",
    "protocols.resumption.rules.context_monitor",
    *("protocols.resumption.rules.reinject_markers", "protocols.resumption.rules.staleness"),
    *("protocols.resumption.rules.updated_at", "protocols.resumption.rules.workflow_id"),
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
    finder = _code(os.path.join(_ROOT, "clients", "hooks", "bundle_finder.py"))
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
    for name in sorted(_packages()):
        folder = os.path.join(_ROOT, *name.split("."))
        yield f"standfast.{name}".rstrip("."), os.path.join(folder, "__init__.py")
    for name in MODULES:
        yield f"standfast.{name}", os.path.join(_ROOT, *name.split(".")) + ".py"


def _packages() -> set[str]:
    """The packages that the modules lie in, and those that these lie in; `""` is our own."""
    found = {""}
    for name in MODULES:
        while name := name.rpartition(".")[0]:
            found.add(name)
    return found


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
