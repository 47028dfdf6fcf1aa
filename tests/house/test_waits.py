"""Nothing hangs beyond its limit, no wait is silent, and whoever is asked to end ends."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from effect_desk import Desk, kill_all, until
from run_worlds import Night, night
from standfast import clock, wait_notice
from standfast.errors.base import SpecialFile
from standfast.git import special_files
from standfast.git.command import Git
from standfast.journal import locks
from standfast.processes import occupants, programs

SOON_S = 5.0
NAMING = ("core.attributesFile", "core.excludesFile")


@pytest.fixture
def world(tmp_path: Path) -> Night:
    return night(tmp_path)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


# What git would wait for for ever.


@pytest.mark.req("REL-12")
@pytest.mark.parametrize("name", [".gitignore", "deep/er/.gitattributes"])
def test_pipe_where_git_reads_is_told_to_the_agent_which_tries_again(
    world: Night, name: str
) -> None:
    once = world.top / "once"
    world.agent(f"test -e {once} || {{ touch {once}; rm -f {name}; mkdir -p $(dirname {name});"
                f" mkfifo {name}; }}")  # fmt: skip
    done = world.call("run", world.plan("retries: 1\nlanes: {a: Do a.}\n"))
    assert done.returncode == 0, done.stderr
    assert name in done.stderr
    assert world.paid() == {"a/task": 2}


@pytest.mark.req("REL-12")
def test_pipe_in_the_shared_git_directory_is_named_and_needs_a_person(world: Night) -> None:
    inside = world.repo / ".git" / "info" / "exclude"
    world.agent(f"rm -f {inside}; mkdir -p {inside.parent}; mkfifo {inside}")
    done = world.call("run", world.plan("lanes: {a: Do a.}\n"))
    assert done.returncode == 115, done.stderr
    assert "info/exclude" in done.stdout + done.stderr

    inside.unlink()
    assert world.call("resume").returncode == 0
    assert world.merged().total() == 1


@pytest.mark.req("REL-12")
@pytest.mark.parametrize("kind", ["pipe", "socket"])
@pytest.mark.parametrize("name", [".gitignore", ".git/config", ".git/HEAD", ".git/packed-refs"])
def test_special_file_at_a_fixed_name_is_refused_before_git_is_called(
    tmp_path: Path, name: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = _repository(tmp_path)
    (repo / name).unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(repo / name)
    else:
        monkeypatch.chdir((repo / name).parent)  # a socket's path is short
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(Path(name).name)
    with pytest.raises(SpecialFile) as refused:
        Git(directory=repo, program="/nowhere/git").read("status")
    assert refused.value.file == str(repo / name)


@pytest.mark.req("REL-12")
@pytest.mark.parametrize("name", ["a/.gitignore", ".git/refs/heads/other", "../named"])
def test_pipe_that_git_comes_upon_is_found_out_and_named(tmp_path: Path, name: str) -> None:
    """Deep in the tree, among the refs, and where the configuration says there is a file."""
    repo = _repository(tmp_path)
    (repo / "a").mkdir()
    (repo / "a" / "file").touch()
    git = Git(directory=repo)
    git.read("status")
    subprocess.run(["git", "config", "core.excludesFile", str(tmp_path / "named")], cwd=repo,
                   check=True)  # fmt: skip
    os.mkfifo(repo / name)
    with pytest.raises(SpecialFile) as refused:
        git.read(*(("for-each-ref",) if "refs" in name else ("status", "--porcelain")))
    assert refused.value.file is not None
    assert os.path.samefile(refused.value.file, repo / name)


@pytest.mark.req("REL-12")
@pytest.mark.parametrize("key", [*NAMING, "attributes", "ignore"])
def test_pipe_that_settings_or_the_user_name_is_refused_before_git_meets_it(
    tmp_path: Path, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = _repository(tmp_path)
    pipe = tmp_path / "xdg" / "git" / key
    pipe.parent.mkdir(parents=True)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    if "." in key:
        subprocess.run(["git", "config", key, str(pipe)], cwd=repo, check=True)
    os.mkfifo(pipe)
    program = tmp_path / "git"
    program.write_text(f'#!/bin/sh\necho "$1" >> {tmp_path}/called\nexec git "$@"\n', "utf-8")
    program.chmod(0o755)

    with pytest.raises(SpecialFile) as refused:
        Git(directory=repo, program=str(program)).read("status", "--porcelain")

    assert refused.value.file == str(pipe)
    called = tmp_path / "called"
    assert not called.exists() or "status" not in called.read_text("utf-8")


@pytest.mark.parametrize("key", NAMING)
def test_null_device_that_a_setting_names_is_nothing_to_wait_for(tmp_path: Path, key: str) -> None:
    repo = _repository(tmp_path)
    subprocess.run(["git", "config", key, "/dev/null"], cwd=repo, check=True)

    assert Git(directory=repo).read("status", "--porcelain") == b""


@pytest.mark.req("REL-12")
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says what a process opens")
def test_pipe_that_a_child_of_git_waits_for_is_named(tmp_path: Path) -> None:
    """As `worktree add` lets a `reset` fill the tree."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    parent = subprocess.Popen(["sh", "-c", f"sh -c ': < {pipe}; :'; :"])

    def told() -> str | None:
        try:
            special_files.refuse_anywhere(tmp_path, parent.pid)
        except SpecialFile as error:
            return error.file
        return None

    until(told)
    named = told()
    os.close(os.open(pipe, os.O_WRONLY))
    parent.wait()

    assert named == str(pipe)


