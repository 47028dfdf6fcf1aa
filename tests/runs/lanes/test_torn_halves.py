"""After a power cut inside an agent nobody knows whether what it changed is whole: that is told.

Half of what it wrote may be on disk by chance, as when another lane ends: such a file is neither
blank nor a beginning of what was committed.
"""

import json
from pathlib import Path

import pytest

import lane_library as library
import lane_runs
from fake_client import Client
from lane_runs import WRITES, Lane, end_at, reboot
from standfast.errors.lanes import EffectInDoubt, PowerFailed
from standfast.plans.lane_spec import Task

# The first run leaves half of what it means to write, and never ends; the next is told.
AGENT = """\
if [ -e {mark} ]; then cat > {told}; printf %s "$STANDFAST_MAYBE_TORN" > {told}.names; exit 0; fi
echo half > a.txt; echo half > new.txt; echo half > staged.txt; git add staged.txt; rm gone.txt
{more}
touch {mark}; sleep 600
"""
HALVES = ["a.txt", "gone.txt", "new.txt", "staged.txt"]


@pytest.fixture
def lane(tmp_path: Path) -> Lane:
    made = lane_runs.build(tmp_path)
    (made.repo / "gone.txt").write_text("gone\n", encoding="utf-8")
    (made.repo / "same.txt").write_text("same\n", encoding="utf-8")
    made.git("add", ".")
    made.git("commit", "-qm", "second")
    return made


def cut(lane: Lane, tmp_path: Path, more: str = "", agent: str = AGENT) -> str:
    """Everything is gone in the middle of the agent, and the machine comes up again."""
    mark, told = tmp_path / "mark", tmp_path / "told"
    end_at(mark, lane, "--runner", agent.format(mark=mark, told=told, more=more))
    reboot(lane)
    (left,) = json.loads(lane.standfast("ps", "--json").stdout)["effects"]
    return str(left["key"])


@pytest.mark.req("REL-10")
def test_agent_that_goes_on_is_told_what_may_be_half_written_after_a_power_cut(
    lane: Lane, tmp_path: Path
) -> None:
    key = cut(lane, tmp_path)
    resumed = lane.resume()
    assert lane.standfast("settle", key, "again").returncode == 0

    done = lane.resume()

    assert done.returncode == 0, done.stderr
    assert all(name in resumed.stderr for name in ("the power failed", *HALVES))
    told = (tmp_path / "told").read_text(encoding="utf-8")
    assert "The power failed" in told
    assert all(f"- {name}\n" in told for name in HALVES)
    assert "same.txt" not in told
    assert json.loads((tmp_path / "told.names").read_text(encoding="utf-8")) == HALVES
    assert lane.show("main", "a.txt") == "half", "it stays as it was found"


@pytest.mark.req("REL-10")
@pytest.mark.parametrize("is_resumed", [False, True], ids=["at once", "after a resume"])
def test_first_done_counts_for_nothing_where_files_may_be_half_written(
    lane: Lane, tmp_path: Path, *, is_resumed: bool
) -> None:
    key = cut(lane, tmp_path)
    if is_resumed:
        lane.resume()

    first = lane.standfast("settle", key, "done")
    second = lane.standfast("settle", key, "done")

    assert first.returncode == PowerFailed.exit_status
    assert all(name in first.stderr for name in ("the power failed", *HALVES))
    assert "same.txt" not in first.stderr
    assert second.returncode == 0, second.stderr
    done = lane.resume()
    assert done.returncode == 0, done.stderr


@pytest.mark.req("REL-10")
def test_done_counts_at_once_where_an_agent_was_killed_and_no_power_failed(
    lane: Lane, tmp_path: Path
) -> None:
    mark = tmp_path / "mark"
    end_at(mark, lane, "--runner", AGENT.format(mark=mark, told=tmp_path / "told", more=""))
    (left,) = json.loads(lane.standfast("ps", "--json").stdout)["effects"]
    resumed = lane.resume()

    done = lane.standfast("settle", left["key"], "done")

    assert done.returncode == 0, done.stderr
    assert "power" not in resumed.stderr + done.stderr


@pytest.mark.req("REL-10")
def test_names_that_an_agent_and_a_person_are_told_are_bounded(lane: Lane, tmp_path: Path) -> None:
    key = cut(lane, tmp_path, "for n in $(seq 1000 1999); do echo half > file-$n; done")

    told = lane.standfast("settle", key, "done")
    assert lane.standfast("settle", key, "again").returncode == 0
    assert lane.resume().returncode == 0

    assert "more" in told.stderr
    assert told.stderr.count("file-") < 10
    said = (tmp_path / "told").read_text(encoding="utf-8")
    assert said.count("- file-") < 110
    assert "more" in said


@pytest.mark.req("REL-10")
def test_files_that_a_sparse_checkout_leaves_out_are_not_called_half_written(
    lane: Lane, tmp_path: Path
) -> None:
    key = cut(lane, tmp_path, "git sparse-checkout set --no-cone '/*' '!/same.txt'")

    told = lane.standfast("settle", key, "done")

    assert "a.txt" in told.stderr
    assert "same.txt" not in told.stderr


@pytest.mark.req("REL-10")
def test_whole_outputs_do_not_settle_what_a_power_cut_may_have_halved(
    lane: Lane, tmp_path: Path
) -> None:
    notes = 'printf "x\\n<!-- AGENT_COMPLETE -->\\n" > "$STANDFAST_OUTPUTS/notes.md"'
    mark = tmp_path / "mark"
    task = Task("one", "Do it.", outputs={"notes.md": "critical"})
    script = f"{WRITES}; {notes}; touch {mark}; sleep 600"
    spec = library.spec(lane, tasks=(task,), runner=script)
    library.end_at(mark, lane, spec)
    reboot(lane)

    with pytest.raises(EffectInDoubt):
        library.take_on(lane, spec)

    assert lane.git("log", "--format=%s", "main").splitlines() == ["second", "first"]


@pytest.mark.req("REL-10")
@pytest.mark.parametrize("lines", [("hangs", "well"), ("hangs", "gone", "well")])
def test_agent_that_is_begun_again_or_goes_on_in_its_session_is_told_that_the_power_failed(
    lane: Lane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: tuple[str, ...]
) -> None:
    client = Client(tmp_path)
    monkeypatch.setenv("LEDGER", str(client.ledger))
    client.does(*lines)
    runner = client.runner()
    spec = library.spec(lane, runners={runner.name: runner}, runner=runner.name)
    library.end_at(client.hangs, lane, spec)
    reboot(lane)

    library.take_on(lane, spec)

    assert "power" not in client.prompt(1)
    for number in range(2, len(lines) + 1):
        assert "The power failed" in client.prompt(number)
        assert "- half.txt\n" in client.prompt(number)
