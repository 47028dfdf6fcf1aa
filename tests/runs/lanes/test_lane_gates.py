"""Quality gates of a lane: scores are read strictly, and what is below them is done again."""

import json
from decimal import Decimal
from pathlib import Path

import pytest

import lane_library as library
from lane_runs import Lane, build
from standfast.errors.base import StandfastError
from standfast.errors.lanes import LaneBlocked, LaneFailed
from standfast.plans.lane_spec import Gate, Spec, Task
from standfast.protocols.checkpoints.rules import checkpoint as cp
from standfast.protocols.resumption.rules import critic_scores
from standfast.protocols.resumption.rules.quality_gates import WEIGHTS
from standfast.runs.rules import prompt
from standfast.runs.rules.lane_steps import OK, REVISE

GATE = Gate("quality", "critic", Decimal("0.9"), 3)

# The critic and the builder are one shell line: the role says which of them it is. A critic gives
# the scores that stand in the next line of a file.
AGENT = r"""
echo "$STANDFAST_ROLE" >> "$LEDGER"
if [ "$STANDFAST_ROLE" = builder ]; then
  cat > "$LEDGER.prompt"
  echo more >> made.txt
  exit
fi
n=$(grep -c critic "$LEDGER")
eval "$(sed -n "${n}p" "$LEDGER.critic")"
"""
TESTS = 'echo tests >> "$LEDGER"'


def scores(value: str, said: str = "The edges are not tried.") -> str:
    """A line of shell that writes whole scores, every dimension the same but for evidence."""
    given = {**dict.fromkeys(WEIGHTS, float(value)), "evidence": max(0.0, float(value) - 0.01)}
    text = f"```json\n{json.dumps(given)}\n```\n{said}\n<!-- AGENT_COMPLETE -->\n"
    quoted = text.replace("\n", "\\n").replace("%", "%%")
    return f"printf '{quoted}' > \"$STANDFAST_OUTPUTS/quality-scores.md\""


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LEDGER", str(tmp_path / "ledger"))
    return tmp_path / "ledger"


@pytest.fixture
def lane(world: Path, tmp_path: Path, ledger: Path) -> Lane:
    return build(tmp_path)


def gated(lane: Lane, *lines: str, **more: object) -> Spec:
    Path(f"{lane.home.parent}/ledger.critic").write_text("\n".join(lines), encoding="utf-8")
    return library.spec(lane, runner=AGENT, test=TESTS, **{"gates": (GATE,), **more})


def ran(ledger: Path) -> list[str]:
    return ledger.read_text(encoding="utf-8").split()


@pytest.mark.req("RUN-04")
def test_work_that_reaches_the_score_lands_after_its_tests(lane: Lane, ledger: Path) -> None:
    told: list[tuple[str, str, Decimal]] = []

    def tell(_tx: object, gate: Gate, known: str, given: dict[str, Decimal]) -> str:
        told.append((gate.name, known, given["evidence"]))
        return known

    done = library.take_on(
        lane,
        gated(lane, scores("0.95")),
        gated=tell,
    )

    assert ran(ledger) == ["builder", "tests", "critic"]
    assert lane.show("main", "made.txt") == "more"
    assert (done.steps["gate-quality"].state, done.steps["gate-quality"].facts["score"]) == (
        OK,
        "0.9485",
    )
    assert told == [("quality", "", Decimal("0.94"))]


@pytest.mark.req("RUN-04")
def test_work_below_it_goes_back_with_the_findings_and_uses_no_retry(
    lane: Lane, ledger: Path
) -> None:
    told: list[str] = []
    spec = gated(lane, scores("0.5", "The edges are not tried."), scores("0.95"))

    def tell(_tx: object, _gate: Gate, known: str, _given: object) -> str:
        told.append(known)
        return "its name"

    done = library.take_on(lane, spec, gated=tell)

    assert ran(ledger) == ["builder", "tests", "critic"] * 2
    assert lane.show("main", "made.txt") == "more\nmore"
    prompt = ledger.with_name("ledger.prompt").read_text(encoding="utf-8")
    assert "The edges are not tried." in prompt
    assert "weakest: evidence" in prompt
    assert (done.retries, told) == (0, ["", "its name"])


