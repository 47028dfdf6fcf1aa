"""The folder of one effect: its order, its two locks, the mark that it began, its exit record.

`order.json` is written once, before anything, for whoever asks later: of the environment it has the
names alone, since values are secrets; a supervisor is handed the order itself, through a pipe.
`sup` is locked by the supervisor, `tree` by the command and everything it starts. Whoever creates
`started` may begin the command, once and for all. `exit.json` appears whole or not at all, in the
`room` that was taken for it. `out` and `err` are what it says, not redacted: they go as soon as
their ends are in the exit record.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from standfast import disk, filesystems
from standfast.effects.rules import Ended, Seen, Step, decide
from standfast.errors.base import StandfastError
from standfast.journal import agents_at_work, locks
from standfast.journal.agents_at_work import name_of
from standfast.processes import programs
from standfast.processes.process_identity import NOT_KNOWN
from standfast.redaction.redactor import redact_value

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER = agents_at_work.EFFECTS
ORDER, SUP, TREE, STARTED, EXIT = (
    "order.json",
    agents_at_work.SUP,
    agents_at_work.TREE,
    agents_at_work.STARTED,
    agents_at_work.EXIT,
)
OUT, ERR, ROOM = "out", "err", "room"
MARK = "STANDFAST_EFFECT"
_LIMIT = 16 * 1024 * 1024
_RECORD = 64 * 1024  # bytes that an exit record may take


class Order(NamedTuple):
    """What is to be run, and how."""

    key: str
    argv: tuple[str, ...]
    cwd: str
    env: Mapping[str, str]
    timeout_s: float
    durable: tuple[str, ...] = ()  # folders whose files are synced before the end is told
    stdin: str = ""
    cap: int = 8 * 1024 * 1024  # bytes kept of each stream
    git: tuple[str, str] | tuple[()] = ()  # its worktree's git directory, and the common one
    reader: str = ""  # the client whose words it says; "" is none
    session: str = ""  # of one that says nothing of its own
    mount: str = ""  # of its folder, as filesystems.mounted tells it

    def whole(self) -> bytes:
        """All of it, for a supervisor; never for a disk."""
        return json.dumps(self._asdict()).encode()

    def noted(self) -> bytes:
        """What may stand on a disk: no value of the environment, no secret of the command line."""
        argv = redact_value(list(self.argv))
        return json.dumps({**self._asdict(), "argv": argv, "env": sorted(self.env)}).encode()

    @classmethod
    def read(cls, told: bytes) -> Order:
        """An order as it was handed over, or what was noted of one: its values are unknown."""
        said: dict[str, Any] = json.loads(told)
        if not isinstance(said["env"], dict):
            said["env"] = dict.fromkeys(said["env"], "")
        lists = {name: tuple(value) for name, value in said.items() if isinstance(value, list)}
        return cls(**{**said, **lists})


class Folder:
    """Where one effect is kept."""

    def __init__(self, journal: str, key: str) -> None:
        self.id = name_of(key)
        self.path = os.path.join(journal, FOLDER, self.id)

    @classmethod
    def at_path(cls, path: str) -> Folder:
        """The folder that a supervisor is told."""
        made = cls.__new__(cls)
        made.id, made.path = os.path.basename(path), path
        return made

    @property
    def mark(self) -> str:
        """What the processes of this effect have in their environment, and those of no other.

        The same key may be used in every repository.
        """
        return hashlib.sha256(os.fsencode(os.path.realpath(self.path))).hexdigest()[:32]

    def at(self, name: str) -> str:
        """One of its files."""
        return os.path.join(self.path, name)

    def write_order(self, order: Order) -> None:
        """Note what is to be done, durably; the same effect has one order for ever."""
        disk.make_folder(self.path)
        disk.replace(self.at(ORDER), order.noted())
        every = os.path.dirname(self.path)
        disk.sync_folder(every)  # whoever made these folders may have died before syncing them:
        disk.sync_folder(os.path.dirname(every))  # with them goes the mark that it began

    def look(self, *, intended: bool) -> Seen:
        """What can be seen now; in the order in which things come to be, backwards.

        A lock is looked at before the record that its holder leaves behind: one that was held
        a moment ago and has gone since must not be taken for one that left nothing.
        """
        supervised, running = self.is_held(SUP), self.is_held(TREE)
        seen = Seen(
            intended=intended,
            ordered=self.has_order(),
            exit=os.path.lexists(self.at(EXIT)),
            supervised=supervised,
            running=running,
            started=os.path.lexists(self.at(STARTED)),
        )
        in_doubt = decide(seen) is Step.SETTLE
        return seen._replace(running=True) if in_doubt and self.strays() else seen

    def has_order(self) -> bool:
        """Whether what is to be done is noted."""
        return os.path.lexists(self.at(ORDER))

    def has_begun(self) -> bool:
        """Whether its files say that the command was begun, or has ended."""
        return any(os.path.lexists(self.at(name)) for name in (STARTED, EXIT))

    def is_of_another_boot(self) -> bool:
        """Whether it was begun before the machine came up; False where nobody can say."""
        try:
            said = disk.read_regular(self.at(STARTED)).decode().partition("\n")[0]
            began = programs.Identity.from_text(said).boot
        except (OSError, StandfastError, ValueError):
            return False
        me = programs.identify()
        now = NOT_KNOWN if me is None else me.boot
        return NOT_KNOWN not in {began, now} and began != now

    def is_of_another_mount(self) -> bool:
        """Whether its folder was mounted again since, with no boot between."""
        try:
            order = self.read_order()
            return filesystems.was_mounted_again(str(order.mount), filesystems.mounted(order.cwd))
        except (OSError, StandfastError, ValueError, TypeError, KeyError):
            return False

    def is_alive(self) -> bool:
        """Whether anything of it lives that has not left a record of its end."""
        if self.is_held(SUP) or self.is_held(TREE):
            return True
        return not os.path.lexists(self.at(EXIT)) and bool(self.strays())

    def strays(self) -> list[int]:
        """Processes of its tree: one may have closed every file, and the lock with them."""
        return programs.surrounded_by(f"{MARK}={self.mark}".encode())

    def is_held(self, lock: str) -> bool:
        """Whether somebody has this lock."""
        try:
            fd = disk.open_regular(self.at(lock), os.O_RDWR)
        except OSError:
            return False
        try:
            return not locks.try_lock(fd)
        finally:
            os.close(fd)

    def take(self, lock: str) -> int | None:
        """Take a lock if it is free; the open file is the lock."""
        fd = locks.open_lock(self.at(lock))
        if locks.try_lock(fd):
            return fd
        os.close(fd)
        return None

    def read_order(self) -> Order:
        """The order, as far as it was noted."""
        return Order.read(self._read(ORDER))

    def read_exit(self) -> Ended:
        """The exit record."""
        return Ended(**json.loads(self._read(EXIT)))

    def _read(self, name: str) -> bytes:
        try:
            return disk.read_regular(self.at(name), limit=_LIMIT)
        except OSError as error:
            raise disk.disk_error(error, self.at(name), act="read") from error

    def reserve(self) -> None:
        """Take room for the exit record: the command may fill the disk."""
        fd = disk.open_regular(self.at(ROOM), os.O_WRONLY | os.O_CREAT)
        try:
            disk.write_all(fd, bytes(_RECORD))
        finally:
            os.close(fd)

    def write_exit(self, ended: Ended) -> None:
        """Leave the exit record, whole and durable, in the room that was kept for it."""
        data = json.dumps(ended._asdict(), ensure_ascii=False).encode("utf-8", "replace")
        fd = disk.open_regular(self.at(ROOM), os.O_WRONLY | os.O_CREAT)
        disk.write_all(fd, data)
        os.ftruncate(fd, len(data))
        disk.sync_and_close(fd)
        os.rename(self.at(ROOM), self.at(EXIT))
        disk.sync_folder(self.path)

    def start(self, who: str) -> bool:
        """Use up the right to begin the command; False where it is used up already."""
        try:
            disk.create(self.at(STARTED), who.encode())
        except FileExistsError:
            return False
        try:
            disk.sync_folder(self.path)
        except OSError:
            disk.forget(self.at(STARTED))  # nothing was begun: nobody need be asked about it
            raise
        return True

    def clear(self, *names: str) -> None:
        """What it said is kept elsewhere as far as it is kept: the raw words go, durably.

        A power cut may bring back what was removed and not synced.
        """
        left = [name for name in names or (OUT, ERR, ROOM, ORDER) if os.path.lexists(self.at(name))]
        for name in left:
            with suppress(OSError, StandfastError):
                disk.forget(self.at(name))
        if left:
            with suppress(OSError, StandfastError):
                disk.sync_folder(self.path)
