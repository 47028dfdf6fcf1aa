"""What a command finds in its environment is on no disk, whoever is killed and whenever."""

import json
import os
import secrets
import signal
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from effect_desk import Desk, cut_short, until
from harness.faults import planted
from harness.faults.shim import compiler
from lane_killing import FORMAT, SELF, SOURCE, has_fired
from standfast import clock
from standfast.effects import door
from standfast.effects.effect_folder import ORDER, SUP, TREE, Order
from standfast.processes import programs

NAME, VALUE = planted.NAME, secrets.token_hex(16)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    monkeypatch.setenv(NAME, VALUE)
    made = Desk(tmp_path)
    yield made
    made.gate.touch()
    made.journal.close()


def holders(*places: Path) -> list[str]:
    return [
        str(path)
        for place in places
        for path in place.rglob("*")
        if path.is_file() and VALUE.encode() in path.read_bytes()
    ]


@pytest.mark.req("SEC-11")
def test_order_that_a_crash_left_has_the_names_of_the_environment_alone(desk: Desk) -> None:
    cut_short(desk)

    order = json.loads(Path(desk.folder("a").at(ORDER)).read_bytes())

    assert NAME in order["env"]
    assert holders(desk.root, Path(os.environ["TMPDIR"])) == []


@pytest.mark.req("SEC-11")
def test_command_finds_the_whole_environment_whichever_supervisor_is_left(desk: Desk) -> None:
    """The one that goes on may have to begin the command: it was told everything too."""
    said = desk.end("a", f'test "${NAME}" = {VALUE} && echo the same')

    assert said.out == "the same\n"


@pytest.mark.req("SEC-11")
def test_environment_is_on_no_disk_whichever_call_was_the_last(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Caller, supervisors and command are all under the shim; one of them dies at the nth call."""
    library, shared = tmp_path / "shim.so", tmp_path / "shared"
    command = [str(compiler()), "-shared", "-fPIC", "-O2", "-o", str(library), str(SOURCE)]
    subprocess.run([*command, "-ldl"], check=True)
    desk.journal.append("test.begun", {})  # the calls that make a journal are not of interest
    monkeypatch.setenv("KILL_SHIM_FILE", str(shared))
    nth, fired = 0, True
    while fired:
        nth += 1
        shared.write_bytes(struct.pack(FORMAT, 1, nth, 0, SELF, 0, 0))
        with monkeypatch.context() as preloaded:
            preloaded.setenv("LD_PRELOAD", str(library))
            caller = desk.call(f"a{nth}", "echo said")
        caller.communicate()
        effect = desk.folder(f"a{nth}")
        while effect.is_alive():
            clock.pause(0.005)
        assert holders(desk.root) == [], nth
        fired = has_fired(shared)

    assert nth > 20, "it was killed at none of its calls"


@pytest.mark.req("SEC-11")
def test_secret_on_a_command_line_is_redacted_in_what_a_crash_leaves(desk: Desk) -> None:
    order = desk.order("a", "true", argv=("tool", "--password", VALUE))

    desk.folder("a").write_order(order)

    assert holders(desk.root) == []
    assert desk.folder("a").read_order().argv == ("tool", "--password", "[redacted:password]")


@pytest.mark.req("SEC-11")
def test_order_of_an_older_version_is_read(desk: Desk) -> None:
    order = desk.order("a", "true")
    folder = desk.folder("a")
    folder.write_order(order)
    Path(folder.at(ORDER)).write_bytes(order.whole())

    assert folder.read_order() == order


@pytest.mark.req("SEC-11")
def test_caller_that_dies_while_it_hands_an_order_over_begins_nothing(desk: Desk) -> None:
    folder = desk.folder("a")
    order: Order = desk.order("a", f"echo x >> {desk.count}")
    folder.write_order(order)
    sup = folder.take(SUP)
    assert sup is not None
    supervisor = door._spawn(folder, sup)
    os.close(sup)
    assert supervisor.stdin is not None
    supervisor.stdin.write(order.whole()[:-20])
    supervisor.stdin.close()

    assert supervisor.wait() > 0
    door._let_go(supervisor)
    assert (desk.counted(), folder.is_held(SUP), folder.is_held(TREE)) == (0, False, False)
    assert desk.end("a", f"echo x >> {desk.count}").status == 0
    assert desk.counted() == 1


@pytest.mark.req("SEC-11")
@pytest.mark.parametrize("which", [0, 1])
def test_who_goes_on_needs_no_disk_to_know_the_environment(desk: Desk, which: int) -> None:
    caller = desk.call("a", desk.waiting().replace("exit 7", f"test ${NAME} = {VALUE}"))
    until(lambda: desk.counted() == 1)
    os.unlink(desk.folder("a").at(ORDER))
    programs.send(desk.supervisors("a")[which], signal.SIGKILL)
    desk.gate.touch()

    assert caller.communicate()[0] == "asked\n0\n"


@pytest.mark.req("SEC-11")
def test_harness_finds_no_value_and_catches_one_that_is_planted(tmp_path: Path) -> None:
    assert planted.run(str(tmp_path), 29, 4).findings == []
    for plant in planted.CANARIES.values():
        assert planted.run(str(tmp_path), 29, 12, plant=plant, until_found=True).findings
