"""A role's lifecycle: only legal moves, each one recorded, one winner each however many try."""

import itertools
import json
import shlex
import shutil
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from places import TESTS
from standfast.errors.base import (
    BadName,
    FaceInvalid,
    IllegalMove,
    NothingFound,
    RoleTaken,
    StandfastError,
)
from standfast.journal import questions
from standfast.journal.author import USER
from standfast.journal.store import Journal
from standfast.journal.verification import verify
from standfast.protocols.context.records import lifecycle_records
from standfast.protocols.context.rules import lifecycle
from standfast.protocols.context.rules.lifecycle import (
    ACTIVE,
    COMPACTING,
    MOVES,
    RECOVERING,
    SAVED,
    SAVING,
    STATES,
)

ROLE = "oosh-expert"
CYCLE = [ACTIVE, SAVING, SAVED, COMPACTING, RECOVERING, ACTIVE]
SETTLED = {(SAVED, SAVING), (SAVED, ACTIVE), (SAVING, ACTIVE)}
HOSTILE = (
    *("a;touch owned", "$(touch owned)", "`touch owned`", "a'b", 'a"b', "a\nb", "a b", "../up"),
    *("/etc/x", "", "-n", ".x", "a..b", "ä", "a\0b", "a|b", "a&b", "x" * 65, "con"),
)
ROLES = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,20}", fullmatch=True)
SHELLS = [shell for shell in ("sh", "dash", "bash", "zsh") if shutil.which(shell)]


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(str(tmp_path / "journal"))


def begun(journal: Journal, *way: str) -> None:
    with journal.writing() as tx:
        lifecycle_records.begin(tx, ROLE, "test", USER)
        for state in way:
            lifecycle_records.move(tx, ROLE, state, "test", USER)


def moves(journal: Journal) -> list[tuple[str | None, str]]:
    found = questions.events(journal, questions.Filter(kind="lifecycle.moved"))
    payloads = [json.loads(event.payload) for event in found]
    return [(each["from"], each["to"]) for each in payloads]


# The rules.


@pytest.mark.req("CTX-08")
def test_single_moves_follow_the_cycle_and_nothing_else() -> None:
    legal = {(one, other) for one, others in MOVES.items() for other in others}

    assert legal == {*itertools.pairwise(CYCLE), *SETTLED}
    for one, other in itertools.product(STATES.values(), repeat=2):
        if (one, other) in legal:
            lifecycle.check(one, other)
            continue
        with pytest.raises(IllegalMove) as refused:
            lifecycle.check(one, other, ROLE)
        assert all(state in refused.value.problem for state in (ROLE, one, other, *MOVES[one]))


@pytest.mark.req("CTX-08")
@pytest.mark.parametrize(
    ("before", "way"),
    [
        (ACTIVE, ()),
        (SAVING, (ACTIVE,)),
        (SAVED, (ACTIVE,)),
        (COMPACTING, (RECOVERING, ACTIVE)),
        (RECOVERING, (ACTIVE,)),
    ],
)
def test_active_is_reached_from_any_state_by_legal_moves(before: str, way: tuple[str]) -> None:
    assert lifecycle.path(before, ACTIVE) == way


@given(one=st.sampled_from(list(MOVES)), other=st.sampled_from(list(MOVES)))
def test_every_way_is_legal_step_by_step(one: str, other: str) -> None:
    way = lifecycle.path(one, other)

    for before, after in itertools.pairwise((one, *way)):
        lifecycle.check(before, after)
    assert (one, *way)[-1] == other


def test_no_way_leads_to_a_state_that_is_none() -> None:
    with pytest.raises(IllegalMove, match="no state"):
        lifecycle.path(ACTIVE, "resting")


