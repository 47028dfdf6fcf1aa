"""What a critic wrote: one block of scores, read strictly, and its findings around it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from standfast.errors.base import BadScore
from standfast.formats.json_text import read_json
from standfast.protocols.outputs.rules import whole_output
from standfast.protocols.resumption.rules import quality_gates

if TYPE_CHECKING:
    from decimal import Decimal

_OPEN, _CLOSE = "```json", "```"
EXAMPLE = "\n".join(
    [_OPEN, "{", *(f'  "{name}": 0.00,' for name in quality_gates.WEIGHTS), "}", _CLOSE]
).replace(",\n}", "\n}")


class Judged(NamedTuple):
    """Every dimension scored, and what was found."""

    scores: dict[str, Decimal]
    findings: str

    @property
    def weakest(self) -> str:
        """The dimension with the lowest score; the earlier named of equals."""
        return min(self.scores, key=self.scores.__getitem__)


def read(text: str, *, name: str) -> Judged:
    """The scores and findings of a whole output; BadScore or BadDocument says what is wrong."""
    blocks, rest = _split(text.splitlines())
    if len(blocks) != 1:
        raise BadScore(f"{name} has {len(blocks)} blocks that begin with {_OPEN}, not one")
    given = read_json("\n".join(blocks[0]), name=name)
    if not isinstance(given, dict):
        raise BadScore(f"the scores in {name} are no JSON object")
    scores = quality_gates.read_scores(given)
    quality_gates.weigh(scores)  # names what is missing
    said = [line for line in rest if line.strip() != whole_output.SENTINEL]
    return Judged(scores, "\n".join(said).strip())


def _split(lines: list[str]) -> tuple[list[list[str]], list[str]]:
    """The blocks, and everything else."""
    blocks: list[list[str]] = []
    rest: list[str] = []
    at: list[str] = rest
    for line in lines:
        if at is rest and line.strip() == _OPEN:
            at = []
            blocks.append(at)
        elif at is not rest and line.strip() == _CLOSE:
            at = rest
        else:
            at.append(line)
    return blocks, rest