@pytest.mark.req("RUN-04")
def test_after_the_last_iteration_a_person_is_asked_and_resume_is_one_more(
    lane: Lane, ledger: Path
) -> None:
    low = [scores("0.5")] * 4
    spec = gated(lane, *low, scores("0.95"), gates=(GATE._replace(iterations=2),))

    with pytest.raises(LaneBlocked, match=r"gate quality .* weakest: evidence") as stopped:
        library.take_on(lane, spec)
    assert ran(ledger) == ["builder", "tests", "critic"] * 2
    assert stopped.value.file is not None
    with pytest.raises(LaneBlocked):
        library.take_on(lane, spec)  # nobody saw to it: nothing is done
    assert len(ran(ledger)) == 6
    stands = library.standing(lane, spec)
    assert stands.is_at(cp.PRE_PR, cp.BLOCKED)
    assert stands.steps["gate-quality"].state == REVISE

    for _ in range(2):
        with pytest.raises(LaneBlocked):
            library.take_on(lane, spec, asked=True)
    library.take_on(lane, spec, asked=True)

    assert ran(ledger) == ["builder", "tests", "critic"] * 5
    assert lane.show("main", "made.txt") == "\n".join(["more"] * 5)


BAD = {
    "no file": ("true", "does not exist"),
    "no end": ('echo scores > "$STANDFAST_OUTPUTS/quality-scores.md"', "closing line"),
    "no block": (scores("0.95").replace("```json", "json"), "0 blocks"),
    "two blocks": (scores("0.95", "```json\n{}\n```"), "2 blocks"),
    "a dimension lacks": (scores("0.95").replace('"evidence"', '"evidenc"'), "no dimension"),
    "too much": (scores("0.95").replace("0.94", "9.4"), "from 0 to 1"),
    "twice": (scores("0.95").replace('"evidence"', '"evidence": 1, "evidence"'), "evidence"),
    "it failed": ("echo no model >&2; exit 3", "no model"),
}


@pytest.mark.sweep(8)
@pytest.mark.req("RUN-04")
@pytest.mark.parametrize("which", BAD)
def test_scores_that_are_missing_or_wrong_are_a_failed_run_of_the_critic(
    lane: Lane, ledger: Path, which: str
) -> None:
    line, words = BAD[which]
    spec = gated(lane, line, line, scores("0.95"), retries=1)

    with pytest.raises(LaneFailed, match=words):
        library.take_on(lane, spec)

    assert ran(ledger) == ["builder", "tests", "critic", "critic"]
    assert library.standing(lane, spec).retries == 1

    done = library.take_on(lane, spec, asked=True)

    assert ran(ledger) == ["builder", "tests", "critic", "critic", "critic"]
    assert done.steps["gate-quality"].facts["iteration"] == "1"


@pytest.mark.sweep(5)
@pytest.mark.req("RUN-04")
@pytest.mark.parametrize(
    ("change", "name"),
    [
        ("echo mine >> made.txt", "made.txt"),
        ("echo mine > new.txt", "new.txt"),
        ("rm a.txt", "a.txt"),
        ("echo mine > new.txt; git add new.txt", "new.txt"),
        ("echo mine > new.txt; git add new.txt; git commit -qm mine", "new.txt"),
    ],
)
def test_what_a_critic_changed_is_kept_elsewhere_and_is_not_the_lanes_work(
    lane: Lane, ledger: Path, change: str, name: str
) -> None:
    spec = gated(lane, f"{change}; {scores('0.95')}", scores("0.95"), retries=1)

    library.take_on(lane, spec)

    assert ran(ledger) == ["builder", "tests", "critic", "critic"]
    assert lane.git("ls-tree", "--name-only", "main").split() == [
        ".gitignore",
        "a.txt",
        "made.txt",
    ]
    assert lane.show("main", "made.txt") == "more"
    (ref,) = lane.git("for-each-ref", "--format=%(refname)", "refs/standfast").split()
    if change.startswith("rm"):
        assert "a.txt" not in lane.git("ls-tree", "--name-only", ref).split()
    else:
        assert "mine" in lane.show(ref, name)
    assert any(name in str(entry.get("notes")) for entry in lane.log())
    assert not lane.tree.exists()  # nothing of it was left there


