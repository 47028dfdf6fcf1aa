"""The model disk leaves what POSIX allows after a power cut: all of that, and nothing else."""

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.faults.power.disk_model import (
    ROOT,
    SECTOR,
    Change,
    Cut,
    Moment,
    Move,
    Resize,
    Slot,
    Tree,
    Write,
    contents,
    crash,
    prefixes,
    scattered,
    settled,
)

pytestmark = pytest.mark.req("REL-02")
FILE, OTHER, FOLDER, ELSEWHERE = 7, 8, 20, 21
END = 100


def moment(
    durable: dict[int, bytes] | None = None,
    slots: dict[Slot, int] | None = None,
    changes: dict[int, tuple[Change, ...]] | None = None,
    moves: Sequence[Move] = (),
) -> Moment:
    return Moment(durable or {}, slots or {}, changes or {}, tuple(moves))


def reachable(found: Moment, draws: int = 400) -> list[Tree]:
    """Every state that draws come upon, each once."""
    trees = [crash(found, cut) for cut in prefixes(found)]
    trees += [crash(found, scattered(found, random.Random(n))) for n in range(draws)]
    return [tree for at, tree in enumerate(trees) if tree not in trees[:at]]


def test_file_without_a_sync_may_be_whole_empty_or_zeros() -> None:
    made = moment(
        {FILE: b""}, {}, {FILE: (Write(2, 0, b"words"),)}, [Move(1, (((ROOT, "f"), FILE),))]
    )

    assert {tree.get("f") for tree in reachable(made)} == {None, b"", b"words", bytes(5)}


def test_write_is_torn_between_sectors_and_never_within_one() -> None:
    data = b"a" * SECTOR + b"b" * SECTOR
    torn = moment({FILE: bytes(2 * SECTOR)}, {(ROOT, "f"): FILE}, {FILE: (Write(1, 0, data),)})

    found = {tree["f"] for tree in reachable(torn)}

    halves = (bytes(SECTOR), b"a" * SECTOR), (bytes(SECTOR), b"b" * SECTOR)
    assert found == {first + second for first in halves[0] for second in halves[1]}


def test_sector_holds_what_was_in_memory_at_one_moment() -> None:
    changes = (Write(1, 0, b"1"), Write(2, 1, b"2"))
    twice = moment({FILE: b"--"}, {(ROOT, "f"): FILE}, {FILE: changes})

    assert {tree["f"] for tree in reachable(twice)} == {b"--", b"1-", b"12"}  # never "-2"


def test_later_sector_may_be_there_without_an_earlier_one() -> None:
    changes = (Write(1, 0, b"1" * SECTOR), Write(2, SECTOR, b"2" * SECTOR))
    found = moment({FILE: bytes(2 * SECTOR)}, {(ROOT, "f"): FILE}, {FILE: changes})

    assert bytes(SECTOR) + b"2" * SECTOR in {tree["f"] for tree in reachable(found)}


def test_size_alone_gives_zeros_and_data_without_its_size_is_cut_off() -> None:
    grown = moment({FILE: b"old"}, {(ROOT, "f"): FILE}, {FILE: (Write(1, SECTOR, b"new"),)})

    found = {tree["f"] for tree in reachable(grown)}

    gap = b"old" + bytes(SECTOR - 3)
    assert found == {b"old", gap + b"new", gap + bytes(3)}


def test_what_was_cut_off_does_not_come_back() -> None:
    changes = (Resize(1, 1), Write(2, 2, b"c"))

    assert contents(FILE, b"ab", changes, Cut(END)) == b"a\0c"
    assert contents(FILE, b"ab", changes, Cut(2)) == b"a"
    assert contents(FILE, b"ab", changes, Cut(1)) == b"ab"


def test_names_in_one_folder_come_in_order() -> None:
    moves = [Move(n, (((ROOT, f"f{n}"), FILE),)) for n in (1, 2, 3)]
    found = moment({FILE: b""}, {}, {}, moves)

    seen = {tuple(sorted(tree)) for tree in reachable(found)}

    assert seen == {(), ("f1",), ("f1", "f2"), ("f1", "f2", "f3")}


def test_two_folders_wait_for_nothing_of_each_other() -> None:
    slots = {(ROOT, "a"): FOLDER, (ROOT, "b"): ELSEWHERE}
    moves = [Move(1, (((FOLDER, "f"), FILE),)), Move(2, (((ELSEWHERE, "f"), FILE),))]

    seen = {tuple(sorted(tree)) for tree in reachable(moment({FILE: b""}, slots, {}, moves))}

    assert ("a", "b", "b/f") in seen
    assert ("a", "a/f", "b") in seen


