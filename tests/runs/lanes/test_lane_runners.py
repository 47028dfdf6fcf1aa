"""Agents by runners that have names: called as they are, known by their words, gone on with."""

from decimal import Decimal
from pathlib import Path

import pytest

import lane_library as library
from fake_client import Client
from lane_runs import NAMES, Lane, build
from standfast.effects import client_reports
from standfast.effects.effect_folder import Order
from standfast.errors.base import WrongUsage
from standfast.errors.lanes import EffectInDoubt, LaneFailed
from standfast.plans.lane_spec import Gate, Spec, Task
from standfast.runners import registry
from standfast.runners.registry import KNOWN, SHELL, Runner
from standfast.runs.records import cost_records as recorded
from standfast.runs.rules import spending
from standfast.runs.rules.spending import Spent


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Client:
    made = Client(tmp_path)
    monkeypatch.setenv("LEDGER", str(made.ledger))
    return made


@pytest.fixture
def lane(world: Path, tmp_path: Path, client: Client) -> Lane:
    return build(tmp_path)


def by(lane: Lane, *which: Runner, **more: object) -> Spec:
    given = {"runners": {each.name: each for each in which}, "runner": which[0].name, **more}
    return library.spec(lane, **given)


def cut(lane: Lane, client: Client, spec: Spec) -> None:
    """Take the lane on until its agent hangs, then end everything at once, as a power cut does."""
    library.end_at(client.hangs, lane, spec)
    client.hangs_no_more()


# How it is called.


@pytest.mark.req("RUN-02")
def test_each_task_has_its_own_runner_its_role_and_what_surrounds_it(
    lane: Lane, client: Client
) -> None:
    client.does("well")
    other = Runner("other", SHELL, ("sh", "-c", 'echo "$STANDFAST_ROLE $TOOL" > other.txt'),
                   env={"TOOL": "hammer", "STANDFAST_ROLE": "nobody"})  # fmt: skip
    tasks = (Task("one", "Do it."), Task("two", "Do that.", role="reviewer", runner="other"))
    mine = client.runner(env={"MODEL": "small"})

    done = library.take_on(lane, by(lane, mine, other, tasks=tasks, port_base=4100))

    assert [how for how, _ in client.calls()] == ["new"]
    env = client.env(1)
    assert (env["MODEL"], env["STANDFAST_PORT_BASE"], env["STANDFAST_ROLE"]) == (
        "small",
        "4100",
        "builder",
    )
    assert "Do it." in client.prompt(1)
    assert lane.show("main", "other.txt") == "reviewer hammer"
    assert done.steps["task-one"].facts["session"] == client.calls()[0][1]


@pytest.mark.req("RUN-02")
def test_runner_has_a_time_of_its_own(lane: Lane, client: Client) -> None:
    client.does("hangs")

    spec = by(lane, client.runner(time_s=0.5))

    with pytest.raises(LaneFailed, match="its time was up"):
        library.take_on(lane, spec)

    facts = library.standing(lane, spec).steps["task-one"].facts
    assert float(facts["seconds"]) < spec.time_s


@pytest.mark.req("RUN-02")
def test_runner_that_is_not_installed_is_named(lane: Lane, client: Client) -> None:
    with pytest.raises(LaneFailed, match="no-such-client"):
        library.take_on(lane, by(lane, client.runner(command=("no-such-client",))))


@pytest.mark.req("RUN-02")
def test_task_of_the_shell_runner_is_run_word_for_word(lane: Lane) -> None:
    task = Task("one", "echo ran > made.txt\n")

    library.take_on(lane, by(lane, KNOWN[SHELL], tasks=(task,)))

    assert lane.show("main", "made.txt") == "ran"


def test_task_that_is_not_the_last_has_outputs_of_its_own(lane: Lane) -> None:
    writes = 'printf "x\\n<!-- AGENT_COMPLETE -->\\n" > "$STANDFAST_OUTPUTS/notes.md"; date > d.txt'
    tasks = (
        Task("one", writes, outputs={"notes.md": "critical"}),
        Task("two", "test -z $STANDFAST_OUTPUTS"),
    )

    library.take_on(lane, by(lane, KNOWN[SHELL], tasks=tasks))
    found = list(lane.repo.glob(".worktrees/**/notes.md"))

    assert [each.parent.name for each in found] == ["task-one-1"]


def test_task_without_its_outputs_has_failed(lane: Lane) -> None:
    tasks = (Task("one", "true", outputs={"notes.md": "critical"}), Task("two", "true"))

    with pytest.raises(LaneFailed, match=r"notes\.md does not exist"):
        library.take_on(lane, by(lane, KNOWN[SHELL], tasks=tasks))


def test_runner_that_is_not_there_is_refused(lane: Lane, client: Client) -> None:
    with pytest.raises(WrongUsage, match="codex"):
        by(lane, client.runner(), tasks=(Task("one", "x", runner="codex"),))


def test_runner_that_holds_a_secret_is_refused_before_anything_is_written(
    lane: Lane, client: Client
) -> None:
    secret = "sk-ant-api03-" + "a1B2" * 20
    with pytest.raises(WrongUsage, match="secret"):
        library.take_on(lane, by(lane, client.runner(env={"KEY": secret})))

    assert not lane.tree.exists()


# What it says of itself.


@pytest.mark.req("RUN-10")
def test_cost_tokens_and_time_are_recorded_also_of_a_run_that_failed(
    lane: Lane, client: Client
) -> None:
    client.does("fails", "well")
    spec = by(lane, client.runner(), retries=1)

    done = library.take_on(lane, spec)

    facts = done.steps["task-one"].facts
    assert (facts["cost_usd"], facts["tokens_in"], facts["tokens_out"]) == ("0.25", "100", "10")
    assert done.failures[0] == "Attempt 1: claude: exit status 1: no idea"
    journal = lane.journal()
    lane_spent, run_spent = recorded.spent(journal, *NAMES), recorded.spent(journal, "r1")
    other = recorded.spent(journal, "r")
    journal.close()
    assert lane_spent == run_spent
    assert lane_spent[:3] == (Decimal("0.75"), 200, 20)
    assert lane_spent.seconds > 0
    assert other == Spent()


