"""The bundle: what a hook imports, compiled, in one file beside the launcher.

Forty small files cost a hook as much as a third of an interpreter start, and far more on a cold
disk. Each module carries the stamp of its source: one that was changed since is imported as
usual, so a bundle can be old but never wrong. `start` reads it.
"""

from __future__ import annotations

import importlib.util
import marshal
import os

import standfast

FILE = "hook.modules"
PACKAGES = ("", "clients", "clients.claude", "journal", "protocol", "redact", "wake")
MODULES = (
    *("clock", "disk", "errors", "xdg", "protocol.ids", "protocol.text"),
    *("clients.afterwards", "clients.alive", "clients.checkout", "clients.hook", "clients.serve"),
    *("clients.claude.answers", "clients.claude.payload", "clients.claude.recording"),
    *("clients.claude.starting", "clients.claude.telling", "clients.claude.transcript"),
    *("journal.author", "journal.chain", "journal.database", "journal.folds", "journal.heads"),
    *("journal.locks", "journal.lost", "journal.opening", "journal.payload", "journal.place"),
    *("journal.schema", "journal.session_folds", "journal.spool", "journal.store"),
    *("journal.turnstile", "journal.writing"),
    *("wake.brief", "wake.delivery", "wake.facts", "wake.owed"),
)
_ROOT = os.path.dirname(os.path.abspath(standfast.__file__))
_NO_DOCSTRINGS = 2


def make() -> bytes:
    """The modules as their files are now: name → is a package, file, stamp, code."""
    files = {name: f"{name.replace('.', os.sep)}.py" for name in MODULES}
    files |= {name: os.path.join(name.replace(".", os.sep), "__init__.py") for name in PACKAGES}
    made = {
        f"standfast.{name}".rstrip("."): _module(os.path.join(_ROOT, file), name in PACKAGES)
        for name, file in files.items()
    }
    return importlib.util.MAGIC_NUMBER + marshal.dumps(made)


def _module(path: str, is_package: bool) -> tuple[bool, str, tuple[int, int], bytes]:  # noqa: FBT001  # a field of the result
    found = os.stat(path)  # before it is read: a change in between makes the stamp a wrong one
    with open(path, "rb") as file:
        code = compile(file.read(), path, "exec", dont_inherit=True, optimize=_NO_DOCSTRINGS)
    return is_package, path, (found.st_mtime_ns, found.st_size), marshal.dumps(code)
