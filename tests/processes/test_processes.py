"""A process is called dead only when that is certain; a run leaves nothing of its tree alive."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from standfast.errors.base import ProgramMissing, ProgramTimedOut, TooLarge, UnsafePath, WrongUsage
from standfast.processes import process_identity, programs
from standfast.processes.programs import (
    Identity,
    Liveness,
    identify,
    liveness,
    lock_holders,
    run,
    send,
)

PYTHON = sys.executable
LINUX = sys.platform == "linux"
FIELDS = st.from_regex(r"[A-Za-z0-9._:-]{1,128}", fullmatch=True)
IDENTITIES = st.builds(
    Identity,
    machine=FIELDS,
    pid_namespace=FIELDS,
    boot=FIELDS,
    pid=st.integers(min_value=1, max_value=9_999_999_999),
    start=FIELDS,
)


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    """A process that lives until it is told otherwise."""
    child = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    with child:
        yield child
        child.kill()


def identity_of(child: subprocess.Popen[bytes]) -> Identity:
    found = identify(child.pid)
    assert found is not None
    return found


def python(*lines: str) -> list[str]:
    return [PYTHON, "-I", "-c", "\n".join(("import os, signal, subprocess, sys, time", *lines))]


def is_over(pid: int) -> bool:
    """Whether nothing runs under this pid: gone, or a zombie that waits for its reaper."""
    seen = process_identity.look(pid)
    return seen is Liveness.DEAD or (isinstance(seen, process_identity.Sighting) and seen.is_over)


# Identity.


@given(IDENTITIES)
def test_an_identity_survives_its_text(one: Identity) -> None:
    assert Identity.from_text(one.as_text()) == one
    assert "\n" not in one.as_text()


@given(st.text() | IDENTITIES.map(lambda one: one.as_text() + "\n") | st.just("a/b/c/01/d"))
def test_text_that_is_no_identity_is_refused_or_means_itself(text: str) -> None:
    try:
        one = Identity.from_text(text)
    except ValueError:
        return
    assert one.as_text() == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a/b/c/0/d",
        "a/b/c/-1/d",
        "a/b/c/1/",
        "a/b/c/1/d/e",
        "a/b/c/\u0661/d",
        "a/ /c/1/d",
        "a/b c/c/1/d",
        "a/b/c/1/d\n",
    ],
)
def test_an_identity_with_an_impossible_field_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="identity"):
        Identity.from_text(text)


def test_this_process_knows_itself_and_lives() -> None:
    me = identify()

    assert me is not None
    assert me.pid == os.getpid()
    assert me == identify(os.getpid())
    assert liveness(me) is Liveness.ALIVE


def test_a_pid_that_nobody_has_cannot_be_identified(sleeper: subprocess.Popen[bytes]) -> None:
    sleeper.kill()
    sleeper.wait()

    assert identify(sleeper.pid) is None


def test_a_process_dies_when_it_ends_also_as_a_zombie(sleeper: subprocess.Popen[bytes]) -> None:
    one = identity_of(sleeper)
    assert liveness(one) is Liveness.ALIVE

    sleeper.kill()
    os.waitid(os.P_PID, sleeper.pid, os.WEXITED | os.WNOWAIT)
    as_zombie = liveness(one), identify(sleeper.pid)
    sleeper.wait()

    assert as_zombie == (Liveness.DEAD, None)
    assert liveness(one) is Liveness.DEAD


def test_a_pid_that_was_used_again_is_another_process(sleeper: subprocess.Popen[bytes]) -> None:
    former = replace(identity_of(sleeper), start="1")

    assert liveness(former) is Liveness.DEAD
    assert send(former, signal.SIGKILL) is False
    assert sleeper.poll() is None


def test_a_process_of_an_earlier_boot_is_dead() -> None:
    me = identify()
    assert me is not None

    assert liveness(replace(me, boot="an-earlier-one")) is Liveness.DEAD


@pytest.mark.req("PLAT-03")
@pytest.mark.parametrize(
    "elsewhere",
    [
        {"machine": "another"},
        {"pid_namespace": "1"},
        {"pid_namespace": "1", "boot": "another"},
        {"machine": "another", "boot": "another", "start": "1"},
        {"boot": process_identity.NOT_KNOWN},
    ],
)
def test_a_process_elsewhere_is_unknown_and_never_dead(elsewhere: dict[str, str]) -> None:
    me = identify()
    assert me is not None
    foreign = replace(me, **elsewhere)  # type: ignore[arg-type]  # only text fields

    assert liveness(foreign) is Liveness.UNKNOWN
    assert send(foreign, signal.SIGKILL) is False


@pytest.mark.req("PLAT-03")
@pytest.mark.parametrize("own_proc", [False, True])
def test_a_process_in_another_pid_namespace_is_unknown_both_ways(
    sleeper: subprocess.Popen[bytes], *, own_proc: bool
) -> None:
    one = identity_of(sleeper)
    script = (
        "from standfast.processes.programs import Identity, identify, liveness",
        "print(identify().as_text(), liveness(Identity.from_text(sys.argv[1])))",
        "print(liveness(identify()), identify(os.getppid() or 2))",
    )
    path = f"import sys; sys.path[:0] = {sys.path!r}"
    options = ["--mount-proc"] if own_proc else []
    argv = ["unshare", "-pf", *options, *python(path, *script), one.as_text()]
    done = subprocess.run(argv, capture_output=True, encoding="utf-8", check=False)
    if done.returncode != 0 and "unshare" in done.stderr:
        pytest.skip("this user may not make a PID namespace")

    inner, seen_from_there, itself, other = done.stdout.split()

    assert (seen_from_there, itself, other) == ("unknown", "alive", "None")
    assert inner.split("/")[3] == "1"
    assert liveness(Identity.from_text(inner)) is Liveness.UNKNOWN


def test_a_process_that_hides_is_unknown(
    sleeper: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    one = identity_of(sleeper)
    (tmp_path / str(os.getpid())).mkdir()
    (tmp_path / "self").symlink_to(str(os.getpid()))
    monkeypatch.setattr(process_identity, "PROC", tmp_path)

    while_hidden = liveness(one)
    sleeper.kill()
    sleeper.wait()

    assert while_hidden is Liveness.UNKNOWN
    assert liveness(one) is Liveness.DEAD


@pytest.mark.skipif(not LINUX, reason="needs /proc")
@pytest.mark.parametrize("name", ["a) (b", ") R 1 1 (", "((("])
def test_a_process_is_recognised_whatever_its_name(name: str, tmp_path: Path) -> None:
    program = tmp_path / name
    program.symlink_to("/bin/cat")
    with subprocess.Popen([program], stdin=subprocess.PIPE) as child:
        one = identity_of(child)
        comm = Path(f"/proc/{child.pid}/comm").read_text(encoding="utf-8").strip()
        alive = liveness(one)

    assert comm == name
    assert alive is Liveness.ALIVE
    assert one.start.isdigit()


def test_the_stat_line_is_read_after_the_last_parenthesis() -> None:
    fields = ["S", "1", "77", *map(str, range(6, 53))]
    text = f"4242 (a) S 1 2 (b) {' '.join(fields)}\n"

    seen = process_identity.read_proc_stat(text)

    assert seen == process_identity.Sighting(state="S", group=77, start="22")


def test_the_stat_line_tells_a_fork_from_the_program_it_will_be() -> None:
    text = "7 (sh) S 1 7 7 0 -1 {} " + "0 " * 12 + "99\n"

    seen = [process_identity.read_proc_stat(text.format(flags)) for flags in (0x400040, 0x400000)]

    assert [one and one.is_program for one in seen] == [False, True]


@pytest.mark.parametrize("text", ["", "1 (x", "1 (x) S", "1 (x) S 1 y " + "0 " * 40])
def test_a_stat_line_cut_short_says_nothing(text: str) -> None:
    assert process_identity.read_proc_stat(text) is None


# macOS, from recorded text.


@pytest.mark.req("PLAT-04")
@pytest.mark.parametrize(
    ("text", "seen"),
    [
        (
            "Ss     501 Sat Nov  1 08:05:09 2025    \n",
            process_identity.Sighting(state="S", group=501, start="Sat-Nov-1-08:05:09-2025"),
        ),
        (
            "Z+       7 Mon Dec 22 23:59:59 2025\n",
            process_identity.Sighting(state="Z", group=7, start="Mon-Dec-22-23:59:59-2025"),
        ),
        ("", None),
        ("ps: illegal argument", None),
        ("Ss 501", None),
    ],
)
def test_what_ps_prints_on_macos_is_read(text: str, seen: process_identity.Sighting | None) -> None:
    assert process_identity.read_ps(text) == seen


@pytest.mark.req("PLAT-04")
def test_a_process_is_known_without_proc(
    sleeper: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(process_identity, "PROC", tmp_path)
    monkeypatch.delattr(os, "pidfd_open", raising=False)
    one = identity_of(sleeper)

    before = liveness(one)
    sent = send(one, signal.SIGTERM), send(replace(one, start="Sat-Nov-1"), signal.SIGTERM)
    sleeper.wait()

    assert before is Liveness.ALIVE
    assert sent == (True, False)
    assert sleeper.returncode == -signal.SIGTERM
    assert liveness(one) is Liveness.DEAD


@pytest.mark.req("PLAT-04")
def test_a_machine_is_named_by_the_first_file_that_names_it(tmp_path: Path) -> None:
    absent, empty, named = tmp_path / "absent", tmp_path / "empty", tmp_path / "named"
    empty.write_text("\n", encoding="utf-8")
    named.write_text("0123abcd\n", encoding="utf-8")

    assert process_identity.machine_id([absent, empty, named]) == "0123abcd"
    assert process_identity.machine_id([absent]) == process_identity.machine_id([empty])


@pytest.mark.req("PLAT-04")
def test_a_machine_without_a_card_is_named_by_its_host_and_not_at_random() -> None:
    card, drawn = 0x0242AC110002, 1 << 40

    by_card = {process_identity.machine_fingerprint(card, host) for host in ("a", "b")}
    by_host = {process_identity.machine_fingerprint(drawn + number, "a") for number in (1, 2)}

    assert len(by_card) == len(by_host) == 1
    assert by_card != by_host
    assert process_identity.machine_fingerprint(drawn, "b") not in by_host


@pytest.mark.req("PLAT-04")
def test_a_boot_or_namespace_that_cannot_be_told_has_a_name_of_its_own(tmp_path: Path) -> None:
    assert process_identity.boot_id(tmp_path / "absent") == process_identity.NOT_KNOWN
    assert process_identity.pid_namespace(tmp_path / "absent") == "none"


# Signals.


def test_a_signal_reaches_that_process(sleeper: subprocess.Popen[bytes]) -> None:
    assert send(identity_of(sleeper), signal.SIGTERM) is True
    assert sleeper.wait() == -signal.SIGTERM
    assert send(replace(identity_of_self(), pid=sleeper.pid), signal.SIGTERM) is False


def test_init_is_never_signalled() -> None:
    init = identify(1)
    if init is None:
        pytest.skip("pid 1 cannot be seen here")

    assert send(init, signal.SIGCONT) is False


def identity_of_self() -> Identity:
    me = identify()
    assert me is not None
    return me


# Locks.


@pytest.mark.skipif(not LINUX, reason="needs /proc")
def test_the_holder_of_a_lock_is_found_while_it_holds_it(tmp_path: Path) -> None:
    file = tmp_path / "lock"
    take = ("import fcntl", "f = open(sys.argv[1], 'w')", "fcntl.flock(f, fcntl.LOCK_EX)")
    tell = ("print(flush=True)", "sys.stdin.read()")
    argv = [*python(*take, *tell), str(file)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()

        found = lock_holders(file)

    assert found == [holder.pid]
    assert lock_holders(file) == []
    assert lock_holders(tmp_path / "absent") == []


def test_lock_lines_are_matched_by_device_inode_and_kind() -> None:
    device = os.makedev(0x103, 0x2)
    text = (
        "1: FLOCK  ADVISORY  WRITE 11 103:02:77 0 EOF\n"
        "1: -> FLOCK  ADVISORY  WRITE 12 103:02:77 0 EOF\n"
        "2: POSIX  ADVISORY  WRITE 13 103:02:77 0 EOF\n"
        "3: FLOCK  ADVISORY  READ  14 103:02:777 0 EOF\n"
        "4: FLOCK  ADVISORY  READ  15 103:03:77 0 EOF\n"
        "5: FLOCK  ADVISORY  READ  0 103:02:77 0 EOF\n"
        "6: FLOCK  ADVISORY  READ  9 103:02:77 0 EOF\n"
        "7: FLOCK\n"
    )

    assert process_identity.read_locks(text, device=device, inode=77) == [9, 11]


# Running.


def test_a_run_gives_status_and_both_streams() -> None:
    done = run(["sh", "-c", "cat; echo no >&2; exit 3"], stdin=b"in\0put", timeout_s=60)

    assert (done.status, done.stdout, done.stderr) == (3, b"in\0put", b"no\n")
    assert done.argv == ("sh", "-c", "cat; echo no >&2; exit 3")
    assert done.truncated is False


def test_large_input_and_output_pass_through_at_once() -> None:
    data = os.urandom(4 * 1024 * 1024)

    done = run(["cat"], stdin=data, timeout_s=60)

    assert done.stdout == data


def test_a_program_that_does_not_read_its_input_is_no_error() -> None:
    done = run(["true"], stdin=b"x" * 1024 * 1024, timeout_s=60)

    assert done.status == 0


def test_a_run_gets_the_given_folder_and_environment_only(tmp_path: Path) -> None:
    env = {"PATH": os.environ["PATH"], "ONLY": "this"}

    done = run(["sh", "-c", "pwd; echo $ONLY$HOME"], cwd=tmp_path, env=env, timeout_s=60)

    assert done.stdout.decode() == f"{tmp_path}\nthis\n"


def test_a_run_has_a_session_of_its_own_and_no_descriptor_of_ours(tmp_path: Path) -> None:
    with (tmp_path / "open").open("w", encoding="utf-8") as file:
        os.set_inheritable(file.fileno(), True)
        look = "print(os.getsid(0) == os.getpid(), os.path.exists(f'/dev/fd/{sys.argv[1]}'))"
        done = run([*python(look), str(file.fileno())], timeout_s=60)

    assert done.stdout == b"True False\n"


def test_a_signal_that_ended_the_program_is_its_status() -> None:
    assert run(["sh", "-c", "kill -9 $$"], timeout_s=60).status == -signal.SIGKILL


@pytest.mark.req("SEC-01")
@pytest.mark.parametrize("argv", ["true", (), ["true", "a\0b"]])
def test_a_command_line_that_is_no_list_is_refused(argv: list[str]) -> None:
    with pytest.raises(WrongUsage):
        run(argv, timeout_s=60)


def test_what_cannot_be_started_is_told_apart(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("text", encoding="utf-8")

    for argv in (["no-such-program"], [str(tmp_path / "absent")], [str(plain)]):
        with pytest.raises(ProgramMissing):
            run(argv, timeout_s=60)
    with pytest.raises(UnsafePath):
        run(["true"], cwd=tmp_path / "absent", timeout_s=60)
    with pytest.raises(TooLarge):
        run(["true", "x" * 10_000_000], timeout_s=60)


@pytest.mark.req("SEC-01")
def test_a_program_in_the_folder_is_not_taken_through_a_relative_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    planted = tmp_path / "planted"
    planted.write_text("#!/bin/sh\n", encoding="utf-8")
    planted.chmod(0o755)

    for path in (".", "", ":/bin", "..:./."):
        with pytest.raises(ProgramMissing):
            run(["planted"], cwd=tmp_path, env={"PATH": path}, timeout_s=60)


@pytest.mark.parametrize("odd", ["closed/bin", "x" * 300], ids=["closed", "too long"])
def test_program_is_found_behind_a_folder_of_path_that_cannot_be_searched(
    tmp_path: Path, odd: str
) -> None:
    """As after `sudo -u`: PATH names folders of somebody else, which are closed to us."""
    (tmp_path / "closed" / "bin").mkdir(parents=True)
    (tmp_path / "closed").chmod(0)
    searched = python(
        "from standfast.processes.programs import find_program",
        "os.geteuid() or os.setresuid(65534, 65534, 65534)",
        f"print(find_program('sh', {f'{tmp_path / odd}:/bin'!r}))",
    )

    done = run(searched, timeout_s=60)
    (tmp_path / "closed").chmod(0o700)

    assert done.stdout == b"/bin/sh\n", done.stderr


def test_output_over_the_limit_is_cut_and_the_writer_still_ends() -> None:
    write = "for _ in range(200): os.write(1, bytes(1024 * 1024))"
    script = python(
        f"sys.path[:0] = {sys.path!r}",
        "import resource",
        "from standfast.processes.programs import run",
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss",
        f"done = run({python(write)!r}, timeout_s=120, output_limit=1000000)",
        "grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before",
        "print(done.status, done.truncated, len(done.stdout), grown < 32 * 1024)",
    )

    done = subprocess.run(script, capture_output=True, encoding="utf-8", check=True)

    assert done.stdout.split() == ["0", "True", "1000000", "True"]


@pytest.mark.parametrize(("size", "truncated"), [(9, False), (10, False), (11, True)])
def test_output_is_truncated_only_over_the_limit(size: int, *, truncated: bool) -> None:
    done = run(["printf", "x" * size], timeout_s=60, output_limit=10)

    assert (len(done.stdout), done.truncated) == (min(size, 10), truncated)


@pytest.mark.parametrize("how", ["", "setsid"], ids=["in the group", "in its own session"])
def test_a_timeout_ends_a_grandchild_that_ignores_it(tmp_path: Path, how: str) -> None:
    if how and not LINUX:
        pytest.skip("only /proc shows who left the group")
    note, script = tmp_path / "pid", tmp_path / "script"
    lines = ("trap '' TERM", f"echo $$ > {note}", "while :; do sleep 60; done")
    script.write_text("\n".join(lines), encoding="utf-8")

    with pytest.raises(ProgramTimedOut):
        run(["sh", "-c", f"{how} sh {script}; true"], timeout_s=3)

    assert is_over(int(note.read_text(encoding="utf-8")))


def test_a_grandchild_that_outlives_its_parent_with_the_pipe_is_ended(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    argv = ["sh", "-c", f"sleep 1000 & echo $! > {note}"]

    with pytest.raises(ProgramTimedOut):
        run(argv, timeout_s=1)

    assert is_over(int(note.read_text(encoding="utf-8")))


def test_an_interrupt_ends_the_tree_and_is_passed_on(tmp_path: Path) -> None:
    note, fifo = tmp_path / "pid", tmp_path / "fifo"
    os.mkfifo(fifo)
    argv = ["sh", "-c", f"trap '' TERM; echo $$ > {note}; : > {fifo}; while :; do sleep 60; done"]

    def interrupt() -> None:
        fifo.read_bytes()  # returns when the program is under way
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    waiting = threading.Thread(target=interrupt)
    waiting.start()
    with pytest.raises(KeyboardInterrupt):
        run(argv, timeout_s=60)
    waiting.join()

    assert is_over(int(note.read_text(encoding="utf-8")))


GROUP = """
import os, signal, sys, threading
from standfast.processes.programs import run
signal.signal(signal.SIGINT, lambda *_: None)
done = threading.Event()
def many():
    print(sorted({run(["/bin/true"], timeout_s=60).status for _ in range(400)}))
    done.set()