@pytest.mark.req("CTX-09")
def test_machine_is_the_role_with_hyphens_turned_into_underscores() -> None:
    assert lifecycle.machine_name("oosh-expert") == "oosh_expert"
    assert lifecycle.machine_name("oosh.expert-2") == "oosh.expert_2"
    for name in HOSTILE:
        with pytest.raises(BadName):
            lifecycle.machine_name(name)


# The journal.


@pytest.mark.req("CTX-08", "CTX-23")
def test_lifecycle_begins_active_once_and_every_step_is_recorded(journal: Journal) -> None:
    begun(journal, SAVING, SAVED, COMPACTING, RECOVERING, ACTIVE)
    with journal.writing() as tx:
        again = lifecycle_records.begin(tx, ROLE, "test", USER)

    assert again is None
    assert moves(journal) == [(None, ACTIVE), *itertools.pairwise(CYCLE)]
    found = lifecycle_records.of(journal, ROLE)
    assert found is not None
    assert (found.machine, found.state, found.before) == ("oosh_expert", ACTIVE, RECOVERING)
    assert verify(journal).problems == []


@pytest.mark.req("CTX-08")
def test_illegal_move_is_refused_and_leaves_no_trace(journal: Journal) -> None:
    begun(journal)
    before = questions.last_seq(journal)

    with pytest.raises(IllegalMove, match="saving"), journal.writing() as tx:
        lifecycle_records.move(tx, ROLE, COMPACTING, "test", USER)

    assert questions.last_seq(journal) == before
    assert lifecycle_records.every(journal)[0].state == ACTIVE


@pytest.mark.req("CTX-08")
@pytest.mark.parametrize(("before", "state"), [((), ACTIVE), ((SAVING, SAVED), SAVED)])
def test_failed_save_returns_to_the_state_before(
    journal: Journal, before: tuple[str, ...], state: str
) -> None:
    begun(journal, *before)

    with journal.writing() as tx:
        way = lifecycle_records.save(tx, ROLE, "test", USER, passes=False)

    assert way == (SAVING, state)
    assert moves(journal)[-2:] == [(state, SAVING), (SAVING, state)]


@pytest.mark.req("CTX-08")
@pytest.mark.parametrize("before", [(), (SAVING,), (SAVING, SAVED)])
def test_save_passes_through_saving_also_where_one_was_cut_short(
    journal: Journal, before: tuple[str, ...]
) -> None:
    begun(journal, *before)

    with journal.writing() as tx:
        lifecycle_records.save(tx, ROLE, "test", USER, passes=True)

    assert moves(journal)[-1] == (SAVING, SAVED)


@pytest.mark.req("CTX-08")
@pytest.mark.parametrize("before", [(), (SAVING, SAVED)])
def test_save_that_was_cut_short_and_then_fails_returns_to_where_it_began(
    journal: Journal, before: tuple[str, ...]
) -> None:
    begun(journal, *before, SAVING)

    with journal.writing() as tx:
        way = lifecycle_records.save(tx, ROLE, "test", USER, passes=False)

    assert way == (before or (ACTIVE,))[-1:]


@pytest.mark.req("CTX-22")
def test_second_role_of_the_same_machine_is_refused_and_a_dot_is_another(journal: Journal) -> None:
    begun(journal)
    with journal.writing() as tx:
        lifecycle_records.begin(tx, "oosh.expert", "test", USER)

    for act in (
        lambda tx: lifecycle_records.begin(tx, "oosh_expert", "test", USER),
        lambda tx: lifecycle_records.move(tx, "oosh_expert", SAVING, "test", USER),
        lambda tx: lifecycle_records.walk(tx, "oosh_expert", ACTIVE, "test", USER),
    ):
        with pytest.raises(RoleTaken, match="oosh-expert"), journal.writing() as tx:
            act(tx)

    assert {each.machine: each.role for each in lifecycle_records.every(journal)} == {
        "oosh_expert": "oosh-expert",
        "oosh.expert": "oosh.expert",
    }


