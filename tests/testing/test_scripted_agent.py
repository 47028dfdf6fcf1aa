"""The scripted agent: what its script says, run by run; a wrong script is refused by its line."""

import sys
from pathlib import Path

import pytest

from lane_runs import Lane, build
from standfast.errors.base import BadDocument, StandfastError
from standfast.protocols.checkpoints.rules import checkpoint as cp
from standfast.protocols.outputs.rules import whole_output
from standfast.testing.agent import Run, due, read_script

SCRIPT = """one:
- write: {made.txt: "half\\n"}
  say: I could not finish.
  exit: 3
- write: {made.txt: "whole\\n", deep/er.txt: "x\\n"}
  commit: the rest
any:
- outputs: Looks good.
"""


@pytest.fixture
def lane(world: Path, tmp_path: Path) -> Lane:
    return build(tmp_path)


def runner(lane: Lane, script: str) -> str:
    path = lane.home / "script.yaml"
    path.write_text(script, encoding="utf-8")
    return f"'{sys.executable}' -m standfast.testing.agent '{path}'"


def test_script_is_read_run_by_run_and_the_last_run_stands_for_all_after_it() -> None:
    script = read_script(SCRIPT, name="s")

    assert due(script, "one", 1) == Run(
        (("made.txt", "half\n"),), say="I could not finish.", exit=3
    )
    assert due(script, "one", 2) == due(script, "one", 9)
    assert due(script, "other", 1) == Run(outputs="Looks good.")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("one: 3\n", "a list is needed here"),
        ("one:\n- wrte: {}\n", "`wrte` is not known here"),
        ("one:\n- write: [a]\n", "a mapping is needed here"),
        ("one:\n- exit: yes please\n", "a whole number is needed here"),
        ("one:\n- write: {../x: y}\n", "file"),
        ("- x\n", "a mapping is needed here"),
    ],
)
def test_wrong_script_is_refused(text: str, words: str) -> None:
    with pytest.raises(StandfastError, match=words) as caught:
        read_script(text, name="s.yaml")
    if isinstance(caught.value, BadDocument):
        assert caught.value.line is not None


@pytest.mark.req("CKP-08", "OUT-01")
def test_lane_of_scripted_agents_fails_learns_reviews_and_is_merged(lane: Lane) -> None:
    """The whole way of a lane with retries and outputs, without a model."""
    tasks = ("--task", lane.task("one"), "--task", lane.task("review", "Review it."))

    done = lane.run(runner(lane, SCRIPT), *tasks, "--retries", "1", "--output", "review.md")

    assert done.returncode == 0, done.stderr
    assert lane.show("main", "made.txt") == "whole"
    assert lane.git("log", "-n1", "--format=%s", "main") == "the rest"
    (review,) = (lane.repo / ".worktrees").rglob("review.md")
    assert whole_output.fault(review.read_bytes()) is None
    assert "I could not finish." in str(lane.records()[cp.RETRY]["failure_context"])
    kinds = lane.standfast("events", "--json").stdout
    assert "output.received" in kinds


@pytest.mark.req("OUT-01", "CKP-08")
def test_output_that_is_not_written_fails_the_run_and_is_asked_for_again(lane: Lane) -> None:
    script = "one:\n- say: done!\n- outputs: Here it is.\n"

    done = lane.run(runner(lane, script), "--retries", "1", "--output", "review.md",
                    "--output", "more.md=optional")  # fmt: skip

    assert done.returncode == 0, done.stderr
    context = lane.records()[cp.RETRY]["failure_context"]
    assert "review.md does not exist" in str(context)
    assert "more.md" not in str(context)