threading.Thread(target=many).start()
while not done.wait(0.0001):
    os.killpg(0, signal.SIGINT)
"""


@pytest.mark.skipif(not LINUX, reason="elsewhere nothing tells who has ended")
def test_what_a_terminal_sends_our_group_ends_no_program_of_ours() -> None:
    """In a thread, as lanes call git; Ctrl-C comes while a program is being started."""
    done = subprocess.run([PYTHON, "-c", GROUP], start_new_session=True, capture_output=True,
                          encoding="utf-8", timeout=60, check=True)  # fmt: skip
    assert done.stdout == "[0]\n"


def test_importing_the_door_imports_neither_subprocess_nor_ctypes() -> None:
    names = ("subprocess", "ctypes", "selectors", "hashlib")
    script = python(f"sys.path[:0] = {sys.path!r}")[-1].replace("subprocess, ", "")
    script += (
        f"\nimport standfast.processes.programs\nprint([n for n in {names!r} if n in sys.modules])"
    )

    done = subprocess.run(
        [PYTHON, "-I", "-c", script], capture_output=True, encoding="utf-8", check=True
    )

    assert done.stdout == "[]\n"


def test_the_door_offers_what_it_says() -> None:
    assert all(hasattr(programs, name) for name in programs.__all__)


# Who is at work in a folder.


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="it is read from /proc")
def test_who_works_in_a_folder_or_has_a_file_open_is_told_without_ourselves(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    file = tmp_path / "file"
    file.write_bytes(b"")
    with (
        file.open("rb") as held,
        subprocess.Popen(["cat"], stdin=subprocess.PIPE, cwd=tmp_path / "below") as inside,
        subprocess.Popen(["cat"], stdin=subprocess.PIPE, cwd=tmp_path.parent, pass_fds=()) as _,
    ):
        assert programs.working_in(tmp_path) == [inside.pid]
        assert programs.having_open(file) == [os.getpid()]
        assert held.fileno() > 0
    assert programs.working_in(tmp_path) == programs.having_open(tmp_path / "none") == []


def test_programs_are_found_by_name_and_folder_and_by_an_argument(tmp_path: Path) -> None:
    argv = ["cat", "-", f"{tmp_path}/one argument"]
    with subprocess.Popen(argv, cwd=tmp_path, stdin=subprocess.PIPE, stderr=-3) as someone:
        while programs.programs_in("cat", tmp_path) != [someone.pid]:
            assert someone.poll() is None  # it is not yet what it is to become

        assert programs.called_with(argv[2]) == [someone.pid]
        assert programs.called_with("one argument") == []
        assert programs.programs_in("dog", tmp_path) == []
        someone.communicate()

    assert programs.called_with(argv[2]) == programs.programs_in("cat", tmp_path) == []