@pytest.mark.parametrize("said", ["", "NaN", "-1", "1e99", "x", "9" * 40, None, 5, "Infinity"])
def test_cost_that_is_none_counts_for_nothing(said: object) -> None:
    assert spending.cost(said) == 0


def test_sums_pass_over_what_was_not_said() -> None:
    said = [{"seconds": 1.5}, {"seconds": 2.0, "report": {"cost_usd": "0.1", "tokens_in": True}}]

    assert spending.total(said) == Spent(Decimal("0.1"), 0, 0, 3.5)


def test_report_is_bounded_redacted_and_never_costs_the_record_of_an_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    order = Order("k", (), "/", {}, 1.0, reader="claude")
    key = "sk-ant-api03-" + "a" * 40
    said = f'{{"type":"result","is_error":true,"result":"{key} {"x" * 9000}"}}\n'.encode()

    found = client_reports.of(order, said, b"")

    assert key not in str(found)
    assert len(str(found)) < 3000

    def broken(*_: object) -> None:
        raise RecursionError

    monkeypatch.setattr(registry, "read", broken)
    assert "could not be read" in str(client_reports.of(order, said, b"")["error"])
    assert client_reports.of(order._replace(reader=""), said, b"") == {}


# Going on after everything was killed.


@pytest.mark.req("RUN-02", "EFF-02")
def test_agent_whose_end_nobody_saw_goes_on_in_its_session_and_uses_no_retry(
    lane: Lane, client: Client
) -> None:
    client.does("hangs", "well")
    spec = by(lane, client.runner())
    cut(lane, client, spec)

    done = library.take_on(lane, spec)

    (first, session), (second, gone_on) = client.calls()
    assert (first, second) == ("new", "resumed")
    assert session == gone_on
    assert "was cut off" in client.prompt(2)
    assert "Do it." in client.prompt(2)
    assert "was cut off" not in client.prompt(1)
    assert (done.steps["task-one"].number, done.retries) == (1, 0)
    assert lane.show("main", "half.txt") == "half"
    assert any("continues its session" in str(each.get("notes")) for each in lane.log())


@pytest.mark.req("RUN-02", "EFF-02")
def test_agent_that_had_said_nothing_is_begun_anew_and_told_to_look_first(
    lane: Lane, client: Client
) -> None:
    client.does("hangs_silently", "well")
    spec = by(lane, client.runner())
    cut(lane, client, spec)

    library.take_on(lane, spec)

    (_, session), (second, another) = client.calls()
    assert second == "new"
    assert session != another
    assert "was cut off" in client.prompt(2)


@pytest.mark.req("RUN-02", "EFF-02")
@pytest.mark.parametrize("second", ["hangs", "hangs_silently"])
def test_agent_that_is_cut_off_twice_goes_on_twice(lane: Lane, client: Client, second: str) -> None:
    client.does("hangs", second, "well")
    spec = by(lane, client.runner())
    cut(lane, client, spec)
    cut(lane, client, spec)

    library.take_on(lane, spec)

    assert [how for how, _ in client.calls()] == ["new", "resumed", "resumed"]
    assert len({session for _, session in client.calls()}) == 1


@pytest.mark.req("RUN-02", "EFF-02")
def test_session_that_is_gone_is_no_failure_and_the_work_is_begun_anew(
    lane: Lane, client: Client
) -> None:
    client.does("hangs", "gone", "well")
    spec = by(lane, client.runner())
    cut(lane, client, spec)

    done = library.take_on(lane, spec)

    assert [how for how, _ in client.calls()] == ["new", "resumed", "new"]
    assert "was cut off" in client.prompt(3)
    assert (done.steps["task-one"].number, done.retries) == (2, 0)


def test_client_that_finds_no_session_time_and_again_fails(lane: Lane, client: Client) -> None:
    client.does("gone", "gone", "gone")

    with pytest.raises(LaneFailed, match="No conversation found"):
        library.take_on(lane, by(lane, client.runner()))

    assert len(client.calls()) == 2


def test_critic_that_finds_no_session_time_and_again_fails(lane: Lane, client: Client) -> None:
    client.does("well", *["gone"] * 6)
    gate = Gate("quality", "critic", Decimal("0.9"))

    with pytest.raises(LaneFailed, match="No conversation found"):
        library.take_on(lane, by(lane, client.runner(), gates=(gate,)))

    assert len(client.calls()) == 3  # the builder's, and two of the critic


@pytest.mark.req("EFF-02")
def test_agent_without_sessions_is_asked_about(lane: Lane, client: Client) -> None:
    client.does("hangs")
    spec = by(lane, client.runner(kind=SHELL))
    cut(lane, client, spec)

    with pytest.raises(EffectInDoubt):
        library.take_on(lane, spec)


@pytest.mark.req("RUN-02")
def test_command_of_the_users_own_goes_on_by_its_own_template(lane: Lane, client: Client) -> None:
    client.does("hangs", "well")
    plain = client.runner()
    mine = plain._replace(
        kind=SHELL,
        command=(*plain.command, "--session-id", "{session}"),
        resume=(*plain.command, "--resume", "{session}"),
    )
    spec = by(lane, mine)
    cut(lane, client, spec)

    library.take_on(lane, spec)

    (first, session), (second, gone_on) = client.calls()
    assert (first, second) == ("new", "resumed")
    assert session == gone_on != ""
