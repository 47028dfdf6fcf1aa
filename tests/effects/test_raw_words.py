"""What commands said raw goes for good, also where a power cut brought it back."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import Cli
from effect_desk import Desk
from standfast.effects import raw_words
from standfast.effects.effect_folder import ERR, OUT, Folder
from standfast.effects.person_answers import say
from standfast.effects.rules import Verdict
from standfast.journal.author import USER
from standfast.journal.store import Journal

SECRET = "password=hunter2secretvalue\n"


@pytest.fixture
def desk(repo: Path) -> Iterator[Desk]:
    made = Desk(repo)
    made.journal = Journal(str(repo / ".git" / "standfast"))
    made.journal.append("decision.noted", {"id": "d-1", "text": "begin"}, USER)
    yield made
    made.journal.close()


def speaks(folder: Folder) -> Folder:
    """As after a power cut that brought back what was removed, or as before any end."""
    for name in (OUT, ERR):
        Path(folder.at(name)).write_text(SECRET, encoding="utf-8")
    return folder


def words(folder: Folder) -> list[str]:
    return [name for name in (OUT, ERR) if os.path.lexists(folder.at(name))]


@pytest.mark.req("SEC-04")
@pytest.mark.parametrize("call", [("resume",), ("lane", "resume", "--run-id", "r", "--phase", "P"),
                                  ("run", "--resume", "--run-id", "r")])  # fmt: skip
def test_raw_words_that_a_power_cut_brought_back_are_removed_by_whoever_goes_on(
    desk: Desk, cli: Cli, call: tuple[str, ...]
) -> None:
    desk.end("ended", "true")
    settled = desk.begun("settled", "true")
    say(desk.journal, "settled", Verdict.DONE, USER)
    back = [speaks(desk.folder("ended")), speaks(settled)]
    in_doubt = speaks(desk.begun("in-doubt", "true"))

    cli(*call, cwd=desk.root)

    assert [words(each) for each in back] == [[], []]
    assert words(in_doubt) == [OUT, ERR], "its last words are asked for yet"


@pytest.mark.req("SEC-04")
def test_raw_words_are_removed_where_only_the_exit_record_tells_the_end(desk: Desk) -> None:
    folder = desk.folder("ended")
    desk.end("ended", "true")
    desk.journal.close()
    os.rename(desk.journal.path, f"{desk.journal.path}.away")
    speaks(folder)

    raw_words.sweep(Journal(desk.journal.folder))

    assert words(folder) == []


@pytest.mark.req("SEC-01")
def test_nothing_is_removed_through_a_link(desk: Desk, tmp_path: Path) -> None:
    desk.end("ended", "true")
    other = tmp_path / "other"
    other.mkdir()
    for name in ("out", "exit.json"):
        (other / name).write_text("mine\n", encoding="utf-8")
    Path(desk.folder("linked").path).symlink_to(other)

    raw_words.sweep(desk.journal)

    assert (other / "out").exists()


@pytest.mark.req("SEC-04")
def test_removal_of_raw_words_is_on_disk_before_anything_follows(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = speaks(desk.begun("a", "true"))
    synced: list[list[str]] = []
    real = os.fsync

    def seen(fd: int) -> None:
        if os.path.samestat(os.fstat(fd), os.stat(folder.path)):
            synced.append(words(folder))
        real(fd)

    monkeypatch.setattr(os, "fsync", seen)
    folder.clear()
    folder.clear()

    assert synced == [[]], "once: the second found nothing"