def _repository(folder: Path) -> Path:
    repo = folder / "made"
    repo.mkdir()
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "first"]):
        subprocess.run(["git", *words], cwd=repo, check=True)
    return repo


# Whoever is asked to end.


@pytest.mark.prove  # five seconds are promised of a machine that has time
@pytest.mark.req("REL-12")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_run_whose_git_hangs_ends_when_it_is_asked_to(world: Night, number: int) -> None:
    path, waits = deaf_git(world, "commit")
    begun = world.start("run", world.plan("lanes: {a: Do a.}\n"), PATH=path)
    until(waits.exists)
    begun.send_signal(number)
    begun.send_signal(number)
    said, _ = begun.communicate(timeout=SOON_S)
    assert begun.returncode == 130, said
    assert "standfast resume" in said
    assert "Traceback" not in said
    assert not [pid for pid in map(int, waits.read_text("utf-8").split()) if programs.identify(pid)]

    assert world.call("resume").returncode == 0
    assert world.paid() == {"a/task": 1}
    assert world.merged().total() == 1


@pytest.mark.prove  # five seconds are promised of a machine that has time
@pytest.mark.req("REL-12")
def test_agent_that_does_not_listen_is_named_by_the_run_that_leaves_it(world: Night) -> None:
    world.agent("trap '' TERM; while :; do sleep 0.1; done")
    begun = world.start("run", world.plan("lanes: {a: Do a.}\n"))
    until(lambda: world.paid().total() >= 1)
    begun.send_signal(signal.SIGTERM)
    said, _ = begun.communicate(timeout=SOON_S)
    assert begun.returncode == 130, said
    assert "lane/plan/" in said
    assert "process" in said
    until(lambda: not json.loads(world.call("ps", "--json").stdout)["effects"])


@pytest.mark.prove  # five seconds are promised of a machine that has time
@pytest.mark.req("REL-12")
@pytest.mark.parametrize("words", [("note", "x"), ("journal", "verify"), ("status",)])
def test_command_that_waits_for_a_lock_ends_when_it_is_asked_to(
    world: Night, words: tuple[str, ...]
) -> None:
    assert world.call("note", "first").returncode == 0
    held = [locks.take(str(world.repo / ".git/standfast" / name))
            for name in ("turnstile.lock", "writer.lock", "faces.lock")]  # fmt: skip
    begun = world.start(*words, STANDFAST_LOCK_TIMEOUT_S="60")
    if words[0] == "note":
        said = begun.stdout.readline() if begun.stdout else ""
        assert "waiting for a lock" in said
        assert f"process {os.getpid()}" in said
        begun.send_signal(signal.SIGTERM)
        begun.communicate(timeout=SOON_S)
        assert begun.returncode == 130
    else:
        begun.communicate(timeout=120)  # it only reads, and waits for nobody
    for fd in held:
        os.close(fd)