@pytest.mark.req("CTX-22")
@pytest.mark.parametrize("names", [("a.b", "a_dot_b"), ("a-dot-b", "a.b"), ("a.b-c", "a_dot_b_c")])
def test_second_role_of_the_same_shell_variable_is_refused(
    journal: Journal, names: tuple[str, str]
) -> None:
    first, second = names
    with journal.writing() as tx:
        lifecycle_records.begin(tx, first, "test", USER)

    with pytest.raises(RoleTaken, match=first), journal.writing() as tx:
        lifecycle_records.begin(tx, second, "test", USER)
    with journal.writing() as tx:
        assert lifecycle_records.begin(tx, first, "test", USER) is None
        assert lifecycle_records.begin(tx, "a_b", "test", USER) is not None

    assert {each.role for each in lifecycle_records.every(journal)} == {first, "a_b"}


def test_role_without_a_lifecycle_cannot_move_and_a_secret_is_no_role(journal: Journal) -> None:
    with pytest.raises(NothingFound, match="nobody"), journal.writing() as tx:
        lifecycle_records.move(tx, "nobody", SAVING, "test", USER)
    with pytest.raises(BadName, match="secret"), journal.writing() as tx:
        lifecycle_records.begin(tx, "AKIAIOSFODNN7EXAMPLE", "test", USER)

    assert lifecycle_records.every(journal) == []


def test_nothing_is_asked_of_a_journal_that_is_not_there(journal: Journal) -> None:
    assert lifecycle_records.of(journal, ROLE) is None
    assert not journal.exists


# Many at once.


