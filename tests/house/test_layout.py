"""The house: a name is said once, packages hold a docstring, READMEs show where a seed is done."""

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import pytest

import standfast
from places import ROOT

PACKAGE = Path(standfast.__file__).parent
MODULES = sorted(each for each in PACKAGE.rglob("*.py") if "testing" not in each.parts)
PROTOCOLS = sorted(each for each in (PACKAGE / "protocols").iterdir() if (each / "rules").is_dir())
NAMED = re.compile(r"`([a-z_/]+\.py)`")
SAID = re.compile(r"[\w*/.-]*[\w*]\.py\b")
NOT_OURS = {"conftest.py", "json.py", "setup.py", "sitecustomize.py", "src/x.py"}


def test_no_name_of_a_module_is_used_twice() -> None:
    """A command is called as its verb is."""
    names = Counter(
        each.stem
        for each in MODULES
        if each.stem not in {"__init__", "__main__"} and each.parent.name != "commands"
    )

    assert [name for name, times in names.items() if times > 1] == []


@pytest.mark.parametrize("top", [PACKAGE, ROOT / "harness"], ids=["product", "harness"])
def test_package_says_what_it_is_for_and_nothing_else(top: Path) -> None:
    for path in top.rglob("*.py"):
        assert (path.parent / "__init__.py").exists(), f"{path.parent} is no package"
    inits = [each for each in top.rglob("__init__.py") if each != PACKAGE / "__init__.py"]
    odd = []
    for path in inits:
        body = ast.parse(path.read_text(encoding="utf-8")).body
        if len(body) != 1 or not isinstance(body[0], ast.Expr):
            odd.append(path.relative_to(ROOT).as_posix())

    assert odd == []


def test_product_knows_nothing_of_the_harness() -> None:
    told = [
        each for each in PACKAGE.rglob("*.py") if re.search(r"\bharness\b", each.read_text("utf-8"))
    ]

    assert told == []


@pytest.mark.parametrize("home", PROTOCOLS, ids=lambda path: path.name)
def test_readme_of_a_protocol_names_what_is_there(home: Path) -> None:
    said = NAMED.findall((home / "README.md").read_text(encoding="utf-8"))
    there = [each.relative_to(PACKAGE).as_posix() for each in PACKAGE.rglob("*.py")]
    gone = [name for name in said if not any(f"/{each}".endswith(f"/{name}") for each in there)]

    assert len(said) > 10
    assert gone == []


def test_tests_lie_as_the_product_does() -> None:
    homes = {each.relative_to(PACKAGE).as_posix() for each in PACKAGE.rglob("*") if each.is_dir()}
    tests = {
        each.parent.relative_to(ROOT / "tests").as_posix()
        for each in ROOT.glob("tests/**/test_*.py")
    }

    assert tests - homes - {".", "house", "harness"} == set()


def words(path: Path) -> Iterator[str]:
    """Every docstring and comment of a module."""
    text = path.read_text(encoding="utf-8")
    for each in ast.walk(ast.parse(text)):
        if isinstance(each, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield ast.get_docstring(each, clean=False) or ""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.string


@pytest.mark.parametrize("top", [PACKAGE, ROOT / "harness"], ids=["product", "harness"])
def test_docstrings_and_comments_name_modules_that_are_there(top: Path) -> None:
    """`wire_*.py` names several; the product speaks of its own modules, and of tests."""
    tops = [PACKAGE, ROOT / "tests", *({top} - {PACKAGE})]
    there = [f"/{each.relative_to(ROOT).as_posix()}" for at in tops for each in at.rglob("*.py")]
    said = [(path, name) for path in top.rglob("*.py") for text in words(path)
            for name in SAID.findall(text)]  # fmt: skip
    gone = [
        f"{path.relative_to(ROOT)}: {name}"
        for path, name in said
        if name not in NOT_OURS and not any(fnmatch(each, f"*/{name}") for each in there)
    ]

    assert said
    assert gone == []
