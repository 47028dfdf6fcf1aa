"""The run log: whole lines, whoever dies while writing one."""

import json
import os
import signal
from multiprocessing import get_context
from pathlib import Path

import pytest

from standfast.errors.base import BadCheckpoint, DiskFailed, StandfastError
from standfast.runs.records import run_log

ENTRY = {
    "ts": "2026-01-02T03:04:05Z",
    "run_id": "r",
    "phase": "P1",
    "lane": "SL-1",
    "task": "-",
    "event": "test_done",
    "status": "ok",
    "cmd": "make test",
    "exit_code": 0,
}


@pytest.fixture
def log(tmp_path: Path) -> str:
    return str(tmp_path / "logs" / "r.jsonl")


def events(path: str, count: int = 100) -> list[object]:
    return [entry["event"] for entry in run_log.tail(path, count).entries]


@pytest.mark.req("CKP-10")
def test_entries_are_lines_of_json_and_the_last_come_back(log: str) -> None:
    for number in range(7):
        run_log.append(log, {**ENTRY, "event": f"e{number}", "notes": "two\nlines"})

    lines = Path(log).read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["event"] for line in lines] == [f"e{number}" for number in range(7)]
    assert events(log, 3) == ["e4", "e5", "e6"]
    assert run_log.tail(log, 1).entries[0]["exit_code"] == 0


@pytest.mark.req("CKP-10")
@pytest.mark.parametrize("cut", range(1, 20))
def test_torn_last_line_costs_only_itself(log: str, cut: int) -> None:
    for name in ("one", "two"):
        run_log.append(log, {**ENTRY, "event": name})
    data = Path(log).read_bytes()
    Path(log).write_bytes(data[:-cut])
    whole = cut == 1  # nothing but its line end is missing

    found = run_log.tail(log, 100)
    run_log.append(log, {**ENTRY, "event": "three"})

    assert [entry["event"] for entry in found.entries] == (["one", "two"] if whole else ["one"])
    assert found.torn == (0 if whole else 1)
    assert events(log) == (["one", "two", "three"] if whole else ["one", "three"])
    assert Path(log).read_bytes().startswith(data[:-cut] + b"\n"), "what was there stays"


@pytest.mark.req("CKP-10")
def test_lines_that_are_none_are_passed_over(log: str) -> None:
    run_log.append(log, {**ENTRY, "event": "one"})
    with open(log, "ab") as file:
        file.write(b'\xff\xfe\n[1]\n\n{"a":1,"a":2}\n')
    run_log.append(log, {**ENTRY, "event": "two"})

    found = run_log.tail(log, 100)

    assert [entry["event"] for entry in found.entries] == ["one", "two"]
    assert found.torn == 3


def test_only_the_end_of_a_long_log_is_read(log: str) -> None:
    os.makedirs(os.path.dirname(log))
    filler = json.dumps({**ENTRY, "event": "old", "notes": "x" * 1_000})
    Path(log).write_text(f"{filler}\n" * 2_000, encoding="utf-8")
    run_log.append(log, {**ENTRY, "event": "new"})

    assert events(log, 2) == ["old", "new"]
    assert len(run_log.tail(log, 10_000).entries) < 300


def test_no_log_is_an_empty_one(log: str) -> None:
    assert run_log.tail(log, 5) == run_log.Tail()


@pytest.mark.parametrize("field", run_log.NEEDED)
def test_entry_without_a_field_is_refused_and_nothing_written(log: str, field: str) -> None:
    entry = {name: value for name, value in ENTRY.items() if name != field}

    with pytest.raises(BadCheckpoint, match=field):
        run_log.append(log, entry)

    assert not os.path.exists(log)


def test_secrets_do_not_go_into_the_log(log: str) -> None:
    secret = "sk-ant-api03-" + "Ab1" * 30

    run_log.append(log, {**ENTRY, "cmd": f"curl -H 'x-api-key: {secret}'"})

    assert secret not in Path(log).read_text(encoding="utf-8")


@pytest.mark.parametrize("make", [lambda p: os.symlink("/etc/hosts", p), os.mkfifo, os.mkdir])
def test_log_that_is_no_file_is_refused_without_waiting(log: str, make: object) -> None:
    os.makedirs(os.path.dirname(log))
    make(log)  # type: ignore[operator]

    with pytest.raises(StandfastError):
        run_log.append(log, ENTRY)
    with pytest.raises(StandfastError):
        run_log.tail(log, 1)


def write_for_ever(path: str, name: str) -> None:
    for number in range(10**9):
        run_log.append(path, {**ENTRY, "event": f"{name}-{number}"})


def test_log_whose_folder_cannot_be_made_is_an_error_that_can_be_told(tmp_path: Path) -> None:
    """Whoever logs goes on: that catches errors of ours and no others."""
    with pytest.raises(DiskFailed, match="File name too long"):
        run_log.append(str(tmp_path / ("x" * 300) / "r.jsonl"), ENTRY)


@pytest.mark.sweep
@pytest.mark.req("CKP-10")
@pytest.mark.prove
def test_writers_that_are_killed_leave_whole_lines_of_all_others(log: str) -> None:
    several = get_context("fork")
    for turn in range(3):
        workers = [
            several.Process(target=write_for_ever, args=(log, f"w{turn}-{number}"))
            for number in range(4)
        ]
        for worker in workers:
            worker.start()
        while len(events(log, 10_000)) < 40 * (turn + 1):
            assert all(worker.is_alive() for worker in workers)
        for worker in workers:
            os.kill(worker.pid or 0, signal.SIGKILL)
            worker.join()
    run_log.append(log, {**ENTRY, "event": "last"})

    assert events(log, 1) == ["last"]
    lines = Path(log).read_bytes().splitlines()
    bad = [line for line in lines if line.strip() and run_log.read_tail(line, 1).torn]
    assert len(bad) <= 12, "at most one torn line for each that was killed"
    for name in {json.loads(line)["event"].rpartition("-")[0] for line in lines if line.strip()}:
        said = [json.loads(x)["event"] for x in lines if x.strip()]
        mine = [int(e.rpartition("-")[2]) for e in said if e.rpartition("-")[0] == name and name]
        assert mine == list(range(len(mine))), "no entry lost, none twice, none out of order"