def race(journal: Journal, after: str) -> list[int]:
    """32 processes that begin at once; how many moves each got."""
    program = [sys.executable, TESTS / "lifecycle_racers.py", journal.folder]
    with ExitStack() as stack:
        racers = [
            stack.enter_context(
                subprocess.Popen(
                    [*program, after, str(seed)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
                )
            )
            for seed in range(32)
        ]
        for racer in racers:
            assert racer.stdin is not None
            racer.stdin.close()
        return [int(racer.stdout.read()) for racer in racers if racer.stdout]


@pytest.mark.prove
@pytest.mark.req("CTX-08")
def test_of_32_processes_that_want_one_move_one_gets_it(journal: Journal) -> None:
    begun(journal)

    for after in CYCLE[1:]:
        assert sorted(race(journal, after)) == [0] * 31 + [1], after

    assert moves(journal) == [(None, ACTIVE), *itertools.pairwise(CYCLE)]
    assert verify(journal).problems == []


@pytest.mark.prove
@pytest.mark.req("CTX-08")
def test_32_processes_that_move_at_random_make_only_legal_moves(journal: Journal) -> None:
    begun(journal)

    got = race(journal, "any")

    assert len(got) == 32
    made = moves(journal)[1:]
    assert len(made) > 200
    assert all(one[1] == other[0] for one, other in itertools.pairwise(made))
    assert all(after in MOVES[str(before)] for before, after in made)
    assert lifecycle_records.every(journal)[0].state == made[-1][1]


# The states file.


def source(shell: str, file: Path, words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [shell, "-c", f". {shlex.quote(str(file))}; {words}"],
        cwd=file.parent,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


@pytest.mark.req("CTX-09")
@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("role", [ROLE, "oosh.expert", "2nd-tester", "A.b-C_d"])
def test_every_shell_reads_the_state_and_its_name(tmp_path: Path, shell: str, role: str) -> None:
    file = tmp_path / "x.states.env"
    file.write_bytes(lifecycle.render(role, SAVED, journal="0a1b2c3d", event=42))
    name = lifecycle.machine_name(role).replace(".", "_dot_")

    number = source(shell, file, f'set -eu; . ./{file.name}; echo "$STATE_ID_{name}"')
    names = f'echo "${{STATES_{name}[*]}}"' if shell == "bash" else f'echo "$STATES_{name}"'
    states = source(shell, file, names)

    assert (number.stdout, number.stderr) == ("13\n", "")
    assert (states.stdout, states.stderr) == (f"{' '.join(STATES.values())}\n", "")
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.req("CTX-09")
@pytest.mark.skipif("bash" not in SHELLS, reason="no bash here")
def test_bash_has_the_states_by_their_numbers(tmp_path: Path) -> None:
    file = tmp_path / "x.states.env"
    file.write_bytes(lifecycle.render(ROLE, RECOVERING, journal="0a1b2c3d", event=1))

    told = source("bash", file, 'echo "${STATES_oosh_expert[$STATE_ID_oosh_expert]}"')

    assert told.stdout == "recovering\n"
    assert STATES == {11: ACTIVE, 12: SAVING, 13: SAVED, 14: COMPACTING, 15: RECOVERING}


WORDS = set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-,:# ='()[]|")


@pytest.mark.req("CTX-09")
@given(role=st.one_of(ROLES, st.text(max_size=30), st.sampled_from(HOSTILE)), number=st.integers(1))
def test_whatever_a_role_is_called_nothing_in_its_file_can_run(role: str, number: int) -> None:
    try:
        data = lifecycle.render(role, SAVED, journal="0a1b2c3d", event=number)
    except BadName:
        return
    head, current, names, guard, array, end = data.decode().split("\n")
    own = lifecycle.machine_name(role).replace(".", "_dot_")

    assert set(own) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
    assert head.startswith("# ")
    assert set(head) <= WORDS
    assert names == f"STATES_{own}='active saving saved compacting recovering'"
    assert guard == '[ -n "${BASH_VERSION-}" ] || return 0'
    assert array == (
        f"STATES_{own}=([11]=active [12]=saving [13]=saved [14]=compacting [15]=recovering)"
    )
    assert (current, end) == (f"STATE_ID_{own}=13", "")


@given(
    role=ROLES,
    state=st.sampled_from(list(MOVES)),
    mark=st.from_regex(r"[0-9a-f]{8}", fullmatch=True),
    event=st.integers(1, 10**9),
)
def test_file_reads_back_as_the_state_that_was_written(
    role: str, state: str, mark: str, event: int
) -> None:
    try:
        text = lifecycle.render(role, state, journal=mark, event=event).decode()
    except BadName:
        return

    assert lifecycle.read(text, role, journal=mark, file="f") == (state, 2)
    assert lifecycle.journal_of(text.split("\n")[0]) == mark


def _spoilt(text: str) -> list[tuple[int, str]]:
    lines = text.split("\n")
    return [
        (1, text.replace("oosh-expert", "other")),
        (1, text.replace("0a1b2c3d", "ffffffff")),
        (1, "STATE_ID_oosh_expert=13\n"),
        (1, ""),
        (1, text.replace("event 7.", "event $(id).")),
        (2, text.replace("=13", "=16")),
        (2, text.replace("=13", "=13; touch owned")),
        (2, text.replace("=13", "=١٣")),
        (3, text.replace("'active saving", "'$(touch owned) saving")),
        (4, text.replace("return 0", "touch owned")),
        (5, text.replace("[11]=active", "[11]=$(touch owned)")),
        (5, "\n".join([*lines[:4], ""])),
        (6, text + "touch owned\n"),
    ]


@pytest.mark.req("CTX-09")
@pytest.mark.parametrize("number", range(13))
def test_anything_but_another_number_is_refused_with_its_line(number: int) -> None:
    text = lifecycle.render(ROLE, SAVED, journal="0a1b2c3d", event=7).decode()
    line, spoilt = _spoilt(text)[number]

    with pytest.raises(FaceInvalid) as refused:
        lifecycle.read(spoilt, ROLE, journal="0a1b2c3d", file="f")

    assert refused.value.line == line
    with pytest.raises(StandfastError):
        lifecycle.read(spoilt, "other-role", journal="0a1b2c3d", file="f")
