"""Green together, not only alone: what lands is tested as it lands, before the branch moves."""

import subprocess
from pathlib import Path

import pytest

import lane_library as library
from lane_runs import WRITES, Lane, build
from run_worlds import Night, night
from standfast.errors import lanes
from standfast.protocols.checkpoints.rules import checkpoint as cp

# One lane renames a function, the other calls it by its old name: each is green alone.
RENAMES = """\
touch "{top}/$STANDFAST_LANE.here"
until test -e "{top}/renames.here" -a -e "{top}/calls.here"; do sleep 0.02; done
case "$STANDFAST_LANE" in
renames) sed -i s/old_name/new_name/ lib.py ;;
calls) printf 'from lib import old_name\\nold_name()\\n' > main.py ;;
esac
"""
TEST = "for each in *.py; do python3 -B $each || exit 1; done"
PLAN = f"""\
test: '{TEST}'
lanes:
  renames: Rename it.
  calls: Call it.
"""


@pytest.fixture
def team(tmp_path: Path) -> Night:
    made = night(tmp_path)
    (made.repo / "lib.py").write_text("def old_name():\n    pass\n", encoding="utf-8")
    made.git("add", ".")
    made.git("commit", "-qm", "a function")
    made.agent(RENAMES.format(top=tmp_path))
    return made


@pytest.mark.req("RUN-17")
def test_lanes_that_are_green_alone_and_red_together_do_not_both_land(team: Night) -> None:
    plan = team.plan(PLAN)

    done = team.call("run", plan)

    tested = subprocess.run(["sh", "-c", TEST], cwd=team.repo, capture_output=True, check=False)
    assert tested.returncode == 0, tested.stderr
    assert done.returncode == 1, done.stdout
    assert "green alone, red on main" in done.stdout


