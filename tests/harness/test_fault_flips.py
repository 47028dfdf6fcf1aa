"""One byte of a journal is another: it answers as before or names the damage, and is mended."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.faults.flips import canaries as planted
from harness.faults.flips import flip_shapes, flips
from harness.faults.flips.flip_mending import the_repair, unnamed
from harness.faults.flips.flip_places import Map
from harness.faults.flips.flip_trial import (
    HOOK,
    MENDED,
    NAMED,
    READ,
    RIGHT,
    WRONG,
    Flip,
    parse,
    told,
)


@pytest.fixture
def quick(tmp_path: Path) -> Iterator[str]:
    """A folder in memory where there is one."""
    where = "/dev/shm" if os.access("/dev/shm", os.W_OK) else str(tmp_path)
    with tempfile.TemporaryDirectory(dir=where, ignore_cleanup_errors=True) as name:
        yield name


# Only what comes with the repair notices a log that lost its end.
UNSEEN = "journal.db-wal" if the_repair() is None else "\0"


@pytest.mark.sweep
@pytest.mark.req("REL-06")
def test_flips_are_answered_right_or_named_and_mended(quick: str) -> None:
    told: list[str] = []

    counted = flips.run(quick, 5, 2_000, told.append)

    assert [finding for finding in counted.findings if UNSEEN not in finding] == []
    assert (counted.mended > 10) == (the_repair() is not None)
    assert counted.flips > 1_900
    assert counted.right > 1_000
    assert counted.named > 100
    assert len(told) == len(flips.ALL)


@pytest.mark.sweep(3)
@pytest.mark.req("REL-06")
@pytest.mark.parametrize("seed", range(3))
def test_journal_without_page_checksums_is_caught(quick: str, seed: int) -> None:
    plant = planted.no_page_checksums

    counted = flips.run(quick, seed, 400, lambda _: None, plant=plant, shapes=("emptied",))

    assert any(", page," in finding for finding in counted.findings)


def test_process_that_dies_is_told_and_the_next_flips_are_tried(quick: str) -> None:
    kept = os.path.join(quick, "kept")
    flips.keep("closed", kept)
    batch = [Flip("closed", "spool", 40_000, 1, READ), Flip("closed", "spool", 40_001, 1, HOOK)]

    dying = flips.tried(batch, kept, f"{quick}/s", plant=lambda: os._exit(3))
    outcomes = [how for _, (how, _) in dying]
    after = [how for _, (how, _) in flips.tried(batch, kept, f"{quick}/s")]

    assert outcomes == [WRONG, WRONG]
    assert after == [RIGHT, RIGHT]


@pytest.mark.parametrize("shape", flip_shapes.SHAPES)
def test_every_byte_of_a_journal_belongs_to_a_part_that_is_drawn(quick: str, shape: str) -> None:
    import random

    kept = os.path.join(quick, shape)
    flips.keep(shape, kept)
    files = flip_shapes.files(kept)
    places = Map(shape, files)
    dice = random.Random(shape)

    drawn = [places.draw(dice) for _ in range(500)]

    assert {flip.file for flip in drawn} == {name for name, data in files.items() if data}
    assert all(flip.offset < len(files[flip.file]) for flip in drawn)
    assert all(parse(str(flip)) == flip for flip in drawn)
    for name, data in files.items():
        assert all(places.where(Flip(shape, name, at, 1, READ)) for at in range(0, len(data), 4096))


def test_flip_is_tried_again_by_its_name(quick: str) -> None:
    assert flips.again(quick, "emptied:journal.db@20^1:read").how in {NAMED, MENDED}
    assert flips.again(quick, "held:journal.db-shm@4^1:note").how == RIGHT
    assert flips.again(quick, "waiting:spool@16390^1:read").how in {NAMED, MENDED}  # a fact
    assert flips.again(quick, "waiting:spool@245762^1:read").how in {NAMED, MENDED}  # an empty slot


def test_fact_that_is_gone_after_a_repair_must_be_named(quick: str) -> None:
    flip_shapes.make("waiting", quick)
    before = told(quick)
    after = before._replace(events=before.events[:2] + before.events[4:])

    assert unnamed(before, after, []) == [
        *("event 3", "event 4"),
        *(f"spool slot {slot}" for slot in range(1, 6)),
    ]
    assert unnamed(before._replace(strays=[]), after, [(4, 4)]) == ["event 3"]
    assert unnamed(before._replace(strays=[]), after, [(2, 4)]) == []
