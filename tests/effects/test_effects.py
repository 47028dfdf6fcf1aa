"""An effect happens once: whoever asks again gets its end, whatever was killed meanwhile.

Real processes. An effect counts itself in a file outside: the file tells how often it happened.
"""

import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import Cli
from effect_desk import Desk, cut_short, kill_all, until
from standfast.effects import orphans
from standfast.effects.effect_folder import EXIT, OUT, SUP, TREE
from standfast.effects.rules import Probe, Seen, Step, Verdict, attempt_of, decide, key, settle
from standfast.effects.settlement import Done, Effect, answer, perform
from standfast.errors.base import BadName, WrongUsage
from standfast.errors.lanes import EffectInDoubt
from standfast.journal.author import USER
from standfast.journal.store import Journal
from standfast.journal.verification import verify
from standfast.processes import programs

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="strays are found in /proc")


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path)
    yield made
    made.gate.touch()
    made.journal.close()


# Deciding.


@pytest.mark.req("EFF-01", "EFF-02")
@pytest.mark.parametrize(
    ("seen", "step"),
    [
        (Seen(), Step.BEGIN),
        (Seen(ordered=True), Step.BEGIN),
        (Seen(intended=True, ordered=True), Step.BEGIN),
        (Seen(recorded=True, started=True, exit=True), Step.USE),
        (Seen(intended=True, started=True, exit=True), Step.RECORD),
        (Seen(intended=True, started=True, exit=True, running=True), Step.RECORD),
        (Seen(supervised=True), Step.WAIT),
        (Seen(started=True, supervised=True, running=True), Step.WAIT),
        (Seen(started=True, running=True), Step.WAIT),
        (Seen(intended=True, ordered=True, started=True), Step.SETTLE),
        (Seen(intended=True), Step.SETTLE),
        (Seen(started=True), Step.REFUSE),
        (Seen(started=True, exit=True), Step.REFUSE),
    ],
)
def test_what_follows_from_what_is_seen(seen: Seen, step: Step) -> None:
    assert decide(seen) is step


@pytest.mark.req("EFF-02")
def test_doubt_is_settled_by_the_probe_then_by_policy_and_never_guessed() -> None:
    assert settle(Probe.DONE, repeatable=True) is Verdict.DONE
    assert settle(Probe.NOT_DONE, repeatable=False) is Verdict.AGAIN
    assert settle(Probe.UNKNOWN, repeatable=True) is Verdict.AGAIN
    assert settle(Probe.UNKNOWN, repeatable=False) is Verdict.ASK


@pytest.mark.parametrize("text", ["", "a b", "a\n", "x" * 401, "é", "a;b"])
def test_key_that_is_no_key_is_refused(text: str) -> None:
    with pytest.raises(BadName):
        key(text)


def test_every_attempt_has_a_key_of_its_own() -> None:
    assert [attempt_of("r/P1/SL-1/test", each) for each in (1, 2)] == [
        "r/P1/SL-1/test",
        "r/P1/SL-1/test#2",
    ]


# Once.


@pytest.mark.req("EFF-01")
def test_effect_ends_as_it_ended_and_is_never_begun_again(desk: Desk) -> None:
    script = f"echo x >> {desk.count}; echo said; echo wrong >&2; exit 3"
    first, again = desk.end("a", script), desk.end("a", "exit 0")

    assert first == again
    assert (first.how, first.status, first.out, first.err) == ("exited", 3, "said\n", "wrong\n")
    assert desk.counted() == 1
    assert not os.path.lexists(desk.folder("a").at(OUT)), "raw words go once they are recorded"
    assert verify(desk.journal).problems == []


@pytest.mark.req("EFF-01")
def test_many_who_ask_at_once_get_the_one_end(desk: Desk) -> None:
    callers = [desk.call("a", desk.waiting()) for _ in range(6)]
    for caller in callers:
        assert caller.stdout is not None
        caller.stdout.readline()
    until(lambda: desk.counted() == 1)
    desk.gate.touch()
    told = [caller.communicate()[0].strip() for caller in callers]

    assert told == ["7"] * 6
    assert desk.counted() == 2


@pytest.mark.req("EFF-01", "EFF-02")
def test_command_whose_caller_is_killed_is_adopted_and_its_end_is_kept(desk: Desk) -> None:
    caller = desk.call("a", desk.waiting())
    until(lambda: desk.counted() == 1)
    caller.kill()
    caller.communicate()
    desk.gate.touch()

    assert desk.end("a", "exit 0").status == 7
    assert desk.counted() == 2


@pytest.mark.req("EFF-02")
def test_tree_that_outlives_both_supervisors_is_waited_for_and_then_in_doubt(desk: Desk) -> None:
    caller = desk.call("a", desk.waiting())
    until(lambda: desk.counted() == 1)
    desk.kill_supervisors("a")
    caller.kill()
    caller.communicate()
    folder = desk.folder("a")
    until(lambda: not folder.is_held(SUP))

    assert folder.look(intended=True) == Seen(
        intended=True, ordered=True, started=True, running=True
    )
    desk.gate.touch()
    assert desk.run("a", "exit 0").is_in_doubt
    assert desk.counted() == 2, "it was let come to its end, and not begun again"


