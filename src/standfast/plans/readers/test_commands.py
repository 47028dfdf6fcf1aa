"""The commands that a Markdown plan names as tests, in backticks, in fences, or as they are. Pure.

`Verify: pytest tests/x -q` names a command, `Verify: the page loads` does not, and of
`Verify: run `make check` and look at `src/x.py`` only the first is one. What was taken for a
command without being marked as one is told, and so is a test that names none.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from standfast.plans.findings import quoted, warning
from standfast.plans.readers import plan_words
from standfast.plans.readers.markdown_plan import unbulleted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from standfast.plans.findings import Finding
    from standfast.plans.readers.markdown_plan import Field, Line

BACKTICKS = "Put a command into backticks."
TOLD = "It is told to the agent, and nothing is run for it. " + BACKTICKS
_PROGRAM_NAMES = """
act alembic ansible-lint ant awk bash basedpyright bats bazel biome black bun bundle cabal cargo cat
clang clang-tidy clippy cmake cmp codespell composer coverage ctest curl cypress dart deno detekt
diff django-admin docker docker-compose dotnet dune eslint find flake8 flutter forge gcc git gleam
go golangci-lint gradle grep hadolint hatch helm hugo isort java javac jest jq julia just karma
kubectl ktlint lake lein luacheck make maturin mdbook meson mix mkdocs mocha mvn mypy next ng ninja
node nosetests nox npm npx nx nyc openssl pdm perl php phpstan phpunit phpcs pip playwright pnpm
poetry pre-commit prettier prove psql pylint pyright pytest python python3 rake rg robot rspec
rubocop ruby ruff rustc sbt sed semgrep sh shellcheck spectral sphinx-build sqlite3 stack standfast
swift task terraform test tox tsc tsx turbo twine uv uvx vale valgrind vite vitest wget xcodebuild
yamllint yarn yq zig zsh [ !
"""
_PROGRAMS = frozenset(_PROGRAM_NAMES.split())
_ENGLISH_WORDS = """
a about again all and any are as at be both by can certain does each every everything for from has
have if in is it its manually must no of on or output passes runs should so still succeeds sure that
the their them these they this those through to users via we when whether with works you your
"""
_ENGLISH = frozenset(_ENGLISH_WORDS.split())
_BOTH = (
    "act ant black cat dart find go just lake make mix next node prove stack swift task test vale"
)
_ALSO_WORDS = frozenset(_BOTH.split())  # commands where something about them is no sentence
_SIGNS = re.compile(r"[-./=:*$<>|&\"'!]")
_SETS = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=\S*")
_PATH = re.compile(r"(?:\.{1,2}/|~/|/)?[\w.@-]+(?:/[\w.@-]+)+|\.{1,2}/\S+")
_RUNNABLE = re.compile(r"(?:\./|bin/|scripts?/|tools?/|\S+\.(?:sh|bash)$)")
_BETWEEN = re.compile(r"^[\s.,;:&]*(?:(?:and|then|&&|plus)[\s.,;]*)*$", re.IGNORECASE)
_RUN = re.compile(
    r"(?:^|[\s(])(?:run|runs|running|execute|exec|call|use|using|via|command)[\s:]+$", re.IGNORECASE
)
_GOES_WELL = re.compile(
    r"\s*(?:$|[-\u2013—:(.,]|(?:must |should |still )?(?:pass|succeed|work|exit|run|finish"
    r"|is green|are green|is clean|returns? 0|has no|reports? no|shows? no|without))",
    re.IGNORECASE,
)
_CODE = re.compile(r"`([^`\n]+)`")
_ASKS = re.compile(r"(?:re-?)?(?:run|execute)[:\s]+", re.IGNORECASE)
_OUTCOME = re.compile(
    r"\s+(?:(?:must|should|still) )?(?:pass(?:es)?|succeeds?|works|is (?:all )?green"
    r"|exits (?:with )?0|returns 0)\b.*$"
    r"|\s*(?:→|=>|->)\s.*$|\s+[\u2013—]\s.*$|\s\([^()]*\)$"
    r"|,?\s+and\s+(?:check|verify|look|see|make|confirm|ensure|inspect)\b.*$",
    re.IGNORECASE,
)  # what is said of a command, and is no part of it
_SHELLS = frozenset(("", "sh", "bash", "shell", "zsh", "console", "terminal", "shell-session",
                     "text", "txt"))  # fmt: skip
_LONGEST = 2_000
_PROMPT = "$ "


def is_command(text: str) -> bool:
    """Whether words that stand alone are a command line, as far as can be seen."""
    words = text.removeprefix(_PROMPT).split()
    while words and _SETS.fullmatch(words[0]):
        words.pop(0)
    if not words:
        return False
    program, *rest = words
    known = program in _PROGRAMS or program.rpartition("/")[2] in _PROGRAMS
    if not known and not (_PATH.fullmatch(program) and _RUNNABLE.match(program)):
        return False
    if program in _ALSO_WORDS and len(rest) != 1 and not any(map(_SIGNS.search, rest)):
        return False
    return not rest or rest[0].strip(".,;").lower() not in _ENGLISH


def of_text(text: str) -> tuple[list[str], bool]:
    """The commands of one line, and whether that was only guessed."""
    plain = unbulleted(text).strip()
    code = plan_words.commands(plain)
    if not code:
        bare = _bare(plain)
        return ([bare], True) if is_command(bare) else ([], False)
    around = _CODE.split(plain)[::2]
    if all(_BETWEEN.match(each) for each in around):
        return code, False
    said = zip(code, around, around[1:], strict=False)
    return [each for each, before, after in said if _is_run(each, before, after)], False


def _bare(plain: str) -> str:
    """A command that stands without marks, without the words around it."""
    text = plain.removeprefix(_PROMPT).strip()
    asked = _ASKS.match(text)
    text = text[asked.end() :] if asked else text
    return _OUTCOME.sub("", text).strip() if len(text) <= _LONGEST else text


def _is_run(code: str, before: str, after: str) -> bool:
    """Whether code in the middle of words is what they want to be run."""
    if is_command(code):
        return True
    starts = _BETWEEN.match(before) is not None and _GOES_WELL.match(after) is not None
    return _RUN.search(before) is not None or (starts and " " in code)


def of_field(field: Field, found: list[Finding]) -> list[str]:
    """The commands that a test names, beside its key and below it."""
    return of_lines([field.start._replace(text=field.value), *field.more], found, field.name)


def of_lines(lines: Sequence[Line], found: list[Finding], name: str = "") -> list[str]:
    """The commands of some lines: those of fences as they stand; a test without one is told."""
    made: list[str] = []
    fence: list[Line] = []
    told = [line for line in lines if not line.fenced and line.words.strip()]
    for line in lines:
        if line.fenced:
            fence.append(line)
            continue
        made += _of_fence(fence, found)
        fence = []
        commands, is_guess = of_text(line.text)
        if is_guess:
            problem = f"{quoted(commands[0])} is taken for a command"
            found.append(warning(line.number, problem, BACKTICKS))
        made += commands
    made += _of_fence(fence, found)
    if name and not made and told and not plan_words.is_none(told[0].words):
        problem = f"{quoted(name)} names no command: {quoted(told[0].words)}"
        found.append(warning(told[0].number, problem, TOLD))
    return made


def _of_fence(lines: list[Line], found: list[Finding]) -> list[str]:
    """What a shell would be given; code of another language is an example."""
    language = lines[0].text.strip().strip("`~").split(" ")[0].lower() if lines else ""
    if language in _SHELLS:
        return plan_words.fence([line.text for line in lines])
    problem = f"the {quoted(language)} in this fence is not taken for commands"
    found.append(warning(lines[0].number, problem))
    return []


def of_cell(cell: str, line: int, found: list[Finding]) -> list[str]:
    """The commands of a cell of a table: those in backticks, else the lines as they are."""
    made: list[str] = []
    for text in plan_words.cell_lines(cell):
        commands, _ = of_text(text)
        code = plan_words.commands(text)
        if commands or code:
            made += commands or code
        elif _reads_as_words(text):
            problem = f"{quoted(text)} is no command"
            found.append(warning(line, problem, TOLD))
        else:
            made.append(text.removeprefix(_PROMPT))
    return made


def _reads_as_words(text: str) -> bool:
    """`Manual check`, `see above`: words, where a command was looked for."""
    words = text.split()
    if len(words) == 1:
        return words[0].lower() in ("manual", "manually", "visual", "review", "inspection", "same")
    starts = re.match(r"[A-Z]?[a-z]+[,.:]?$", words[0]) is not None
    return starts and (words[0][0].isupper() or not _ENGLISH.isdisjoint(words)
                       or words[0] in ("manual", "see", "same", "visual"))  # fmt: skip


def script(commands: Iterable[str]) -> str:
    """Several commands as one that ends with the first that fails."""
    return plan_words.script(list(commands))
