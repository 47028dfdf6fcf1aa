"""What never ends: a pipe where git reads a file, a git that was stopped, a daemon with a lock.

Nothing of ours may wait for it beyond a limit, or without a word. Each trial is a process apart
that has a few seconds; limits and patience are made short first, so that only who has none hangs.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from harness.faults import loops
from harness.faults.around.conditions import Trial
from standfast import wait_notice
from standfast.effects import door
from standfast.effects.effect_folder import STARTED, TREE, Folder, Order
from standfast.effects.rules import key
from standfast.errors.base import ProgramTimedOut, SpecialFile
from standfast.git.command import Git
from standfast.journal import locks
from standfast.journal.author import USER
from standfast.journal.store import Journal
from standfast.processes import programs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from harness.faults.around.bench import Setting

_LIMIT_S, _LONG_S = 1.0, 20.0
_PIPES = (
    *(".gitignore", ".gitattributes", "deep/er/.gitignore", "deep/.gitattributes"),
    *(".git/HEAD", ".git/config", ".git/index", ".git/packed-refs", ".git/info/exclude"),
    *(".git/refs/heads/other", ".git/objects/info/alternates"),
)
_STOPS = "#!/bin/sh\nkill -STOP $$\n"


def trials(setting: Setting) -> Iterator[Trial]:
    """Each of them once."""
    yield Trial("effect", "daemon", _daemon(setting))
    repo = _repository(os.path.join(setting.folder, "stopped"))
    yield Trial("git", "stopped", _apart(setting, partial(_timed_out, repo)))
    for number, name in enumerate(setting.dice.sample(_PIPES, len(_PIPES))):
        repo = _repository(os.path.join(setting.folder, str(number)))
        (repo / name).unlink(missing_ok=True)
        os.mkfifo(repo / name)
        yield Trial("git", name, _apart(setting, partial(_refused, repo)))


def _repository(folder: str) -> Path:
    repo = Path(folder)
    (repo / "deep" / "er").mkdir(parents=True)
    (repo / "deep" / "er" / "file").touch()
    for words in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", *words], cwd=repo, check=True)
    (repo / "deep" / "more").touch()
    return repo


def _refused(repo: Path) -> str:
    try:
        Git(directory=repo, timeout_s=_LONG_S).read("status", "--porcelain", "--untracked-files")
        Git(directory=repo, timeout_s=_LONG_S).read("for-each-ref")
    except SpecialFile:
        return ""
    return "git read from a pipe"


def _timed_out(repo: Path) -> str:
    program = repo / "stops"
    program.write_text(_STOPS, encoding="utf-8")
    program.chmod(0o755)
    try:
        Git(directory=repo, program=str(program), timeout_s=_LIMIT_S).read("version")
    except ProgramTimedOut:
        return ""
    return "a git that was stopped came to an end"


def _daemon(setting: Setting) -> list[str]:
    """It has the lock of a tree whose supervisors are gone, and does not end."""
    journal = Journal(os.path.join(setting.folder, "journal"))
    folder = Folder(journal.folder, key("daemon"))
    os.makedirs(folder.path)
    tree = locks.take(folder.at(TREE))
    Path(folder.at(STARTED)).touch()
    journal.close()
    try:
        return _apart(setting, lambda: _told(journal.folder))
    finally:
        os.close(tree)


def _told(journal: str) -> str:
    """Whoever waits says so, and for whom."""
    said: list[str] = []

    def hear(words: str) -> None:
        said.append(words)
        raise KeyboardInterrupt

    wait_notice.told_to(hear)
    order = Order("daemon", ("true",), "/", {}, _LONG_S)
    try:
        door.run(Journal(journal), order, USER)
    except KeyboardInterrupt:
        return "" if "process" in said[0] else "a wait does not say for whom"
    return "nobody waited for a tree that lives"


def _apart(setting: Setting, act: Callable[[], str]) -> list[str]:
    """What was wrong with it; one that does not come back in time hangs."""
    heard, telling = os.pipe()
    parent, pid = os.getpid(), os.fork()
    if pid == 0:
        try:
            loops.die_with(parent)
            os.setsid()
            programs.SLOW_S = wait_notice.FIRST_S = 0.3
            setting.plant()
            os.write(telling, act().encode() or b"-")
        except BaseException as error:  # noqa: BLE001  # told as what it is
            os.write(telling, repr(error).encode()[:500])
        finally:
            os._exit(0)
    os.close(telling)
    try:
        said = _read_within(heard, _LIMIT_S + 4 * programs.SLOW_S)
    finally:
        os.close(heard)
        for each in (*programs.descendants(), pid):  # what hangs may have begun a git
            with suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)
        os.waitpid(pid, 0)
    if said is None:
        return ["wedged it hangs"]
    return [] if said == "-" else [f"wrong {said}"]


def _read_within(fd: int, limit_s: float) -> str | None:
    if not select.select([fd], [], [], limit_s)[0]:
        return None
    return os.read(fd, 4096).decode("utf-8", "replace")
