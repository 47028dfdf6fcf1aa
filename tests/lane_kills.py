"""A lane that is run from outside, killed when its journal holds so many facts."""

import os
import signal
import subprocess

from lane_runs import Lane
from standfast.errors.base import StandfastError
from standfast.journal import questions

MOST_FACTS = 60


def facts(lane: Lane) -> int:
    """As the file shows them: no lock is taken, so that nobody is held up."""
    path = lane.repo / ".git" / "standfast" / "journal.db"
    if not path.exists():
        return 0
    journal = lane.journal()
    try:
        return questions.last_seq(journal)
    except StandfastError:
        return 0
    finally:
        journal.close()


def killed_after(lane: Lane, argv: list[str], count: int) -> bool:
    """Run it until the journal holds *count* facts, and kill it; False if it was done before."""
    with subprocess.Popen(
        argv,
        cwd=lane.repo,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        while process.poll() is None:
            if facts(lane) >= count:
                os.kill(process.pid, signal.SIGKILL)
    return process.returncode == -signal.SIGKILL