@LINUX
@pytest.mark.req("EFF-02")
def test_effect_that_was_killed_with_everybody_is_in_doubt_and_not_begun_again(desk: Desk) -> None:
    caller = desk.call("a", desk.waiting())
    until(lambda: desk.counted() == 1)
    mark = f"STANDFAST_EFFECT={desk.folder('a').mark}".encode()
    desk.kill_supervisors("a")
    caller.kill()
    caller.communicate()
    kill_all(programs.surrounded_by(mark))
    until(lambda: not desk.folder("a").is_held(TREE))

    assert desk.run("a", "exit 0").is_in_doubt
    assert desk.run("a", "exit 0").is_in_doubt
    assert desk.counted() == 1


@pytest.mark.req("EFF-01")
def test_caller_that_dies_before_the_supervisor_leaves_the_right_to_begin(desk: Desk) -> None:
    folder = desk.folder("a")
    folder.write_order(desk.order("a", "exit 1"))  # as one that died right there

    assert desk.end("a", f"echo x >> {desk.count}; exit 5").status == 5
    assert desk.counted() == 1


@pytest.mark.req("EFF-01")
def test_exit_record_that_nobody_took_in_is_taken_in_by_the_next(desk: Desk) -> None:
    caller = desk.call("a", desk.waiting())
    until(lambda: desk.counted() == 1)
    caller.kill()
    caller.communicate()
    desk.gate.touch()
    until(lambda: os.path.lexists(desk.folder("a").at(EXIT)))

    assert desk.end("a", "exit 0").status == 7


@LINUX
def test_effects_of_two_repositories_under_one_key_are_two(tmp_path: Path) -> None:
    one, other = Desk(tmp_path / "one"), Desk(tmp_path / "other")
    for each in (one, other):
        each.root.mkdir()
    caller = one.call("a", one.waiting())
    until(lambda: one.counted() == 1)
    assert other.end("a", "exit 3").status == 3
    one.gate.touch()

    assert caller.communicate()[0].split() == ["asked", "7"]
    for each in (one, other):
        each.journal.close()


# How it ends.


@pytest.mark.req("EFF-01")
def test_time_that_is_up_ends_the_whole_tree(desk: Desk) -> None:
    script = f"(trap '' TERM; sleep 100) & echo $! > {desk.count}; sleep 100"
    ended = desk.end("a", script, timeout_s=0.5)

    assert ended.how == "timeout"
    assert programs.identify(int(desk.count.read_text(encoding="utf-8"))) is None


@LINUX
@pytest.mark.req("EFF-01", "EFF-04")
def test_what_a_command_leaves_running_is_ended_before_its_end_is_told(desk: Desk) -> None:
    ended = desk.end("a", f"setsid sh -c 'echo $$ > {desk.count}; exec sleep 100' & sleep 0.3")

    assert (ended.how, ended.status) == ("exited", 0)
    assert ended.left >= 1
    assert programs.identify(int(desk.count.read_text(encoding="utf-8"))) is None


@pytest.mark.req("EFF-01")
@pytest.mark.parametrize("which", [0, 1])
def test_signal_that_a_supervisor_gets_is_the_commands(desk: Desk, which: int) -> None:
    script = f"trap 'echo ended >> {desk.count}; exit 9' TERM; echo begun >> {desk.count}; {LOOP}"
    caller = desk.call("a", script)
    until(lambda: desk.counted() == 1)
    programs.send(desk.supervisors("a")[which], signal.SIGTERM)
    caller.communicate()
    ended = desk.end("a", "exit 0")

    assert (ended.how, ended.status) == ("cancelled", 9)
    assert desk.counted() == 2


LOOP = "while :; do sleep 0.02; done"


def test_command_that_cannot_be_begun_has_ended(desk: Desk) -> None:
    ended = desk.end("a", "", argv=("no-such-program-anywhere",))

    assert (ended.how, ended.status) == ("not started", 127)
    assert "not found" in ended.err


def test_command_that_no_system_can_be_given_has_ended(desk: Desk) -> None:
    ended = desk.end("a", "true", env={**os.environ, "WORDS": "a\0b"})

    assert (ended.how, ended.status) == ("not started", 127)
    assert "null byte" in ended.err


def test_signal_is_told_as_one(desk: Desk) -> None:
    ended = desk.end("a", "kill -9 $$")

    assert (ended.how, ended.status) == ("signal", -9)


def test_words_without_end_are_held_to_a_size(desk: Desk) -> None:
    some = "head -c 100000 /dev/zero | tr '\\0' x; sleep 0.02"
    script = f"i=0; while [ $i -lt 40 ]; do {some}; i=$((i+1)); done; echo END"
    ended = desk.end("a", script, cap=50_000)

    assert ended.out.endswith("END\n")
    assert 2_000_000 < ended.sizes["out"] <= 4_000_004