@pytest.mark.req("RUN-04")
def test_file_that_the_tests_left_is_not_held_against_the_critic(lane: Lane, ledger: Path) -> None:
    leaves = f"{TESTS}; date +%N > left.txt"
    Path(f"{lane.home.parent}/ledger.critic").write_text(scores("0.95"), encoding="utf-8")
    spec = library.spec(lane, runner=AGENT, test=leaves, gates=(GATE,))

    library.take_on(lane, spec)

    assert ran(ledger) == ["builder", "tests", "critic"]


@pytest.mark.req("RUN-04")
def test_commit_of_a_person_after_the_gate_is_tested_and_judged_again(
    lane: Lane, ledger: Path
) -> None:
    """The base's checkout refuses the merge; meanwhile somebody commits to the lane."""
    (lane.repo / "made.txt").write_text("in the way", encoding="utf-8")
    spec = gated(lane, scores("0.95"), scores("0.96"))
    with pytest.raises(LaneBlocked):
        library.take_on(lane, spec)
    (lane.tree / "person.txt").write_text("x", encoding="utf-8")
    lane.git("add", "person.txt", cwd=lane.tree)
    lane.git("commit", "-qm", "by hand", cwd=lane.tree)
    (lane.repo / "made.txt").unlink()

    done = library.take_on(lane, spec)

    assert ran(ledger) == ["builder", "tests", "critic", "tests", "critic"]
    assert done.steps["gate-quality"].facts["score"] == "0.9585"
    assert lane.show("main", "person.txt") == "x"


@pytest.mark.req("RUN-04")
def test_gates_are_passed_in_turn_and_again_after_one_sent_the_work_back(
    lane: Lane, ledger: Path
) -> None:
    second = Gate("safety", "critic", Decimal("0.9"))
    writes = scores("0.95").replace("quality-scores", "safety-scores")
    low = scores("0.5").replace("quality-scores", "safety-scores")
    lines = (scores("0.95"), low, scores("0.95"), writes)
    tasks = (Task("one", "Do it."), Task("two", "Do that."))

    done = library.take_on(lane, gated(lane, *lines, gates=(GATE, second), tasks=tasks))

    first = ["builder", "builder", "tests", "critic", "critic"]
    assert ran(ledger) == [*first, "builder", "tests", "critic", "critic"]
    assert {done.steps[each].state for each in ("gate-quality", "gate-safety")} == {OK}


# Pure.


def test_scores_come_back_as_they_were_written_with_the_findings_around_them() -> None:
    text = f"Before.\n{critic_scores.EXAMPLE}\nAfter.\n<!-- AGENT_COMPLETE -->\n"

    found = critic_scores.read(text, name="x")

    assert found.scores == dict.fromkeys(WEIGHTS, Decimal("0.0"))
    assert found.findings == "Before.\nAfter."
    assert found.weakest == "completeness"


@pytest.mark.parametrize(
    "text", ["", "```json\n[]\n```", "```json\n{}\n```", "```json\n{", "```json\n```"]
)
def test_what_holds_no_scores_is_refused(text: str) -> None:
    with pytest.raises(StandfastError):
        critic_scores.read(text, name="x")


def test_critic_is_told_what_to_judge_by_what_and_where_to_write_it() -> None:
    spec = Spec("r1", "P1", "SL-1", "main", "b", "/w", "agent", (Task("one", "x"),))

    told = prompt.gate_prompt(spec, GATE._replace(prompt="Be hard."), "/o/s.md", "no block")

    assert told.startswith("Be hard.\n")
    assert all(f"- {name} ({weight})" in told for name, weight in WEIGHTS.items())
    assert "Write your complete findings to: /o/s.md" in told
    assert "did not count: no block" in told
    assert critic_scores.EXAMPLE in told


@pytest.mark.req("RUN-04")
def test_lane_to_which_somebody_commits_after_each_test_needs_a_person(
    lane: Lane, ledger: Path
) -> None:
    def tell(_tx: object, _gate: Gate, known: str, _given: dict[str, Decimal]) -> str:
        assert len(ran(ledger)) < 30, "for ever"
        lane.git("commit", "-q", "--allow-empty", "-m", "more", cwd=lane.tree)
        return known

    wanted = gated(lane, *[scores("0.95")] * 12)

    with pytest.raises(LaneBlocked, match="committed after its tests 6 times in turn"):
        library.take_on(lane, wanted, gated=tell)

    assert ran(ledger).count("tests") == 6
    library.take_on(lane, wanted)
    assert lane.show("main", "made.txt") == "more"