@pytest.mark.req("RUN-17")
def test_agent_is_told_what_is_red_together_and_mends_it(team: Night) -> None:
    told = """case "$STANDFAST_FAILURE_CONTEXT" in
*"green alone, red on main"*) sed -i s/old_name/new_name/g *.py ;;
esac
"""
    team.agent(RENAMES.format(top=team.top) + told)

    done = team.call("run", team.plan(f"retries: 1\n{PLAN}"))

    tested = subprocess.run(["sh", "-c", TEST], cwd=team.repo, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout
    assert tested.returncode == 0, tested.stderr
    assert team.paid().total() == 3


def test_never_is_said_in_the_summary(team: Night) -> None:
    plan = team.plan(f"retest: never\n{PLAN}")

    done = team.call("run", plan)

    assert done.returncode == 0, done.stdout
    assert "Not tested as merged: `retest: never`" in done.stdout
    assert "; retest: never" in team.call("plan", "show", plan).stdout


# One lane, whose base somebody else moves meanwhile.


@pytest.fixture
def lane(tmp_path: Path) -> Lane:
    return build(tmp_path)


def moves(lane: Lane, name: str = "b") -> str:
    """Somebody commits to the base."""
    return (
        f"(cd '{lane.repo}' && echo x >> {name} && git add {name}"
        f" && git -c commit.gpgsign=false commit -qm 'other {name}')"
    )


def seen(tmp_path: Path) -> list[str]:
    return (tmp_path / "ledger").read_text(encoding="utf-8").splitlines()


@pytest.mark.sweep(3)
@pytest.mark.req("RUN-17", "CKP-03")
@pytest.mark.parametrize("how", ["ff", "no-ff", "pr"])
def test_lane_whose_base_moved_is_tested_once_more_on_what_lands(
    lane: Lane, tmp_path: Path, how: str
) -> None:
    pr = ("--pr", f"echo pr >> {tmp_path}/ledger") if how == "pr" else ()
    test = f"ls | xargs >> {tmp_path}/ledger"

    done = lane.run(f"{WRITES}; {moves(lane)}", "--test", test, "--merge", how, *pr)

    assert done.returncode == 0, done.stderr
    last = ["pr"] if how == "pr" else []
    assert seen(tmp_path) == ["a.txt made.txt", "a.txt b made.txt", *last]
    assert [each["event"] for each in lane.log()].count("retest_done") == 1


@pytest.mark.sweep(2)
@pytest.mark.req("RUN-17")
@pytest.mark.parametrize("how", ["ff", "none", "never", "same"])
def test_what_was_tested_as_it_is_is_not_tested_again(lane: Lane, tmp_path: Path, how: str) -> None:
    empty = f"git -C '{lane.repo}' commit -q --allow-empty -m nothing"
    also = {"never": moves(lane), "none": moves(lane), "same": empty}.get(how, "true")
    said = {"never": ("--retest", "never"), "none": ("--merge", "none")}.get(how, ())

    done = lane.run(f"{WRITES}; {also}", "--test", f"echo run >> {tmp_path}/ledger", *said)

    assert done.returncode == 0, done.stderr
    assert seen(tmp_path) == ["run"]
    assert ("not tested again" in done.stdout) == (how == "never")


def red(tmp_path: Path, times: int) -> str:
    """Tests that are green alone, and red so often where the base has moved."""
    count = f"$(cat {tmp_path}/ledger | wc -l)"
    return f"test -e b || exit 0; echo run >> {tmp_path}/ledger; test {count} -gt {times}"


@pytest.mark.req("RUN-17")
def test_red_once_is_repeated_and_lands_as_flaky(lane: Lane, tmp_path: Path) -> None:
    done = lane.run(f"{WRITES}; {moves(lane)}", "--test", red(tmp_path, 1))

    assert done.returncode == 0, done.stderr
    assert seen(tmp_path) == ["run"] * 2
    assert "its tests are flaky: red on main" in done.stdout
    assert any("flaky" in str(each.get("notes")) for each in lane.log())
    assert "flaky" in str(lane.records()[cp.PRE_PR]["notes"])


@pytest.mark.req("RUN-17")
def test_flaky_tests_do_not_land_where_strictness_is_asked(lane: Lane, tmp_path: Path) -> None:
    words = ("--test", red(tmp_path, 1), "--retest", "strict", "--retries", "2")

    done = lane.run(f"{WRITES}; {moves(lane)}", *words)

    assert done.returncode == lanes.LaneBlocked.exit_status
    assert "retest: strict" in done.stderr
    assert lane.git("log", "-1", "--format=%s", "main") == "other b"
    assert cp.RETRY not in lane.records()
    assert lane.resume().returncode == 0  # a person has looked


@pytest.mark.req("RUN-17")
def test_base_that_is_red_by_itself_blocks_the_lane_and_uses_no_retry(
    lane: Lane, tmp_path: Path
) -> None:
    runs = f"echo run >> {tmp_path}/agents; {WRITES}; {moves(lane)}"

    done = lane.run(runs, "--test", "test ! -e b", "--retries", "2")

    assert done.returncode == lanes.LaneBlocked.exit_status
    assert "the base itself is red: main" in done.stderr
    assert cp.RETRY not in lane.records()
    assert (tmp_path / "agents").read_text(encoding="utf-8") == "run\n"

    lane.git("rm", "-q", "b")
    lane.git("commit", "-qm", "mended")
    assert lane.resume().returncode == 0
    assert lane.show("main", "made.txt") == "one"
    assert len(lane.git("worktree", "list").splitlines()) == 1


@pytest.mark.req("RUN-17")
def test_lane_that_is_red_on_the_base_has_failed_and_is_tried_again_when_asked(
    lane: Lane, tmp_path: Path
) -> None:
    test = f"test ! -e b -o ! -e made.txt -o -e {tmp_path}/go"

    done = lane.run(f"{WRITES}; {moves(lane)}", "--test", test)

    assert done.returncode == lanes.LaneFailed.exit_status
    base = lane.git("rev-parse", "main")
    assert f"green alone, red on main {base[:12]}" in done.stderr
    assert lane.history()[-1] == (cp.PRE_PR, cp.FAILED)
    assert lane.git("status", "--porcelain") == ""

    (tmp_path / "go").touch()
    assert lane.resume().returncode == 0
    assert lane.show("main", "made.txt") == "one"


@pytest.mark.parametrize("test", ["test ! -e b -o ! -e made.txt", "test ! -e made.txt"])
def test_agent_may_take_all_of_it_back_on_a_base_that_moved(lane: Lane, test: str) -> None:
    """Its tests are red on the base, or by themselves, and it finds that nothing is to be done."""
    does = f"if git cat-file -e main:b; then git rm -q made.txt; else {WRITES}; {moves(lane)}; fi"

    done = lane.run(does, "--test", test, "--retries", "1")

    assert done.returncode == 0, done.stderr
    assert lane.git("ls-tree", "--name-only", "main").split() == [".gitignore", "a.txt", "b"]


@pytest.mark.req("RUN-17")
def test_base_that_others_move_three_times_running_needs_a_person(
    lane: Lane, tmp_path: Path
) -> None:
    test = f"test -e {tmp_path}/calm || {moves(lane, 'c')}"

    done = lane.run(WRITES, "--test", test)

    assert done.returncode == lanes.LaneBlocked.exit_status
    assert "main was moved by others 3 times" in done.stderr

    (tmp_path / "calm").touch()
    assert lane.resume().returncode == 0
    assert lane.show("main", "made.txt") == "one"


@pytest.mark.req("RUN-17")
def test_setup_runs_again_before_a_repetition(lane: Lane, tmp_path: Path) -> None:
    """What the base asks of its surroundings may have changed with it."""
    test = f"echo tests >> {tmp_path}/ledger; test ! -e b || grep -q b dep.log"
    spec = library.spec(
        lane,
        runner=f"echo made > made.txt; {moves(lane)}",
        setup=f"echo setup >> {tmp_path}/ledger; ls > dep.log",
        test=test,
    )

    library.take_on(lane, spec)

    assert seen(tmp_path) == ["setup", "tests", "tests", "setup", "tests"]
    assert lane.show("main", "made.txt") == "made"


def test_those_who_wait_to_land_are_told_their_place(team: Night) -> None:
    go = team.top / "go"
    team.agent(f"until test $(ls {team.top}/*.here | wc -l) = 3; do"
               f" touch {team.top}/$STANDFAST_LANE.here; sleep 0.02; done")  # fmt: skip
    test = f"test $(ls plan-*.txt | wc -l) -lt 2 || until test -e {go}; do sleep 0.02; done"
    plan = team.plan(f"test: '{test}'\nlanes: {{a: Do a., b: Do b., c: Do c.}}\n")

    with team.start("run", plan) as run:
        assert run.stdout is not None
        assert any("waits for its turn to land: 2nd" in line for line in run.stdout)
        go.touch()
        run.communicate()

    assert run.returncode == 0
    assert len(team.merged()) == 4


@pytest.mark.req("RUN-17")
@pytest.mark.parametrize("how", ["ff", "pr"])
def test_what_is_committed_under_a_retest_does_not_land_untested(
    lane: Lane, tmp_path: Path, how: str
) -> None:
    ledger = tmp_path / "ledger"
    late = "echo late > late; git add late; git -c commit.gpgsign=false commit -qm late"
    test = (
        f"ls | xargs >> {ledger}; case $(wc -l < {ledger}) in 1) {moves(lane)};; 2) {late};; esac"
    )
    pr = ("--pr", f"echo pr >> {ledger}") if how == "pr" else ()

    done = lane.run(WRITES, "--test", test, "--merge", how, *pr)

    assert done.returncode == 0, done.stderr
    tested = [each for each in seen(tmp_path) if each != "pr"]
    assert tested[-1] == "a.txt b late made.txt"
    assert "pr" not in seen(tmp_path)[:-1]


# What runs of the tests leave behind lands nowhere, and so must not make any run green.


@pytest.mark.sweep(3)
@pytest.mark.req("RUN-17")
@pytest.mark.parametrize("also", ["", "; git add -A", "; git update-index --assume-unchanged snap"])
def test_what_a_red_run_rewrote_makes_no_repetition_green(
    lane: Lane, tmp_path: Path, also: str
) -> None:
    (lane.repo / "api").write_text("v1\n", encoding="utf-8")
    (lane.repo / "snap").write_text("v1\n", encoding="utf-8")
    lane.git("add", ".")
    lane.git("commit", "-qm", "a snapshot")
    moved = f"(cd '{lane.repo}' && echo v2 > api && git commit -qam 'api v2')"
    test = f"cmp -s api snap || {{ cp api snap{also}; exit 1; }}"

    done = lane.run(f"{WRITES}; {moved}", "--test", test)

    assert done.returncode == lanes.LaneBlocked.exit_status, done.stdout
    assert "the base itself is red" in done.stderr
    assert "feat" not in lane.git("log", "--format=%s", "main")


@pytest.mark.req("RUN-17")
@pytest.mark.parametrize("also", ["", "; git add gen"])
def test_what_the_lanes_own_tests_left_makes_no_retest_green(
    lane: Lane, tmp_path: Path, also: str
) -> None:
    test = f"test -e gen || {{ test ! -e b && echo ok > gen{also}; }}"

    done = lane.run(f"{WRITES}; {moves(lane)}", "--test", test)

    assert done.returncode == lanes.LaneBlocked.exit_status, done.stdout
    assert "made.txt" not in lane.git("ls-tree", "--name-only", "main")
    kept = lane.git("for-each-ref", "--format=%(refname)", "refs/standfast/backup").split()
    assert "ok" in {lane.show(ref, "gen") for ref in kept}


@pytest.mark.req("RUN-17")
def test_what_git_ignores_is_there_for_a_retest(lane: Lane) -> None:
    test = "test ! -e b || test -e made.log"

    done = lane.run(f"{WRITES}; touch made.log; {moves(lane)}", "--test", test)

    assert done.returncode == 0, done.stderr