# A query that never ends, in C, where Python's handlers of signals are not called.
NEVER_BACK = """
import functools, os, signal
import apsw
from standfast.surfaces.cli import interrupts
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # the tests may run below nohup
interrupts.heed()
connection = apsw.Connection(":memory:")
connection.create_scalar_function("begun", functools.partial(os.write, 1, b"begun\\n"), 0)
endless = "WITH RECURSIVE n(i) AS (SELECT begun() UNION ALL SELECT 1 FROM n) SELECT max(i) FROM n"
connection.execute(endless).fetchall()
"""


@pytest.mark.req("REL-12")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_command_that_does_not_come_back_from_c_ends_when_it_is_asked_to(number: int) -> None:
    pipe = subprocess.PIPE
    begun = subprocess.Popen([sys.executable, "-c", NEVER_BACK], stdout=pipe, stderr=pipe)
    assert begun.stdout
    assert begun.stdout.readline() == b"begun\n"
    begun.send_signal(number)
    try:
        _, said = begun.communicate(timeout=60)
    finally:
        begun.kill()
    assert begun.returncode == 130, said
    assert said.startswith(b"left at once")


def deaf_git(world: Night, word: str) -> tuple[str, Path]:
    """A PATH on which the first git that is to do *word* hears nothing and never ends."""
    folder, waits = world.top / "deaf", world.top / "waits"
    folder.mkdir()
    real = programs.find_program("git", os.environ["PATH"])
    text = f"""#!/bin/sh
case " $* " in *" {word} "*) test -e {waits} || {{
    trap '' TERM HUP INT; echo $$ >> {waits}; while :; do sleep 0.1; done; }};; esac
exec {real} "$@"
"""
    (folder / "git").write_text(text, encoding="utf-8")
    (folder / "git").chmod(0o755)
    return f"{folder}:{os.environ['PATH']}", waits


# What is waited for.


@pytest.mark.req("REL-12")
def test_resume_says_at_once_that_it_waits_for_what_outlived_its_supervisors(world: Night) -> None:
    go = world.leave("lanes: {a: Do a.}\n")
    left = json.loads(world.call("ps", "--json").stdout)["effects"][0]
    kill_all(left["pids"][:2])
    until(lambda: '"orphaned"' in world.call("ps", "--json").stdout)
    agents = left["pids"][2:]
    begun = world.start("resume")
    lines: list[str] = []
    while begun.stdout and "waiting for" not in "".join(lines[-1:]):
        lines.append(begun.stdout.readline())
    assert any(f"{pid} (" in lines[-1] for pid in agents)
    assert "since" in lines[-1]
    assert "standfast reap" in lines[-1]
    go.touch()
    said, _ = begun.communicate(timeout=60)
    assert begun.returncode in (0, 115), said


@pytest.mark.req("REL-12")
def test_what_outlives_its_supervisors_does_not_outlive_its_time(desk: Desk) -> None:
    caller = desk.call("a", desk.waiting())
    until(lambda: desk.counted() == 1)
    desk.kill_supervisors("a")
    caller.kill()
    caller.communicate()
    long_ago = clock.now_us() / 1e6 - 1000
    os.utime(desk.folder("a").at("started"), (long_ago, long_ago))
    assert desk.run("a", desk.waiting()).is_in_doubt
    assert not desk.folder("a").strays()
    desk.journal.close()


@pytest.mark.req("REL-12")
def test_wait_is_told_once_and_then_seldom(monkeypatch: pytest.MonkeyPatch) -> None:
    now, told = [0], list[str]()
    monkeypatch.setattr(clock, "monotonic_ns", lambda: now[0])
    before = wait_notice.told_to(told.append)
    wait = wait_notice.Wait(lambda: f"it, at {now[0] // 10**9}")
    for second in range(400):
        now[0] = second * 10**9
        wait.look()
    wait_notice.told_to(before)
    assert told == ["waiting for it, at 3", "waiting for it, at 303"]


def test_who_holds_a_lock_is_told_to_whoever_waits_for_it(tmp_path: Path) -> None:
    told: list[str] = []
    heard = threading.Event()

    def tell(words: str) -> None:
        told.append(words)
        heard.set()

    before = wait_notice.told_to(tell)
    path = str(tmp_path / "lock")
    held = locks.take(path)
    waits = threading.Thread(target=lambda: os.close(locks.take_in_turn(path, "a turn")))
    waits.start()
    heard.wait(30)
    os.close(held)
    waits.join()
    wait_notice.told_to(before)
    assert told[0].startswith(f"waiting for a turn: process {os.getpid()} (")


