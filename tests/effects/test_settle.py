"""A person says what became of a command whose end nobody saw: once, and of nothing else."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import Cli
from effect_desk import Desk, cut_short, kill_all, until
from standfast.effects.effect_folder import EXIT, OUT, STARTED
from standfast.effects.person_answers import say
from standfast.effects.rules import Verdict
from standfast.effects.settlement import Effect, perform
from standfast.errors.base import BadName, NothingFound
from standfast.errors.lanes import EffectInDoubt, NotInDoubt
from standfast.journal.author import USER, Author
from standfast.journal.store import Journal
from standfast.processes import programs

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="strays are found in /proc")
KEY = "lane/r/P1/SL-1/agent/1"
PERSON = Author("ada")


@pytest.fixture
def desk(repo: Path) -> Iterator[Desk]:
    made = Desk(repo)
    made.journal = Journal(str(repo / ".git" / "standfast"))
    made.journal.append("decision.noted", {"id": "d-1", "text": "begin"}, USER)
    yield made
    made.gate.touch()
    made.journal.close()


def settled(desk: Desk) -> list[tuple[object, ...]]:
    asked = "SELECT actor, payload ->> 'verdict' FROM events WHERE kind = 'effect.settled'"
    return desk.journal.query(asked)


@pytest.mark.req("EFF-02")
@pytest.mark.parametrize(("word", "count"), [("done", 1), ("again", 2)])
def test_lane_goes_on_by_what_a_person_says(desk: Desk, cli: Cli, word: str, count: int) -> None:
    cut_short(desk, KEY)
    effect = Effect(desk.order(KEY, f"echo again >> {desk.count}"), "agent")
    with pytest.raises(EffectInDoubt, match=KEY) as caught:
        perform(desk.journal, effect, USER)
    assert "standfast ps" in caught.value.remedy
    assert "settle" in caught.value.remedy
    assert f"settle {KEY}" not in caught.value.remedy, "a model would run it"

    told = cli("settle", KEY, word, "--by", "ada", "--json", cwd=desk.root)
    assert json.loads(told.stdout) == {"key": KEY, "answer": word, "by": "ada"}
    perform(desk.journal, effect, USER)
    assert desk.counted() == count
    assert settled(desk) == [("ada", word.upper())]


@pytest.mark.req("EFF-02", "EFF-04")
def test_doubt_is_named_by_status_and_ps_until_it_is_settled(desk: Desk, cli: Cli) -> None:
    cut_short(desk, KEY)
    line = next(
        line for line in cli("status", cwd=desk.root).stdout.splitlines() if "NEEDS YOU" in line
    )
    assert KEY in line
    assert "begun 20" in line
    assert "sh -c" in line
    needs = json.loads(cli("status", "--json", cwd=desk.root).stdout)["needs_you"]
    assert [KEY in each["problem"] for each in needs] == [True]
    shown = cli("ps", cwd=desk.root).stdout
    assert shown.split()[0] == KEY
    assert "in doubt" in shown
    assert "settle" in shown

    assert cli("settle", KEY, "done", cwd=desk.root).returncode == 0
    assert "NEEDS YOU" not in cli("status", cwd=desk.root).stdout
    assert KEY not in cli("ps", cwd=desk.root).stdout


def test_secret_in_a_command_line_is_not_shown(desk: Desk, cli: Cli) -> None:
    secret = "sk-ant-api03-" + "Qx7" * 25
    folder = desk.folder(KEY)
    folder.write_order(desk.order(KEY, f"agent --token {secret}"))
    folder.start("")

    for words in (("ps",), ("ps", "--json"), ("status",), ("status", "--json")):
        shown = cli(*words, cwd=desk.root).stdout
        assert KEY in shown
        assert secret not in shown


@pytest.mark.req("EFF-02")
def test_last_words_are_kept_with_the_answer_and_the_raw_ones_go(desk: Desk) -> None:
    secret = "sk-ant-api03-" + "Qx7" * 25
    folder = desk.begun(KEY, "exit 0")
    folder.reserve()
    Path(folder.at(OUT)).write_text(f"{'x' * 5000}\nhere: {secret}\nlast\n", encoding="utf-8")
    say(desk.journal, KEY, Verdict.DONE, PERSON)
    asked = "SELECT payload ->> 'out' FROM events WHERE kind = 'effect.settled'"
    out = str(desk.journal.query(asked)[0][0])

    assert out.endswith("\nlast\n")
    assert secret not in out
    assert sorted(os.listdir(folder.path)) == [STARTED]


@pytest.mark.req("EFF-02")
def test_second_answer_is_the_first_one_or_refused(desk: Desk) -> None:
    cut_short(desk, KEY)
    say(desk.journal, KEY, Verdict.AGAIN, PERSON)
    say(desk.journal, KEY, Verdict.AGAIN, PERSON)
    with pytest.raises(NotInDoubt, match="said before"):
        say(desk.journal, KEY, Verdict.DONE, PERSON)

    assert settled(desk) == [("ada", "AGAIN")]


def test_what_was_never_begun_is_unknown(desk: Desk) -> None:
    with pytest.raises(NothingFound):
        say(desk.journal, "nothing", Verdict.DONE, PERSON)
    desk.folder("ordered").write_order(desk.order("ordered", "exit 0"))
    with pytest.raises(NothingFound):
        say(desk.journal, "ordered", Verdict.DONE, PERSON)
    with pytest.raises(BadName):
        say(desk.journal, "no key", Verdict.DONE, PERSON)
    assert settled(desk) == []


@pytest.mark.req("EFF-02")
def test_what_lives_is_not_in_doubt(desk: Desk) -> None:
    caller = desk.call(KEY, desk.waiting())
    until(lambda: desk.counted() == 1)
    with pytest.raises(NotInDoubt, match="still running"):
        say(desk.journal, KEY, Verdict.AGAIN, PERSON)
    desk.gate.touch()
    caller.communicate()

    with pytest.raises(NotInDoubt, match="is known"):
        say(desk.journal, KEY, Verdict.AGAIN, PERSON)
    assert settled(desk) == []


@pytest.mark.req("EFF-02")
def test_exit_record_that_nobody_took_in_yet_is_known(desk: Desk) -> None:
    caller = desk.call(KEY, desk.waiting())
    until(lambda: desk.counted() == 1)
    caller.kill()
    caller.communicate()
    desk.gate.touch()
    until(lambda: os.path.lexists(desk.folder(KEY).at(EXIT)))

    with pytest.raises(NotInDoubt, match="is known"):
        say(desk.journal, KEY, Verdict.AGAIN, PERSON)


@pytest.mark.req("EFF-02", "EFF-04")
def test_stray_that_let_go_of_every_lock_still_lives(desk: Desk, cli: Cli) -> None:
    """Its environment tells whose it is, where its files do not."""
    folder = desk.begun(KEY, "exit 0")
    env = {**os.environ, "STANDFAST_EFFECT": folder.mark}
    stray = subprocess.Popen(["sleep", "100"], env=env, start_new_session=True)
    until(lambda: bool(programs.surrounded_by(f"STANDFAST_EFFECT={folder.mark}".encode())))

    refused = cli("settle", KEY, "again", cwd=desk.root)
    assert refused.returncode == NotInDoubt.exit_status
    assert "still running" in refused.stderr
    kill_all([stray.pid])
    stray.wait()
    assert cli("settle", KEY, "again", cwd=desk.root).returncode == 0


@pytest.mark.parametrize("variable", ["CLAUDECODE", "STANDFAST_SESSION", "STANDFAST_EFFECT"])
def test_agent_may_not_answer(desk: Desk, cli: Cli, variable: str) -> None:
    desk.folder(KEY).write_order(desk.order(KEY, "exit 0"))
    desk.folder(KEY).start("")
    refused = cli("settle", KEY, "done", cwd=desk.root, env={variable: "1"})

    assert refused.returncode == 1
    assert "SF118" in refused.stderr
    assert settled(desk) == []


def test_wrong_words_are_told(desk: Desk, cli: Cli) -> None:
    assert os.path.isdir(desk.root)
    assert cli("settle", KEY, "maybe", cwd=desk.root).returncode == 2
    assert cli("settle", KEY, "done", cwd=desk.root).returncode == NothingFound.exit_status
    assert not os.path.lexists(desk.folder(KEY).at(STARTED))
