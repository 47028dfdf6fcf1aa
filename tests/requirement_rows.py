"""The rows of docs/requirements.md, the tests that name them, and what a run proved.

Pure: text in, values out. A row is a line `| id | claimed | promise |` in a table with exactly
that header. Outcomes of tests travel as JSON, one line per test.
"""

import ast
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Literal, get_args

Claim = Literal["yes", "partly", "no"]
Result = Literal["passed", "skipped", "inconclusive", "failed"]

HEADER = "| id | claimed | promise |"
RULE = "|---|---|---|"
ROW = re.compile(
    r"\| (?P<family>[A-Z]+)-(?P<number>\d{2}) \| (?P<claimed>\S+) \| (?P<promise>\S.*) \|"
)
STARTS_LIKE_A_ROW = re.compile(r"\|\s*[A-Z]+-\d")


class BadManifest(ValueError):
    """The manifest cannot be taken as it is; the message names the line."""


class BadMark(ValueError):
    """A `req` mark holds something other than the literal id of a row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One promise, and whether the project claims to keep it."""

    id: str
    family: str
    claimed: Claim
    promise: str


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Naming:
    """*test* says that it proves *row*."""

    row: str
    test: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How *test* ended, and the rows it names."""

    test: str
    result: Result
    rows: tuple[str, ...]


def parse_manifest(text: str) -> tuple[Row, ...]:
    """Read every row, in order; refuse a malformed one, a bad claim and an id used twice."""
    rows: dict[str, Row] = {}
    for number, line in _row_lines(text):
        row = _parse_row(line, number)
        if row.id in rows:
            raise BadManifest(f"line {number}: {row.id} stands twice")
        rows[row.id] = row
    if not rows:
        raise BadManifest(f"line 1: no row follows a header `{HEADER}`")
    return tuple(rows.values())


def _row_lines(text: str) -> Iterator[tuple[int, str]]:
    inside = False
    for number, line in enumerate(text.splitlines(), start=1):
        inside = line == HEADER or (inside and line.startswith("|"))
        if inside and line in {HEADER, RULE}:
            continue
        # A row under a misspelt header must not vanish from the count.
        if inside or STARTS_LIKE_A_ROW.match(line):
            yield number, line


def _parse_row(line: str, number: int) -> Row:
    found = ROW.fullmatch(line)
    if found is None:
        raise BadManifest(f"line {number}: not of the form `{HEADER}`: {line[:40]}")
    return Row(
        id=f"{found['family']}-{found['number']}",
        family=found["family"],
        claimed=_claim(found["claimed"], number),
        promise=found["promise"],
    )


def _claim(word: str, number: int) -> Claim:
    for claim in get_args(Claim):
        if word == claim:
            return claim  # type: ignore[no-any-return]  # get_args forgets the literal
    raise BadManifest(f"line {number}: claimed is `{word}`, not one of yes, partly, no")


def namings_in(source: str, file: str) -> tuple[Naming, ...]:
    """Find every row that a test of *file* names, on itself or through `pytestmark`."""
    tree = ast.parse(source, filename=file)
    tests = _tests_of(tree)
    marked = [(node.name, mark) for node in tests for mark in node.decorator_list]
    if tests:
        marked += [("pytestmark", value) for value in _module_marks(tree)]
    return tuple(
        Naming(row=row, test=f"{file}::{name}")
        for name, mark in marked
        for row in _rows_of(mark, file)
    )


def _tests_of(tree: ast.Module) -> list[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    named = [node for node in ast.walk(tree) if isinstance(node, kinds)]
    return [node for node in named if node.name.startswith(("test", "Test"))]


def _module_marks(tree: ast.Module) -> Iterator[ast.expr]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark":
            yield node.value


def _rows_of(mark: ast.expr, file: str) -> Iterator[str]:
    for node in ast.walk(mark):
        if not isinstance(node, ast.Call) or ast.unparse(node.func) != "pytest.mark.req":
            continue
        for argument in node.args:
            if not isinstance(argument, ast.Constant) or not isinstance(argument.value, str):
                raise BadMark(f"{file}:{argument.lineno}: a row is named by a literal string")
            yield argument.value


def claimed_without_test(rows: Iterable[Row], namings: Iterable[Naming]) -> tuple[str, ...]:
    """List the claimed rows that no test names."""
    named = {naming.row for naming in namings}
    return tuple(row.id for row in rows if row.claimed != "no" and row.id not in named)


def named_but_unknown(rows: Iterable[Row], namings: Iterable[Naming]) -> tuple[Naming, ...]:
    """List the namings whose row is not in the manifest."""
    known = {row.id for row in rows}
    return tuple(sorted(naming for naming in namings if naming.row not in known))


def named_ahead_of_claim(rows: Iterable[Row], named: Iterable[str]) -> tuple[str, ...]:
    """List the rows that a test names while the manifest still says `no`."""
    ahead = set(named)
    return tuple(row.id for row in rows if row.claimed == "no" and row.id in ahead)


def proved_rows(outcomes: Iterable[Outcome]) -> frozenset[str]:
    """Choose the rows of which some test passed and none failed; a skip says nothing."""
    results: dict[str, set[Result]] = {}
    for outcome in outcomes:
        for row in outcome.rows:
            results.setdefault(row, set()).add(outcome.result)
    return frozenset(
        row for row, seen in results.items() if "passed" in seen and "failed" not in seen
    )


def outcome_line(outcome: Outcome) -> str:
    """Write one outcome as a line of JSON."""
    return json.dumps(asdict(outcome), sort_keys=True) + "\n"


def parse_outcomes(text: str) -> tuple[Outcome, ...]:
    """Read back what `outcome_line` wrote, any number of lines."""
    records = [json.loads(line) for line in text.splitlines()]
    return tuple(
        Outcome(test=record["test"], result=record["result"], rows=tuple(record["rows"]))
        for record in records
    )