@pytest.mark.req("EFF-01")
def test_what_it_wrote_is_durable_before_its_end_is_recorded(desk: Desk, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    (tree / "deep").mkdir(parents=True)
    ended = desk.end("a", "echo x > tree/deep/file", durable=(str(tree),))

    assert ended.is_ok
    assert (tree / "deep" / "file").read_text(encoding="utf-8") == "x\n"


def test_secret_in_what_it_says_is_not_recorded(desk: Desk) -> None:
    secret = "sk-ant-api03-" + "Qx7" * 25
    desk.end("a", f"echo {secret}")
    desk.journal.mirror()

    files = [Path(folder, name) for folder, _, names in os.walk(desk.root) for name in names]
    assert [file.name for file in files if secret.encode() in file.read_bytes()] == []


# In doubt.


def effect(desk: Desk, probe: Probe, *, repeatable: bool = False) -> Effect:
    order = desk.order("a", f"echo again >> {desk.count}; exit 4")
    return Effect(order, "test", lambda: probe, repeatable)


@LINUX
@pytest.mark.req("EFF-02")
def test_effect_in_doubt_that_took_place_is_not_begun_again(desk: Desk) -> None:
    cut_short(desk)
    done = perform(desk.journal, effect(desk, Probe.DONE), USER)

    assert done == Done(None, 1)
    assert perform(desk.journal, effect(desk, Probe.NOT_DONE), USER) == done, "it was said once"
    assert desk.counted() == 1


@LINUX
@pytest.mark.req("EFF-02")
@pytest.mark.parametrize(("probe", "repeatable"), [(Probe.NOT_DONE, False), (Probe.UNKNOWN, True)])
def test_effect_that_did_not_take_place_or_may_be_repeated_is_the_next_attempt(
    desk: Desk, probe: Probe, *, repeatable: bool
) -> None:
    cut_short(desk)
    done = perform(desk.journal, effect(desk, probe, repeatable=repeatable), USER)

    assert done.attempt == 2
    assert done.ended is not None
    assert done.ended.status == 4
    assert perform(desk.journal, effect(desk, Probe.UNKNOWN), USER) == done
    assert desk.counted() == 2


@LINUX
@pytest.mark.req("EFF-02")
def test_effect_that_nobody_can_tell_of_is_asked_about_until_a_person_says(desk: Desk) -> None:
    cut_short(desk)
    for _ in range(2):
        with pytest.raises(EffectInDoubt):
            perform(desk.journal, effect(desk, Probe.UNKNOWN), USER)
    assert desk.counted() == 1

    answer(desk.journal, "a", Verdict.AGAIN, USER, by="user")
    answer(desk.journal, "a", Verdict.DONE, USER, by="user")
    done = perform(desk.journal, effect(desk, Probe.UNKNOWN), USER)
    assert done.attempt == 2, "the first answer counts"
    asked = desk.journal.query("SELECT count(*) FROM events WHERE kind = 'effect.asked'")
    assert asked == [(1,)]


def test_asking_is_no_answer(desk: Desk) -> None:
    with pytest.raises(WrongUsage):
        answer(desk.journal, "a", Verdict.ASK, USER, by="user")


# What was left behind.


@LINUX
@pytest.mark.req("EFF-04")
def test_ledger_lists_what_runs_what_is_orphaned_and_what_is_in_doubt(desk: Desk) -> None:
    cut_short(desk, "doubt")
    caller = desk.call("orphan", desk.waiting())
    until(lambda: desk.counted() == 2)
    desk.kill_supervisors("orphan")
    caller.kill()
    caller.communicate()
    until(lambda: not desk.folder("orphan").is_held(SUP))
    other = desk.call("running", desk.waiting())
    until(lambda: desk.counted() == 3)
    desk.end("over", "exit 0")
    found = {each.key: each for each in orphans.every(desk.journal)}

    assert {key: each.state for key, each in found.items()} == {
        "doubt": "in doubt",
        "orphan": "orphaned",
        "running": "running",
    }
    assert not found["doubt"].pids
    assert found["orphan"].pids
    assert orphans.end(found.values()) == []
    assert other.communicate()[0].split()[0] == "asked"
    assert [each.state for each in orphans.every(desk.journal)] == ["in doubt", "in doubt"]
    assert desk.end("running", "exit 0").how == "cancelled"


@LINUX
@pytest.mark.req("EFF-04")
def test_ps_and_reap_from_outside(repo: Path, cli: Cli) -> None:
    folder = repo / ".git" / "standfast"
    desk = Desk(repo)
    desk.journal = Journal(str(folder))
    caller = desk.call("r/P1/SL-1/agent", desk.waiting())
    until(lambda: desk.counted() == 1)
    listed = cli("ps", "--json", cwd=repo)
    pids = json.loads(listed.stdout)["effects"][0]["pids"]
    assert cli("ps", cwd=repo).stdout.split()[:2] == ["r/P1/SL-1/agent", "running"]
    assert cli("reap", "nothing", cwd=repo).returncode != 0

    done = cli("reap", cwd=repo)
    caller.communicate()
    assert "Ended r/P1/SL-1/agent" in done.stdout
    assert all(programs.identify(pid) is None for pid in pids)
    assert cli("ps", cwd=repo).stdout.strip() == "Nothing is running and nothing in doubt."
    assert cli("reap", cwd=repo).stdout.strip() == "Nothing was running."
