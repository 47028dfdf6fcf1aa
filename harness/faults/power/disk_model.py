"""A disk that may lose power: which states can be there afterwards. Pure, no real disk is touched.

Three things reach the platters, each at a time of its own: every sector of 512 bytes, every file's
size, every folder's list of names. The system writes them as they are in memory at that moment, so
a crash leaves each of them as it was at *some* moment between its last sync and the end. That is
all the model says, and it is as harsh as POSIX allows short of broken hardware:

- a sync of a file makes its sectors and its size durable, not its name;
- a sync of a folder makes its names durable, not what the files hold;
- sectors that a durable size covers and that were never written are zeros;
- names within one folder come in the order of the calls, as every filesystem with a journal (or
  with one block per small folder) keeps them; between folders nothing is promised;
- a rename or an exchange happens in both folders or in neither. Where one of them is synced, the
  other therefore holds everything up to there too.

Keeping a later change of one sector or folder without an earlier one is left out on purpose: no
disk does that, and SQLite counts on it (two frames of its log share a sector).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable, Iterator, Mapping, Sequence

SECTOR = 512
ROOT = 1

Slot = tuple[int, str]  # a folder, and a name in it
Key = tuple[str, int, int]  # what reaches the disk as one: ("sector", file, number), …


class Write(NamedTuple):
    """Bytes that were put into a file."""

    order: int
    at: int
    data: bytes


class Resize(NamedTuple):
    """A file that was cut off or stretched."""

    order: int
    size: int


Change = Write | Resize


class Move(NamedTuple):
    """One step with names: what each slot holds from then on."""

    order: int
    sets: tuple[tuple[Slot, int | None], ...]

    @property
    def folders(self) -> set[int]:
        """Every folder that it touches."""
        return {folder for (folder, _), _ in self.sets}


class Cut(NamedTuple):
    """When each thing was last written to the disk: changes before that are there, later ones not.

    *when* is for everything that is not named in *apart*.
    """

    when: int
    apart: Mapping[Key, int] = {}

    def of(self, key: Key) -> int:
        """The time for one thing."""
        return self.apart.get(key, self.when)


class Moment(NamedTuple):
    """What is durable at one moment, and what still hangs in the air."""

    durable: Mapping[int, bytes]  # files; a folder is only known by its slots
    slots: Mapping[Slot, int]
    changes: Mapping[int, tuple[Change, ...]]
    moves: tuple[Move, ...]

    def orders(self) -> list[int]:
        """When something happened that is not durable yet."""
        changed = {change.order for changes in self.changes.values() for change in changes}
        return sorted(changed | {move.order for move in self.moves})

    def things(self) -> Iterator[Key]:
        """Everything that may come to the disk at a time of its own."""
        for file, changes in self.changes.items():
            yield ("size", file, 0)
            yield from (("sector", file, number) for number in sorted(sectors(changes)))
        for folder in sorted({folder for move in self.moves for folder in move.folders}):
            yield ("names", folder, 0)


def sectors(changes: Iterable[Change]) -> set[int]:
    """The sectors that some writes touch."""
    return {
        number
        for change in changes
        if isinstance(change, Write)
        for number in range(change.at // SECTOR, (change.at + len(change.data) - 1) // SECTOR + 1)
    }


def contents(file: int, durable: bytes, changes: Sequence[Change], cut: Cut) -> bytes:
    """What a file holds after the crash."""
    if not changes:  # most files, most of the time: the very same bytes, whose hash is known
        return durable
    image, size = bytearray(durable), len(durable)
    sized = cut.of(("size", file, 0))
    for change in changes:
        if isinstance(change, Resize):
            if change.order < sized:
                size = change.size
                del image[size:]
            continue
        for at, piece in _pieces(file, change, cut):
            image.extend(bytes(max(0, at - len(image))))
            image[at : at + len(piece)] = piece
        if change.order < sized:
            size = max(size, change.at + len(change.data))
    image.extend(bytes(max(0, size - len(image))))
    return bytes(image[:size])


def _pieces(file: int, write: Write, cut: Cut) -> Iterator[tuple[int, bytes]]:
    """The parts of a write whose sectors came to the disk after it."""
    if not cut.apart:
        if write.order < cut.when:
            yield write.at, write.data
        return
    at, end = write.at, write.at + len(write.data)
    while at < end:
        number = at // SECTOR
        until = min(end, (number + 1) * SECTOR)
        if write.order < cut.of(("sector", file, number)):
            yield at, write.data[at - write.at : until - write.at]
        at = until


def kept_moves(moves: Sequence[Move], cut: Cut) -> list[Move]:
    """In each folder those up to some point, and one that spans two folders in both or neither."""
    kept: list[Move] = []
    ended: set[int] = set()
    for move in moves:
        folders = move.folders
        early = all(move.order < cut.of(("names", folder, 0)) for folder in folders)
        if early and not folders & ended:
            kept.append(move)
        else:
            ended |= folders
    return kept


def settled(moves: Sequence[Move], folder: int) -> set[int]:
    """The orders of the moves that a sync of *folder* makes durable."""
    found: set[int] = set()
    reached = {folder}
    for move in reversed(moves):
        if move.folders & reached:
            reached |= move.folders
            found.add(move.order)
    return found


def after(slots: Mapping[Slot, int], moves: Iterable[Move]) -> dict[Slot, int]:
    """What the slots hold once these moves were made."""
    result = dict(slots)
    for move in moves:
        for slot, held in move.sets:
            if held is None:
                result.pop(slot, None)
            else:
                result[slot] = held
    return result


Tree = dict[str, bytes | None]  # by path from the root; a folder has no bytes


def crash(moment: Moment, cut: Cut) -> Tree:
    """The state that a power cut leaves; what has no name any more is gone."""
    below: dict[int, list[tuple[str, int]]] = {}
    for (folder, name), held in after(moment.slots, kept_moves(moment.moves, cut)).items():
        below.setdefault(folder, []).append((name, held))
    tree: Tree = {}
    waiting = [("", ROOT)]
    while waiting:
        path, folder = waiting.pop()
        for name, held in below.get(folder, ()):
            full = f"{path}/{name}" if path else name
            tree[full] = None
            if held in moment.durable:
                changes = moment.changes.get(held, ())
                tree[full] = contents(held, moment.durable[held], changes, cut)
            else:
                waiting.append((full, held))
    return tree


# Which states to look at: there are more than anybody could.


def prefixes(moment: Moment) -> list[Cut]:
    """Nothing, the first pending change, the first two, … everything: as if all were in order."""
    orders = moment.orders()
    return [Cut(order) for order in orders] + [Cut(orders[-1] + 1 if orders else 0)]


def scattered(moment: Moment, dice: random.Random) -> Cut:
    """Any mixture: each thing at a time of its own, or only some of them.

    The ends are drawn oftener than what is between: as good a chance for what came late.
    """
    times = [cut.when for cut in prefixes(moment)]
    share = dice.choice((1.0, 1.0, 0.3))
    apart = {
        thing: dice.choice((times[0], times[-1], dice.choice(times)))
        for thing in moment.things()
        if dice.random() < share
    }
    return Cut(dice.choice(times), apart)