# An agent of a stage whose launcher was killed.


@pytest.mark.req("EFF-04")
def test_agent_of_a_stage_that_outlives_its_launcher_is_listed_and_ended(world: Night) -> None:
    (world.top / "session").mkdir()
    (world.top / "task.md").write_text("Do it.\n", encoding="utf-8")
    numbers = world.top / "numbers"
    agent = f"setsid sh -c 'echo $$ >> {numbers}; exec sleep 1000' & echo $$ >> {numbers}; wait"
    stage = ("stage", "run", "--stage", "clarify", "--session-dir", str(world.top / "session"),
             "--role", "one", "--task", str(world.top / "task.md"))  # fmt: skip
    begun = world.start(*stage, "--", "sh", "-c", agent)
    until(lambda: numbers.exists() and len(numbers.read_text("utf-8").split()) == 2)
    left = json.loads(world.call("ps", "--json").stdout)["effects"]
    assert [each["state"] for each in left] == ["running"]
    begun.kill()
    begun.communicate()

    pids = sorted(map(int, numbers.read_text("utf-8").split()))
    left = json.loads(world.call("ps", "--json").stdout)["effects"]
    assert [(each["key"], each["state"]) for each in left] == [("stage/clarify/one", "orphaned")]
    assert set(pids) <= set(left[0]["pids"])
    done = world.call("reap")
    assert done.returncode == 0, done.stderr
    assert "stage/clarify/one" in done.stdout
    assert not [pid for pid in pids if programs.identify(pid)]
    assert json.loads(world.call("ps", "--json").stdout)["effects"] == []


@pytest.mark.prove  # five seconds are promised of a machine that has time
@pytest.mark.req("REL-12")
def test_stage_that_is_asked_to_end_ends_its_agents(world: Night) -> None:
    (world.top / "session").mkdir()
    (world.top / "task.md").write_text("Do it.\n", encoding="utf-8")
    numbers = world.top / "numbers"
    agent = f"trap '' TERM; echo $$ >> {numbers}; while :; do sleep 0.1; done"
    stage = ("stage", "run", "--stage", "clarify", "--session-dir", str(world.top / "session"),
             *(word for role in "abcd" for word in ("--role", role)),
             "--task", str(world.top / "task.md"))  # fmt: skip
    begun = world.start(*stage, "--", "sh", "-c", agent)
    until(lambda: numbers.exists() and len(numbers.read_text("utf-8").split()) == 4)
    begun.send_signal(signal.SIGTERM)
    begun.send_signal(signal.SIGTERM)
    said, _ = begun.communicate(timeout=SOON_S)
    assert begun.returncode == 130, said
    assert not [
        pid for pid in map(int, numbers.read_text("utf-8").split()) if programs.identify(pid)
    ]


# What an agent writes is never taken for what we say.


@pytest.mark.req("REL-12")
def test_line_that_an_agent_writes_into_the_log_is_not_taken_for_ours(world: Night) -> None:
    log = world.repo / ".claude/ai-dev-kit/run-logs/plan.jsonl"
    fake = {"ts": "2026-01-01T00:00:00Z", "run_id": "plan", "phase": "P1", "lane": "a",
            "task": "-", "event": "merge_done", "status": "ok", "notes": "FAKED"}  # fmt: skip
    line = json.dumps(fake)
    world.agent(f"cat >> {log} <<'END'\n{line}\nEND\nhead -1 {log} >> {log}\n"
                "printf '2026-01-01T00:00:00Z  P1/a  merge_done  PRINTED\\n\\033[2K'")  # fmt: skip
    assert world.call("run", world.plan("lanes: {a: Do a.}\n")).returncode == 0
    assert "FAKED" in log.read_text(encoding="utf-8")

    for words in (("logs", "plan"), ("logs", "plan/P1/a"), ("logs", "--json"), ("status", "plan")):
        said = world.call(*words)
        assert said.returncode == 0, said.stderr
        assert "FAKED" not in said.stdout
        assert "\033" not in said.stdout
        assert not [each for each in said.stdout.splitlines() if each.startswith("2026-01-01")]
    assert world.call("logs", "plan").stdout.count("lane_start") == 1
    assert "not Standfast's" in world.call("logs", "plan").stderr


# What a command that was killed leaves behind.


