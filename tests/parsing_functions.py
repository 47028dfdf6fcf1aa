"""Which functions take outside text apart, told from the source; and which of them were called.

A function counts when its name begins as a reader's does, or when it calls one of the methods that
take text apart. Whether a target reaches it is not declared anywhere: it is seen to be called.
"""

import ast
import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FrameType

import standfast

ROOT = Path(standfast.__file__).parent
READERS = re.compile(r"_*(read|parse|load|decode|from)(_|$)")
TAKES_APART = {
    *("decode", "fsdecode", "from_bytes", "loads"),
    *("partition", "rpartition", "split", "rsplit", "splitlines"),
    *("fullmatch", "match", "finditer"),
}


def parsing_functions() -> Iterator[str]:
    """`module.py:name` of every function that parses, except what only tests and shows."""
    for path in sorted(ROOT.rglob("*.py")):
        module = path.relative_to(ROOT).as_posix()
        if not module.startswith("testing/"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            yield from (f"{module}:{name}" for name in _functions(tree, ""))


def _functions(node: ast.AST, within: str) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef):
            if READERS.match(child.name) or _takes_apart(child):
                yield within + child.name
            yield from _functions(child, f"{within}{child.name}.<locals>.")
        elif isinstance(child, ast.ClassDef):
            yield from _functions(child, f"{within}{child.name}.")
        else:
            yield from _functions(child, within)


def _takes_apart(function: ast.FunctionDef) -> bool:
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in TAKES_APART
        for node in ast.walk(function)
    )


def called_in(work: Callable[[], None]) -> set[str]:
    """`module.py:name` of every function of ours that *work* calls."""
    codes: set[CodeType] = set()

    def note(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call":
            codes.add(frame.f_code)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(before)
    ours = (code for code in codes if Path(code.co_filename).is_relative_to(ROOT))
    return {
        f"{Path(code.co_filename).relative_to(ROOT).as_posix()}:{code.co_qualname}" for code in ours
    }


def run_every_seed() -> None:
    """Everything that the targets reach, from their import on."""
    from harness.fuzz.targets import TARGETS

    for target in TARGETS.values():
        for seed in target.starts():
            target.run(seed)


if __name__ == "__main__":  # in a process of its own, where nothing was loaded or made before
    print(json.dumps(sorted(called_in(run_every_seed))))