def test_rename_between_folders_happens_in_both_or_in_neither() -> None:
    slots = {(ROOT, "a"): FOLDER, (ROOT, "b"): ELSEWHERE, (FOLDER, "f"): FILE}
    move = Move(1, (((FOLDER, "f"), None), ((ELSEWHERE, "g"), FILE)))

    seen = {tuple(sorted(tree)) for tree in reachable(moment({FILE: b""}, slots, {}, [move]))}

    assert seen == {("a", "a/f", "b"), ("a", "b", "b/g")}


def test_step_that_one_folder_lacks_holds_up_what_follows_it_in_the_other() -> None:
    slots = {(ROOT, "a"): FOLDER, (ROOT, "b"): ELSEWHERE, (FOLDER, "f"): FILE}
    moves = [
        Move(1, (((FOLDER, "f"), None), ((ELSEWHERE, "g"), FILE))),
        Move(2, (((ELSEWHERE, "h"), FILE),)),
    ]

    seen = {tuple(sorted(tree)) for tree in reachable(moment({FILE: b""}, slots, {}, moves))}

    assert seen == {("a", "a/f", "b"), ("a", "b", "b/g"), ("a", "b", "b/g", "b/h")}


def test_exchange_never_shows_one_file_twice() -> None:
    slots = {(ROOT, "f"): FILE, (ROOT, "g"): OTHER}
    move = Move(1, (((ROOT, "f"), OTHER), ((ROOT, "g"), FILE)))

    seen = [
        (tree["f"], tree["g"])
        for tree in reachable(moment({FILE: b"1", OTHER: b"2"}, slots, {}, [move]))
    ]

    assert sorted(seen) == [(b"1", b"2"), (b"2", b"1")]


def test_sync_of_a_folder_takes_what_a_shared_step_needs_and_no_more() -> None:
    moves = [
        Move(1, (((FOLDER, "f"), FILE),)),
        Move(2, (((FOLDER, "f"), None), ((ELSEWHERE, "f"), FILE))),
        Move(3, (((FOLDER, "g"), FILE),)),
        Move(4, (((ROOT, "h"), FILE),)),
    ]

    assert settled(moves, ELSEWHERE) == {1, 2}
    assert settled(moves, FOLDER) == {1, 2, 3}
    assert settled(moves, ROOT) == {4}


def test_folder_that_has_no_durable_name_takes_its_files_with_it() -> None:
    made = moment({FILE: b"x"}, {(FOLDER, "f"): FILE}, {}, [Move(1, (((ROOT, "d"), FOLDER),))])

    assert reachable(made) == [{}, {"d": None, "d/f": b"x"}]


writes = st.builds(Write, st.just(0), st.integers(0, 1500), st.binary(min_size=1, max_size=900))
resizes = st.builds(Resize, st.just(0), st.integers(0, 1500))
histories = st.lists(writes | resizes, max_size=6).map(
    lambda found: tuple(change._replace(order=n) for n, change in enumerate(found, 1))
)


def done(durable: bytes, changes: Sequence[Change]) -> bytes:
    """What a file holds when the power stays on."""
    image = bytearray(durable)
    for change in changes:
        if isinstance(change, Resize):
            image = (image + bytes(max(0, change.size - len(image))))[: change.size]
        else:
            image.extend(bytes(max(0, change.at - len(image))))
            image[change.at : change.at + len(change.data)] = change.data
    return bytes(image)


@given(durable=st.binary(max_size=1200), changes=histories, cut=st.integers(0, 8))
def test_any_prefix_is_what_the_disk_held_at_that_time(
    durable: bytes, changes: tuple[Change, ...], cut: int
) -> None:
    until = [change for change in changes if change.order < cut]

    assert contents(FILE, durable, changes, Cut(cut)) == done(durable, until)


@given(durable=st.binary(max_size=1200), changes=histories, seed=st.integers(0, 1 << 30))
def test_any_byte_is_one_that_was_there_at_some_time_or_zero(
    durable: bytes, changes: tuple[Change, ...], seed: int
) -> None:
    times = [done(durable, changes[:n]) for n in range(len(changes) + 1)]
    cut = scattered(moment({FILE: durable}, {}, {FILE: changes}), random.Random(seed))

    found = contents(FILE, durable, changes, cut)

    assert len(found) in {len(one) for one in times}
    for at, byte in enumerate(found):
        assert byte in {0, *(one[at] for one in times if at < len(one))}


@given(changes=histories, seed=st.integers(0, 1 << 30))
def test_crash_is_the_same_for_the_same_dice(changes: tuple[Change, ...], seed: int) -> None:
    found = moment({FILE: b"x"}, {(ROOT, "f"): FILE}, {FILE: changes})

    first, second = (crash(found, scattered(found, random.Random(seed))) for _ in range(2))

    assert first == second
