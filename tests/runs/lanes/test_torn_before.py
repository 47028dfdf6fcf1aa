"""What looked torn before a power cut, or was made so after it by a person, is not put back."""

import json
from pathlib import Path

import pytest

import lane_runs
from lane_runs import Lane, end_at, resumed

LONG = "".join(f"line {number}\n" for number in range(2_000))
SETUP = ": > a.txt; head -c 4096 long.txt > torn; cat torn > long.txt; rm torn; : > blank"


@pytest.fixture
def lane(tmp_path: Path) -> Lane:
    made = lane_runs.build(tmp_path)
    (made.repo / "long.txt").write_text(LONG, encoding="utf-8")
    (made.repo / "other.txt").write_text("other\n", encoding="utf-8")
    made.git("add", ".")
    made.git("commit", "-qm", "second")
    return made


def agent(tmp_path: Path, *runs: str) -> str:
    """What each run does; the others end well."""
    count = f"n=$(cat {tmp_path}/n 2>/dev/null || echo 0); n=$((n+1)); echo $n > {tmp_path}/n\n"
    cases = "".join(f"{number + 1}) {does} ;;\n" for number, does in enumerate(runs))
    return f"{count}case $n in\n{cases}*) cat > {tmp_path}/told; echo more > made.txt ;;\nesac"


WORDS = "echo words > words.txt"


def works(tmp_path: Path, tears: str = ": > other.txt", words: str = WORDS) -> str:
    return f"{words}; {tears}; touch {tmp_path}/mark; sleep 600"