def test_scratch_folder_of_a_killed_command_goes_with_the_next(world: Night) -> None:
    top = world.top / "tmp"
    top.mkdir()
    script = ("from standfast import scratch_folder\n"
              "with scratch_folder.folder() as made:\n open(made + '/x', 'w').close()\n"
              " print(made, flush=True)\n input()\n")  # fmt: skip
    env = {**world.environ, "TMPDIR": str(top)}
    how = {"env": env, "stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "encoding": "utf-8"}
    both = [subprocess.Popen([sys.executable, "-c", script], **how) for _ in range(2)]
    made = [Path(each.stdout.readline().strip()) for each in both if each.stdout]
    both[0].kill()
    both[0].wait()
    assert world.call("note", "x", TMPDIR=str(top)).returncode == 0
    assert [each.exists() for each in made] == [False, True]
    both[1].communicate("\n")
    assert list(top.iterdir()) == []
    both[0].communicate()


# Gits that cannot be seen from here.

CLEAR = """
import sys
from pathlib import Path
from standfast.git import worktree_state
worktree_state._PATIENCE_S = 0.5
print(worktree_state.clear([Path(sys.argv[1])], sys.argv[2]))
"""
CUT_OFF = """
import os, sys
from pathlib import Path
from standfast.git.command import Git
Git(directory=Path(sys.argv[2])).write("update-ref", "refs/heads/other", "HEAD")
Path(sys.argv[1]).touch()
os._exit(9)  # the first of a namespace cannot be killed from within
"""
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="namespaces are made by root")


def apart(script: str, *words: object, how: str = "-pf") -> str:
    argv = ["unshare", how, "--mount-proc", sys.executable, "-c", script, *map(str, words)]
    return subprocess.run(argv, capture_output=True, encoding="utf-8", check=False).stdout


@as_root
@pytest.mark.req("PLAT-03")
def test_lock_of_a_git_outside_this_container_is_not_swept(tmp_path: Path) -> None:
    repo = _repository(tmp_path)
    lock = repo / ".git" / "index.lock"
    lock.touch()  # of a git that waits for an editor: nobody has it open
    assert "outside this container" in apart(CLEAR, lock, repo)
    assert lock.exists()


@as_root
@pytest.mark.req("PLAT-03")
def test_lock_that_a_git_of_ours_left_in_a_container_is_swept(tmp_path: Path) -> None:
    repo = _repository(tmp_path)
    lock = repo / ".git" / "index.lock"
    apart(CUT_OFF, lock, repo)
    assert lock.exists()
    assert apart(CLEAR, lock, repo) == "None\n"
    assert not lock.exists()


@as_root
@pytest.mark.req("PLAT-03")
def test_lock_of_a_git_that_stands_there_by_another_name_is_not_swept(tmp_path: Path) -> None:
    repo = _repository(tmp_path)
    lock, other, said = repo / ".git" / "index.lock", tmp_path / "other", tmp_path / "said"
    lock.touch()
    other.mkdir()
    (tmp_path / "git").symlink_to("/bin/sleep")
    script = f"mount --bind {repo} {other}; cd {other}; touch {said}; exec {tmp_path}/git 1000"
    holder = subprocess.Popen(["unshare", "-m", "sh", "-c", script])
    until(said.exists)
    until(lambda: occupants._program(holder.pid) == "git")
    try:
        done = subprocess.run([sys.executable, "-c", CLEAR, lock, repo], capture_output=True,
                              encoding="utf-8", check=True)  # fmt: skip
        assert f"process {holder.pid} " in done.stdout
        assert lock.exists()
    finally:
        holder.kill()
        holder.wait()


@pytest.mark.req("REL-12")
def test_list_of_what_is_trusted_is_waited_for_with_a_word(world: Night) -> None:
    """It is one for all repositories: whoever holds it holds up every run."""
    plan = world.plan("lanes: {a: Do a.}\n")
    folder = Path(world.environ["XDG_STATE_HOME"]) / "standfast/trusted-runs"
    folder.mkdir(parents=True, exist_ok=True)
    held = locks.take(str(folder / "lock"))
    begun = world.start("run", plan)
    said = begun.stdout.readline() if begun.stdout else ""
    os.close(held)
    begun.communicate(timeout=60)

    assert "waiting for the list of what is trusted" in said
    assert f"process {os.getpid()}" in said
    assert begun.returncode == 0
