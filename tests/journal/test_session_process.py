"""The mark of a process: what it was started with is told for a process id and nothing else."""

import os
import sys

import pytest

from standfast.journal import session_process

LINUX = pytest.mark.skipif(
    not os.path.isdir("/proc/self"), reason="arguments of a process are read from /proc"
)


@LINUX
def test_arguments_of_a_living_process_are_told() -> None:
    mark = session_process.mark(str(os.getpid()))

    assert mark is not None
    assert os.path.basename(sys.executable) in session_process.arguments(mark)[0]


@pytest.mark.parametrize("mark", ["", "self 1 b n", "1\0 2 3 4", "../proc/self 1 b n", "x"])
def test_mark_without_a_process_id_tells_nothing(mark: str) -> None:
    assert session_process.arguments(mark) == []
    assert not session_process.is_gone(mark) or mark.count(" ") == 3