def planned(lane: Lane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, setup: str) -> str:
    """A plan with one lane and its setup, which its user trusts."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    script = tmp_path / "agent.sh"
    script.write_text(agent(tmp_path, works(tmp_path)), encoding="utf-8")
    settings = {"runner": "worker", "runners": {"worker": {"command": ["sh", str(script)]}}}
    folder = tmp_path / "config" / "standfast"
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_text(json.dumps(settings), encoding="utf-8")
    plan = {"run": "r1", "setup": setup, "lanes": {"SL-1": "Do it."}}
    (tmp_path / "plan.yaml").write_text(json.dumps(plan), encoding="utf-8")
    trusted = lane.standfast("plan", "trust", str(tmp_path / "plan.yaml"), "--yes")
    assert trusted.returncode == 0, trusted.stderr
    return str(tmp_path / "plan.yaml")


def go_on(lane: Lane) -> None:
    """As a person does: resume the run, answer, resume it."""
    lane.standfast("resume", "r1")
    (left,) = json.loads(lane.standfast("ps", "--json").stdout)["effects"]
    assert lane.standfast("settle", left["key"], "again").returncode == 0
    done = lane.standfast("resume", "r1")
    assert done.returncode == 0, done.stderr


def cut(lane: Lane, tmp_path: Path, *words: str) -> str:
    """Everything is gone in the middle of something; gives what is in doubt after the reboot."""
    end_at(tmp_path / "mark", lane, *words)
    lane_runs.reboot(lane)
    left = json.loads(lane.standfast("ps", "--json").stdout)["effects"]
    return str(left[0]["key"]) if left else ""


def sizes(lane: Lane) -> dict[str, int]:
    names = ("a.txt", "long.txt", "other.txt")
    return {name: int(lane.git("cat-file", "-s", f"main:{name}")) for name in names}


@pytest.mark.req("REL-10")
def test_what_a_setup_emptied_stays_so_after_a_cut_in_the_agent(
    lane: Lane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = planned(lane, tmp_path, monkeypatch, SETUP)
    end_at(tmp_path / "mark", lane, plan=plan)
    lane_runs.reboot(lane)
    go_on(lane)

    assert sizes(lane) == {"a.txt": 0, "long.txt": 4096, "other.txt": 6}
    told = (tmp_path / "told").read_text(encoding="utf-8")
    restored, unsure = told.split("nobody knows whether they are whole")
    assert "- other.txt\n" in restored
    assert not any(name in restored for name in ("a.txt", "long.txt", "blank"))
    assert all(f"- {name}\n" in unsure for name in ("a.txt", "long.txt", "blank"))


@pytest.mark.req("REL-10")
def test_what_a_run_before_it_emptied_stays_so(lane: Lane, tmp_path: Path) -> None:
    runs = agent(tmp_path, ": > a.txt; echo one > one; exit 1", works(tmp_path))
    cut(lane, tmp_path, "--retries", "2", "--runner", runs)
    resumed(lane)

    assert sizes(lane) == {"a.txt": 0, "long.txt": len(LONG), "other.txt": 6}


@pytest.mark.req("REL-10")
def test_rules_that_a_setup_emptied_stay_so(
    lane: Lane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = planned(lane, tmp_path, monkeypatch, ": > .gitignore")
    end_at(tmp_path / "mark", lane, plan=plan)
    lane_runs.reboot(lane)
    go_on(lane)

    assert lane.show("main", ".gitignore") == ""
    assert sizes(lane)["other.txt"] == 6


@pytest.mark.req("REL-10")
def test_what_is_torn_under_tests_that_are_run_once_more_is_put_back(
    lane: Lane, tmp_path: Path
) -> None:
    test = (
        f"if [ ! -e {tmp_path}/one ]; then touch {tmp_path}/one; kill -9 $$; fi\n"
        f"[ -e {tmp_path}/mark ] && exit 0; : > other.txt; touch {tmp_path}/mark; sleep 600"
    )
    cut(lane, tmp_path, "--runner", lane_runs.WRITES, "--test", test)
    done = lane.resume()

    assert done.returncode == 0, done.stderr
    assert sizes(lane)["other.txt"] == 6


@pytest.mark.req("REL-10")
def test_person_is_told_before_their_word_counts_and_what_they_do_then_stays(
    lane: Lane, tmp_path: Path
) -> None:
    key = cut(lane, tmp_path, "--runner", agent(tmp_path, works(tmp_path)))
    (lane.tree / "other.txt").write_bytes(b"")
    (lane.tree / "words.txt").write_text("finished\n", encoding="utf-8")

    told = lane.standfast("settle", key, "done")

    assert told.returncode != 0
    assert "other.txt" in told.stderr
    assert "refs/standfast/backup/r1/P1/SL-1/1" in told.stderr
    assert (lane.tree / "other.txt").read_text(encoding="utf-8") == "other\n"
    (lane.tree / "other.txt").write_bytes(b"")
    assert lane.standfast("settle", key, "done").returncode == 0
    done = lane.resume()
    assert done.returncode == 0, done.stderr
    assert sizes(lane)["other.txt"] == 0
    assert lane.show("main", "words.txt") == "finished"


@pytest.mark.req("REL-10")
def test_person_is_not_asked_twice_where_nothing_was_changed(lane: Lane, tmp_path: Path) -> None:
    key = cut(lane, tmp_path, "--runner", agent(tmp_path, works(tmp_path, ":", ":")))
    assert lane.standfast("settle", key, "done").returncode == 0
    (lane.tree / "other.txt").write_bytes(b"")

    done = lane.resume()

    assert done.returncode == 0, done.stderr
    assert sizes(lane)["other.txt"] == 0


@pytest.mark.req("REL-10")
def test_what_a_person_emptied_before_they_spoke_outlasts_a_later_boot(
    lane: Lane, tmp_path: Path
) -> None:
    """The command was killed, a person finished it by hand, and the machine was shut down."""
    end_at(tmp_path / "mark", lane, "--runner", agent(tmp_path, works(tmp_path, ":")))
    (left,) = json.loads(lane.standfast("ps", "--json").stdout)["effects"]
    (lane.tree / "other.txt").write_bytes(b"")
    assert lane.standfast("settle", left["key"], "done").returncode == 0
    lane_runs.reboot(lane)

    done = lane.resume()

    assert done.returncode == 0, done.stderr
    assert sizes(lane)["other.txt"] == 0
